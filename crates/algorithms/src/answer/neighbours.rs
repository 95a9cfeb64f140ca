//! The neighbours of some vertices as a table.

use std::ops::ControlFlow;
use std::sync::Arc;

use arrow_array::Float32Array;
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use tegula_engine::traverse::{self, Listed, RowsWanted, VertexSet};
use tegula_engine::{
    Cancel, Error as EngineError, Graph, RunOptions, ShortId, VertexId, lease_with_overhead,
    overhead,
};
use tegula_tables::RowSink;

use super::ids::{GroupSize, find_ids, id_type};
use super::table::write_in_batches;
use super::tiles;
use crate::error::Result;
use crate::shared::original_ids::{IdPositions, ShortIdPosition};

/// A row for each edge that leaves one of some vertices, sorted by the original ids of the vertex
/// and then of its neighbour. An edge of an undirected graph leaves both of its ends; a loop occurs
/// once.
///
/// Edges are read along rows where the graph has them, else tile by tile. The budget decides how
/// many vertices form a group, whose neighbours are read together. Mostly there is one group.
/// Without rows, each group is a pass over all tiles.
pub struct NeighbourTable {
    id_positions: IdPositions,
    /// By id position, each once.
    vertices: Vec<Vertex>,
    extent: Extent,
}

/// The size of a table.
#[derive(Debug, Clone, Copy)]
struct Extent {
    vertices: u64,
    edges: u64,
    /// The edges of the vertex that has the most.
    degree_max: u64,
}

/// A vertex whose neighbours are wanted.
#[derive(Debug, Clone, Copy)]
struct Vertex {
    id_position: ShortIdPosition,
    id: ShortId,
    /// Edges that leave it.
    degree: u32,
}

/// An edge that leaves one of these vertices.
#[derive(Debug, Clone, Copy)]
struct Edge {
    source: ShortIdPosition,
    target: ShortIdPosition,
    weight: f32,
}

/// Bytes of a row while its ids are looked up.
const ROW_BYTES: u64 = 80;
/// Bytes of a vertex and of a second copy of its id, which is needed twice: while degrees are
/// found, as the id was given; then while its row is read.
const VERTEX_BYTES: u64 = (size_of::<Vertex>() + size_of::<VertexId>()) as u64;

impl NeighbourTable {
    /// Makes the table of these vertices, of which some may be repeated.
    ///
    /// # Errors
    /// [`OverBudget`](tegula_machine::Error::OverBudget) if the neighbours of one vertex have no
    /// room; [`Limit`](tegula_machine::Error::Limit) for a graph whose ids are not short.
    pub fn of(
        graph: &Graph,
        mut vertices: Vec<VertexId>,
        options: &RunOptions<'_>,
    ) -> Result<NeighbourTable> {
        graph.short_vertex_count()?;
        vertices.sort_unstable();
        vertices.dedup();
        let mut extent = Extent { vertices: vertices.len() as u64, edges: 0, degree_max: 0 };
        for_each_degree(graph, &vertices, |_, degree| {
            extent.edges += u64::from(degree);
            extent.degree_max = extent.degree_max.max(degree.into());
        })?;
        // Check before anything else is allocated.
        extent.check_room(graph, options)?;
        let id_positions = IdPositions::read(graph, &options.cancel)?;
        let mut with_degrees = Vec::with_capacity(vertices.len());
        for_each_degree(graph, &vertices, |id, degree| {
            with_degrees.push(Vertex { id_position: id_positions.of(id), id, degree });
        })?;
        with_degrees.sort_unstable_by_key(|vertex| vertex.id_position);
        Ok(NeighbourTable { id_positions, vertices: with_degrees, extent })
    }

    /// Returns the bytes that even a table of no vertices takes.
    pub fn size_min(graph: &Graph, threads: usize) -> Result<u64> {
        Ok(IdPositions::size(graph)? + reading_size(graph, threads)?)
    }

    /// Returns its columns.
    pub fn schema(&self, graph: &Graph) -> SchemaRef {
        let id = |name| Field::new(name, id_type(graph), false);
        let mut fields = vec![id("vertex"), id("neighbour")];
        if graph.is_weighted() {
            fields.push(Field::new("weight", DataType::Float32, false));
        }
        Arc::new(Schema::new(fields))
    }

    /// Returns the number of its vertices.
    pub fn vertex_count(&self) -> u64 {
        self.extent.vertices
    }

    /// Returns the number of its rows.
    pub fn row_count(&self) -> u64 {
        self.extent.edges
    }

    /// Writes all rows, until `out` wants no more.
    pub fn write_rows(
        &self,
        graph: &Graph,
        options: &RunOptions<'_>,
        out: &mut dyn RowSink,
    ) -> Result<()> {
        let at_once = edges_at_a_time(options.memory);
        let mut rest = &self.vertices[..];
        while !rest.is_empty() && out.wants_more() {
            let (group, others) = rest.split_at(group_len(rest, at_once));
            rest = others;
            let mut edges = self.edges_of(graph, group, options)?;
            edges.sort_unstable_by(|a, b| {
                let ends = (a.source, a.target).cmp(&(b.source, b.target));
                // Rows and tiles may have several edges between two vertices in different orders,
                // but the table must not depend on where they come from.
                ends.then(a.weight.total_cmp(&b.weight))
            });
            // A vertex may have more edges than one look-up of ids can take.
            for edges in edges.chunks(at_once as usize) {
                self.write_edges(graph, edges, &options.cancel, out)?;
            }
        }
        Ok(())
    }

    fn write_edges(
        &self,
        graph: &Graph,
        edges: &[Edge],
        cancel: &Cancel,
        out: &mut dyn RowSink,
    ) -> Result<()> {
        let sources = edges.iter().map(|edge| edge.source.into());
        let mut columns = vec![find_ids(graph, sources, cancel)?];
        let targets = edges.iter().map(|edge| edge.target.into());
        columns.push(find_ids(graph, targets, cancel)?);
        if graph.is_weighted() {
            let weights: Vec<f32> = edges.iter().map(|edge| edge.weight).collect();
            columns.push(Arc::new(Float32Array::from(weights)));
        }
        write_in_batches(&self.schema(graph), &columns, out)
    }

    /// Reads the edges that leave the vertices of a group, in no particular order.
    fn edges_of(
        &self,
        graph: &Graph,
        group: &[Vertex],
        options: &RunOptions<'_>,
    ) -> Result<Vec<Edge>> {
        let count: u64 = group.iter().map(|vertex| u64::from(vertex.degree)).sum();
        let edges = Vec::with_capacity(count as usize);
        let edges = match graph.manifest().rows {
            Some(_) => self.along_rows(graph, group, edges, options)?,
            None => self.along_tiles(graph, group, edges, options)?,
        };
        if edges.len() as u64 == count {
            return Ok(edges);
        }
        let detail = format!("{} edges leave vertices whose degrees say {count}", edges.len());
        Err(EngineError::corrupt(graph.directory(), "its edges", detail).into())
    }

    fn along_rows(
        &self,
        graph: &Graph,
        group: &[Vertex],
        mut edges: Vec<Edge>,
        options: &RunOptions<'_>,
    ) -> Result<Vec<Edge>> {
        let mut sources: Vec<ShortId> = group.iter().map(|vertex| vertex.id).collect();
        // The group is by id position, and rows lie by dense id.
        sources.sort_unstable();
        let wanted = RowsWanted::forward(graph.is_weighted());
        let held = self.extent.held(graph, options)?;
        traverse::run(graph, wanted, held, options, |job| {
            let mut traversal = job.traversal(Listed::new(&sources));
            while let Some((row, _)) = traversal.next_row()? {
                let source = self.id_positions.of(row.source());
                row.for_each_weighted(|target, weight| {
                    edges.push(Edge { source, target: self.id_positions.of(target), weight });
                })?;
            }
            Ok::<_, crate::error::Error>(edges)
        })
    }

    fn along_tiles(
        &self,
        graph: &Graph,
        group: &[Vertex],
        mut edges: Vec<Edge>,
        options: &RunOptions<'_>,
    ) -> Result<Vec<Edge>> {
        let chosen = VertexSet::new(graph.short_vertex_count()?);
        for vertex in group {
            chosen.insert(vertex.id);
        }
        let held = self.extent.held(graph, options)? + VertexSet::size(graph.vertex_count());
        let _held = lease_with_overhead(graph, "the neighbours", held)?;
        let see =
            |edges: &mut Vec<Edge>, source: VertexId, target: VertexId, weight: Option<f32>| {
                // A damaged tile must not add more edges than there is room for.
                if chosen.contains(source.short()) && edges.len() < edges.capacity() {
                    let [source, target] =
                        [source, target].map(|end| self.id_positions.of(end.short()));
                    edges.push(Edge { source, target, weight: weight.unwrap_or(1.0) });
                }
            };
        let go_on = |_: &mut Vec<Edge>| Ok(ControlFlow::Continue(()));
        tiles::for_each_edge(graph, &options.cancel, &mut edges, see, go_on)?;
        Ok(edges)
    }
}

impl Extent {
    /// Refuses a budget that has no room for the largest group of rows.
    fn check_room(&self, graph: &Graph, options: &RunOptions<'_>) -> Result<()> {
        let needed =
            overhead(graph) + reading_size(graph, options.threads)? + self.held(graph, options)?;
        if needed <= options.memory {
            return Ok(());
        }
        Err(EngineError::over_budget("the neighbours", needed, options.memory).into())
    }

    /// Returns the bytes that are held while the edges of a group are read and written.
    fn held(&self, graph: &Graph, options: &RunOptions<'_>) -> Result<u64> {
        let at_once = edges_at_a_time(options.memory).min(self.edges);
        let edges = at_once.max(self.degree_max) * size_of::<Edge>() as u64;
        let vertices = self.vertices * VERTEX_BYTES;
        Ok(IdPositions::size(graph)? + vertices + edges + at_once * ROW_BYTES)
    }
}

/// Visits vertices with their out-degrees. The vertices must ascend.
fn for_each_degree(
    graph: &Graph,
    vertices: &[VertexId],
    mut visit: impl FnMut(ShortId, u32),
) -> Result<()> {
    let mut left = vertices.iter().map(|vertex| vertex.short()).peekable();
    // Ranges without an edge are not shown.
    graph.for_each_degrees(|first, out, _| {
        while let Some(id) = left.next_if(|id| u64::from(id.0) < first) {
            visit(id, 0);
        }
        let end = first + out.len() as u64;
        while let Some(id) = left.next_if(|id| u64::from(id.0) < end) {
            visit(id, out[(u64::from(id.0) - first) as usize]);
        }
        Ok(())
    })?;
    left.for_each(|id| visit(id, 0));
    Ok(())
}

/// Returns how many rows are held at a time, unless one vertex has more.
fn edges_at_a_time(memory: u64) -> u64 {
    // Two columns of ids are looked up.
    GroupSize::for_memory(memory).rows as u64 / 2
}

/// Returns how many of the vertices make the next group: at least one.
fn group_len(vertices: &[Vertex], edges_max: u64) -> usize {
    let mut edges = 0;
    let fits = |vertex: &&Vertex| {
        edges += u64::from(vertex.degree);
        edges <= edges_max
    };
    vertices.iter().take_while(fits).count().max(1)
}

/// Returns the least bytes for reading edges.
fn reading_size(graph: &Graph, threads: usize) -> Result<u64> {
    if graph.manifest().rows.is_none() {
        return Ok(graph.tile_pass_size() + VertexSet::size(graph.vertex_count()));
    }
    let wanted = RowsWanted::forward(graph.is_weighted());
    let rows = traverse::estimate_rows(graph, wanted, 0);
    let long_rows = traverse::long_rows_size(graph, wanted, threads)?;
    Ok(rows.vertex_bytes + rows.stream_bytes_min + long_rows)
}
