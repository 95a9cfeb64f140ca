//! Groups of vertices, each named by a vertex: components and communities.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use arrow_array::ArrayRef;
use arrow_schema::{DataType, Field};
use serde::Serialize;
use tegula_engine::{Cancel, Graph, Value, VertexNumber};
use tegula_store::Diagnostic;

use super::figures::{Figures, Named};
use super::{Answer, CHUNK, Columns, Facts, GroupSize, List, Summary, TableRows, Values};
use crate::error::Result;
use crate::shared::original_ids::{IdPosition, Name};

/// A group for each vertex.
pub struct Groups<N, F> {
    /// What the groups are called.
    pub called: Called,
    /// For each vertex the id position of the vertex that names its group.
    pub names: Values<N>,
    /// Further figures about the groups.
    pub figures: F,
    /// The budget.
    pub memory: u64,
}

/// What groups are called.
#[derive(Debug, Clone, Copy)]
pub struct Called {
    /// One group; this is the name of the column.
    pub one: &'static str,
    /// Several groups.
    pub many: &'static str,
}

impl<N: VertexNumber + Value, F: Figures> Groups<N, F> {
    /// Visits every group: the id position of the vertex that names it, and its number of vertices.
    /// Counts a range of names at a time, so that memory stays bounded.
    fn for_each_size(&self, cancel: &Cancel, mut visit: impl FnMut(IdPosition, u64)) -> Result<()> {
        // Names in memory leave less room for sizes, but a further pass over them takes less time.
        let share = if self.names.are_in_memory() { 512 } else { 32 };
        let range = (self.memory / share).clamp(1 << 16, 1 << 28) as usize;
        for first in (0..self.names.len()).step_by(range) {
            let mut sizes = vec![0u64; range.min(self.names.len() - first)];
            self.names.for_each_chunk(cancel, |id_positions| {
                for &id_position in id_positions {
                    // A name before the range wraps around, and is not found either.
                    if let Some(size) = sizes.get_mut(id_position.index().wrapping_sub(first)) {
                        *size += 1;
                    }
                }
            })?;
            for (sizes, first) in sizes.chunks(CHUNK).zip((first as u64..).step_by(CHUNK)) {
                cancel.check()?;
                let sizes = (first..).zip(sizes).filter(|&(_, &size)| size > 0);
                sizes.for_each(|(id_position, &size)| visit(IdPosition(id_position), size));
            }
        }
        Ok(())
    }
}

impl<N: VertexNumber + Value, F: Figures> Columns for Groups<N, F> {
    fn fields(&self, id: DataType) -> Vec<Field> {
        vec![Field::new(self.called.one, id, false)]
    }

    fn group_size(&self) -> GroupSize {
        GroupSize::for_memory(self.memory)
    }

    fn arrays(
        &self,
        graph: &Graph,
        rows: &TableRows<'_>,
        cancel: &Cancel,
    ) -> Result<Vec<ArrayRef>> {
        let names = self.names.at(rows)?;
        let id_position_of = |&id_position: &N| IdPosition(id_position.into());
        Ok(vec![self.names.ids_at(rows, &names, id_position_of, graph, cancel)?])
    }
}

impl<N: VertexNumber + Value, F: Figures> Answer for Groups<N, F> {
    fn summary(&self, graph: &Graph, top: usize, cancel: &Cancel) -> Result<Box<dyn Summary>> {
        let (mut count, mut largest) = (0, 0);
        let mut heap = BinaryHeap::new();
        self.for_each_size(cancel, |id_position, size| {
            count += 1;
            largest = largest.max(size);
            heap.push(Reverse((size, Reverse(id_position))));
            if heap.len() > top {
                heap.pop();
            }
        })?;
        let ids = graph.original_ids()?;
        let mut list = Vec::new();
        for Reverse((vertices, Reverse(id_position))) in heap.into_sorted_vec() {
            list.push(Group { name: Named(self.called.one, id_position.name(&ids)?), vertices });
        }
        let groups = Named(self.called.many, count);
        let (one, figures) = (self.called.one, self.figures.clone());
        Ok(Box::new(Sizes { one, groups, largest, figures, top: list }))
    }

    fn warning(&self) -> Option<Diagnostic> {
        self.figures.warning()
    }
}

/// The summary of all groups.
#[derive(Debug, Serialize)]
struct Sizes<F> {
    #[serde(skip)]
    one: &'static str,
    /// The number of groups.
    #[serde(flatten)]
    groups: Named<u64>,
    /// The number of vertices of the largest group.
    largest: u64,
    #[serde(flatten)]
    figures: F,
    /// The largest groups.
    top: Vec<Group>,
}

/// A group and its number of vertices.
#[derive(Debug, Serialize)]
struct Group {
    #[serde(flatten)]
    name: Named<Name>,
    vertices: u64,
}

impl<F: Figures> Summary for Sizes<F> {
    fn facts(&self) -> Facts {
        let mut facts = Facts::default();
        facts.add(self.groups.0, super::count(self.groups.1));
        facts.add("largest", super::counted(self.largest, "vertex", "vertices"));
        facts.extend(self.figures.facts());
        facts
    }

    fn list(&self) -> List {
        let mut list = List::new([self.one, "vertices"]);
        for Group { name, vertices } in &self.top {
            list.add([&name.1, &vertices]);
        }
        list
    }
}
