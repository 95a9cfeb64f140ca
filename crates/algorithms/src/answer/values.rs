//! Values of vertices, wherever they lie, for tables in the order of the original ids.

use std::ops::Range;

use tegula_engine::{Cancel, Graph, States, StatesWriter, Value, VertexId};

use crate::error::Result;

/// Vertices that follow each other in the order of their original ids.
#[derive(Debug, Clone, Copy)]
pub struct Rows<'v> {
    /// The rank of the first one.
    pub first: usize,
    /// All of them.
    pub vertices: &'v [VertexId],
}

impl Rows<'_> {
    fn ranks(&self) -> Range<usize> {
        self.first..self.first + self.vertices.len()
    }
}

/// A value for each vertex: in memory by dense id, on disk by rank.
pub struct Values<V>(States<V>);

impl<V: Value> Values<V> {
    /// The states that a run has left, which are brought in order where they lie on disk.
    ///
    /// # Errors
    /// Those of reading and writing; cancellation.
    pub fn of(states: States<V>, graph: &Graph, cancel: &Cancel) -> Result<Values<V>> {
        Ok(Values(states.into_rank_order(graph, cancel)?))
    }

    /// Values that are in order already where they lie on disk.
    pub fn by_rank(values: States<V>) -> Values<V> {
        Values(values)
    }

    /// Those of some rows.
    ///
    /// # Errors
    /// Those of reading.
    pub fn at(&self, rows: &Rows<'_>) -> Result<Vec<V>> {
        match self.0.in_memory() {
            Some(values) => Ok(rows.vertices.iter().map(|vertex| values[vertex.index()]).collect()),
            None => Ok(self.0.read(rows.ranks())?),
        }
    }

    /// What becomes of each of them.
    ///
    /// # Errors
    /// Those of reading and writing; cancellation.
    pub fn map(
        self,
        graph: &Graph,
        cancel: &Cancel,
        become_of: impl Fn(V) -> V,
    ) -> Result<Values<V>> {
        let Some(mut writer) = StatesWriter::beside(&self.0, graph)? else {
            let mut values = self.0.into_vec()?;
            values.iter_mut().for_each(|value| *value = become_of(*value));
            return Ok(Values(values.into()));
        };
        self.0.for_each_chunk(|_, values| {
            cancel.check()?;
            let mapped: Vec<V> = values.iter().copied().map(&become_of).collect();
            writer.write(&mapped)
        })?;
        Ok(Values(writer.finish()?))
    }

    /// Visits all of them, some at a time, in no particular order.
    ///
    /// # Errors
    /// Those of reading; cancellation.
    pub fn for_each_chunk(&self, cancel: &Cancel, mut visit: impl FnMut(&[V])) -> Result<()> {
        self.0.for_each_chunk(|_, values| {
            cancel.check()?;
            visit(values);
            Ok::<(), tegula_engine::Error>(())
        })?;
        Ok(())
    }

    /// Whether they lie in memory.
    pub fn are_in_memory(&self) -> bool {
        self.0.in_memory().is_some()
    }

    /// How many there are.
    #[expect(clippy::len_without_is_empty, reason = "as many as vertices")]
    pub fn len(&self) -> usize {
        self.0.len()
    }
}
