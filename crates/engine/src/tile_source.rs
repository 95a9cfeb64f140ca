//! The tiles of a graph, for all jobs: which tiles stay in memory, and how the others are streamed.
//!
//! The scans of a job visit the groups of tiles in the same order every time, so a replacement
//! policy has nothing to learn. Groups have a fixed *residency order*, evenly spread over the scan.
//! The first groups in that order stay in memory, up to the last one that fits. When a job arrives that needs
//! memory, the last of these go. When a job leaves, further groups are kept as they are read. Reads
//! of the others overlap with processing at every moment of a scan.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tegula_machine::threads::lock;
use tegula_store::Result;
use tegula_store::graph::{CheckedTiles, Graph, TileRead};

use super::parts::Parts;
use super::spread::Spread;

/// Bytes in flight for each worker: enough to keep an SSD busy while a part is processed.
const STREAM_SIZE_PER_WORKER: u64 = 12 << 20;

/// Streams get at most one byte in `STREAM_SHARE` of a small memory that arrays need too. With
/// less, a worker has one group in flight and one at work.
const STREAM_SHARE: u64 = 16;

/// The tiles of a graph. See the [module](self).
pub struct TileSource<'g> {
    graph: &'g Graph,
    parts: Arc<Parts>,
    /// The residency order of the groups.
    spread: Spread,
    held: Vec<Mutex<Option<Arc<CheckedTiles>>>>,
    /// How many groups may stay in memory.
    resident_count: AtomicUsize,
    /// Bytes that each worker may have in flight and at work.
    stream_size: AtomicU64,
}

/// Memory for tiles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TileMemory {
    /// Bytes that frames of tiles may take.
    pub bytes: u64,
    /// Workers that share the bytes.
    pub workers: usize,
    /// Whether the weights of tiles are read, too.
    pub has_weights: bool,
}

impl<'g> TileSource<'g> {
    /// Makes a source with no tile in memory. Call [`TileSource::resize`] before the first read.
    pub fn new(graph: &'g Graph, parts: Arc<Parts>) -> TileSource<'g> {
        let spread = Spread::over(parts.groups.len());
        let held = parts.groups.iter().map(|_| Mutex::default()).collect();
        TileSource {
            graph,
            parts,
            spread,
            held,
            resident_count: AtomicUsize::new(0),
            stream_size: AtomicU64::new(0),
        }
    }

    /// Returns the least bytes for a scan: for each worker, one group in flight and one at work.
    pub fn size_min(parts: &Parts, workers: usize, has_weights: bool) -> u64 {
        2 * parts.group_size_max(has_weights) * workers as u64
    }

    /// Returns the bytes that let reads go on while others process, given `bytes` that others want
    /// to share.
    pub fn stream_size_wanted(workers: usize, bytes: u64) -> u64 {
        (STREAM_SIZE_PER_WORKER * workers as u64).min(bytes / STREAM_SHARE)
    }

    /// Adapts to other memory, of at least [`TileSource::size_min`] bytes. Groups without room go
    /// at once, or when the worker that processes one is done with it.
    pub fn resize(&self, room: TileMemory) {
        let TileMemory { bytes, workers, has_weights } = room;
        let size = |group: usize| self.parts.groups[group].size(has_weights);
        let total: u64 = self.parts.groups.iter().map(|group| group.size(has_weights)).sum();
        let minimum = TileSource::size_min(&self.parts, workers, has_weights);
        let stream = (STREAM_SIZE_PER_WORKER * workers as u64).min(bytes / 2).max(minimum);
        let mut left = if total <= bytes { total } else { bytes.saturating_sub(stream) };
        let fits = |&&group: &&usize| {
            let fits = size(group) <= left;
            left = left.saturating_sub(size(group));
            fits
        };
        let count = self.spread.in_order().iter().take_while(fits).count();
        self.stream_size.store(stream / workers as u64, Ordering::Relaxed);
        // Before groups are dropped: `receive` relies on it.
        self.resident_count.store(count, Ordering::Relaxed);
        self.spread.in_order()[count..].iter().for_each(|&group| *lock(&self.held[group]) = None);
        // Room was counted without weights. Groups that were read with weights, for a job that has
        // left, must go.
        let all: u64 = self.parts.groups.iter().map(|group| group.size(true)).sum();
        if !has_weights && all > bytes {
            for &group in &self.spread.in_order()[..count] {
                let mut held = lock(&self.held[group]);
                *held = held.take().filter(|held| !held.has_weights());
            }
        }
    }

    /// Returns the bytes that each worker may have in flight and at work.
    pub fn stream_size(&self) -> u64 {
        self.stream_size.load(Ordering::Relaxed)
    }

    /// Returns a group if it is in memory, and with its weights if they are wanted and stored.
    pub fn get(&self, group: usize, has_weights: bool) -> Option<Arc<CheckedTiles>> {
        let wants_weights = has_weights && self.graph.is_weighted();
        lock(&self.held[group]).clone().filter(|held| held.has_weights() || !wants_weights)
    }

    /// Requests a group that is not in memory.
    pub fn request(&self, group: usize, has_weights: bool) -> TileRead<'g> {
        self.graph.read_tiles(self.parts.groups[group].tiles.clone(), has_weights)
    }

    /// Waits for a group, and keeps it if it should stay.
    pub fn receive(&self, group: usize, read: TileRead<'g>) -> Result<Arc<CheckedTiles>> {
        let tiles = Arc::new(read.wait()?);
        let mut held = lock(&self.held[group]);
        // The lock orders this with [`TileSource::resize`]: either that drops the group, or the new
        // count is seen here.
        if self.spread.is_among_first(self.resident_count.load(Ordering::Relaxed), group) {
            *held = Some(Arc::clone(&tiles));
        }
        Ok(tiles)
    }
}

#[cfg(test)]
mod tests {
    use tegula_testkit::Scratch;

    use super::*;
    use crate::graph_for_tests::random_graph;

    /// Reads all groups once; returns the number and the bytes of the groups that stay.
    fn read_all(source: &TileSource<'_>) -> (usize, u64) {
        for group in 0..source.parts.groups.len() {
            if source.get(group, false).is_none() {
                source.receive(group, source.request(group, false)).unwrap();
            }
        }
        stay(source)
    }

    fn stay(source: &TileSource<'_>) -> (usize, u64) {
        let held =
            (0..source.parts.groups.len()).filter(|&group| source.get(group, false).is_some());
        let sizes: Vec<u64> = held.map(|group| source.parts.groups[group].size(false)).collect();
        (sizes.len(), sizes.iter().sum())
    }

    #[test]
    fn resident_groups_fit_the_room_after_each_resize() {
        let scratch = Scratch::new();
        let graph = random_graph(&scratch, 64 << 20);
        let parts = Arc::new(Parts::cut(&graph, Some(1 << 13)));
        let source = TileSource::new(&graph, Arc::clone(&parts));
        assert_eq!(read_all(&source).0, 0, "no room yet");
        let (workers, has_weights) = (1, false);
        let resize = |bytes| source.resize(TileMemory { bytes, workers, has_weights });
        let groups = parts.groups.len();
        let total: u64 = parts.groups.iter().map(|group| group.size(false)).sum();
        let least = TileSource::size_min(&parts, workers, has_weights);
        assert!(groups > 5 && total > 2 * least, "{groups} groups of {total} bytes");
        resize(total);
        assert_eq!(read_all(&source), (groups, total));
        let mut stayed = groups;
        for bytes in [total - 1, total / 2, least + 1, least] {
            resize(bytes);
            let (count, held) = stay(&source);
            // No group that has left comes back by being read again.
            assert_eq!(read_all(&source), (count, held));
            assert!(count < stayed || count == 0, "{count} of {stayed} in {bytes}");
            assert!(held + source.stream_size() <= bytes, "{held} in {bytes}");
            stayed = count;
        }
        assert_eq!(stayed, 0);
        resize(total / 2);
        let (count, held) = read_all(&source);
        assert!(count > 0 && held <= total / 2, "{held}");
        resize(total);
        assert_eq!(stay(&source), (count, held), "what stays in less stays in more");
        assert_eq!(read_all(&source), (groups, total));
    }

    #[test]
    fn a_worker_keeps_the_group_at_work_when_its_room_is_gone() {
        let scratch = Scratch::new();
        let graph = random_graph(&scratch, 64 << 20);
        let parts = Arc::new(Parts::cut(&graph, Some(1 << 13)));
        let source = TileSource::new(&graph, Arc::clone(&parts));
        source.resize(TileMemory { bytes: 64 << 20, workers: 1, has_weights: false });
        let pool = graph.reader().pool();
        let available = pool.available();
        let at_work = source.receive(0, source.request(0, false)).unwrap();
        let bytes = TileSource::size_min(&parts, 1, false);
        source.resize(TileMemory { bytes, workers: 1, has_weights: false });
        assert!(source.get(0, false).is_none());
        let index = at_work.range().start;
        assert_eq!(
            at_work
                .get(&graph, index)
                .0
                .strips(graph.vertex_count() as u32)
                .filter(|strip| strip.is_err())
                .count(),
            0
        );
        assert!(pool.available() < available);
        drop(at_work);
        assert_eq!(pool.available(), available);
    }
}
