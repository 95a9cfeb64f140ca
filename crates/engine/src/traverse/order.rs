//! Orders of visits: each knows which vertices come next and, as far as possible, which come after
//! those.

use std::collections::VecDeque;
use std::ops::Range;

use tegula_store::ShortId;

/// Most upcoming vertices whose rows are requested at a time.
pub(crate) const ROWS_AHEAD: usize = 1024;

/// An order in which vertices are visited, independent of the graph. It tells which vertices come
/// next and which are upcoming. The visitor adds the vertices that it finds.
///
/// The upcoming vertices may be a guess. A wrong guess costs time and changes no result.
pub trait RunAhead {
    /// Moves the next vertices to the end of `taken`: up to `count`, which is not 0, and at least
    /// one if there is any. It moves more than one only if no visit to an earlier one can change
    /// which vertices follow.
    fn take(&mut self, count: usize, taken: &mut Vec<ShortId>);

    /// Yields the vertices that are expected next and are not [announced](RunAhead::announce) yet,
    /// nearest first. Only vertices among the next `reach` count: rows read too early displace rows
    /// that are needed sooner.
    fn upcoming(&self, reach: usize) -> impl Iterator<Item = ShortId> + Clone;

    /// Notes that the first `count` upcoming vertices are being read, and no longer yields them.
    /// Returns how many of `count` it did not have.
    fn announce(&mut self, count: usize) -> usize;
}

/// Vertices by ascending id. An exact order: all upcoming vertices are known.
#[derive(Debug, Clone)]
pub struct Sequential {
    next: u32,
    end: u32,
    /// The first vertex that is not announced.
    ahead: u32,
}

impl Sequential {
    /// Makes an order of the vertices in a range of ids.
    pub fn new(ids: Range<u32>) -> Sequential {
        Sequential { next: ids.start, end: ids.end.max(ids.start), ahead: ids.start }
    }

    fn upcoming_first(&self) -> u32 {
        self.ahead.max(self.next)
    }
}

impl RunAhead for Sequential {
    #[inline]
    fn take(&mut self, count: usize, taken: &mut Vec<ShortId>) {
        let count = count.min((self.end - self.next) as usize) as u32;
        taken.extend((self.next..self.next + count).map(ShortId));
        self.next += count;
    }

    fn upcoming(&self, reach: usize) -> impl Iterator<Item = ShortId> + Clone {
        let reach = u32::try_from(reach).unwrap_or(u32::MAX);
        let end = self.next.saturating_add(reach).min(self.end);
        (self.upcoming_first()..end).map(ShortId)
    }

    fn announce(&mut self, count: usize) -> usize {
        let first = self.upcoming_first();
        let own = count.min((self.end - first) as usize);
        self.ahead = first + own as u32;
        count - own
    }
}

/// A queue: the frontier of a breadth-first search. An exact order as far as the queue reaches.
#[derive(Debug, Clone, Default)]
pub struct BreadthFirst {
    queue: VecDeque<ShortId>,
    /// How many vertices at the front are announced.
    announced: usize,
}

impl BreadthFirst {
    /// Makes an empty queue for up to `vertices` at a time without growing: 4 bytes each.
    pub fn with_capacity(vertices: usize) -> BreadthFirst {
        BreadthFirst { queue: VecDeque::with_capacity(vertices), announced: 0 }
    }

    /// Appends a vertex.
    #[inline]
    pub fn push(&mut self, vertex: ShortId) {
        self.queue.push_back(vertex);
    }

    /// Returns the number of waiting vertices.
    pub fn len(&self) -> usize {
        self.queue.len()
    }

    /// Returns whether no vertex waits.
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }
}

impl RunAhead for BreadthFirst {
    #[inline]
    fn take(&mut self, count: usize, taken: &mut Vec<ShortId>) {
        let count = count.min(self.queue.len());
        taken.extend(self.queue.drain(..count));
        self.announced = self.announced.saturating_sub(count);
    }

    fn upcoming(&self, reach: usize) -> impl Iterator<Item = ShortId> + Clone {
        // More vertices may be announced than `reach` allows now.
        let end = self.queue.len().min(reach).max(self.announced);
        self.queue.range(self.announced..end).copied()
    }

    fn announce(&mut self, count: usize) -> usize {
        let own = count.min(self.queue.len() - self.announced);
        self.announced += own;
        count - own
    }
}
