//! The neighbours of rows visited shortly before, for the rows behind them that copy.

use std::cell::Cell;
use std::fmt;

use super::copy::{REACH_BITS, REFERENCE_EDGES_MAX};

/// Rows that are kept. A row copies only from one shortly before it.
const SLOTS: usize = 16;

/// Lists for the neighbours of rows that others may copy from, and for copied neighbours.
#[derive(Debug, Default)]
pub(super) struct References {
    slots: [Slot; SLOTS],
    room: Slot,
}

#[derive(Debug, Default)]
struct Slot {
    /// The vertex whose neighbours these are, if any.
    source: Option<u32>,
    targets: Vec<u32>,
}

impl References {
    /// Upper bound of their bytes; lists grow by doubling.
    pub const SIZE_MAX: u64 = (2 * (SLOTS + 1) * REFERENCE_EDGES_MAX * size_of::<u32>()) as u64;

    /// Begins a visit of rows. Forgets all neighbours, since they may come from another reader.
    pub fn visited(&mut self) -> Visited<'_> {
        for slot in &mut self.slots {
            slot.source = None;
        }
        let slots = Cell::from_mut(&mut self.slots[..]).as_slice_of_cells();
        Visited { slots, room: Cell::from_mut(&mut self.room) }
    }

    /// Whether other rows may copy from a row of `bits` bits.
    #[inline]
    pub fn hold(bits: u64) -> bool {
        bits <= REACH_BITS
    }
}

/// The neighbours of the rows visited so far.
///
/// A user of a list takes it out. A visit within a visit therefore finds none and unpacks its own.
#[derive(Clone, Copy)]
pub(super) struct Visited<'r> {
    slots: &'r [Cell<Slot>],
    room: &'r Cell<Slot>,
}

impl Visited<'_> {
    /// Takes out the neighbours of a vertex, with `true` if they are present; else an empty list.
    #[inline]
    pub fn take(self, source: u32) -> (Vec<u32>, bool) {
        let mut slot = self.slot(source).take();
        let is_here = slot.source == Some(source);
        if !is_here {
            slot.targets.clear();
        }
        (slot.targets, is_here)
    }

    /// Puts back the neighbours of a vertex if they are whole; else only the memory of the list.
    #[inline]
    pub fn keep(self, source: u32, targets: Vec<u32>, is_whole: bool) {
        self.slot(source).set(Slot { source: is_whole.then_some(source), targets });
    }

    /// Takes out a list for what a row copies.
    #[inline]
    pub fn take_room(self) -> Vec<u32> {
        self.room.take().targets
    }

    /// Takes back what [`take_room`](Visited::take_room) gave.
    #[inline]
    pub fn give_room_back(self, targets: Vec<u32>) {
        self.room.set(Slot { source: None, targets });
    }

    fn slot(&self, source: u32) -> &Cell<Slot> {
        &self.slots[source as usize % SLOTS]
    }
}

impl fmt::Debug for Visited<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Visited").finish_non_exhaustive()
    }
}
