//! Vertex ids before and after the vertex order is applied. They are different types on purpose.

use std::fmt;

use zerocopy::FromBytes;

/// A dense vertex id, `0..vertex_count`, after the vertex order was applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, FromBytes)]
#[repr(transparent)]
pub struct VertexId(pub u32);

impl VertexId {
    /// The id as an index into a vertex array.
    #[inline(always)]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The most vertices that a graph can have: one id is kept free as "none".
pub const VERTEX_COUNT_MAX: u64 = u32::MAX as u64;

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
