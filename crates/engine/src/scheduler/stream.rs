//! The parts that a worker has claimed, and the groups of them that are on their way.

use std::collections::VecDeque;
use std::sync::Arc;

use tegula_machine::Result;
use tegula_store::graph::{CheckedTiles, TileRead};

use super::Scheduler;
use super::work::Claim;

/// What one worker has claimed and asked for.
///
/// A stream keeps to one worker's share of the memory for tiles. It waits for its reads in the order in which
/// it asked, and memory is granted in the order of requests, so no worker waits for memory that another
/// holds. A worker joins in loops, in which it may have to stand in for others with a second stream, only
/// while its own is empty.
pub struct Stream<'s> {
    scheduler: &'s Scheduler<'s>,
    /// The part at work comes first.
    claims: VecDeque<Arc<Claim>>,
    /// The groups of the claimed parts, in order, as far as they were asked for.
    coming: VecDeque<Coming<'s>>,
    /// The next group to be asked for, of the last claim.
    next_group: usize,
    /// The next group to be taken, of the part at work.
    taken_to: usize,
    /// Bytes of reads that are on their way or at work.
    outstanding: u64,
    /// Bytes of the group at work, where it was read.
    at_work: u64,
    /// Whether a further part may be claimed before the one at work is done.
    claims_ahead: bool,
}

/// A group of tiles.
enum Coming<'s> {
    /// It was not in memory, and no job had a use for it.
    Unneeded,
    /// It was in memory.
    Held(Arc<CheckedTiles>),
    /// It is on its way.
    Read { group: usize, size: u64, read: TileRead<'s> },
}

/// A group that is there.
pub struct Arrived {
    /// The tiles.
    pub tiles: Arc<CheckedTiles>,
    /// Bytes that were read for them.
    pub bytes_read: u64,
}

impl<'s> Stream<'s> {
    /// Nothing is claimed.
    pub fn new(scheduler: &'s Scheduler<'s>, claims_ahead: bool) -> Stream<'s> {
        Stream {
            scheduler,
            claims: VecDeque::new(),
            coming: VecDeque::new(),
            next_group: 0,
            taken_to: 0,
            outstanding: 0,
            at_work: 0,
            claims_ahead,
        }
    }

    /// The part at work.
    pub fn first(&self) -> Option<Arc<Claim>> {
        self.claims.front().cloned()
    }

    /// Adds a part to those that were claimed.
    pub fn push(&mut self, claim: Claim) {
        self.next_group = self.scheduler.parts().parts[claim.part].groups.start;
        if self.claims.is_empty() {
            self.taken_to = self.next_group;
        }
        self.claims.push_back(Arc::new(claim));
    }

    /// The next group of the part at work; `None` if it was not in memory, and nobody needed it when it was its
    /// turn.
    ///
    /// # Errors
    /// Those of reading.
    ///
    /// # Panics
    /// When all groups of the part were taken.
    pub fn take(&mut self) -> Result<Option<Arrived>> {
        self.outstanding -= std::mem::take(&mut self.at_work);
        self.fill();
        self.taken_to += 1;
        match self.coming.pop_front().expect("a group of the part at work is asked for") {
            Coming::Unneeded => Ok(None),
            Coming::Held(tiles) => Ok(Some(Arrived { tiles, bytes_read: 0 })),
            Coming::Read { group, size, read } => {
                self.at_work = size;
                let tiles = self.scheduler.source().receive(group, read)?;
                Ok(Some(Arrived { tiles, bytes_read: size }))
            }
        }
    }

    /// The part at work is done with, whether all of its groups were taken or not.
    pub fn done(&mut self) {
        self.outstanding -= std::mem::take(&mut self.at_work);
        let Some(claim) = self.claims.pop_front() else { return };
        let end = self.scheduler.parts().parts[claim.part].groups.end;
        let asked_to = if self.claims.is_empty() { self.next_group } else { end };
        for coming in self.coming.drain(..asked_to - self.taken_to) {
            if let Coming::Read { size, .. } = coming {
                self.outstanding -= size;
            }
        }
        if let Some(next) = self.claims.front() {
            self.taken_to = self.scheduler.parts().parts[next.part].groups.start;
        }
    }

    /// Asks for groups while there is room; a further part is claimed early only to keep reads on their way,
    /// never when all is in memory.
    fn fill(&mut self) {
        let (parts, source) = (self.scheduler.parts(), self.scheduler.source());
        while let Some(claim) = self.claims.back() {
            let group = self.next_group;
            if group >= parts.parts[claim.part].groups.end {
                let wants_more = self.claims_ahead && self.outstanding > 0 && self.claims.len() < 2;
                let next = if wants_more { self.scheduler.claim_ahead() } else { None };
                let Some(next) = next else { return };
                self.push(next);
                continue;
            }
            let size = parts.groups[group].size(claim.has_weights);
            // To ask the jobs takes time, and saves none where there is nothing to read.
            let coming = if let Some(held) = source.get(group, claim.has_weights) {
                Coming::Held(held)
            } else if !claim.needs(self.scheduler, group) {
                Coming::Unneeded
            } else if self.outstanding > 0 && self.outstanding + size > source.stream_size() {
                return;
            } else {
                self.outstanding += size;
                Coming::Read { group, size, read: source.request(group, claim.has_weights) }
            };
            self.coming.push_back(coming);
            self.next_group += 1;
        }
    }
}
