//! Values of vertices, in memory or on disk, for tables in the order of the original ids.

use std::ops::Range;
use std::sync::{Arc, Mutex};

use arrow_array::{ArrayRef, UInt64Array};
use tegula_engine::{Cancel, Graph, States, StatesWriter, Value, VertexId};
use tegula_machine::threads::lock;
use tegula_store::graph::IdType;

use super::find_ids;
use crate::error::Result;
use crate::original_ids::IdPosition;

/// Vertices with consecutive id positions.
#[derive(Debug, Clone, Copy)]
pub struct Rows<'v> {
    /// The id position of the first one.
    pub first: usize,
    /// The vertices.
    pub vertices: &'v [VertexId],
}

impl Rows<'_> {
    fn id_positions(&self) -> Range<usize> {
        self.first..self.first + self.vertices.len()
    }
}

/// A value for each vertex: in memory by dense id, on disk by id position.
pub struct Values<V> {
    values: States<V>,
    /// The original ids that values on disk name, by id position, once they are looked up.
    named_ids: Mutex<Option<States<u64>>>,
}

impl<V: Value> Values<V> {
    /// Takes the states of a run. Those on disk are brought into the order of id positions.
    pub fn of(states: States<V>, graph: &Graph, cancel: &Cancel) -> Result<Values<V>> {
        Ok(Values::by_rank(states.into_rank_order(graph, cancel)?))
    }

    /// Takes values that, on disk, are in the order of id positions already.
    pub fn by_rank(values: States<V>) -> Values<V> {
        Values { values, named_ids: Mutex::default() }
    }

    /// Returns the values of some rows.
    pub fn at(&self, rows: &Rows<'_>) -> Result<Vec<V>> {
        match self.values.in_memory() {
            Some(values) => Ok(rows.vertices.iter().map(|vertex| values[vertex.index()]).collect()),
            None => Ok(self.values.read(rows.id_positions())?),
        }
    }

    /// Replaces each value by what `become_of` returns for it.
    pub fn map(
        self,
        graph: &Graph,
        cancel: &Cancel,
        become_of: impl Fn(V) -> V,
    ) -> Result<Values<V>> {
        let Some(mut writer) = StatesWriter::next_to(&self.values, graph)? else {
            let mut values = self.values.into_vec()?;
            values.iter_mut().for_each(|value| *value = become_of(*value));
            return Ok(Values::by_rank(values.into()));
        };
        self.values.for_each_chunk(|_, values| {
            cancel.check()?;
            let mapped: Vec<V> = values.iter().copied().map(&become_of).collect();
            writer.write(&mapped)
        })?;
        Ok(Values::by_rank(writer.finish()?))
    }

    /// Makes a column of the original ids of the vertices that some rows name by id position; null
    /// for [`IdPosition::NONE`]. `named` holds the values of the rows.
    ///
    /// For the first rows, this looks through all ids. For further rows, it may sort a table of the
    /// ids that all values on disk name. It does so if this moves fewer bytes than a pass over all
    /// ids for each remaining group of rows.
    pub fn ids_at(
        &self,
        rows: &Rows<'_>,
        named: &[V],
        id_position_of: impl Fn(&V) -> IdPosition,
        graph: &Graph,
        cancel: &Cancel,
    ) -> Result<ArrayRef> {
        let mut sorted = lock(&self.named_ids);
        if sorted.is_none() {
            if rows.first == 0 || !self.sorting_moves_less(rows, graph) {
                return find_ids(graph, named.iter().map(id_position_of), cancel);
            }
            let original = graph.original_ids()?;
            let number_of = |value: &V| {
                Some(id_position_of(value).0)
                    .filter(|&id_position| id_position != IdPosition::NONE.0)
            };
            let load = |id_positions| original.integers(id_positions);
            *sorted = self.values.look_up(graph, number_of, load, cancel)?;
        }
        let Some(sorted) = &*sorted else { unreachable!("values on disk are looked up") };
        let ids = sorted.read(rows.id_positions())?;
        let ids = named
            .iter()
            .zip(ids)
            .map(|(value, id)| (id_position_of(value) != IdPosition::NONE).then_some(id));
        Ok(Arc::new(ids.collect::<UInt64Array>()))
    }

    /// Returns whether sorting the ids of all rows once moves fewer bytes than a pass over all ids
    /// for each remaining group. A group is as large as `rows`.
    fn sorting_moves_less(&self, rows: &Rows<'_>, graph: &Graph) -> bool {
        let passes = (self.len() - rows.first).div_ceil(rows.vertices.len()) as u64;
        let of_passes = passes * (self.len() * size_of::<u64>()) as u64;
        graph.manifest().ids == IdType::Integer
            && !self.are_in_memory()
            && self.values.look_up_bytes::<u64>(graph) < of_passes
    }

    /// Visits all values, a chunk at a time, in no particular order.
    pub fn for_each_chunk(&self, cancel: &Cancel, mut visit: impl FnMut(&[V])) -> Result<()> {
        self.values.for_each_chunk(|_, values| {
            cancel.check()?;
            visit(values);
            Ok::<(), tegula_engine::Error>(())
        })?;
        Ok(())
    }

    /// Returns whether the values lie in memory.
    pub fn are_in_memory(&self) -> bool {
        self.values.in_memory().is_some()
    }

    /// Returns the number of values.
    #[expect(clippy::len_without_is_empty, reason = "as many as vertices")]
    pub fn len(&self) -> usize {
        self.values.len()
    }
}

#[cfg(test)]
mod tests;
