//! Edges on their way into tiles.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// What an edge carries: nothing or an `f32`.
pub trait EdgeWeight: Copy + Default + PartialEq + Send + Sync + std::fmt::Debug + 'static {
    /// Whether weights are stored.
    const IS_WEIGHTED: bool;
    /// The weight of an edge whose stored weight is this.
    fn from_f32(weight: f32) -> Self;
    /// The weight to be stored.
    fn to_f32(self) -> f32;
}

impl EdgeWeight for () {
    const IS_WEIGHTED: bool = false;
    #[inline(always)]
    fn from_f32(_weight: f32) {}
    #[inline(always)]
    fn to_f32(self) -> f32 {
        1.0
    }
}

impl EdgeWeight for f32 {
    const IS_WEIGHTED: bool = true;
    #[inline(always)]
    fn from_f32(weight: f32) -> f32 {
        weight
    }
    #[inline(always)]
    fn to_f32(self) -> f32 {
        self
    }
}

/// An edge whose ends are known by keys of two kinds: an import replaces the keys of its input by
/// [dense ids](DenseEdge) one end at a time. Packed, so that it takes the bytes of its parts and no more.
#[derive(Debug, Clone, Copy, Default, PartialEq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C, packed)]
pub struct Edge<S, T, W> {
    /// Key of the source.
    pub source: S,
    /// Key of the target.
    pub target: T,
    /// Weight, or nothing.
    pub weight: W,
}

/// An edge between dense ids, as it is encoded.
pub type DenseEdge<W> = Edge<u32, u32, W>;
