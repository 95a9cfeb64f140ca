//! Values of vertices, in memory or on disk, for tables in the order of the original ids.

use std::ops::Range;
use std::sync::{Arc, Mutex};

use arrow_array::{ArrayRef, UInt64Array};
use tegula_engine::{Cancel, Graph, OrderedStates, States, StatesByIdPosition, Value, VertexId};
use tegula_machine::threads::lock;
use tegula_store::graph::IdType;

use super::{CHUNK, find_ids};
use crate::error::Result;
use crate::shared::original_ids::IdPosition;

/// Vertices with consecutive id positions.
#[derive(Debug, Clone, Copy)]
pub struct TableRows<'v> {
    /// The id position of the first one.
    pub first: usize,
    /// The vertices.
    pub vertices: &'v [VertexId],
}

impl TableRows<'_> {
    fn id_positions(&self) -> Range<usize> {
        self.first..self.first + self.vertices.len()
    }
}

/// A value for each vertex, for tables.
pub struct Values<V> {
    values: OrderedStates<V>,
    /// The original ids that values on disk name, once they are looked up.
    named_ids: Mutex<Option<StatesByIdPosition<u64>>>,
}

impl<V: Value> From<OrderedStates<V>> for Values<V> {
    fn from(values: OrderedStates<V>) -> Values<V> {
        Values { values, named_ids: Mutex::default() }
    }
}

impl<V: Value> Values<V> {
    /// Takes the states of a run. Those on disk are brought into the order of id positions.
    pub fn of(states: States<V>, graph: &Graph, cancel: &Cancel) -> Result<Values<V>> {
        Ok(states.into_id_order(graph, cancel)?.into())
    }

    /// Returns the values of some rows.
    pub fn at(&self, rows: &TableRows<'_>) -> Result<Vec<V>> {
        match &self.values {
            OrderedStates::ByDenseId(values) => {
                Ok(rows.vertices.iter().map(|vertex| values[vertex.index()]).collect())
            }
            OrderedStates::ByIdPosition(values) => Ok(values.read(rows.id_positions())?),
        }
    }

    /// Replaces each value by what `become_of` returns for it.
    pub fn map(
        self,
        graph: &Graph,
        cancel: &Cancel,
        become_of: impl Fn(V) -> V,
    ) -> Result<Values<V>> {
        let values = match self.values {
            OrderedStates::ByDenseId(mut values) => {
                values.iter_mut().for_each(|value| *value = become_of(*value));
                OrderedStates::ByDenseId(values)
            }
            OrderedStates::ByIdPosition(values) => {
                OrderedStates::ByIdPosition(values.map(graph, cancel, become_of)?)
            }
        };
        Ok(values.into())
    }

    /// Makes a column of the original ids of the vertices that some rows name by id position; null
    /// for [`IdPosition::NONE`]. `named` holds the values of the rows.
    ///
    /// For the first rows, this looks through all ids. For further rows, it may sort a table of the
    /// ids that all values on disk name. It does so if this moves fewer bytes than a pass over all
    /// ids for each remaining group of rows.
    pub fn ids_at(
        &self,
        rows: &TableRows<'_>,
        named: &[V],
        id_position_of: impl Fn(&V) -> IdPosition,
        graph: &Graph,
        cancel: &Cancel,
    ) -> Result<ArrayRef> {
        let OrderedStates::ByIdPosition(values) = &self.values else {
            return find_ids(graph, named.iter().map(id_position_of), cancel);
        };
        let mut named_ids = lock(&self.named_ids);
        if named_ids.is_none() {
            if rows.first == 0 || !sorting_moves_less(values, rows, graph) {
                return find_ids(graph, named.iter().map(id_position_of), cancel);
            }
            let original = graph.original_ids()?;
            let number_of = |value: &V| {
                Some(id_position_of(value).0)
                    .filter(|&id_position| id_position != IdPosition::NONE.0)
            };
            let load = |id_positions| original.integers(id_positions);
            *named_ids = Some(values.look_up(graph, number_of, load, cancel)?);
        }
        let Some(named_ids) = &*named_ids else { unreachable!("they are looked up by now") };
        let ids = named_ids.read(rows.id_positions())?;
        let ids = named
            .iter()
            .zip(ids)
            .map(|(value, id)| (id_position_of(value) != IdPosition::NONE).then_some(id));
        Ok(Arc::new(ids.collect::<UInt64Array>()))
    }

    /// Visits all values, a chunk at a time, in no particular order.
    pub fn for_each_chunk(&self, cancel: &Cancel, mut visit: impl FnMut(&[V])) -> Result<()> {
        let mut visit = |values: &[V]| {
            cancel.check()?;
            visit(values);
            Ok::<(), tegula_engine::Error>(())
        };
        match &self.values {
            OrderedStates::ByDenseId(values) => values.chunks(CHUNK).try_for_each(visit)?,
            OrderedStates::ByIdPosition(values) => values.for_each_chunk(&mut visit)?,
        }
        Ok(())
    }

    /// Returns whether the values lie in memory.
    pub fn are_in_memory(&self) -> bool {
        matches!(self.values, OrderedStates::ByDenseId(_))
    }

    /// Returns the number of values.
    #[expect(clippy::len_without_is_empty, reason = "as many as vertices")]
    pub fn len(&self) -> usize {
        match &self.values {
            OrderedStates::ByDenseId(values) => values.len(),
            OrderedStates::ByIdPosition(values) => values.len(),
        }
    }
}

/// Returns whether sorting the ids of all rows once moves fewer bytes than a pass over all ids for
/// each remaining group. A group is as large as `rows`.
fn sorting_moves_less<V: Value>(
    values: &StatesByIdPosition<V>,
    rows: &TableRows<'_>,
    graph: &Graph,
) -> bool {
    let passes = (values.len() - rows.first).div_ceil(rows.vertices.len()) as u64;
    let of_passes = passes * (values.len() * size_of::<u64>()) as u64;
    // Ids of a range are found without a pass, and strings have no fixed size by which to look them
    // up.
    graph.manifest().ids == IdType::Integer && values.look_up_bytes::<u64>(graph) < of_passes
}

#[cfg(test)]
mod tests;
