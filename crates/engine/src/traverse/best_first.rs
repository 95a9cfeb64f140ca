//! A priority queue as an order of visits.

use std::cell::Cell;
use std::cmp::Ordering;

use dary_heap::QuaternaryHeap;
use tegula_store::ShortId;

use super::RunAhead;

/// Entries at the top of the heap that are taken for what comes next.
const TOP: usize = 256;

/// Vertices by ascending priority, for Dijkstra's algorithm and its kin; of equal ones the smaller id
/// comes first. The same vertex may wait several times: leave out what is done with by a
/// [`Filter`](super::Filter).
///
/// The first entries of the array that the heap is kept in approximate what comes next. A visit may put
/// something before them, so a single vertex is taken at a time.
#[derive(Debug, Clone)]
pub struct BestFirst<P: Ord> {
    heap: QuaternaryHeap<Entry<P>>,
}

#[derive(Debug, Clone)]
struct Entry<P> {
    priority: P,
    vertex: ShortId,
    /// Has no part in the order, so it may change within the heap.
    is_announced: Cell<bool>,
}

impl<P: Ord> Default for BestFirst<P> {
    fn default() -> BestFirst<P> {
        BestFirst { heap: QuaternaryHeap::new() }
    }
}

impl<P: Ord> BestFirst<P> {
    /// An empty queue with room for `vertex_count` vertices, each with one live entry at most, and for half
    /// as many entries that are out of date: [`BestFirst::push_within`] does not exceed that.
    pub fn for_vertices(vertex_count: u32) -> BestFirst<P> {
        BestFirst { heap: QuaternaryHeap::with_capacity(capacity(vertex_count.into()) as usize) }
    }

    /// Bytes of a queue with room for `vertex_count` vertices, once it is full.
    pub fn size(vertex_count: u64) -> u64 {
        capacity(vertex_count) * size_of::<Entry<P>>() as u64
    }

    /// Adds a vertex, or adds it anew with another priority; the least comes first.
    #[inline]
    pub fn push(&mut self, vertex: ShortId, priority: P) {
        self.heap.push(Entry { priority, vertex, is_announced: Cell::new(false) });
    }

    /// As [`BestFirst::push`], but where there is no room for more, entries that are out of date make it:
    /// those of which `is_live` does not hold, which must be so for ever after.
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

    /// The least priority that waits.
    pub fn least(&self) -> Option<&P> {
        self.heap.peek().map(|entry| &entry.priority)
    }

    /// Entries that wait: 8 bytes each and those of a priority.
    pub fn len(&self) -> usize {
        self.heap.len()
    }

    /// Whether none waits.
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    fn upcoming_entries(&self, reach: usize) -> impl Iterator<Item = &Entry<P>> + Clone {
        self.heap.iter().take(TOP.min(reach)).filter(|entry| !entry.is_announced.get())
    }
}

/// Entries that have room: between two looks for those that are out of date, a third is pushed anew.
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
    /// The greatest entry of the heap is that of the least priority.
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
