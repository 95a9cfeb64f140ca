//! Components by label propagation.

use tegula_engine::{Min, Relaxation, VertexId};

/// Label propagation: the smallest dense id in reach.
#[derive(Debug, Clone, Copy)]
pub struct SmallestId;

impl Relaxation for SmallestId {
    type Reduction = Min<u32>;
    type Weight = ();

    fn start(&self, vertex: VertexId) -> Option<u32> {
        Some(vertex.0)
    }
}
