//! The states of a program before and after its run, in memory or on disk.

pub mod cut;
pub mod folder;

use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;

use tegula_machine::disk::{BlockStore, Blocks};
use tegula_machine::memory::huge;
use tegula_store::Result;
use zerocopy::IntoBytes;

use crate::program::Value;
use cut::Cut;

/// States visited at a time if they lie in memory.
const CHUNK: usize = 1 << 20;

/// A state for each vertex by dense id, in memory or on disk.
pub struct States<S>(pub(crate) Storage<S>);

pub(crate) enum Storage<S> {
    Memory(Vec<S>),
    Disk(Box<StatesOnDisk<S>>),
}

/// Blocks of states, each followed by the bits of its active vertices.
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
    /// Returns the number of states.
    pub fn len(&self) -> usize {
        match &self.0 {
            Storage::Memory(states) => states.len(),
            Storage::Disk(states) => states.cut.vertex_count(),
        }
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns all states if they lie in memory.
    pub fn in_memory(&self) -> Option<&[S]> {
        match &self.0 {
            Storage::Memory(states) => Some(states),
            Storage::Disk(_) => None,
        }
    }

    /// Returns all states, in memory.
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

    /// Calls `visit` with chunks of states in order: the number of the first one, and the states.
    pub fn for_each_chunk<E: From<tegula_store::Error>>(
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

    /// Reads the states of a range of numbers.
    ///
    /// # Panics
    /// When there are no such vertices.
    pub fn read(&self, vertices: Range<usize>) -> Result<Vec<S>> {
        match &self.0 {
            Storage::Memory(states) => Ok(states[vertices].to_vec()),
            Storage::Disk(on_disk) => on_disk.read_range(vertices),
        }
    }

    /// Reads the states of a block of arrays on disk. Several workers may call it at the same time.
    /// It reads nothing ahead, because nobody might need that.
    pub(crate) fn of_block(&self, block: usize, cut: &Cut) -> Result<Vec<S>> {
        match &self.0 {
            Storage::Memory(states) => Ok(states[cut.vertices(block)].to_vec()),
            Storage::Disk(on_disk) => on_disk.read_alone(block),
        }
    }
}

impl<S: Value> StatesOnDisk<S> {
    /// Wraps the states that lie in these blocks.
    pub fn new(store: BlockStore, cut: Cut) -> StatesOnDisk<S> {
        StatesOnDisk { store, cut, state: PhantomData }
    }

    /// Returns how they are cut into blocks.
    pub fn cut(&self) -> Cut {
        self.cut
    }

    /// Returns the store of the blocks.
    pub fn store(&self) -> &BlockStore {
        &self.store
    }

    /// Reads the blocks of some vertices: states, and the bits of the active vertices.
    pub fn read_all(
        &self,
        vertices: &Range<usize>,
        states: &mut [S],
        active: &mut [u64],
    ) -> Result<()> {
        let blocks = self.cut.blocks(vertices);
        for block in blocks.clone() {
            if block + 1 < blocks.end {
                self.read_ahead(block + 1);
            }
            let vertices = self.cut.vertices(block);
            let words = vertices.start / 64..vertices.end.div_ceil(64);
            self.read_with(block, &mut states[vertices], &mut active[words])?;
        }
        Ok(())
    }

    /// Reads a block: its states, and the bits of its active vertices.
    pub fn read_with(&self, block: usize, states: &mut [S], active: &mut [u64]) -> Result<()> {
        Ok(self.store.read(block, &mut [states.as_mut_bytes(), active.as_mut_bytes()])?)
    }

    /// Writes a block.
    ///
    /// # Errors
    /// Failed writes before.
    pub fn write(&self, block: usize, states: &[S], active: &[u64]) -> Result<()> {
        Ok(self.store.write(block, &[states.as_bytes(), active.as_bytes()])?)
    }

    /// Requests a block that will be read, if there is such a block.
    pub fn read_ahead(&self, block: usize) {
        if block < self.cut.count() {
            let count = self.cut.vertices(block).len();
            self.store.read_ahead(block, count * size_of::<S>() + count.div_ceil(64) * 8);
        }
    }

    /// Reads the states of a block, and requests the next one.
    pub fn read(&self, block: usize) -> Result<Vec<S>> {
        self.read_ahead(block + 1);
        self.read_alone(block)
    }

    /// Reads the states of a range of vertices, which must exist.
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
        // A block is read whole, with the bits behind its states.
        let (mut states, mut active) = (huge::zeroes(count), vec![0; count.div_ceil(64)]);
        self.read_with(block, &mut states, &mut active)?;
        Ok(states)
    }
}

/// Returns the blocks of states of `state_size` bytes.
pub fn state_blocks(cut: &Cut, state_size: usize) -> Blocks {
    let size = cut.size_max() * state_size + cut.size_max().div_ceil(64) * 8;
    Blocks { what: "states", count: cut.count(), size }
}

/// Buffers for the states of a block.
pub struct BlockStates<S> {
    states: Vec<S>,
    active: Vec<u64>,
}

impl<S: Value> BlockStates<S> {
    /// Makes buffers for blocks of up to `size_max` vertices.
    pub fn new(size_max: usize) -> BlockStates<S> {
        BlockStates { states: huge::zeroes(size_max), active: vec![0; size_max.div_ceil(64)] }
    }

    /// Returns the buffers for a block of `count` vertices: states, and bits of the active ones.
    pub fn of(&mut self, count: usize) -> (&mut [S], &mut [u64]) {
        (&mut self.states[..count], &mut self.active[..count.div_ceil(64)])
    }
}
