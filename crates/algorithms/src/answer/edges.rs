//! The edges of a graph as a table.

use std::ops::ControlFlow;
use std::sync::Arc;

use arrow_array::Float32Array;
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use tegula_engine::traverse::VertexSet;
use tegula_engine::{Cancel, Graph, VertexId, lease_with_overhead, overhead};
use tegula_store::graph::edge_count;
use tegula_tables::RowSink;

use super::ids::{GroupSize, find_ids, id_type};
use super::table::{Table, write_in_batches};
use super::tiles::{self, edges_of_a_tile_max};
use crate::error::Result;
use crate::shared::original_ids::{IdPosition, IdPositions, Name};

/// Edges in the order of the tiles, each edge of an undirected graph once. They are all edges, or
/// those between chosen vertices.
pub struct EdgeTable {
    id_positions: IdPositions,
    chosen: Option<Arc<VertexSet>>,
    count: u64,
    /// Decides how many rows are looked up at a time.
    memory: u64,
}

/// Bytes of a row that waits to be written, and of its ids while they are looked up.
const ROW_BYTES: u64 = 80;
/// Bytes of a row that only waits.
const WAITING_BYTES: u64 = 2 * size_of::<IdPosition>() as u64 + size_of::<f32>() as u64;

/// Rows that wait to be written, by the id positions of their ends.
struct Waiting {
    sources: Vec<IdPosition>,
    targets: Vec<IdPosition>,
    weights: Vec<f32>,
}

impl Waiting {
    /// Makes room for `rows` rows, and for the rows of any tile.
    fn with_room(graph: &Graph, rows: usize) -> Waiting {
        let rows = rows + edges_of_a_tile_max(graph);
        Waiting {
            sources: Vec::with_capacity(rows),
            targets: Vec::with_capacity(rows),
            weights: Vec::with_capacity(if graph.is_weighted() { rows } else { 0 }),
        }
    }

    fn clear(&mut self) {
        self.sources.clear();
        self.targets.clear();
        self.weights.clear();
    }
}

impl EdgeTable {
    /// Makes the table of the edges between chosen vertices, and counts them. The budget must have
    /// room for the set and for the [smallest](EdgeTable::size) table.
    pub fn among(
        graph: &Graph,
        chosen: Arc<VertexSet>,
        memory: u64,
        cancel: &Cancel,
    ) -> Result<EdgeTable> {
        let id_positions = IdPositions::read(graph, cancel)?;
        let least = overhead(graph) + EdgeTable::size(graph, 0)? + chosen_size(graph);
        let memory = memory.saturating_sub(least);
        let mut table = EdgeTable { id_positions, chosen: Some(chosen), count: 0, memory };
        let mut count = 0;
        table.visit(graph, cancel, &mut Waiting::with_room(graph, 0), &mut |waiting| {
            count += waiting.sources.len() as u64;
            waiting.clear();
            Ok(ControlFlow::Continue(()))
        })?;
        table.count = count;
        Ok(table)
    }

    /// Makes the table of all edges.
    pub fn new(graph: &Graph, memory: u64, cancel: &Cancel) -> Result<EdgeTable> {
        let manifest = graph.manifest();
        let count = edge_count(manifest.edges, manifest.loops, manifest.undirected);
        Ok(EdgeTable {
            id_positions: IdPositions::read(graph, cancel)?,
            chosen: None,
            count,
            memory,
        })
    }

    /// Returns the bytes that a table of all edges takes while it is written within a budget.
    pub fn size(graph: &Graph, memory: u64) -> Result<u64> {
        Ok(graph.tile_pass_size() + EdgeTable::held(graph, memory)?)
    }

    /// Returns the same bytes without the tiles.
    fn held(graph: &Graph, memory: u64) -> Result<u64> {
        let waiting = edges_of_a_tile_max(graph) as u64 * WAITING_BYTES;
        Ok(IdPositions::size(graph)? + waiting + rows_at_a_time(memory) as u64 * ROW_BYTES)
    }

    /// Returns the number of edges.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the original ids of the ends of the first `count` edges.
    pub fn first(&self, graph: &Graph, count: usize, cancel: &Cancel) -> Result<Vec<(Name, Name)>> {
        let mut ends = Vec::new();
        self.visit(graph, cancel, &mut Waiting::with_room(graph, 0), &mut |waiting| {
            ends.extend(waiting.sources.iter().copied().zip(waiting.targets.iter().copied()));
            waiting.clear();
            Ok(go_on_if(ends.len() < count))
        })?;
        ends.truncate(count);
        let ids = graph.original_ids()?;
        ends.into_iter().map(|(s, t)| Ok((s.name(&ids)?, t.name(&ids)?))).collect()
    }

    /// Adds the rows of one tile after the other to `waiting`. Calls `take` after each tile, until
    /// this returns `Break`.
    fn visit(
        &self,
        graph: &Graph,
        cancel: &Cancel,
        waiting: &mut Waiting,
        take: &mut dyn FnMut(&mut Waiting) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        let is_undirected = graph.manifest().undirected;
        let is_chosen =
            |vertex: VertexId| self.chosen.as_ref().is_none_or(|set| set.contains(vertex.short()));
        // Tiles that were read stay in memory if there is room beside the waiting rows.
        let chosen = self.chosen.as_ref().map_or(0, |_| chosen_size(graph));
        let held = EdgeTable::held(graph, self.memory)? + chosen;
        let _held = lease_with_overhead(graph, "the edges", held)?;
        let see = |waiting: &mut Waiting, source, target, weight| {
            if !(is_chosen(source) && is_chosen(target)) {
                return;
            }
            let (source, target) =
                (self.id_positions.of_any(source), self.id_positions.of_any(target));
            // Both directions of an edge are stored; one of them is a row.
            if is_undirected && source > target {
                return;
            }
            waiting.sources.push(source);
            waiting.targets.push(target);
            waiting.weights.extend(weight);
        };
        tiles::for_each_edge(graph, cancel, waiting, see, take)
    }
}

fn go_on_if(is_more_wanted: bool) -> ControlFlow<()> {
    if is_more_wanted { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
}

/// Returns how many rows wait at most, beside the rows of one tile: whole batches.
fn rows_at_a_time(memory: u64) -> usize {
    // Two columns of ids are looked up.
    GroupSize::for_memory(memory).rows / 2
}

/// Returns the bytes of the set of chosen vertices.
fn chosen_size(graph: &Graph) -> u64 {
    VertexSet::size(graph.vertex_count())
}

impl Table for EdgeTable {
    fn schema(&self, graph: &Graph) -> SchemaRef {
        let id = |name| Field::new(name, id_type(graph), false);
        let mut fields = vec![id("source"), id("target")];
        if graph.is_weighted() {
            fields.push(Field::new("weight", DataType::Float32, false));
        }
        Arc::new(Schema::new(fields))
    }

    fn row_count(&self, _graph: &Graph) -> u64 {
        self.count
    }

    fn write_rows(&self, graph: &Graph, out: &mut dyn RowSink, cancel: &Cancel) -> Result<()> {
        let schema = self.schema(graph);
        let at_a_time = rows_at_a_time(self.memory);
        let mut write = |waiting: &mut Waiting, count: usize| -> Result<ControlFlow<()>> {
            let sources = find_ids(graph, waiting.sources.drain(..count), cancel)?;
            let targets = find_ids(graph, waiting.targets.drain(..count), cancel)?;
            let mut columns = vec![sources, targets];
            if graph.is_weighted() {
                let weights: Vec<f32> = waiting.weights.drain(..count).collect();
                columns.push(Arc::new(Float32Array::from(weights)));
            }
            write_in_batches(&schema, &columns, out)?;
            Ok(go_on_if(out.wants_more()))
        };
        let mut waiting = Waiting::with_room(graph, at_a_time);
        let mut flow = ControlFlow::Continue(());
        self.visit(graph, cancel, &mut waiting, &mut |waiting| {
            // A tile may have more rows than one look-up takes.
            while flow.is_continue() && waiting.sources.len() >= at_a_time {
                flow = write(waiting, at_a_time)?;
            }
            Ok(flow)
        })?;
        let left = waiting.sources.len();
        if flow.is_continue() && left > 0 {
            let _end = write(&mut waiting, left)?;
        }
        Ok(())
    }
}
