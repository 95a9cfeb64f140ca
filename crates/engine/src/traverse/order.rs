//! Orders of visits: each knows which vertices come next and, as far as can be told, after those.

use std::collections::VecDeque;
use std::ops::Range;

use tegula_store::ShortId;

/// Upcoming vertices that are asked for at a time.
pub(crate) const ROWS_AHEAD: usize = 1024;

/// An order in which vertices are visited, separate from the graph: it tells what comes next and what is
/// upcoming, and whoever visits adds what was found.
///
/// What is upcoming may be a guess. A wrong one costs time and changes no result.
pub trait RunAhead {
    /// Moves vertices that come next to the end of `taken`: up to `count`, which is not 0, and at least
    /// one if there is any. It gives more than one only where no visit to an earlier one can change that
    /// the others follow.
    fn take(&mut self, count: usize, taken: &mut Vec<ShortId>);

    /// The vertices that are expected next and were not [announced](RunAhead::announce), nearest first.
    /// Only those among the next `reach` are told: what is read too early takes the room of what is needed
    /// before.
    fn upcoming(&self, reach: usize) -> impl Iterator<Item = ShortId> + Clone;

    /// Notes that the first `count` of those upcoming are being read, and shows them no more. Returns how
    /// many of `count` it did not have.
    fn announce(&mut self, count: usize) -> usize;
}

/// Vertices by ascending id. An exact order: all that is upcoming is known.
#[derive(Debug, Clone)]
pub struct Sequential {
    next: u32,
    end: u32,
    /// The first that was not announced.
    ahead: u32,
}

impl Sequential {
    /// The vertices with ids in a range.
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

/// A queue: the frontier of a breadth-first search. An exact order, as far as the queue reaches.
#[derive(Debug, Clone, Default)]
pub struct BreadthFirst {
    queue: VecDeque<ShortId>,
    /// How many at the front were announced.
    announced: usize,
}

impl BreadthFirst {
    /// An empty queue that holds up to `vertices` at a time without growing: 4 bytes each.
    pub fn with_capacity(vertices: usize) -> BreadthFirst {
        BreadthFirst { queue: VecDeque::with_capacity(vertices), announced: 0 }
    }

    /// Appends a vertex.
    #[inline]
    pub fn push(&mut self, vertex: ShortId) {
        self.queue.push_back(vertex);
    }

    /// Vertices that wait.
    pub fn len(&self) -> usize {
        self.queue.len()
    }

    /// Whether none waits.
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
        let end = self.queue.len().min(reach).max(self.announced);
        self.queue.range(self.announced..end).copied()
    }

    fn announce(&mut self, count: usize) -> usize {
        let own = count.min(self.queue.len() - self.announced);
        self.announced += own;
        count - own
    }
}
