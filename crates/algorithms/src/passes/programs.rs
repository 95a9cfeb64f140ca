//! A pass as a vertex program of at most one iteration.

use std::marker::PhantomData;

use tegula_engine::{
    Accumulator, Activity, Aggregate, ApplyTo, Message, Next, Or, Program, Reduction, Value,
    VertexId,
};

/// A pass over edges.
pub(super) struct EdgePass<S, R, A, Signal, Slot> {
    signal: Signal,
    pub slot: Slot,
    /// The sums of the pass, once it has ended; `None` also if no vertex was active.
    pub total: Option<A>,
    types: PhantomData<fn() -> (S, R)>,
}

impl<S, R, A, Signal, Slot> EdgePass<S, R, A, Signal, Slot> {
    pub fn new(signal: Signal, slot: Slot) -> Self {
        EdgePass { signal, slot, total: None, types: PhantomData }
    }
}

impl<S, R, A, Signal, Slot> Program for EdgePass<S, R, A, Signal, Slot>
where
    S: Value,
    R: Reduction,
    A: Aggregate,
    Signal: Fn(VertexId, &S) -> Option<R::Message> + Send + Sync,
    Slot: Fn(VertexId, &mut S, R::Accumulator, &mut A) + Send + Sync,
{
    type State = S;
    type Reduction = R;
    type Weight = ();
    type Aggregate = A;

    const APPLY_TO: ApplyTo = ApplyTo::All;

    fn init(&self, vertex: VertexId, degree: u32, aggregate: &mut A) -> (S, Activity) {
        self.init_from(S::new_zeroed(), vertex, degree, aggregate)
    }

    fn init_from(&self, known: S, vertex: VertexId, _: u32, _: &mut A) -> (S, Activity) {
        (known, Activity::when((self.signal)(vertex, &known).is_some()))
    }

    fn begin_iteration(&mut self, iteration: u64, aggregate: &A) -> Next {
        if iteration == 0 {
            return Next::Continue;
        }
        self.total = Some(copied(aggregate));
        Next::Stop
    }

    fn signal(&self, vertex: VertexId, state: &S, _degree: u32) -> Option<Message<Self>> {
        (self.signal)(vertex, state)
    }

    fn apply(
        &self,
        vertex: VertexId,
        _degree: u32,
        state: &mut S,
        reduced: Accumulator<Self>,
        aggregate: &mut A,
    ) -> Activity {
        (self.slot)(vertex, state, reduced, aggregate);
        Activity::Inactive
    }
}

/// A pass over vertices: all is done when the states are made.
pub(super) struct VertexPass<S, A, Visit> {
    visit: Visit,
    pub total: Option<A>,
    state: PhantomData<fn() -> S>,
}

impl<S, A, Visit> VertexPass<S, A, Visit> {
    pub fn new(visit: Visit) -> Self {
        VertexPass { visit, total: None, state: PhantomData }
    }
}

impl<S, A, Visit> Program for VertexPass<S, A, Visit>
where
    S: Value,
    A: Aggregate,
    Visit: Fn(VertexId, &mut S, &mut A) + Send + Sync,
{
    type State = S;
    // Nothing is sent, so any reduction would do.
    type Reduction = Or<u32>;
    type Weight = ();
    type Aggregate = A;

    fn init(&self, vertex: VertexId, degree: u32, aggregate: &mut A) -> (S, Activity) {
        self.init_from(S::new_zeroed(), vertex, degree, aggregate)
    }

    fn init_from(
        &self,
        mut known: S,
        vertex: VertexId,
        _degree: u32,
        aggregate: &mut A,
    ) -> (S, Activity) {
        (self.visit)(vertex, &mut known, aggregate);
        (known, Activity::Inactive)
    }

    fn begin_iteration(&mut self, _iteration: u64, aggregate: &A) -> Next {
        self.total = Some(copied(aggregate));
        Next::Stop
    }

    fn signal(&self, _vertex: VertexId, _state: &S, _degree: u32) -> Option<u32> {
        None
    }

    fn apply(&self, _: VertexId, _: u32, _: &mut S, _: u32, _: &mut A) -> Activity {
        Activity::Inactive
    }
}

/// Returns a copy of sums, which need not be of a type that can be cloned.
///
/// # Panics
/// When they cannot be made of their own bytes.
fn copied<A: Aggregate>(sums: &A) -> A {
    A::from_bytes(&sums.to_bytes()).expect("sums are made of the bytes that they tell")
}
