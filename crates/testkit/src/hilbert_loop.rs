//! The yardstick for the overheads of a system: one thread that loops over a list of edges
//! (McSherry, Isard, Murray, *Scalability! But at what COST?*, HotOS 2015).
//!
//! Edges are in the order of a Hilbert curve over sources and targets, so that consecutive edges
//! have nearby ends. PageRank pushes along each edge, in single precision. Weakly connected
//! components use union-find in one pass, by Rem's algorithm, the fastest in the comparison by
//! Patwary, Blair and Manne (*Experiments on union-find algorithms for the disjoint-set data
//! structure*, SEA 2010). It takes 8 bytes per edge, in memory or in a
//! [file](mod@crate::edge_stream), and 12 bytes per vertex.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use fast_hilbert::{h2xy, xy2h};
use rayon::prelude::*;
use tegula_generators::{Generator, for_each_block};
use zerocopy::IntoBytes;

use crate::csc_pull::Degrees;
use crate::edge_stream::{self, Chunk};

/// A graph as a list of edges, without isolated vertices.
#[derive(Debug)]
pub struct HilbertLoop {
    edges: Edges,
    /// 0 for dangling vertices.
    inverse_out_degrees: Vec<f32>,
    contributions: Vec<f32>,
}

/// Edges, with the source in the lower half of a word.
#[derive(Debug)]
enum Edges {
    Memory(Vec<u64>),
    Disk(File),
}

impl Edges {
    /// Visits the source and the target of each edge, in order.
    #[inline(always)]
    fn for_each(&self, mut visit: impl FnMut(u32, u32)) -> io::Result<()> {
        match self {
            Edges::Memory(words) => {
                words.iter().for_each(|&word| visit(word as u32, (word >> 32) as u32));
            }
            Edges::Disk(file) => {
                let chunks: Vec<Chunk<'_>> = edge_stream::chunks(file)?.collect();
                edge_stream::for_each_pairs(&chunks, |pairs| {
                    pairs.iter().for_each(|&[source, target]| visit(source, target));
                })?;
            }
        }
        Ok(())
    }
}

impl HilbertLoop {
    /// Makes the list of a graph with fewer than 2^32 - 1 vertices, in memory. This takes all
    /// cores, and is not part of the measurement.
    ///
    /// # Panics
    /// If there are more vertices.
    pub fn new(generator: &dyn Generator) -> HilbertLoop {
        assert!(generator.vertex_count() < u64::from(u32::MAX), "too many vertices");
        let mut degrees = Degrees::count(generator);
        let dense = degrees.drop_isolated();
        let inverse = |&degree: &u32| if degree == 0 { 0.0 } else { 1.0 / degree as f32 };
        let inverse_out_degrees: Vec<f32> = degrees.outgoing.iter().map(inverse).collect();
        let bits = (u32::BITS - (inverse_out_degrees.len() as u32).leading_zeros()) as u8;
        let indices: Vec<AtomicU64> =
            (0..generator.edge_count()).map(|_| AtomicU64::new(0)).collect();
        for_each_block(generator, |first, edges| {
            for (index, &(source, target)) in indices[first as usize..].iter().zip(edges) {
                let (source, target) = (dense[source as usize], dense[target as usize]);
                index.store(xy2h(source, target, bits), Relaxed);
            }
        });
        // In place: the standard library reuses the allocation.
        let mut words: Vec<u64> = indices.into_iter().map(AtomicU64::into_inner).collect();
        words.par_sort_unstable();
        words.par_iter_mut().for_each(|word| {
            let (source, target) = h2xy::<u32>(*word, bits);
            *word = u64::from(target) << 32 | u64::from(source);
        });
        let contributions = vec![0.0; inverse_out_degrees.len()];
        HilbertLoop { edges: Edges::Memory(words), inverse_out_degrees, contributions }
    }

    /// Writes the list to a file, which each pass then reads.
    ///
    /// # Panics
    /// If the list lies in a file already.
    pub fn on_disk(&self, path: &Path) -> io::Result<HilbertLoop> {
        let Edges::Memory(words) = &self.edges else { panic!("the list lies in a file") };
        fs::write(path, words.as_bytes())?;
        File::open(path)?.sync_all()?;
        Ok(HilbertLoop {
            edges: Edges::Disk(edge_stream::open(path)?),
            inverse_out_degrees: self.inverse_out_degrees.clone(),
            contributions: self.contributions.clone(),
        })
    }

    /// Returns the number of vertices with an edge.
    pub fn vertex_count(&self) -> usize {
        self.inverse_out_degrees.len()
    }

    /// Returns a rank of 1/V for every vertex.
    pub fn initial_ranks(&self) -> Vec<f32> {
        vec![1.0 / self.vertex_count() as f32; self.vertex_count()]
    }

    /// Computes one iteration of PageRank by Graphalytics' rule (see
    /// [`pagerank`](mod@crate::pagerank)). An edge takes a read and an addition, each of 4 bytes.
    ///
    /// # Panics
    /// If the length of `ranks` is not the number of vertices.
    pub fn iterate(&mut self, damping: f32, ranks: &mut [f32]) -> io::Result<()> {
        let HilbertLoop { edges, inverse_out_degrees, contributions } = self;
        assert_eq!(ranks.len(), contributions.len());
        let mut dangling = 0.0;
        for ((rank, contribution), &inverse) in
            ranks.iter_mut().zip(&mut *contributions).zip(&*inverse_out_degrees)
        {
            dangling += if inverse == 0.0 { f64::from(*rank) } else { 0.0 };
            *contribution = *rank * inverse;
            *rank = 0.0;
        }
        edges
            .for_each(|source, target| ranks[target as usize] += contributions[source as usize])?;
        let base = f64::from(1.0 - damping) + f64::from(damping) * dangling;
        let base = (base / ranks.len() as f64) as f32;
        ranks.iter_mut().for_each(|rank| *rank = base + damping * *rank);
        Ok(())
    }

    /// Returns the number of weakly connected components, by union-find in one pass over the edges,
    /// with two random reads for most edges.
    pub fn component_count(&self) -> io::Result<usize> {
        let mut parents: Vec<u32> = (0..self.vertex_count() as u32).collect();
        let mut count = parents.len();
        self.edges.for_each(|source, target| {
            count -= usize::from(unite(&mut parents, source, target));
        })?;
        Ok(count)
    }
}

/// Joins the components of two vertices, and returns whether they were different. No parent is
/// greater than its child. The walk goes up from the end with the greater parent, and makes the
/// smaller parent the parent of each vertex it passes.
fn unite(parents: &mut [u32], mut one: u32, mut other: u32) -> bool {
    loop {
        let (mut high, mut low) = (parents[one as usize], parents[other as usize]);
        if high == low {
            return false;
        }
        if high < low {
            (one, other) = (other, one);
            (high, low) = (low, high);
        }
        parents[one as usize] = low;
        if one == high {
            return true;
        }
        one = high;
    }
}
