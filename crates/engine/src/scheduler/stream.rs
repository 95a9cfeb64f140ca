//! The claimed parts of a worker, and their groups in flight.

use std::collections::VecDeque;
use std::sync::Arc;

use tegula_store::Result;
use tegula_store::graph::{CheckedTiles, TileRead};

use super::Scheduler;
use super::work::Claim;

/// The claims and requests of one worker.
///
/// A stream keeps to its worker's share of the memory for tiles. It waits for its reads in the
/// order of its requests, and memory is granted in the same order. So no worker waits for memory
/// that another holds. A worker joins loops only while its own stream is empty, because in a loop
/// it may stand in for others with a second stream.
pub struct Stream<'s> {
    scheduler: &'s Scheduler<'s>,
    /// The part at work comes first.
    claims: VecDeque<Arc<Claim>>,
    /// The requested groups of the claimed parts, in order.
    coming: VecDeque<Coming<'s>>,
    /// The next group to request, of the last claim.
    next_group: usize,
    /// The next group to take, of the part at work.
    taken_to: usize,
    /// Bytes of reads in flight or at work.
    outstanding: u64,
    /// Bytes of the group at work, if it was read.
    at_work: u64,
    /// Whether the next part may be claimed before the one at work is done.
    claims_ahead: bool,
}

/// A requested group of tiles.
enum Coming<'s> {
    /// The group was not in memory, and no job needed it.
    Unneeded,
    /// It was in memory.
    Held(Arc<CheckedTiles>),
    /// The group is being read.
    Read { group: usize, size: u64, read: TileRead<'s> },
}

/// A group in memory.
pub struct Arrived {
    /// The tiles.
    pub tiles: Arc<CheckedTiles>,
    /// Bytes read for them.
    pub bytes_read: u64,
}

impl<'s> Stream<'s> {
    /// Makes a stream without claims.
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

    /// Returns the part at work.
    pub fn first(&self) -> Option<Arc<Claim>> {
        self.claims.front().cloned()
    }

    /// Adds a claimed part.
    pub fn push(&mut self, claim: Claim) {
        self.next_group = self.scheduler.parts().parts[claim.part].groups.start;
        if self.claims.is_empty() {
            self.taken_to = self.next_group;
        }
        self.claims.push_back(Arc::new(claim));
    }

    /// Returns the next group of the part at work; `None` if it was not in memory when it was
    /// requested, and no job needed it.
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

    /// Ends the part at work, whether all of its groups were taken or not.
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

    /// Requests groups while there is room. It claims a further part early only to keep reads in
    /// flight, never when all is in memory.
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
            // Asking the jobs takes time, and saves none if there is nothing to read.
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
