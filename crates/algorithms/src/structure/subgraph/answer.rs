//! The answer: the subgraph's edges and vertices as tables, and a summary.

use std::sync::Arc;

use arrow_schema::{Field, Schema, SchemaRef};
use serde::Serialize;
use tegula_engine::traverse::VertexSet;
use tegula_engine::{Cancel, Graph, RunOptions, ShortId};

use crate::answer::{
    self, Answer, EdgeTable, Facts, GroupSize, List, RowSink, Table, find_ids, id_type,
    write_in_batches,
};
use crate::error::Result;
use crate::shared::original_ids::{IdPosition, Name};

/// The subgraph found.
pub(super) struct Subgraph {
    edges: EdgeTable,
    vertices: Chosen,
}

/// The vertices of the subgraph.
struct Chosen {
    set: Arc<VertexSet>,
    count: u64,
    group_size: GroupSize,
}

impl Subgraph {
    /// The subgraph of the chosen vertices and all edges between them.
    pub(super) fn of(
        chosen: VertexSet,
        graph: &Graph,
        options: &RunOptions<'_>,
    ) -> Result<Subgraph> {
        let set = Arc::new(chosen);
        let edges = EdgeTable::among(graph, Arc::clone(&set), options.memory, &options.cancel)?;
        let all = (0..graph.short_vertex_count()?).map(ShortId);
        let count = all.filter(|&vertex| set.contains(vertex)).count() as u64;
        let group_size = GroupSize::for_memory(options.memory);
        Ok(Subgraph { edges, vertices: Chosen { set, count, group_size } })
    }
}

/// The summary of the subgraph.
#[derive(Debug, Serialize)]
pub struct Summary {
    /// Number of its vertices, with or without an edge.
    vertices: u64,
    /// Number of its edges; an undirected edge counts once.
    edges: u64,
    /// The first edges.
    top: Vec<Edge>,
}

/// An edge.
#[derive(Debug, Serialize)]
pub struct Edge {
    source: Name,
    target: Name,
}

/// A row for every edge.
impl Table for Subgraph {
    fn schema(&self, graph: &Graph) -> SchemaRef {
        self.edges.schema(graph)
    }

    fn row_count(&self, graph: &Graph) -> u64 {
        self.edges.row_count(graph)
    }

    fn write_rows(&self, graph: &Graph, out: &mut dyn RowSink, cancel: &Cancel) -> Result<()> {
        self.edges.write_rows(graph, out, cancel)
    }
}

/// A row for every vertex, in the order of the original ids.
impl Table for Chosen {
    fn schema(&self, graph: &Graph) -> SchemaRef {
        Arc::new(Schema::new(vec![Field::new("vertex", id_type(graph), false)]))
    }

    fn row_count(&self, _graph: &Graph) -> u64 {
        self.count
    }

    fn write_rows(&self, graph: &Graph, out: &mut dyn RowSink, cancel: &Cancel) -> Result<()> {
        let schema = self.schema(graph);
        let mut waiting = Vec::new();
        let mut write = |waiting: &mut Vec<IdPosition>| {
            cancel.check()?;
            let ids = find_ids(graph, waiting.drain(..), cancel)?;
            write_in_batches(&schema, &[ids], out)
        };
        graph.original_ids()?.for_each_id_position(|first, vertices| {
            let ranked = (first..).zip(vertices);
            let chosen = ranked.filter(|(_, vertex)| self.set.contains(vertex.short()));
            waiting.extend(chosen.map(|(id_position, _)| IdPosition(id_position)));
            if waiting.len() < self.group_size.rows { Ok(()) } else { write(&mut waiting) }
        })?;
        write(&mut waiting)
    }
}

impl Answer for Subgraph {
    fn summary(
        &self,
        graph: &Graph,
        top: usize,
        cancel: &Cancel,
    ) -> Result<Box<dyn answer::Summary>> {
        let top = match top {
            // Even a search for no edges would read a tile.
            0 => Vec::new(),
            _ => self.edges.first(graph, top, cancel)?,
        };
        let top = top.into_iter().map(|(source, target)| Edge { source, target }).collect();
        Ok(Box::new(Summary { vertices: self.vertices.count, edges: self.edges.count(), top }))
    }

    fn vertices(&self) -> Option<&dyn Table> {
        Some(&self.vertices)
    }
}

impl answer::Summary for Summary {
    fn facts(&self) -> Facts {
        let mut facts = Facts::default();
        let vertices = answer::counted(self.vertices, "vertex", "vertices");
        let edges = answer::counted(self.edges, "edge", "edges");
        facts.add("subgraph", format!("{vertices}, {edges}"));
        facts
    }

    fn list(&self) -> List {
        let mut list = List::new(["source", "target"]);
        for Edge { source, target } in &self.top {
            list.add([source, target]);
        }
        list
    }
}
