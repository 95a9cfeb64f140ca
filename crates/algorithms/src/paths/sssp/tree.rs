//! Delta-stepping that also keeps the parent of each vertex on a shortest path.

use std::cmp::Ordering;
use std::sync::atomic::AtomicBool;

use tegula_engine::traverse::Directions;
use tegula_engine::{
    Activity, Min, Next, Number, Program, Reduction, Value, VertexId, VertexNumber,
};
use zerocopy::{FromBytes, Immutable, IntoBytes};

use super::delta_stepping::{Search, is_too_far};
use crate::paths::path_table::Step;

/// The distance of a vertex and its parent, with ids in the width that the graph needs.
///
/// Of several shortest paths it takes the one with the fewest edges at its end that add nothing to
/// the sum. So parents lead back to a source even along edges of weight 0. Of the paths that
/// remain, it takes the one whose last but one vertex has the smallest dense id.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable)]
#[repr(C, packed)]
pub struct TreeNode<N = u32> {
    distance: f64,
    /// Number of edges at the end of the path that add nothing.
    flat: u32,
    parent: N,
}

impl<N: VertexNumber> TreeNode<N> {
    /// The part that decides whether the vertex becomes active again.
    fn length(self) -> (f64, u32) {
        (self.distance, self.flat)
    }
}

impl<N: VertexNumber> PartialEq for TreeNode<N> {
    fn eq(&self, other: &TreeNode<N>) -> bool {
        self.partial_cmp(other) == Some(Ordering::Equal)
    }
}

impl<N: VertexNumber> PartialOrd for TreeNode<N> {
    #[inline(always)]
    fn partial_cmp(&self, other: &TreeNode<N>) -> Option<Ordering> {
        let all = |node: &TreeNode<N>| (node.distance, node.flat, node.parent);
        all(self).partial_cmp(&all(other))
    }
}

impl<N: VertexNumber + Value> Number for TreeNode<N> {
    const LEAST: TreeNode<N> = TreeNode { distance: f64::NEG_INFINITY, flat: 0, parent: N::NONE };
    const GREATEST: TreeNode<N> =
        TreeNode { distance: f64::INFINITY, flat: u32::MAX, parent: N::NONE };

    #[inline(always)]
    fn smaller(self, other: TreeNode<N>) -> TreeNode<N> {
        if other < self { other } else { self }
    }

    #[inline(always)]
    fn greater(self, other: TreeNode<N>) -> TreeNode<N> {
        if other > self { other } else { self }
    }
}

impl<N: VertexNumber> Step for TreeNode<N> {
    type Distance = f64;

    fn distance(&self) -> Option<f64> {
        Some(self.distance).filter(|distance| distance.is_finite())
    }

    fn parent(&self) -> Option<VertexId> {
        let parent = self.parent;
        (parent != N::NONE).then(|| VertexId(parent.into()))
    }
}

/// Delta-stepping with parents.
#[derive(Debug)]
pub struct SsspTree<N = u32> {
    search: Search,
    parent: std::marker::PhantomData<fn() -> N>,
}

impl<N> From<Search> for SsspTree<N> {
    fn from(search: Search) -> SsspTree<N> {
        SsspTree { search, parent: std::marker::PhantomData }
    }
}

impl<N> SsspTree<N> {
    pub(super) fn has_negative(self) -> AtomicBool {
        self.search.has_negative
    }
}

impl<N: VertexNumber + Value> Program for SsspTree<N> {
    type State = TreeNode<N>;
    type Reduction = Min<TreeNode<N>>;
    type Weight = f32;
    type Aggregate = ();

    const IS_FARTHER_BY_WEIGHT: bool = true;
    const HAS_BUCKETS: bool = true;
    const NAMES_VERTEX: bool = true;

    fn size(&self) -> u64 {
        self.search.sources.size()
    }

    fn directions(&self) -> Directions {
        self.search.directions
    }

    fn init(&self, vertex: VertexId, _degree: u32, (): &mut ()) -> (TreeNode<N>, Activity) {
        let is_source = self.search.sources.contains(vertex);
        let node = match is_source {
            true => TreeNode { distance: 0.0, flat: 0, parent: N::of(vertex.0) },
            false => Self::Reduction::IDENTITY,
        };
        (node, Activity::when(is_source))
    }

    fn begin_iteration(&mut self, _iteration: u64, (): &()) -> Next {
        // A cycle of negative weight would never end.
        if self.search.has_failed() { Next::Stop } else { Next::Continue }
    }

    fn has_failed(&self) -> bool {
        self.search.has_failed()
    }

    fn fail(&mut self) {
        self.search.fail();
    }

    #[inline(always)]
    fn signal(&self, vertex: VertexId, node: &TreeNode<N>, _degree: u32) -> Option<TreeNode<N>> {
        Some(TreeNode { parent: N::of(vertex.0), ..*node })
    }

    #[inline(always)]
    fn along(&self, message: TreeNode<N>, weight: f32) -> TreeNode<N> {
        let before = message.distance;
        let distance = self.search.along(before, weight);
        if is_too_far(distance) {
            return Self::Reduction::IDENTITY;
        }
        let flat = if distance == before { message.flat.saturating_add(1) } else { 0 };
        TreeNode { distance, flat, parent: message.parent }
    }

    #[inline(always)]
    fn apply(
        &self,
        _vertex: VertexId,
        _degree: u32,
        state: &mut TreeNode<N>,
        reduced: TreeNode<N>,
        (): &mut (),
    ) -> Activity {
        // Another parent at the same distance does not matter to other vertices.
        let is_nearer = reduced.length() < state.length();
        *state = state.smaller(reduced);
        Activity::when(is_nearer)
    }

    #[inline(always)]
    fn is_news(&self, state: &TreeNode<N>, message: TreeNode<N>) -> bool {
        message < *state
    }

    #[inline(always)]
    fn bucket(&self, node: &TreeNode<N>) -> u64 {
        self.search.bucket(node.distance)
    }

    #[inline(always)]
    fn is_beyond(&self, message: TreeNode<N>, bucket: u64) -> bool {
        self.search.bucket(message.distance) > bucket
    }
}
