//! From the edges of a batch to its tiles.
//!
//! The edges of a target window are cut into blocks by slices of 2^14 sources. Blocks too
//! thin to be worth a tile are gathered along the sources. Each block is then divided into strips:
//! for every aligned range of 1, 8, 16, 256, 4096 and 65536 targets the cost of each encoding is
//! counted exactly in one pass over the edges, and the cheapest division is found bottom-up.
//! About 100 ns an edge on one core, sorting included.

use super::builder::{StripChoice, write_tiles};
use super::cost::StripCost;
use super::summary::TileSummary;
use super::{WINDOW_LOG2, WINDOW_SIZE};
use crate::error::Result;

/// What an edge carries: nothing or an `f32`.
pub trait EdgeWeight: Copy + Default + PartialEq + Send + Sync + std::fmt::Debug + 'static {
    /// Whether weights are stored.
    const IS_WEIGHTED: bool;
    /// The weight of an edge whose stored weight is this.
    fn from_f32(weight: f32) -> Self;
    /// The weight to be stored.
    fn to_f32(self) -> f32;
}

impl EdgeWeight for () {
    const IS_WEIGHTED: bool = false;
    #[inline(always)]
    fn from_f32(_weight: f32) {}
    #[inline(always)]
    fn to_f32(self) -> f32 {
        1.0
    }
}

impl EdgeWeight for f32 {
    const IS_WEIGHTED: bool = true;
    #[inline(always)]
    fn from_f32(weight: f32) -> f32 {
        weight
    }
    #[inline(always)]
    fn to_f32(self) -> f32 {
        self
    }
}

/// An edge between dense ids.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[repr(C)]
pub struct TileEdge<W> {
    /// Dense id of the source.
    pub source: u32,
    /// Dense id of the target.
    pub target: u32,
    /// Weight, or nothing.
    pub weight: W,
}

/// A tile ready to be written.
#[derive(Debug, Clone)]
pub struct EncodedTile {
    /// The tile as it stands in the file.
    pub bytes: Vec<u8>,
    /// A weight for each entry, skips included; empty in an unweighted graph.
    pub weights: Vec<f32>,
    /// What is known of the tile without reading it.
    pub summary: TileSummary,
}

/// log2 of the sources of a block: their messages (64 KiB of four bytes each) stay close to the core
/// while all targets are visited strip by strip.
const SLICE_LOG2: u32 = 14;
/// A block with fewer edges is gathered with others of its target window.
const THIN_BLOCK_EDGES: usize = 1 << 13;
/// Edges at which a gathered block is closed.
const GATHERED_BLOCK_EDGES: usize = 1 << 20;
/// A block with more edges is cut along its targets before it is encoded.
const BLOCK_EDGES_MAX: usize = 1 << 21;
/// The widths (log2 of the number of targets) that a strip can have.
const WIDTHS: [u32; 6] = [0, 3, 4, 8, 12, 16];

/// Turns edges into tiles. Holds scratch memory: one per worker, used for many batches.
#[derive(Debug, Default)]
pub struct Encoder {
    window_starts: Vec<u32>,
    levels: [Vec<StripCost>; 6],
    strip_of_target: Vec<u32>,
    duplicates: u64,
}

impl Encoder {
    /// An encoder without scratch memory yet; it grows to about 3 MiB.
    pub fn new() -> Encoder {
        Encoder::default()
    }

    /// How many edges encoded since the last call repeat the source and target of another one.
    pub fn take_duplicates(&mut self) -> u64 {
        std::mem::take(&mut self.duplicates)
    }

    /// Encodes edges whose targets lie in one window; `emit` receives the tiles by ascending first
    /// source. `edges` may come in any order and is left in an unspecified one; `scratch` is used as
    /// room for as many. The tiles depend on the multiset of edges only.
    ///
    /// # Errors
    /// Those of `emit`.
    pub fn encode_window<W: EdgeWeight>(
        &mut self,
        edges: &mut [TileEdge<W>],
        scratch: &mut Vec<TileEdge<W>>,
        emit: &mut dyn FnMut(EncodedTile) -> Result<()>,
    ) -> Result<()> {
        let Some(first) = edges.first() else { return Ok(()) };
        let window = first.target >> WINDOW_LOG2;
        debug_assert!(edges.iter().all(|e| e.target >> WINDOW_LOG2 == window));
        scratch.clear();
        scratch.resize(edges.len(), TileEdge::default());
        let last_source = edges.iter().map(|e| e.source).max().unwrap_or(0);
        let windows = (last_source >> SLICE_LOG2) as usize + 1;
        self.window_starts.resize(windows + 1, 0);
        let starts = &mut self.window_starts[..];
        counting_sort(edges, scratch, starts, |e| (e.source >> SLICE_LOG2) as usize);
        let blocks = cut_blocks(starts);
        for block in blocks {
            // Gathered blocks are made contiguous in `edges`, whose order no longer matters.
            let mut count = 0;
            for piece in &block.pieces {
                edges[count..count + piece.len()].copy_from_slice(&scratch[piece.clone()]);
                count += piece.len();
            }
            let mut room = vec![TileEdge::default(); count];
            let span = if block.pieces.len() == 1 { SLICE_LOG2 } else { 32 };
            self.encode_block(&mut edges[..count], &mut room, WINDOW_LOG2, span, emit)?;
        }
        Ok(())
    }

    /// Encodes one block, cutting it along its targets while it is too large.
    fn encode_block<W: EdgeWeight>(
        &mut self,
        edges: &mut [TileEdge<W>],
        room: &mut [TileEdge<W>],
        target_bits: u32,
        source_bits: u32,
        emit: &mut dyn FnMut(EncodedTile) -> Result<()>,
    ) -> Result<()> {
        if edges.len() > BLOCK_EDGES_MAX && target_bits > 4 {
            let cut_bits = target_bits - 4;
            let mut starts = [0; 17];
            counting_sort(edges, room, &mut starts, |e| (e.target >> cut_bits) as usize & 15);
            edges.copy_from_slice(room);
            let mut begin = 0;
            for &end in &starts[..16] {
                let part = begin..end as usize;
                begin = end as usize;
                if !part.is_empty() {
                    let (edges, room) = (&mut edges[part.clone()], &mut room[part]);
                    self.encode_block(edges, room, cut_bits, source_bits, emit)?;
                }
            }
            return Ok(());
        }
        sort_by_source_target(edges, room, target_bits, source_bits);
        let ends = |edge: &TileEdge<W>| (edge.source, edge.target);
        let same = edges.windows(2).filter(|pair| ends(&pair[0]) == ends(&pair[1]));
        self.duplicates += same.count() as u64;
        let strips = self.divide(edges, target_bits);
        self.strip_of_target.resize(WINDOW_SIZE, 0);
        for (number, strip) in strips.iter().enumerate() {
            let first = strip.target_start as usize;
            let targets = first..first + (1 << strip.encoding.width_log2());
            self.strip_of_target[targets].fill(number as u32);
        }
        let mut starts = vec![0; strips.len() + 1];
        let strip_of_target = &self.strip_of_target;
        counting_sort(edges, room, &mut starts, |e| {
            strip_of_target[e.target as usize % WINDOW_SIZE] as usize
        });
        write_tiles(room, &strips, &starts, emit)
    }

    /// The cheapest division of the targets into strips, by ascending target. The edges are sorted
    /// by source, then target.
    fn divide<W: EdgeWeight>(
        &mut self,
        edges: &[TileEdge<W>],
        target_bits: u32,
    ) -> Vec<StripChoice> {
        let window_mask = WINDOW_SIZE as u32 - 1;
        let base = edges[0].target & window_mask & !((1u32 << target_bits) - 1);
        let depth = WIDTHS.iter().take_while(|&&width| width <= target_bits).count();
        for (level, width) in self.levels[..depth].iter_mut().zip(WIDTHS) {
            level.clear();
            level.resize(1 << (target_bits - width).min(16), StripCost::default());
            for edge in edges {
                let strip = ((edge.target & window_mask) - base) >> width;
                level[strip as usize].add(edge.source, edge.target);
            }
        }
        let mut strips = Vec::new();
        let top = 1usize << (target_bits - WIDTHS[depth - 1]);
        let bits = self.price::<W>(depth);
        for index in 0..top {
            collect(&bits, depth - 1, index, &mut |level, index| {
                let encoding = self.levels[level][index].cheapest::<W>(WIDTHS[level]).1;
                let target_start = (base + ((index as u32) << WIDTHS[level])) as u16;
                strips.push(StripChoice { target_start, encoding });
            });
        }
        strips
    }

    /// For each level, what each strip costs undivided and at best, in bits.
    fn price<W: EdgeWeight>(&self, depth: usize) -> Vec<Vec<Price>> {
        let mut prices: Vec<Vec<Price>> = Vec::with_capacity(depth);
        for (level, costs) in self.levels[..depth].iter().enumerate() {
            let fan = if level == 0 { 0 } else { 1usize << (WIDTHS[level] - WIDTHS[level - 1]) };
            let priced = costs.iter().enumerate().map(|(index, cost)| {
                let whole = cost.cheapest::<W>(WIDTHS[level]).0;
                let parts = if level == 0 || cost.edges == 0 {
                    whole
                } else {
                    let parts = &prices[level - 1][index * fan..(index + 1) * fan];
                    parts.iter().map(|part| part.best).sum()
                };
                Price { best: whole.min(parts), is_whole: whole <= parts }
            });
            let priced = priced.collect();
            prices.push(priced);
        }
        prices
    }
}

/// What a strip costs in bits: 0 when it has no edge.
#[derive(Debug, Clone, Copy)]
struct Price {
    best: u64,
    is_whole: bool,
}

/// Walks down to the strips that are cheaper whole than divided, by ascending target.
fn collect(prices: &[Vec<Price>], level: usize, index: usize, take: &mut dyn FnMut(usize, usize)) {
    let price = prices[level][index];
    if price.best == 0 {
        return;
    }
    if price.is_whole {
        return take(level, index);
    }
    let fan = 1usize << (WIDTHS[level] - WIDTHS[level - 1]);
    for part in index * fan..(index + 1) * fan {
        collect(prices, level - 1, part, take);
    }
}

/// A block: where its edges lie once they are sorted by source window.
struct Block {
    pieces: Vec<std::ops::Range<usize>>,
}

/// Cuts the edges of a target window into blocks; `ends[w]` is where source window `w` ends.
fn cut_blocks(ends: &[u32]) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut gathered: Option<(usize, usize)> = None; // (index of the block, its edges)
    let mut begin = 0;
    for &end in &ends[..ends.len() - 1] {
        let piece = begin..end as usize;
        begin = end as usize;
        if piece.is_empty() {
            continue;
        }
        if piece.len() >= THIN_BLOCK_EDGES {
            blocks.push(Block { pieces: vec![piece] });
            continue;
        }
        match &mut gathered {
            Some((index, edges)) if *edges + piece.len() <= GATHERED_BLOCK_EDGES => {
                *edges += piece.len();
                blocks[*index].pieces.push(piece);
            }
            _ => {
                gathered = Some((blocks.len(), piece.len()));
                blocks.push(Block { pieces: vec![piece] });
            }
        }
    }
    blocks
}

/// Sorts by source, then target, then weight.
fn sort_by_source_target<W: EdgeWeight>(
    edges: &mut [TileEdge<W>],
    room: &mut [TileEdge<W>],
    target_bits: u32,
    source_bits: u32,
) {
    if edges.len() < 256 {
        edges.sort_unstable_by_key(|e| (e.source, e.target));
    } else {
        let mut starts = [0; 257];
        let digits = |bits: u32| (0..bits.div_ceil(8)).map(|digit| digit * 8);
        for shift in digits(target_bits) {
            counting_sort(edges, room, &mut starts, |e| (e.target >> shift) as usize & 255);
            edges.copy_from_slice(room);
        }
        for shift in digits(source_bits) {
            counting_sort(edges, room, &mut starts, |e| (e.source >> shift) as usize & 255);
            edges.copy_from_slice(room);
        }
    }
    if W::IS_WEIGHTED {
        for same in edges.chunk_by_mut(|a, b| (a.source, a.target) == (b.source, b.target)) {
            same.sort_unstable_by(|a, b| a.weight.to_f32().total_cmp(&b.weight.to_f32()));
        }
    }
}

/// Stable counting sort of `from` into `to`. Afterwards `starts[k]` is where key `k` *ends*.
fn counting_sort<T: Copy>(from: &[T], to: &mut [T], starts: &mut [u32], key: impl Fn(&T) -> usize) {
    starts.fill(0);
    for item in from {
        starts[key(item) + 1] += 1;
    }
    for index in 1..starts.len() {
        starts[index] += starts[index - 1];
    }
    for item in from {
        let place = &mut starts[key(item)];
        to[*place as usize] = *item;
        *place += 1;
    }
}
