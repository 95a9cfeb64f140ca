//! Rows that were visited or unpacked shortly before, for those behind them that copy.

use std::cell::Cell;
use std::fmt;

use super::copy::{REACH_BITS, REFERENCE_EDGES_MAX};

/// Rows that are kept: what copies does it from one of those shortly before it.
const SLOTS: usize = 16;

/// Memory for the neighbours of rows that may be copied from, and for what is copied.
#[derive(Debug, Default)]
pub(super) struct References {
    slots: [Slot; SLOTS],
    room: Slot,
}

#[derive(Debug, Default)]
struct Slot {
    /// The vertex whose neighbours are here, if any.
    source: Option<u32>,
    targets: Vec<u32>,
}

impl References {
    /// Bytes that they take at the most: lists grow by doubling.
    pub const SIZE_MAX: u64 = (2 * (SLOTS + 1) * REFERENCE_EDGES_MAX * size_of::<u32>()) as u64;

    /// For the rows of one visit. None is there at first: those of before may be of another reader.
    pub fn visited(&mut self) -> Visited<'_> {
        for slot in &mut self.slots {
            slot.source = None;
        }
        let slots = Cell::from_mut(&mut self.slots[..]).as_slice_of_cells();
        Visited { slots, room: Cell::from_mut(&mut self.room) }
    }

    /// Whether a row of so many bits may be copied from.
    #[inline]
    pub fn hold(bits: u64) -> bool {
        bits <= REACH_BITS
    }
}

/// The neighbours of rows that were visited.
///
/// Whoever works with a list takes it out: a visit within a visit finds none, and unpacks its own.
#[derive(Clone, Copy)]
pub(super) struct Visited<'r> {
    slots: &'r [Cell<Slot>],
    room: &'r Cell<Slot>,
}

impl Visited<'_> {
    /// Takes out the neighbours of a vertex, and true if they are here; else an empty list.
    #[inline]
    pub fn take(self, source: u32) -> (Vec<u32>, bool) {
        let mut slot = self.slot(source).take();
        let is_here = slot.source == Some(source);
        if !is_here {
            slot.targets.clear();
        }
        (slot.targets, is_here)
    }

    /// Keeps a list: the neighbours of a vertex, if they are whole; else it is only room for others.
    #[inline]
    pub fn keep(self, source: u32, targets: Vec<u32>, is_whole: bool) {
        self.slot(source).set(Slot { source: is_whole.then_some(source), targets });
    }

    /// Room for what a row copies, to be given back.
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
