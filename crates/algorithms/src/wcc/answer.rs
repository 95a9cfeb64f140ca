//! The components, as a table and in sum.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use arrow_array::ArrayRef;
use arrow_schema::{DataType, Field};
use serde::Serialize;
use tegula_engine::{Cancel, Graph, Value, VertexNumber};

use crate::answer::{self, Answer, CHUNK, Columns, Facts, GroupSize, List, Rows, Values, find_ids};
use crate::error::Result;
use crate::original_ids::{Name, Rank};

/// What was found.
pub(super) struct NamedComponents<N> {
    /// For each vertex the rank of the smallest original id in its component.
    pub(super) names: Values<N>,
    /// The budget.
    pub(super) memory: u64,
}

impl<N: VertexNumber + Value> NamedComponents<N> {
    /// Visits every component: the rank of its smallest original id, and its number of vertices.
    /// Counts a range of names at a time, so that memory stays bounded.
    fn for_each_size(&self, cancel: &Cancel, mut visit: impl FnMut(Rank, u64)) -> Result<()> {
        // Names in memory leave less, and are looked through sooner.
        let share = if self.names.are_in_memory() { 512 } else { 32 };
        let range = (self.memory / share).clamp(1 << 16, 1 << 28) as usize;
        for first in (0..self.names.len()).step_by(range) {
            let mut sizes = vec![0u64; range.min(self.names.len() - first)];
            self.names.for_each_chunk(cancel, |ranks| {
                for &rank in ranks {
                    if let Some(size) = sizes.get_mut(rank.index().wrapping_sub(first)) {
                        *size += 1;
                    }
                }
            })?;
            for (sizes, first) in sizes.chunks(CHUNK).zip((first as u64..).step_by(CHUNK)) {
                cancel.check()?;
                let sizes = (first..).zip(sizes).filter(|&(_, &size)| size > 0);
                sizes.for_each(|(rank, &size)| visit(Rank(rank), size));
            }
        }
        Ok(())
    }
}

/// What is said of all components.
#[derive(Debug, Serialize)]
pub struct Summary {
    /// How many there are.
    components: u64,
    /// Vertices of the largest.
    largest: u64,
    /// The largest ones.
    top: Vec<Component>,
}

/// A component and its number of vertices.
#[derive(Debug, Serialize)]
pub struct Component {
    component: Name,
    vertices: u64,
}

impl<N: VertexNumber + Value> Columns for NamedComponents<N> {
    fn fields(&self, id: DataType) -> Vec<Field> {
        vec![Field::new("component", id, false)]
    }

    fn group_size(&self) -> GroupSize {
        GroupSize::within(self.memory)
    }

    fn arrays(&self, graph: &Graph, rows: &Rows<'_>, cancel: &Cancel) -> Result<Vec<ArrayRef>> {
        let ranks = self.names.at(rows)?.into_iter().map(|rank| Rank(rank.into()));
        Ok(vec![find_ids(graph, ranks, cancel)?])
    }
}

impl<N: VertexNumber + Value> Answer for NamedComponents<N> {
    fn summary(
        &self,
        graph: &Graph,
        top: usize,
        cancel: &Cancel,
    ) -> Result<Box<dyn answer::Summary>> {
        let (mut components, mut largest) = (0, 0);
        let mut heap = BinaryHeap::new();
        self.for_each_size(cancel, |rank, size| {
            components += 1;
            largest = largest.max(size);
            heap.push(Reverse((size, Reverse(rank))));
            if heap.len() > top {
                heap.pop();
            }
        })?;
        let ids = graph.original_ids()?;
        let mut list = Vec::new();
        for Reverse((vertices, Reverse(rank))) in heap.into_sorted_vec() {
            list.push(Component { component: rank.name(&ids)?, vertices });
        }
        Ok(Box::new(Summary { components, largest, top: list }))
    }
}

impl answer::Summary for Summary {
    fn facts(&self) -> Facts {
        let mut facts = Facts::default();
        facts.add("components", answer::count(self.components));
        facts.add("largest", answer::counted(self.largest, "vertex", "vertices"));
        facts
    }

    fn list(&self) -> List {
        let mut list = List::new(["component", "vertices"]);
        for Component { component, vertices } in &self.top {
            list.add([&component, &vertices]);
        }
        list
    }
}
