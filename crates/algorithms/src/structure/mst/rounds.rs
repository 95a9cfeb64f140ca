//! The rounds in which the forest grows.

use std::cell::Cell;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use tegula_engine::traverse::{self, Filter, Held, RowsJob, RowsWanted, Sequential, estimate_rows};
use tegula_engine::{
    Cancel, Estimate, Graph, IterationTimes, ProgressUnit, RunOptions, RunStatistics, ShortId, huge,
};

use super::MstOptions;
use crate::error::{Result, check_both_directions};
use crate::shared::original_ids::{IdPositions, ShortIdPosition};

/// The target if no edge leaves a vertex's component.
const NONE: u32 = u32::MAX;

/// An edge of the forest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ForestEdge {
    /// The smaller end.
    pub source: ShortIdPosition,
    /// The greater end.
    pub target: ShortIdPosition,
    /// Its weight.
    pub weight: f32,
}

/// A minimum spanning forest.
#[derive(Debug, Clone)]
pub struct SpanningForest {
    /// Its edges, ascending by their ends.
    pub edges: Vec<ForestEdge>,
    /// Statistics of the run; an iteration is a round.
    pub statistics: RunStatistics,
}

impl SpanningForest {
    /// The sum of all weights.
    pub fn weight(&self) -> f64 {
        // An empty `sum()` would be -0.
        self.edges.iter().fold(0.0, |sum, edge| sum + f64::from(edge.weight))
    }
}

/// The least edge that left the component of a vertex when its row was last read. Before the first
/// reading it is a loop. If no edge leaves the component, the target is [`NONE`].
#[derive(Debug, Clone, Copy)]
struct Candidate {
    target: u32,
    weight: f32,
}

/// Refuses a graph in which no forest can be found.
///
/// # Errors
/// [`Error::OneDirection`](crate::Error::OneDirection) for a directed graph.
pub fn check(graph: &Graph) -> Result<()> {
    check_both_directions(graph, "a spanning forest", None)
}

/// Finds the forest. It refuses what [`check`] refuses.
pub fn run(
    graph: &Graph,
    MstOptions { maximum }: MstOptions,
    options: &RunOptions<'_>,
) -> Result<SpanningForest> {
    check(graph)?;
    let held = size(graph)?;
    // The greatest weights are the least ones when negated.
    let sign = if maximum { -1.0 } else { 1.0 };
    traverse::run(graph, RowsWanted::forward(graph.is_weighted()), held, options, |job| {
        grow(graph, sign, job, options)
    })
}

/// Finds the forest, in rounds.
fn grow(
    graph: &Graph,
    sign: f32,
    job: &RowsJob<'_>,
    options: &RunOptions<'_>,
) -> Result<SpanningForest> {
    let mut forest = Growing::new(graph, sign, &options.cancel)?;
    let edges_seen = AtomicU64::new(0);
    let mut times = IterationTimes::default();
    options.progress.begin("iterating", None, ProgressUnit::Iterations);
    loop {
        let started = Instant::now();
        forest.find_candidates(job, &edges_seen)?;
        let has_grown = forest.join(&options.cancel)?;
        times.push(started.elapsed());
        options.progress.advance(1);
        if !has_grown {
            break;
        }
    }
    options.progress.end();
    let mut edges = forest.edges;
    // Adding 0.0 turns -0.0 into 0.0.
    edges.iter_mut().for_each(|edge| edge.weight = sign * edge.weight + 0.0);
    edges.sort_unstable_by_key(|edge| (edge.source, edge.target));
    let statistics = job.statistics(times, edges_seen.into_inner());
    Ok(SpanningForest { edges, statistics })
}

/// Memory that a run needs.
pub fn estimate(graph: &Graph) -> Result<Estimate> {
    Ok(estimate_rows(graph, RowsWanted::forward(graph.is_weighted()), size(graph)?))
}

fn size(graph: &Graph) -> Result<Held> {
    Ok(Held::with_id_positions(graph, 28 * graph.vertex_count())?)
}

/// A forest that grows.
struct Growing {
    /// The factor of the weights: 1 or -1.
    sign: f32,
    id_positions: IdPositions,
    /// For each vertex, the smallest vertex of its component.
    components: Vec<u32>,
    candidates: Vec<Candidate>,
    /// For each component, by its smallest vertex, the vertex with the least candidate.
    least: Vec<u32>,
    edges: Vec<ForestEdge>,
}

impl Growing {
    /// Starts with every vertex as a component.
    fn new(graph: &Graph, sign: f32, cancel: &Cancel) -> tegula_engine::Result<Growing> {
        let count = graph.short_vertex_count()?;
        let mut components = huge::with_capacity(count as usize);
        components.extend(0..count);
        Ok(Growing {
            sign,
            id_positions: IdPositions::read(graph, cancel)?,
            components,
            candidates: (0..count).map(|target| Candidate { target, weight: 0.0 }).collect(),
            least: vec![NONE; count as usize],
            edges: Vec::with_capacity(count.saturating_sub(1) as usize),
        })
    }

    /// Finds a new candidate for every vertex whose candidate lies within a component now.
    fn find_candidates(
        &mut self,
        job: &RowsJob<'_>,
        edges: &AtomicU64,
    ) -> tegula_engine::Result<()> {
        // Taken out, because workers change them while they share `self`.
        let mut candidates = std::mem::take(&mut self.candidates);
        let result = job.for_each_range_of(&mut candidates, |range, ids| {
            let seen = self.look_at(job, ids, range)?;
            edges.fetch_add(seen, Ordering::Relaxed);
            Ok(())
        });
        self.candidates = candidates;
        result
    }

    /// Finds the candidates of a range. Returns the number of edges seen.
    fn look_at(
        &self,
        job: &RowsJob<'_>,
        ids: Range<u32>,
        candidates: &mut [Candidate],
    ) -> tegula_engine::Result<u64> {
        let first = ids.start;
        // In cells, because the order of visits asks for candidates while they change.
        let candidates = Cell::from_mut(candidates).as_slice_of_cells();
        let is_needed = |vertex: ShortId| {
            let target = candidates[(vertex.0 - first) as usize].get().target;
            target != NONE && self.component(target) == self.component(vertex.0)
        };
        let order = Filter::new(Sequential::new(ids), is_needed);
        let mut traversal = job.traversal(order);
        let mut edges = 0;
        while let Some((row, _)) = traversal.next_row()? {
            let source = row.source().0;
            let mut least = Candidate { target: NONE, weight: f32::INFINITY };
            let count = row.for_each_weighted(|target, weight| {
                // Adding 0.0 turns -0.0 into 0.0.
                let weight = self.sign * weight + 0.0;
                let candidate = Candidate { target: target.0, weight };
                // A candidate without a target has no ends that could be compared.
                if self.component(target.0) != self.component(source)
                    && (least.target == NONE || self.is_less(source, candidate, source, least))
                {
                    least = candidate;
                }
            })?;
            candidates[(source - first) as usize].set(least);
            edges += count as u64;
        }
        Ok(edges)
    }

    /// Adds the least edge that leaves each component. Returns whether there was one.
    fn join(&mut self, cancel: &Cancel) -> tegula_engine::Result<bool> {
        cancel.check()?;
        self.least.fill(NONE);
        for vertex in 0..self.candidates.len() as u32 {
            let candidate = self.candidates[vertex as usize];
            if candidate.target == NONE {
                continue;
            }
            let component = self.component(vertex) as usize;
            let least = self.least[component];
            let is_less = least == NONE
                || self.is_less(vertex, candidate, least, self.candidates[least as usize]);
            if is_less {
                self.least[component] = vertex;
            }
        }
        cancel.check()?;
        let before = self.edges.len();
        for component in 0..self.least.len() {
            let source = self.least[component];
            if source == NONE {
                continue;
            }
            let Candidate { target, weight } = self.candidates[source as usize];
            // Two components may have chosen the same edge.
            if self.unite(source, target) {
                let (one, other) = (self.id_position(source), self.id_position(target));
                let (source, target) = (one.min(other), one.max(other));
                self.edges.push(ForestEdge { source, target, weight });
            }
        }
        // Links lead to smaller vertices, whose component is already final here.
        for vertex in 0..self.components.len() {
            self.components[vertex] = self.components[self.components[vertex] as usize];
        }
        Ok(self.edges.len() > before)
    }

    /// Joins the components of two vertices. Returns whether they were different.
    fn unite(&mut self, one: u32, other: u32) -> bool {
        let (one, other) = (self.root(one), self.root(other));
        self.components[one.max(other) as usize] = one.min(other);
        one != other
    }

    fn root(&mut self, mut vertex: u32) -> u32 {
        while self.component(vertex) != vertex {
            let next = self.component(self.component(vertex));
            self.components[vertex as usize] = next;
            vertex = next;
        }
        vertex
    }

    fn component(&self, vertex: u32) -> u32 {
        self.components[vertex as usize]
    }

    fn id_position(&self, vertex: u32) -> ShortIdPosition {
        self.id_positions.of(ShortId(vertex))
    }

    /// Whether one edge comes before another: by weight, then by their ends.
    fn is_less(&self, one: u32, edge: Candidate, other: u32, than: Candidate) -> bool {
        let ends = |vertex: u32, edge: Candidate| {
            let (one, other) = (self.id_position(vertex), self.id_position(edge.target));
            (one.min(other), one.max(other))
        };
        let by_weight = edge.weight.total_cmp(&than.weight);
        by_weight.then_with(|| ends(one, edge).cmp(&ends(other, than))).is_lt()
    }
}
