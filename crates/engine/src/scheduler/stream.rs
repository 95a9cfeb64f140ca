//! The claimed parts of a worker, and their groups in flight.

use std::collections::VecDeque;
use std::sync::Arc;

use tegula_store::Result;
use tegula_store::graph::{CheckedTiles, TileRead};

use super::Scheduler;
use super::queue::Claim;

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
    /// Bytes of the groups at work that were read.
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
    /// Its index.
    pub group: usize,
    /// The tiles.
    pub tiles: Arc<CheckedTiles>,
    /// Bytes that were read for the tiles.
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

    /// Goes past the next groups of the part at work, and puts those that are in memory into
    /// `stretch`: one group, and more while all have up to `size` bytes and those that were read
    /// take up to half of the memory of the stream. The groups before are done. A group that was
    /// not in memory when it was requested, and that no job needed then, is passed over, so
    /// `stretch` may stay empty.
    ///
    /// # Errors
    /// Read errors.
    pub fn take_stretch(&mut self, stretch: &mut Vec<Arrived>, size: u64) -> Result<()> {
        stretch.clear();
        self.outstanding -= std::mem::take(&mut self.at_work);
        let Some(claim) = self.first() else { return Ok(()) };
        let end = self.scheduler.parts().parts[claim.part].groups.end;
        let groups = &self.scheduler.parts().groups;
        let size_of = |group: usize| groups[group].size(claim.has_weights);
        let mut taken = 0;
        loop {
            self.fill();
            // Nothing comes only if the groups at work leave no memory for a read.
            let Some(coming) = self.coming.pop_front() else { return Ok(()) };
            let group = self.taken_to;
            self.taken_to += 1;
            match coming {
                Coming::Unneeded => {}
                Coming::Held(tiles) => {
                    taken += size_of(group);
                    stretch.push(Arrived { group, tiles, bytes_read: 0 });
                }
                Coming::Read { group, size, read } => {
                    self.at_work += size;
                    taken += size;
                    let tiles = self.scheduler.source().receive(group, read)?;
                    stretch.push(Arrived { group, tiles, bytes_read: size });
                }
            }
            if self.taken_to == end {
                return Ok(());
            }
            let next = size_of(self.taken_to);
            let is_short = 2 * (self.at_work + next) > self.scheduler.source().stream_size();
            if taken + next > size || is_short {
                return Ok(());
            }
        }
    }

    /// Returns whether no read of this stream has memory or waits for it.
    pub fn has_no_reads(&self) -> bool {
        self.outstanding == 0
    }

    /// Returns whether all groups of the part at work were taken.
    pub fn is_at_end(&self) -> bool {
        let claim = self.claims.front();
        claim.is_none_or(|claim| {
            self.taken_to >= self.scheduler.parts().parts[claim.part].groups.end
        })
    }

    /// Ends the part at work, whether all of its groups were taken or not.
    pub fn done(&mut self) {
        self.outstanding -= std::mem::take(&mut self.at_work);
        let Some(claim) = self.claims.pop_front() else { return };
        let end = self.scheduler.parts().parts[claim.part].groups.end;
        // A next part is claimed only once all groups of this one are requested.
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
                // Not without any read: a group larger than the share would never come.
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
