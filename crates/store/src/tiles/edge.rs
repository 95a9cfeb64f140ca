//! Edges on their way into tiles.

use crate::ids::{SHORT_COUNT_MAX, VERTEX_COUNT_MAX};

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// The weight of an edge: nothing or an `f32`.
pub trait EdgeWeight: Copy + Default + PartialEq + Send + Sync + std::fmt::Debug + 'static {
    /// Whether weights are stored.
    const IS_WEIGHTED: bool;
    /// Converts a stored weight.
    fn from_f32(weight: f32) -> Self;
    /// Converts to a stored weight.
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

/// An edge whose ends are known by keys of two types. An import replaces the keys of its input by
/// [dense ids](DenseEdge), one end at a time. Packed, so that it takes no padding.
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

/// The type that numbers vertices while a graph is built: `u32` if their count allows it, to save
/// memory, else `u64`.
pub trait VertexNumber:
    FromBytes
    + IntoBytes
    + Immutable
    + KnownLayout
    + Copy
    + Ord
    + Default
    + Into<u64>
    + Send
    + Sync
    + std::fmt::Debug
    + 'static
{
    /// The most vertices that it can number.
    const COUNT_MAX: u64;
    /// The greatest number, reserved for "no vertex".
    const NONE: Self;

    /// Converts a number, which must fit.
    fn of(number: u64) -> Self;

    /// The number as an index into a vertex array.
    #[inline(always)]
    fn index(self) -> usize {
        let number: u64 = self.into();
        number as usize
    }
}

impl VertexNumber for u32 {
    const COUNT_MAX: u64 = SHORT_COUNT_MAX;
    const NONE: u32 = u32::MAX;

    #[inline(always)]
    fn of(number: u64) -> u32 {
        debug_assert!(number <= u64::from(u32::MAX));
        number as u32
    }
}

impl VertexNumber for u64 {
    const COUNT_MAX: u64 = VERTEX_COUNT_MAX;
    const NONE: u64 = u64::MAX;

    #[inline(always)]
    fn of(number: u64) -> u64 {
        number
    }
}

/// An edge between dense ids, ready to be encoded.
pub type DenseEdge<N, W> = Edge<N, N, W>;
