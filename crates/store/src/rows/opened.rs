//! The rows of a graph, opened for reading. Holds the index in memory and decodes bytes into
//! neighbours.

use std::ops::{ControlFlow, Range};
use std::path::PathBuf;

use tegula_machine::disk::{BlockFile, Pinned};
use tegula_machine::memory::huge;

use super::bits::RowBits;
use super::copy::{CopyCode, REACH_BITS};
use super::cut::ChunkCut;
use super::direction::Direction;
use super::encoding::RowEncoding;
use super::extent::{RowExtent, RowPiece};
use super::index::{Expected, IndexWalk, RowChunk, RowIndex, RowMeasure};
use super::references::{References, Visited};
use crate::graph::Graph;
use crate::ids::ShortId;
use crate::{Error, Result};

/// Estimates for [`Rows::size_expected`], rather too high: sources per chunk, and bytes per record.
const CHUNK_VERTICES: u64 = 1 << 16;
const CHUNK_BYTES: u64 = 512;

/// Neighbours of a long row that are decoded at a time.
const SLICE: usize = 256;

/// The rows of a graph, with the index in memory. The index takes about 1.2 bytes a vertex for rows
/// of 60 bits, and less than half as much again for weights.
#[derive(Debug)]
pub struct Rows {
    encoding: RowEncoding,
    vertex_count: u32,
    edge_count: u64,
    index: RowIndex,
    data: BlockFile,
    weights: Option<BlockFile>,
    path: PathBuf,
}

impl Rows {
    /// Bytes of memory for opened rows; 0 if the graph has none.
    pub fn size(graph: &Graph, direction: Direction) -> u64 {
        let index = graph.manifest().stored(direction).files().index;
        graph.manifest().file(index).map_or(0, |file| RowIndex::size(file.bytes))
    }

    /// Estimate of [`Rows::size`] before the rows are built, rather too high.
    pub fn size_expected(graph: &Graph) -> u64 {
        let vertices = graph.vertex_count();
        let degree = graph.edge_count().div_ceil(vertices.max(1)).max(1);
        // Elias-Fano codes, if every edge took 24 bits.
        let bits_each = |last: u64| u64::from(last.ilog2()) + 3;
        let weights = if graph.is_weighted() { bits_each(degree) } else { 0 };
        let ends = vertices * (bits_each(24 * degree) + weights) / 8;
        RowIndex::size(ends + vertices.div_ceil(CHUNK_VERTICES) * CHUNK_BYTES)
    }

    /// Opens the rows of a graph; `None` if it has none.
    ///
    /// # Errors
    /// [`Error::Corrupt`](tegula_machine::Error::Corrupt) where the index does not fit the graph.
    pub fn open(graph: &Graph, direction: Direction) -> Result<Option<Rows>> {
        let manifest = graph.manifest();
        let Some(layout) = manifest.rows_of(direction) else { return Ok(None) };
        let vertex_count = graph.short_vertex_count()?;
        let names = manifest.stored(direction).files();
        let data = graph.block_file(names.data)?;
        let weights = if manifest.weighted { Some(graph.block_file(names.weights)?) } else { None };
        let file = graph.block_file(names.index)?;
        let damaged = |name: &str, detail: String| {
            Error::corrupt(graph.directory().join(name), "its content", detail)
        };
        if weights.as_ref().is_some_and(|weights| weights.len() != 4 * manifest.edges) {
            let detail = format!("its length does not fit {} edges", manifest.edges);
            return Err(damaged(names.weights, detail));
        }
        if !file.len().is_multiple_of(size_of::<u64>() as u64) {
            let detail = format!("its length of {} bytes is not a multiple of 8", file.len());
            return Err(damaged(names.index, detail));
        }
        let count = file.len() as usize / size_of::<u64>();
        let mut words: Vec<u64> = huge::with_capacity(count);
        words.resize(count, 0);
        file.read_all_into(&mut words)?;
        let expected = Expected {
            encoding: layout.encoding,
            chunks: layout.chunks,
            vertices: manifest.vertices,
            edges: manifest.edges,
            is_weighted: manifest.weighted,
            has_pieces: manifest.may_cut_rows(),
            data_len: data.len(),
        };
        let index =
            RowIndex::open(words, &expected).map_err(|detail| damaged(names.index, detail))?;
        Ok(Some(Rows {
            encoding: layout.encoding,
            vertex_count,
            edge_count: graph.edge_count(),
            index,
            path: data.path().to_owned(),
            data,
            weights,
        }))
    }

    /// Number of vertices.
    pub fn vertex_count(&self) -> u32 {
        self.vertex_count
    }

    /// Number of edges.
    pub fn edge_count(&self) -> u64 {
        self.edge_count
    }

    /// The chunks, in their order.
    pub(super) fn chunks(&self) -> impl Iterator<Item = RowChunk> + '_ {
        self.index.chunks()
    }

    /// The vertices with more than one [piece](Rows::pieces), ascending. They have more than 2^20
    /// edges each.
    pub fn long(&self) -> &[ShortId] {
        self.index.long()
    }

    /// The pieces of a vertex's row: one, unless the vertex is among the [long](Rows::long) ones.
    ///
    /// # Panics
    /// When there is no such vertex.
    pub fn pieces(&self, source: ShortId) -> impl ExactSizeIterator<Item = RowPiece> + Clone + '_ {
        self.index.pieces(source)
    }

    /// Bits of all rows together.
    pub fn bit_count(&self) -> u64 {
        8 * self.data.len()
    }

    /// Average bits per edge; 0 in a graph without edges.
    pub fn bits_per_edge(&self) -> f64 {
        self.bit_count() as f64 / self.edge_count.max(1) as f64
    }

    /// Upper bound in bytes for a [`RowBatch`](super::RowBatch), beside its cache: a MiB and the
    /// longest row, and the same of its weights if they are read. Some KiB too high.
    pub fn batch_size(&self, has_weights: bool) -> u64 {
        self.batch_size_of(self.index.row_max(), has_weights)
    }

    /// As [`Rows::batch_size`], where long rows are read piece by piece.
    pub fn piece_batch_size(&self, has_weights: bool) -> u64 {
        self.batch_size_of(self.index.piece_max(), has_weights)
    }

    fn batch_size_of(&self, longest: RowMeasure, has_weights: bool) -> u64 {
        let RowMeasure { bits, edges } = longest;
        let references = if self.index.copies() { References::SIZE_MAX } else { 0 };
        let rows = Pinned::size_max(bits.div_ceil(8) + 1) + references;
        let has_weights = has_weights && self.weights.is_some();
        rows + if has_weights { Pinned::size_max(4 * edges) } else { 0 }
    }

    /// Edges of the longest row, in a weighted graph.
    pub(super) fn longest(&self) -> u64 {
        self.index.row_max().edges
    }

    /// Upper bound for [`batch_size`](Self::batch_size) before the rows are built.
    pub fn batch_size_expected(
        graph: &Graph,
        direction: Direction,
        has_weights: bool,
    ) -> Result<u64> {
        let degree_max = u64::from(graph.degree_max(direction)?);
        Ok(Rows::batch_size_of_edges(graph, degree_max, has_weights))
    }

    /// Upper bound for [`piece_batch_size`](Self::piece_batch_size) before the rows are built.
    pub fn piece_batch_size_expected(
        graph: &Graph,
        direction: Direction,
        has_weights: bool,
    ) -> Result<u64> {
        let degree_max = u64::from(graph.degree_max(direction)?);
        let edges = ChunkCut::STANDARD.row_max(graph, degree_max);
        Ok(Rows::batch_size_of_edges(graph, edges, has_weights))
    }

    fn batch_size_of_edges(graph: &Graph, edges: u64, has_weights: bool) -> u64 {
        // No code that was fitted takes more bits than an id.
        let row = Pinned::size_max(4 * edges + 1);
        let weights = if has_weights && graph.is_weighted() { row } else { 0 };
        row + REACH_BITS / 8 + References::SIZE_MAX + weights
    }

    /// Whether the neighbours of a vertex come by ascending id.
    pub fn is_ascending(&self) -> bool {
        self.encoding.is_ascending()
    }

    /// The file of the rows; a row lies where its [`RowExtent`] says.
    pub fn data(&self) -> &BlockFile {
        &self.data
    }

    /// The file of their weights, in a weighted graph.
    pub fn weights(&self) -> Option<&BlockFile> {
        self.weights.as_ref()
    }

    /// Looks up where a row lies: about 15 ns, plus a binary search in a chunk that indexes few of
    /// its vertices.
    ///
    /// # Panics
    /// When there is no such vertex.
    #[inline]
    pub fn extent(&self, source: ShortId) -> RowExtent {
        self.index.extent(source)
    }

    /// As [`Rows::extent`], from the place where `walk` is.
    #[inline(always)]
    pub(super) fn extent_from(&self, source: ShortId, walk: &mut IndexWalk) -> RowExtent {
        self.index.extent_from(source, walk)
    }

    /// Looks up where several rows lie. Faster than one by one if `sources` ascend and are close
    /// together.
    #[inline]
    pub fn extents<'r>(
        &'r self,
        sources: impl Iterator<Item = ShortId> + 'r,
    ) -> impl Iterator<Item = RowExtent> + 'r {
        let mut walk = IndexWalk::default();
        sources.map(move |source| self.index.extent_from(source, &mut walk))
    }

    /// Folds the neighbours of a vertex, in stored order, until `step` breaks. `bytes` are those of
    /// [`RowExtent::bytes`]; 8 readable bytes behind them make it faster. `visited` has the rows
    /// visited before and keeps this one.
    ///
    /// # Errors
    /// [`Error::Corrupt`](tegula_machine::Error::Corrupt) where the bytes are no row.
    #[inline(always)]
    pub(super) fn try_fold<A>(
        &self,
        extent: &RowExtent,
        bytes: &[u8],
        visited: Option<Visited<'_>>,
        init: A,
        step: impl FnMut(A, ShortId) -> ControlFlow<A, A>,
    ) -> Result<A> {
        if extent.is_cut() {
            return self.try_fold_cut(extent, bytes, init, step);
        }
        self.try_fold_piece(extent, bytes, visited, init, step)
    }

    /// As [`Rows::try_fold`], for a row in several pieces. Not inlined, and `step` is called
    /// outside of the decoder: so the decoder is not compiled twice for each `step`.
    #[inline(never)]
    fn try_fold_cut<A>(
        &self,
        extent: &RowExtent,
        bytes: &[u8],
        init: A,
        mut step: impl FnMut(A, ShortId) -> ControlFlow<A, A>,
    ) -> Result<A> {
        let mut folded = init;
        for number in extent.chunks.clone() {
            let piece = self.index.piece(number, extent.source);
            let start = ((piece.bits.start - extent.bits.start) / 8) as usize;
            let bytes = bytes.get(start..).ok_or_else(|| self.cut_off(extent))?;
            let mut slices = Some(folded);
            let mut fold = |targets: &[ShortId]| {
                let Some(mut folded) = slices.take() else { return ControlFlow::Break(()) };
                for &target in targets {
                    match step(folded, target) {
                        ControlFlow::Continue(next) => folded = next,
                        ControlFlow::Break(last) => {
                            slices = Some(last);
                            return ControlFlow::Break(());
                        }
                    }
                }
                slices = Some(folded);
                ControlFlow::Continue(())
            };
            let is_over = self.for_each_slice(&piece, bytes, &mut fold)?.is_break();
            folded = slices.ok_or_else(|| self.cut_off(extent))?;
            if is_over {
                break;
            }
        }
        Ok(folded)
    }

    /// Calls `visit` with the neighbours in a piece, [`SLICE`] at a time and in stored order, until
    /// it breaks.
    fn for_each_slice(
        &self,
        piece: &RowExtent,
        bytes: &[u8],
        visit: &mut dyn FnMut(&[ShortId]) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>> {
        let mut slice = [ShortId(0); SLICE];
        let rest = self.try_fold_piece(piece, bytes, None, 0, |len, target| {
            slice[len] = target;
            if len + 1 < SLICE {
                return ControlFlow::Continue(len + 1);
            }
            match visit(&slice) {
                ControlFlow::Continue(()) => ControlFlow::Continue(0),
                ControlFlow::Break(()) => ControlFlow::Break(SLICE),
            }
        })?;
        Ok(if rest == SLICE { ControlFlow::Break(()) } else { visit(&slice[..rest]) })
    }

    /// As [`Rows::try_fold`], for a row in one piece or for a piece.
    #[inline(always)]
    fn try_fold_piece<A>(
        &self,
        extent: &RowExtent,
        bytes: &[u8],
        visited: Option<Visited<'_>>,
        init: A,
        mut step: impl FnMut(A, ShortId) -> ControlFlow<A, A>,
    ) -> Result<A> {
        let number = extent.chunks.start;
        let chunk = self.index.chunk(number);
        let mut folded = init;
        // These loops come first: their encoding sorts by magnitude, and theirs is 0.
        for _ in 0..self.index.loops(number, extent.source) {
            match step(folded, extent.source) {
                ControlFlow::Continue(next) => folded = next,
                ControlFlow::Break(last) => return Ok(last),
            }
        }
        if extent.bits.is_empty() {
            return Ok(folded);
        }
        let row = extent.row(&extent.bits, bytes).ok_or_else(|| self.cut_off(extent))?;
        let step = |folded, target| step(folded, ShortId(target));
        let folded = match chunk.code.copying() {
            None => chunk.code.try_fold(extent.source.0, row, self.vertex_count, folded, step),
            Some(code) => self.try_fold_copying(code, extent, (bytes, row), visited, folded, step),
        };
        folded.map_err(|detail| self.damaged(extent.source, detail))
    }

    /// As [`Rows::try_fold`], for a row in a chunk whose rows copy.
    #[inline(always)]
    fn try_fold_copying<A>(
        &self,
        code: &CopyCode,
        extent: &RowExtent,
        (bytes, row): (&[u8], RowBits<'_>),
        visited: Option<Visited<'_>>,
        init: A,
        mut step: impl FnMut(A, u32) -> ControlFlow<A, A>,
    ) -> std::result::Result<A, String> {
        let (source, vertex_count) = (extent.source.0, self.vertex_count);
        let (distance, codes) = code.reference(row)?;
        if distance > 0 {
            // If this is no vertex, it is in no slot.
            let reference = source.wrapping_sub(distance);
            let mut alone;
            let visited = match visited {
                Some(visited) => visited,
                None => {
                    alone = References::default();
                    alone.visited()
                }
            };
            let (mut targets, is_here) = visited.take(reference);
            if !is_here {
                self.unpack_reference(code, extent, bytes, distance, &mut targets)?;
            }
            let mut copied = visited.take_room();
            let (room, limit) = (&mut copied, vertex_count);
            let folded = code.try_fold_copying(source, codes, &targets, room, limit, init, step);
            visited.give_room_back(copied);
            visited.keep(reference, targets, true);
            return folded;
        }
        let Some(visited) = visited.filter(|_| References::hold(row.len())) else {
            return code.try_fold(source, row, vertex_count, init, step);
        };
        // Later rows may copy from this one, so it is kept once all of it was visited.
        let (mut seen, mut is_whole) = (visited.take(source).0, true);
        seen.clear();
        let folded = code.try_fold(source, row, vertex_count, init, |folded, target| {
            seen.push(target);
            let next = step(folded, target);
            if next.is_break() {
                is_whole = false;
            }
            next
        });
        visited.keep(source, seen, is_whole && folded.is_ok());
        folded
    }

    /// Appends the neighbours of the reference row, which lies `distance` vertices before.
    fn unpack_reference(
        &self,
        code: &CopyCode,
        extent: &RowExtent,
        bytes: &[u8],
        distance: u32,
        targets: &mut Vec<u32>,
    ) -> std::result::Result<(), String> {
        let before = self.index.before(extent, distance);
        let before = before.filter(|reference| reference.bits.end <= extent.bits.start);
        let found = before.and_then(|reference| {
            let row = extent.row(&reference.bits, bytes)?;
            Some((reference.source.0, row))
        });
        let (source, row) = found.ok_or_else(|| {
            format!("it copies from {distance} vertices before, where there is no row")
        })?;
        targets.reserve(row.len() as usize);
        let push = |(), target| {
            targets.push(target);
            ControlFlow::Continue(())
        };
        let unpacked = code.try_fold(source, row, self.vertex_count, (), push);
        unpacked.map_err(|detail| format!("it copies from vertex {source}: {detail}"))
    }

    #[cold]
    fn cut_off(&self, extent: &RowExtent) -> Error {
        self.damaged(extent.source, "it is cut off".to_owned())
    }

    /// Returns the error for a piece with a target outside of its range.
    pub fn damaged_piece(&self, piece: &RowPiece) -> Error {
        let Range { start, end } = piece.targets();
        let detail = format!("a piece has no edges, or targets outside {}..{}", start.0, end.0);
        self.damaged(piece.source(), detail)
    }

    /// A key that ascends along the row of `source`.
    pub(crate) fn sort_key(&self, source: ShortId, target: ShortId) -> (u32, bool) {
        self.encoding.sort_key(source.0, target.0)
    }

    /// Returns the error for rows that do not fit the graph.
    pub(crate) fn damaged_file(&self, detail: String) -> Error {
        Error::corrupt(self.path.clone(), "its rows", detail)
    }

    /// Returns the error for a row with invalid content.
    pub(crate) fn damaged(&self, source: ShortId, detail: String) -> Error {
        let part = format!("the row of vertex {} (in the order of the graph)", source.0);
        Error::corrupt(self.path.clone(), part, detail)
    }
}
