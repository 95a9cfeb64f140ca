//! Rows that were visited or unpacked shortly before, for those behind them that copy.

use std::cell::Cell;
use std::fmt;

use super::copy::{REACH_BITS, REFERENCE_EDGES_MAX};

/// Rows that are kept: what copies does it from one of those shortly before it.
const SLOTS: usize = 16;

/// The neighbours of rows that may be copied from. They are of the rows of one reader, and have to be
/// [forgotten](References::forget) before those of another are visited.
///
/// Whoever works with a list takes it out: a visit within a visit finds none, and unpacks its own.
#[derive(Debug, Default)]
pub(super) struct References {
    slots: [Slot; SLOTS],
    /// Room for what a row copies.
    copied: Slot,
}

#[derive(Default)]
struct Slot {
    /// The vertex whose neighbours are here, if any.
    source: Cell<Option<u32>>,
    targets: Cell<Vec<u32>>,
}

impl fmt::Debug for Slot {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Slot").field(&self.source.get()).finish()
    }
}

impl References {
    /// Bytes that they take at the most.
    pub const SIZE_MAX: u64 = (SLOTS * REFERENCE_EDGES_MAX * size_of::<u32>()) as u64;

    /// Keeps none of them, but their memory.
    pub fn forget(&self) {
        for slot in &self.slots {
            slot.source.set(None);
        }
    }

    /// Takes out the neighbours of a vertex, if they are here; else an empty list.
    #[inline]
    pub fn take(&self, source: u32) -> (Vec<u32>, bool) {
        let slot = self.slot(source);
        let is_here = slot.source.take() == Some(source);
        let mut targets = slot.targets.take();
        if !is_here {
            targets.clear();
        }
        (targets, is_here)
    }

    /// Keeps a list: all neighbours of a vertex, or any of which `is_whole` says that they are not all.
    #[inline]
    pub fn keep(&self, source: u32, targets: Vec<u32>, is_whole: bool) {
        let slot = self.slot(source);
        slot.source.set(is_whole.then_some(source));
        slot.targets.set(targets);
    }

    /// Room for what a row copies, to be given back.
    #[inline]
    pub fn take_room(&self) -> Vec<u32> {
        self.copied.targets.take()
    }

    /// Takes back what [`take_room`](References::take_room) gave.
    #[inline]
    pub fn give_room_back(&self, room: Vec<u32>) {
        self.copied.targets.set(room);
    }

    /// Whether a row of so many bits may be copied from.
    #[inline]
    pub fn holds(bits: u64) -> bool {
        bits <= REACH_BITS
    }

    fn slot(&self, source: u32) -> &Slot {
        &self.slots[source as usize % SLOTS]
    }
}
