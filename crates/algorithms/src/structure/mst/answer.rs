//! The forest as a table and as a summary.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use arrow_array::Float32Array;
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use serde::Serialize;
use tegula_engine::{Cancel, Graph};

use super::ForestEdge;
use crate::answer::{
    self, Answer, CHUNK, Facts, GroupSize, List, RowSink, Table, TotalOrder, find_ids, id_type,
    write_in_batches,
};
use crate::error::Result;
use crate::shared::original_ids::{IdPosition, Name, ShortIdPosition};

/// The forest found.
pub(super) struct Forest {
    pub(super) edges: Vec<ForestEdge>,
    /// The sum of all weights.
    pub(super) weight: f64,
    /// The memory budget in bytes.
    pub(super) memory: u64,
}

/// The summary of the forest.
#[derive(Debug, Serialize)]
pub struct Summary {
    /// Number of its edges.
    edges: u64,
    /// Number of its trees; a vertex without neighbours is one.
    trees: u64,
    /// The sum of all weights.
    weight: f64,
    /// The heaviest edges.
    top: Vec<Edge>,
}

/// An edge.
#[derive(Debug, Serialize)]
pub struct Edge {
    u: Name,
    v: Name,
    weight: f32,
}

/// A row for every edge, ascending by its ends.
impl Table for Forest {
    fn schema(&self, graph: &Graph) -> SchemaRef {
        let id = id_type(graph);
        Arc::new(Schema::new(vec![
            Field::new("u", id.clone(), false),
            Field::new("v", id, false),
            Field::new("weight", DataType::Float32, false),
        ]))
    }

    fn row_count(&self, _graph: &Graph) -> u64 {
        self.edges.len() as u64
    }

    fn write_rows(&self, graph: &Graph, out: &mut dyn RowSink, cancel: &Cancel) -> Result<()> {
        let schema = self.schema(graph);
        // Half as many rows, as each row looks up two ids.
        for edges in self.edges.chunks(GroupSize::for_memory(self.memory).rows / 2) {
            if !out.wants_more() {
                break;
            }
            let weights: Float32Array = edges.iter().map(|edge| Some(edge.weight)).collect();
            let sources = find_ids(graph, edges.iter().map(|edge| edge.source.into()), cancel)?;
            let targets = find_ids(graph, edges.iter().map(|edge| edge.target.into()), cancel)?;
            write_in_batches(&schema, &[sources, targets, Arc::new(weights)], out)?;
        }
        Ok(())
    }
}

impl Answer for Forest {
    fn summary(
        &self,
        graph: &Graph,
        top: usize,
        cancel: &Cancel,
    ) -> Result<Box<dyn answer::Summary>> {
        // The heaviest edges so far, the lightest of them on top. Of equal edges, the first by its
        // ends stays.
        let mut heaviest = BinaryHeap::new();
        for chunk in self.edges.chunks(CHUNK) {
            cancel.check()?;
            for &ForestEdge { source, target, weight } in chunk {
                let key = (Reverse(TotalOrder(weight)), source, target);
                if heaviest.len() == top && heaviest.peek().is_none_or(|least| key >= *least) {
                    continue;
                }
                heaviest.push(key);
                if heaviest.len() > top {
                    heaviest.pop();
                }
            }
        }
        let ids = graph.original_ids()?;
        let edge = |(Reverse(TotalOrder(weight)), source, target): (
            _,
            ShortIdPosition,
            ShortIdPosition,
        )| {
            let name = |id_position: ShortIdPosition| IdPosition::from(id_position).name(&ids);
            Ok(Edge { u: name(source)?, v: name(target)?, weight })
        };
        let edges = self.edges.len() as u64;
        Ok(Box::new(Summary {
            edges,
            trees: graph.vertex_count().saturating_sub(edges),
            weight: self.weight,
            top: heaviest.into_sorted_vec().into_iter().map(edge).collect::<Result<_>>()?,
        }))
    }
}

impl answer::Summary for Summary {
    fn facts(&self) -> Facts {
        let mut facts = Facts::default();
        facts.add("forest", answer::counted(self.edges, "edge", "edges"));
        facts.add("trees", answer::count(self.trees));
        facts.add("weight", answer::number(self.weight));
        facts
    }

    fn list(&self) -> List {
        let mut list = List::new(["u", "v", "weight"]);
        for Edge { u, v, weight } in &self.top {
            list.add([&u, &v, &answer::decimal(*weight)]);
        }
        list
    }
}
