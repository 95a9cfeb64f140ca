//! Where one worker reduces the messages to the targets of a batch.
//!
//! Sums of `f32` lose precision with the number of terms, so programs that sum have accumulators
//! wider than messages. But twice the bytes per target is twice the cache: in thin tiles, whose
//! targets are far apart, an edge would take 1.3 times as long. So edges to many targets are
//! reduced into *short* sums as wide as a message. These are *spilled* into the accumulators before
//! they get long.

use std::ops::Range;

use tegula_store::tiles::WINDOW_SIZE;

use crate::program::{Accumulator, Message, Program, Reduction};

/// The short sums of a window are spilled after this number of edges. A dense target has a strip of
/// its own, so a tile adds at most a dozen edges to one short sum. Tests spill often, so that their
/// small graphs tell if two runs spill at different tiles.
const SPILL_INTERVAL: usize = if cfg!(test) { 1 << 8 } else { 1 << 20 };

/// The accumulators of a batch by window. All hold identities between parts.
pub struct Accumulators<P: Program> {
    long: Vec<Accumulator<P>>,
    /// Empty if accumulators are no wider than messages.
    short: Vec<Message<P>>,
    /// Edges reduced into the short sums of each window since the last spill.
    short_counts: Vec<usize>,
}

/// The accumulators of one window.
pub struct WindowAccumulators<'a, P: Program> {
    /// For values that are already reduced.
    pub long: &'a mut [Accumulator<P>; WINDOW_SIZE],
    /// For single edges; `None` if they go to `long` at once.
    pub short: Option<&'a mut [Message<P>; WINDOW_SIZE]>,
    /// Edges reduced into the short sums since the last spill.
    pub short_count: &'a mut usize,
}

/// Accumulators for the targets of a batch, put aside.
pub enum ParkedAccumulators<P: Program> {
    /// For a batch of whole windows.
    Whole(Accumulators<P>),
    /// For a batch within a window.
    Few {
        /// For the targets of the batch alone.
        long: Vec<Accumulator<P>>,
        /// Empty if accumulators are no wider than messages.
        short: Vec<Message<P>>,
        /// Edges reduced into `short` since the last spill.
        short_count: usize,
    },
}

impl<P: Program> ParkedAccumulators<P> {
    /// Takes parked accumulators up again. The accumulators of a small batch are copied into
    /// identities that `idle` supplies.
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
                // A batch within a window has a single count.
                accumulators.short_counts[0] = short_count;
                accumulators
            }
        }
    }
}

impl<P: Program> Accumulators<P> {
    /// Whether there are short sums.
    const HAS_SHORT: bool = size_of::<Accumulator<P>>() > size_of::<Message<P>>();

    /// Returns the bytes for batches of up to `targets` targets.
    pub fn size(targets: u64) -> u64 {
        Self::parked_size(targets.max(WINDOW_SIZE as u64))
    }

    /// Returns the bytes of parked accumulators for a batch of `targets` targets within a window.
    pub fn parked_size(targets: u64) -> u64 {
        let short = if Self::HAS_SHORT { size_of::<Message<P>>() } else { 0 };
        targets * (size_of::<Accumulator<P>>() + short) as u64
    }

    /// Returns how many targets have room after [`Accumulators::reserve`] with the same
    /// `targets_end`.
    pub fn room_for(targets_end: usize) -> usize {
        targets_end.next_multiple_of(WINDOW_SIZE)
    }

    /// Returns how many targets have room.
    pub fn room(&self) -> usize {
        self.long.len()
    }

    /// Makes accumulators without room.
    pub fn new() -> Self {
        Accumulators { long: Vec::new(), short: Vec::new(), short_counts: Vec::new() }
    }

    /// Makes room for targets before `targets_end`, counted from the first window.
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

    /// Returns the accumulators of a window.
    pub fn window(&mut self, window: usize) -> WindowAccumulators<'_, P> {
        let (long, _) = self.long.as_chunks_mut::<WINDOW_SIZE>();
        let (short, _) = self.short.as_chunks_mut::<WINDOW_SIZE>();
        WindowAccumulators {
            long: &mut long[window],
            short: short.get_mut(window),
            short_count: &mut self.short_counts[window],
        }
    }

    /// Spills the short sums of a window if it is time, which depends only on the tiles so far.
    pub fn spill_when_due(&mut self, window: usize) {
        if self.short_counts[window] >= SPILL_INTERVAL {
            self.spill(window);
        }
    }

    /// Passes the reduction of each of these targets to `take`, with its index from the first one,
    /// and leaves identities. One pass does the work of three.
    #[inline(always)]
    pub fn drain(&mut self, targets: Range<usize>, mut take: impl FnMut(usize, Accumulator<P>)) {
        let identity = P::Reduction::IDENTITY;
        for window in targets.start / WINDOW_SIZE..targets.end.div_ceil(WINDOW_SIZE) {
            let before = window * WINDOW_SIZE;
            let first = targets.start.max(before);
            let own = first - before..targets.end.min(before + WINDOW_SIZE) - before;
            let WindowAccumulators { long, short, short_count } = self.window(window);
            let long = &mut long[own.clone()];
            // Without an edge since the last spill, the short sums are identities, and reading them
            // is spared.
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

    /// Takes the reductions of these targets and leaves identities.
    pub fn take(&mut self, targets: Range<usize>) -> Vec<Accumulator<P>> {
        let mut sums = Vec::with_capacity(targets.len());
        self.drain(targets, |_, sum| sums.push(sum));
        sums
    }

    /// Puts aside the accumulators of these targets. A small batch is copied, and the accumulators
    /// are returned as identities.
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
