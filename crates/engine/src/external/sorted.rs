//! Orders states by id position, the position in the order of the original ids. Also looks up other
//! values for all vertices, and writes arrays to disk from the first value to the last.

use std::marker::PhantomData;
use std::ops::Range;

use tegula_machine::disk::{BlockStore, Blocks, Directory, Pool, WriteBehind};
use tegula_machine::threads::Cancel;
use tegula_store::Result;
use tegula_store::graph::{Graph, OriginalIds};
use tegula_store::tiles::VertexNumber;

use super::look_up::{
    self, FirstPlaces, Loaded, LookUpRequest, Numbers, SortingPlace, for_each_chunk_of, look_up,
};
use crate::memory::look_up_plan;
use crate::options::RunOptions;
use crate::program::Value;
use crate::states::cut::Cut;
use crate::states::folder::spill_folder;
use crate::states::{States, StatesOnDisk, Storage, state_blocks};

/// Values collected before they are written.
const CHUNK: usize = 1 << 12;

/// Blocks in flight at a time.
const BLOCKS_IN_FLIGHT: u64 = 3;

/// States, in the order in which a table needs the fewest reads.
pub enum OrderedStates<S> {
    /// In memory, by dense id.
    ByDenseId(Vec<S>),
    /// On disk, by id position.
    ByIdPosition(StatesByIdPosition<S>),
}

/// States on disk by id position, the order of the rows of tables.
pub struct StatesByIdPosition<S>(Box<StatesOnDisk<S>>);

impl<S: Value> States<S> {
    /// Orders states on disk by id position. States in memory stay ordered by dense id.
    ///
    /// Reads all states once. If they do not fit in memory, it also writes each state with a number
    /// of 4 bytes, and reads both again.
    ///
    /// # Errors
    /// Failed reads and writes; [`OverBudget`](tegula_machine::Error::OverBudget) if memory has no
    /// room for two blocks; cancellation.
    pub fn into_id_order(self, graph: &Graph, cancel: &Cancel) -> Result<OrderedStates<S>> {
        let from = match self.0 {
            Storage::Memory(states) => return Ok(OrderedStates::ByDenseId(states)),
            Storage::Disk(from) => from,
        };
        let ids = graph.original_ids()?;
        if ids.are_dense() {
            // Then dense ids and id positions are the same.
            return Ok(OrderedStates::ByIdPosition(StatesByIdPosition(from)));
        }
        let numbers = IdOrder { ids, count: from.cut().vertex_count() };
        let load = Loaded(|vertices| from.read_range(vertices));
        Ok(OrderedStates::ByIdPosition(from.look_up(graph, &numbers, load, cancel)?))
    }
}

impl<S: Value> StatesByIdPosition<S> {
    /// Returns the number of states.
    #[expect(clippy::len_without_is_empty, reason = "one for each vertex")]
    pub fn len(&self) -> usize {
        self.0.cut().vertex_count()
    }

    /// Reads the states of a range of id positions.
    ///
    /// # Panics
    /// When there are no such id positions.
    pub fn read(&self, id_positions: Range<usize>) -> Result<Vec<S>> {
        self.0.read_range(id_positions)
    }

    /// Calls `visit` with chunks of states, in order.
    pub fn for_each_chunk<E: From<tegula_store::Error>>(
        &self,
        mut visit: impl FnMut(&[S]) -> Result<(), E>,
    ) -> Result<(), E> {
        (0..self.0.cut().count()).try_for_each(|block| visit(&self.0.read(block)?))
    }

    /// Returns what `become_of` makes of each state, as an array of its own.
    pub fn map(
        &self,
        graph: &Graph,
        cancel: &Cancel,
        become_of: impl Fn(S) -> S,
    ) -> Result<StatesByIdPosition<S>> {
        let mut writer = StatesWriter::like(&self.0, graph)?;
        self.for_each_chunk(|states| {
            cancel.check()?;
            writer.write_each(states.iter().copied().map(&become_of))
        })?;
        writer.finish_by_id_position()
    }

    /// Returns, for each state, the value whose number the state names, or zeroes if it names none.
    /// `load` reads values by a range of numbers.
    ///
    /// # Errors
    /// Failed reads and writes; errors of `load`; [`OverBudget`](tegula_machine::Error::OverBudget)
    /// if memory has no room for two blocks; cancellation.
    pub fn look_up<V: Value>(
        &self,
        graph: &Graph,
        number_of: impl Fn(&S) -> Option<u64>,
        load: impl FnMut(Range<usize>) -> Result<Vec<V>>,
        cancel: &Cancel,
    ) -> Result<StatesByIdPosition<V>> {
        let number_of = |state: &S| number_of(state).unwrap_or(LookUpRequest::NOTHING);
        let numbers = StateNumbers { states: &self.0, number_of };
        self.0.look_up(graph, &numbers, Loaded(load), cancel)
    }

    /// Returns the bytes that move when a value of type `V` is
    /// [looked up](StatesByIdPosition::look_up) for each state: values, states and sorted entries,
    /// read or written.
    pub fn look_up_bytes<V: Value>(&self, graph: &Graph) -> u64 {
        let plan = look_up_plan(graph, size_of::<V>(), 0);
        let passes = 1 + plan.levels().min(1);
        let states = passes * (self.len() * size_of::<S>()) as u64;
        states + plan.bytes_moved(self.len(), size_of::<u32>())
    }
}

impl<N: VertexNumber + Value> StatesByIdPosition<N> {
    /// Returns, for each number, the first id position at which it stands.
    pub fn first_places(&self, graph: &Graph, cancel: &Cancel) -> Result<StatesByIdPosition<N>> {
        let numbers = StateNumbers { states: &self.0, number_of: |&number: &N| number.into() };
        self.0.look_up(graph, &numbers, FirstPlaces::<N>(PhantomData), cancel)
    }
}

impl<S: Value> StatesOnDisk<S> {
    /// Looks up a value for each vertex, among one value per vertex.
    fn look_up<V: look_up::Values>(
        &self,
        graph: &Graph,
        numbers: &dyn Numbers,
        values: V,
        cancel: &Cancel,
    ) -> Result<StatesByIdPosition<V::Value>> {
        let plan = look_up_plan(graph, size_of::<V::Value>(), self.store().held_bytes());
        let mut writer = StatesWriter::like(self, graph)?;
        let (reader, caching) = (graph.reader(), graph.caching());
        let place = SortingPlace { folder: self.store().folder(), reader, caching };
        look_up(plan, numbers, values, place, cancel, &mut |found| writer.write(found))?;
        writer.finish_by_id_position()
    }
}

/// The dense ids by id position.
struct IdOrder {
    ids: OriginalIds,
    count: usize,
}

impl Numbers for IdOrder {
    fn len(&self) -> usize {
        self.count
    }

    fn for_each_chunk(&self, visit: &mut dyn FnMut(&[LookUpRequest]) -> Result<()>) -> Result<()> {
        self.ids.for_each_id_position(|first, vertices| {
            for_each_chunk_of(first as usize, vertices, |vertex| vertex.0, visit)
        })
    }
}

/// The numbers that states name.
struct StateNumbers<'s, S, F> {
    states: &'s StatesOnDisk<S>,
    number_of: F,
}

impl<S: Value, F: Fn(&S) -> u64> Numbers for StateNumbers<'_, S, F> {
    fn len(&self) -> usize {
        self.states.cut().vertex_count()
    }

    fn for_each_chunk(&self, visit: &mut dyn FnMut(&[LookUpRequest]) -> Result<()>) -> Result<()> {
        let cut = self.states.cut();
        (0..cut.count()).try_for_each(|block| {
            let states = self.states.read(block)?;
            for_each_chunk_of(cut.vertices(block).start, &states, &self.number_of, visit)
        })
    }
}

/// Writes an array with one value per vertex to disk, from the first to the last.
pub struct StatesWriter<S> {
    into: StatesOnDisk<S>,
    /// Values that do not fill a block yet.
    block: Vec<S>,
    blocks: usize,
}

impl<S: Value> StatesWriter<S> {
    /// Begins an array on the disk of another array of the same length; `None` if that one lies in
    /// memory.
    pub fn next_to<O: Value>(other: &States<O>, graph: &Graph) -> Result<Option<StatesWriter<S>>> {
        match &other.0 {
            Storage::Memory(_) => Ok(None),
            Storage::Disk(other) => StatesWriter::like(other, graph).map(Some),
        }
    }

    /// Begins an array on the disk for the arrays of a run with these options. It takes
    /// [`size`](StatesWriter::size) bytes of memory.
    pub fn for_run(graph: &Graph, options: &RunOptions<'_>) -> Result<StatesWriter<S>> {
        StatesWriter::in_folder(&spill_folder(graph, options.spill_directory)?, graph)
    }

    /// Returns the bytes of memory of a writer, and of its array while that is read.
    pub fn size(graph: &Graph) -> u64 {
        2 * Self::memory(&Self::blocks(graph))
            + Cut::of(graph).size_max() as u64 * size_of::<S>() as u64
    }

    fn like<O: Value>(other: &StatesOnDisk<O>, graph: &Graph) -> Result<StatesWriter<S>> {
        StatesWriter::in_folder(other.store().folder(), graph)
    }

    fn blocks(graph: &Graph) -> Blocks {
        Blocks { what: "result", ..state_blocks(&Cut::of(graph), size_of::<S>()) }
    }

    /// Returns the bytes of blocks in flight in one direction.
    fn memory(blocks: &Blocks) -> u64 {
        BLOCKS_IN_FLIGHT * blocks.frame_size()
    }

    fn in_folder(folder: &Directory, graph: &Graph) -> Result<StatesWriter<S>> {
        let (cut, blocks) = (Cut::of(graph), Self::blocks(graph));
        let memory = Self::memory(&blocks);
        let reader = &graph.reader().with_pool(Pool::new(memory));
        let writer = WriteBehind::start(reader, memory, graph.caching());
        let store = BlockStore::create(folder, blocks, reader, &writer, &|_| false)?;
        Ok(StatesWriter { into: StatesOnDisk::new(store, cut), block: Vec::new(), blocks: 0 })
    }

    /// Writes the next values.
    pub fn write(&mut self, mut values: &[S]) -> Result<()> {
        while !values.is_empty() {
            let wanted = self.into.cut().vertices(self.blocks).len() - self.block.len();
            let (these, rest) = values.split_at(wanted.min(values.len()));
            self.block.extend_from_slice(these);
            if these.len() == wanted {
                // Blocks of states have room for active bits, which mean nothing here.
                let nobody = vec![0; self.block.len().div_ceil(64)];
                self.into.write(self.blocks, &self.block, &nobody)?;
                self.block.clear();
                self.blocks += 1;
            }
            values = rest;
        }
        Ok(())
    }

    /// Writes the next values from an iterator.
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

    /// Returns the array after all values are written by dense id.
    pub fn finish(self) -> Result<States<S>> {
        self.into.store().finish_writing()?;
        Ok(self.into.into())
    }

    /// Returns the array after all values are written by id position.
    pub fn finish_by_id_position(self) -> Result<StatesByIdPosition<S>> {
        self.into.store().finish_writing()?;
        Ok(StatesByIdPosition(Box::new(self.into)))
    }
}
