//! The process phase of one tile: the inner loop of every program.
//!
//! Cost, in memory on one core with 4-byte messages: 0.4 to 1.2 ns an edge, measured by
//! `make bench`. Bounds are checked once per strip ([`Tile::strips`]), so the loops have no check,
//! no lock and no branch on data. The same code is compiled for AVX-512, AVX2 and any processor; the
//! order of reduction is part of it (eight lanes in a row of singles, two in masks), so all give the
//! same bits.

use tegula_store::tiles::{BLOCK_SIZE, EdgeWeight, Encoding};
use tegula_store::tiles::{InstructionSet, Strip, Tile, WINDOW_SIZE};

use crate::instructions::WithInstructions;
use crate::program::Program;

/// What a kernel reads and writes.
pub struct KernelInput<'a, P: Program> {
    /// The program.
    pub program: &'a P,
    /// The tile.
    pub tile: Tile<'a>,
    /// A weight for each entry; empty in an unweighted graph.
    pub weights: &'a [f32],
    /// A message for each vertex, and one more that is the identity.
    pub messages: &'a [P::Message],
    /// The accumulators of the tile's target window.
    pub accumulators: &'a mut [P::Message; WINDOW_SIZE],
}

impl<P: Program> WithInstructions for KernelInput<'_, P> {
    type Output = Result<(), String>;

    /// Reduces the messages of a tile's sources into the accumulators of its targets, or says what
    /// does not fit in the tile.
    #[inline(always)]
    fn run<I: InstructionSet>(self, instructions: I) -> Result<(), String> {
        let KernelInput { program, tile, weights, messages, accumulators } = self;
        let mut kernel = Kernel { program, messages, accumulators, instructions };
        for strip in tile.strips((messages.len() - 1) as u32) {
            let strip = strip?;
            if P::Weight::IS_WEIGHTED && !weights.is_empty() {
                let first = strip.entry_offset();
                let weights = weights
                    .get(first..first + strip.count())
                    .ok_or_else(|| "it has more entries than weights".to_owned())?;
                kernel.reduce_strip(&strip, |entry| P::Weight::from_f32(weights[entry]));
            } else {
                kernel.reduce_strip(&strip, |_| P::Weight::from_f32(1.0));
            }
        }
        Ok(())
    }
}

/// Lanes over which the edges of one target are spread: enough to hide the latency of `reduce`.
const ROW_LANES: usize = 8;
/// Entries after which lanes are merged into their accumulator. Sums of floats lose precision with
/// the number of their terms: short sums of short sums keep ranks within 1e-5 of double precision.
const MERGE_INTERVAL: usize = 1024;

struct Kernel<'a, P: Program, I> {
    program: &'a P,
    messages: &'a [P::Message],
    accumulators: &'a mut [P::Message; WINDOW_SIZE],
    instructions: I,
}

impl<P: Program, I: InstructionSet> Kernel<'_, P, I> {
    #[inline(always)]
    fn reduce_strip(&mut self, strip: &Strip<'_>, weigh: impl Fn(usize) -> P::Weight) {
        match strip.encoding() {
            Encoding::Gap8Low0 | Encoding::Gap16Low0 => self.reduce_row(strip, weigh),
            Encoding::Gap8Low4 | Encoding::Gap16Low4 => self.reduce_narrow(strip, weigh),
            Encoding::Mask8 => self.reduce_masks::<8>(strip),
            Encoding::Mask16 => self.reduce_masks::<16>(strip),
            _ => self.reduce_wide(strip, weigh),
        }
    }

    /// What an entry carries. An entry that is no edge has the source behind all others, whose
    /// message is the identity: an unweighted program needs no test for it.
    #[inline(always)]
    fn carried(&self, source: u32, weigh: impl FnOnce() -> P::Weight) -> P::Message {
        debug_assert!((source as usize) < self.messages.len());
        // SAFETY: `Tile::strips` was given `messages.len() - 1` as the limit of the sources and
        // passes on none that reaches it; a skip has that limit itself as its source.
        let message = unsafe { *self.messages.get_unchecked(source as usize) };
        if P::Weight::IS_WEIGHTED && source as usize == self.messages.len() - 1 {
            return message;
        }
        self.program.along(message, weigh())
    }

    /// All edges lead to one target.
    #[inline(always)]
    fn reduce_row(&mut self, strip: &Strip<'_>, weigh: impl Fn(usize) -> P::Weight) {
        let identity = self.program.identity();
        let mut lanes = [identity; ROW_LANES];
        let mut row = self.accumulators[strip.target_start()];
        let merge = |row, lanes: &mut [P::Message; ROW_LANES]| {
            let sum = std::mem::replace(lanes, [identity; ROW_LANES]);
            sum.into_iter().reduce(|a, b| self.program.reduce(a, b)).map_or(row, |sum| {
                self.program.reduce(row, sum)
            })
        };
        let skip_source = (self.messages.len() - 1) as u32;
        strip.visit_blocks(self.instructions, skip_source, |block| {
            let (groups, _) = block.sources.as_chunks::<ROW_LANES>();
            for (group, sources) in groups.iter().enumerate() {
                for (lane, &source) in sources.iter().enumerate() {
                    let entry = block.first_entry + group * ROW_LANES + lane;
                    let carried = self.carried(source, || weigh(entry));
                    lanes[lane] = self.program.reduce(lanes[lane], carried);
                }
            }
            if (block.first_entry + BLOCK_SIZE).is_multiple_of(MERGE_INTERVAL) {
                row = merge(row, &mut lanes);
            }
        });
        self.accumulators[strip.target_start()] = merge(row, &mut lanes);
    }

    /// Edges lead to 16 targets: a line of the L1 cache.
    #[inline(always)]
    fn reduce_narrow(&mut self, strip: &Strip<'_>, weigh: impl Fn(usize) -> P::Weight) {
        const WIDTH: usize = 16;
        let mut sums = [self.program.identity(); WIDTH];
        let skip_source = (self.messages.len() - 1) as u32;
        strip.visit_blocks(self.instructions, skip_source, |block| {
            for (lane, (&source, &target)) in block.sources.iter().zip(&block.targets).enumerate() {
                let carried = self.carried(source, || weigh(block.first_entry + lane));
                let sum = &mut sums[usize::from(target) % WIDTH];
                *sum = self.program.reduce(*sum, carried);
            }
        });
        self.merge_targets(strip, sums);
    }

    /// Edges lead to 256 targets or more, up to a window: all of them in the L2 cache.
    #[inline(always)]
    fn reduce_wide(&mut self, strip: &Strip<'_>, weigh: impl Fn(usize) -> P::Weight) {
        let skip_source = (self.messages.len() - 1) as u32;
        strip.visit_blocks(self.instructions, skip_source, |block| {
            for (lane, (&source, &target)) in block.sources.iter().zip(&block.targets).enumerate() {
                let carried = self.carried(source, || weigh(block.first_entry + lane));
                // Any `u16` is an index of the window.
                let target = &mut self.accumulators[usize::from(target)];
                *target = self.program.reduce(*target, carried);
            }
        });
    }

    /// Reduces sums into the accumulators of a strip of `N` targets.
    #[inline(always)]
    fn merge_targets<const N: usize>(&mut self, strip: &Strip<'_>, sums: [P::Message; N]) {
        // A strip starts at a multiple of its width, so the slice lies within the window.
        let targets = &mut self.accumulators[strip.target_start()..][..N];
        for (target, sum) in targets.iter_mut().zip(sums) {
            *target = self.program.reduce(*target, sum);
        }
    }

    /// Each source leads to some of `N` targets, whose accumulators stay in vector registers.
    #[inline(always)]
    fn reduce_masks<const N: usize>(&mut self, strip: &Strip<'_>) {
        let identity = self.program.identity();
        let mut lanes = [[identity; N]; 2];
        // Two lanes hide the latency of `reduce`; the last entries are few.
        let mut merged = [identity; N];
        let merge = |merged: &mut [P::Message; N], lanes: &mut [[P::Message; N]; 2]| {
            let [even, odd] = std::mem::replace(lanes, [[identity; N]; 2]);
            for (merged, (even, odd)) in merged.iter_mut().zip(even.into_iter().zip(odd)) {
                *merged = self.program.reduce(*merged, self.program.reduce(even, odd));
            }
        };
        strip.visit_masks(|entry, source, mask| {
            let message = self.carried(source, || P::Weight::from_f32(1.0));
            for (bit, lane) in lanes[entry % 2].iter_mut().enumerate() {
                let reduced = self.program.reduce(*lane, message);
                *lane = if mask >> bit & 1 == 1 { reduced } else { *lane };
            }
            if (entry + 1).is_multiple_of(MERGE_INTERVAL / 4) {
                merge(&mut merged, &mut lanes);
            }
        });
        merge(&mut merged, &mut lanes);
        self.merge_targets(strip, merged);
    }
}
