//! A priority queue as an order of visits.

use std::cell::Cell;
use std::cmp::Ordering;

use dary_heap::QuaternaryHeap;
use tegula_store::ShortId;

use super::RunAhead;

/// Entries at the heap's top that count as upcoming.
const TOP: usize = 256;

/// Vertices by ascending priority, for Dijkstra's algorithm and similar ones. Of equal priorities,
/// the smaller id comes first. The same vertex may wait several times: leave out finished ones with
/// a [`Filter`](super::Filter).
///
/// The first entries of the heap's array approximate what comes next. A visit may add a vertex
/// before them, so vertices are taken one at a time.
#[derive(Debug, Clone)]
pub struct BestFirst<P: Ord> {
    heap: QuaternaryHeap<Entry<P>>,
}

#[derive(Debug, Clone)]
struct Entry<P> {
    priority: P,
    vertex: ShortId,
    /// Not part of the order, so it may change within the heap.
    is_announced: Cell<bool>,
}

impl<P: Ord> Default for BestFirst<P> {
    fn default() -> BestFirst<P> {
        BestFirst { heap: QuaternaryHeap::new() }
    }
}

impl<P: Ord> BestFirst<P> {
    /// Makes an empty queue with room for `vertex_count` vertices. Each has at most one live entry,
    /// and outdated entries have room for half that number. [`BestFirst::push_within`] does not
    /// exceed this.
    pub fn for_vertices(vertex_count: u32) -> BestFirst<P> {
        BestFirst { heap: QuaternaryHeap::with_capacity(capacity(vertex_count.into()) as usize) }
    }

    /// Returns the bytes of a full queue with room for `vertex_count` vertices.
    pub fn size(vertex_count: u64) -> u64 {
        capacity(vertex_count) * size_of::<Entry<P>>() as u64
    }

    /// Adds a vertex, or adds it again with another priority. The least priority comes first.
    #[inline]
    pub fn push(&mut self, vertex: ShortId, priority: P) {
        self.heap.push(Entry { priority, vertex, is_announced: Cell::new(false) });
    }

    /// Adds a vertex as [`BestFirst::push`] does, but drops outdated entries if there is no room.
    /// An entry is outdated if `is_live` is false, which must then stay so.
    #[inline]
    pub fn push_within(
        &mut self,
        vertex: ShortId,
        priority: P,
        is_live: impl Fn(ShortId, &P) -> bool,
    ) {
        if self.heap.len() == self.heap.capacity() {
            self.heap.retain(|entry| is_live(entry.vertex, &entry.priority));
        }
        self.push(vertex, priority);
    }

    /// Returns the least priority that waits.
    pub fn least(&self) -> Option<&P> {
        self.heap.peek().map(|entry| &entry.priority)
    }

    /// Returns the number of waiting entries. An entry takes 8 bytes and the bytes of its priority.
    pub fn len(&self) -> usize {
        self.heap.len()
    }

    /// Returns whether no entry waits.
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    fn upcoming_entries(&self, reach: usize) -> impl Iterator<Item = &Entry<P>> + Clone {
        self.heap.iter().take(TOP.min(reach)).filter(|entry| !entry.is_announced.get())
    }
}

/// Returns the number of entries with room. A third of them is pushed between two searches for
/// outdated ones.
fn capacity(vertex_count: u64) -> u64 {
    vertex_count + vertex_count / 2 + 1
}

impl<P: Ord> RunAhead for BestFirst<P> {
    #[inline]
    fn take(&mut self, _count: usize, taken: &mut Vec<ShortId>) {
        taken.extend(self.heap.pop().map(|entry| entry.vertex));
    }

    fn upcoming(&self, reach: usize) -> impl Iterator<Item = ShortId> + Clone {
        self.upcoming_entries(reach).map(|entry| entry.vertex)
    }

    fn announce(&mut self, count: usize) -> usize {
        let announced = self.upcoming_entries(TOP).take(count);
        count - announced.map(|entry| entry.is_announced.set(true)).count()
    }
}

impl<P: Ord> Ord for Entry<P> {
    /// Compares such that the greatest entry of the heap has the least priority.
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        (&other.priority, other.vertex).cmp(&(&self.priority, self.vertex))
    }
}

impl<P: Ord> PartialOrd for Entry<P> {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<P: Ord> PartialEq for Entry<P> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<P: Ord> Eq for Entry<P> {}
