//! The search, level after level.

use std::time::Instant;

use serde::Serialize;
use tegula_engine::traverse::{self, Directions, RowsJob, RowsWanted, Sequential, estimate_rows};
use tegula_engine::{
    Estimate, Graph, IterationTimes, ProgressUnit, RunOptions, RunStatistics, ShortId,
};

use super::arcs::Arcs;
use super::contracted::{self, Contracted};
use super::links::SpareLinks;
use super::moving::{self, move_units};
use super::network::{self, Network};
use super::partition::Partition;
use super::refining::{self, refine};
use crate::algorithm::Found;
use crate::answer::{self, Called, Facts, Figures, Groups, by_smallest, by_smallest_size};
use crate::error::{Result, negative_weight};
use crate::shared::id_order::with_order_streamed;
use crate::shared::random;
use crate::shared::union_find::DisjointSets;

/// An iteration that gains no more modularity than this is the last.
const GAIN_MIN: f64 = 1e-12;

/// What becomes a unit of the next level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// A community.
    Louvain,
    /// A group of units within a community.
    Leiden {
        /// The most iterations. Each begins with the communities of the one before. With 0, they
        /// go on while modularity rises.
        iterations: u64,
    },
}

/// The communities.
#[derive(Debug, Clone)]
pub struct Communities {
    /// For each dense id, the smallest of its community.
    pub roots: Vec<u32>,
    /// The levels that raised modularity, over all iterations.
    pub levels: Vec<Level>,
    /// The modularity.
    pub modularity: f64,
    /// Statistics of the run; a level is an iteration.
    pub statistics: RunStatistics,
}

/// The result of a level.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Level {
    /// The number of communities.
    pub communities: u64,
    /// Their modularity.
    pub modularity: f64,
}

/// Figures about the communities.
#[derive(Debug, Clone, Serialize)]
struct Quality {
    modularity: f64,
    levels: Vec<Level>,
}

impl Figures for Quality {
    fn facts(&self) -> Facts {
        let mut facts = Facts::default();
        facts.add("modularity", answer::number(self.modularity));
        let levels: Vec<String> =
            self.levels.iter().map(|level| answer::count(level.communities)).collect();
        facts.add("by level", levels.join(", "));
        facts
    }
}

/// Finds communities.
///
/// # Errors
/// [`NegativeWeight`](crate::Error::NegativeWeight) if a weight is below 0 or not finite.
pub fn run(
    graph: &Graph,
    method: Method,
    resolution: f64,
    seed: u64,
    options: &RunOptions<'_>,
) -> Result<Communities> {
    let held = held(graph, method, options.threads);
    traverse::run_rereading(graph, rows_wanted(graph), held, options, |job| {
        let count = graph.short_vertex_count()?;
        let strengths = network::strengths(job, count)?;
        let network = Network::new(job, &strengths, resolution)
            .ok_or_else(|| negative_weight(graph, "communities"))?;
        let (levels, times) = (Vec::new(), IterationTimes::default());
        let arcs_max = contracted::arcs_max(graph);
        let row_levels = 0;
        let mut search =
            Search { job, network, method, seed, count, arcs_max, levels, row_levels, times };
        options.progress.begin("moving", None, ProgressUnit::Iterations);
        let labels = search.find(strengths, options)?;
        options.progress.end();
        let (roots, modularity) = search.roots(labels)?;
        let edges = search.row_levels * graph.edge_count();
        let statistics = job.statistics(search.times, edges);
        Ok(Communities { roots, levels: search.levels, modularity, statistics })
    })
}

/// Returns the rows that are followed.
fn rows_wanted(graph: &Graph) -> RowsWanted {
    RowsWanted { directions: Directions::Both, has_weights: graph.is_weighted() }
}

/// Estimates the memory that a run needs.
pub(crate) fn estimate(graph: &Graph, method: Method, threads: usize) -> Result<Estimate> {
    let held = held(graph, method, threads).max(4 * graph.vertex_count() + by_smallest_size(graph));
    with_order_streamed(estimate_rows(graph, rows_wanted(graph), held), graph)
}

/// Returns the bytes that a run holds beside the rows.
fn held(graph: &Graph, method: Method, threads: usize) -> u64 {
    let vertices = graph.vertex_count();
    // The best labels, and the vertices of the contracted graph.
    let found = 8 * vertices;
    let worker = SpareLinks::size(vertices) + 4 * vertices;
    let contracted = Contracted::size(graph);
    let refining = if method == Method::Louvain { 0 } else { refining::size(vertices) };
    // What a level needs one after the other.
    let step = moving::size(vertices).max(refining).max(Contracted::making_size(graph));
    found + Partition::size(vertices) + contracted + step + threads as u64 * worker
}

/// Makes the answer, with names for the communities.
pub(crate) fn answer(graph: &Graph, found: Communities, options: &RunOptions<'_>) -> Result<Found> {
    // Names need memory of their own.
    graph.reader().pool().trim();
    let names = by_smallest(graph, found.roots.into(), &options.cancel)?;
    let called = Called { one: "community", many: "communities" };
    let figures = Quality { modularity: found.modularity, levels: found.levels };
    Ok(Found::new(Groups { called, names, figures, memory: options.memory }, found.statistics))
}

/// A search in progress.
struct Search<'s> {
    job: &'s RowsJob<'s>,
    network: Network<'s>,
    method: Method,
    seed: u64,
    count: u32,
    /// The most arcs of a contracted graph.
    arcs_max: u64,
    levels: Vec<Level>,
    /// Levels that followed the rows of the graph, not the arcs of a contracted one.
    row_levels: u64,
    times: IterationTimes,
}

/// What an iteration has found.
struct Iteration {
    /// The community of each vertex.
    labels: Vec<u32>,
    modularity: f64,
    /// Whether a unit has moved.
    has_moved: bool,
}

impl Search<'_> {
    /// Finds the best communities: a label for each vertex. `strengths` has the weights at each.
    fn find(&mut self, strengths: Vec<f64>, options: &RunOptions<'_>) -> Result<Vec<u32>> {
        let iterations = match self.method {
            Method::Louvain => 1,
            Method::Leiden { iterations: 0 } => u64::MAX,
            Method::Leiden { iterations } => iterations,
        };
        let alone = Partition::of_vertices(strengths, (0..self.count).collect());
        let mut best = self.iterate(alone, options)?;
        for _ in 1..iterations {
            // The partition of the last iteration has taken the strengths, and added them up by
            // unit.
            let strengths = network::strengths(self.job, self.count)?;
            let start = Partition::of_vertices(strengths, best.labels.clone());
            let found = self.iterate(start, options)?;
            let is_better = found.modularity > best.modularity + GAIN_MIN;
            let is_last = !found.has_moved || !is_better;
            if is_better {
                best = found;
            }
            if is_last {
                break;
            }
        }
        Ok(best.labels)
    }

    /// Moves vertices between communities, then units, level after level. A level contracts the
    /// graph if the result is small.
    fn iterate(&mut self, mut partition: Partition, options: &RunOptions<'_>) -> Result<Iteration> {
        // The vertex of the contracted graph that each vertex is in.
        let mut places: Vec<u32> = (0..self.count).collect();
        let mut has_moved = false;
        self.network.contracted = None;
        loop {
            let started = Instant::now();
            self.network.seed = random::number(self.seed, self.times.count());
            has_moved |= move_units(&self.network, &mut partition)?;
            let (groups, between) = self.groups(&partition)?;
            let modularity = self.network.modularity(&partition, between);
            self.times.push(started.elapsed());
            self.row_levels += u64::from(self.network.contracted.is_none());
            options.progress.advance(1);
            let communities = partition.community_count();
            if self.levels.last().is_none_or(|level| modularity > level.modularity) {
                self.levels.push(Level { communities: communities as u64, modularity });
            }
            if communities == partition.unit_count() as usize {
                let label = |place| partition.community(ShortId(place));
                let labels = places.into_iter().map(label).collect();
                return Ok(Iteration { labels, modularity, has_moved });
            }
            partition.regroup(&groups);
            drop(groups);
            if let Some(graph) = Contracted::of_units(&self.network, &partition, self.arcs_max)? {
                places.iter_mut().for_each(|place| *place = partition.unit(ShortId(*place)));
                self.network.contracted = Some(graph);
                let (strengths, communities) = partition.into_units();
                partition = Partition::of_vertices(strengths, communities);
            }
        }
    }

    /// Returns the group of each unit, which is a unit of the next level, and the sum of the
    /// weights between communities.
    fn groups(&self, partition: &Partition) -> Result<(Vec<u32>, f64)> {
        if self.method == Method::Louvain {
            return Ok((partition.communities.clone(), self.network.between(partition)?));
        }
        let (groups, between) = refine(&self.network, partition)?;
        let is_merged = |(&group, unit): (&u32, u32)| group != unit;
        // If nothing has merged, the next level would be this one.
        if groups.iter().zip(0..).any(is_merged) {
            return Ok((groups, between));
        }
        Ok((partition.communities.clone(), between))
    }

    /// Returns the smallest vertex in the community of each vertex, and the modularity. Leiden's
    /// communities are connected: if one is not, each connected part is a community.
    fn roots(&mut self, labels: Vec<u32>) -> Result<(Vec<u32>, f64)> {
        let roots = match self.method {
            Method::Louvain => smallest(labels),
            Method::Leiden { .. } => self.connected(&labels)?,
        };
        self.network.contracted = None;
        // Labels name vertices of the graph, so its rows are read once more.
        let strengths = network::strengths(self.job, self.count)?;
        let partition = Partition::of_vertices(strengths, roots);
        let between = self.network.between(&partition)?;
        let modularity = self.network.modularity(&partition, between);
        Ok((partition.into_units().1, modularity))
    }

    /// Returns the smallest vertex in the connected part of each vertex's community.
    fn connected(&self, labels: &[u32]) -> Result<Vec<u32>> {
        let parts = DisjointSets::new(self.count);
        self.job.for_each_range(|_, ids| {
            let mut arcs = Arcs::new(self.job, Sequential::new(ids.clone()));
            for vertex in ids {
                arcs.next_vertex(|target, _| {
                    if labels[target.index()] == labels[vertex as usize] {
                        parts.join(vertex, target.0);
                    }
                })?;
            }
            Ok(())
        })?;
        Ok(parts.into_roots().into_iter().map(|root| root.0).collect())
    }
}

/// Returns the smallest vertex with the label of each vertex.
fn smallest(labels: Vec<u32>) -> Vec<u32> {
    let mut first = vec![u32::MAX; labels.len()];
    let root = |(label, vertex): (u32, u32)| {
        let first = &mut first[label as usize];
        *first = vertex.min(*first);
        *first
    };
    labels.into_iter().zip(0..).map(root).collect()
}
