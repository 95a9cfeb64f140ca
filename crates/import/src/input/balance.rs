//! Checks that each edge is in the adjacency lists of both of its ends, if the lists become an
//! undirected graph.
//!
//! A *mention* is a vertex in the list of another vertex. There are too many mentions to keep, and
//! the two mentions of an edge may be far apart. So each mention is added to a slot of sums, with a
//! plus in the list of the smaller end and with a minus in the list of the greater end. If both
//! lists mention an edge equally often, its sum is zero.
//!
//! To name an edge whose mentions differ, a slot must hold the rest of that edge alone. The hash of
//! an edge chooses its slot: each level has half as many edges as the level before. So for any
//! number of differing edges, some level has about as many of them as it has slots (an l0-sampler:
//! Cormode and Firmani, *A Unifying Framework for l0-Sampling Algorithms*, 2014). A mention costs
//! two rounds of mixing and four additions.

use tegula_machine::mix;

/// Levels of slots. The last level has all edges that no other level has.
const LEVELS: usize = 40;
/// Slots of a level.
const LEVEL_SLOTS: usize = 16;

/// The sums of the mentions of one part of a file, or of all parts.
#[derive(Debug, Default)]
pub(super) struct Balance(Vec<Sums>);

/// Sums over mentions. An edge that both lists mention adds nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Sums {
    smaller: u64,
    greater: u64,
    weight: u64,
    hash: u64,
}

/// A mention that the other list lacks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Unmatched {
    /// The vertex whose list has the mention.
    pub source: u64,
    /// The neighbour that is mentioned.
    pub target: u64,
    /// The weight of the edge there, if weights are read.
    pub weight: Option<f32>,
}

impl Balance {
    /// Begins the sums of a part.
    pub fn begin(&mut self) {
        self.0.clear();
        self.0.resize(LEVELS * LEVEL_SLOTS, Sums::default());
    }

    /// Adds the mention of `target` in the list of `source`. A loop, which is in one list alone, is
    /// ignored.
    pub fn add(&mut self, source: u64, target: u64, weight: f32) {
        if source == target {
            return;
        }
        // -0 and 0 are the same weight.
        let weight = u64::from((weight + 0.0).to_bits());
        let (smaller, greater) = (source.min(target), source.max(target));
        // With the weight in the hash, two mentions of different weights are two edges, and each
        // lacks a mention.
        let hash = hash_of(smaller, greater, weight);
        let mention = Sums { smaller, greater, weight, hash };
        let slot = &mut self.0[place_of(hash)];
        *slot = if source == smaller { slot.plus(mention) } else { slot.plus(mention.negated()) };
    }

    /// Adds the sums of a part, and clears them there.
    pub fn absorb(&mut self, part: &mut Balance) {
        if self.0.is_empty() {
            std::mem::swap(&mut self.0, &mut part.0);
            return;
        }
        for (sum, slot) in self.0.iter_mut().zip(&part.0) {
            *sum = sum.plus(*slot);
        }
        part.0.clear();
    }

    /// Whether both lists mention every edge equally often.
    pub fn is_even(&self) -> bool {
        self.0.iter().all(|slot| *slot == Sums::default())
    }

    /// Returns one mention that the other list lacks, always the same one. `is_weighted` says
    /// whether weights were read. `None` if no slot holds a single such mention, which is rare.
    pub fn unmatched(&self, is_weighted: bool) -> Option<Unmatched> {
        let slots = self.0.iter().enumerate();
        slots
            .flat_map(|(place, slot)| {
                // The mention is negative in the sums if it is in the list of the greater end.
                let rests = [(*slot, false), (slot.negated(), true)];
                rests.map(|(rest, is_in_greater)| (place, rest, is_in_greater))
            })
            .find_map(|(place, rest, is_in_greater)| rest.alone(place, is_in_greater, is_weighted))
    }
}

impl Sums {
    fn plus(self, other: Sums) -> Sums {
        Sums {
            smaller: self.smaller.wrapping_add(other.smaller),
            greater: self.greater.wrapping_add(other.greater),
            weight: self.weight.wrapping_add(other.weight),
            hash: self.hash.wrapping_add(other.hash),
        }
    }

    fn negated(self) -> Sums {
        Sums {
            smaller: self.smaller.wrapping_neg(),
            greater: self.greater.wrapping_neg(),
            weight: self.weight.wrapping_neg(),
            hash: self.hash.wrapping_neg(),
        }
    }

    /// Returns the mention that alone makes up these sums, if there is one.
    fn alone(self, place: usize, is_in_greater: bool, is_weighted: bool) -> Option<Unmatched> {
        let Sums { smaller, greater, weight, hash } = self;
        let is_one = smaller < greater
            && hash == hash_of(smaller, greater, weight)
            && place == place_of(hash);
        let (source, target) = if is_in_greater { (greater, smaller) } else { (smaller, greater) };
        let weight = f32::from_bits(u32::try_from(weight).ok()?);
        let weight = is_weighted.then_some(weight);
        is_one.then_some(Unmatched { source, target, weight })
    }
}

fn hash_of(smaller: u64, greater: u64, weight: u64) -> u64 {
    mix(mix(smaller ^ weight.rotate_left(32)) ^ greater)
}

/// The slot of a hash: its trailing zeros choose the level, its first bits the place there.
fn place_of(hash: u64) -> usize {
    let level = (hash.trailing_zeros() as usize).min(LEVELS - 1);
    level * LEVEL_SLOTS + (hash >> (u64::BITS - LEVEL_SLOTS.ilog2())) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The balance of edges, without the mentions in the list of the greater end that `is_left_out`
    /// chooses.
    fn balance(edges: u64, is_left_out: impl Fn(u64) -> bool) -> Balance {
        let mut all = Balance::default();
        for first in (0..edges).step_by(1000) {
            let mut part = Balance::default();
            part.begin();
            for edge in first..edges.min(first + 1000) {
                let (smaller, greater) = (edge % 977, 1000 + edge / 977);
                part.add(smaller, greater, edge as f32);
                if !is_left_out(edge) {
                    part.add(greater, smaller, edge as f32);
                }
            }
            all.absorb(&mut part);
        }
        all
    }

    #[test]
    fn edges_in_both_lists_sum_to_zero() {
        let even = balance(10_000, |_| false);
        assert!(even.is_even() && even.unmatched(true).is_none());
        assert!(Balance::default().is_even());
    }

    #[test]
    fn an_unmatched_mention_is_found_among_any_number() {
        for step in [1, 2, 3, 17, 1000, 9_999] {
            let uneven = balance(20_000, |edge| edge % step == step - 1);
            let Unmatched { source, target, weight } = uneven.unmatched(true).unwrap();
            let edge = (target - 1000) * 977 + source;
            assert_eq!((edge % step, edge as f32), (step - 1, weight.unwrap()));
            assert!(!uneven.is_even());
        }
    }
}
