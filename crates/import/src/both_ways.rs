//! How many edges of a list stand both ways: `a b` in one line, and `b a` in another.
//!
//! A list that has both of every edge, as many of SNAP do, becomes an undirected graph with nearly twice its edges. To
//! find all pairs of such edges takes a sort, so a sample is looked at: all edges of the pairs of vertices whose hash
//! begins with some zero bits, one more whenever the sample is full. An edge and its reverse have one hash, so both are in
//! the sample, or neither. Which edges are in it at the end depends on the list alone, not on the order of reading.
//!
//! Lists of up to [`SAMPLE_EDGES`] edges are in it as a whole: their share is exact. The share of a longer list is
//! estimated from 65,536 to 131,072 edges, within about half a percentage point. An edge costs a hash, 1 to 2 ns.

use std::cmp::Reverse;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use tegula_machine::mix;
use tegula_machine::threads::{lock, unlocked};
use tegula_store::tiles::Edge;

use super::edge::{Key, Weight};

/// Edges of a sample, at most: a megabyte.
const SAMPLE_EDGES: usize = 1 << 17;

/// Edges that are brought to the sample at once.
const BLOCK_EDGES: usize = 512;

/// A sample of the edges of an input whose edges lead both ways.
pub(super) struct BothWays {
    /// Zero bits with which the hashes in the sample begin.
    zeros: AtomicU32,
    /// A hash for each edge, whose last bit tells from which of its ends the edge leads.
    sample: Mutex<Vec<u64>>,
}

impl BothWays {
    pub fn new() -> BothWays {
        BothWays { zeros: AtomicU32::new(0), sample: Mutex::default() }
    }

    /// Looks at the edges of which these are the arcs: each edge as it is in the list, and but for loops its reverse
    /// behind it.
    pub fn look_at<K: Key, W: Weight>(&self, arcs: &[Edge<K, K, W>]) {
        let mut block = Vec::new();
        let mut zeros = self.zeros.load(Ordering::Relaxed);
        let mut at = 0;
        while let Some(&Edge { source, target, .. }) = arcs.get(at) {
            let [source, target] = [source, target].map(Key::folded);
            if source == target {
                at += 1;
                continue;
            }
            at += 2;
            let hash = hash_of(source, target);
            if hash.leading_zeros() >= zeros {
                block.push(hash);
                if block.len() == BLOCK_EDGES {
                    zeros = self.add(&block);
                    block.clear();
                }
            }
        }
        self.add(&block);
    }

    /// Adds those hashes that begin with enough zero bits, and returns how many are enough from now on.
    fn add(&self, hashes: &[u64]) -> u32 {
        let mut sample = lock(&self.sample);
        let mut zeros = self.zeros.load(Ordering::Relaxed);
        sample.extend(hashes.iter().filter(|hash| hash.leading_zeros() >= zeros));
        while sample.len() > SAMPLE_EDGES {
            zeros += 1;
            sample.retain(|hash| hash.leading_zeros() >= zeros);
        }
        self.zeros.store(zeros, Ordering::Relaxed);
        zeros
    }

    /// The share of the edges that stand both ways, loops left aside; `None` where the sample has no edge.
    pub fn share(self) -> Option<f64> {
        let mut sample = unlocked(self.sample);
        sample.sort_unstable_by_key(|&hash| Reverse(hash));
        let of_pair = |one: &u64, other: &u64| one | 1 == other | 1;
        let both: usize = sample
            .chunk_by(of_pair)
            .filter(|pair| pair.first() != pair.last())
            .map(<[u64]>::len)
            .sum();
        (!sample.is_empty()).then(|| both as f64 / sample.len() as f64)
    }
}

/// A hash of both ends whose last bit alone depends on which of them is the source.
#[inline]
fn hash_of(source: u64, target: u64) -> u64 {
    const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;
    let (smaller, greater) = (source.min(target), source.max(target));
    let pair = mix(smaller.wrapping_mul(SPREAD) ^ greater);
    (pair & !1) | u64::from(source == smaller)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The share of edges that are looked at in chunks.
    fn share(edges: &[(u64, u64)], chunk_edges: usize) -> Option<f64> {
        let both_ways = BothWays::new();
        for chunk in edges.chunks(chunk_edges) {
            let arcs = chunk.iter().flat_map(|&(source, target)| {
                let reverse = (source != target).then_some((target, source));
                std::iter::once((source, target)).chain(reverse)
            });
            let arcs: Vec<Edge<u64, u64, ()>> =
                arcs.map(|(source, target)| Edge { source, target, weight: () }).collect();
            both_ways.look_at(&arcs);
        }
        both_ways.share()
    }

    #[test]
    fn the_sample_does_not_depend_on_the_order_of_the_edges() {
        let mut edges: Vec<(u64, u64)> = Vec::new();
        for number in 0..500_000u64 {
            edges.push((number, number / 3 + 1_000_000));
            if number % 4 == 0 {
                edges.push((number / 3 + 1_000_000, number));
            }
        }
        let found = share(&edges, 1 << 14).unwrap();
        assert!((found - 0.4).abs() < 0.01, "{found}");
        edges.reverse();
        assert_eq!(share(&edges, 77), Some(found));
    }

    #[test]
    fn one_edge_a_million_times_has_no_share_or_the_right_one() {
        let found = share(&vec![(7, 9); 1_000_000], 1 << 14);
        assert!(found.is_none_or(|share| share == 0.0));
    }
}
