//! The states of a program that has ended, wherever they lie.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;

use tegula_machine::Result;
use tegula_machine::disk::{BlockStore, Blocks};
use tegula_machine::memory::huge;
use zerocopy::IntoBytes;

use super::cut::Cut;
use crate::program::Value;

/// States that are read at a time, where they lie in memory.
const CHUNK: usize = 1 << 20;

/// A state for each vertex: in memory, or on disk. By dense id, unless they were brought
/// [in order](States::into_rank_order).
pub struct States<S>(pub(super) Storage<S>);

pub(super) enum Storage<S> {
    Memory(Vec<S>),
    Disk(Box<StatesOnDisk<S>>),
}

/// Blocks of states, each with the bits of its active vertices behind it.
pub struct StatesOnDisk<S> {
    store: BlockStore,
    cut: Cut,
    state: PhantomData<fn() -> S>,
}

impl<S: Value> fmt::Debug for States<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.in_memory().is_some() { "in memory" } else { "on disk" };
        write!(f, "States({} {place})", self.len())
    }
}

impl<S: Value> From<Vec<S>> for States<S> {
    fn from(states: Vec<S>) -> States<S> {
        States(Storage::Memory(states))
    }
}

impl<S: Value> From<StatesOnDisk<S>> for States<S> {
    fn from(states: StatesOnDisk<S>) -> States<S> {
        States(Storage::Disk(Box::new(states)))
    }
}

impl<S: Value> States<S> {
    /// How many there are.
    pub fn len(&self) -> usize {
        match &self.0 {
            Storage::Memory(states) => states.len(),
            Storage::Disk(states) => states.cut.vertex_count(),
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All of them, where they lie in memory.
    pub fn in_memory(&self) -> Option<&[S]> {
        match &self.0 {
            Storage::Memory(states) => Some(states),
            Storage::Disk(_) => None,
        }
    }

    /// All of them, in memory.
    ///
    /// # Errors
    /// Those of reading.
    pub fn into_vec(self) -> Result<Vec<S>> {
        match self.0 {
            Storage::Memory(states) => Ok(states),
            Storage::Disk(on_disk) => {
                let mut states = huge::with_capacity(on_disk.cut.vertex_count());
                for block in 0..on_disk.cut.count() {
                    states.append(&mut on_disk.read(block)?);
                }
                Ok(states)
            }
        }
    }

    /// Visits them in order, some at a time: the number of the first, and the states from there on.
    ///
    /// # Errors
    /// Those of reading, and of `visit`.
    pub fn for_each_chunk<E: From<tegula_machine::Error>>(
        &self,
        mut visit: impl FnMut(usize, &[S]) -> Result<(), E>,
    ) -> Result<(), E> {
        match &self.0 {
            Storage::Memory(states) => (0..)
                .step_by(CHUNK)
                .zip(states.chunks(CHUNK))
                .try_for_each(|(first, states)| visit(first, states)),
            Storage::Disk(states) => (0..states.cut.count()).try_for_each(|block| {
                visit(states.cut.vertices(block).start, &states.read(block)?)
            }),
        }
    }

    /// Those of a range of numbers.
    ///
    /// # Errors
    /// Those of reading.
    ///
    /// # Panics
    /// When there are no such vertices.
    pub fn read(&self, vertices: Range<usize>) -> Result<Vec<S>> {
        match &self.0 {
            Storage::Memory(states) => Ok(states[vertices].to_vec()),
            Storage::Disk(on_disk) => on_disk.read_range(vertices),
        }
    }

    /// Those of a block of arrays on disk. Workers may read any of them at the same time: nothing is read ahead, which
    /// nobody might come for.
    pub(super) fn of_block(&self, block: usize, cut: &Cut) -> Result<Vec<S>> {
        match &self.0 {
            Storage::Memory(states) => Ok(states[cut.vertices(block)].to_vec()),
            Storage::Disk(on_disk) => on_disk.read_alone(block),
        }
    }
}

impl<S: Value> StatesOnDisk<S> {
    /// States that lie in these blocks.
    pub fn new(store: BlockStore, cut: Cut) -> StatesOnDisk<S> {
        StatesOnDisk { store, cut, state: PhantomData }
    }

    /// How they are cut into blocks.
    pub fn cut(&self) -> Cut {
        self.cut
    }

    /// Where they lie.
    pub fn store(&self) -> &BlockStore {
        &self.store
    }

    /// Reads all of them, and the bits of the active vertices.
    ///
    /// # Errors
    /// Those of reading.
    pub fn read_all(&self, states: &mut [S], active: &mut [u64]) -> Result<()> {
        for block in 0..self.cut.count() {
            self.read_ahead(block + 1);
            let vertices = self.cut.vertices(block);
            let words = vertices.start / 64..vertices.end.div_ceil(64);
            self.read_with(block, &mut states[vertices], &mut active[words])?;
        }
        Ok(())
    }

    /// Reads a block: its states, and the bits of those that are active.
    ///
    /// # Errors
    /// Those of reading.
    pub fn read_with(&self, block: usize, states: &mut [S], active: &mut [u64]) -> Result<()> {
        self.store.read(block, &mut [states.as_mut_bytes(), active.as_mut_bytes()])
    }

    /// Writes a block.
    ///
    /// # Errors
    /// Those of writing before.
    pub fn write(&self, block: usize, states: &[S], active: &[u64]) -> Result<()> {
        self.store.write(block, &[states.as_bytes(), active.as_bytes()])
    }

    /// Asks for a block that is going to be read, if there is such a block.
    pub fn read_ahead(&self, block: usize) {
        if block < self.cut.count() {
            let count = self.cut.vertices(block).len();
            self.store.read_ahead(block, count * size_of::<S>() + count.div_ceil(64) * 8);
        }
    }

    /// The states of a block. The next one is asked for.
    ///
    /// # Errors
    /// Those of reading.
    pub fn read(&self, block: usize) -> Result<Vec<S>> {
        self.read_ahead(block + 1);
        self.read_alone(block)
    }

    /// The states of a range of vertices, which there must be.
    ///
    /// # Errors
    /// Those of reading.
    pub fn read_range(&self, vertices: Range<usize>) -> Result<Vec<S>> {
        let mut states = huge::with_capacity(vertices.len());
        for block in self.cut.blocks(&vertices) {
            let first = self.cut.vertices(block).start;
            let read = self.read(block)?;
            let here = vertices.start.max(first)..vertices.end.min(first + read.len());
            states.extend_from_slice(&read[here.start - first..here.end - first]);
        }
        Ok(states)
    }

    fn read_alone(&self, block: usize) -> Result<Vec<S>> {
        let count = self.cut.vertices(block).len();
        let (mut states, mut active) = (huge::zeroes(count), vec![0; count.div_ceil(64)]);
        self.read_with(block, &mut states, &mut active)?;
        Ok(states)
    }
}

/// The blocks of states of a size.
pub fn state_blocks(cut: &Cut, state_size: usize) -> Blocks {
    let size = cut.size_max() * state_size + cut.size_max().div_ceil(64) * 8;
    Blocks { what: "states", count: cut.count(), size }
}

/// Room for the states of a block.
pub struct BlockStates<S> {
    states: Vec<S>,
    active: Vec<u64>,
}

impl<S: Value> BlockStates<S> {
    /// For blocks of up to `size_max` vertices.
    pub fn new(size_max: usize) -> BlockStates<S> {
        BlockStates { states: huge::zeroes(size_max), active: vec![0; size_max.div_ceil(64)] }
    }

    /// The room of a block of `count` vertices: states, and bits of those that are active.
    pub fn of(&mut self, count: usize) -> (&mut [S], &mut [u64]) {
        (&mut self.states[..count], &mut self.active[..count.div_ceil(64)])
    }
}
