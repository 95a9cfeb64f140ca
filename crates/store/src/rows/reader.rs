//! Reads rows on demand, through a page cache that is told which rows come next.

use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use tegula_machine::disk::{PageCache, PageStatistics, Pinned, Targets};
use tegula_machine::threads::{Cancel, Workers};

use super::direction::Direction;
use super::extent::{RowExtent, RowPiece};
use super::index::IndexWalk;
use super::opened::Rows;
use super::references::References;
use super::row::Row;
use super::unpacked::UnpackedRows;
use crate::Result;
use crate::graph::Graph;
use crate::ids::ShortId;

/// Reads rows and their weights. Threads may share it; each thread needs a [`RowBatch`] of its own.
#[derive(Debug)]
pub struct RowReader {
    packed: Arc<PackedRows>,
    /// Bytes that were read before this reader was made.
    read_before: u64,
    /// Whether there is memory for unpacked rows.
    may_unpack: bool,
    /// All rows, after [`RowReader::unpack`].
    unpacked: OnceLock<UnpackedRows>,
}

/// The index and the caches, for any number of readers.
#[derive(Debug)]
struct PackedRows {
    rows: Rows,
    pages: PageCache,
    weights: Option<PageCache>,
    /// Whether [`RowReader::fill_once`] has run.
    was_filled: AtomicBool,
}

/// Rows that stay in memory until the batch is used again or dropped.
#[derive(Default)]
pub struct RowBatch {
    extents: Vec<RowExtent>,
    ranges: Vec<Range<u64>>,
    pages: Pinned,
    weights: Pinned,
    count: usize,
    references: References,
}

/// Bytes read around a row where the cache holds all rows: most of them will be needed soon.
const NEIGHBOURHOOD: u64 = 64 << 10;

/// Bytes per request where a whole range of rows is needed and stays in the cache.
const SPAN: u64 = 2 << 20;

/// Once one byte in `FILL_SHARE` was read by random access and the cache holds all rows, the rest
/// is read in order. Most of it will be needed anyway, and a row costs half as much without a cache
/// look-up.
const FILL_SHARE: u64 = 8;

/// Returns the bytes to read ahead for a range.
fn widened(pages: &PageCache, range: Range<u64>) -> Range<u64> {
    if !pages.fits() || range.is_empty() {
        return range;
    }
    let end = range.end.next_multiple_of(NEIGHBOURHOOD).min(pages.file().len());
    range.start / NEIGHBOURHOOD * NEIGHBOURHOOD..end.max(range.end)
}

impl RowReader {
    /// Bytes of the smallest useful cache: a page for each row of a batch. A smaller one reads page
    /// by page.
    pub const CACHE_SIZE_MIN: u64 = 1 << 20;

    /// Bytes of a cache that holds all rows, and all weights with `has_weights`.
    pub fn cache_size_max(graph: &Graph, direction: Direction, has_weights: bool) -> u64 {
        let size = |name| graph.manifest().file(name).map_or(0, |file| file.bytes);
        let all = |bytes: u64| PageCache::capacity_max(bytes) + RowReader::CACHE_SIZE_MIN;
        let files = graph.manifest().stored(direction).files();
        let weights = if has_weights { all(size(files.weights)) } else { 0 };
        all(size(files.data)) + weights
    }

    /// Bytes for the index and the tables of pages, beside the cache. An estimate while the graph
    /// has no rows yet.
    pub fn index_size(graph: &Graph, direction: Direction, has_weights: bool) -> u64 {
        let size = |name| graph.manifest().file(name).map_or(0, |file| file.bytes);
        let files = graph.manifest().stored(direction).files();
        let weights = if has_weights { size(files.weights) } else { 0 };
        let table = |bytes: u64| bytes / 4096 * 4;
        let index = match graph.manifest().rows_of(direction) {
            Some(_) => Rows::size(graph, direction),
            None => Rows::size_expected(graph),
        };
        index + table(size(files.data)) + table(weights)
    }

    /// The least number of bytes that a reader takes.
    pub fn size_min(graph: &Graph, direction: Direction, has_weights: bool) -> u64 {
        RowReader::index_size(graph, direction, has_weights) + RowReader::CACHE_SIZE_MIN
    }

    /// Opens the rows of a graph with a cache of `cache_size` bytes. Reads weights too with
    /// `has_weights`, if the graph has any. Returns `None` if the graph has no rows.
    pub fn open(
        graph: &Graph,
        direction: Direction,
        has_weights: bool,
        cache_size: u64,
        targets: &Targets,
    ) -> Result<Option<RowReader>> {
        let rows = Rows::open(graph, direction)?;
        rows.map(|rows| RowReader::new(rows, has_weights, cache_size, targets)).transpose()
    }

    /// Does what [`RowReader::open`] does, for rows that are already open.
    pub fn new(
        rows: Rows,
        has_weights: bool,
        cache_size: u64,
        targets: &Targets,
    ) -> Result<RowReader> {
        let weight_file = rows.weights().filter(|_| has_weights);
        // At least 1, because an empty file would make the divisor 0.
        let data_len = rows.data().len().max(1);
        let all = data_len + weight_file.map_or(0, |file| file.len());
        let share = |len: u64| (u128::from(cache_size) * u128::from(len) / u128::from(all)) as u64;
        let weights =
            weight_file.map(|file| PageCache::new(file, share(file.len()), targets)).transpose()?;
        let pages = PageCache::new(rows.data(), share(data_len), targets)?;
        let was_filled = AtomicBool::new(false);
        Ok(RowReader::of(Arc::new(PackedRows { rows, pages, weights, was_filled }), 0))
    }

    /// Makes a further reader with the same index and the same caches. It has unpacked rows and
    /// counts [`bytes_read`](RowReader::bytes_read) by itself, from here on.
    #[must_use]
    pub fn share(&self) -> RowReader {
        RowReader::of(Arc::clone(&self.packed), self.packed.bytes_read())
    }

    fn of(packed: Arc<PackedRows>, read_before: u64) -> RowReader {
        RowReader { packed, read_before, may_unpack: false, unpacked: OnceLock::new() }
    }

    /// The rows.
    pub fn rows(&self) -> &Rows {
        &self.packed.rows
    }

    /// Whether weights are read too.
    pub fn has_weights(&self) -> bool {
        self.packed.weights.is_some()
    }

    /// Statistics of the row cache.
    pub fn statistics(&self) -> PageStatistics {
        self.packed.pages.statistics()
    }

    /// The row cache, then the weight cache if there is one.
    fn caches(&self) -> impl Iterator<Item = &PageCache> {
        self.packed.caches()
    }

    /// Bytes read since this reader was made, weights included. What readers that
    /// [share](RowReader::share) its caches have read counts, too.
    pub fn bytes_read(&self) -> u64 {
        self.packed.bytes_read() - self.read_before
    }

    /// Pages read so far, weights included.
    pub fn pages_read(&self) -> u64 {
        self.caches().map(|cache| cache.statistics().pages_read).sum()
    }

    /// Bytes of the rows, and of their weights if they are read.
    pub fn byte_count(&self) -> u64 {
        self.caches().map(|cache| cache.file().len()).sum()
    }

    /// Approximate share of these bytes that is in memory.
    pub fn held_fraction(&self) -> f64 {
        let held = |cache: &PageCache| cache.statistics().bytes_read.min(cache.capacity());
        let held: u64 = self.caches().map(held).sum();
        (held as f64 / self.byte_count().max(1) as f64).min(1.0)
    }

    /// Pages that the smaller of the caches can hold.
    pub fn page_capacity(&self) -> usize {
        let pages = |cache: &PageCache| (cache.capacity() / cache.file().block_len()) as usize;
        self.caches().map(pages).min().unwrap_or(0)
    }

    /// Whether the caches hold all rows, so that none is read twice.
    pub fn fits(&self) -> bool {
        self.packed.pages.fits() && self.packed.weights.as_ref().is_none_or(PageCache::fits)
    }

    /// Begins to read the rows of these vertices; the row needed next comes first. Returns how many
    /// rows were requested or present before the limit of reads in flight was reached. Never waits.
    pub fn prefetch(&self, sources: impl Iterator<Item = ShortId> + Clone) -> usize {
        if self.is_complete() {
            return sources.count();
        }
        self.prefetch_extents(|count| self.packed.rows.extents(sources.clone().take(count)))
    }

    /// Does what [`RowReader::prefetch`] does, for pieces of rows.
    pub fn prefetch_pieces(&self, pieces: impl Iterator<Item = RowPiece> + Clone) -> usize {
        if self.is_complete() {
            return pieces.count();
        }
        self.prefetch_extents(|count| pieces.clone().take(count).map(|piece| piece.extent))
    }

    /// Begins to read what lies at extents; `extents(n)` gives the first `n` of them.
    fn prefetch_extents<E: Iterator<Item = RowExtent>>(
        &self,
        extents: impl Fn(usize) -> E,
    ) -> usize {
        let bytes = |extent: RowExtent| widened(&self.packed.pages, extent.bytes());
        let taken = self.packed.pages.prefetch(extents(usize::MAX).map(bytes));
        let Some(weights) = &self.packed.weights else { return taken };
        let weight_bytes = |extent: RowExtent| widened(weights, extent.weight_bytes());
        let both = weights.prefetch(extents(taken).map(weight_bytes));
        // The caller will request the other rows again; they must not count twice.
        self.packed.pages.retract(extents(taken).skip(both).map(bytes));
        both
    }

    /// Begins to read all rows of a range of vertices, without their weights. Returns the vertex up
    /// to which rows were requested, approximately. Never waits.
    ///
    /// # Panics
    /// When the last of them is no vertex.
    pub fn prefetch_range(&self, sources: Range<ShortId>) -> ShortId {
        let Some(last) = sources.end.0.checked_sub(1).filter(|&last| last >= sources.start.0)
        else {
            return sources.end;
        };
        if self.is_complete() {
            return sources.end;
        }
        let size = if self.packed.pages.fits() { SPAN } else { NEIGHBOURHOOD };
        let first = self.packed.rows.extent(sources.start).bytes().start / size * size;
        let end = self.packed.rows.extent(ShortId(last)).bytes().end.next_multiple_of(size);
        let end = end.min(self.packed.pages.file().len()).max(first);
        let pieces = (end - first).div_ceil(size);
        let piece = |number| {
            let start = first + number * size;
            start..end.min(start + size)
        };
        let taken = self.packed.pages.prefetch((0..pieces).map(piece)) as u64;
        if taken == pieces {
            return sources.end;
        }
        let count = u64::from(sources.end.0 - sources.start.0);
        ShortId(sources.start.0 + (count * taken / pieces) as u32)
    }

    /// Reads all rows into memory, in large requests, if the caches hold them all.
    pub fn fill(&self, cancel: &Cancel) -> Result<()> {
        if !self.fits() {
            return Ok(());
        }
        self.packed.pages.fill(cancel)?;
        self.packed.weights.as_ref().map_or(Ok(()), |weights| Ok(weights.fill(cancel)?))
    }

    /// Calls [`RowReader::fill_once`] once a good part was read by random access.
    pub fn fill_when_due(&self, cancel: &Cancel) {
        if self.packed.bytes_read() >= self.byte_count() / FILL_SHARE {
            self.fill_once(cancel);
        }
    }

    /// Does what [`RowReader::fill`] does, but only the first time. A failed read is no error here:
    /// it is reported when the row is needed.
    pub fn fill_once(&self, cancel: &Cancel) {
        let is_over =
            self.packed.was_filled.load(Ordering::Relaxed) || !self.fits() || self.is_complete();
        if !is_over
            && !self.packed.was_filled.swap(true, Ordering::Relaxed)
            && let Err(error) = self.fill(cancel)
        {
            tracing::debug!("not all rows are read in order: {error}");
        }
    }

    /// Bytes to unpack these rows with `threads` threads, beside the cache.
    pub fn unpacked_size(rows: &Rows, has_weights: bool, threads: usize) -> u64 {
        UnpackedRows::size(rows, has_weights, threads)
    }

    /// Decodes all rows into plain lists, which take [`RowReader::unpacked_size`] bytes. The caches
    /// should hold all rows.
    pub fn unpack(&self, workers: &Workers, cancel: &Cancel) -> Result<()> {
        if self.unpacked.get().is_none() {
            self.fill(cancel)?;
            // If another thread was quicker, its rows stay.
            let _ = self.unpacked.set(UnpackedRows::of(self, workers, cancel)?);
        }
        Ok(())
    }

    /// Declares that [memory](RowReader::unpacked_size) for unpacked rows is available.
    #[must_use]
    pub fn with_room_to_unpack(self) -> RowReader {
        RowReader { may_unpack: true, ..self }
    }

    /// Whether there is memory for unpacked rows.
    pub fn may_unpack(&self) -> bool {
        self.may_unpack
    }

    /// All rows as plain lists, after [`RowReader::unpack`].
    #[inline]
    pub fn unpacked(&self) -> Option<&UnpackedRows> {
        self.unpacked.get()
    }

    /// Whether the neighbours of a vertex come by ascending id.
    pub fn is_ascending(&self) -> bool {
        let is_by_weight = self.unpacked().is_some_and(|rows| rows.share_by_weight() > 0.0);
        self.packed.rows.is_ascending() && !is_by_weight
    }

    /// Approximate number of edges in the row of a vertex.
    pub fn degree(&self, source: ShortId) -> f64 {
        match self.unpacked.get() {
            Some(unpacked) => unpacked.degree(source) as f64,
            None => {
                self.packed.rows.extent(source).bit_count() as f64
                    / self.packed.rows.bits_per_edge().max(1.0)
            }
        }
    }

    /// Whether all rows and weights are in memory for good.
    pub fn is_complete(&self) -> bool {
        self.packed.pages.is_complete()
            && self.packed.weights.as_ref().is_none_or(PageCache::is_complete)
    }

    /// Brings the rows of these vertices into memory, as many as fit together, and returns their
    /// number: at least one if `sources` has any. Waits for reads in flight and reads the rest.
    pub fn get(&self, sources: &[ShortId], batch: &mut RowBatch) -> Result<usize> {
        batch.extents.clear();
        batch.extents.extend(self.packed.rows.extents(sources.iter().copied()));
        // With room for all rows, more is read around each of these than `pin` would read.
        if self.fits() {
            self.prefetch(sources.iter().copied());
        }
        self.pin(batch)
    }

    /// Brings the extents of a batch into memory, as many as fit together, and returns their
    /// number.
    fn pin(&self, batch: &mut RowBatch) -> Result<usize> {
        batch.ranges.clear();
        batch.ranges.extend(batch.extents.iter().map(RowExtent::bytes));
        batch.count = self.packed.pages.get_batch(&batch.ranges, &mut batch.pages)?;
        if let Some(weights) = &self.packed.weights {
            batch.ranges.clear();
            let extents = &batch.extents[..batch.count];
            batch.ranges.extend(extents.iter().map(RowExtent::weight_bytes));
            // Memory may have room for the weights of fewer rows.
            batch.count = weights.get_batch(&batch.ranges, &mut batch.weights)?;
        }
        Ok(batch.count)
    }

    /// Returns the edges of a piece as a row. Reads the packed rows even after
    /// [`RowReader::unpack`], because unpacked rows have no pieces.
    pub fn piece<'b>(&'b self, piece: &RowPiece, batch: &'b mut RowBatch) -> Result<Row<'b>> {
        if let Some(row) = self.held_row_at(&piece.extent) {
            return Ok(row);
        }
        batch.extents.clear();
        batch.extents.push(piece.extent.clone());
        self.pin(batch)?;
        Ok(self.row(batch, 0))
    }

    /// A row of a batch that [`RowReader::get`] has filled.
    ///
    /// # Panics
    /// When `index` is not below the number of rows in the batch.
    #[inline]
    pub fn row<'b>(&'b self, batch: &'b RowBatch, index: usize) -> Row<'b> {
        assert!(index < batch.count, "row {index} of {}", batch.count);
        self.pinned_row(&batch.extents[index], &batch.pages, &batch.weights, index)
    }

    /// The row at `index` of the pinned pages.
    #[inline(always)]
    fn pinned_row<'b>(
        &'b self,
        extent: &RowExtent,
        pages: &'b Pinned,
        weights: &'b Pinned,
        index: usize,
    ) -> Row<'b> {
        let weights = match self.packed.weights {
            None => &[],
            Some(_) => weights.bytes(index).as_chunks().0,
        };
        Row::packed(&self.packed.rows, extent, pages.padded(index), weights)
    }

    /// Calls `visit` with the rows of these vertices, as many as fit in memory together, until it
    /// breaks. Returns the number of rows visited before the break. Faster than [`RowReader::get`]
    /// where rows are in memory for good.
    #[inline]
    pub fn for_each_row(
        &self,
        sources: &[ShortId],
        batch: &mut RowBatch,
        mut visit: impl FnMut(&Row<'_>) -> Result<ControlFlow<()>>,
    ) -> Result<usize> {
        let mut done = 0;
        if let Some(unpacked) = self.unpacked.get() {
            for &source in sources {
                if visit(&Row::unpacked(unpacked, source))?.is_break() {
                    return Ok(done);
                }
                done += 1;
            }
            return Ok(done);
        }
        // All extents are looked up before the first visit, so that cache misses in the index
        // overlap.
        batch.extents.clear();
        if self.fits() {
            batch.extents.extend(self.packed.rows.extents(sources.iter().copied()));
        }
        let visited = batch.references.visited();
        for extent in &batch.extents {
            let Some(row) = self.held_row_at(extent) else { break };
            if visit(&row.after(visited))?.is_break() {
                return Ok(done);
            }
            done += 1;
        }
        if done == sources.len() {
            return Ok(done);
        }
        let count = self.get(&sources[done..], batch)?;
        let RowBatch { extents, pages, weights, references, .. } = batch;
        let visited = references.visited();
        for (index, extent) in extents[..count].iter().enumerate() {
            let row = self.pinned_row(extent, pages, weights, index);
            if visit(&row.after(visited))?.is_break() {
                return Ok(done);
            }
            done += 1;
        }
        Ok(done)
    }

    /// The row of a vertex, if it is in memory for good. `walk` keeps the place of the last
    /// look-up.
    #[inline]
    pub fn held_row(&self, source: ShortId, walk: &mut IndexWalk) -> Option<Row<'_>> {
        if let Some(unpacked) = self.unpacked.get() {
            return Some(Row::unpacked(unpacked, source));
        }
        self.held_row_at(&self.packed.rows.extent_from(source, walk))
    }

    // Inlined: a row that is passed through memory stalls the loads of its fields.
    #[inline(always)]
    fn held_row_at(&self, extent: &RowExtent) -> Option<Row<'_>> {
        let bytes = self.packed.pages.held(&extent.bytes())?;
        let weights = match &self.packed.weights {
            None => &[],
            Some(weights) => weights.held(&extent.weight_bytes())?.as_chunks().0,
        };
        Some(Row::packed(&self.packed.rows, extent, bytes, weights))
    }
}

impl PackedRows {
    /// The row cache, then the weight cache if there is one.
    fn caches(&self) -> impl Iterator<Item = &PageCache> {
        std::iter::once(&self.pages).chain(&self.weights)
    }

    /// Bytes read so far, weights included.
    fn bytes_read(&self) -> u64 {
        let done = self.caches().map(PageCache::statistics);
        done.map(|done| done.bytes_read + done.bytes_past).sum()
    }
}
