//! Vertex ids before and after the vertex order is applied. They have different types on purpose.

use std::fmt;

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// A dense vertex id, `0..vertex_count`, in the vertex order: up to 40 bits.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    FromBytes,
    IntoBytes,
    Immutable,
    KnownLayout,
)]
#[repr(transparent)]
pub struct VertexId(pub u64);

impl VertexId {
    /// The id as an index into a vertex array.
    #[inline(always)]
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// The same id in 32 bits.
    ///
    /// # Panics
    /// When the id has more than 32 bits, which needs more than [`SHORT_COUNT_MAX`] vertices.
    #[inline]
    pub fn short(self) -> ShortId {
        ShortId(u32::try_from(self.0).expect("the graph has short ids"))
    }
}

/// A dense vertex id in 32 bits, for graphs of up to [`SHORT_COUNT_MAX`] vertices. Rows and lists
/// of vertices hold these.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, FromBytes)]
#[repr(transparent)]
pub struct ShortId(pub u32);

impl ShortId {
    /// The id as an index into a vertex array.
    #[inline(always)]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl From<ShortId> for VertexId {
    #[inline(always)]
    fn from(ShortId(id): ShortId) -> VertexId {
        VertexId(id.into())
    }
}

/// The greatest number of vertices: ids have 40 bits, and one is reserved as "none".
pub const VERTEX_COUNT_MAX: u64 = (1 << 40) - 1;

/// The greatest number of vertices with [short](ShortId) ids; one id is reserved as "none".
pub const SHORT_COUNT_MAX: u64 = u32::MAX as u64;

/// A vertex id as the user wrote it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OriginalId {
    /// Any unsigned 64-bit integer.
    Integer(u64),
    /// Any string without the separators of its input format.
    String(String),
}

impl fmt::Display for OriginalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OriginalId::Integer(id) => write!(f, "{id}"),
            OriginalId::String(id) => f.write_str(id),
        }
    }
}
