//! Rows as they are needed: through a cache of pages that is told what comes next.

use std::ops::{ControlFlow, Range};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use tegula_machine::Result;
use tegula_machine::disk::{PageCache, PageStatistics, Pinned, Targets};
use tegula_machine::threads::{Cancel, Workers};

use super::direction::Direction;
use super::extent::{RowExtent, RowPiece};
use super::index::IndexWalk;
use super::opened::Rows;
use super::references::References;
use super::row::Row;
use super::unpacked::UnpackedRows;
use crate::graph::Graph;
use crate::ids::ShortId;

/// Reads rows, and their weights beside them. Any number of threads may share it, each with a
/// [`RowBatch`] of its own.
#[derive(Debug)]
pub struct RowReader {
    rows: Rows,
    pages: PageCache,
    weights: Option<PageCache>,
    /// Whether all were read in order, or that was tried.
    was_filled: AtomicBool,
    /// Whether there is memory for unpacked rows.
    may_unpack: bool,
    /// All rows, once they are unpacked.
    unpacked: OnceLock<UnpackedRows>,
}

/// Rows that are in memory until this is used again or dropped.
#[derive(Default)]
pub struct RowBatch {
    extents: Vec<RowExtent>,
    ranges: Vec<Range<u64>>,
    pages: Pinned,
    weights: Pinned,
    count: usize,
    references: References,
}

/// Bytes that are read around a row where all rows find room: soon most of them are needed.
const NEIGHBOURHOOD: u64 = 64 << 10;

/// Bytes that are read together where all of them are needed and stay.
const SPAN: u64 = 2 << 20;

/// Where one byte in this number was read here and there, and all find room, the others are read in order:
/// most of them will be needed, and where nothing has to be looked for, rows cost half as much.
const FILL_SHARE: u64 = 8;

/// What is to be read ahead for a range.
fn widened(pages: &PageCache, range: Range<u64>) -> Range<u64> {
    if !pages.fits() || range.is_empty() {
        return range;
    }
    let end = range.end.next_multiple_of(NEIGHBOURHOOD).min(pages.file().len());
    range.start / NEIGHBOURHOOD * NEIGHBOURHOOD..end.max(range.end)
}

impl RowReader {
    /// Bytes of cache below which reading goes page by page: a page each for the rows of a batch.
    pub const CACHE_SIZE_MIN: u64 = 1 << 20;

    /// Bytes of a cache that holds all rows, and their weights where they are wanted.
    pub fn cache_size_max(graph: &Graph, direction: Direction, has_weights: bool) -> u64 {
        let size = |name| graph.manifest().file(name).map_or(0, |file| file.bytes);
        let all = |bytes: u64| PageCache::capacity_max(bytes) + RowReader::CACHE_SIZE_MIN;
        let files = graph.manifest().stored(direction).files();
        let weights = if has_weights { all(size(files.weights)) } else { 0 };
        all(size(files.data)) + weights
    }

    /// Bytes that a reader takes beside its cache: the index, and the tables of pages. About, in a graph
    /// that is yet to get its rows.
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

    /// Bytes that a reader takes at the least.
    pub fn size_min(graph: &Graph, direction: Direction, has_weights: bool) -> u64 {
        RowReader::index_size(graph, direction, has_weights) + RowReader::CACHE_SIZE_MIN
    }

    /// Reads the rows of a graph through a cache of `cache_size` bytes, weights too where they are wanted and
    /// stored. `None` where the graph has no rows.
    ///
    /// # Errors
    /// Those of [`Rows::open`] and of [`PageCache::new`].
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

    /// As [`RowReader::open`], of rows that are open.
    ///
    /// # Errors
    /// Those of [`PageCache::new`].
    pub fn new(
        rows: Rows,
        has_weights: bool,
        cache_size: u64,
        targets: &Targets,
    ) -> Result<RowReader> {
        let weight_file = rows.weights().filter(|_| has_weights);
        let data_len = rows.data().len().max(1);
        let all = data_len + weight_file.map_or(0, |file| file.len());
        let share = |len: u64| (u128::from(cache_size) * u128::from(len) / u128::from(all)) as u64;
        let weights =
            weight_file.map(|file| PageCache::new(file, share(file.len()), targets)).transpose()?;
        let pages = PageCache::new(rows.data(), share(data_len), targets)?;
        Ok(RowReader {
            pages,
            weights,
            rows,
            was_filled: AtomicBool::new(false),
            may_unpack: false,
            unpacked: OnceLock::new(),
        })
    }

    /// The rows.
    pub fn rows(&self) -> &Rows {
        &self.rows
    }

    /// Whether weights are read too.
    pub fn has_weights(&self) -> bool {
        self.weights.is_some()
    }

    /// What was asked of the cache of rows so far.
    pub fn statistics(&self) -> PageStatistics {
        self.pages.statistics()
    }

    /// The cache of rows, and that of weights where they are read.
    fn caches(&self) -> impl Iterator<Item = &PageCache> {
        std::iter::once(&self.pages).chain(&self.weights)
    }

    /// Bytes read so far, weights included.
    pub fn bytes_read(&self) -> u64 {
        let done = self.caches().map(PageCache::statistics);
        done.map(|done| done.bytes_read + done.bytes_past).sum()
    }

    /// Pages read so far, weights included.
    pub fn pages_read(&self) -> u64 {
        self.caches().map(|cache| cache.statistics().pages_read).sum()
    }

    /// Bytes of the rows and, where they are read, of their weights.
    pub fn byte_count(&self) -> u64 {
        self.caches().map(|cache| cache.file().len()).sum()
    }

    /// Which share of them is in memory, about.
    pub fn held_fraction(&self) -> f64 {
        let held = |cache: &PageCache| cache.statistics().bytes_read.min(cache.capacity());
        let held: u64 = self.caches().map(held).sum();
        (held as f64 / self.byte_count().max(1) as f64).min(1.0)
    }

    /// Pages that find room: of rows, or of weights where those are fewer.
    pub fn page_capacity(&self) -> usize {
        let pages = |cache: &PageCache| (cache.capacity() / cache.file().block_len()) as usize;
        self.caches().map(pages).min().unwrap_or(0)
    }

    /// Whether all rows find room, so that none is read twice.
    pub fn fits(&self) -> bool {
        self.pages.fits() && self.weights.as_ref().is_none_or(PageCache::fits)
    }

    /// Begins to read the rows of these vertices, the one that is needed next first; tells how many
    /// were seen to before enough reads were on their way. Never waits.
    pub fn prefetch(&self, sources: impl Iterator<Item = ShortId> + Clone) -> usize {
        if self.is_complete() {
            return sources.count();
        }
        self.prefetch_extents(|count| self.rows.extents(sources.clone().take(count)))
    }

    /// As [`RowReader::prefetch`], of pieces of rows.
    pub fn prefetch_pieces(&self, pieces: impl Iterator<Item = RowPiece> + Clone) -> usize {
        if self.is_complete() {
            return pieces.count();
        }
        self.prefetch_extents(|count| pieces.clone().take(count).map(|piece| piece.extent))
    }

    /// The same of what lies at extents, of which `extents` gives the first so many.
    fn prefetch_extents<E: Iterator<Item = RowExtent>>(
        &self,
        extents: impl Fn(usize) -> E,
    ) -> usize {
        let bytes = |extent: RowExtent| widened(&self.pages, extent.bytes());
        let taken = self.pages.prefetch(extents(usize::MAX).map(bytes));
        let Some(weights) = &self.weights else { return taken };
        let weight_bytes = |extent: RowExtent| widened(weights, extent.weight_bytes());
        let both = weights.prefetch(extents(taken).map(weight_bytes));
        // The others are to be asked for again, and must not count twice.
        self.pages.retract(extents(taken).skip(both).map(bytes));
        both
    }

    /// Begins to read all rows of a range of vertices, without their weights; tells up to which vertex
    /// that was seen to, about. Never waits.
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
        let size = if self.pages.fits() { SPAN } else { NEIGHBOURHOOD };
        let first = self.rows.extent(sources.start).bytes().start / size * size;
        let end = self.rows.extent(ShortId(last)).bytes().end.next_multiple_of(size);
        let end = end.min(self.pages.file().len()).max(first);
        let pieces = (end - first).div_ceil(size);
        let piece = |number| {
            let start = first + number * size;
            start..end.min(start + size)
        };
        let taken = self.pages.prefetch((0..pieces).map(piece)) as u64;
        if taken == pieces {
            return sources.end;
        }
        let count = u64::from(sources.end.0 - sources.start.0);
        ShortId(sources.start.0 + (count * taken / pieces) as u32)
    }

    /// Brings all rows into memory, in large requests, where all of them find room.
    ///
    /// # Errors
    /// Those of reading; [`Error::Cancelled`](tegula_machine::Error::Cancelled).
    pub fn fill(&self, cancel: &Cancel) -> Result<()> {
        if !self.fits() {
            return Ok(());
        }
        self.pages.fill(cancel)?;
        self.weights.as_ref().map_or(Ok(()), |weights| weights.fill(cancel))
    }

    /// As [`RowReader::fill`], once a good part has been read here and there.
    pub fn fill_when_due(&self, cancel: &Cancel) {
        if self.bytes_read() >= self.byte_count() / FILL_SHARE {
            self.fill_once(cancel);
        }
    }

    /// As [`RowReader::fill`], the first time. What cannot be read is no error: whoever needs it will meet it.
    pub fn fill_once(&self, cancel: &Cancel) {
        let is_over = self.was_filled.load(Ordering::Relaxed) || !self.fits() || self.is_complete();
        if !is_over
            && !self.was_filled.swap(true, Ordering::Relaxed)
            && let Err(error) = self.fill(cancel)
        {
            tracing::debug!("not all rows are read in order: {error}");
        }
    }

    /// Bytes that it takes to unpack these rows in so many threads, beside the cache.
    pub fn unpacked_size(rows: &Rows, has_weights: bool, threads: usize) -> u64 {
        UnpackedRows::size(rows, has_weights, threads)
    }

    /// Takes all rows apart, which takes [`RowReader::unpacked_size`] bytes: afterwards they are plain lists.
    /// To be called where all rows find room.
    ///
    /// # Errors
    /// Those of reading; [`Error::Corrupt`](tegula_machine::Error::Corrupt); cancellation.
    pub fn unpack(&self, workers: &Workers, cancel: &Cancel) -> Result<()> {
        if self.unpacked.get().is_none() {
            self.fill(cancel)?;
            // Who comes second has done it in vain.
            let _ = self.unpacked.set(UnpackedRows::of(self, workers, cancel)?);
        }
        Ok(())
    }

    /// Says that there is [memory](RowReader::unpacked_size) for unpacked rows.
    #[must_use]
    pub fn with_room_to_unpack(self) -> RowReader {
        RowReader { may_unpack: true, ..self }
    }

    /// Whether there is memory for unpacked rows.
    pub fn may_unpack(&self) -> bool {
        self.may_unpack
    }

    /// All rows as plain lists, once they are [unpacked](RowReader::unpack).
    #[inline]
    pub fn unpacked(&self) -> Option<&UnpackedRows> {
        self.unpacked.get()
    }

    /// Whether the neighbours of a vertex come by ascending id.
    pub fn is_ascending(&self) -> bool {
        let is_by_weight = self.unpacked().is_some_and(|rows| rows.share_by_weight() > 0.0);
        self.rows.is_ascending() && !is_by_weight
    }

    /// How many edges the row of a vertex has, about.
    pub fn degree(&self, source: ShortId) -> f64 {
        match self.unpacked.get() {
            Some(unpacked) => unpacked.degree(source) as f64,
            None => {
                self.rows.extent(source).bit_count() as f64 / self.rows.bits_per_edge().max(1.0)
            }
        }
    }

    /// Whether everything is in memory for good.
    pub fn is_complete(&self) -> bool {
        self.pages.is_complete() && self.weights.as_ref().is_none_or(PageCache::is_complete)
    }

    /// Brings the rows of as many of these vertices into memory as find room together, and tells how
    /// many: at least one, if there is one. Waits for what is on its way and reads what is not.
    ///
    /// # Errors
    /// Those of reading, also of what was read ahead.
    pub fn get(&self, sources: &[ShortId], batch: &mut RowBatch) -> Result<usize> {
        batch.extents.clear();
        batch.extents.extend(self.rows.extents(sources.iter().copied()));
        if self.fits() {
            self.prefetch(sources.iter().copied());
        }
        self.pin(batch)
    }

    /// Brings as many of the extents of a batch into memory as find room together, and tells how many.
    fn pin(&self, batch: &mut RowBatch) -> Result<usize> {
        batch.ranges.clear();
        batch.ranges.extend(batch.extents.iter().map(RowExtent::bytes));
        batch.count = self.pages.get_batch(&batch.ranges, &mut batch.pages)?;
        if let Some(weights) = &self.weights {
            batch.ranges.clear();
            let extents = &batch.extents[..batch.count];
            batch.ranges.extend(extents.iter().map(RowExtent::weight_bytes));
            batch.count = weights.get_batch(&batch.ranges, &mut batch.weights)?;
        }
        Ok(batch.count)
    }

    /// The edges in a piece of a row, as a row. Rows that are unpacked have no pieces: they are packed for this.
    ///
    /// # Errors
    /// Those of reading.
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

    /// The row that is at `index` of what is pinned.
    #[inline(always)]
    fn pinned_row<'b>(
        &'b self,
        extent: &RowExtent,
        pages: &'b Pinned,
        weights: &'b Pinned,
        index: usize,
    ) -> Row<'b> {
        let weights = match self.weights {
            None => &[],
            Some(_) => weights.bytes(index).as_chunks().0,
        };
        Row::packed(&self.rows, extent, pages.padded(index), weights)
    }

    /// Shows the rows of as many of these vertices as find room in memory together, until `visit` breaks;
    /// tells how many it was shown and did not break at. Quicker than [`RowReader::get`] where rows are in
    /// memory for good.
    ///
    /// # Errors
    /// As of [`RowReader::get`], and those of `visit`.
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
        // All are looked up before any is visited: so the processor waits for several at a time where the
        // index is not in its cache.
        batch.extents.clear();
        if self.fits() {
            batch.extents.extend(self.rows.extents(sources.iter().copied()));
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

    /// The row of a vertex, if it is in memory for good. `walk` is where the index was last looked at.
    #[inline]
    pub fn held_row(&self, source: ShortId, walk: &mut IndexWalk) -> Option<Row<'_>> {
        if let Some(unpacked) = self.unpacked.get() {
            return Some(Row::unpacked(unpacked, source));
        }
        self.held_row_at(&self.rows.extent_from(source, walk))
    }

    // A row that is put together in memory is waited for when it is taken apart again.
    #[inline(always)]
    fn held_row_at(&self, extent: &RowExtent) -> Option<Row<'_>> {
        let bytes = self.pages.held(&extent.bytes())?;
        let weights = match &self.weights {
            None => &[],
            Some(weights) => weights.held(&extent.weight_bytes())?.as_chunks().0,
        };
        Some(Row::packed(&self.rows, extent, bytes, weights))
    }
}
