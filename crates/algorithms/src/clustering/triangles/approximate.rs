//! Estimates of triangles by min-hashes.
//!
//! In a random order of all vertices, two vertices have the same first neighbour with probability
//! J, the Jaccard coefficient of their neighbourhoods. So if two vertices agree in Z of K orders, Z
//! / K estimates J. Vertices with `d` and `e` neighbours have `J / (1 + J) * (d + e)` in common:
//! for an edge, these are its triangles (Becchetti, Boldi, Castillo, Gionis, *Efficient
//! Semi-Streaming Algorithms for Local Triangle Counting in Massive Graphs*, KDD 2008). With Z / K
//! in the place of J this is too little on average, which is corrected. With 64 hashes, the paper's
//! `Z / (K + Z)` loses up to 1.5 % of all triangles, which is many standard errors of a mesh.
//!
//! **Error.** Z / K has the variance J (1 - J) / K, and J / (1 + J) changes no faster than J. So
//! the root mean square error at an edge is at most `(d + e) * sqrt(J (1 - J) / K)`, with 1 / 5,600
//! added to each J. At a vertex, it is at most half of the sum of these over the edges. The
//! standard error of the total is measured: 16 groups of hashes are compared by what each
//! contributes to the total (a jackknife in first order: Efron, Stein, *The Jackknife Estimate of
//! Variance*, Annals of Statistics 9, 1981). Edges that share a signature err together, which this
//! includes.
//!
//! On random, skewed and regular graphs, the root mean square of the reported errors was 1.0 to 1.1
//! times the spread of the estimates over thousands of seeds. It is more where nearly all hashes
//! agree, as in cliques. Where a few edges at a vertex of very high degree make the error, most
//! runs report too small an error, and a few report a large one.
//!
//! The first vertex is kept in 16 bits, as its place in the order to twelve binary digits. This
//! halves what is moved, as in Li, König, *b-Bit Minwise Hashing*, WWW 2010, except that a known
//! place can be rounded. Vertices without common neighbours agree by chance at most once in 5,600
//! times if each has one neighbour, and once in 11,000 times if they have many. What this adds is
//! subtracted.
//!
//! The published method takes two passes over all rows for each hash. Here, two passes serve all
//! hashes: a *signature* has the first neighbour by each of them. The first pass finds all
//! signatures. If the budget has no room for them, they are written to disk and read back in
//! blocks that fit in memory. For each block, a pass over all rows and
//! all signatures, in order, compares the signature of each vertex with those of its neighbours in
//! the block. Each vertex adds up its own triangles, in the order of its row.

use std::ops::Range;
use std::sync::Mutex;
use std::time::Instant;

use tegula_engine::traverse::{
    self, Neighbourhoods, RowsJob, RowsWanted, Sequential, VertexStates, VertexStatesLayout,
    estimate_rows,
};
use tegula_engine::{
    Estimate, Graph, InstructionSet, IterationTimes, ProgressUnit, RunOptions, RunStatistics,
    ShortId, WithInstructions, huge,
};
use tegula_machine::memory::prefetch;
use tegula_machine::threads::lock;

use super::hashes::{GroupSums, Hashes, LANES, Label, Place};
use crate::error::Result;

/// The result of an estimate.
#[derive(Debug, Clone)]
pub struct Approximate {
    /// Triangles at each vertex, by dense id.
    pub triangles: Vec<f64>,
    /// Triangles in all.
    pub total: f64,
    /// The standard error of the total, if there are at least 16 hashes.
    pub standard_error: Option<f64>,
    /// Statistics of the run.
    pub statistics: RunStatistics,
}

/// The most blocks of signatures into which the vertices are divided, unless a block is a unit of
/// states.
const BLOCKS_MAX: u32 = 64;

/// Neighbours between the one that is looked at and the one whose signature is prefetched.
const AHEAD: usize = 8;

/// Estimates triangles by `hashes` hashes.
pub fn run(graph: &Graph, hashes: u32, seed: u64, options: &RunOptions<'_>) -> Result<Approximate> {
    let hashes = Hashes::new(hashes, seed);
    let needed = estimate(graph, hashes.count(), options.threads)?.needed()
        + traverse::long_rows_size(graph, RowsWanted::NEIGHBOURS, options.threads)?;
    let free = options.budget().saturating_sub(needed);
    let layout = layout(graph, &hashes)?;
    let least = block_min(graph, layout)?;
    let further = free / layout.unit_size() * u64::from(layout.unit_len());
    let block = (u64::from(least) + further).min(graph.vertex_count()) as u32;
    let held = size(graph, &hashes, block, options.threads)?;
    traverse::run(graph, RowsWanted::NEIGHBOURS, held, options, |job| {
        let neighbours = huge::zeroes(graph.vertex_count() as usize);
        let mut estimating = Estimating { graph, hashes, layout, job, options, neighbours };
        estimating.estimate_all(block)
    })
}

/// Estimates the memory that a run needs.
pub fn estimate(graph: &Graph, hashes: u32, threads: usize) -> Result<Estimate> {
    let hashes = Hashes::new(hashes, 0);
    let block = block_min(graph, layout(graph, &hashes)?)?;
    let held = size(graph, &hashes, block, threads)?;
    Ok(estimate_rows(graph, RowsWanted::NEIGHBOURS, held))
}

/// Returns the bytes of all signatures.
pub(super) fn signatures_size_max(graph: &Graph, hashes: u32) -> u64 {
    signatures_size(graph.vertex_count(), &Hashes::new(hashes, 0))
}

fn signatures_size(vertices: u64, hashes: &Hashes) -> u64 {
    vertices * (size_of::<Label>() * hashes.signature_len()) as u64
}

/// Returns how signatures lie on disk.
fn layout(graph: &Graph, hashes: &Hashes) -> Result<VertexStatesLayout> {
    let vertices = graph.short_vertex_count()?;
    Ok(VertexStatesLayout::new::<Label>(vertices, hashes.signature_len()))
}

/// Returns the fewest vertices of a block, in whole units.
fn block_min(graph: &Graph, layout: VertexStatesLayout) -> Result<u32> {
    let vertices = graph.short_vertex_count()?;
    Ok(vertices.div_ceil(BLOCKS_MAX).next_multiple_of(layout.unit_len()).min(vertices))
}

/// Returns the bytes that a run holds beside the rows, with signatures of `block` vertices.
fn size(graph: &Graph, hashes: &Hashes, block: u32, threads: usize) -> Result<u64> {
    let edges_max = traverse::edges_of_a_vertex_max(graph)?;
    let layout = layout(graph, hashes)?;
    // Neighbours count twice, as their list grows by doubling.
    let worker = Neighbourhoods::<Sequential>::size(edges_max) + 8 * edges_max + layout.unit_size();
    let sums = (size_of::<Sums>() * layout.unit_count()) as u64;
    let signatures = signatures_size(block.into(), hashes);
    // Triangles and neighbours.
    let vertices = 12 * graph.vertex_count();
    Ok(vertices + sums + signatures + threads as u64 * worker + layout.size_in_memory(threads))
}

/// The estimated triangles of the vertices of a unit, summed up.
#[derive(Clone, Copy, Default)]
struct Sums {
    /// By all hashes.
    all: f64,
    groups: GroupSums,
}

/// What all passes need.
struct Estimating<'e> {
    graph: &'e Graph,
    hashes: Hashes,
    layout: VertexStatesLayout,
    job: &'e RowsJob<'e>,
    options: &'e RunOptions<'e>,
    /// The number of neighbours of each vertex, by dense id.
    neighbours: Vec<u32>,
}

impl Estimating<'_> {
    fn estimate_all(&mut self, block_len: u32) -> Result<Approximate> {
        let vertex_count = self.neighbours.len() as u32;
        let options = self.options;
        let mut times = IterationTimes::default();
        options.progress.begin("estimating", None, ProgressUnit::Edges);
        let started = Instant::now();
        let mut block = Block::new(block_len, &self.hashes);
        let stored = self.sign(&mut block)?;
        times.push(started.elapsed());
        let mut triangles: Vec<f64> = huge::zeroes(vertex_count as usize);
        let sums: Vec<Mutex<Sums>> =
            (0..self.layout.unit_count()).map(|_| Mutex::default()).collect();
        let mut first = 0;
        while first < vertex_count {
            let started = Instant::now();
            block.vertices = first..first.saturating_add(block_len).min(vertex_count);
            if let Some(stored) = &stored {
                self.load(&mut block, stored)?;
            }
            let parts = self.parts(&mut triangles, 1);
            self.job.for_each(parts.len(), |unit| {
                self.compare(unit, &block, stored.as_ref(), &mut lock(&parts[unit]), &sums[unit])
            })?;
            times.push(started.elapsed());
            first = block.vertices.end;
        }
        options.progress.end();
        let mut sum = Sums::default();
        // By ascending unit, so that the sum has the same bits for any number of threads.
        for unit in &sums {
            sum.all += lock(unit).all;
            sum.groups.add(&lock(unit).groups);
        }
        let edges = times.count() * self.graph.edge_count();
        let mut statistics = self.job.statistics(times, edges);
        if let Some(stored) = &stored {
            statistics.bytes_read += stored.bytes_read();
            statistics.bytes_written += stored.bytes_written();
        }
        let standard_error = self.hashes.standard_error(&sum.groups).map(|error| error / 3.0);
        // What is subtracted for agreements by chance may be more than was found.
        let total = (sum.all / 3.0).max(0.0);
        Ok(Approximate { triangles, total, standard_error, statistics })
    }

    /// Splits values into those of each unit of vertices; each vertex has `width`.
    fn parts<'v, T>(&self, values: &'v mut [T], width: usize) -> Vec<Mutex<&'v mut [T]>> {
        values.chunks_mut(self.layout.unit_len() as usize * width).map(Mutex::new).collect()
    }

    /// Finds the signatures of all vertices, and counts their neighbours. The signatures stay in
    /// the block if it has room for all; else they are written to disk.
    fn sign(&mut self, block: &mut Block) -> Result<Option<VertexStates>> {
        // Taken out, because workers fill it while they share `self`.
        let mut neighbours = std::mem::take(&mut self.neighbours);
        let (graph, threads) = (self.graph, self.options.threads);
        let folder = self.options.spill_directory;
        let len = self.hashes.signature_len();
        let fits = block.vertices.len() == neighbours.len();
        let stored = match fits {
            true => None,
            false => Some(VertexStates::create(self.layout, graph, threads, folder)?),
        };
        // Nobody waits for these locks: a unit has one worker.
        let counts = self.parts(&mut neighbours, 1);
        let held = self.parts(&mut block.signatures, len);
        self.job.for_each(counts.len(), |unit| {
            let counts = &mut lock(&counts[unit]);
            let Some(stored) = &stored else {
                return self.sign_unit(unit, &mut lock(&held[unit]), counts);
            };
            let mut signatures = vec![Label::MAX; counts.len() * len];
            self.sign_unit(unit, &mut signatures, counts)?;
            stored.write(unit, &signatures)
        })?;
        drop((counts, held));
        self.neighbours = neighbours;
        stored.iter().try_for_each(VertexStates::finish_writing)?;
        Ok(stored)
    }

    fn sign_unit(
        &self,
        unit: usize,
        signatures: &mut [Label],
        counts: &mut [u32],
    ) -> tegula_engine::Result<()> {
        let hashes = &self.hashes;
        let first = &mut vec![Place::MAX; hashes.signature_len()];
        let mut own = signatures.chunks_mut(hashes.signature_len()).zip(counts);
        for_each_vertex(self.layout.vertices(unit), self.job, self.options, |_, list| {
            if let Some((signature, count)) = own.next() {
                *count = list.len() as u32;
                self.options.tuning.instructions.run(Sign { hashes, list, first, signature });
            }
        })
    }

    /// Reads the signatures of the vertices of a block.
    fn load(&self, block: &mut Block, stored: &VertexStates) -> Result<()> {
        let first_unit = (block.vertices.start / self.layout.unit_len()) as usize;
        let len = block.vertices.len() * self.hashes.signature_len();
        let parts = self.parts(&mut block.signatures[..len], self.hashes.signature_len());
        self.job.for_each(parts.len(), |part| {
            stored.read(first_unit + part, &mut lock(&parts[part])[..])
        })?;
        Ok(())
    }

    /// Compares the vertices of a unit with their neighbours in a block.
    fn compare(
        &self,
        unit: usize,
        block: &Block,
        stored: Option<&VertexStates>,
        triangles: &mut [f64],
        sums: &Mutex<Sums>,
    ) -> tegula_engine::Result<()> {
        let Estimating { hashes, job, options, neighbours, .. } = self;
        let (ids, len) = (self.layout.vertices(unit), hashes.signature_len());
        let sums = &mut *lock(sums);
        // A block has whole units.
        let is_in_block = block.vertices.contains(&ids.start);
        let mut read = Vec::new();
        if let (Some(stored), false) = (stored, is_in_block) {
            read.resize(ids.len() * len, 0);
            stored.read(unit, &mut read)?;
        }
        let is_last = block.vertices.end as usize == neighbours.len();
        let first = ids.start;
        for_each_vertex(ids, job, options, |vertex, list| {
            let (start, end) = (block.vertices.start, block.vertices.end);
            let in_block = &list[list.partition_point(|id| id.0 < start)..];
            let in_block = &in_block[..in_block.partition_point(|id| id.0 < end)];
            let at = (vertex - first) as usize;
            let of_vertex = &mut triangles[at];
            if !in_block.is_empty() {
                let signature = match is_in_block {
                    true => block.of_vertex(vertex),
                    false => &read[at * len..][..len],
                };
                let (degree, list) = (list.len() as u32, in_block);
                let (all, groups) = (&mut *of_vertex, &mut sums.groups);
                let compare =
                    Compare { hashes, block, neighbours, signature, degree, list, all, groups };
                options.tuning.instructions.run(compare);
            }
            if is_last {
                // The total takes the value before it is clamped, which would bias the sum.
                sums.all += *of_vertex;
                // A vertex has at most one triangle for each pair of its neighbours.
                let neighbours = list.len() as f64;
                let pairs = neighbours * (neighbours - 1.0).max(0.0) / 2.0;
                *of_vertex = of_vertex.clamp(0.0, pairs);
            }
        })
    }
}

/// The signatures of consecutive vertices.
struct Block {
    vertices: Range<u32>,
    signature_len: usize,
    signatures: Vec<Label>,
}

impl Block {
    /// Makes room for the signatures of the first `vertex_count` vertices.
    fn new(vertex_count: u32, hashes: &Hashes) -> Block {
        let signature_len = hashes.signature_len();
        let len = vertex_count as usize * signature_len;
        let mut signatures = huge::with_capacity(len);
        signatures.resize(len, Label::MAX);
        Block { vertices: 0..vertex_count, signature_len, signatures }
    }

    /// Prefetches the signature of a vertex of the block.
    #[inline(always)]
    fn prefetch(&self, vertex: u32) {
        let index = (vertex - self.vertices.start) as usize;
        let labels = index * self.signature_len..(index + 1) * self.signature_len;
        let in_line = 64 / size_of::<Label>();
        labels.step_by(in_line).for_each(|label| prefetch(&self.signatures, label));
    }

    /// Returns the signature of a vertex of the block.
    #[inline(always)]
    fn of_vertex(&self, vertex: u32) -> &[Label] {
        let index = (vertex - self.vertices.start) as usize;
        &self.signatures[index * self.signature_len..][..self.signature_len]
    }
}

/// Calls `visit` with each vertex of a range and its neighbours.
fn for_each_vertex(
    ids: Range<u32>,
    job: &RowsJob<'_>,
    options: &RunOptions<'_>,
    mut visit: impl FnMut(u32, &[ShortId]),
) -> tegula_engine::Result<()> {
    let mut neighbourhoods = Neighbourhoods::new(job, Sequential::new(ids));
    let (mut list, mut edges) = (Vec::new(), 0);
    while let Some(neighbours) = neighbourhoods.next_vertex()? {
        edges += neighbours.edge_count() as u64;
        list.clear();
        neighbours.append_to(&mut list);
        visit(neighbours.vertex.0, &list);
    }
    options.progress.advance(edges);
    Ok(())
}

/// Finds the signature of a vertex.
struct Sign<'s> {
    hashes: &'s Hashes,
    list: &'s [ShortId],
    first: &'s mut [Place],
    signature: &'s mut [Label],
}

impl WithInstructions for Sign<'_> {
    type Output = ();

    #[inline(always)]
    fn run<I: InstructionSet>(self, _instructions: I) {
        self.hashes.sign(self.list.iter().map(|id| id.0), self.first, self.signature);
    }
}

/// Compares the signature of a vertex with those of neighbours.
struct Compare<'c> {
    hashes: &'c Hashes,
    block: &'c Block,
    neighbours: &'c [u32],
    signature: &'c [Label],
    degree: u32,
    list: &'c [ShortId],
    /// The sum of its triangles.
    all: &'c mut f64,
    groups: &'c mut GroupSums,
}

impl WithInstructions for Compare<'_> {
    type Output = ();

    #[inline(always)]
    fn run<I: InstructionSet>(self, _instructions: I) {
        for (at, &neighbour) in self.list.iter().enumerate() {
            if let Some(later) = self.list.get(at + AHEAD) {
                self.block.prefetch(later.0);
                prefetch(self.neighbours, later.index());
            }
            let signature = self.block.of_vertex(neighbour.0);
            let degree = self.neighbours[neighbour.index()];
            let mut agreeing = [0; LANES];
            self.hashes.count_agreeing(self.signature, signature, &mut agreeing);
            // A triangle has two edges at each of its vertices, so the two halves add up to it.
            *self.all += self.hashes.share(&agreeing, [self.degree, degree], self.groups);
        }
    }
}
