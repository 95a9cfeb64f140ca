//! The reader of tiles.

#[cfg(target_arch = "x86_64")]
use tegula_store::tiles::{Avx2, Avx512};
use tegula_store::tiles::{
    Block, BlockVisitor, Entries, InstructionSet, Portable, Strip, Tile, TileSummary, WINDOW_SIZE,
};

use crate::choice;

/// Keeps the entries of a strip.
#[derive(Default, PartialEq, Debug)]
struct Kept(Vec<(usize, u32, u16)>);

impl BlockVisitor for Kept {
    fn block(&mut self, block: &Block) {
        let lanes = block.sources.iter().zip(&block.targets).enumerate();
        let entry = |(lane, (&source, &target))| (block.first_entry + lane, source, target);
        self.0.extend(lanes.map(entry).filter(|&(_, source, _)| source != u32::MAX));
    }
}

/// Decodes a tile. The first byte chooses how many sources there are.
pub fn decode(data: &[u8]) {
    let Some((choice, bytes)) = choice(data) else { return };
    let source_limit = 1 << (choice % 25);
    let Ok(tile) = Tile::parse(bytes) else { return };
    let summary = TileSummary {
        edge_count: tile.edge_count(),
        source_first: 0,
        source_last: source_limit - 1,
        target_first: 0,
        target_last: WINDOW_SIZE as u32 - 1,
        source_mask: u64::MAX,
    };
    let check = |_, source: u32, target: u32| {
        assert!(source < source_limit, "source {source} of {source_limit}");
        assert!(target < WINDOW_SIZE as u32, "target {target}");
    };
    let _ = tile.for_each_edge(&summary, source_limit, check);
    for strip in tile.strips(source_limit).map_while(Result::ok) {
        if !matches!(strip.entries(), Entries::Masks) {
            compare(&strip);
        }
    }
}

/// Checks that all instruction sets decode a strip alike.
fn compare(strip: &Strip<'_>) {
    let expected = kept(strip, Portable);
    #[cfg(target_arch = "x86_64")]
    {
        let avx2 = Avx2::detect().map(|avx2| kept(strip, avx2));
        let avx512 = Avx512::detect().map(|avx512| kept(strip, avx512));
        assert!(avx2.into_iter().chain(avx512).all(|found| found == expected));
    }
}

fn kept<I: InstructionSet>(strip: &Strip<'_>, instructions: I) -> Kept {
    let mut kept = Kept::default();
    strip.visit_blocks(instructions, u32::MAX, &mut kept);
    kept
}
