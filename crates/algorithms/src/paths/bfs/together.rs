//! Up to 64 searches as one program: a bit for each search (Then et al., *The More the Merrier:
//! Efficient Multi-Source Graph Traversal*, VLDB 2014).
//!
//! A vertex sends the bits of the searches that have just reached it. A target takes the level as
//! its distance in those that had not reached it before. Memory: 288 bytes a vertex, and 4 for each
//! search when their distances are taken apart.

use tegula_engine::traverse::Directions;
use tegula_engine::{Activity, Aggregate, Next, Or, Program, Settling, VertexId, take_apart};
use zerocopy::{FromBytes, Immutable, IntoBytes};

use super::program::{NONE, Reached};
use crate::shared::sources::Sources;

/// Searches that run together.
pub(super) const WIDTH: usize = 64;

/// The searches.
#[derive(Debug, Clone)]
pub(super) struct Together {
    searches: Vec<(Sources, Cutoff)>,
    directions: Directions,
    /// A bit for each search.
    all: u64,
    /// A bit for each search that is not over.
    open: u64,
    /// Levels of each search.
    levels: Vec<u64>,
    level: u32,
}

/// The last level of a search.
type Cutoff = u32;

/// The state of a vertex.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable)]
#[repr(C)]
pub(super) struct ReachedBy {
    /// The searches that have reached it.
    seen: u64,
    /// The searches that reached it last.
    new: u64,
    pub distances: [u32; WIDTH],
}

/// The searches that reached a vertex in an iteration.
#[derive(Debug, Default)]
pub(super) struct Advanced(u64);

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

impl Together {
    /// Makes up to [`WIDTH`] searches in the same directions.
    pub fn new(searches: Vec<(Sources, Cutoff)>, directions: Directions) -> Together {
        assert!((1..=WIDTH).contains(&searches.len()), "{} searches", searches.len());
        let all = u64::MAX >> (WIDTH - searches.len());
        Together { levels: vec![0; searches.len()], searches, directions, all, open: all, level: 0 }
    }

    /// Returns the levels of each search, in a run of `iterations`.
    pub fn levels(&self, iterations: u64) -> Vec<u64> {
        // All may be reached in a level that is counted before the run ends.
        self.levels.iter().map(|&levels| levels.min(iterations)).collect()
    }
}

/// Returns what some of the searches have reached.
pub(super) fn distances(states: &[ReachedBy], searches: &[usize]) -> Vec<Vec<Reached<()>>> {
    take_apart(states, searches.len(), |state, lane| Reached::at(state.distances[searches[lane]]))
}

impl Program for Together {
    type State = ReachedBy;
    type Reduction = Or<u64>;
    type Weight = ();
    type Aggregate = Advanced;

    const SETTLING: Settling = Settling::ByState;

    fn size(&self) -> u64 {
        self.searches.iter().map(|(sources, _)| sources.size()).sum()
    }

    fn directions(&self) -> Directions {
        self.directions
    }

    fn init(&self, vertex: VertexId, _: u32, advanced: &mut Advanced) -> (ReachedBy, Activity) {
        let mut state = ReachedBy { seen: 0, new: 0, distances: [NONE; WIDTH] };
        for (search, (sources, _)) in self.searches.iter().enumerate() {
            if sources.contains(vertex) {
                state.new |= 1 << search;
                state.distances[search] = 0;
            }
        }
        state.seen = state.new;
        advanced.0 |= state.new;
        (state, Activity::when(state.new != 0))
    }

    fn begin_iteration(&mut self, iteration: u64, advanced: &Advanced) -> Next {
        self.level = iteration as u32 + 1;
        self.open &= advanced.0;
        for (search, (_, cutoff)) in self.searches.iter().enumerate() {
            if self.level > *cutoff {
                self.open &= !(1 << search);
            }
            self.levels[search] += self.open >> search & 1;
        }
        if self.open == 0 { Next::Stop } else { Next::Continue }
    }

    #[inline(always)]
    fn signal(&self, _: VertexId, state: &ReachedBy, _: u32) -> Option<u64> {
        Some(state.new & self.open).filter(|&bits| bits != 0)
    }

    #[inline(always)]
    fn apply(
        &self,
        _: VertexId,
        _: u32,
        state: &mut ReachedBy,
        bits: u64,
        advanced: &mut Advanced,
    ) -> Activity {
        let new = bits & !state.seen;
        if new == 0 {
            return Activity::Inactive;
        }
        state.seen |= new;
        state.new = new;
        advanced.0 |= new;
        let mut rest = new;
        while rest != 0 {
            state.distances[rest.trailing_zeros() as usize] = self.level;
            rest &= rest - 1;
        }
        Activity::Active
    }

    #[inline(always)]
    fn is_settled(&self, state: &ReachedBy) -> bool {
        state.seen == self.all
    }

    #[inline(always)]
    fn is_news(&self, state: &ReachedBy, bits: u64) -> bool {
        bits & !state.seen != 0
    }
}
