//! The pass over all rows that adds up the edges that leave each set.

use std::ops::Range;
use std::time::Instant;

use tegula_engine::traverse::{self, RowsJob, RowsWanted, Sequential, estimate_rows};
use tegula_engine::{Estimate, Graph, ProgressUnit, RunOptions, RunStatistics};

use super::Memberships;
use super::amount::Amount;
use crate::error::{RefusedEdge, Result, is_weight};

/// The figures of a set.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SetFigures<A> {
    /// The number of vertices in it.
    pub vertices: u64,
    /// Ends of edges in it.
    pub volume: A,
    /// Edges between it and the rest.
    pub cut: A,
}

/// The figures of all sets.
#[derive(Debug, Clone)]
pub struct Conductances<A> {
    /// By the number of the set.
    pub sets: Vec<SetFigures<A>>,
    /// Ends of all edges.
    pub volume: A,
    /// Statistics of the run.
    pub statistics: RunStatistics,
}

impl<A: Amount> SetFigures<A> {
    /// Returns the conductance in a graph with `volume` ends of edges; `None` if the set or the
    /// rest has no ends.
    pub fn conductance(&self, volume: A) -> Option<f64> {
        let least = self.volume.min(volume.minus(self.volume));
        (least > A::default()).then(|| self.cut.to_f64() / least.to_f64())
    }
}

/// Computes the figures of all sets, while the caller holds `beside` further bytes, such as for
/// names. Edges are counted in `u64`, and weighed in [`ExactSum`](super::ExactSum).
///
/// # Errors
/// [`NegativeWeight`](crate::Error::NegativeWeight) if edges are weighed and a weight is not a
/// finite number of at least 0.
///
/// # Panics
/// When the memberships are for another number of vertices.
pub fn run<A: Amount>(
    graph: &Graph,
    members: &Memberships,
    beside: u64,
    options: &RunOptions<'_>,
) -> Result<Conductances<A>> {
    assert_eq!(members.iter().len(), graph.vertex_count() as usize, "sets for each vertex");
    let held = size::<A>(graph, members, options.threads) + beside;
    traverse::run(graph, RowsWanted::forward(A::IS_WEIGHED), held, options, |job| {
        add_all(graph, members, job, options)
    })
}

/// Estimates the memory that a run needs, including the memberships.
pub fn estimate<A: Amount>(graph: &Graph, members: &Memberships, threads: usize) -> Estimate {
    let held = size::<A>(graph, members, threads);
    estimate_rows(graph, RowsWanted::forward(A::IS_WEIGHED), held)
}

/// Returns the bytes of the memberships, of a degree for each vertex if edges are counted, and of
/// the figures of the sets, including the shared ones. Each thread has what leaves the sets of one
/// vertex.
fn size<A: Amount>(graph: &Graph, members: &Memberships, threads: usize) -> u64 {
    let degrees = if A::IS_WEIGHED { 0 } else { 4 * graph.vertex_count() };
    let sets = set_size::<A>() * u64::from(members.set_count());
    let leaving = threads * members.sets_of_a_vertex_max() * size_of::<A>();
    members.size() + degrees + sets + leaving as u64
}

fn set_size<A: Amount>() -> u64 {
    let shared = if A::IS_WEIGHED { 2 } else { 1 };
    (size_of::<SetFigures<A>>() + shared * size_of::<A::Shared>()) as u64
}

/// Adds up vertices, volumes and cuts of all sets.
fn add_all<A: Amount>(
    graph: &Graph,
    members: &Memberships,
    job: &RowsJob<'_>,
    options: &RunOptions<'_>,
) -> Result<Conductances<A>> {
    let started = Instant::now();
    let is_directed = !graph.manifest().undirected;
    let set_count = members.set_count() as usize;
    let mut sets = vec![SetFigures::<A>::default(); set_count];
    members.iter().flatten().for_each(|&set| sets[set as usize].vertices += 1);
    let mut totals = Totals::<A>::new(set_count);
    options.progress.begin("visiting", Some(graph.edge_count()), ProgressUnit::Edges);
    let sets_max = members.sets_of_a_vertex_max();
    let adding = Adding { job, members, sets_max, totals: &totals, is_directed };
    job.for_each_range(|_, ids| adding.add(ids, options))?;
    options.progress.end();
    totals.refused.check(graph, "weighted conductances")?;
    sets.iter_mut().zip(totals.cuts).for_each(|(set, cut)| set.cut = A::of_shared(cut));
    let volumes = totals.volumes.into_iter().map(A::of_shared);
    sets.iter_mut().zip(volumes).for_each(|(set, volume)| set.volume = volume);
    let mut add_degrees = |degrees: Vec<u32>| {
        for (own, degree) in members.iter().zip(degrees) {
            let ends = A::counted(degree.into()).unwrap_or_default();
            for &set in own {
                let volume = &mut sets[set as usize].volume;
                *volume = volume.plus(ends);
            }
        }
    };
    if !A::IS_WEIGHED {
        add_degrees(graph.out_degrees()?);
        if is_directed {
            add_degrees(graph.in_degrees()?);
        }
    }
    let all = A::counted(graph.edge_count()).unwrap_or_else(|| A::of_shared(totals.volume));
    let volume = if is_directed { all.plus(all) } else { all };
    let statistics = job.statistics(started.elapsed().into(), graph.edge_count());
    Ok(Conductances { sets, volume, statistics })
}

/// The sums to which all workers add.
struct Totals<A: Amount> {
    /// By the number of the set.
    cuts: Vec<A::Shared>,
    /// By the number of the set; empty if edges are counted, as degrees then tell the volumes.
    volumes: Vec<A::Shared>,
    /// The weight of all edges, if they are weighed.
    volume: A::Shared,
    refused: RefusedEdge,
}

impl<A: Amount> Totals<A> {
    fn new(set_count: usize) -> Totals<A> {
        let zeroes = |count| std::iter::repeat_with(A::Shared::default).take(count).collect();
        Totals {
            cuts: zeroes(set_count),
            volumes: zeroes(if A::IS_WEIGHED { set_count } else { 0 }),
            volume: A::Shared::default(),
            refused: RefusedEdge::default(),
        }
    }
}

/// What the workers share.
struct Adding<'c, A: Amount> {
    job: &'c RowsJob<'c>,
    members: &'c Memberships,
    /// The most sets that a vertex is in.
    sets_max: usize,
    totals: &'c Totals<A>,
    is_directed: bool,
}

impl<A: Amount> Adding<'_, A> {
    /// Adds the edges of a range of sources that leave their sets. An edge that is stored in one
    /// direction only is also added for the sets of its target.
    fn add(&self, ids: Range<u32>, options: &RunOptions<'_>) -> tegula_engine::Result<()> {
        let mut traversal = self.job.traversal(Sequential::new(ids));
        let (mut edges, mut all) = (0, A::default());
        // The amount that leaves each set of a source.
        let mut leaving: Vec<A> = Vec::with_capacity(self.sets_max);
        while let Some((row, _)) = traversal.next_row()? {
            let own = self.members.of(row.source());
            leaving.clear();
            leaving.resize(own.len(), A::default());
            let mut volume = A::default();
            let count = row.for_each_weighted(|target, weight| {
                let others = self.members.of(target);
                if A::IS_WEIGHED {
                    if !is_weight(weight) {
                        return self.totals.refused.refuse((row.source(), target));
                    }
                    volume.add(weight);
                    self.add_end(others, weight);
                }
                if own == others {
                    return;
                }
                for_each_missing(own, others, |index| leaving[index].add(weight));
                if self.is_directed {
                    let cut = |index: usize| &self.totals.cuts[others[index] as usize];
                    for_each_missing(others, own, |index| A::add_edge_to(cut(index), weight));
                }
            })?;
            own.iter().zip(&leaving).for_each(|(&set, &edges)| self.add_cut(set, edges));
            if A::IS_WEIGHED {
                own.iter().for_each(|&set| volume.add_to(&self.totals.volumes[set as usize]));
                all = all.plus(volume);
            }
            edges += count as u64;
        }
        all.add_to(&self.totals.volume);
        options.progress.advance(edges);
        Ok(())
    }

    fn add_cut(&self, set: u32, edges: A) {
        edges.add_to(&self.totals.cuts[set as usize]);
    }

    /// Adds the end of an edge at its target. In an undirected graph, the target is also a source.
    #[inline(always)]
    fn add_end(&self, sets: &[u32], weight: f32) {
        if self.is_directed {
            sets.iter().for_each(|&set| A::add_edge_to(&self.totals.volumes[set as usize], weight));
        }
    }
}

/// Calls `visit` with the position of each entry of `of` that `other` lacks. Both lists ascend.
/// Takes a step for each entry of both.
#[inline]
fn for_each_missing(of: &[u32], other: &[u32], mut visit: impl FnMut(usize)) {
    let mut rest = other.iter().peekable();
    for (index, set) in of.iter().enumerate() {
        while rest.next_if(|&other| other < set).is_some() {}
        if rest.peek() != Some(&set) {
            visit(index);
        }
    }
}
