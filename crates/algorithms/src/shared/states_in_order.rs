//! States that are made one after the other, in memory or on disk.

use tegula_engine::{Graph, RunOptions, States, StatesWriter, Value};
use tegula_machine::memory::huge;

use crate::error::Result;

/// The states of the first vertices, so far.
pub(crate) enum StatesInOrder<S> {
    Memory(Vec<S>),
    Disk(Box<StatesWriter<S>>),
}

impl<S: Value> StatesInOrder<S> {
    /// Begins without states. On disk, they lie where arrays of a run with these options would.
    pub(crate) fn new(in_memory: bool, graph: &Graph, options: &RunOptions<'_>) -> Result<Self> {
        Ok(match in_memory {
            true => StatesInOrder::Memory(huge::with_capacity(graph.vertex_count() as usize)),
            false => StatesInOrder::Disk(Box::new(StatesWriter::for_run(graph, options)?)),
        })
    }

    /// Adds the states of the next vertices.
    pub(crate) fn write(&mut self, states: impl Iterator<Item = S>) -> Result<()> {
        match self {
            StatesInOrder::Memory(all) => all.extend(states),
            StatesInOrder::Disk(writer) => writer.write_each(states)?,
        }
        Ok(())
    }

    /// Returns the states, after the states of all vertices were added.
    pub(crate) fn finish(self) -> Result<States<S>> {
        match self {
            StatesInOrder::Memory(all) => Ok(all.into()),
            StatesInOrder::Disk(writer) => Ok(writer.finish()?),
        }
    }
}
