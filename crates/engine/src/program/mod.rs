//! Vertex programs: what a graph algorithm does with one vertex and one edge.

mod aggregate;
mod reduction;
mod relaxation;

use tegula_store::VertexId;
use tegula_store::graph::Graph;
use zerocopy::{FromBytes, Immutable, IntoBytes};

use crate::statistics::RunStatistics;
use crate::traverse::Directions;

pub use aggregate::Aggregate;
pub use reduction::{Accumulator, Addend, Max, Message, Min, Monotone, Number, Or, Reduction, Sum};
pub use relaxation::Relaxation;
pub use tegula_store::tiles::EdgeWeight;

/// A plain value, kept in arrays with one entry per vertex.
pub trait Value: FromBytes + IntoBytes + Immutable + Copy + Send + Sync + 'static {}
impl<T: FromBytes + IntoBytes + Immutable + Copy + Send + Sync + 'static> Value for T {}

/// Whether a vertex sends messages in the next iteration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activity {
    /// It is asked for its signal.
    Active,
    /// It is skipped.
    Inactive,
}

impl Activity {
    /// Returns `Active` exactly if `is_active`.
    #[inline(always)]
    pub fn when(is_active: bool) -> Activity {
        if is_active { Activity::Active } else { Activity::Inactive }
    }
}

/// Which vertices take part in the apply phase of an iteration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApplyTo {
    /// All vertices. Those that no message reached see the identity.
    All,
    /// Vertices in batches that a message may have reached. Some of them see the identity; others
    /// that would see it are skipped. So with the identity, apply changes nothing, activates
    /// nothing and sums nothing up.
    Reached,
}

/// Whether a program has vertices that no message can change any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settling {
    /// It has none.
    Never,
    /// [`Program::is_settled`] decides by the state. It costs one bit per vertex.
    ByState,
    /// [`Program::is_settled`] decides by the state. The messages to a vertex that is not settled
    /// reduce to the one from the smallest source, and this settles the vertex. So an iteration may
    /// [pull](crate::ProcessKind::Pull).
    ByFirstSource,
}

impl Settling {
    /// Returns whether there may be settled vertices.
    pub const fn is_possible(self) -> bool {
        !matches!(self, Settling::Never)
    }
}

/// What a program decides before an iteration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Run the iteration, if any vertex is active and not all are settled.
    Continue,
    /// The result is ready.
    Stop,
}

/// A graph algorithm in a few functions, as in the Pull-Reduce-Apply model of MOSAIC (Maass et al.,
/// EuroSys 2017, section 4) and the signal-slot model of DFOGraph (Yu et al., PPoPP 2021).
///
/// An iteration has four phases. Every active vertex *signals* one message. Messages are exchanged.
/// Each edge carries the message of its source *along*, and the messages to one target are
/// *reduced*. Each target *applies* the reduced message to its state.
///
/// The graph directory fixes the order of reduction, so results are the same to the bit for every
/// number of threads and every budget. A program whose state is the reduction of all messages so
/// far is simpler to write as a [`Relaxation`].
pub trait Program: Send + Sync {
    /// What is kept for a vertex between iterations.
    type State: Value;
    /// What messages are, and how messages to one target become one. If it is
    /// [exact](Reduction::IS_EXACT) and apply is only for [reached](ApplyTo::Reached) vertices,
    /// edges may come in any order. Then an iteration with few active vertices
    /// [seeks](crate::ProcessKind::Seek) their rows.
    type Reduction: Reduction;
    /// `()` or `f32`. In an unweighted graph every `f32` weight is 1.
    type Weight: EdgeWeight;
    /// What each iteration adds up over all vertices, in a fixed order; `()` for nothing.
    type Aggregate: Aggregate;

    /// Which vertices take part in apply.
    const APPLY_TO: ApplyTo = ApplyTo::Reached;
    /// Whether `degree` is needed, which costs 4 bytes per vertex. If not, it is 0.
    const NEEDS_DEGREE: bool = false;
    /// Whether vertices settle. Tiles whose targets are all settled are skipped, messages to
    /// settled vertices are not sent, and the run ends once all vertices are settled.
    const SETTLING: Settling = Settling::Never;

    /// Whether a message along a heavier edge is never in a nearer bucket, nor any message in a
    /// nearer one than its source. Then heavy edges to vertices in nearer buckets need not be
    /// followed. It requires [buckets](Program::HAS_BUCKETS) and [`Program::is_beyond`]. States
    /// may move only to nearer buckets, any vertex may be asked for its signal, and nothing may be
    /// summed up.
    const IS_FARTHER_BY_WEIGHT: bool = false;

    /// Whether any vertex may be asked for its signal in any iteration, because the messages of a
    /// vertex that is not active change nothing. It is also true where all vertices are active in
    /// every iteration. Such a program may run in [lanes](crate::Lanes).
    const MAY_SIGNAL_AGAIN: bool = false;

    /// Whether a state names another vertex, whose original id stands in the result table. If
    /// arrays lie on disk, the memory to look these ids up is counted.
    const NAMES_VERTEX: bool = false;

    /// Whether [`Program::bucket`] tells vertices apart. If not, it is never called.
    const HAS_BUCKETS: bool = false;

    /// Returns the bytes that the program itself holds, if they are worth counting in the budget.
    fn size(&self) -> u64 {
        0
    }

    /// Returns the directions in which messages follow edges. On a directed graph, any direction
    /// other than forward goes along rows in every iteration and requires an
    /// [exact](Reduction::IS_EXACT) reduction. Degrees stay out-degrees.
    fn directions(&self) -> Directions {
        Directions::Forward
    }

    /// Returns the state of a vertex before the first iteration.
    fn init(
        &self,
        vertex: VertexId,
        degree: u32,
        aggregate: &mut Self::Aggregate,
    ) -> (Self::State, Activity);

    /// Returns the same for a vertex with a state from an earlier run ([`Start`](crate::Start)).
    /// `_known` is all zeroes if there is none.
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

    /// Begins an iteration (from 0), given the aggregate of the iteration before, or of `init`.
    /// What the program remembers must follow from these two arguments alone, because a run that
    /// resumes from a [checkpoint](crate::Checkpoints) sees no earlier ones.
    fn begin_iteration(&mut self, _iteration: u64, _aggregate: &Self::Aggregate) -> Next {
        Next::Continue
    }

    /// Returns whether the program has met an edge or a vertex for which there is no answer. It then
    /// [stops](Next::Stop) before the next iteration.
    fn has_failed(&self) -> bool {
        false
    }

    /// Tells the program that it [has failed](Program::has_failed) on another rank. From then on it
    /// must behave as if it had failed here.
    fn fail(&mut self) {}

    /// Ends an iteration, given the statistics of the run so far. Results must not depend on them.
    fn end_iteration(&mut self, _statistics: &RunStatistics) {}

    /// Returns the message that an active vertex sends to all its targets, if it has one.
    fn signal(&self, vertex: VertexId, state: &Self::State, degree: u32) -> Option<Message<Self>>;

    /// Returns what a message becomes on an edge.
    #[inline(always)]
    fn along(&self, message: Message<Self>, _weight: Self::Weight) -> Message<Self> {
        message
    }

    /// Applies the reduced messages to the state of a vertex with this out-degree.
    fn apply(
        &self,
        vertex: VertexId,
        degree: u32,
        state: &mut Self::State,
        reduced: Accumulator<Self>,
        aggregate: &mut Self::Aggregate,
    ) -> Activity;

    /// Returns whether no message can change this state any more. True only as
    /// [`Program::SETTLING`] allows.
    #[inline(always)]
    fn is_settled(&self, _state: &Self::State) -> bool {
        false
    }

    /// Returns whether a message can change this state, which is not settled. A message that cannot
    /// need not be sent. This is the filter of DFOGraph (section 3.3), on one machine.
    #[inline(always)]
    fn is_news(&self, _state: &Self::State, _message: Message<Self>) -> bool {
        true
    }

    /// Returns whether a message that has crossed an edge belongs to a later
    /// [bucket](Program::bucket) than `_bucket`; see [`Program::IS_FARTHER_BY_WEIGHT`].
    #[inline(always)]
    fn is_beyond(&self, _message: Message<Self>, _bucket: u64) -> bool {
        false
    }

    /// Returns the bucket of an active vertex. While rows are sought, vertices in the smallest
    /// bucket signal first and the others are put off. A scan takes all at once. This makes a
    /// search for shortest paths a delta-stepping one (Meyer, Sanders 2003).
    #[inline(always)]
    fn bucket(&self, _state: &Self::State) -> u64 {
        0
    }
}

/// Returns whether a program reads the weights of a graph.
pub(crate) fn has_weights<P: Program>(graph: &Graph) -> bool {
    P::Weight::IS_WEIGHTED && graph.is_weighted()
}

/// Returns whether the edges of a program may come in any order, so that no scan is needed.
pub(crate) const fn may_seek<P: Program>() -> bool {
    P::Reduction::IS_EXACT && matches!(P::APPLY_TO, ApplyTo::Reached)
}
