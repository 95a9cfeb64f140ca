//! The multiplication as a program.

use std::marker::PhantomData;
use std::sync::Arc;

use tegula_engine::{Activity, ApplyTo, EdgeWeight, Next, Program, Sum, VertexId};

/// The multiplication, for weights `W`; the states are the values.
#[derive(Debug, Clone)]
pub struct Spmv<W> {
    /// The value of each vertex, by dense id; `None` for ones.
    vector: Option<Arc<Vec<f32>>>,
    iterations: u64,
    weight: PhantomData<fn() -> W>,
}

impl<W> Spmv<W> {
    /// Multiplies a vector, by default of ones, `iterations` times.
    pub fn new(vector: Option<Arc<Vec<f32>>>, iterations: u64) -> Spmv<W> {
        Spmv { vector, iterations, weight: PhantomData }
    }
}

impl<W: EdgeWeight> Program for Spmv<W> {
    type State = f32;
    type Reduction = Sum<f32>;
    type Weight = W;
    type Aggregate = ();

    const APPLY_TO: ApplyTo = ApplyTo::All;
    /// All vertices are active in every iteration.
    const MAY_SIGNAL_AGAIN: bool = true;

    fn size(&self) -> u64 {
        self.vector.as_ref().map_or(0, |vector| size_of_val(&vector[..]) as u64)
    }

    fn init(&self, vertex: VertexId, _degree: u32, (): &mut ()) -> (f32, Activity) {
        let value = self.vector.as_ref().map_or(1.0, |vector| vector[vertex.index()]);
        (value, Activity::Active)
    }

    fn begin_iteration(&mut self, iteration: u64, (): &()) -> Next {
        if iteration < self.iterations { Next::Continue } else { Next::Stop }
    }

    #[inline(always)]
    fn signal(&self, _vertex: VertexId, value: &f32, _degree: u32) -> Option<f32> {
        Some(*value)
    }

    #[inline(always)]
    fn along(&self, message: f32, weight: W) -> f32 {
        if W::IS_WEIGHTED { message * weight.to_f32() } else { message }
    }

    #[inline(always)]
    fn apply(
        &self,
        _vertex: VertexId,
        _degree: u32,
        value: &mut f32,
        reduced: f64,
        (): &mut (),
    ) -> Activity {
        *value = reduced as f32;
        Activity::Active
    }
}
