//! States of edges: values of each vertex for each of its neighbours, kept on disk if memory has no
//! room.
//!
//! They are laid out like rows: the entries of a vertex are consecutive, in the order in which its
//! neighbours are seen, vertex after vertex. Whole vertices make up a *unit*, on which one worker
//! works at a time, block by block. A vertex with more entries than a block holds is a unit of
//! several blocks. So a pass reads and writes everything once, in order, and the worker of a unit
//! owns all that it changes.

use std::marker::PhantomData;
use std::ops::Range;
use std::path::Path;

use tegula_machine::disk::{BlockStore, Blocks, Pool, WriteBehind, check_room};
use tegula_store::Result;
use tegula_store::graph::Graph;
use zerocopy::{FromBytes, Immutable, IntoBytes};

use super::RowsJob;
use crate::spread::Spread;
use crate::states::folder::spill_folder;

/// Bytes of a block, unless an entry is larger.
const BLOCK_SIZE: usize = 1 << 20;
/// Most vertices of a unit.
const UNIT_VERTICES_MAX: u32 = 1 << 16;
/// Blocks read, and blocks written, at the same time per worker.
const IN_FLIGHT: u64 = 2;

/// A plain value in the states of edges and vertices.
pub trait StateValue:
    Copy + Default + FromBytes + IntoBytes + Immutable + Send + Sync + 'static
{
}

impl StateValue for u16 {}
impl StateValue for u32 {}
impl StateValue for f32 {}
impl StateValue for f64 {}

/// How the states of a graph's edges are laid out in blocks.
#[derive(Debug, Clone)]
pub struct EdgeStatesLayout<V> {
    units: Vec<Unit>,
    vertex_count: u32,
    block_count: usize,
    /// Values per entry.
    width: usize,
    /// Entries in a full block.
    block_entries: u64,
    values: PhantomData<V>,
}

/// Consecutive vertices.
#[derive(Debug, Clone, Copy)]
struct Unit {
    first_vertex: u32,
    first_block: usize,
    /// Most entries of all its vertices together.
    entries: u64,
}

impl<V: StateValue> EdgeStatesLayout<V> {
    /// Makes a layout for entries of `width` values each. A vertex has at most as many entries as
    /// edges in both directions. Streams the degrees.
    ///
    /// # Errors
    /// Read errors; a graph with more vertices than short ids.
    ///
    /// # Panics
    /// When `width` is 0.
    pub fn new(graph: &Graph, width: usize) -> Result<EdgeStatesLayout<V>> {
        let block_entries = (BLOCK_SIZE / (width * size_of::<V>())).max(1) as u64;
        let vertex_count = graph.short_vertex_count()?;
        let (mut units, mut block_count) = (Vec::new(), 0);
        let mut unit = Unit { first_vertex: 0, first_block: 0, entries: 0 };
        let mut close = |unit: &Unit| {
            units.push(*unit);
            block_count += unit.entries.div_ceil(block_entries) as usize;
            block_count
        };
        let is_directed = !graph.manifest().undirected;
        // Chunks of vertices without any edge are not shown. They belong to the unit before them.
        graph.for_each_degrees(|first, out, into| {
            for (vertex, (&out, &into)) in (first as u32..).zip(out.iter().zip(into)) {
                let entries = u64::from(out) + if is_directed { u64::from(into) } else { 0 };
                let count = vertex - unit.first_vertex;
                let is_full = unit.entries + entries > block_entries || count >= UNIT_VERTICES_MAX;
                if is_full && count > 0 {
                    let first_block = close(&unit);
                    unit = Unit { first_vertex: vertex, first_block, entries: 0 };
                }
                unit.entries += entries;
            }
            Ok(())
        })?;
        close(&unit);
        let values = PhantomData;
        Ok(EdgeStatesLayout { units, vertex_count, block_count, width, block_entries, values })
    }

    /// Returns the bytes of all states, in memory or on disk.
    pub fn total_size(&self) -> u64 {
        self.blocks().file_size()
    }

    /// Returns the least bytes of memory with which `threads` workers can stream the states.
    pub fn size_min(&self, threads: usize) -> u64 {
        let rooms = threads as u64 * (self.blocks().size as u64);
        let tables = self.units.len() * size_of::<Unit>() + self.block_count * BLOCK_OVERHEAD;
        rooms + tables as u64 + 2 * self.pool_size(threads)
    }

    fn pool_size(&self, threads: usize) -> u64 {
        (IN_FLIGHT * threads as u64 + 1) * self.blocks().frame_size()
    }

    fn blocks(&self) -> Blocks {
        let size = self.block_entries as usize * self.width * size_of::<V>();
        Blocks { what: "edge-states", count: self.block_count, size }
    }

    /// Returns the vertices of a unit.
    fn vertices(&self, unit: usize) -> Range<u32> {
        let end = self.units.get(unit + 1).map_or(self.vertex_count, |next| next.first_vertex);
        self.units[unit].first_vertex..end
    }

    /// Returns the number of values in a block of a unit.
    fn values_in(&self, unit: Unit, block: usize) -> usize {
        let before = (block - unit.first_block) as u64 * self.block_entries;
        unit.entries.saturating_sub(before).min(self.block_entries) as usize * self.width
    }
}

/// Bytes of memory per block, wherever it lies: its checksum and its entry in tables.
const BLOCK_OVERHEAD: usize = 64;

/// The states of all edges. See the [module](self). Each instance has its own file and its own
/// memory for reads and writes. So none waits for another, and each counts
/// [`size_min`](EdgeStatesLayout::size_min).
pub struct EdgeStates<V> {
    layout: EdgeStatesLayout<V>,
    store: BlockStore,
    writer: WriteBehind,
    threads: usize,
}

impl<V: StateValue> EdgeStates<V> {
    /// Makes states of zeroes. As many as fit in `memory` bytes, which are at least
    /// [`size_min`](EdgeStatesLayout::size_min), stay in memory. The rest lies in `folder`, or
    /// beside the graph.
    ///
    /// # Errors
    /// [`Error::Io`](tegula_machine::Error::Io) if the file cannot be created or the disk has no
    /// room for it.
    pub fn zeroes(
        layout: EdgeStatesLayout<V>,
        graph: &Graph,
        memory: u64,
        threads: usize,
        folder: Option<&Path>,
    ) -> Result<EdgeStates<V>> {
        let blocks = layout.blocks();
        let free = memory.saturating_sub(layout.size_min(threads));
        let held = (free / blocks.size as u64).min(blocks.count as u64) as usize;
        let folder = spill_folder(graph, folder)?;
        // If all blocks stay in memory, nothing is written to the file.
        if held < blocks.count {
            check_room(&folder, blocks.file_size())?;
        }
        let pool_size = layout.pool_size(threads);
        let reader = graph.reader().with_pool(Pool::new(pool_size));
        let writer = WriteBehind::start(&reader, pool_size, graph.caching());
        let spread = Spread::over(blocks.count);
        let is_held = |block: usize| spread.is_among_first(held, block);
        let store = BlockStore::create(&folder, blocks, &reader, &writer, &is_held)?;
        // On disk, a block that was never written cannot be read.
        let zeroes = vec![V::default(); blocks.size / size_of::<V>()];
        for &unit in &layout.units {
            let count = unit.entries.div_ceil(layout.block_entries) as usize;
            for block in unit.first_block..unit.first_block + count {
                store.write(block, &[zeroes[..layout.values_in(unit, block)].as_bytes()])?;
            }
        }
        Ok(EdgeStates { layout, store, writer, threads })
    }

    /// Yields the vertices of each unit.
    pub fn units(&self) -> impl Iterator<Item = Range<u32>> {
        (0..self.layout.units.len()).map(|unit| self.layout.vertices(unit))
    }

    /// Calls `visit` with the number of each [unit](EdgeStates::units) and the states of its edges.
    /// Any worker may take any unit.
    ///
    /// # Errors
    /// The first failure; cancellation; a panic.
    pub fn for_each_unit(
        &self,
        job: &RowsJob<'_>,
        visit: impl Fn(usize, &mut UnitStates<'_, V>) -> Result<()> + Sync,
    ) -> Result<()> {
        job.for_each(self.layout.units.len(), |index| {
            let unit = self.layout.units[index];
            let (vertices, block) = (self.layout.vertices(index), unit.first_block);
            let mut states =
                UnitStates { all: self, unit, vertices, block, values: Vec::new(), at: 0 };
            visit(index, &mut states)?;
            states.write()
        })
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

/// The states of the entries of a unit, visited in order; the visitor may change them.
pub struct UnitStates<'s, V> {
    all: &'s EdgeStates<V>,
    unit: Unit,
    vertices: Range<u32>,
    /// The block of `values`, or the first block while there are none.
    block: usize,
    values: Vec<V>,
    /// Where the next entry begins.
    at: usize,
}

impl<V: StateValue> UnitStates<'_, V> {
    /// Returns the vertices of the unit.
    pub fn vertices(&self) -> Range<u32> {
        self.vertices.clone()
    }

    /// Returns the values of the next entry.
    ///
    /// # Panics
    /// When the vertices have fewer edges than entries were asked for.
    #[inline]
    pub fn next_entry(&mut self) -> Result<&mut [V]> {
        self.next_entries(1)
    }

    /// Returns the values of the next entries: `count` of them, or as many as the block still has,
    /// at least one.
    ///
    /// # Panics
    /// When the vertices have fewer edges than entries were asked for.
    #[inline]
    pub fn next_entries(&mut self, count: usize) -> Result<&mut [V]> {
        if self.at == self.values.len() {
            self.turn()?;
        }
        let start = self.at;
        self.at = (start + count * self.all.layout.width).min(self.values.len());
        assert!(start < self.at, "more entries than edges");
        Ok(&mut self.values[start..self.at])
    }

    /// Writes the block and reads the next one.
    #[cold]
    fn turn(&mut self) -> Result<()> {
        if !self.values.is_empty() {
            self.write()?;
            self.block += 1;
        }
        let EdgeStates { layout, store, threads, .. } = self.all;
        self.values.resize(layout.values_in(self.unit, self.block), V::default());
        store.read(self.block, &mut [self.values.as_mut_bytes()])?;
        self.at = 0;
        // The block that a worker will probably take next: most units have one block.
        let ahead = self.block + threads;
        let unit = layout.units.partition_point(|unit| unit.first_block <= ahead);
        if ahead < layout.block_count
            && let Some(&unit) = layout.units.get(unit - 1)
        {
            store.read_ahead(ahead, layout.values_in(unit, ahead) * size_of::<V>());
        }
        Ok(())
    }

    fn write(&mut self) -> Result<()> {
        // A visitor that asked for no entry has brought no block here.
        if self.values.is_empty() {
            return Ok(());
        }
        Ok(self.all.store.write(self.block, &[self.values.as_bytes()])?)
    }
}
