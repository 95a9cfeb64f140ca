//! States of vertices: the same number of values for each, kept on disk. Passes write and read them
//! in order.
//!
//! Consecutive vertices make up a *unit*, which is written and read as a whole.

use std::ops::Range;
use std::path::Path;

use tegula_machine::disk::{BlockStore, Blocks, Pool, WriteBehind, check_room};
use tegula_store::Result;
use tegula_store::graph::Graph;
use zerocopy::IntoBytes;

use super::StateValue;
use crate::states::folder::spill_folder;

/// Bytes of a unit, unless one vertex has more.
const UNIT_SIZE: usize = 1 << 20;
/// Units read, and units written, at the same time per worker.
const IN_FLIGHT: u64 = 2;
/// Bytes of memory per unit, wherever it lies: its checksum and its entry in tables.
const UNIT_OVERHEAD: u64 = 64;

/// The layout of the states of vertices in units.
#[derive(Debug, Clone, Copy)]
pub struct VertexStatesLayout {
    vertex_count: u32,
    /// Bytes per vertex.
    size: usize,
    /// Vertices of a unit; the last one may have fewer.
    unit_len: u32,
}

impl VertexStatesLayout {
    /// Makes a layout for `width` values per vertex.
    ///
    /// # Panics
    /// When `width` is 0.
    pub fn new<V: StateValue>(vertex_count: u32, width: usize) -> VertexStatesLayout {
        let size = width * size_of::<V>();
        let unit_len = (UNIT_SIZE / size).max(1) as u32;
        VertexStatesLayout { vertex_count, size, unit_len }
    }

    /// Returns the vertices of a unit; the last one may have fewer.
    pub fn unit_len(self) -> u32 {
        self.unit_len
    }

    /// Returns the number of units.
    pub fn unit_count(self) -> usize {
        self.vertex_count.div_ceil(self.unit_len) as usize
    }

    /// Returns the vertices of a unit.
    pub fn vertices(self, unit: usize) -> Range<u32> {
        let first = unit as u32 * self.unit_len;
        first..first.saturating_add(self.unit_len).min(self.vertex_count)
    }

    /// Returns the bytes of the states of a unit.
    pub fn unit_size(self) -> u64 {
        self.blocks().size as u64
    }

    /// Returns the bytes of memory while `threads` workers stream the states, without the unit that
    /// each works on.
    pub fn size_in_memory(self, threads: usize) -> u64 {
        UNIT_OVERHEAD * self.unit_count() as u64 + 2 * self.pool_size(threads)
    }

    fn pool_size(self, threads: usize) -> u64 {
        (IN_FLIGHT * threads as u64 + 1) * self.blocks().frame_size()
    }

    fn blocks(self) -> Blocks {
        let size = self.unit_len as usize * self.size;
        Blocks { what: "vertex-states", count: self.unit_count(), size }
    }
}

/// The states of all vertices. See the [module](self).
pub struct VertexStates {
    layout: VertexStatesLayout,
    store: BlockStore,
    writer: WriteBehind,
    threads: usize,
}

impl VertexStates {
    /// Makes states without values, in `folder` or beside the graph.
    ///
    /// # Errors
    /// [`Error::Io`](tegula_machine::Error::Io) if the file cannot be created or the disk has no
    /// room for it.
    pub fn create(
        layout: VertexStatesLayout,
        graph: &Graph,
        threads: usize,
        folder: Option<&Path>,
    ) -> Result<VertexStates> {
        let blocks = layout.blocks();
        let folder = spill_folder(graph, folder)?;
        check_room(&folder, blocks.file_size())?;
        let pool_size = layout.pool_size(threads);
        let reader = graph.reader().with_pool(Pool::new(pool_size));
        let writer = WriteBehind::start(&reader, pool_size, graph.caching());
        let store = BlockStore::create(&folder, blocks, &reader, &writer, &|_| false)?;
        Ok(VertexStates { layout, store, writer, threads })
    }

    /// Writes the states of a unit.
    ///
    /// # Panics
    /// When there is no such unit, or it has no room for the states.
    pub fn write<V: StateValue>(&self, unit: usize, states: &[V]) -> Result<()> {
        Ok(self.store.write(unit, &[states.as_bytes()])?)
    }

    /// Reads the states of a unit, which must have been written, and requests the unit that another
    /// worker may want next.
    ///
    /// # Errors
    /// Failed reads, and failed writes before.
    ///
    /// # Panics
    /// As [`write`](VertexStates::write).
    pub fn read<V: StateValue>(&self, unit: usize, states: &mut [V]) -> Result<()> {
        self.store.read(unit, &mut [states.as_mut_bytes()])?;
        let ahead = unit + self.threads;
        if ahead < self.layout.unit_count() {
            let len = self.layout.vertices(ahead).len() * self.layout.size;
            self.store.read_ahead(ahead, len);
        }
        Ok(())
    }

    /// Waits until all writes are on disk, and frees their memory.
    pub fn finish_writing(&self) -> Result<()> {
        Ok(self.store.finish_writing()?)
    }

    /// Returns the bytes read from disk.
    pub fn bytes_read(&self) -> u64 {
        self.store.bytes_read()
    }

    /// Returns the bytes written to disk.
    pub fn bytes_written(&self) -> u64 {
        self.writer.bytes_written()
    }
}
