//! The edges of a tile one by one, for jobs that are no vertex program.

use tegula_store::ShortId;
use tegula_store::graph::{Graph, TileEntry};
use tegula_store::tiles::{
    Block, BlockVisitor, EdgeWeight, Entries, InstructionSet, Strip, Tile, WINDOW_LOG2,
};

use crate::instructions::WithInstructions;

/// Takes edges one by one.
pub trait EdgeSink {
    /// `()` or `f32`. In an unweighted graph every `f32` weight is 1.
    type Weight: EdgeWeight;

    /// Takes an edge.
    fn take(&mut self, source: ShortId, target: ShortId, weight: Self::Weight);
}

/// The edges of one tile, for a sink.
pub struct TileEdges<'t, S> {
    // A value, so that it stays in registers: each edge would load what a reference refers to.
    sink: S,
    tile: Tile<'t>,
    /// A weight for each entry; empty if the graph or the sink has none.
    weights: &'t [f32],
    /// The id from which its sources count.
    first_source: u32,
    source_count: u32,
    /// The first target of its window.
    window: u32,
    /// The last vertex. A damaged tile may hold a greater target, which must not reach the sink.
    last: u32,
}

impl<'t, S: EdgeSink> TileEdges<'t, S> {
    /// Makes the edges of a tile with this entry. `weights` has a number for each entry of the tile,
    /// or is empty.
    pub fn of(
        graph: &Graph,
        tile: Tile<'t>,
        entry: &TileEntry,
        weights: &'t [f32],
        sink: S,
    ) -> TileEdges<'t, S> {
        let origin = graph.origin_of(entry);
        TileEdges {
            sink,
            tile,
            weights,
            first_source: origin.source as u32,
            source_count: graph
                .grid()
                .source_count(graph.cell_of(entry).segment, graph.vertex_count()),
            window: (entry.window(origin) << WINDOW_LOG2) as u32,
            last: graph.vertex_count().saturating_sub(1) as u32,
        }
    }
}

impl<S: EdgeSink> WithInstructions for TileEdges<'_, S> {
    type Output = Result<(), String>;

    #[inline(always)]
    fn run<I: InstructionSet>(mut self, instructions: I) -> Result<(), String> {
        for strip in self.tile.strips(self.source_count) {
            let strip = strip?;
            if S::Weight::IS_WEIGHTED && !self.weights.is_empty() {
                let first = strip.entry_offset();
                let weights = self.weights.get(first..first + strip.count());
                let weights =
                    weights.ok_or_else(|| "it has more entries than weights".to_owned())?;
                self.visit_strip(&strip, instructions, |entry| S::Weight::from_f32(weights[entry]));
            } else {
                self.visit_strip(&strip, instructions, |_| S::Weight::from_f32(1.0));
            }
        }
        Ok(())
    }
}

impl<S: EdgeSink> TileEdges<'_, S> {
    #[inline(always)]
    fn visit_strip<I: InstructionSet>(
        &mut self,
        strip: &Strip<'_>,
        instructions: I,
        weigh: impl Fn(usize) -> S::Weight,
    ) {
        let TileEdges { sink, first_source, window, last, source_count, .. } = self;
        let (first_source, window) = (*first_source, *window);
        let (last, source_count) = (*last, *source_count);
        match strip.entries() {
            // Tiles with weights have no masks.
            Entries::Masks => strip.visit_masks(|_: usize, source: u32, mut mask: u32| {
                let first = window + strip.target_start() as u32;
                while mask != 0 {
                    let target = (first + mask.trailing_zeros()).min(last);
                    let weight = S::Weight::from_f32(1.0);
                    sink.take(ShortId(first_source + source), ShortId(target), weight);
                    mask &= mask - 1;
                }
            }),
            Entries::Row | Entries::Singles => {
                let skip = source_count;
                let mut edges = BlockEdges { sink, weigh, first_source, window, skip, last };
                strip.visit_blocks(instructions, skip, &mut edges);
            }
        }
    }
}

/// Hands the edges of a block to a sink.
struct BlockEdges<'t, S, F> {
    sink: &'t mut S,
    weigh: F,
    first_source: u32,
    window: u32,
    skip: u32,
    last: u32,
}

impl<S: EdgeSink, F: Fn(usize) -> S::Weight> BlockVisitor for BlockEdges<'_, S, F> {
    #[inline(always)]
    fn block(&mut self, block: &Block) {
        for (lane, (&source, &target)) in block.sources.iter().zip(&block.targets).enumerate() {
            if source != self.skip {
                let source = ShortId(self.first_source + source);
                let target = ShortId((self.window + u32::from(target)).min(self.last));
                let weight = (self.weigh)(block.first_entry + lane);
                self.sink.take(source, target, weight);
            }
        }
    }
}
