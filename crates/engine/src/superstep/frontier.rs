//! The active vertices.

use tegula_store::ShortId;

use super::active_set::ActiveSet;

/// The active vertices: a bit each for iterations with many of them, a list for iterations with
/// few. So an iteration with one active vertex does not touch the others.
pub enum Frontier {
    /// A bit for each vertex.
    Bits(ActiveSet),
    /// The active vertices, ascending if their rows are packed.
    List(Vec<ShortId>),
}

impl Frontier {
    /// Returns the number of active vertices.
    pub fn count(&self) -> u64 {
        match self {
            Frontier::Bits(set) => set.count(),
            Frontier::List(list) => list.len() as u64,
        }
    }

    /// Returns at most `count` active vertices, spread over all of them.
    pub fn sample(&self, count: usize) -> Vec<ShortId> {
        match self {
            Frontier::Bits(set) => set.sample(count),
            Frontier::List(list) => {
                list.iter().step_by(list.len().div_ceil(count).max(1)).copied().collect()
            }
        }
    }
}
