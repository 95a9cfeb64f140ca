//! An edge as it is encoded.

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

/// An edge between dense ids.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[repr(C)]
pub struct TileEdge<W> {
    /// Dense id of the source.
    pub source: u32,
    /// Dense id of the target.
    pub target: u32,
    /// Weight, or nothing.
    pub weight: W,
}
