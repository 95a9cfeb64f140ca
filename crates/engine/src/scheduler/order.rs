//! What is next: which part, and whether a part or a job that goes on by itself.
//!
//! This is the plain order. Policies that weigh jobs take its place: no result depends on what is here.

use crate::job::Direction;

/// Where the scan is: it goes round and round, and jobs join wherever that may be.
#[derive(Debug)]
pub struct PartOrder {
    direction: Direction,
    /// Where the search for the next part begins.
    cursor: usize,
    count: usize,
}

impl PartOrder {
    /// A scan of `count` parts, from the first to the last.
    pub fn new(count: usize) -> PartOrder {
        PartOrder { direction: Direction::FirstToLast, cursor: 0, count }
    }

    /// Takes the direction that a job would have. To be asked while no other is scanning.
    pub fn turn(&mut self, direction: Direction) {
        if self.direction != direction {
            self.direction = direction;
            self.cursor = match direction {
                Direction::FirstToLast => 0,
                Direction::LastToFirst => self.count.saturating_sub(1),
            };
        }
    }

    /// The next part that is wanted, round the whole file; the search goes on behind it.
    pub fn next(&mut self, is_wanted: impl Fn(usize) -> bool) -> Option<usize> {
        for _ in 0..self.count {
            let part = self.cursor;
            self.cursor = match self.direction {
                Direction::FirstToLast if part + 1 == self.count => 0,
                Direction::FirstToLast => part + 1,
                Direction::LastToFirst if part == 0 => self.count - 1,
                Direction::LastToFirst => part - 1,
            };
            if is_wanted(part) {
                return Some(part);
            }
        }
        None
    }

    /// Which way it goes.
    pub fn direction(&self) -> Direction {
        self.direction
    }
}

/// Whether a worker is to take a part now, where a job waits that could go on by itself: they take turns.
pub fn prefers_part(was_part: bool) -> bool {
    !was_part
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scan_goes_round_and_finds_what_is_wanted() {
        let mut order = PartOrder::new(5);
        let found: Vec<_> = (0..7).map(|_| order.next(|part| part != 3)).collect();
        assert_eq!(found, [0, 1, 2, 4, 0, 1, 2].map(Some));
        assert_eq!(order.next(|_| false), None);
        order.turn(Direction::LastToFirst);
        let found: Vec<_> = (0..3).map(|_| order.next(|_| true)).collect();
        assert_eq!(found, [4, 3, 2].map(Some));
    }
}
