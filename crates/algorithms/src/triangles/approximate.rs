//! Estimates of triangles, by min-hashes.
//!
//! Where all vertices are put in an order that is drawn at random, the first neighbours of two vertices are the same
//! one with the probability J, the Jaccard coefficient of their neighbourhoods. So of K orders Z agree, Z / K
//! estimates J, and vertices of `d` and `e` neighbours have `J / (1 + J) * (d + e) = Z / (K + Z) * (d + e)` in common:
//! on an edge, its triangles (Becchetti, Boldi, Castillo, Gionis, *Efficient Semi-Streaming Algorithms for Local
//! Triangle Counting in Massive Graphs*, KDD 2008).
//!
//! **Error.** Z / K has the variance J (1 - J) / K, and J / (1 + J) changes no faster than J: so the error at an edge
//! has a root of its mean square of `(d + e) * sqrt(J (1 - J) / K)` at the most, and that at a vertex half of the sum
//! of these over its edges. How large it is in all is measured: hashes make up eight groups, each with an estimate of
//! its own.
//!
//! As published there are two passes over all rows for each hash; here they are for all hashes: a *signature* has the
//! first neighbour by each of them. Signatures are kept of as many vertices at a time as the budget has room for; for
//! each such block its rows are passed over, and then all rows: the signature of each vertex is found by its row and
//! compared with those of its neighbours in the block. Each vertex adds up what is its own, in the order of its row.

use std::ops::Range;
use std::sync::Mutex;
use std::time::Instant;

use tegula_engine::traverse::{
    self, Neighbourhoods, RANGE_SIZE, RowsJob, RowsWanted, Sequential, estimate_rows,
};
use tegula_engine::{
    Estimate, Graph, InstructionSet, IterationTimes, RunOptions, RunStatistics, Unit,
    WithInstructions, huge,
};
use tegula_machine::memory::prefetch;
use tegula_machine::threads::lock;

use super::hashes::{GroupSums, Hashes, LANES, Label};
use crate::error::Result;

/// What was estimated.
#[derive(Debug, Clone)]
pub struct Approximate {
    /// Triangles at each vertex, by dense id.
    pub triangles: Vec<f64>,
    /// Triangles in all.
    pub total: f64,
    /// The standard error of these, where there are several groups of hashes.
    pub standard_error: Option<f64>,
    /// What the run did.
    pub statistics: RunStatistics,
}

/// Into how many blocks of signatures the vertices are divided at the most, unless a block has
/// [few](RANGE_SIZE) vertices.
const BLOCKS_MAX: u32 = 16;

/// Neighbours between one that is looked at and one whose signature is prefetched.
const AHEAD: usize = 8;

/// Estimates, by as many hashes.
///
/// # Errors
/// Those of [`traverse::run`] and of reading.
pub fn run(graph: &Graph, hashes: u32, seed: u64, options: &RunOptions<'_>) -> Result<Approximate> {
    let hashes = Hashes::new(hashes, seed);
    let needed = estimate(graph, hashes.count(), options.threads)?.needed()
        + traverse::long_rows_size(graph, RowsWanted::NEIGHBOURS, options.threads)?;
    let free = options.budget().saturating_sub(needed);
    let least = block_min(graph)?;
    let further = free / signature_size(&hashes) / u64::from(RANGE_SIZE) * u64::from(RANGE_SIZE);
    let block = (u64::from(least) + further).min(graph.vertex_count()) as u32;
    let held = size(graph, &hashes, block, options.threads)?;
    traverse::run(graph, RowsWanted::NEIGHBOURS, held, options, |job| {
        estimate_all(graph, &hashes, block, job, options)
    })
}

/// What a run needs of memory.
///
/// # Errors
/// Those of reading.
pub fn estimate(graph: &Graph, hashes: u32, threads: usize) -> Result<Estimate> {
    let hashes = Hashes::new(hashes, 0);
    let held = size(graph, &hashes, block_min(graph)?, threads)?;
    Ok(estimate_rows(graph, RowsWanted::NEIGHBOURS, held))
}

/// Bytes of a signature, and of the number of neighbours.
fn signature_size(hashes: &Hashes) -> u64 {
    (4 * hashes.signature_len() + 4) as u64
}

/// The fewest vertices of a block: whole ranges.
fn block_min(graph: &Graph) -> Result<u32> {
    let vertices = graph.short_vertex_count()?;
    Ok(vertices.div_ceil(BLOCKS_MAX).next_multiple_of(RANGE_SIZE).min(vertices))
}

/// Bytes that a run holds beside the rows, with signatures of `block` vertices.
fn size(graph: &Graph, hashes: &Hashes, block: u32, threads: usize) -> Result<u64> {
    let edges_max = traverse::edges_of_a_vertex_max(graph)?;
    // Neighbours twice, as the list of them grows by doubling.
    let worker =
        Neighbourhoods::<Sequential>::size(edges_max) + 8 * edges_max + 2 * signature_size(hashes);
    let sums = size_of::<Sums>() as u64 * graph.vertex_count().div_ceil(RANGE_SIZE.into());
    let signatures = u64::from(block) * signature_size(hashes);
    Ok(8 * graph.vertex_count() + sums + signatures + threads as u64 * worker)
}

/// Estimates of the sum over the vertices of a range of their triangles.
#[derive(Clone, Copy, Default)]
struct Sums {
    /// By all hashes.
    all: f64,
    groups: GroupSums,
}

fn estimate_all(
    graph: &Graph,
    hashes: &Hashes,
    block_len: u32,
    job: &RowsJob<'_>,
    options: &RunOptions<'_>,
) -> Result<Approximate> {
    let vertex_count = graph.short_vertex_count()?;
    let mut triangles = huge::with_capacity(vertex_count as usize);
    triangles.resize(vertex_count as usize, 0.0);
    let ranges = vertex_count.div_ceil(RANGE_SIZE) as usize;
    let sums: Vec<Mutex<Sums>> = (0..ranges).map(|_| Mutex::default()).collect();
    let mut times = IterationTimes::default();
    let mut edges = 0;
    options.progress.begin("estimating", None, Unit::Edges);
    let mut first = 0;
    while first < vertex_count {
        let started = Instant::now();
        let vertices = first..first.saturating_add(block_len).min(vertex_count);
        let block = Block::of(vertices.clone(), hashes, job, options)?;
        let parts = parts(&mut triangles, 1);
        job.for_each_range(|index, ids| {
            let is_last = vertices.end == vertex_count;
            let comparison = Comparison { hashes, block: &block, is_last, options };
            comparison.add_up(ids, job, &mut lock(&parts[index]), &mut lock(&sums[index]))
        })?;
        edges += graph.edge_count();
        times.push(started.elapsed());
        first = vertices.end;
    }
    options.progress.end();
    let mut sum = Sums::default();
    for range in &sums {
        sum.all += lock(range).all;
        sum.groups.add(&lock(range).groups);
    }
    Ok(Approximate {
        triangles,
        total: sum.all / 3.0,
        standard_error: hashes.standard_error(&sum.groups).map(|error| error / 3.0),
        statistics: job.statistics(times, edges),
    })
}

/// The values of each range of vertices, `width` for each vertex.
fn parts<T>(values: &mut [T], width: usize) -> Vec<Mutex<&mut [T]>> {
    values.chunks_mut(RANGE_SIZE as usize * width).map(Mutex::new).collect()
}

/// The signatures of consecutive vertices.
struct Block {
    vertices: Range<u32>,
    signature_len: usize,
    signatures: Vec<Label>,
    /// How many neighbours each has.
    neighbours: Vec<u32>,
}

impl Block {
    fn of(
        vertices: Range<u32>,
        hashes: &Hashes,
        job: &RowsJob<'_>,
        options: &RunOptions<'_>,
    ) -> Result<Block> {
        let signature_len = hashes.signature_len();
        let mut signatures = huge::with_capacity(vertices.len() * signature_len);
        signatures.resize(vertices.len() * signature_len, Label::MAX);
        let mut neighbours = huge::with_capacity(vertices.len());
        neighbours.resize(vertices.len(), 0);
        let first_range = (vertices.start / RANGE_SIZE) as usize;
        {
            let signatures = parts(&mut signatures, signature_len);
            let neighbours = parts(&mut neighbours, 1);
            job.for_each_range(|index, ids| {
                let Some(part) = index.checked_sub(first_range).filter(|&at| at < neighbours.len())
                else {
                    return Ok(());
                };
                let (mut signatures, mut counts) =
                    (lock(&signatures[part]), lock(&neighbours[part]));
                let mut own = signatures.chunks_mut(signature_len).zip(counts.iter_mut());
                for_each_vertex(ids, job, options, |_, list| {
                    if let Some((signature, count)) = own.next() {
                        *count = list.len() as u32;
                        options.instructions.run(Sign { hashes, list, signature });
                    }
                })
            })?;
        }
        Ok(Block { vertices, signature_len, signatures, neighbours })
    }

    /// Begins to read what is known of a vertex of the block.
    #[inline(always)]
    fn prefetch(&self, vertex: u32) {
        let index = (vertex - self.vertices.start) as usize;
        let labels = index * self.signature_len..(index + 1) * self.signature_len;
        labels.step_by(LANES).for_each(|label| prefetch(&self.signatures, label));
        prefetch(&self.neighbours, index);
    }

    /// The signature of a vertex of the block, and how many neighbours it has.
    #[inline(always)]
    fn of_vertex(&self, vertex: u32) -> (&[Label], u32) {
        let index = (vertex - self.vertices.start) as usize;
        (
            &self.signatures[index * self.signature_len..][..self.signature_len],
            self.neighbours[index],
        )
    }
}

/// Calls `visit` with each vertex of a range and its neighbours.
fn for_each_vertex(
    ids: Range<u32>,
    job: &RowsJob<'_>,
    options: &RunOptions<'_>,
    mut visit: impl FnMut(u32, &[u32]),
) -> tegula_engine::Result<()> {
    let mut neighbourhoods = Neighbourhoods::new(job, Sequential::new(ids));
    let (mut list, mut edges) = (Vec::new(), 0);
    while let Some(neighbours) = neighbourhoods.next_vertex()? {
        edges += neighbours.edge_count() as u64;
        list.clear();
        neighbours.for_each(|neighbour| list.push(neighbour.id.0));
        visit(neighbours.vertex.0, &list);
    }
    options.progress.advance(edges);
    Ok(())
}

/// Compares the vertices of a range with their neighbours in a block.
struct Comparison<'c> {
    hashes: &'c Hashes,
    block: &'c Block,
    /// Whether it is the last block: then all is added up.
    is_last: bool,
    options: &'c RunOptions<'c>,
}

impl Comparison<'_> {
    fn add_up(
        &self,
        ids: Range<u32>,
        job: &RowsJob<'_>,
        triangles: &mut [f64],
        sums: &mut Sums,
    ) -> tegula_engine::Result<()> {
        let Comparison { hashes, block, is_last, options } = *self;
        let first = ids.start;
        let mut own = vec![Label::MAX; hashes.signature_len()];
        for_each_vertex(ids, job, options, |vertex, list| {
            let (start, end) = (block.vertices.start, block.vertices.end);
            let in_block = &list[list.partition_point(|&id| id < start)..];
            let in_block = &in_block[..in_block.partition_point(|&id| id < end)];
            let of_vertex = &mut triangles[(vertex - first) as usize];
            if !in_block.is_empty() {
                let signature = if block.vertices.contains(&vertex) {
                    block.of_vertex(vertex).0
                } else {
                    own.fill(Label::MAX);
                    options.instructions.run(Sign { hashes, list, signature: &mut own });
                    &own
                };
                let degree = list.len() as u32;
                let list = in_block;
                let (all, groups) = (&mut *of_vertex, &mut sums.groups);
                let compare = Compare { hashes, block, signature, degree, list, all, groups };
                options.instructions.run(compare);
            }
            if is_last {
                sums.all += *of_vertex;
                // As many as all pairs of its neighbours, at the most.
                let neighbours = list.len() as f64;
                *of_vertex = of_vertex.min(neighbours * (neighbours - 1.0).max(0.0) / 2.0);
            }
        })
    }
}

/// Finds the signature of a vertex.
struct Sign<'s> {
    hashes: &'s Hashes,
    list: &'s [u32],
    signature: &'s mut [Label],
}

impl WithInstructions for Sign<'_> {
    type Output = ();

    #[inline(always)]
    fn run<I: InstructionSet>(self, _instructions: I) {
        self.list.iter().for_each(|&id| self.hashes.take(id, self.signature));
    }
}

/// Compares the signature of a vertex with those of neighbours.
struct Compare<'c> {
    hashes: &'c Hashes,
    block: &'c Block,
    signature: &'c [Label],
    degree: u32,
    list: &'c [u32],
    /// What its triangles add up to.
    all: &'c mut f64,
    groups: &'c mut GroupSums,
}

impl WithInstructions for Compare<'_> {
    type Output = ();

    #[inline(always)]
    fn run<I: InstructionSet>(self, _instructions: I) {
        for (at, &neighbour) in self.list.iter().enumerate() {
            if let Some(&later) = self.list.get(at + AHEAD) {
                self.block.prefetch(later);
            }
            let (signature, degree) = self.block.of_vertex(neighbour);
            let mut agreeing = [0; LANES];
            self.hashes.count_agreeing(self.signature, signature, &mut agreeing);
            // Half of it, as a triangle has two edges at each of its vertices.
            let ends = f64::from(self.degree + degree) / 2.0;
            *self.all += self.hashes.share(&agreeing, ends, self.groups);
        }
    }
}
