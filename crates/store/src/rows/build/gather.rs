//! Gathers the edges of a group from the tiles and encodes them chunk by chunk.

use std::ops::{ControlFlow, Range};

use tegula_machine::threads::Cancel;

use super::chunks::{PlannedChunk, arc, other_degrees};
use super::groups::Ends;
use crate::graph::{Graph, TileEntry};
use crate::rows::bits::BitWriter;
use crate::rows::direction::Direction;
use crate::rows::encoding::{RowEncoder, RowEncoding};
use crate::rows::index::{ChunkRows, RowMeasure};
use crate::rows::writer::EncodedChunk;
use crate::tiles::{EdgeWeight, Tile};
use crate::{Error, Result};

/// The edges of a group of chunks, row by row.
pub(super) struct Group<W> {
    end: Direction,
    source_first: u32,
    /// The arcs of the group, as numbers.
    arcs: Range<u64>,
    /// The first arc of each chunk and the number of its first row, if some chunks are pieces.
    /// Otherwise empty: rows are numbered as their sources.
    chunk_firsts: Vec<(u64, usize)>,
    /// Where each row, or piece of one, begins; the last element is the end.
    starts: Vec<usize>,
    edges: Vec<(u32, W)>,
}

impl<W: EdgeWeight> Group<W> {
    /// Gathers the edges of consecutive chunks.
    pub fn gather(
        graph: &Graph,
        end: Direction,
        degrees: &[u32],
        chunks: &[PlannedChunk],
        cancel: &Cancel,
    ) -> Result<Group<W>> {
        let ends = Ends::of(chunks);
        let arcs = chunks.first().map_or(0, |chunk| chunk.arcs().start)
            ..chunks.last().map_or(0, |chunk| chunk.arcs().end);
        let mut starts = Vec::with_capacity(ends.sources.len() + chunks.len() + 1);
        let mut chunk_firsts = Vec::new();
        let mut next = 0;
        starts.push(0);
        for chunk in chunks {
            chunk_firsts.push((chunk.arcs().start, starts.len() - 1));
            starts.extend(chunk.row_edges(degrees).map(|edges| {
                next += edges as usize;
                next
            }));
        }
        if !chunks.iter().any(|chunk| chunk.is_piece) {
            chunk_firsts.clear();
        }
        let edges = vec![(0, W::default()); next];
        let source_first = ends.sources.start;
        let mut group = Group { end, source_first, arcs, chunk_firsts, starts, edges };
        let mut places = group.starts.clone();
        let is_wanted = |tile: &TileEntry| ends.may_lie_in(graph, end, tile);
        graph.for_each_tile(is_wanted, true, cancel, |index, tile, weights| {
            let placed = group.place(graph, index, tile, weights, &mut places);
            placed.map_err(|detail| graph.damaged_tile(index, detail))?;
            Ok::<_, Error>(ControlFlow::Continue(()))
        })?;
        if places[..places.len() - 1] != group.starts[1..] {
            return Err(other_degrees(graph));
        }
        Ok(group)
    }

    /// Copies the edges of a tile that belong to the group to their positions.
    fn place(
        &mut self,
        graph: &Graph,
        index: usize,
        tile: Tile<'_>,
        weights: &[f32],
        places: &mut [usize],
    ) -> Result<(), String> {
        let mut is_sound = true;
        graph.for_each_edge(index, tile, |entry, source, target| {
            let (source, target) = self.end.ends(source as u32, target as u32);
            if !self.arcs.contains(&arc(source, target)) {
                return;
            }
            let row = self.row_of(source, target);
            let place = places[row];
            // More edges than the degree says would overwrite the next row.
            if place == self.starts[row + 1] || u64::from(target) >= graph.vertex_count() {
                is_sound = false;
                return;
            }
            let weight = weights.get(entry).map(|&weight| W::from_f32(weight));
            self.edges[place] = (target, weight.unwrap_or_default());
            places[row] += 1;
        })?;
        if is_sound { Ok(()) } else { Err("its edges do not fit the degrees".to_owned()) }
    }

    /// The number of the row, or piece of one, of an edge in the group.
    #[inline(always)]
    fn row_of(&self, source: u32, target: u32) -> usize {
        if self.chunk_firsts.is_empty() {
            return (source - self.source_first) as usize;
        }
        let arc = arc(source, target);
        let chunk = self.chunk_firsts.partition_point(|&(first, _)| first <= arc) - 1;
        let (first, row) = self.chunk_firsts[chunk];
        row + (source - (first >> u32::BITS) as u32) as usize
    }

    /// Sorts the rows into their stored order and encodes them.
    pub fn encode(
        mut self,
        encoding: RowEncoding,
        chunks: &[PlannedChunk],
        limit: u32,
    ) -> Vec<EncodedChunk> {
        let sources = chunks.iter().flat_map(|chunk| chunk.sources.clone());
        for (source, bounds) in sources.zip(self.starts.windows(2)) {
            encoding.sort(source, &mut self.edges[bounds[0]..bounds[1]]);
        }
        let mut first = 0;
        let encode = |chunk: &PlannedChunk| {
            let rows = Rows { chunk, first, starts: &self.starts, edges: &self.edges };
            first += chunk.sources.len();
            rows.encode(encoding, limit)
        };
        chunks.iter().map(encode).collect()
    }
}

/// The rows of a chunk, in order.
struct Rows<'g, W> {
    chunk: &'g PlannedChunk,
    /// Number of its first row in the group.
    first: usize,
    starts: &'g [usize],
    edges: &'g [(u32, W)],
}

impl<W: EdgeWeight> Rows<'_, W> {
    fn encode(&self, encoding: RowEncoding, limit: u32) -> EncodedChunk {
        let sources = &self.chunk.sources;
        let is_told = |source: u32, target: u32| source != target || encoding.holds_loops();
        let arcs = sources.clone().flat_map(|source| {
            let targets = self.row(source).iter().map(move |edge| (source, edge.0));
            targets.filter(move |&(source, target)| is_told(source, target))
        });
        let mut encoder = RowEncoder::new(encoding, limit, arcs);
        let target_first = self.chunk.is_piece.then_some(self.chunk.targets.start);
        let mut rows = ChunkRows { target_first, ..ChunkRows::default() };
        let mut bits = BitWriter::default();
        let mut targets = Vec::new();
        let mut edge_count = 0;
        for (local, source) in sources.clone().enumerate() {
            let row = self.row(source);
            let told = row.iter().map(|edge| edge.0).filter(|&target| is_told(source, target));
            targets.clear();
            targets.extend(told);
            encoder.encode(source, &targets, &mut bits);
            // The index has the loops that the encoding cannot hold.
            let loops = row.iter().filter(|edge| !is_told(source, edge.0)).count();
            rows.loops.extend(std::iter::repeat_n(local as u16, loops));
            edge_count += row.len() as u64;
            rows.ends.push(RowMeasure { bits: bits.len(), edges: edge_count });
        }
        let mut weights = Vec::new();
        if W::IS_WEIGHTED {
            let edges = sources.clone().flat_map(|source| self.row(source));
            weights.extend(edges.map(|edge| edge.1.to_f32()));
        }
        let (code, bytes) = (encoder.into_code(), bits.into_bytes());
        EncodedChunk { source_first: sources.start, rows, code, bytes, weights }
    }

    fn row(&self, source: u32) -> &[(u32, W)] {
        let row = self.first + (source - self.chunk.sources.start) as usize;
        &self.edges[self.starts[row]..self.starts[row + 1]]
    }
}
