//! The values of a vertex in passes.

use zerocopy::{FromBytes, Immutable, IntoBytes};

/// The values of a vertex.
#[derive(Debug, Clone, Copy, PartialEq, FromBytes, IntoBytes, Immutable)]
#[repr(C)]
pub struct HubAndAuthority {
    /// How good a hub it is; all together 1, or 0 without edges.
    pub hub: f64,
    /// How good an authority it is; all together 1, or 0 without edges.
    pub authority: f64,
    /// The next hub value, not scaled yet.
    pub(super) next: f64,
}
