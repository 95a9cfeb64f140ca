//! Peels off vertices with few neighbours.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

use tegula_engine::traverse::{
    self, FRONTIER_STRETCH, Neighbourhoods, Neighbours, RowsJob, RowsWanted, Sequential,
};
use tegula_engine::{Graph, IterationTimes, ProgressUnit, RunOptions, RunStatistics, ShortId};

use crate::error::Result;
use crate::shared::redirected::Redirection;

/// How far the horizon lies beyond the fewest neighbours left. Only when it moves are all vertices
/// left scanned, else only the near ones.
const HORIZON_WIDTH: u32 = 8;

/// The core numbers.
#[derive(Debug, Clone)]
pub struct Cores {
    /// The core number of each dense id.
    pub cores: Vec<u32>,
    /// Statistics of the run; an iteration is one core number that occurs.
    pub statistics: RunStatistics,
}

/// Finds the core numbers.
pub fn run(graph: &Graph, options: &RunOptions<'_>) -> Result<Cores> {
    let held = size(graph, options.threads)?;
    traverse::run_rereading(graph, RowsWanted::NEIGHBOURS, held, options, |job| {
        peel(graph, job, options)
    })
}

/// Whether a run counts the neighbours of each vertex before it peels. If not, the degrees of the
/// graph are the numbers of neighbours.
fn counts_neighbours(graph: &Graph) -> bool {
    Redirection::NEIGHBOURS.is_needed(graph)
}

/// Returns how many edges a run follows: those of each vertex when it is peeled off, and before that
/// when its neighbours are counted. An edge is followed from both of its ends.
fn edges_followed(graph: &Graph) -> u64 {
    Redirection::NEIGHBOURS.arcs(graph) * (1 + u64::from(counts_neighbours(graph)))
}

/// Bytes held beside the rows: numbers of neighbours left, the lists of far and near vertices, and
/// two frontiers.
pub(super) fn size(graph: &Graph, threads: usize) -> Result<u64> {
    let ends = traverse::edges_of_a_vertex_max(graph)?;
    let worker = Neighbourhoods::<Sequential>::size(ends);
    // `remove_alone` also makes room in `fallen` for all edges of a vertex.
    Ok(20 * graph.vertex_count() + (threads as u64 + 1) * worker)
}

fn peel(graph: &Graph, job: &RowsJob<'_>, options: &RunOptions<'_>) -> Result<Cores> {
    let count = graph.short_vertex_count()?;
    let mut peeling = Peeling::new(count, job);
    match counts_neighbours(graph) {
        true => peeling.count_neighbours()?,
        false => peeling.read_degrees(graph)?,
    }
    let mut times = IterationTimes::default();
    options.progress.begin("peeling", Some(count.into()), ProgressUnit::Vertices);
    let mut far: Vec<ShortId> = (0..count).map(ShortId).collect();
    let mut near = Vec::new();
    loop {
        options.cancel.check()?;
        let started = Instant::now();
        if near.is_empty() {
            near = peeling.move_horizon(&mut far);
        }
        // No vertex left has fewer neighbours, so the numbers in between are no core numbers.
        let Some(core) = near.iter().map(|&vertex| peeling.degree(vertex)).min() else { break };
        let mut frontier: Vec<ShortId> =
            near.extract_if(.., |vertex| peeling.degree(*vertex) <= core).collect();
        // Rows are read in ascending order.
        frontier.sort_unstable();
        while !frontier.is_empty() {
            options.progress.advance(frontier.len() as u64);
            frontier = peeling.follow(&frontier, core)?;
            near.extend(frontier.extract_if(.., |vertex| peeling.degree(*vertex) > core));
            // A vertex that passes the horizon and falls to `core` in one call is listed twice.
            frontier.dedup();
        }
        near.retain(|&vertex| peeling.degree(vertex) > core);
        times.push(started.elapsed());
    }
    options.progress.end();
    let statistics = job.statistics(times, edges_followed(graph));
    let cores = peeling.degrees.into_iter().map(AtomicU32::into_inner).collect();
    Ok(Cores { cores, statistics })
}

/// State that the workers share.
struct Peeling<'p> {
    job: &'p RowsJob<'p>,
    /// The number of neighbours left; the core number of a vertex that is peeled off.
    degrees: Vec<AtomicU32>,
    /// A vertex that is left is near if it has fewer neighbours left than this, else it is far.
    horizon: u32,
}

impl<'p> Peeling<'p> {
    fn new(count: u32, job: &'p RowsJob<'p>) -> Peeling<'p> {
        let mut degrees = Vec::new();
        degrees.resize_with(count as usize, AtomicU32::default);
        Peeling { job, degrees, horizon: 0 }
    }

    /// Reads how many neighbours each vertex has.
    fn read_degrees(&mut self, graph: &Graph) -> Result<()> {
        graph.for_each_degrees(|first, out, _| {
            for (degree, &own) in self.degrees[first as usize..].iter_mut().zip(out) {
                *degree.get_mut() = own;
            }
            Ok(())
        })?;
        Ok(())
    }

    /// Counts the neighbours of each vertex.
    fn count_neighbours(&self) -> Result<()> {
        self.job.for_each_range(|_, ids| {
            let mut neighbourhoods = Neighbourhoods::new(self.job, Sequential::new(ids));
            while let Some(neighbours) = neighbourhoods.next_vertex()? {
                let mut degree = 0;
                neighbours.for_each(|_| degree += 1);
                self.degrees[neighbours.vertex.index()].store(degree, Ordering::Relaxed);
            }
            Ok(())
        })?;
        Ok(())
    }

    fn degree(&self, vertex: ShortId) -> u32 {
        self.degrees[vertex.index()].load(Ordering::Relaxed)
    }

    /// Moves the horizon beyond the far vertices with the fewest neighbours left. Moves the vertices
    /// within the horizon out of `far`, and returns them. All near vertices must be peeled off.
    fn move_horizon(&mut self, far: &mut Vec<ShortId>) -> Vec<ShortId> {
        // A vertex that fell below the horizon was near, so it is peeled off by now.
        far.retain(|&vertex| self.degree(vertex) >= self.horizon);
        let least = far.iter().map(|&vertex| self.degree(vertex)).min().unwrap_or(0);
        self.horizon = least.saturating_add(HORIZON_WIDTH);
        far.extract_if(.., |vertex| self.degree(*vertex) < self.horizon).collect()
    }

    /// Takes the vertices of a frontier off the numbers of their neighbours. Returns the neighbours
    /// that fell to `core` or passed the horizon, by ascending id.
    fn follow(&self, frontier: &[ShortId], core: u32) -> Result<Vec<ShortId>> {
        let has_one_worker = frontier.len() <= FRONTIER_STRETCH;
        let next =
            self.job.follow_neighbours(frontier, |neighbours, fallen| match has_one_worker {
                true => self.remove_alone(neighbours, core, fallen),
                false => self.remove(neighbours, core, fallen),
            })?;
        Ok(next)
    }

    /// Takes a vertex off the numbers of its neighbours, and adds those to `fallen` that fell to
    /// `core` or passed the horizon.
    fn remove(&self, neighbours: &Neighbours<'_>, core: u32, fallen: &mut Vec<ShortId>) {
        // A vertex with at most `core` neighbours left is already in a frontier, or peeled off.
        let one_less = |left: u32| (left > core).then(|| left - 1);
        neighbours.for_each(|neighbour| {
            let degree = &self.degrees[neighbour.id.index()];
            // For each value of `degree`, exactly one worker lowers it. So a vertex is listed once
            // when it falls to `core` and once when it passes the horizon.
            let before = degree.try_update(Ordering::Relaxed, Ordering::Relaxed, one_less);
            if before == Ok(core + 1) || before == Ok(self.horizon) {
                fallen.push(neighbour.id);
            }
        });
    }

    /// Does the same as `remove`, but without atomic updates: no other worker may run. No branch
    /// depends on the number of neighbours left, since it cannot be predicted.
    fn remove_alone(&self, neighbours: &Neighbours<'_>, core: u32, fallen: &mut Vec<ShortId>) {
        let mut end = fallen.len();
        fallen.resize(end + neighbours.edge_count(), neighbours.vertex);
        neighbours.for_each(|neighbour| {
            let degree = &self.degrees[neighbour.id.index()];
            let left = degree.load(Ordering::Relaxed);
            let is_left = left > core;
            degree.store(left - u32::from(is_left), Ordering::Relaxed);
            // The next neighbour overwrites this one unless this one has fallen.
            fallen[end] = neighbour.id;
            end += usize::from(is_left & ((left == core + 1) | (left == self.horizon)));
        });
        fallen.truncate(end);
    }
}
