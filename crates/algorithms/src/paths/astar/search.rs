//! The search, and the pass that measures its heuristic.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use tegula_engine::traverse::{
    self, BestFirst, Filter, Held, RowsJob, RowsWanted, Sequential, VertexSet, estimate_rows,
};
use tegula_engine::{
    Estimate, Graph, IterationTimes, ProgressUnit, Row, RunOptions, RunStatistics, ShortId,
    VertexId, huge,
};

use crate::error::{Error, PATHS, Result, is_negative, negative_weight};
use crate::shared::original_ids::{IdPosition, IdPositions};

/// The settings of a search.
#[derive(Debug, Clone, Copy, Default)]
pub struct AstarConfig<'c> {
    /// The coordinates of each vertex, by dense id. The absolute value of each is 0 or between
    /// 1e-100 and 1e100.
    pub coordinates: Option<&'c [[f64; 2]]>,
    /// The factor for straight lines, at least 0; found from the edges unless it is given. A given
    /// factor is trusted until the search looks at an edge that is too short for it. If it is too
    /// large, there is an error or the path may not be a shortest one.
    pub heuristic_scale: Option<f64>,
}

/// A vertex on a path.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// The vertex.
    pub id_position: IdPosition,
    /// The sum of weights up to it.
    pub distance: f64,
}

/// A shortest path.
#[derive(Debug, Clone)]
pub struct ShortestPath {
    /// The vertices on it, from the source to the target; empty where there is no path.
    pub steps: Vec<Step>,
    /// Number of vertices whose edges were looked at; each visit of a vertex counts.
    pub expanded: u64,
    /// The scale of the heuristic; 0 without a heuristic.
    pub heuristic_scale: f64,
    /// Statistics of the run: the pass for the scale, if it was made, and the search.
    pub statistics: RunStatistics,
}

/// No vertex.
const NONE: u32 = u32::MAX;

/// Finds a shortest path. In an unweighted graph every edge has weight 1.
///
/// # Errors
/// [`Error::NegativeWeight`] when an edge that was looked at has a weight below 0 or NaN;
/// [`Error::Overestimate`] when an edge is too short for the given scale.
///
/// # Panics
/// When there are coordinates, but not for every vertex.
pub fn run(
    graph: &Graph,
    source: VertexId,
    target: VertexId,
    config: &AstarConfig<'_>,
    options: &RunOptions<'_>,
) -> Result<ShortestPath> {
    let count = graph.short_vertex_count()? as usize;
    let has_all = config.coordinates.is_none_or(|coordinates| coordinates.len() == count);
    assert!(has_all, "every vertex has coordinates");
    let held = size(graph, config.coordinates.is_some())?;
    let ends = (source.short(), target.short());
    traverse::run(graph, RowsWanted::forward(graph.is_weighted()), held, options, |job| {
        find(graph, ends, config, job, options)
    })
}

/// Measures the scale unless it is given, then searches.
fn find(
    graph: &Graph,
    (source, target): (ShortId, ShortId),
    config: &AstarConfig<'_>,
    job: &RowsJob<'_>,
    options: &RunOptions<'_>,
) -> Result<ShortestPath> {
    let (mut times, mut edges) = (IterationTimes::default(), 0);
    let scale = match (config.coordinates, config.heuristic_scale) {
        (None, _) => 0.0,
        (_, Some(scale)) => scale,
        (Some(coordinates), None) => {
            let started = Instant::now();
            let scale = scale_max(graph, job, coordinates, options)?;
            edges += graph.edge_count();
            times.push(started.elapsed());
            scale
        }
    };
    let started = Instant::now();
    let heuristic = Heuristic::new(graph, config.coordinates, scale, target);
    let id_positions = IdPositions::read(graph, &options.cancel)?;
    let search = Search::new(graph, source, target, heuristic, id_positions);
    let done = search.run(job, options)?;
    times.push(started.elapsed());
    let statistics = job.statistics(times, edges + done.edges);
    let (steps, expanded) = (search.path(), done.expanded);
    Ok(ShortestPath { steps, expanded, heuristic_scale: scale, statistics })
}

/// Memory that a run needs, with that of the coordinates.
pub fn estimate(graph: &Graph, has_coordinates: bool) -> Result<Estimate> {
    Ok(estimate_rows(
        graph,
        RowsWanted::forward(graph.is_weighted()),
        size(graph, has_coordinates)?,
    ))
}

/// Bytes held beside the rows: coordinates, labels, the set of open vertices, the queue, and id
/// positions.
fn size(graph: &Graph, has_coordinates: bool) -> Result<Held> {
    let count = graph.vertex_count();
    let coordinates = if has_coordinates { size_of::<[f64; 2]>() } else { 0 };
    let each = (coordinates + size_of::<Label>()) as u64;
    let queue = BestFirst::<Key>::size(count);
    let own = each * count + VertexSet::size(count) + queue;
    Ok(Held::with_id_positions(graph, own)?)
}

/// The length of a straight line. Square roots are the same on every machine.
fn straight(one: [f64; 2], other: [f64; 2]) -> f64 {
    let [x, y] = [one[0] - other[0], one[1] - other[1]];
    (x * x + y * y).sqrt()
}

/// The largest scale with which no edge is shorter than its straight line; 0 where any scale would
/// do.
fn scale_max(
    graph: &Graph,
    job: &RowsJob<'_>,
    coordinates: &[[f64; 2]],
    options: &RunOptions<'_>,
) -> Result<f64> {
    // Numbers of at least 0 have the order of their bits.
    let least = AtomicU64::new(f64::INFINITY.to_bits());
    let has_negative = AtomicBool::new(false);
    options.progress.begin("measuring", Some(graph.edge_count()), ProgressUnit::Edges);
    job.for_each_range(|_, ids| {
        let mut traversal = job.traversal(Sequential::new(ids));
        let (mut scale, mut edges) = (f64::INFINITY, 0);
        while let Some((row, _)) = traversal.next_row()? {
            let from = coordinates[row.source().index()];
            let count = row.for_each_weighted(|target, weight| {
                if is_negative(weight) {
                    has_negative.store(true, Ordering::Relaxed);
                }
                let length = straight(from, coordinates[target.index()]);
                if length > 0.0 {
                    // Adding 0.0 turns -0.0 into 0.0.
                    scale = scale.min(f64::from(weight) / length + 0.0);
                }
            })?;
            edges += count as u64;
        }
        least.fetch_min(scale.to_bits(), Ordering::Relaxed);
        options.progress.advance(edges);
        Ok(())
    })?;
    options.progress.end();
    if has_negative.into_inner() {
        return Err(negative_weight(graph, PATHS));
    }
    let scale = f64::from_bits(least.into_inner());
    Ok(if scale.is_finite() { scale } else { 0.0 })
}

/// A lower bound of the distance to the target.
struct Heuristic<'c> {
    /// `None` where the heuristic is 0.
    coordinates: Option<&'c [[f64; 2]]>,
    scale: f64,
    target: [f64; 2],
    /// The most that a sum of roundings may add up to, relative to a distance: one rounding for
    /// each edge of a path, and some for the straight line.
    slack: f64,
}

impl<'c> Heuristic<'c> {
    fn new(
        graph: &Graph,
        coordinates: Option<&'c [[f64; 2]]>,
        scale: f64,
        target: ShortId,
    ) -> Heuristic<'c> {
        let coordinates = coordinates.filter(|_| scale > 0.0);
        Heuristic {
            coordinates,
            scale,
            target: coordinates.map_or([0.0; 2], |coordinates| coordinates[target.index()]),
            slack: (graph.vertex_count() as f64 + 16.0) * f64::EPSILON,
        }
    }

    #[inline]
    fn of(&self, vertex: ShortId) -> f64 {
        let from = |coordinates: &[[f64; 2]]| {
            self.scale * straight(coordinates[vertex.index()], self.target)
        };
        self.coordinates.map_or(0.0, from)
    }

    /// The greatest sum of distance and heuristic with which a vertex can be on the path, given the
    /// label of the target.
    fn bound(&self, label: Label) -> f64 {
        match self.coordinates {
            Some(_) => label.distance * (1.0 + self.slack),
            // Vertices as far away as the target count only if no nearer vertex leads to it.
            None if label.level == 0 => label.distance.next_down(),
            None => label.distance,
        }
    }
}

/// The best known path to a vertex.
#[derive(Debug, Clone, Copy)]
struct Label {
    /// The smallest sum of weights so far; infinite where no path was found.
    distance: f64,
    /// Edges since the distance last grew.
    level: u32,
    /// The vertex before it on the path.
    parent: u32,
}

/// The order of visits: by estimates, which have the order of their bits as none is below 0, then
/// by levels.
type Key = (u64, u32);

/// What a search counts.
struct Done {
    expanded: u64,
    edges: u64,
}

/// A search. The order of visits reads what the visits change, hence the cells.
struct Search<'c> {
    graph: &'c Graph,
    source: ShortId,
    target: ShortId,
    heuristic: Heuristic<'c>,
    id_positions: IdPositions,
    labels: Vec<Cell<Label>>,
    /// Vertices whose label has become smaller since their last visit.
    open: VertexSet,
    /// See [`Heuristic::bound`].
    bound: Cell<f64>,
}

impl<'c> Search<'c> {
    fn new(
        graph: &'c Graph,
        source: ShortId,
        target: ShortId,
        heuristic: Heuristic<'c>,
        id_positions: IdPositions,
    ) -> Search<'c> {
        let count = graph.vertex_count() as usize;
        let unknown = Label { distance: f64::INFINITY, level: 0, parent: NONE };
        let mut labels = huge::with_capacity(count);
        labels.resize(count, Cell::new(unknown));
        let open = VertexSet::new(count as u32);
        let bound = Cell::new(f64::INFINITY);
        Search { graph, source, target, heuristic, id_positions, labels, open, bound }
    }

    /// Visits vertices until no waiting vertex can be on the path.
    fn run(&self, job: &RowsJob<'_>, options: &RunOptions<'_>) -> Result<Done> {
        let mut queue = BestFirst::for_vertices(self.labels.len() as u32);
        self.update(self.source, Label { distance: 0.0, level: 0, parent: NONE }, &mut queue);
        let order = Filter::new(queue, |vertex| self.is_wanted(vertex));
        let mut traversal = job.traversal(order);
        let mut done = Done { expanded: 0, edges: 0 };
        options.progress.begin("searching", None, ProgressUnit::Edges);
        while let Some((row, order)) = traversal.next_row()? {
            let edges = self.expand(&row, order.order_mut())?;
            done.expanded += 1;
            done.edges += edges;
            options.progress.advance(edges);
        }
        options.progress.end();
        Ok(done)
    }

    /// Whether a vertex other than the target waits and may be on the path. A vertex out of bounds
    /// stays so until it gets another label, and then it waits anew.
    #[inline]
    fn is_wanted(&self, vertex: ShortId) -> bool {
        self.open.contains(vertex)
            && vertex != self.target
            && self.estimate(vertex) <= self.bound.get()
    }

    /// The place of a vertex in the queue.
    #[inline]
    fn key(&self, vertex: ShortId) -> Key {
        (self.estimate(vertex).to_bits(), self.label(vertex).level)
    }

    /// Returns a lower bound of the length of a path through a vertex.
    #[inline]
    fn estimate(&self, vertex: ShortId) -> f64 {
        self.label(vertex).distance + self.heuristic.of(vertex)
    }

    /// Follows the edges of a vertex; returns how many there are.
    fn expand(&self, row: &Row<'_>, queue: &mut BestFirst<Key>) -> Result<u64> {
        let source = row.source();
        self.open.remove(source);
        let from = self.label(source);
        let estimate = self.estimate(source);
        let (mut has_negative, mut is_overestimate) = (false, false);
        let edges = row.for_each_weighted(|target, weight| {
            has_negative |= is_negative(weight);
            let distance = from.distance + f64::from(weight);
            let level = if distance > from.distance { 0 } else { from.level + 1 };
            let known = self.label(target);
            if distance < known.distance || (distance == known.distance && level < known.level) {
                let estimated =
                    self.update(target, Label { distance, level, parent: source.0 }, queue);
                // Except for rounding, an estimate falls along an edge only if the heuristic is too
                // large.
                is_overestimate |= estimated * (1.0 + self.heuristic.slack) < estimate;
            } else if distance == known.distance
                && level == known.level
                && known.parent != NONE
                && self.id_position(source.0) < self.id_position(known.parent)
            {
                // The path is equally long, so the paths that go on from here become no shorter.
                self.labels[target.index()].set(Label { parent: source.0, ..known });
            }
        })?;
        if has_negative {
            return Err(negative_weight(self.graph, PATHS));
        }
        if is_overestimate {
            return Err(Error::Overestimate { scale: self.heuristic.scale });
        }
        Ok(edges as u64)
    }

    /// Gives a vertex a smaller label, and queues it if a visit may be of use. Returns its
    /// estimate.
    fn update(&self, vertex: ShortId, label: Label, queue: &mut BestFirst<Key>) -> f64 {
        let before = self.key(vertex);
        self.labels[vertex.index()].set(label);
        if vertex == self.target {
            self.bound.set(self.heuristic.bound(label));
        }
        let key = self.key(vertex);
        // An open vertex with the same key is in the queue already.
        let is_new = self.open.insert(vertex) || key != before;
        if is_new && self.is_wanted(vertex) {
            queue.push_within(vertex, key, |other, key| {
                self.is_wanted(other) && *key == self.key(other)
            });
        }
        f64::from_bits(key.0)
    }

    /// The path to the target, along parents. Each parent has a smaller label than its child, so it
    /// ends.
    fn path(&self) -> Vec<Step> {
        let mut steps = Vec::new();
        let mut vertex = self.target;
        while self.label(vertex).distance.is_finite() {
            let Label { distance, parent, .. } = self.label(vertex);
            steps.push(Step { id_position: self.id_position(vertex.0), distance });
            if parent == NONE {
                break;
            }
            vertex = ShortId(parent);
        }
        steps.reverse();
        steps
    }

    #[inline]
    fn label(&self, vertex: ShortId) -> Label {
        self.labels[vertex.index()].get()
    }

    fn id_position(&self, vertex: u32) -> IdPosition {
        self.id_positions.of(ShortId(vertex)).into()
    }
}
