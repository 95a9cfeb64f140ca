//! Orders made of others. All that are combined share one quota of reads in flight.

use tegula_store::ShortId;

use super::RunAhead;

/// Vertices that a [`Filter`] looks at for what is upcoming: what is left out takes time too.
const LOOKED_AT: usize = 4096;

/// One order within another: vertices of the inner one come first, and the next of the outer one only
/// when the inner one has none.
///
/// A single vertex of the outer order is taken at a time, since its visit may begin an inner one.
#[derive(Debug, Clone, Default)]
pub struct Nested<I, O> {
    /// The innermost.
    pub inner: I,
    /// What begins it anew.
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

/// Equal orders, of which each gives a vertex in turn; one that has none is passed over.
#[derive(Debug, Clone)]
pub struct Interleaved<O> {
    orders: Vec<O>,
    /// Whose turn is next.
    next: usize,
    /// Whose turn was last.
    last: usize,
}

impl<O: RunAhead> Interleaved<O> {
    /// These orders; the first begins.
    pub fn new(orders: Vec<O>) -> Interleaved<O> {
        Interleaved { orders, next: 0, last: 0 }
    }

    /// Which order the latest vertex came from.
    pub fn last(&self) -> usize {
        self.last
    }

    /// One of the orders.
    ///
    /// # Panics
    /// When there is no such order.
    pub fn order_mut(&mut self, index: usize) -> &mut O {
        &mut self.orders[index]
    }

    /// The orders, beginning with the one whose turn it is.
    fn in_turn(&self) -> impl Iterator<Item = usize> + Clone + use<O> {
        let (next, count) = (self.next, self.orders.len());
        (0..count).map(move |step| (next + step) % count)
    }
}

impl<O: RunAhead> RunAhead for Interleaved<O> {
    /// One at a time, so that [`Interleaved::last`] tells where it came from.
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
        // In rounds, as they were shown.
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

/// The vertices of an order that pass a test. One that fails must fail for ever after.
#[derive(Debug, Clone)]
pub struct Filter<O, F> {
    order: O,
    passes: F,
}

impl<O: RunAhead, F: Fn(ShortId) -> bool> Filter<O, F> {
    /// Leaves out what does not pass, without reading its row.
    pub fn new(order: O, passes: F) -> Filter<O, F> {
        Filter { order, passes }
    }

    /// The order itself, to add vertices.
    pub fn order_mut(&mut self) -> &mut O {
        &mut self.order
    }
}

impl<O: RunAhead, F: Fn(ShortId) -> bool> RunAhead for Filter<O, F> {
    /// One at a time, since a visit may change who passes.
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
        // With those that do not pass behind them, which are not to be looked at again.
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
