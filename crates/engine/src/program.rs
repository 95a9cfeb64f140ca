//! Vertex programs: what a graph algorithm says of one vertex and one edge.

use tegula_store::VertexId;
use zerocopy::{FromBytes, Immutable, IntoBytes};

pub use tegula_store::tiles::EdgeWeight;

/// A plain value that is kept in an array with one per vertex.
pub trait Value: FromBytes + IntoBytes + Immutable + Copy + Send + Sync + 'static {}
impl<T: FromBytes + IntoBytes + Immutable + Copy + Send + Sync + 'static> Value for T {}

/// Whether a vertex sends messages in the next iteration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activity {
    /// It will be asked for its signal.
    Active,
    /// It is passed over.
    Inactive,
}

impl Activity {
    /// Active exactly if the condition holds.
    #[inline(always)]
    pub fn when(is_active: bool) -> Activity {
        if is_active { Activity::Active } else { Activity::Inactive }
    }
}

/// Which vertices take part in the apply phase of an iteration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApplyTo {
    /// All, also those that no message reached; they see the identity.
    All,
    /// Those in batches that a message may have reached; some of them see the identity.
    Reached,
}

/// What a program decides before an iteration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Run the iteration, if any vertex is active.
    Continue,
    /// The result is there.
    Stop,
}

/// A graph algorithm in four functions, as in the Pull-Reduce-Apply model of MOSAIC (Maass et al.,
/// EuroSys 2017, section 4) and the signal-slot model of DFOGraph (Yu et al., PPoPP 2021).
///
/// An iteration has four phases: every active vertex *signals* one message; messages are exchanged;
/// each edge carries its source's message *along* and *reduces* it into its target's accumulator;
/// each target *applies* what was reduced to its state.
///
/// `reduce` must be associative and commutative up to rounding, and `identity` must leave the other
/// operand unchanged. The order of reduction is fixed by the graph directory, so results are the
/// same to the bit for every number of threads and every budget.
pub trait Program: Send + Sync {
    /// What is kept of a vertex between iterations.
    type State: Value;
    /// What travels along an edge.
    type Message: Value + PartialEq;
    /// What many messages to one target are reduced to. A sum of `f32` wants an accumulator of `f64`: it
    /// loses precision with the number of its terms, and the greatest vertices have millions.
    type Accumulator: Value + From<Self::Message>;
    /// `()` or `f32`; in an unweighted graph every `f32` weight is 1.
    type Weight: EdgeWeight;
    /// What an iteration sums up over all vertices, in a fixed order.
    type Aggregate: Default + Send;

    /// Which vertices take part in apply.
    const APPLY_TO: ApplyTo;
    /// Whether `degree` is wanted: it costs 4 bytes a vertex. Elsewhere it is 0.
    const NEEDS_DEGREE: bool;

    /// Whether `reduce` and `merge` are associative and commutative to the bit, and `apply` does nothing
    /// for the identity: a smallest number is, a sum of floats is not. Then edges may come in any order,
    /// and an iteration with few active vertices [seeks](crate::Process::Seek) their rows.
    const IS_EXACT: bool = false;

    /// Whether [`Program::is_settled`] is ever true. It costs a bit a vertex.
    const SETTLES: bool = false;

    /// Whether of all messages to a vertex that is not settled the one from the smallest source is what
    /// they are reduced to, and settles the vertex. Then an iteration may [pull](crate::Process::Pull).
    /// It implies [`Program::SETTLES`].
    const FIRST_SOURCE_WINS: bool = false;

    /// Bytes that the program itself holds, where they are worth to be counted in the budget.
    fn size(&self) -> u64 {
        0
    }

    /// The state of a vertex before the first iteration.
    fn init(
        &self,
        vertex: VertexId,
        degree: u32,
        aggregate: &mut Self::Aggregate,
    ) -> (Self::State, Activity);

    /// Called before each iteration (from 0) with what the one before, or `init`, summed up.
    fn begin_iteration(&mut self, iteration: u64, aggregate: &Self::Aggregate) -> Next;

    /// The message of an active vertex with this out-degree to all its targets, if it has one.
    fn signal(&self, vertex: VertexId, state: &Self::State, degree: u32) -> Option<Self::Message>;

    /// What becomes of a message on an edge.
    fn along(&self, message: Self::Message, weight: Self::Weight) -> Self::Message;

    /// The message that changes nothing.
    fn identity(&self) -> Self::Message;

    /// Merges two messages to one target. A scan reduces short runs of messages with this, and accumulates
    /// the results.
    fn reduce(&self, a: Self::Message, b: Self::Message) -> Self::Message;

    /// Merges what two sets of messages to one target were reduced to.
    fn accumulate(&self, a: Self::Accumulator, b: Self::Accumulator) -> Self::Accumulator;

    /// Takes what was reduced into the state of a vertex with this out-degree.
    fn apply(
        &self,
        vertex: VertexId,
        degree: u32,
        state: &mut Self::State,
        reduced: Self::Accumulator,
        aggregate: &mut Self::Aggregate,
    ) -> Activity;

    /// Adds the sums of some vertices to those of the vertices before them.
    fn merge(&self, into: &mut Self::Aggregate, from: Self::Aggregate);

    /// Whether no message can change this state any more; only where [`Program::SETTLES`]. Tiles whose
    /// targets are all settled are passed over, and messages to them are not sent.
    #[inline(always)]
    fn is_settled(&self, _state: &Self::State) -> bool {
        false
    }

    /// Whether a message can change this state, which is not settled. One that cannot need not be sent,
    /// which is the filter of DFOGraph (section 3.3), on one machine.
    #[inline(always)]
    fn is_news(&self, _state: &Self::State, _message: Self::Message) -> bool {
        true
    }

    /// When an active vertex is to signal: those with the smallest number come first, the others are put
    /// off while rows are sought. A scan takes all at once. This is what makes a search for shortest
    /// paths a delta-stepping one (Meyer, Sanders 2003).
    #[inline(always)]
    fn bucket(&self, _state: &Self::State) -> u64 {
        0
    }
}
