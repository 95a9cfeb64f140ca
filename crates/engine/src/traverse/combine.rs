//! Orders made of other orders. All combined orders share one quota of reads in flight.

use tegula_store::ShortId;

use super::RunAhead;

/// Upcoming vertices that a [`Filter`] examines: those that it leaves out take time too.
const LOOKED_AT: usize = 4096;

/// One order within another: vertices of the inner one come first, and the next of the outer one
/// comes only when the inner one is empty.
///
/// The outer order gives one vertex at a time, because its visit may fill the inner one.
#[derive(Debug, Clone, Default)]
pub struct Nested<I, O> {
    /// The order that comes first.
    pub inner: I,
    /// The order that gives a vertex when `inner` is empty.
    pub outer: O,
}

impl<I: RunAhead, O: RunAhead> RunAhead for Nested<I, O> {
    #[inline]
    fn take(&mut self, count: usize, taken: &mut Vec<ShortId>) {
        let before = taken.len();
        self.inner.take(count, taken);
        if taken.len() == before {
            self.outer.take(1, taken);
        }
    }

    fn upcoming(&self, reach: usize) -> impl Iterator<Item = ShortId> + Clone {
        self.inner.upcoming(reach).chain(self.outer.upcoming(reach))
    }

    fn announce(&mut self, count: usize) -> usize {
        let rest = self.inner.announce(count);
        self.outer.announce(rest)
    }
}

/// Orders of one type that give a vertex in turn. An order that is empty is skipped.
#[derive(Debug, Clone)]
pub struct Interleaved<O> {
    orders: Vec<O>,
    /// The order whose turn is next.
    next: usize,
    /// The order whose turn was last.
    last: usize,
}

impl<O: RunAhead> Interleaved<O> {
    /// Combines these orders; the first begins.
    pub fn new(orders: Vec<O>) -> Interleaved<O> {
        Interleaved { orders, next: 0, last: 0 }
    }

    /// Returns the index of the order that gave the latest vertex.
    pub fn last(&self) -> usize {
        self.last
    }

    /// Returns one of the orders.
    ///
    /// # Panics
    /// When there is no such order.
    pub fn order_mut(&mut self, index: usize) -> &mut O {
        &mut self.orders[index]
    }

    /// Yields the indices of the orders, beginning with the one whose turn it is.
    fn in_turn(&self) -> impl Iterator<Item = usize> + Clone + use<O> {
        let (next, count) = (self.next, self.orders.len());
        (0..count).map(move |step| (next + step) % count)
    }
}

impl<O: RunAhead> RunAhead for Interleaved<O> {
    /// Takes one vertex at a time, so that [`Interleaved::last`] tells its order.
    fn take(&mut self, _count: usize, taken: &mut Vec<ShortId>) {
        let before = taken.len();
        for index in self.in_turn() {
            self.orders[index].take(1, taken);
            if taken.len() > before {
                (self.last, self.next) = (index, (index + 1) % self.orders.len());
                return;
            }
        }
    }

    fn upcoming(&self, reach: usize) -> impl Iterator<Item = ShortId> + Clone {
        let mut sources: Vec<_> =
            self.in_turn().map(|index| self.orders[index].upcoming(reach)).collect();
        let mut turn = 0;
        std::iter::from_fn(move || {
            while !sources.is_empty() {
                turn %= sources.len();
                match sources[turn].next() {
                    Some(vertex) => {
                        turn += 1;
                        return Some(vertex);
                    }
                    None => drop(sources.remove(turn)),
                }
            }
            None
        })
    }

    fn announce(&mut self, count: usize) -> usize {
        // In rounds, as they were yielded.
        let mut open: Vec<usize> = self.in_turn().collect();
        let mut left = count;
        while left > 0 && !open.is_empty() {
            open.retain(|&index| {
                let is_noted = left > 0 && self.orders[index].announce(1) == 0;
                left -= usize::from(is_noted);
                is_noted || left == 0
            });
        }
        left
    }
}

/// The vertices of an order that pass a test. A vertex that fails once must fail from then on.
#[derive(Debug, Clone)]
pub struct Filter<O, F> {
    order: O,
    passes: F,
}

impl<O: RunAhead, F: Fn(ShortId) -> bool> Filter<O, F> {
    /// Leaves out vertices that do not pass, without reading their rows.
    pub fn new(order: O, passes: F) -> Filter<O, F> {
        Filter { order, passes }
    }

    /// Returns the order itself, to add vertices.
    pub fn order_mut(&mut self) -> &mut O {
        &mut self.order
    }
}

impl<O: RunAhead, F: Fn(ShortId) -> bool> RunAhead for Filter<O, F> {
    /// Takes one vertex at a time, because a visit may change which ones pass.
    #[inline]
    fn take(&mut self, _count: usize, taken: &mut Vec<ShortId>) {
        let before = taken.len();
        loop {
            taken.truncate(before);
            self.order.take(1, taken);
            if taken.get(before).is_none_or(|&vertex| (self.passes)(vertex)) {
                return;
            }
        }
    }

    fn upcoming(&self, reach: usize) -> impl Iterator<Item = ShortId> + Clone {
        self.order.upcoming(reach).take(LOOKED_AT).filter(|&vertex| (self.passes)(vertex))
    }

    fn announce(&mut self, count: usize) -> usize {
        // Also announces the vertices right after them that do not pass, so that these are not
        // examined again.
        let (mut left, mut covered) = (count, 0);
        for vertex in self.order.upcoming(usize::MAX).take(LOOKED_AT) {
            if (self.passes)(vertex) {
                if left == 0 {
                    break;
                }
                left -= 1;
            }
            covered += 1;
        }
        self.order.announce(covered);
        left
    }
}
