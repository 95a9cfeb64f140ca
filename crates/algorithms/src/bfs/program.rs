//! The search as a program: a level an iteration.

use tegula_engine::{
    Activity, Graph, Min, Next, Outcome, Program, Result, RunOptions, Settling, VertexId,
};
use zerocopy::{FromBytes, Immutable, IntoBytes};

/// No vertex, no distance.
const NONE: u32 = u32::MAX;

/// What is known of a vertex.
#[derive(Debug, Clone, Copy, PartialEq, Eq, FromBytes, IntoBytes, Immutable)]
#[repr(C)]
pub struct Reached {
    distance: u32,
    parent: u32,
}

impl Reached {
    /// Hops from the source; `None` where there is no path.
    pub fn distance(&self) -> Option<u32> {
        (self.distance != NONE).then_some(self.distance)
    }

    /// The vertex before it on a shortest path; the source's own is itself.
    pub fn parent(&self) -> Option<VertexId> {
        (self.parent != NONE).then_some(VertexId(self.parent))
    }
}

/// The program.
#[derive(Debug, Clone, Copy)]
pub struct Bfs {
    source: VertexId,
    level: u32,
}

impl Bfs {
    /// A search from a vertex.
    pub fn new(source: VertexId) -> Bfs {
        Bfs { source, level: 0 }
    }

    /// Runs the search.
    ///
    /// # Errors
    /// Those of [`tegula_engine::run`].
    pub fn run(graph: &Graph, source: VertexId, options: &RunOptions<'_>) -> Result<Outcome<Bfs>> {
        tegula_engine::run(graph, Bfs::new(source), options)
    }
}

impl Program for Bfs {
    type State = Reached;
    type Reduction = Min<u32>;
    type Weight = ();
    type Aggregate = ();

    const SETTLING: Settling = Settling::ByFirstSource;

    fn init(&self, vertex: VertexId, _degree: u32, (): &mut ()) -> (Reached, Activity) {
        if vertex == self.source {
            (Reached { distance: 0, parent: vertex.0 }, Activity::Active)
        } else {
            (Reached { distance: NONE, parent: NONE }, Activity::Inactive)
        }
    }

    fn begin_iteration(&mut self, iteration: u64, (): &()) -> Next {
        self.level = iteration as u32 + 1;
        Next::Continue
    }

    #[inline(always)]
    fn signal(&self, vertex: VertexId, _state: &Reached, _degree: u32) -> Option<u32> {
        Some(vertex.0)
    }

    #[inline(always)]
    fn apply(
        &self,
        _vertex: VertexId,
        _degree: u32,
        state: &mut Reached,
        parent: u32,
        (): &mut (),
    ) -> Activity {
        let is_new = state.distance == NONE && parent != NONE;
        if is_new {
            *state = Reached { distance: self.level, parent };
        }
        Activity::when(is_new)
    }

    #[inline(always)]
    fn is_settled(&self, state: &Reached) -> bool {
        state.distance != NONE
    }
}
