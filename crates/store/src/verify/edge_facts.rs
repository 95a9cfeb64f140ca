//! Figures of the manifest about edges, computed once more from the edges.

use super::edge_sum::EdgeSum;
use crate::graph::{Graph, Manifest, file_names};
use crate::tiles::{WINDOW_LOG2, WINDOW_SIZE};
use crate::{Error, Result};

/// Figures of edges, which are added in the order of the tiles. Holds 1 MiB at most.
#[derive(Debug, Default)]
pub(super) struct EdgeFacts {
    loops: u64,
    repeats: Repeats,
    sum: EdgeSum,
    /// The sum over the reversed edges, in an undirected graph, where both must agree.
    reversed: Option<EdgeSum>,
}

impl Graph {
    /// Returns the error for a wrong field of the manifest.
    pub(super) fn untrue(&self, field: &str, detail: String) -> Error {
        let path = self.directory().join(file_names::MANIFEST);
        Error::corrupt(path, format!("`{field}`"), detail)
    }
}

impl EdgeFacts {
    pub fn new(manifest: &Manifest) -> EdgeFacts {
        let reversed = manifest.undirected.then(EdgeSum::default);
        EdgeFacts { reversed, ..EdgeFacts::default() }
    }

    /// Adds an edge; its weight is 1 in an unweighted graph.
    #[inline]
    pub fn add(&mut self, source: u64, target: u64, weight: f32) {
        self.loops += u64::from(source == target);
        self.repeats.add(source, target);
        self.sum.add(source, target, weight);
        if let Some(reversed) = &mut self.reversed {
            reversed.add(target, source, weight);
        }
    }

    /// The sum of all edges.
    pub fn sum(&self) -> EdgeSum {
        self.sum
    }

    /// Checks the manifest of a graph against these figures.
    pub fn check(&self, graph: &Graph) -> Result<()> {
        let manifest = graph.manifest();
        for (field, said, found) in [
            ("loops", manifest.loops, self.loops),
            ("duplicates", manifest.duplicates, self.repeats.count()),
        ] {
            if said != found {
                return Err(graph.untrue(field, format!("it says {said}, but there are {found}")));
            }
        }
        if self.reversed.is_some_and(|reversed| reversed != self.sum) {
            let detail = "there are edges that are not stored in both directions".to_owned();
            return Err(graph.untrue("undirected", detail));
        }
        Ok(())
    }
}

/// Counts edges that repeat the ends of another edge. Between two such edges, tiles have only edges
/// of the same source to the same window.
#[derive(Debug, Default)]
struct Repeats {
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
    fn add(&mut self, source: u64, target: u64) {
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

    fn count(&self) -> u64 {
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
