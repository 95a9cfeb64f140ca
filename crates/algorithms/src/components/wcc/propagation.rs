//! Components by label propagation.

use std::marker::PhantomData;

use tegula_engine::{Min, Number, Relaxation, VertexId, VertexNumber};

/// Label propagation: the smallest dense id that reaches a vertex, in the id width of the graph.
#[derive(Debug, Clone, Copy, Default)]
pub struct SmallestId<N = u32>(PhantomData<fn() -> N>);

impl<N: VertexNumber + Number> Relaxation for SmallestId<N> {
    type Reduction = Min<N>;
    type Weight = ();

    const NAMES_VERTEX: bool = true;

    fn start(&self, vertex: VertexId) -> Option<N> {
        Some(N::of(vertex.0))
    }
}
