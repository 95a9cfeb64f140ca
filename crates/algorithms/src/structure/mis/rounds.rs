//! The rounds in which vertices join the set or drop out.

use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::time::Instant;

use tegula_engine::traverse::{self, Filter, Held, RowsJob, RowsWanted, Sequential, estimate_rows};
use tegula_engine::{
    Estimate, Graph, IterationTimes, ProgressUnit, Row, RunOptions, RunStatistics, ShortId,
};

use super::MisOptions;
use crate::error::{Result, check_both_directions};
use crate::shared::original_ids::IdPositions;
use crate::shared::random;

/// A maximal independent set.
#[derive(Debug, Clone)]
pub struct IndependentSet {
    /// For each dense id whether it is in the set.
    pub members: Vec<bool>,
    /// Statistics of the run; an iteration is a round.
    pub statistics: RunStatistics,
}

const UNDECIDED: u8 = 0;
const IN: u8 = 1;
const OUT: u8 = 2;

/// State that the workers share.
struct Rounds<'r> {
    job: &'r RowsJob<'r>,
    /// The state of each vertex. A decision is final, and follows from final decisions alone.
    states: Vec<AtomicU8>,
    id_positions: IdPositions,
    seed: u64,
    edges: AtomicU64,
    undecided: AtomicU64,
}

/// Refuses a graph in which no set can be found.
///
/// # Errors
/// [`Error::OneDirection`](crate::Error::OneDirection) for a directed graph.
pub fn check(graph: &Graph) -> Result<()> {
    check_both_directions(graph, "an independent set", None)
}

/// Finds a maximal independent set. It refuses what [`check`] refuses.
pub fn run(graph: &Graph, config: MisOptions, options: &RunOptions<'_>) -> Result<IndependentSet> {
    check(graph)?;
    let held = size(graph)?;
    traverse::run(graph, RowsWanted::forward(false), held, options, |job| {
        decide_all(graph, config, job, options)
    })
}

/// Decides all vertices, in rounds.
fn decide_all(
    graph: &Graph,
    config: MisOptions,
    job: &RowsJob<'_>,
    options: &RunOptions<'_>,
) -> Result<IndependentSet> {
    let states = std::iter::repeat_with(|| AtomicU8::new(UNDECIDED));
    let rounds = Rounds {
        job,
        states: states.take(graph.vertex_count() as usize).collect(),
        id_positions: IdPositions::read(graph, &options.cancel)?,
        seed: config.seed,
        edges: AtomicU64::new(0),
        undecided: AtomicU64::new(graph.vertex_count()),
    };
    let mut times = IterationTimes::default();
    options.progress.begin("iterating", None, ProgressUnit::Iterations);
    // The round counts anew those that it leaves undecided.
    while rounds.undecided.swap(0, Ordering::Relaxed) > 0 {
        let started = Instant::now();
        job.for_each_range(|_, ids| rounds.decide(ids))?;
        times.push(started.elapsed());
        options.progress.advance(1);
    }
    options.progress.end();
    let statistics = job.statistics(times, rounds.edges.into_inner());
    let members = rounds.states.into_iter().map(|state| state.into_inner() == IN).collect();
    Ok(IndependentSet { members, statistics })
}

/// Memory that a run needs.
pub fn estimate(graph: &Graph) -> Result<Estimate> {
    Ok(estimate_rows(graph, RowsWanted::forward(false), size(graph)?))
}

/// Bytes held beside the rows; the result reuses the memory of the states.
fn size(graph: &Graph) -> Result<Held> {
    Ok(Held::with_id_positions(graph, 2 * graph.vertex_count())?)
}

impl Rounds<'_> {
    /// Decides vertices of a range that are still undecided, where possible.
    fn decide(&self, ids: Range<u32>) -> tegula_engine::Result<()> {
        let is_open = |vertex: ShortId| self.state(vertex) == UNDECIDED;
        let order = Filter::new(Sequential::new(ids), is_open);
        let mut traversal = self.job.traversal(order);
        let (mut edges, mut undecided) = (0, 0);
        while let Some((row, _)) = traversal.next_row()? {
            match self.verdict(&row, &mut edges)? {
                // Not stored: a neighbour that joins may put the vertex out at this moment.
                UNDECIDED => undecided += 1,
                verdict => self.states[row.source().index()].store(verdict, Ordering::Relaxed),
            }
        }
        self.edges.fetch_add(edges, Ordering::Relaxed);
        self.undecided.fetch_add(undecided, Ordering::Relaxed);
        Ok(())
    }

    /// The verdict on a vertex, from the states of its neighbours. If it joins, its neighbours are
    /// out.
    fn verdict(&self, row: &Row<'_>, edges: &mut u64) -> tegula_engine::Result<u8> {
        let priority = self.priority(row.source());
        let (verdict, looked_at) = row.try_fold((IN, 0), |(verdict, edge), target| {
            let next = edge + 1;
            match self.state(target) {
                IN if target != row.source() => ControlFlow::Break((OUT, next)),
                UNDECIDED if self.priority(target) < priority => {
                    ControlFlow::Continue((UNDECIDED, next))
                }
                _ => ControlFlow::Continue((verdict, next)),
            }
        })?;
        *edges += looked_at;
        if verdict == IN {
            row.for_each(|target| {
                if target != row.source() {
                    self.states[target.index()].store(OUT, Ordering::Relaxed);
                }
            })?;
        }
        Ok(verdict)
    }

    fn state(&self, vertex: ShortId) -> u8 {
        self.states[vertex.index()].load(Ordering::Relaxed)
    }

    /// The priority of a vertex; no two vertices have the same.
    fn priority(&self, vertex: ShortId) -> u64 {
        random::number(self.seed, self.id_positions.of(vertex).0.into())
    }
}
