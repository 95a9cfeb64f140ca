//! Edges on their way through the import, and how the readers' chunks become arcs.

use siphasher::sip128::SipHasher13;
use tegula_store::tiles::{DenseEdge, Edge, EdgeWeight, Grid, VertexNumber};
use zerocopy::{FromBytes, IntoBytes};

use crate::input::{EdgeChunk, Ends};
use crate::piles::Record;

/// A weight that can be spilled.
pub(super) trait Weight: EdgeWeight + Record {}
impl<W: EdgeWeight + Record> Weight for W {}

/// The source of an edge between dense ids.
#[inline(always)]
pub(super) fn source_of<N: VertexNumber, W: Weight>(edge: &DenseEdge<N, W>) -> u64 {
    { edge.source }.into()
}

/// The target of an edge between dense ids.
#[inline(always)]
pub(super) fn target_of<N: VertexNumber, W: Weight>(edge: &DenseEdge<N, W>) -> u64 {
    { edge.target }.into()
}

/// The slice of the source of such an edge, counted from the first slice of its segment.
#[inline(always)]
pub(super) fn slice_of<N: VertexNumber, W: Weight>(edge: &DenseEdge<N, W>, grid: Grid) -> u32 {
    let local = source_of(edge) & ((1 << grid.segment_log2) - 1);
    (local >> grid.slice_log2()) as u32
}

/// What identifies a vertex while the graph is imported: a small integer, any integer, or the hash
/// of its name.
pub(super) trait Key: Record + Ord + std::fmt::Debug {
    /// The key of a small integer.
    fn from_u32(id: u32) -> Self;
    /// The key of an integer, if this kind of key can hold it.
    fn from_u64(id: u64) -> Option<Self>;
    /// The key from the hash of a name, if this kind of key can hold it.
    fn from_hash(hash: u128) -> Option<Self>;
    /// Returns an integer as it is, and half of the bits of a hash.
    fn folded(self) -> u64;
}

impl Key for u32 {
    fn from_u32(id: u32) -> u32 {
        id
    }
    fn from_u64(id: u64) -> Option<u32> {
        u32::try_from(id).ok()
    }
    fn from_hash(_hash: u128) -> Option<u32> {
        None
    }
    fn folded(self) -> u64 {
        u64::from(self)
    }
}

impl Key for u64 {
    fn from_u32(id: u32) -> u64 {
        u64::from(id)
    }
    fn from_u64(id: u64) -> Option<u64> {
        Some(id)
    }
    fn from_hash(_hash: u128) -> Option<u64> {
        None
    }
    fn folded(self) -> u64 {
        self
    }
}

impl Key for u128 {
    fn from_u32(id: u32) -> u128 {
        u128::from(id)
    }
    fn from_u64(id: u64) -> Option<u128> {
        Some(u128::from(id))
    }
    fn from_hash(hash: u128) -> Option<u128> {
        Some(hash)
    }
    fn folded(self) -> u64 {
        self as u64
    }
}

/// Returns the key of a vertex with a name. Two names with one hash are detected when names are
/// gathered, so the hash decides nothing about the graph.
pub(super) fn hash_of(name: &[u8]) -> u128 {
    // The keys spell `tegula` and `import`. Any constants would do.
    SipHasher13::new_with_keys(0x7465_6775_6c61, 0x696d_706f_7274).hash(name).as_u128()
}

/// Which edges of the input become which arcs of the graph.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ArcRule {
    /// Each edge is stored in both directions, a loop once.
    pub undirected: bool,
    /// Loops are left out.
    pub drop_loops: bool,
}

impl ArcRule {
    /// Returns the arcs of a chunk and the number of loops left out; `None` if a key does not fit.
    /// The arcs are in `space` unless the chunk holds them as they are.
    pub fn apply<'a, K: Key, W: Weight>(
        self,
        chunk: &EdgeChunk<'a>,
        space: &'a mut Vec<Edge<K, K, W>>,
    ) -> Option<(&'a [Edge<K, K, W>], u64)> {
        if let Some(arcs) = self.as_they_are(chunk) {
            return Some((arcs, 0));
        }
        space.clear();
        let loops = self.fill(chunk, space)?;
        Some((space, if self.drop_loops { loops } else { 0 }))
    }

    /// Returns pairs as arcs, if each edge is one arc without a weight.
    fn as_they_are<'a, K: Key, W: Weight>(
        self,
        chunk: &EdgeChunk<'a>,
    ) -> Option<&'a [Edge<K, K, W>]> {
        if self.undirected || self.drop_loops || W::IS_WEIGHTED {
            return None;
        }
        // An edge without a weight is packed as a pair is, so nothing has to be copied.
        let bytes = match chunk.ends {
            Ends::Pairs32(pairs) if size_of::<K>() == size_of::<u32>() => pairs.as_bytes(),
            Ends::Pairs64(pairs) if size_of::<K>() == size_of::<u64>() => pairs.as_bytes(),
            _ => return None,
        };
        <[Edge<K, K, W>]>::ref_from_bytes(bytes).ok()
    }

    /// Appends the arcs of a chunk to `arcs`, and returns the number of loops in the chunk.
    fn fill<K: Key, W: Weight>(
        self,
        chunk: &EdgeChunk<'_>,
        arcs: &mut Vec<Edge<K, K, W>>,
    ) -> Option<u64> {
        let weight = |index: usize| {
            chunk.weights.map_or(W::default(), |weights| W::from_f32(weights[index]))
        };
        let mut loops = 0;
        let mut push = |index: usize, source: K, target: K| {
            let weight = weight(index);
            let is_loop = source == target;
            loops += u64::from(is_loop);
            if !is_loop || !self.drop_loops {
                arcs.push(Edge { source, target, weight });
            }
            // The reverse of a loop is the loop.
            if self.undirected && !is_loop {
                arcs.push(Edge { source: target, target: source, weight });
            }
        };
        match chunk.ends {
            Ends::Pairs32(pairs) => {
                for (index, &[source, target]) in pairs.iter().enumerate() {
                    push(index, K::from_u32(source), K::from_u32(target));
                }
            }
            Ends::Pairs64(pairs) => {
                for (index, &[source, target]) in pairs.iter().enumerate() {
                    push(index, K::from_u64(source)?, K::from_u64(target)?);
                }
            }
            Ends::Strings { sources, targets } => {
                for (index, (source, target)) in sources.iter().zip(targets.iter()).enumerate() {
                    push(index, K::from_hash(hash_of(source))?, K::from_hash(hash_of(target))?);
                }
            }
        }
        Some(loops)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arcs(rule: ArcRule, pairs: &[[u64; 2]]) -> (Vec<[u32; 2]>, u64) {
        let weights: Vec<f32> = (0..pairs.len()).map(|index| index as f32).collect();
        let chunk = EdgeChunk { ends: Ends::Pairs64(pairs), weights: Some(&weights) };
        let mut space = vec![Edge { source: 9u32, target: 9, weight: 9.0f32 }];
        let (arcs, loops) = rule.apply(&chunk, &mut space).unwrap();
        for &Edge { source, target, weight } in arcs {
            let [a, b] = pairs[weight as usize];
            assert!(
                [a, b] == [u64::from(source), u64::from(target)]
                    || [b, a] == [u64::from(source), u64::from(target)]
            );
        }
        let mut unweighted = Vec::<Edge<u64, u64, ()>>::new();
        let chunk = EdgeChunk { weights: None, ..chunk };
        let (same, _) = rule.apply(&chunk, &mut unweighted).unwrap();
        let ends = |(source, target): (u64, u64)| [source as u32, target as u32];
        assert!(
            same.iter()
                .map(|arc| ends((arc.source, arc.target)))
                .eq(arcs.iter().map(|arc| [arc.source, arc.target]))
        );
        (arcs.iter().map(|arc| [arc.source, arc.target]).collect(), loops)
    }

    #[test]
    fn edges_become_arcs() {
        let pairs = [[1, 2], [3, 3], [2, 1]];
        let rule = |undirected, drop_loops| ArcRule { undirected, drop_loops };
        assert_eq!(arcs(rule(false, false), &pairs), (vec![[1, 2], [3, 3], [2, 1]], 0));
        assert_eq!(arcs(rule(false, true), &pairs), (vec![[1, 2], [2, 1]], 1));
        assert_eq!(
            arcs(rule(true, false), &pairs),
            (vec![[1, 2], [2, 1], [3, 3], [2, 1], [1, 2]], 0)
        );
        assert_eq!(arcs(rule(true, true), &pairs), (vec![[1, 2], [2, 1], [2, 1], [1, 2]], 1));
    }

    #[test]
    fn a_key_that_does_not_fit_gives_no_arcs() {
        let rule = ArcRule { undirected: false, drop_loops: false };
        let chunk = EdgeChunk { ends: Ends::Pairs64(&[[1, 1 << 32]]), weights: None };
        assert!(rule.apply::<u32, ()>(&chunk, &mut Vec::new()).is_none());
        assert!(rule.apply::<u64, ()>(&chunk, &mut Vec::new()).is_some());
        assert_eq!(size_of::<Edge<u32, u32, ()>>(), 8);
        assert_eq!(size_of::<Edge<u32, u64, f32>>(), 16);
    }
}
