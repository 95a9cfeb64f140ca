//! The search, level after level.

use std::time::Instant;

use serde::Serialize;
use tegula_engine::traverse::{self, Directions, RowsWanted, Sequential, estimate_rows};
use tegula_engine::{Estimate, Graph, IterationTimes, RunOptions, RunStatistics, ShortId, Unit};

use super::arcs::Arcs;
use super::links::SpareLinks;
use super::moving::{self, move_units};
use super::network::Network;
use super::partition::Partition;
use super::refining::{self, refine};
use crate::algorithm::Found;
use crate::answer::{self, Called, Facts, Figures, Groups, by_smallest, by_smallest_size};
use crate::error::{Result, negative_weight};
use crate::shared::id_order::with_order_streamed;
use crate::shared::union_find::DisjointSets;

/// The most levels.
const LEVELS_MAX: usize = 64;
/// A level that gains no more modularity than this is the last.
const GAIN_MIN: f64 = 1e-7;

/// What becomes a unit of the next level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// A community.
    Louvain,
    /// A group of units within a community.
    Leiden,
}

/// The communities.
#[derive(Debug, Clone)]
pub struct Communities {
    /// For each dense id, the smallest of its community.
    pub roots: Vec<u32>,
    /// The result of each level.
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
    traverse::run(graph, rows_wanted(graph), held, options, |job| {
        let count = graph.short_vertex_count()?;
        let (network, strengths) = Network::new(job, count, resolution, seed)?;
        let network = network.ok_or_else(|| negative_weight(graph, "communities"))?;
        let mut search =
            Search { network, method, count, levels: Vec::new(), times: IterationTimes::default() };
        let labels = search.find(Partition::singletons(strengths), options)?;
        let roots = search.roots(labels)?;
        let last = search.levels.last().map_or(0.0, |level| level.modularity);
        let modularity = match method {
            Method::Louvain => last,
            Method::Leiden => search.network.modularity(count, |vertex| roots[vertex.index()])?,
        };
        let edges = search.times.count() * graph.edge_count();
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
    // The best labels, and the roots of their communities.
    let found = 8 * vertices;
    let worker = SpareLinks::size(vertices) + 4 * vertices;
    let refining = if method == Method::Leiden { refining::size(vertices) } else { 0 };
    found + Partition::size(vertices) + moving::size(vertices) + refining + threads as u64 * worker
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
    network: Network<'s>,
    method: Method,
    count: u32,
    levels: Vec<Level>,
    times: IterationTimes,
}

impl Search<'_> {
    /// Finds the best communities of all levels: a label for each vertex.
    fn find(&mut self, mut partition: Partition, options: &RunOptions<'_>) -> Result<Vec<u32>> {
        let mut labels = Vec::new();
        options.progress.begin("moving", None, Unit::Iterations);
        loop {
            let started = Instant::now();
            move_units(&self.network, &mut partition)?;
            let modularity =
                self.network.modularity(self.count, |vertex| partition.community(vertex))?;
            self.times.push(started.elapsed());
            options.progress.advance(1);
            let before = self.levels.last().map_or(f64::NEG_INFINITY, |level| level.modularity);
            if !self.levels.is_empty() && modularity <= before + GAIN_MIN {
                break;
            }
            let communities = partition.community_count();
            self.levels.push(Level { communities: communities as u64, modularity });
            labels.clear();
            labels.extend((0..self.count).map(|vertex| partition.community(ShortId(vertex))));
            if communities == partition.unit_count() as usize || self.levels.len() == LEVELS_MAX {
                break;
            }
            let groups = self.groups(&partition)?;
            partition.regroup(&groups);
        }
        options.progress.end();
        Ok(labels)
    }

    /// Returns the group of each unit, which is a unit of the next level.
    fn groups(&self, partition: &Partition) -> Result<Vec<u32>> {
        if self.method == Method::Leiden {
            let groups = refine(&self.network, partition, self.levels.len() as u64)?;
            let is_merged = |(&group, unit): (&u32, u32)| group != unit;
            // If nothing has merged, the next level would be this one.
            if groups.iter().zip(0..).any(is_merged) {
                return Ok(groups);
            }
        }
        Ok(partition.communities.clone())
    }

    /// Returns the smallest vertex in the community of each vertex. Leiden's communities are
    /// connected: if one is not, each connected part is a community.
    fn roots(&self, labels: Vec<u32>) -> Result<Vec<u32>> {
        if self.method == Method::Louvain {
            let mut first = vec![u32::MAX; labels.len()];
            let root = |(label, vertex): (u32, u32)| {
                let first = &mut first[label as usize];
                *first = vertex.min(*first);
                *first
            };
            return Ok(labels.into_iter().zip(0..).map(root).collect());
        }
        let parts = DisjointSets::new(self.count);
        self.network.job.for_each_range(|_, ids| {
            let mut arcs = Arcs::new(self.network.job, Sequential::new(ids.clone()));
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
