//! Reading the lists of sources.

use std::sync::atomic::AtomicU64;

use tegula_machine::disk::{Frame, Pending, crc32c};

use super::cells::CellEntry;
use super::file_names;
use super::opened::Graph;
use crate::tiles::{LISTED_AT_ONCE, SourceSet, add_listed};
use crate::{Error, Result};

/// The list of a cell's sources, in flight.
#[must_use = "it is to be waited for"]
pub struct ListedSources<'g> {
    graph: &'g Graph,
    cell: &'g CellEntry,
    bytes: Pending,
}

impl Graph {
    /// Begins to read the list of a cell's sources; `None` if they are not listed. Does not wait,
    /// not even for memory. Takes [`CellEntry::sources_size`] bytes, and
    /// [`ListedSources::USE_SIZE`] more while the list is used.
    pub fn read_sources<'g>(&'g self, cell: &'g CellEntry) -> Option<ListedSources<'g>> {
        let file = self.sources_file().filter(|_| cell.is_listed())?;
        let bytes = self.reader().read(file, cell.sources_offset, cell.sources_size as usize);
        Some(ListedSources { graph: self, cell, bytes })
    }

    /// Checks a cell's list against its sources. The graph must have lists.
    pub(crate) fn verify_sources(&self, cell: &CellEntry, sources: &SourceSet) -> Result<()> {
        let count = sources.len();
        if count != cell.source_count {
            let detail =
                format!("the table says {}, the tiles of the cell have {count}", cell.source_count);
            return Err(self.damaged_sources(cell, detail));
        }
        let Some(list) = self.read_sources(cell) else { return Ok(()) };
        let bytes = list.wait()?;
        let size = self.grid().source_count(cell.cell.segment, self.vertex_count());
        match sources.is_list(&bytes, count, size) {
            Ok(true) => Ok(()),
            Ok(false) => {
                let detail = "the list differs from the sources in the tiles of the cell";
                Err(self.damaged_sources(cell, detail.into()))
            }
            Err(detail) => Err(self.damaged_sources(cell, detail)),
        }
    }

    fn damaged_sources(&self, CellEntry { cell, .. }: &CellEntry, detail: String) -> Error {
        let part = format!("the sources of column {}, segment {}", cell.column, cell.segment);
        Error::corrupt(self.directory().join(file_names::SOURCES), part, detail)
    }
}

impl ListedSources<'_> {
    /// Bytes to use a list, beside its own.
    pub const USE_SIZE: u64 = (LISTED_AT_ONCE * size_of::<u32>()) as u64;

    /// Bytes of the list.
    pub fn size(&self) -> u64 {
        self.cell.sources_size.into()
    }

    /// Sets the bits of the sources, counted from the first of their segment. Other threads may set
    /// bits at the same time.
    ///
    /// # Panics
    /// When there are fewer bits than the segment has sources.
    pub fn add_to(self, bits: &[AtomicU64]) -> Result<()> {
        let (graph, cell) = (self.graph, self.cell);
        let bytes = self.wait()?;
        let sources = graph.grid().source_count(cell.cell.segment, graph.vertex_count());
        add_listed(&bytes, cell.source_count, sources, bits)
            .map_err(|detail| graph.damaged_sources(cell, detail))
    }

    /// Waits for the bytes and checks them.
    fn wait(self) -> Result<Frame> {
        let bytes = self.bytes.wait()?;
        if crc32c(&bytes) == self.cell.sources_checksum {
            return Ok(bytes);
        }
        Err(self.graph.damaged_sources(self.cell, "their checksum differs".into()))
    }
}
