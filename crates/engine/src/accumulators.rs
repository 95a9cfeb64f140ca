//! What the messages to the targets of a batch are reduced to, by one worker.
//!
//! A sum of `f32` loses precision with the number of its terms, so programs that add up have wider
//! accumulators than messages. But twice the bytes for each target is twice the cache: where targets are
//! far apart, as in thin tiles, an edge would take 1.3 times as long. So what comes edge by edge, to many
//! targets, is reduced into *short* sums with the width of a message, which are *spilled* into the
//! accumulators before they are long.

use std::ops::Range;

use tegula_store::tiles::WINDOW_SIZE;

use crate::program::Program;

/// Edges into the short sums of a window after which these are spilled. To spill takes 1 to 2 % of the
/// time of so many edges. What is dense has a strip of its own, so that a tile adds a dozen edges to one
/// short sum at the most.
const SPILL_INTERVAL: usize = 1 << 20;

/// Accumulators of a batch, for each of its windows.
pub struct Accumulators<P: Program> {
    long: Vec<P::Accumulator>,
    /// Empty where accumulators are no wider than messages; otherwise identities between parts.
    short: Vec<P::Message>,
    /// Edges into the short sums of each window since these were spilled.
    short_counts: Vec<usize>,
}

/// Those of one window.
pub struct WindowAccumulators<'a, P: Program> {
    /// For what was reduced already.
    pub long: &'a mut [P::Accumulator; WINDOW_SIZE],
    /// For what comes edge by edge; none where that may go to the others at once.
    pub short: Option<&'a mut [P::Message; WINDOW_SIZE]>,
    /// Edges into the short sums since these were spilled.
    pub short_count: &'a mut usize,
}

impl<P: Program> Accumulators<P> {
    /// Whether there are short sums.
    const HAS_SHORT: bool = size_of::<P::Accumulator>() > size_of::<P::Message>();

    /// Bytes for batches of up to `targets` targets.
    pub fn size(targets: u64) -> u64 {
        let short = if Self::HAS_SHORT { size_of::<P::Message>() } else { 0 };
        targets.max(WINDOW_SIZE as u64) * (size_of::<P::Accumulator>() + short) as u64
    }

    /// None yet.
    pub fn new() -> Self {
        Accumulators { long: Vec::new(), short: Vec::new(), short_counts: Vec::new() }
    }

    /// Begins anew with these targets, counted from the first window.
    pub fn begin(&mut self, program: &P, targets: Range<usize>) {
        let size = targets.end.next_multiple_of(WINDOW_SIZE);
        if self.long.len() < size {
            self.long.resize(size, program.identity().into());
            self.short_counts.resize(size / WINDOW_SIZE, 0);
            if Self::HAS_SHORT {
                self.short.resize(size, program.identity());
            }
        }
        self.long[targets].fill(program.identity().into());
    }

    /// The accumulators of a window.
    pub fn window(&mut self, window: usize) -> WindowAccumulators<'_, P> {
        let (long, _) = self.long.as_chunks_mut::<WINDOW_SIZE>();
        let (short, _) = self.short.as_chunks_mut::<WINDOW_SIZE>();
        WindowAccumulators {
            long: &mut long[window],
            short: short.get_mut(window),
            short_count: &mut self.short_counts[window],
        }
    }

    /// Spills the short sums of a window if it is time: a function of the tiles so far alone.
    pub fn spill_when_due(&mut self, program: &P, window: usize) {
        if self.short_counts[window] >= SPILL_INTERVAL {
            self.spill(program, window);
        }
    }

    /// What was reduced for these targets.
    pub fn finish(&mut self, program: &P, targets: Range<usize>) -> &mut [P::Accumulator] {
        for window in 0..targets.end.div_ceil(WINDOW_SIZE) {
            if self.short_counts[window] > 0 {
                self.spill(program, window);
            }
        }
        &mut self.long[targets]
    }

    fn spill(&mut self, program: &P, window: usize) {
        let WindowAccumulators { long, short, short_count } = self.window(window);
        *short_count = 0;
        for (long, short) in long.iter_mut().zip(short.into_iter().flatten()) {
            *long = program.accumulate(*long, (*short).into());
            *short = program.identity();
        }
    }
}
