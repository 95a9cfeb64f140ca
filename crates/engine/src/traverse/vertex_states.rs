//! States of vertices: as many values for each, kept on disk, which passes write and read in order.
//!
//! Vertices that follow each other make up a *unit*, which is written and read as a whole.

use std::ops::Range;
use std::path::Path;

use tegula_machine::Result;
use tegula_machine::disk::{BlockStore, Blocks, Pool, WriteBehind, check_room};
use tegula_store::graph::Graph;
use zerocopy::IntoBytes;

use super::StateValue;
use crate::external::spill_folder;

/// Bytes of a unit, unless the values of a vertex are more.
const UNIT_SIZE: usize = 1 << 20;
/// Units that are read, and written, at the same time, for each worker.
const IN_FLIGHT: u64 = 2;
/// Bytes that a unit takes of memory wherever it lies: its checksum, and what is known of it.
const UNIT_OVERHEAD: u64 = 64;

/// How the states of vertices lie in units.
#[derive(Debug, Clone, Copy)]
pub struct VertexStatesLayout {
    vertex_count: u32,
    /// Bytes that a vertex has.
    size: usize,
    /// Vertices of a unit but the last.
    unit_len: u32,
}

impl VertexStatesLayout {
    /// For `width` values of a vertex.
    ///
    /// # Panics
    /// When there are none.
    pub fn new<V: StateValue>(vertex_count: u32, width: usize) -> VertexStatesLayout {
        let size = width * size_of::<V>();
        let unit_len = (UNIT_SIZE / size).max(1) as u32;
        VertexStatesLayout { vertex_count, size, unit_len }
    }

    /// Vertices of a unit, of which the last one may have fewer.
    pub fn unit_len(self) -> u32 {
        self.unit_len
    }

    /// How many units there are.
    pub fn unit_count(self) -> usize {
        self.vertex_count.div_ceil(self.unit_len) as usize
    }

    /// The vertices of a unit.
    pub fn vertices(self, unit: usize) -> Range<u32> {
        let first = unit as u32 * self.unit_len;
        first..first.saturating_add(self.unit_len).min(self.vertex_count)
    }

    /// Bytes of the states of a unit.
    pub fn unit_size(self) -> u64 {
        self.blocks().size as u64
    }

    /// Bytes of memory that they take while `threads` workers stream them, but for the unit that each has at hand.
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
    /// None yet, on the disk of `folder`, or beside the graph.
    ///
    /// # Errors
    /// [`Error::Io`](tegula_machine::Error::Io) where the file cannot be made, or the disk has no room for it.
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
        let store = BlockStore::create(&folder, blocks, &reader, &writer, |_| false)?;
        Ok(VertexStates { layout, store, writer, threads })
    }

    /// Writes the states of a unit.
    ///
    /// # Errors
    /// Those of writing.
    ///
    /// # Panics
    /// When there is no such unit, or it has no room for them.
    pub fn write<V: StateValue>(&self, unit: usize, states: &[V]) -> Result<()> {
        self.store.write(unit, &[states.as_bytes()])
    }

    /// Reads the states of a unit, which was written, and asks for that which another worker may want next.
    ///
    /// # Errors
    /// Those of reading, and of writing before.
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

    /// Waits until all that was written is on disk, and gives back the memory of it.
    ///
    /// # Errors
    /// Those of writing.
    pub fn finish_writing(&self) -> Result<()> {
        self.store.finish_writing()
    }

    /// Bytes that were read from disk.
    pub fn bytes_read(&self) -> u64 {
        self.store.bytes_read()
    }

    /// Bytes that were written to disk.
    pub fn bytes_written(&self) -> u64 {
        self.writer.bytes_written()
    }
}
