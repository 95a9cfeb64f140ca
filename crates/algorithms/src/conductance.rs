//! Conductance: how well sets of vertices are separated from the rest of the graph.
//!
//! ```text
//!  conductance(S) = cut(S) / min(volume(S), volume(rest))
//! ```
//!
//! `cut` counts the edges between S and the rest, `volume` the ends of edges in S, which is the sum of
//! degrees (Bollobas, *Modern Graph Theory*, 1998; as a measure of communities: Leskovec, Lang, Dasgupta,
//! Mahoney, WWW 2008). In a directed graph an edge counts whatever its direction, and a degree is that of
//! both directions. A loop of an undirected graph has one end. Weights are ignored.
//!
//! It reads every row once. Memory: 8 bytes a vertex, 32 a set, and the index of the rows.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use tegula_engine::traverse::{
    Sequential, Traversal, estimate_rows, for_each_range, open_rows, rows_statistics,
};
use tegula_engine::{
    Estimate, Graph, Result, RowReader, RunOptions, RunStatistics, Unit, VertexId,
};

/// In no set.
pub const NO_SET: u32 = u32::MAX;

/// What a set has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SetFigures {
    /// Vertices in it.
    pub vertices: u64,
    /// Ends of edges in it.
    pub volume: u64,
    /// Edges between it and the rest.
    pub cut: u64,
}

/// The figures of all sets.
#[derive(Debug, Clone)]
pub struct Conductances {
    /// By the number of the set.
    pub sets: Vec<SetFigures>,
    /// Ends of all edges.
    pub volume: u64,
    /// What the run did.
    pub statistics: RunStatistics,
}

impl SetFigures {
    /// The conductance in a graph of so many ends of edges; `None` where there are none in the set, or
    /// none in the rest.
    pub fn conductance(&self, volume: u64) -> Option<f64> {
        let least = self.volume.min(volume.saturating_sub(self.volume));
        (least > 0).then(|| self.cut as f64 / least as f64)
    }
}

/// Computes the figures of `set_count` sets; `set_of` has the set of each dense id, or [`NO_SET`].
///
/// # Errors
/// Those of [`open_rows`] and of reading.
///
/// # Panics
/// When `set_of` has not an entry for each vertex, or one names no set.
pub fn run(
    graph: &Graph,
    set_of: &[u32],
    set_count: usize,
    options: &RunOptions<'_>,
) -> Result<Conductances> {
    assert_eq!(set_of.len(), graph.vertex_count() as usize, "a set for each vertex");
    let started = Instant::now();
    let rows = open_rows(graph, false, size(graph, set_count), options)?;
    let is_directed = !graph.manifest().undirected;
    let mut sets = vec![SetFigures::default(); set_count];
    for &set in set_of.iter().filter(|&&set| set != NO_SET) {
        sets[set as usize].vertices += 1;
    }
    let mut add_volume = |degrees: Vec<u32>| {
        for (&set, degree) in set_of.iter().zip(degrees).filter(|(set, _)| **set != NO_SET) {
            sets[set as usize].volume += u64::from(degree);
        }
    };
    add_volume(graph.out_degrees()?);
    if is_directed {
        add_volume(graph.in_degrees()?);
    }
    let cuts: Vec<AtomicU64> = std::iter::repeat_with(AtomicU64::default).take(set_count).collect();
    options.progress.begin("visiting", Some(graph.edge_count()), Unit::Edges);
    let counting = Counting { rows: &rows, set_of, cuts: &cuts, is_directed };
    for_each_range(&rows, options, |_, ids| counting.count(ids, options))?;
    options.progress.end();
    sets.iter_mut().zip(cuts).for_each(|(set, cut)| set.cut = cut.into_inner());
    let statistics = rows_statistics(&rows, vec![started.elapsed()], graph.edge_count());
    let volume = graph.edge_count() * if is_directed { 2 } else { 1 };
    Ok(Conductances { sets, volume, statistics })
}

/// What a run needs of memory, the sets of the vertices included.
pub fn estimate(graph: &Graph, set_count: usize) -> Estimate {
    estimate_rows(graph, false, size(graph, set_count))
}

fn size(graph: &Graph, set_count: usize) -> u64 {
    8 * u64::from(graph.vertex_count()) + 32 * set_count as u64
}

/// What the workers share.
struct Counting<'c> {
    rows: &'c RowReader,
    set_of: &'c [u32],
    cuts: &'c [AtomicU64],
    is_directed: bool,
}

impl Counting<'_> {
    /// Counts the edges of a range of sources that leave their sets. Where an edge is stored in one
    /// direction only, it is counted for the set of its target too.
    fn count(&self, ids: Range<u32>, options: &RunOptions<'_>) -> Result<()> {
        let mut traversal = Traversal::new(self.rows, Sequential::new(ids), &options.cancel);
        let mut edges = 0;
        while let Some((row, _)) = traversal.next_row()? {
            let own = self.set(row.source());
            let mut cut = 0;
            row.for_each(|target| {
                edges += 1;
                let other = self.set(target);
                if other != own {
                    cut += 1;
                    if self.is_directed {
                        self.add(other, 1);
                    }
                }
            })?;
            self.add(own, cut);
        }
        options.progress.advance(edges);
        Ok(())
    }

    fn set(&self, vertex: VertexId) -> u32 {
        self.set_of[vertex.index()]
    }

    fn add(&self, set: u32, edges: u64) {
        if set != NO_SET && edges > 0 {
            self.cuts[set as usize].fetch_add(edges, Ordering::Relaxed);
        }
    }
}
