//! Counts repeated edges.

use super::grid::{WINDOW_LOG2, WINDOW_SIZE};

/// Counts edges that repeat the ends of another edge. Between two such edges, tiles have only edges
/// of the same source to the same window.
#[derive(Debug, Default)]
pub(crate) struct Repeats {
    source: u64,
    window: u64,
    /// Targets of the edges since source and window last changed.
    targets: Vec<u64>,
    counted: u64,
}

impl Repeats {
    /// Targets buffered before duplicates are removed: more than a window has.
    const HELD_MAX: usize = 2 * WINDOW_SIZE;

    #[inline]
    pub fn add(&mut self, source: u64, target: u64) {
        let window = target >> WINDOW_LOG2;
        if (source, window) != (self.source, self.window) {
            self.counted += take_repeats(&mut self.targets);
            self.targets.clear();
            (self.source, self.window) = (source, window);
        } else if self.targets.len() == Repeats::HELD_MAX {
            self.counted += take_repeats(&mut self.targets);
        }
        self.targets.push(target);
    }

    pub fn count(&self) -> u64 {
        self.counted + take_repeats(&mut self.targets.clone())
    }
}

/// Removes repeated numbers from a list and returns how many it removed.
fn take_repeats(list: &mut Vec<u64>) -> u64 {
    // The usual cases: one target, or several that ascend.
    if list.is_sorted_by(|before, after| before < after) {
        return 0;
    }
    let before = list.len();
    list.sort_unstable();
    list.dedup();
    (before - list.len()) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repeats(edges: impl IntoIterator<Item = (u64, u64)>) -> u64 {
        let mut repeats = Repeats::default();
        edges.into_iter().for_each(|(source, target)| repeats.add(source, target));
        repeats.count()
    }

    #[test]
    fn repeated_edges_of_a_source_are_counted_in_any_order() {
        assert_eq!(repeats([]), 0);
        assert_eq!(repeats([(0, 0), (0, 1), (1, 1), (1, 2)]), 0);
        assert_eq!(repeats([(0, 5), (0, 7), (0, 5), (0, 7), (0, 7), (1, 7), (1, 7)]), 4);
        let many = Repeats::HELD_MAX as u64 * 3;
        assert_eq!(repeats((0..many).map(|index| (3, index % 2))), many - 2);
        let windows = (0..2 * WINDOW_SIZE as u64).flat_map(|target| [(0, target); 2]);
        assert_eq!(repeats(windows), 2 * WINDOW_SIZE as u64);
    }
}
