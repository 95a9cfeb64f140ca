//! Vertex programs: what a graph algorithm says of one vertex and one edge.

mod aggregate;
mod reduction;
mod relaxation;

use tegula_store::VertexId;
use zerocopy::{FromBytes, Immutable, IntoBytes};

use crate::traverse::Directions;

pub use aggregate::Aggregate;
pub use reduction::{Accumulator, Addend, Max, Message, Min, Monotone, Number, Or, Reduction, Sum};
pub use relaxation::Relaxation;
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
    /// Those in batches that a message may have reached. Some of them see the identity, and others are passed over
    /// that would: for it, nothing changes, is active, or is summed up.
    Reached,
}

/// Whether there are vertices that no message can change any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settling {
    /// There are none.
    Never,
    /// [`Program::is_settled`] tells by the state. It costs a bit a vertex.
    ByState,
    /// So it does, and of all messages to a vertex that is not settled, the one from the smallest source
    /// is what they are reduced to, and settles it. Then an iteration may [pull](crate::ProcessKind::Pull).
    ByFirstSource,
}

impl Settling {
    /// Whether there may be settled vertices.
    pub const fn is_possible(self) -> bool {
        !matches!(self, Settling::Never)
    }
}

/// What a program decides before an iteration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Run the iteration, if any vertex is active and not all are settled.
    Continue,
    /// The result is there.
    Stop,
}

/// A graph algorithm in a few functions, as in the Pull-Reduce-Apply model of MOSAIC (Maass et al.,
/// EuroSys 2017, section 4) and the signal-slot model of DFOGraph (Yu et al., PPoPP 2021).
///
/// An iteration has four phases: every active vertex *signals* one message; messages are exchanged;
/// each edge carries its source's message *along*, and what arrives at one target is *reduced*; each
/// target *applies* what was reduced to its state.
///
/// The order of reduction is fixed by the graph directory, so results are the same to the bit for every
/// number of threads and every budget. A program whose state is what all messages so far reduce to
/// need not be written out: see [`Relaxation`].
pub trait Program: Send + Sync {
    /// What is kept of a vertex between iterations.
    type State: Value;
    /// What messages are, and how those to one target become one. Where it is [exact](Reduction::IS_EXACT)
    /// and only [reached](ApplyTo::Reached) vertices are applied to, edges may come in any order, and an
    /// iteration with few active vertices [seeks](crate::ProcessKind::Seek) their rows.
    type Reduction: Reduction;
    /// `()` or `f32`; in an unweighted graph every `f32` weight is 1.
    type Weight: EdgeWeight;
    /// What an iteration sums up over all vertices, in a fixed order; `()` for nothing.
    type Aggregate: Aggregate;

    /// Which vertices take part in apply.
    const APPLY_TO: ApplyTo = ApplyTo::Reached;
    /// Whether `degree` is wanted: it costs 4 bytes a vertex. Elsewhere it is 0.
    const NEEDS_DEGREE: bool = false;
    /// Whether vertices settle. Tiles whose targets are all settled are passed over, messages to settled vertices are not
    /// sent, and once all are settled the run is over.
    const SETTLING: Settling = Settling::Never;

    /// Whether what comes along an edge is never nearer where the weight is greater, so that the buckets of messages
    /// along edges of ascending weights ascend, and none is nearer than its source. Then heavy edges to vertices of
    /// nearer buckets need not be followed. It calls for [buckets](Program::HAS_BUCKETS) and [`Program::is_beyond`];
    /// states only ever come to nearer buckets, any vertex may be asked for its signal, and nothing may be summed up.
    const IS_FARTHER_BY_WEIGHT: bool = false;

    /// Whether a state names a vertex, by a number whose original id stands in the table of the result. Where arrays lie
    /// on disk, the room in which these ids are looked up is counted.
    const NAMES_VERTEX: bool = false;

    /// Whether [`Program::bucket`] tells vertices apart. It is not called otherwise.
    const HAS_BUCKETS: bool = false;

    /// Bytes that the program itself holds, where they are worth to be counted in the budget.
    fn size(&self) -> u64 {
        0
    }

    /// In which directions messages follow edges. Other than forward, on a directed graph, they go along rows in every
    /// iteration, which calls for an [exact](Reduction::IS_EXACT) reduction. Degrees are out-degrees all the same.
    fn directions(&self) -> Directions {
        Directions::Forward
    }

    /// The state of a vertex before the first iteration.
    fn init(
        &self,
        vertex: VertexId,
        degree: u32,
        aggregate: &mut Self::Aggregate,
    ) -> (Self::State, Activity);

    /// The same of a vertex whose state is known from before: [`Start`](crate::Start). Where none are, it is zeroes.
    #[inline(always)]
    fn init_from(
        &self,
        _known: Self::State,
        vertex: VertexId,
        degree: u32,
        aggregate: &mut Self::Aggregate,
    ) -> (Self::State, Activity) {
        self.init(vertex, degree, aggregate)
    }

    /// Called before each iteration (from 0) with what the one before, or `init`, summed up. What the program remembers
    /// must follow from these two: a run that goes on from a [checkpoint](crate::Checkpoints) has been told no others.
    fn begin_iteration(&mut self, _iteration: u64, _aggregate: &Self::Aggregate) -> Next {
        Next::Continue
    }

    /// The message of an active vertex with this out-degree to all its targets, if it has one.
    fn signal(&self, vertex: VertexId, state: &Self::State, degree: u32) -> Option<Message<Self>>;

    /// What becomes of a message on an edge.
    #[inline(always)]
    fn along(&self, message: Message<Self>, _weight: Self::Weight) -> Message<Self> {
        message
    }

    /// Takes what was reduced into the state of a vertex with this out-degree.
    fn apply(
        &self,
        vertex: VertexId,
        degree: u32,
        state: &mut Self::State,
        reduced: Accumulator<Self>,
        aggregate: &mut Self::Aggregate,
    ) -> Activity;

    /// Whether no message can change this state any more; true only as [`Program::SETTLING`] says.
    #[inline(always)]
    fn is_settled(&self, _state: &Self::State) -> bool {
        false
    }

    /// Whether a message can change this state, which is not settled. One that cannot need not be sent,
    /// which is the filter of DFOGraph (section 3.3), on one machine.
    #[inline(always)]
    fn is_news(&self, _state: &Self::State, _message: Message<Self>) -> bool {
        true
    }

    /// Whether what comes along an edge belongs to a later [bucket](Program::bucket) than this one; see
    /// [`Program::IS_FARTHER_BY_WEIGHT`].
    #[inline(always)]
    fn is_beyond(&self, _message: Message<Self>, _bucket: u64) -> bool {
        false
    }

    /// When an active vertex is to signal: those with the smallest number come first, the others are put
    /// off while rows are sought. A scan takes all at once. This is what makes a search for shortest
    /// paths a delta-stepping one (Meyer, Sanders 2003).
    #[inline(always)]
    fn bucket(&self, _state: &Self::State) -> u64 {
        0
    }
}

/// Whether the edges of a program may come in any order, so that it need not be scanned.
pub(crate) const fn may_seek<P: Program>() -> bool {
    P::Reduction::IS_EXACT && matches!(P::APPLY_TO, ApplyTo::Reached)
}
