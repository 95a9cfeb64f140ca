//! Breadth-first search: how many hops each vertex is from a source, along the edges.
//!
//! An iteration is a level. Each vertex of the frontier sends its own id; a vertex that was not
//! reached before takes the smallest id that it is sent as its parent and the number of the level as
//! its distance. It reads the tiles that hold a source in the frontier and a target that was not
//! reached; or, where the graph has rows and that is quicker, the rows of the frontier; or, in an
//! undirected graph, the beginnings of the rows of what was not reached, which is the choice of
//! directions of Beamer, Asanovic, Patterson (SC 2012). It stops when the frontier is empty. Memory:
//! 12 bytes a vertex, up to 12 more with rows.
//!
//! Distances are those of LDBC Graphalytics; parents are the smallest possible ones in the vertex
//! order of the graph directory, so they too are the same on every machine.

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
