//! The yardstick for PageRank: an iteration that pulls along compressed sparse columns, in single
//! precision.
//!
//! This is what carefully written in-memory code does without tiles. It takes 4 bytes per edge and
//! 8 bytes of index per vertex. It first computes a dense array of contributions (rank /
//! out-degree) and then gathers them at random; the targets are cut into parts of equal cost.
//! Building takes about `4 E + 32 V` bytes; edges are generated twice and never kept.

mod build;

use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use tegula_generators::Generator;

pub(crate) use build::Degrees;
use build::{offsets, parts, scatter, sort_columns, split};

/// Parts per thread, so that other threads can help one with slow parts.
const PARTS_PER_THREAD: usize = 16;
/// Vertices whose contributions are computed at a time. Fixed, so that sums do not depend on the
/// number of threads.
const VERTICES_PER_CHUNK: usize = 1 << 14;

/// How to treat vertices without an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Isolated {
    /// They are vertices like any other.
    Keep,
    /// They are left out. The others move up and keep their order.
    Drop,
}

/// A graph in compressed sparse columns, with threads that pull along them.
#[derive(Debug)]
pub struct CscPull {
    offsets: Vec<usize>,
    sources: Vec<u32>,
    /// 0 for dangling vertices.
    inverse_out_degrees: Vec<f32>,
    contributions: Vec<f32>,
    /// Part `p` has the targets `parts[p]..parts[p + 1]`.
    parts: Vec<usize>,
    pool: ThreadPool,
}

impl CscPull {
    /// Builds the columns of a graph with fewer than 2^32 - 1 vertices, for this many threads.
    ///
    /// # Panics
    /// If there are more vertices, or threads cannot be started.
    pub fn new(generator: &dyn Generator, isolated: Isolated, threads: usize) -> Self {
        assert!(
            generator.vertex_count() < u64::from(u32::MAX),
            "{} vertices",
            generator.vertex_count()
        );
        let pool = ThreadPoolBuilder::new().num_threads(threads).build().expect("threads start");
        let (degrees, offsets, sources, parts) = pool.install(|| {
            let mut degrees = Degrees::count(generator);
            let dense = (isolated == Isolated::Drop).then(|| degrees.drop_isolated());
            let offsets = offsets(&degrees.incoming);
            let parts = parts(&offsets, threads.max(1) * PARTS_PER_THREAD);
            let mut sources = scatter(generator, dense.as_deref(), &offsets);
            sort_columns(&mut sources, &offsets, &parts);
            (degrees, offsets, sources, parts)
        });
        let inverse = |&degree: &u32| {
            if degree == 0 { 0.0 } else { 1.0 / degree as f32 }
        };
        let inverse_out_degrees: Vec<f32> = degrees.outgoing.iter().map(inverse).collect();
        let contributions = vec![0.0; inverse_out_degrees.len()];
        Self { offsets, sources, inverse_out_degrees, contributions, parts, pool }
    }

    /// Returns the number of vertices, without dropped ones.
    pub fn vertex_count(&self) -> usize {
        self.inverse_out_degrees.len()
    }

    /// Returns the number of edges.
    pub fn edge_count(&self) -> usize {
        self.sources.len()
    }

    /// Returns a rank of 1/V for every vertex.
    pub fn initial_ranks(&self) -> Vec<f32> {
        vec![1.0 / self.vertex_count() as f32; self.vertex_count()]
    }

    /// Computes one iteration of PageRank by Graphalytics' rule (see
    /// [`pagerank`](mod@crate::pagerank)).
    ///
    /// # Panics
    /// If the length of `ranks` is not the number of vertices.
    pub fn iterate(&mut self, damping: f32, ranks: &mut [f32]) {
        assert_eq!(ranks.len(), self.vertex_count());
        let Self { offsets, sources, inverse_out_degrees, contributions, parts, pool } = self;
        pool.install(|| {
            let dangling = contribute(ranks, inverse_out_degrees, contributions);
            let vertex_count = ranks.len() as f64;
            let base = (f64::from(1.0 - damping) + f64::from(damping) * dangling) / vertex_count;
            let (offsets, sources, contributions) = (&*offsets, &*sources, &*contributions);
            split(ranks, parts.iter().copied()).into_par_iter().zip(&*parts).for_each(
                |(ranks, &first)| {
                    pull(
                        &offsets[first..=first + ranks.len()],
                        sources,
                        contributions,
                        damping,
                        base as f32,
                        ranks,
                    );
                },
            );
        });
    }
}

/// Computes rank / out-degree of every vertex, and returns the sum of the dangling ranks.
fn contribute(ranks: &[f32], inverse_out_degrees: &[f32], contributions: &mut [f32]) -> f64 {
    let chunks =
        contributions.par_chunks_mut(VERTICES_PER_CHUNK).zip(ranks.par_chunks(VERTICES_PER_CHUNK));
    let dangling: Vec<f64> = chunks
        .zip(inverse_out_degrees.par_chunks(VERTICES_PER_CHUNK))
        .map(|((contributions, ranks), inverse_out_degrees)| {
            let mut dangling = 0.0;
            for ((contribution, &rank), &inverse) in
                contributions.iter_mut().zip(ranks).zip(inverse_out_degrees)
            {
                *contribution = rank * inverse;
                dangling += if inverse == 0.0 { f64::from(rank) } else { 0.0 };
            }
            dangling
        })
        .collect();
    // In the order of the chunks, so that the sum does not depend on the threads.
    dangling.iter().sum()
}

/// Computes the ranks of the targets with these offsets.
fn pull(
    offsets: &[usize],
    sources: &[u32],
    contributions: &[f32],
    damping: f32,
    base: f32,
    ranks: &mut [f32],
) {
    for (rank, column) in ranks.iter_mut().zip(offsets.windows(2)) {
        *rank = base + damping * sum(&sources[column[0]..column[1]], contributions);
    }
}

/// Sums the sources' contributions, in four chains of additions so that their gathers overlap. Each
/// edge takes one random read of 4 bytes.
#[inline]
fn sum(sources: &[u32], contributions: &[f32]) -> f32 {
    let (fours, rest) = sources.as_chunks::<4>();
    let mut sums = [0.0; 4];
    for four in fours {
        for (sum, &source) in sums.iter_mut().zip(four) {
            *sum += contributions[source as usize];
        }
    }
    let rest: f32 = rest.iter().map(|&source| contributions[source as usize]).sum();
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}
