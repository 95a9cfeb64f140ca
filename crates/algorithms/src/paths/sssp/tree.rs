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
pub struct Near<N = u32> {
    distance: f64,
    /// Number of edges at the end of the path that add nothing.
    flat: u32,
    parent: N,
}

impl<N: VertexNumber> Near<N> {
    /// The part that decides whether the vertex becomes active again.
    fn length(self) -> (f64, u32) {
        (self.distance, self.flat)
    }
}

impl<N: VertexNumber> PartialEq for Near<N> {
    fn eq(&self, other: &Near<N>) -> bool {
        self.partial_cmp(other) == Some(Ordering::Equal)
    }
}

impl<N: VertexNumber> PartialOrd for Near<N> {
    #[inline(always)]
    fn partial_cmp(&self, other: &Near<N>) -> Option<Ordering> {
        let all = |near: &Near<N>| (near.distance, near.flat, near.parent);
        all(self).partial_cmp(&all(other))
    }
}

impl<N: VertexNumber + Value> Number for Near<N> {
    const LEAST: Near<N> = Near { distance: f64::NEG_INFINITY, flat: 0, parent: N::NONE };
    const GREATEST: Near<N> = Near { distance: f64::INFINITY, flat: u32::MAX, parent: N::NONE };

    #[inline(always)]
    fn smaller(self, other: Near<N>) -> Near<N> {
        if other < self { other } else { self }
    }

    #[inline(always)]
    fn greater(self, other: Near<N>) -> Near<N> {
        if other > self { other } else { self }
    }
}

impl<N: VertexNumber> Step for Near<N> {
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
    type State = Near<N>;
    type Reduction = Min<Near<N>>;
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

    fn init(&self, vertex: VertexId, _degree: u32, (): &mut ()) -> (Near<N>, Activity) {
        let is_source = self.search.sources.contains(vertex);
        let near = match is_source {
            true => Near { distance: 0.0, flat: 0, parent: N::of(vertex.0) },
            false => Self::Reduction::IDENTITY,
        };
        (near, Activity::when(is_source))
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
    fn signal(&self, vertex: VertexId, near: &Near<N>, _degree: u32) -> Option<Near<N>> {
        Some(Near { parent: N::of(vertex.0), ..*near })
    }

    #[inline(always)]
    fn along(&self, message: Near<N>, weight: f32) -> Near<N> {
        let before = message.distance;
        let distance = self.search.along(before, weight);
        if is_too_far(distance) {
            return Self::Reduction::IDENTITY;
        }
        let flat = if distance == before { message.flat.saturating_add(1) } else { 0 };
        Near { distance, flat, parent: message.parent }
    }

    #[inline(always)]
    fn apply(
        &self,
        _vertex: VertexId,
        _degree: u32,
        state: &mut Near<N>,
        reduced: Near<N>,
        (): &mut (),
    ) -> Activity {
        // Another parent at the same distance does not matter to other vertices.
        let is_nearer = reduced.length() < state.length();
        *state = state.smaller(reduced);
        Activity::when(is_nearer)
    }

    #[inline(always)]
    fn is_news(&self, state: &Near<N>, message: Near<N>) -> bool {
        message < *state
    }

    #[inline(always)]
    fn bucket(&self, near: &Near<N>) -> u64 {
        self.search.bucket(near.distance)
    }

    #[inline(always)]
    fn is_beyond(&self, message: Near<N>, bucket: u64) -> bool {
        self.search.bucket(message.distance) > bucket
    }
}
