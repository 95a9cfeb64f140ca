//! Programs whose state is the reduction of all messages so far.

use tegula_store::VertexId;
use tegula_store::tiles::EdgeWeight;

use super::{Activity, Message, Monotone, Next, Program, Reduction};
use crate::traverse::Directions;

/// A program in which a vertex keeps the reduction of all messages to it, and sends it on whenever
/// it changes: distances, labels, sets. Everything but the start and the effect of an edge follows
/// from the reduction.
///
/// ```
/// use tegula_engine::{Min, Relaxation, VertexId};
///
/// /// Hops from a source to every vertex.
/// struct Hops(VertexId);
///
/// impl Relaxation for Hops {
///     type Reduction = Min<u32>;
///     type Weight = ();
///
///     fn start(&self, vertex: VertexId) -> Option<u32> {
///         (vertex == self.0).then_some(0)
///     }
///
///     fn along(&self, hops: u32, (): ()) -> u32 {
///         hops.saturating_add(1)
///     }
/// }
/// ```
pub trait Relaxation: Send + Sync {
    /// The message type, which is also the state, and how messages merge.
    type Reduction: Monotone;
    /// `()` or `f32`. In an unweighted graph every `f32` weight is 1.
    type Weight: EdgeWeight;

    /// See [`Program::IS_FARTHER_BY_WEIGHT`].
    const IS_FARTHER_BY_WEIGHT: bool = false;

    /// See [`Program::NAMES_VERTEX`].
    const NAMES_VERTEX: bool = false;

    /// See [`Program::HAS_BUCKETS`].
    const HAS_BUCKETS: bool = false;

    /// See [`Program::size`].
    fn size(&self) -> u64 {
        0
    }

    /// See [`Program::directions`].
    fn directions(&self) -> Directions {
        Directions::Forward
    }

    /// Returns what a vertex has and sends at first. With `None`, it has the identity and is
    /// inactive.
    fn start(&self, vertex: VertexId) -> Option<<Self::Reduction as Reduction>::Message>;

    /// Begins an iteration (from 0).
    fn begin_iteration(&mut self, _iteration: u64) -> Next {
        Next::Continue
    }

    /// See [`Program::has_failed`].
    fn has_failed(&self) -> bool {
        false
    }

    /// See [`Program::fail`].
    fn fail(&mut self) {}

    /// Returns what a message becomes on an edge. The identity must stay as it is, or become a
    /// message that changes no state.
    #[inline(always)]
    fn along(
        &self,
        message: <Self::Reduction as Reduction>::Message,
        _weight: Self::Weight,
    ) -> <Self::Reduction as Reduction>::Message {
        message
    }

    /// See [`Program::bucket`].
    #[inline(always)]
    fn bucket(&self, _state: &<Self::Reduction as Reduction>::Message) -> u64 {
        0
    }
}

impl<R: Relaxation> Program for R {
    type State = Message<R>;
    type Reduction = R::Reduction;
    type Weight = R::Weight;
    type Aggregate = ();

    const IS_FARTHER_BY_WEIGHT: bool = R::IS_FARTHER_BY_WEIGHT;
    const NAMES_VERTEX: bool = R::NAMES_VERTEX;
    const HAS_BUCKETS: bool = R::HAS_BUCKETS;
    /// A vertex that is not active has sent its state already, or has the identity.
    const MAY_SIGNAL_AGAIN: bool = true;

    fn size(&self) -> u64 {
        Relaxation::size(self)
    }

    fn directions(&self) -> Directions {
        Relaxation::directions(self)
    }

    fn init(&self, vertex: VertexId, _degree: u32, (): &mut ()) -> (Message<R>, Activity) {
        let start = self.start(vertex);
        (start.unwrap_or(R::Reduction::IDENTITY), Activity::when(start.is_some()))
    }

    fn begin_iteration(&mut self, iteration: u64, (): &()) -> Next {
        Relaxation::begin_iteration(self, iteration)
    }

    fn has_failed(&self) -> bool {
        Relaxation::has_failed(self)
    }

    fn fail(&mut self) {
        Relaxation::fail(self);
    }

    #[inline(always)]
    fn signal(&self, _: VertexId, state: &Message<R>, _degree: u32) -> Option<Message<R>> {
        Some(*state)
    }

    #[inline(always)]
    fn along(&self, message: Message<R>, weight: R::Weight) -> Message<R> {
        Relaxation::along(self, message, weight)
    }

    #[inline(always)]
    fn apply(
        &self,
        _: VertexId,
        _degree: u32,
        state: &mut Message<R>,
        reduced: super::Accumulator<R>,
        (): &mut (),
    ) -> Activity {
        Activity::when(R::Reduction::absorb(state, reduced))
    }

    #[inline(always)]
    fn is_news(&self, state: &Message<R>, message: Message<R>) -> bool {
        R::Reduction::would_change(state, message)
    }

    #[inline(always)]
    fn bucket(&self, state: &Message<R>) -> u64 {
        Relaxation::bucket(self, state)
    }

    #[inline(always)]
    fn is_beyond(&self, message: Message<R>, bucket: u64) -> bool {
        Relaxation::bucket(self, &message) > bucket
    }
}
