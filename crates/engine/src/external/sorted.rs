//! States by dense id become states by rank, the position in the order of the original ids; and arrays on disk that
//! are written from the first value to the last.

use tegula_machine::Result;
use tegula_machine::disk::{BlockStore, Blocks, Directory, Pool, WriteBehind};
use tegula_machine::memory::huge;
use tegula_machine::threads::Cancel;
use tegula_store::VertexId;
use tegula_store::graph::Graph;

use super::cut::Cut;
use super::folder::spill_folder;
use super::states::{States, StatesOnDisk, Storage, state_blocks};
use crate::options::RunOptions;
use crate::overhead::room_for_result;
use crate::program::Value;

/// Values that are collected before they are written.
const CHUNK: usize = 1 << 12;

/// Blocks on their way at a time.
const BLOCKS_IN_FLIGHT: u64 = 3;

impl<S: Value> States<S> {
    /// States that lie on disk by rank, where that is another order; those in memory stay by dense id.
    ///
    /// Takes as many ranks at a time as [there is room for](room_for_result), and reads all states for each such
    /// range: `ceil(vertices * (16 + bytes of a state) / memory)` times in all.
    ///
    /// # Errors
    /// Those of reading and writing; [`OverBudget`](tegula_machine::Error::OverBudget) where not even a block has
    /// room; cancellation.
    pub fn into_rank_order(self, graph: &Graph, cancel: &Cancel) -> Result<States<S>> {
        let ids = graph.original_ids()?;
        let Storage::Disk(from) = self.0 else { return Ok(self) };
        if ids.are_dense() {
            return Ok(States(Storage::Disk(from)));
        }
        let pool = graph.reader().pool();
        let sorting = size_of::<S>() + size_of::<(VertexId, u32)>();
        let block = from.cut().size_max();
        let room = room_for_result(graph).saturating_sub(from.store().held_bytes());
        let at_once = (room as usize / sorting / block).max(1) * block;
        // Places among them have 32 bits.
        let at_once = at_once.min(from.cut().count() * block).min(PLACES_MAX / block * block);
        let _lease = pool.lease("sorting the result", (at_once * sorting) as u64)?;
        let into = StatesWriter::like(&from, graph)?;
        let mut sorter = Sorter { into, from: *from, wanted: Vec::new() };
        sorter.wanted.reserve_exact(at_once);
        ids.for_each_rank(|_, mut vertices| {
            cancel.check()?;
            while !vertices.is_empty() {
                let room = at_once - sorter.wanted.len();
                let (these, rest) = vertices.split_at(room.min(vertices.len()));
                let first = sorter.wanted.len() as u32;
                sorter.wanted.extend(these.iter().copied().zip(first..));
                if sorter.wanted.len() == at_once {
                    sorter.write(cancel)?;
                }
                vertices = rest;
            }
            Ok::<(), tegula_machine::Error>(())
        })?;
        sorter.write(cancel)?;
        sorter.into.finish()
    }
}

/// The most values that are brought in order at once.
const PLACES_MAX: usize = 1 << 32;

/// Writes an array with a value for each vertex to disk, from the first to the last.
pub struct StatesWriter<S> {
    into: StatesOnDisk<S>,
    /// Values that do not fill a block yet.
    block: Vec<S>,
    blocks: usize,
}

impl<S: Value> StatesWriter<S> {
    /// An array beside one of as many values that lies on disk; none where that lies in memory.
    ///
    /// # Errors
    /// Those of making a file.
    pub fn beside<O: Value>(other: &States<O>, graph: &Graph) -> Result<Option<StatesWriter<S>>> {
        match &other.0 {
            Storage::Memory(_) => Ok(None),
            Storage::Disk(other) => StatesWriter::like(other, graph).map(Some),
        }
    }

    /// An array on the disk that a run with these options would have its arrays on: [`size`](StatesWriter::size) bytes
    /// of memory.
    ///
    /// # Errors
    /// Those of making a file.
    pub fn for_run(graph: &Graph, options: &RunOptions<'_>) -> Result<StatesWriter<S>> {
        StatesWriter::within(&spill_folder(graph, options.spill_directory)?, graph)
    }

    /// Bytes of memory of a writer, and of the array that it makes while that is read.
    pub fn size(graph: &Graph) -> u64 {
        2 * Self::memory(&Self::blocks(graph))
            + Cut::of(graph).size_max() as u64 * size_of::<S>() as u64
    }

    fn like<O: Value>(other: &StatesOnDisk<O>, graph: &Graph) -> Result<StatesWriter<S>> {
        StatesWriter::within(other.store().folder(), graph)
    }

    fn blocks(graph: &Graph) -> Blocks {
        Blocks { what: "result", ..state_blocks(&Cut::of(graph), size_of::<S>()) }
    }

    /// Bytes of blocks on their way, in either direction.
    fn memory(blocks: &Blocks) -> u64 {
        BLOCKS_IN_FLIGHT * blocks.frame_size()
    }

    fn within(folder: &Directory, graph: &Graph) -> Result<StatesWriter<S>> {
        let (cut, blocks) = (Cut::of(graph), Self::blocks(graph));
        let memory = Self::memory(&blocks);
        let reader = &graph.reader().with_pool(Pool::new(memory));
        let writer = WriteBehind::start(reader, memory, graph.caching());
        let store = BlockStore::create(folder, blocks, reader, &writer, |_| false)?;
        Ok(StatesWriter { into: StatesOnDisk::new(store, cut), block: Vec::new(), blocks: 0 })
    }

    /// Writes the next values.
    ///
    /// # Errors
    /// Those of writing.
    pub fn write(&mut self, mut values: &[S]) -> Result<()> {
        while !values.is_empty() {
            let wanted = self.into.cut().vertices(self.blocks).len() - self.block.len();
            let (these, rest) = values.split_at(wanted.min(values.len()));
            self.block.extend_from_slice(these);
            if these.len() == wanted {
                let nobody = vec![0; self.block.len().div_ceil(64)];
                self.into.write(self.blocks, &self.block, &nobody)?;
                self.block.clear();
                self.blocks += 1;
            }
            values = rest;
        }
        Ok(())
    }

    /// Writes the next values, as they come.
    ///
    /// # Errors
    /// Those of writing.
    pub fn write_each(&mut self, values: impl Iterator<Item = S>) -> Result<()> {
        let mut chunk = Vec::with_capacity(CHUNK);
        let mut values = values.peekable();
        while values.peek().is_some() {
            chunk.clear();
            chunk.extend(values.by_ref().take(CHUNK));
            self.write(&chunk)?;
        }
        Ok(())
    }

    /// The array, when all was written.
    ///
    /// # Errors
    /// Those of writing.
    pub fn finish(self) -> Result<States<S>> {
        self.into.store().finish_writing()?;
        Ok(self.into.into())
    }
}

/// Brings states into another order, a range of that at a time.
struct Sorter<S> {
    from: StatesOnDisk<S>,
    into: StatesWriter<S>,
    /// The vertices of the range, and their places in it.
    wanted: Vec<(VertexId, u32)>,
}

impl<S: Value> Sorter<S> {
    /// Writes the states of the vertices that are wanted.
    fn write(&mut self, cancel: &Cancel) -> Result<()> {
        self.wanted.sort_unstable();
        let mut sorted: Vec<S> = huge::zeroes(self.wanted.len());
        let mut wanted = &self.wanted[..];
        let cut = self.from.cut();
        while let Some(&(vertex, _)) = wanted.first() {
            cancel.check()?;
            let block = cut.blocks(&(vertex.index()..vertex.index() + 1)).start;
            let vertices = cut.vertices(block);
            let states = self.from.read(block)?;
            let here = wanted.partition_point(|&(vertex, _)| vertex.index() < vertices.end);
            for &(vertex, place) in &wanted[..here] {
                sorted[place as usize] = states[vertex.index() - vertices.start];
            }
            wanted = &wanted[here..];
        }
        self.into.write(&sorted)?;
        self.wanted.clear();
        Ok(())
    }
}
