//! Visits the edges of a checked strip, without a check per edge.

use super::instructions::{InstructionSet, Portable};
use super::strip::Encoding;

/// A checked strip. Visits guarantee that every source is below the `source_limit` of the check,
/// and that `target_start` plus every low part lies within the window.
#[derive(Debug, Clone, Copy)]
pub struct Strip<'a> {
    pub(super) encoding: Encoding,
    pub(super) source_start: u32,
    pub(super) target_start: u16,
    pub(super) count: usize,
    pub(super) gaps: &'a [u8],
    pub(super) planes: &'a [u8],
    pub(super) entry_offset: usize,
}

/// The entries of a strip, by shape.
#[derive(Debug)]
pub enum Entries {
    /// One target, single edges.
    Row,
    /// Several targets, single edges.
    Singles,
    /// Sources with a mask of targets.
    Masks,
}

impl Strip<'_> {
    /// The encoding of its entries.
    pub fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// The shape of its entries, which decides the kind of visit.
    #[inline]
    pub fn entries(&self) -> Entries {
        match self.encoding {
            Encoding::Mask8 | Encoding::Mask16 => Entries::Masks,
            Encoding::Gap8Low0 | Encoding::Gap16Low0 => Entries::Row,
            _ => Entries::Singles,
        }
    }

    /// First target of the strip within its window.
    #[inline]
    pub fn target_start(&self) -> usize {
        usize::from(self.target_start)
    }

    /// Number of entries, skips included. A weighted tile has a weight for each.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Number of entries before it in its tile, which is the place of its weights.
    #[inline]
    pub fn entry_offset(&self) -> usize {
        self.entry_offset
    }

    /// Visits the edges of a strip of single entries: `visit(entry, source, target)`, where
    /// `target` is an offset in the window. Not for hot loops.
    ///
    /// # Panics
    /// When the strip holds masks.
    pub fn visit_singles(&self, visit: impl FnMut(usize, u32, usize)) {
        struct Edges<F>(F);
        impl<F: FnMut(usize, u32, usize)> BlockVisitor for Edges<F> {
            #[inline(always)]
            fn block(&mut self, block: &Block) {
                for (lane, (&source, &target)) in
                    block.sources.iter().zip(&block.targets).enumerate()
                {
                    if source != u32::MAX {
                        self.0(block.first_entry + lane, source, usize::from(target));
                    }
                }
            }
        }
        self.visit_blocks(Portable, u32::MAX, &mut Edges(visit));
    }

    /// Visits a strip of single entries in blocks of [`BLOCK_SIZE`]; skips fill up the last block.
    /// An entry that only skips has the source `skip_source`, so that a visitor needs no branch.
    ///
    /// # Panics
    /// When the strip holds masks.
    #[inline(always)]
    pub fn visit_blocks<I: InstructionSet, V: BlockVisitor>(
        &self,
        instructions: I,
        skip_source: u32,
        visit: &mut V,
    ) {
        match self.encoding.width_log2() {
            _ if self.encoding.is_mask() => unreachable!("a strip of masks has no singles"),
            0 => self.visit_row(instructions, skip_source, visit),
            4 => self.visit_narrow(instructions, skip_source, visit),
            _ => self.visit_wide(instructions, skip_source, visit),
        }
    }

    /// Does what [`visit_blocks`](Strip::visit_blocks) does for a strip of one target. A visitor
    /// for such strips alone is compiled for their encodings alone.
    ///
    /// # Panics
    /// When the strip has several targets.
    #[inline(always)]
    pub fn visit_row<I: InstructionSet, V: BlockVisitor>(
        &self,
        instructions: I,
        skip_source: u32,
        visit: &mut V,
    ) {
        let (i, skip) = (instructions, skip_source);
        match self.encoding {
            Encoding::Gap8Low0 => self.visit_coded::<I, V, 1, 0>(i, skip, visit),
            Encoding::Gap16Low0 => self.visit_coded::<I, V, 2, 0>(i, skip, visit),
            _ => unreachable!("the strip has several targets"),
        }
    }

    /// Does what [`visit_blocks`](Strip::visit_blocks) does for a strip of 16 targets.
    ///
    /// # Panics
    /// When the strip has another number of targets, or holds masks.
    #[inline(always)]
    pub fn visit_narrow<I: InstructionSet, V: BlockVisitor>(
        &self,
        instructions: I,
        skip_source: u32,
        visit: &mut V,
    ) {
        let (i, skip) = (instructions, skip_source);
        match self.encoding {
            Encoding::Gap8Low4 => self.visit_coded::<I, V, 1, 4>(i, skip, visit),
            Encoding::Gap16Low4 => self.visit_coded::<I, V, 2, 4>(i, skip, visit),
            _ => unreachable!("the strip has no singles to 16 targets"),
        }
    }

    /// Does what [`visit_blocks`](Strip::visit_blocks) does for a strip of 256 targets or more.
    ///
    /// # Panics
    /// When the strip has fewer targets.
    #[inline(always)]
    pub fn visit_wide<I: InstructionSet, V: BlockVisitor>(
        &self,
        instructions: I,
        skip_source: u32,
        visit: &mut V,
    ) {
        let (i, skip) = (instructions, skip_source);
        match self.encoding {
            Encoding::Gap8Low8 => self.visit_coded::<I, V, 1, 8>(i, skip, visit),
            Encoding::Gap8Low12 => self.visit_coded::<I, V, 1, 12>(i, skip, visit),
            Encoding::Gap8Low16 => self.visit_coded::<I, V, 1, 16>(i, skip, visit),
            Encoding::Gap16Low8 => self.visit_coded::<I, V, 2, 8>(i, skip, visit),
            Encoding::Gap16Low12 => self.visit_coded::<I, V, 2, 12>(i, skip, visit),
            Encoding::Gap16Low16 => self.visit_coded::<I, V, 2, 16>(i, skip, visit),
            _ => unreachable!("the strip has fewer than 256 targets"),
        }
    }

    /// Visits the entries of a strip of masks.
    ///
    /// # Panics
    /// When the strip holds singles.
    #[inline(always)]
    pub fn visit_masks(&self, mut visit: impl MaskVisitor) {
        let is_wide = match self.encoding {
            Encoding::Mask8 => false,
            Encoding::Mask16 => true,
            _ => unreachable!("a strip of singles has no masks"),
        };
        let mut source = self.source_start;
        for (entry, &gap) in self.gaps.iter().enumerate() {
            source = source.wrapping_add(u32::from(gap));
            let mask = if is_wide {
                u32::from(u16::from_le_bytes([self.planes[2 * entry], self.planes[2 * entry + 1]]))
            } else {
                u32::from(self.planes[entry])
            };
            visit.mask(entry, source, mask);
        }
    }

    #[inline(always)]
    fn visit_coded<I: InstructionSet, V: BlockVisitor, const GAP: usize, const LOW: u32>(
        &self,
        instructions: I,
        skip_source: u32,
        visit: &mut V,
    ) {
        let size = low_size::<LOW>();
        let (bytes, nibbles) = self.planes.split_at(self.count * size);
        let mut filled = Filled::new();
        // In a strip of one target, all blocks keep this one.
        let mut block = Block::new(self.target_start);
        let mut source = self.source_start;
        for first in (0..self.count).step_by(BLOCK_SIZE) {
            let end = first + BLOCK_SIZE;
            let has_nibbles = LOW % 8 == 4;
            let (gaps, bytes, nibbles) = if end <= self.count {
                let nibbles = if has_nibbles { &nibbles[first / 2..end / 2] } else { &[] };
                (&self.gaps[first * GAP..end * GAP], &bytes[first * size..end * size], nibbles)
            } else {
                let nibbles = if has_nibbles { &nibbles[first / 2..] } else { &[] };
                filled.fill(&self.gaps[first * GAP..], &bytes[first * size..], nibbles);
                let nibbles = if has_nibbles { &filled.nibbles[..] } else { &[] };
                (&filled.gaps[..BLOCK_SIZE * GAP], &filled.bytes[..BLOCK_SIZE * size], nibbles)
            };
            source = unpack_gaps::<I, GAP>(instructions, gaps, source, skip_source, &mut block);
            unpack_targets::<LOW>(self.target_start, bytes, nibbles, &mut block.targets);
            block.first_entry = first;
            visit.block(&block);
        }
    }
}

/// The last entries of a strip, filled up with skips.
struct Filled {
    gaps: [u8; 2 * BLOCK_SIZE],
    bytes: [u8; 2 * BLOCK_SIZE],
    nibbles: [u8; BLOCK_SIZE / 2],
}

impl Filled {
    fn new() -> Filled {
        Filled { gaps: [u8::MAX; _], bytes: [0; _], nibbles: [0; _] }
    }

    fn fill(&mut self, gaps: &[u8], bytes: &[u8], nibbles: &[u8]) {
        self.gaps[..gaps.len()].copy_from_slice(gaps);
        self.bytes[..bytes.len()].copy_from_slice(bytes);
        self.nibbles[..nibbles.len()].copy_from_slice(nibbles);
    }
}

/// Receives the entries of a strip, block by block. A trait instead of a closure, because `block`
/// must be `#[inline(always)]` to be compiled for the caller's instructions.
pub trait BlockVisitor {
    /// Receives the next block.
    fn block(&mut self, block: &Block);
}

/// Receives the entries of a strip of masks; see [`BlockVisitor`].
pub trait MaskVisitor {
    /// Receives entry number `entry`. A set bit `b` of `mask` stands for the strip's target `b`;
    /// the mask may be 0.
    fn mask(&mut self, entry: usize, source: u32, mask: u32);
}

impl<F: FnMut(usize, u32, u32)> MaskVisitor for F {
    #[inline(always)]
    fn mask(&mut self, entry: usize, source: u32, mask: u32) {
        self(entry, source, mask);
    }
}

/// Number of entries in a block.
pub const BLOCK_SIZE: usize = 64;

/// Unpacked entries of a strip, with skips behind the last one. Aligned so that no vector crosses a
/// cache line.
#[derive(Debug)]
#[repr(align(64))]
pub struct Block {
    /// The source of each entry.
    pub sources: [u32; BLOCK_SIZE],
    /// The target of each entry, as an offset in the window.
    pub targets: [u16; BLOCK_SIZE],
    /// Number of the first entry within the strip.
    pub first_entry: usize,
}

impl Block {
    fn new(target: u16) -> Block {
        Block { sources: [0; BLOCK_SIZE], targets: [target; BLOCK_SIZE], first_entry: 0 }
    }
}

/// Whole bytes of a target's low part.
const fn low_size<const LOW: u32>() -> usize {
    (LOW / 8) as usize
}

/// Writes the sources of a block. Returns the source from which the next gap counts.
#[inline(always)]
fn unpack_gaps<I: InstructionSet, const GAP: usize>(
    instructions: I,
    gaps: &[u8],
    start: u32,
    skip_source: u32,
    block: &mut Block,
) -> u32 {
    let mut source = start;
    if GAP == 1 {
        let gaps = gaps.as_chunks::<16>().0;
        for (gaps, out) in gaps.iter().zip(block.sources.as_chunks_mut::<16>().0) {
            source = instructions.sums_of_bytes(gaps, source, skip_source, out);
        }
    } else {
        for (gap, out) in gaps.as_chunks::<2>().0.iter().zip(&mut block.sources) {
            let gap = u16::from_le_bytes(*gap);
            source = source.wrapping_add(u32::from(gap));
            *out = if gap == u16::MAX { skip_source } else { source };
        }
    }
    source
}

/// Writes the targets of a block: `start`, a multiple of `2^LOW`, with their low parts. Planes are
/// arrays of known length here, so that the compiler vectorises the loops; they always have this
/// length.
#[inline(always)]
fn unpack_targets<const LOW: u32>(
    start: u16,
    bytes: &[u8],
    nibbles: &[u8],
    targets: &mut [u16; BLOCK_SIZE],
) {
    match LOW {
        0 => {}
        8 => targets.iter_mut().zip(bytes).for_each(|(to, &byte)| *to = start | u16::from(byte)),
        16 => {
            let pairs = bytes.as_chunks::<2>().0;
            targets.iter_mut().zip(pairs).for_each(|(to, pair)| *to = u16::from_le_bytes(*pair));
        }
        _ => {
            debug_assert_eq!(nibbles.len(), BLOCK_SIZE / 2);
            let nibbles: &[u8; BLOCK_SIZE / 2] = nibbles.as_array().unwrap_or(&[0; _]);
            let (pairs, _) = targets.as_chunks_mut::<2>();
            for (pair, &nibbles) in pairs.iter_mut().zip(nibbles) {
                *pair = [u16::from(nibbles & 15), u16::from(nibbles >> 4)];
            }
            if LOW == 4 {
                targets.iter_mut().for_each(|target| *target |= start);
            } else {
                debug_assert_eq!(bytes.len(), BLOCK_SIZE);
                let bytes: &[u8; BLOCK_SIZE] = bytes.as_array().unwrap_or(&[0; _]);
                for (target, &byte) in targets.iter_mut().zip(bytes) {
                    *target = start | *target << 8 | u16::from(byte);
                }
            }
        }
    }
}
