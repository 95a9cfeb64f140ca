//! Up to 64 breadth-first searches as one program, with a bit for each (Then et al., *The More the
//! Merrier: Efficient Multi-Source Graph Traversal*, VLDB 2014).
//!
//! A vertex sends the bits of the searches that have just reached it. Most searches reach most
//! vertices within a few levels, so 64 of them read little more than one. The level in which a
//! search reaches a vertex depends on the graph alone. Memory: a state and 8 bytes a vertex.

use std::marker::PhantomData;

use tegula_engine::traverse::Directions;
use tegula_engine::{Activity, Aggregate, Next, Or, Program, Settling, Value, VertexId};

use crate::shared::sources::Sources;

/// Searches that run together.
pub(crate) const WIDTH: usize = 64;

/// What is kept of the searches that reach a vertex. Sets of searches have a bit for each.
pub(crate) trait ReachedBy: Value {
    /// Returns the state of a vertex from which `searches` start. `known` is its state after earlier
    /// searches, or all zeroes.
    fn begin(known: Self, searches: u64) -> Self;

    /// Returns the searches that have reached it.
    fn seen(&self) -> u64;

    /// Returns the searches that reached it last.
    fn last(&self) -> u64;

    /// Takes in `searches` that reach it for the first time, in this level.
    fn reach(&mut self, searches: u64, level: u32);
}

/// The searches. They follow edges in the same directions.
#[derive(Debug, Clone)]
pub(crate) struct Together<S> {
    /// The sources by ascending vertex, with the searches that start there.
    sources: Vec<(VertexId, u64)>,
    cutoffs: Vec<Cutoff>,
    directions: Directions,
    /// All searches.
    all: u64,
    /// The searches that are not over.
    open: u64,
    /// Levels of each search.
    levels: Vec<u64>,
    level: u32,
    /// Bytes that the caller holds.
    held: u64,
    state: PhantomData<fn() -> S>,
}

/// The last level of a search.
pub(crate) type Cutoff = u32;

/// The searches that reached a vertex in an iteration.
#[derive(Debug, Default)]
pub(crate) struct Advanced(u64);

impl Aggregate for Advanced {
    fn merge(&mut self, next: Advanced) {
        self.0 |= next.0;
    }

    fn to_bytes(&self) -> Vec<u8> {
        self.0.to_le_bytes().to_vec()
    }

    fn from_bytes(bytes: &[u8]) -> Option<Advanced> {
        Some(Advanced(u64::from_le_bytes(bytes.try_into().ok()?)))
    }
}

impl<S> Together<S> {
    /// Makes up to [`WIDTH`] searches.
    pub(crate) fn new(
        searches: impl IntoIterator<Item = (Sources, Cutoff)>,
        directions: Directions,
    ) -> Together<S> {
        let (mut sources, mut cutoffs) = (Vec::new(), Vec::new());
        for (from, cutoff) in searches {
            sources.extend(from.as_slice().iter().map(|&vertex| (vertex, 1 << cutoffs.len())));
            cutoffs.push(cutoff);
        }
        assert!((1..=WIDTH).contains(&cutoffs.len()), "{} searches", cutoffs.len());
        sources.sort_unstable();
        sources.dedup_by(|next, kept| {
            let is_same = next.0 == kept.0;
            kept.1 |= if is_same { next.1 } else { 0 };
            is_same
        });
        let all = u64::MAX >> (WIDTH - cutoffs.len());
        let levels = vec![0; cutoffs.len()];
        let state = PhantomData;
        Together { sources, cutoffs, directions, all, open: all, levels, level: 0, held: 0, state }
    }

    /// The same searches, while the caller holds `bytes` that the run has to count.
    #[must_use]
    pub(crate) fn holding(self, bytes: u64) -> Together<S> {
        Together { held: bytes, ..self }
    }

    /// Returns the levels of each search, in a run of `iterations`.
    pub(crate) fn levels(&self, iterations: u64) -> Vec<u64> {
        // All may be reached in a level that is counted before the run ends.
        self.levels.iter().map(|&levels| levels.min(iterations)).collect()
    }

    /// Returns the searches that start at a vertex.
    fn starting_at(&self, vertex: VertexId) -> u64 {
        let place = self.sources.binary_search_by_key(&vertex, |source| source.0);
        place.map_or(0, |place| self.sources[place].1)
    }
}

impl<S: ReachedBy> Program for Together<S> {
    type State = S;
    type Reduction = Or<u64>;
    type Weight = ();
    type Aggregate = Advanced;

    const SETTLING: Settling = Settling::ByState;

    fn size(&self) -> u64 {
        self.held + size_of_val(&self.sources[..]) as u64
    }

    fn directions(&self) -> Directions {
        self.directions
    }

    fn init(&self, vertex: VertexId, degree: u32, advanced: &mut Advanced) -> (S, Activity) {
        self.init_from(S::new_zeroed(), vertex, degree, advanced)
    }

    fn init_from(
        &self,
        known: S,
        vertex: VertexId,
        _: u32,
        advanced: &mut Advanced,
    ) -> (S, Activity) {
        let starting = self.starting_at(vertex);
        advanced.0 |= starting;
        (S::begin(known, starting), Activity::when(starting != 0))
    }

    fn begin_iteration(&mut self, iteration: u64, advanced: &Advanced) -> Next {
        self.level = iteration as u32 + 1;
        self.open &= advanced.0;
        for (search, cutoff) in self.cutoffs.iter().enumerate() {
            if self.level > *cutoff {
                self.open &= !(1 << search);
            }
            self.levels[search] += self.open >> search & 1;
        }
        if self.open == 0 { Next::Stop } else { Next::Continue }
    }

    #[inline(always)]
    fn signal(&self, _: VertexId, state: &S, _: u32) -> Option<u64> {
        Some(state.last() & self.open).filter(|&searches| searches != 0)
    }

    #[inline(always)]
    fn apply(
        &self,
        _: VertexId,
        _: u32,
        state: &mut S,
        searches: u64,
        advanced: &mut Advanced,
    ) -> Activity {
        let new = searches & !state.seen();
        if new == 0 {
            return Activity::Inactive;
        }
        state.reach(new, self.level);
        advanced.0 |= new;
        Activity::Active
    }

    #[inline(always)]
    fn is_settled(&self, state: &S) -> bool {
        state.seen() == self.all
    }

    #[inline(always)]
    fn is_news(&self, state: &S, searches: u64) -> bool {
        searches & !state.seen() != 0
    }
}
