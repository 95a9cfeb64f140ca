//! What the messages to the targets of a batch are reduced to, by one worker.
//!
//! A sum of `f32` loses precision with the number of its terms, so programs that add up have wider
//! accumulators than messages. But twice the bytes for each target is twice the cache: where targets are
//! far apart, as in thin tiles, an edge would take 1.3 times as long. So what comes edge by edge, to many
//! targets, is reduced into *short* sums with the width of a message, which are *spilled* into the
//! accumulators before they are long.

use std::ops::Range;

use tegula_store::tiles::WINDOW_SIZE;

use crate::program::{Accumulator, Message, Program, Reduction};

/// Edges into the short sums of a window after which these are spilled. What is dense has a strip of its own,
/// so that a tile adds a dozen edges to one short sum at the most.
const SPILL_INTERVAL: usize = 1 << 20;

/// Accumulators of a batch, for each of its windows; identities between parts.
pub struct Accumulators<P: Program> {
    long: Vec<Accumulator<P>>,
    /// Empty where accumulators are no wider than messages.
    short: Vec<Message<P>>,
    /// Edges into the short sums of each window since these were spilled.
    short_counts: Vec<usize>,
}

/// Those of one window.
pub struct WindowAccumulators<'a, P: Program> {
    /// For what was reduced already.
    pub long: &'a mut [Accumulator<P>; WINDOW_SIZE],
    /// For what comes edge by edge; none where that may go to the others at once.
    pub short: Option<&'a mut [Message<P>; WINDOW_SIZE]>,
    /// Edges into the short sums since these were spilled.
    pub short_count: &'a mut usize,
}

/// What was reduced for the targets of a batch, put aside.
pub enum ParkedAccumulators<P: Program> {
    /// Of a batch of whole windows.
    Whole(Accumulators<P>),
    /// Of one that lies within a window.
    Few {
        /// Of its targets alone.
        long: Vec<Accumulator<P>>,
        /// Empty where accumulators are no wider than messages.
        short: Vec<Message<P>>,
        /// Edges into those.
        short_count: usize,
    },
}

impl<P: Program> ParkedAccumulators<P> {
    /// Takes them up again, those of few targets into identities that `idle` supplies.
    pub fn resume(
        self,
        targets: Range<usize>,
        idle: impl FnOnce() -> Accumulators<P>,
    ) -> Accumulators<P> {
        match self {
            ParkedAccumulators::Whole(accumulators) => accumulators,
            ParkedAccumulators::Few { long, short, short_count } => {
                let mut accumulators = idle();
                accumulators.long[targets.clone()].copy_from_slice(&long);
                if Accumulators::<P>::HAS_SHORT {
                    accumulators.short[targets].copy_from_slice(&short);
                }
                accumulators.short_counts[0] = short_count;
                accumulators
            }
        }
    }
}

impl<P: Program> Accumulators<P> {
    /// Whether there are short sums.
    const HAS_SHORT: bool = size_of::<Accumulator<P>>() > size_of::<Message<P>>();

    /// Bytes for batches of up to `targets` targets.
    pub fn size(targets: u64) -> u64 {
        Self::parked_size(targets.max(WINDOW_SIZE as u64))
    }

    /// Bytes of a parked part of a batch that is smaller than a window.
    pub fn parked_size(targets: u64) -> u64 {
        let short = if Self::HAS_SHORT { size_of::<Message<P>>() } else { 0 };
        targets * (size_of::<Accumulator<P>>() + short) as u64
    }

    /// How many targets accumulators have that were reserved for these, counted from the first window.
    pub fn room_for(targets_end: usize) -> usize {
        targets_end.next_multiple_of(WINDOW_SIZE)
    }

    /// How many targets there are.
    pub fn room(&self) -> usize {
        self.long.len()
    }

    /// None yet.
    pub fn new() -> Self {
        Accumulators { long: Vec::new(), short: Vec::new(), short_counts: Vec::new() }
    }

    /// Makes room for targets up to this one, counted from the first window.
    pub fn reserve(&mut self, targets_end: usize) {
        let size = Self::room_for(targets_end);
        if self.long.len() < size {
            self.long.resize(size, P::Reduction::IDENTITY.into());
            self.short_counts.resize(size / WINDOW_SIZE, 0);
            if Self::HAS_SHORT {
                self.short.resize(size, P::Reduction::IDENTITY);
            }
        }
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
    pub fn spill_when_due(&mut self, window: usize) {
        if self.short_counts[window] >= SPILL_INTERVAL {
            self.spill(window);
        }
    }

    /// Hands out what was reduced for each of these targets, counted from the first one, and leaves
    /// identities: one pass for what would take three.
    #[inline(always)]
    pub fn drain(&mut self, targets: Range<usize>, mut take: impl FnMut(usize, Accumulator<P>)) {
        let identity = P::Reduction::IDENTITY;
        for window in targets.start / WINDOW_SIZE..targets.end.div_ceil(WINDOW_SIZE) {
            let before = window * WINDOW_SIZE;
            let first = targets.start.max(before);
            let own = first - before..targets.end.min(before + WINDOW_SIZE) - before;
            let WindowAccumulators { long, short, short_count } = self.window(window);
            let long = &mut long[own.clone()];
            let has_short = std::mem::take(short_count) > 0;
            if let Some(short) = short.filter(|_| has_short) {
                for (index, (long, short)) in long.iter_mut().zip(&mut short[own]).enumerate() {
                    let sum = P::Reduction::accumulate(*long, (*short).into());
                    (*long, *short) = (identity.into(), identity);
                    take(first - targets.start + index, sum);
                }
            } else {
                for (index, long) in long.iter_mut().enumerate() {
                    let sum = std::mem::replace(long, identity.into());
                    take(first - targets.start + index, sum);
                }
            }
        }
    }

    /// Puts aside what was reduced for these targets. Those of a small batch are copied, and the accumulators come
    /// back as identities.
    pub fn park(mut self, targets: Range<usize>) -> (ParkedAccumulators<P>, Option<Self>) {
        if targets.len() >= WINDOW_SIZE {
            return (ParkedAccumulators::Whole(self), None);
        }
        let identity = P::Reduction::IDENTITY;
        let long = self.long[targets.clone()].to_vec();
        self.long[targets.clone()].fill(identity.into());
        let mut short = Vec::new();
        if Self::HAS_SHORT {
            short.extend_from_slice(&self.short[targets.clone()]);
            self.short[targets].fill(identity);
        }
        let short_count = std::mem::take(&mut self.short_counts[0]);
        (ParkedAccumulators::Few { long, short, short_count }, Some(self))
    }

    fn spill(&mut self, window: usize) {
        let WindowAccumulators { long, short, short_count } = self.window(window);
        *short_count = 0;
        for (long, short) in long.iter_mut().zip(short.into_iter().flatten()) {
            *long = P::Reduction::accumulate(*long, (*short).into());
            *short = P::Reduction::IDENTITY;
        }
    }
}
