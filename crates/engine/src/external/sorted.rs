//! States by dense id become states by rank, the position in the order of the original ids; and arrays on disk that
//! are written from the first value to the last.

use tegula_machine::Result;
use tegula_machine::disk::{BlockStore, Blocks, Pool, WriteBehind};
use tegula_machine::memory::huge;
use tegula_machine::threads::Cancel;
use tegula_store::VertexId;
use tegula_store::graph::Graph;

use super::states::{States, StatesOnDisk, Storage, state_blocks};
use crate::overhead::room_for_result;
use crate::program::Value;

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

    fn like<O: Value>(other: &StatesOnDisk<O>, graph: &Graph) -> Result<StatesWriter<S>> {
        let cut = other.cut();
        let size = state_blocks(&cut, size_of::<S>()).size;
        let blocks = Blocks { what: "result", count: cut.count(), size };
        let memory = BLOCKS_IN_FLIGHT * blocks.frame_size();
        let reader = &graph.reader().with_pool(Pool::new(memory));
        let writer = WriteBehind::start(reader, memory, graph.caching())?;
        let store = BlockStore::create(other.store().folder(), blocks, reader, &writer, |_| false)?;
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
