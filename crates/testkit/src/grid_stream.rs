//! The yardstick for the value of an import: a grid of blocks of raw edges, as in GridGraph (Zhu,
//! Han, Chen, USENIX ATC 2015).
//!
//! Preprocessing is one pass that appends each edge, through buffers, to the block of its ends'
//! chunks. It ends when the blocks are safely on disk, as an import does. An iteration of PageRank
//! streams the blocks column by column, with arrays over the vertices in memory. Each column
//! belongs to one thread. This favours the yardstick over the published system, in which threads
//! share columns and add by compare-and-swap. It takes 8 bytes per edge in
//! [files](mod@crate::edge_stream); in memory, 16 bytes per vertex and some 50 MiB of buffers.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::thread;

use zerocopy::IntoBytes;

use crate::edge_stream::{self, Chunk, Pair};

/// log2 of the vertices of a chunk, whose sums take 4 MiB and stay in a cache; and of the most
/// chunks, where each pair of chunks has a file.
const CHUNK_LOG2: u32 = 20;
const CHUNKS_LOG2_MAX: u32 = 4;
/// Edges that a thread collects for a block before it writes them.
const BUFFER: usize = 1 << 12;

/// Returns log2 of the vertices of a chunk for `vertices` ids.
pub fn chunk_log2(vertices: u32) -> u32 {
    let log2 = u32::BITS - vertices.saturating_sub(1).leading_zeros();
    CHUNK_LOG2.max(log2.saturating_sub(CHUNKS_LOG2_MAX))
}

/// A graph as a grid of files.
#[derive(Debug)]
pub struct GridStream {
    /// For each column of targets, the blocks of all rows of sources.
    columns: Vec<Vec<File>>,
    chunk_log2: u32,
    threads: usize,
    out_degrees: Vec<u32>,
    connected: u32,
    contributions: Vec<f32>,
    next: Vec<f32>,
}

/// A block being written.
struct Block {
    file: File,
    bytes: AtomicU64,
}

impl Block {
    /// Appends edges. Several threads may append at the same time.
    fn append(&self, pairs: &mut Vec<Pair>) -> io::Result<()> {
        let bytes = pairs.as_bytes();
        let offset = self.bytes.fetch_add(bytes.len() as u64, Relaxed);
        self.file.write_all_at(bytes, offset)?;
        pairs.clear();
        Ok(())
    }
}

impl GridStream {
    /// Partitions the edges of a file into files in an empty folder, by chunks of `2^chunk_log2`
    /// ids, and counts out-degrees on the way. Ids are below `vertices`; only `connected` of them
    /// have an edge and count as vertices.
    ///
    /// # Panics
    /// If an id is too large.
    pub fn build(
        pairs: &Path,
        folder: &Path,
        vertices: u32,
        connected: u32,
        chunk_log2: u32,
        threads: usize,
    ) -> io::Result<GridStream> {
        let side = vertices.div_ceil(1 << chunk_log2) as usize;
        let path = |block: usize| folder.join(format!("{}-{}", block / side, block % side));
        let create =
            |block| Ok(Block { file: File::create_new(path(block))?, bytes: AtomicU64::new(0) });
        let blocks: Vec<Block> = (0..side * side).map(create).collect::<io::Result<_>>()?;
        let degrees: Vec<AtomicU32> = (0..vertices).map(|_| AtomicU32::new(0)).collect();
        let input = edge_stream::open(pairs)?;
        let chunks: Vec<Chunk<'_>> = edge_stream::chunks(&input)?.collect();
        let block_of = |[source, target]: Pair| {
            (target >> chunk_log2) as usize * side + (source >> chunk_log2) as usize
        };
        let partition = |chunks: &[Chunk<'_>]| {
            let mut buffers = vec![Vec::with_capacity(BUFFER); blocks.len()];
            let mut written = Ok(());
            edge_stream::for_each_pairs(chunks, |pairs| {
                for &pair in pairs {
                    degrees[pair[0] as usize].fetch_add(1, Relaxed);
                    let block = block_of(pair);
                    buffers[block].push(pair);
                    // The visit cannot end early, so the first fault is kept.
                    if buffers[block].len() == BUFFER && written.is_ok() {
                        written = blocks[block].append(&mut buffers[block]);
                    }
                }
            })?;
            written?;
            blocks.iter().zip(&mut buffers).try_for_each(|(block, pairs)| block.append(pairs))
        };
        let shares = chunks.chunks(chunks.len().div_ceil(threads).max(1));
        in_threads(shares.map(|share| || partition(share)))?;
        blocks.iter().try_for_each(|block| block.file.sync_all())?;
        let open = |row: usize, column: usize| edge_stream::open(&path(column * side + row));
        let column = |column| (0..side).map(|row| open(row, column)).collect();
        Ok(GridStream {
            columns: (0..side).map(column).collect::<io::Result<_>>()?,
            chunk_log2,
            threads,
            out_degrees: degrees.into_iter().map(AtomicU32::into_inner).collect(),
            connected,
            contributions: vec![0.0; vertices as usize],
            next: vec![0.0; vertices as usize],
        })
    }

    /// Sets all ranks to 1/V. Returns the sum of the dangling ranks, for the first iteration.
    ///
    /// # Panics
    /// If the length of `ranks` is not the number of ids.
    pub fn start(&mut self, ranks: &mut [f32]) -> f64 {
        assert_eq!(ranks.len(), self.out_degrees.len());
        let rank = 1.0 / self.connected as f32;
        ranks.fill(rank);
        let mut sources = 0;
        for (contribution, &degree) in self.contributions.iter_mut().zip(&self.out_degrees) {
            *contribution = contribution_of(rank, degree);
            sources += u32::from(degree > 0);
        }
        f64::from(self.connected - sources) / f64::from(self.connected)
    }

    /// Computes one iteration of PageRank by Graphalytics' rule (see
    /// [`pagerank`](mod@crate::pagerank)). Returns the new sum of the dangling ranks. An edge takes
    /// a read and an addition, each of 4 bytes. Ids without an edge get a rank of 0.
    ///
    /// # Panics
    /// If the length of `ranks` is not the number of ids.
    pub fn iterate(&mut self, damping: f32, dangling: f64, ranks: &mut [f32]) -> io::Result<f64> {
        assert_eq!(ranks.len(), self.out_degrees.len());
        let base = f64::from(1.0 - damping) + f64::from(damping) * dangling;
        let base = (base / f64::from(self.connected)) as f32;
        let chunk = 1 << self.chunk_log2;
        let GridStream { columns, out_degrees, contributions, next, .. } = self;
        let columns = columns.iter().zip(out_degrees.chunks(chunk));
        let columns = columns.zip(ranks.chunks_mut(chunk).zip(next.chunks_mut(chunk)));
        let columns = Mutex::new(columns);
        let sum = Mutex::new(0.0);
        let mask = chunk - 1;
        let work = || {
            let take = || columns.lock().unwrap_or_else(PoisonError::into_inner).next();
            while let Some(((blocks, degrees), (ranks, next))) = take() {
                let chunks: Vec<_> =
                    blocks.iter().map(edge_stream::chunks).collect::<Result<_, _>>()?;
                let chunks: Vec<Chunk<'_>> = chunks.into_iter().flatten().collect();
                ranks.fill(0.0);
                edge_stream::for_each_pairs(&chunks, |pairs| {
                    for &[source, target] in pairs {
                        ranks[target as usize & mask] += contributions[source as usize];
                    }
                })?;
                let mut dangling = 0.0;
                for ((rank, &degree), next) in ranks.iter_mut().zip(degrees).zip(next) {
                    let has_edge = degree > 0 || *rank > 0.0;
                    *rank = if has_edge { base + damping * *rank } else { 0.0 };
                    dangling += if degree == 0 { f64::from(*rank) } else { 0.0 };
                    *next = contribution_of(*rank, degree);
                }
                *sum.lock().unwrap_or_else(PoisonError::into_inner) += dangling;
            }
            Ok(())
        };
        in_threads((0..self.threads).map(|_| work))?;
        std::mem::swap(&mut self.contributions, &mut self.next);
        Ok(sum.into_inner().unwrap_or_else(PoisonError::into_inner))
    }
}

fn contribution_of(rank: f32, degree: u32) -> f32 {
    if degree == 0 { 0.0 } else { rank / degree as f32 }
}

/// Runs each work in a thread of its own.
fn in_threads<W: FnOnce() -> io::Result<()> + Send>(
    works: impl Iterator<Item = W>,
) -> io::Result<()> {
    thread::scope(|scope| {
        let threads: Vec<_> = works.map(|work| scope.spawn(work)).collect();
        let mut ends = threads.into_iter().map(|thread| thread.join().expect("no thread panics"));
        ends.try_for_each(|end| end)
    })
}
