//! What up to 64 searches that run together keep of a vertex: its distance in each. Memory: 280
//! bytes a vertex, and 4 for each search when their distances are taken apart.

use tegula_engine::take_apart;
use zerocopy::{FromBytes, Immutable, IntoBytes};

use super::program::{NONE, Reached};
use crate::shared::together::{ReachedBy, WIDTH};

/// The state of a vertex.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable)]
#[repr(C)]
pub(super) struct Distances {
    seen: u64,
    last: u64,
    pub by_search: [u32; WIDTH],
}

impl ReachedBy for Distances {
    fn begin(_: Distances, searches: u64) -> Distances {
        let mut state = Distances { seen: 0, last: 0, by_search: [NONE; WIDTH] };
        state.reach(searches, 0);
        state
    }

    #[inline(always)]
    fn seen(&self) -> u64 {
        self.seen
    }

    #[inline(always)]
    fn last(&self) -> u64 {
        self.last
    }

    #[inline(always)]
    fn reach(&mut self, searches: u64, level: u32) {
        self.seen |= searches;
        self.last = searches;
        let mut rest = searches;
        while rest != 0 {
            self.by_search[rest.trailing_zeros() as usize] = level;
            rest &= rest - 1;
        }
    }
}

/// Returns what some of the searches have reached.
pub(super) fn distances(states: &[Distances], searches: &[usize]) -> Vec<Vec<Reached<()>>> {
    take_apart(states, searches.len(), |state, lane| Reached::at(state.by_search[searches[lane]]))
}
