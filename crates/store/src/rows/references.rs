//! References that were unpacked for the rows before: most are copied from several times.

use tegula_machine::Result;

use super::copy::REFERENCE_EDGES_MAX;
use super::index::RowExtent;
use super::opened::Rows;
use crate::ids::VertexId;

/// References that are kept. A row copies from one of those that lie shortly before it.
const SLOTS: usize = 8;

/// The references that were met last. They are of the rows of one reader, and have to be
/// [forgotten](References::forget) before those of another.
#[derive(Debug, Default)]
pub(super) struct References {
    slots: [Slot; SLOTS],
}

#[derive(Debug, Default)]
struct Slot {
    source: Option<VertexId>,
    targets: Vec<u32>,
}

impl References {
    /// Bytes that they take at the most.
    pub const SIZE_MAX: u64 = (SLOTS * REFERENCE_EDGES_MAX * size_of::<u32>()) as u64;

    /// Keeps none of them, but their memory.
    pub fn forget(&mut self) {
        for slot in &mut self.slots {
            slot.source = None;
        }
    }

    /// The neighbours of the reference of a row, of which `bytes` are those of [`RowExtent::bytes`]; none
    /// where it has none.
    ///
    /// # Errors
    /// [`Error::Corrupt`](tegula_machine::Error::Corrupt) where the bytes are no row.
    #[inline]
    pub fn of(&mut self, rows: &Rows, extent: &RowExtent, bytes: &[u8]) -> Result<&[u32]> {
        let Some(reference) = rows.reference(extent, bytes)? else { return Ok(&[]) };
        let slot = &mut self.slots[reference.source.index() % SLOTS];
        if slot.source != Some(reference.source) {
            slot.source = None;
            slot.targets.clear();
            rows.unpack_reference(&reference, extent, bytes, &mut slot.targets)?;
            slot.source = Some(reference.source);
        }
        Ok(&slot.targets)
    }
}
