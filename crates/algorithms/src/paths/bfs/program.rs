//! The search as a program: each iteration is a level.

use std::fmt;

use tegula_engine::traverse::Directions;
use tegula_engine::{
    Activity, Graph, Min, Next, Number, Outcome, Program, Reduction, Result, RunOptions, Settling,
    Value, VertexId, VertexNumber,
};
use zerocopy::{FromBytes, Immutable, IntoBytes};

use crate::shared::sources::Sources;

/// Distance of a vertex that is not reached.
pub(super) const NONE: u32 = u32::MAX;

/// What a search keeps of a parent: nothing, or its id in the width that the graph needs.
pub trait Parent: Value + PartialEq + fmt::Debug {
    /// What a vertex sends: its id, if parents are kept.
    type Message: Number;
    /// The parent of a vertex that is not reached.
    const NONE: Self;

    /// The message of a vertex.
    fn message(vertex: VertexId) -> Self::Message;

    /// The parent that a message names.
    fn of(message: Self::Message) -> Self;

    /// The vertex, if its id is kept.
    fn vertex(self) -> Option<VertexId>;
}

impl Parent for () {
    type Message = u32;
    const NONE: () = ();

    #[inline(always)]
    fn message(_vertex: VertexId) -> u32 {
        0
    }

    #[inline(always)]
    fn of(_message: u32) {}

    fn vertex(self) -> Option<VertexId> {
        None
    }
}

macro_rules! ids {
    ($($id:ty),*) => {$(
        impl Parent for $id {
            type Message = $id;
            const NONE: $id = VertexNumber::NONE;

            #[inline(always)]
            fn message(vertex: VertexId) -> $id {
                VertexNumber::of(vertex.0)
            }

            #[inline(always)]
            fn of(message: $id) -> $id {
                message
            }

            fn vertex(self) -> Option<VertexId> {
                (self != <$id as VertexNumber>::NONE).then_some(VertexId(self.into()))
            }
        }
    )*};
}

ids!(u32, u64);

/// The state of a vertex.
#[derive(Debug, Clone, Copy, PartialEq, Eq, FromBytes, IntoBytes, Immutable)]
#[repr(C, packed)]
pub struct Reached<P = u32> {
    distance: u32,
    parent: P,
}

impl<P: Parent> Reached<P> {
    /// Hops from the nearest source; `None` where there is no path.
    #[inline(always)]
    pub fn distance(&self) -> Option<u32> {
        let distance = self.distance;
        (distance != NONE).then_some(distance)
    }

    /// The vertex before it on a shortest path, if parents are kept; a source is its own parent.
    pub fn parent(&self) -> Option<VertexId> {
        // The braces copy: the struct is packed, so the field may not be aligned.
        { self.parent }.vertex()
    }
}

impl Reached<()> {
    /// The state of a vertex at this distance.
    pub(super) fn at(distance: u32) -> Reached<()> {
        Reached { distance, parent: () }
    }
}

impl Reached {
    /// The state of a vertex that is not reached.
    pub(super) const UNREACHED: Reached = Reached { distance: NONE, parent: NONE };

    /// The state of a vertex at this distance, without its parent. A source is its own parent.
    pub(super) fn without_parent(vertex: VertexId, distance: u32) -> Reached {
        let parent = if distance == 0 { vertex.0 as u32 } else { NONE };
        Reached { distance, parent }
    }

    /// The distance; `u32::MAX` for a vertex that is not reached.
    #[inline(always)]
    pub(super) fn level(&self) -> u32 {
        self.distance
    }

    /// The same state with this parent, unless the vertex is a source or is not reached.
    #[inline(always)]
    #[must_use]
    pub(super) fn with_parent(self, parent: u32) -> Reached {
        let needs_one = self.distance != 0 && self.distance != NONE;
        Reached { parent: if needs_one { parent } else { self.parent }, ..self }
    }
}

/// Breadth-first search.
#[derive(Debug, Clone)]
pub struct Bfs<P = u32> {
    sources: Sources,
    /// The last level.
    cutoff: u32,
    directions: Directions,
    level: u32,
    parent: std::marker::PhantomData<fn() -> P>,
}

impl<P: Parent> Bfs<P> {
    /// A search from one or several vertices.
    pub fn new(sources: impl Into<Sources>) -> Bfs<P> {
        let (sources, parent) = (sources.into(), std::marker::PhantomData);
        Bfs { sources, cutoff: u32::MAX, directions: Directions::Forward, level: 0, parent }
    }

    /// The same search up to `cutoff` hops.
    pub fn with_cutoff(self, cutoff: u32) -> Bfs<P> {
        Bfs { cutoff, ..self }
    }

    /// The same search along edges in these directions.
    pub fn following(self, directions: Directions) -> Bfs<P> {
        Bfs { directions, ..self }
    }
}

impl Bfs {
    /// Runs the search, in memory.
    pub fn run(graph: &Graph, source: VertexId, options: &RunOptions<'_>) -> Result<Outcome<Bfs>> {
        tegula_engine::run(graph, Bfs::new(source), options)
    }
}

impl<P: Parent> Program for Bfs<P> {
    type State = Reached<P>;
    type Reduction = Min<P::Message>;
    type Weight = ();
    type Aggregate = ();

    const SETTLING: Settling = Settling::ByFirstSource;
    const NAMES_VERTEX: bool = size_of::<P>() > 0;

    fn size(&self) -> u64 {
        self.sources.size()
    }

    fn directions(&self) -> Directions {
        self.directions
    }

    fn init(&self, vertex: VertexId, _degree: u32, (): &mut ()) -> (Reached<P>, Activity) {
        if self.sources.contains(vertex) {
            let parent = P::of(P::message(vertex));
            (Reached { distance: 0, parent }, Activity::Active)
        } else {
            (Reached { distance: NONE, parent: P::NONE }, Activity::Inactive)
        }
    }

    fn begin_iteration(&mut self, iteration: u64, (): &()) -> Next {
        self.level = iteration as u32 + 1;
        if self.level > self.cutoff { Next::Stop } else { Next::Continue }
    }

    #[inline(always)]
    fn signal(&self, vertex: VertexId, _state: &Reached<P>, _degree: u32) -> Option<P::Message> {
        Some(P::message(vertex))
    }

    #[inline(always)]
    fn apply(
        &self,
        _vertex: VertexId,
        _degree: u32,
        state: &mut Reached<P>,
        parent: P::Message,
        (): &mut (),
    ) -> Activity {
        // Without a message, the reduced parent is the identity.
        let is_new = !self.is_settled(state) && parent != Self::Reduction::IDENTITY;
        if is_new {
            *state = Reached { distance: self.level, parent: P::of(parent) };
        }
        Activity::when(is_new)
    }

    #[inline(always)]
    fn is_settled(&self, state: &Reached<P>) -> bool {
        state.distance().is_some()
    }
}
