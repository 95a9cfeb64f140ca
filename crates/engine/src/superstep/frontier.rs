//! The active vertices.

use tegula_store::ShortId;

use super::active_set::ActiveSet;

/// Which vertices are active: known by a bit each for iterations with many of them, by a list for those with
/// few, so that an iteration with one active vertex does not touch all of them.
pub enum Frontier {
    /// A bit for each vertex.
    Bits(ActiveSet),
    /// The active vertices; ascending where their rows are packed.
    List(Vec<ShortId>),
}

impl Frontier {
    /// How many are active.
    pub fn count(&self) -> u64 {
        match self {
            Frontier::Bits(set) => set.count(),
            Frontier::List(list) => list.len() as u64,
        }
    }

    /// At most `count` of them, from everywhere.
    pub fn sample(&self, count: usize) -> Vec<ShortId> {
        match self {
            Frontier::Bits(set) => set.sample(count),
            Frontier::List(list) => {
                list.iter().step_by(list.len().div_ceil(count).max(1)).copied().collect()
            }
        }
    }
}
