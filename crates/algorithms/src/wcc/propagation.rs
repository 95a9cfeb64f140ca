//! Components by label propagation.

use tegula_engine::{Activity, ApplyTo, Next, Program, VertexId};

/// Label propagation: the smallest dense id in reach.
#[derive(Debug, Clone, Copy)]
pub struct SmallestId;

impl Program for SmallestId {
    type State = u32;
    type Message = u32;
    type Accumulator = u32;
    type Weight = ();
    type Aggregate = ();

    const APPLY_TO: ApplyTo = ApplyTo::Reached;
    const NEEDS_DEGREE: bool = false;
    const IS_EXACT: bool = true;

    fn init(&self, vertex: VertexId, _degree: u32, (): &mut ()) -> (u32, Activity) {
        (vertex.0, Activity::Active)
    }

    fn begin_iteration(&mut self, _iteration: u64, (): &()) -> Next {
        Next::Continue
    }

    #[inline(always)]
    fn signal(&self, _vertex: VertexId, label: &u32, _degree: u32) -> Option<u32> {
        Some(*label)
    }

    #[inline(always)]
    fn along(&self, message: u32, (): ()) -> u32 {
        message
    }

    #[inline(always)]
    fn identity(&self) -> u32 {
        u32::MAX
    }

    #[inline(always)]
    fn reduce(&self, a: u32, b: u32) -> u32 {
        a.min(b)
    }

    #[inline(always)]
    fn accumulate(&self, a: u32, b: u32) -> u32 {
        a.min(b)
    }

    #[inline(always)]
    fn apply(
        &self,
        _vertex: VertexId,
        _degree: u32,
        label: &mut u32,
        reduced: u32,
        (): &mut (),
    ) -> Activity {
        let is_smaller = reduced < *label;
        *label = reduced.min(*label);
        Activity::when(is_smaller)
    }

    fn merge(&self, (): &mut (), (): ()) {}

    #[inline(always)]
    fn is_news(&self, label: &u32, message: u32) -> bool {
        message < *label
    }
}
