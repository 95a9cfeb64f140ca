//! Which jobs have memory, which wait, and how many bytes each counts.

use std::collections::VecDeque;

use tegula_machine::disk::Lease;

use crate::scheduler::demand::{MemoryDemand, Taken, TilesRead};
use crate::scheduler::shared::{Share, SharedKey, SharedValue};

/// The admitted and the waiting jobs.
#[derive(Default)]
pub struct Members {
    pub admitted: Vec<Member>,
    pub shared: Vec<Shared>,
    /// Those that wait in line, in the order of arrival.
    pub waiting: VecDeque<u64>,
    /// The runs within reserves that wait.
    pub waiting_within: Vec<u64>,
    pub next_number: u64,
}

/// An admitted run, or a reserve.
pub struct Member {
    pub number: u64,
    pub role: Role,
    /// Least bytes of a run; all bytes of a reserve.
    pub held: u64,
    /// Bytes beyond those, without the ones of shared values.
    pub taken: u64,
    pub tiles: TilesRead,
}

/// What a member is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// A run, within the reserve of this number if there is one.
    Run { within: Option<u64> },
    /// A reserve. `kept` bytes of its last run stay counted for the result.
    Reserve { kept: u64 },
}

/// A value that admitted jobs share.
pub struct Shared {
    pub value: SharedValue,
    pub held: u64,
    /// The numbers of the runs that use it.
    users: Vec<u64>,
    pub lease: Option<Lease>,
}

impl Member {
    /// Returns the number of the reserve that pays for it, or its own.
    fn owner(&self) -> u64 {
        match self.role {
            Role::Run { within: Some(reserve) } => reserve,
            Role::Run { within: None } | Role::Reserve { .. } => self.number,
        }
    }
}

impl Members {
    /// Returns the bytes of all members. `stream` returns the least bytes for reading such tiles.
    ///
    /// A reserve also covers tiles and shared values that only its own run uses. What several
    /// members use is counted once, outside all reserves: so the total does not grow when one of
    /// them leaves.
    pub fn held(&self, stream: impl Fn(TilesRead) -> u64) -> u64 {
        let stream = stream(self.tiles());
        let held = |member: &Member| match member.role {
            Role::Run { within: None } => member.held + member.taken,
            Role::Run { within: Some(_) } => 0,
            // A run may take more than is reserved.
            Role::Reserve { .. } => member.held.max(self.used_within(member, stream)),
        };
        let members: u64 = self.admitted.iter().map(held).sum();
        let is_apart = |shared: &&Shared| self.reserve_of(&shared.users).is_none();
        let shared: u64 = self.shared.iter().filter(is_apart).map(|shared| shared.held).sum();
        let stream = if self.reserve_of_tiles().is_some() { 0 } else { stream };
        members + shared + stream
    }

    /// Returns the bytes of a reserve that its runs do not use.
    pub fn unused(&self, reserve: u64, stream: impl Fn(TilesRead) -> u64) -> u64 {
        let stream = stream(self.tiles());
        let reserve = self.admitted.iter().find(|member| member.number == reserve);
        reserve.map_or(0, |reserve| reserve.held.saturating_sub(self.used_within(reserve, stream)))
    }

    /// Returns the bytes of all reserves but this one.
    pub fn reserved_beside(&self, reserve: u64) -> u64 {
        let is_other = |member: &&Member| {
            matches!(member.role, Role::Reserve { .. }) && member.number != reserve
        };
        self.admitted.iter().filter(is_other).map(|member| member.held).sum()
    }

    /// Returns the bytes that are used within a reserve.
    fn used_within(&self, reserve: &Member, stream: u64) -> u64 {
        let Role::Reserve { kept } = reserve.role else { return 0 };
        if !self.has_runs_within(reserve.number) {
            return kept;
        }
        let number = Some(reserve.number);
        let runs = self.admitted.iter().filter(|run| run.role == Role::Run { within: number });
        let own: u64 = runs.map(|run| run.held + run.taken).sum();
        let is_covered = |shared: &&Shared| self.reserve_of(&shared.users) == number;
        let shared: u64 = self.shared.iter().filter(is_covered).map(|shared| shared.held).sum();
        own + shared + if self.reserve_of_tiles() == number { stream } else { 0 }
    }

    /// Returns whether a run within a reserve has not ended.
    pub fn has_runs_within(&self, reserve: u64) -> bool {
        self.admitted.iter().any(|member| member.role == Role::Run { within: Some(reserve) })
    }

    /// Returns the reserve of all these runs; `None` if there are several, or a run without one.
    fn reserve_of(&self, runs: &[u64]) -> Option<u64> {
        let mut of_runs = self.admitted.iter().filter(|member| runs.contains(&member.number));
        let first = of_runs.next()?;
        let is_within = first.owner() != first.number;
        let is_same = of_runs.all(|member| member.owner() == first.owner());
        (is_within && is_same).then_some(first.owner())
    }

    /// Returns the reserve of all runs that read tiles.
    fn reserve_of_tiles(&self) -> Option<u64> {
        let reading = self.admitted.iter().filter(|member| member.tiles > TilesRead::None);
        let reading: Vec<u64> = reading.map(|member| member.number).collect();
        self.reserve_of(&reading)
    }

    fn find(&self, key: SharedKey) -> Option<&Shared> {
        self.shared.iter().find(|shared| shared.value.key == key)
    }

    /// Returns the number of admitted runs.
    pub fn run_count(&self) -> usize {
        let is_run = |member: &&Member| matches!(member.role, Role::Run { .. });
        self.admitted.iter().filter(is_run).count()
    }

    /// Returns the least bytes of the shares that are not held yet.
    pub fn missing(&self, shares: &[Share]) -> u64 {
        let missing = shares.iter().filter(|share| self.find(share.key).is_none());
        missing.map(|share| share.least).sum()
    }

    /// Returns the bytes beyond the least ones of each share that is held already.
    pub fn extras(&self, shares: &[Share]) -> Vec<Option<u64>> {
        shares.iter().map(|share| Some(self.find(share.key)?.value.extra)).collect()
    }

    /// Counts a member with the least bytes of `demand` while `look` runs.
    pub fn with_least<T>(
        &mut self,
        role: Role,
        demand: &MemoryDemand<'_>,
        look: impl FnOnce(&Members) -> T,
    ) -> T {
        let held = demand.held + self.missing(&demand.shares);
        let (number, tiles) = (self.next_number, demand.tiles);
        self.admitted.push(Member { number, role, held, taken: 0, tiles });
        for share in &demand.shares {
            let held = self.shared.iter_mut().filter(|shared| shared.value.key == share.key);
            held.for_each(|shared| shared.users.push(number));
        }
        let seen = look(self);
        self.withdraw(number);
        seen
    }

    /// Counts a member, and the shares of its demand that are not held yet. Returns its shared
    /// values.
    pub fn enter(
        &mut self,
        number: u64,
        role: Role,
        demand: &MemoryDemand<'_>,
        taken: &Taken,
    ) -> Vec<SharedValue> {
        let (held, tiles) = (demand.held, demand.tiles);
        self.admitted.push(Member { number, role, held, taken: taken.own, tiles });
        let extras = taken.shares.iter().copied().chain(std::iter::repeat(0));
        let shares = demand.shares.iter().zip(extras);
        shares.map(|(share, extra)| self.join(number, share, extra)).collect()
    }

    /// Counts a user of a shared value.
    fn join(&mut self, number: u64, share: &Share, extra: u64) -> SharedValue {
        let place = self.shared.iter().position(|shared| shared.value.key == share.key);
        let place = place.unwrap_or_else(|| {
            let (value, users) = (SharedValue::new(share.key, extra), Vec::new());
            self.shared.push(Shared { value, held: share.least + extra, users, lease: None });
            self.shared.len() - 1
        });
        let shared = &mut self.shared[place];
        shared.users.push(number);
        shared.value.clone()
    }

    /// Counts a member no longer. What a run has held may be its result: its reserve keeps these
    /// bytes, until the next run starts.
    pub fn leave(&mut self, number: u64) {
        let leaving = self.admitted.iter().find(|member| member.number == number);
        let left = leaving.map(|leaving| (leaving.owner(), leaving.held));
        for member in &mut self.admitted {
            if let (Role::Reserve { kept }, Some((owner, held))) = (&mut member.role, left)
                && member.number == owner
            {
                *kept = held;
            }
        }
        self.withdraw(number);
    }

    /// Removes a member, and frees the shared values that nobody else uses.
    pub fn withdraw(&mut self, number: u64) {
        self.admitted.retain(|member| member.number != number);
        for shared in &mut self.shared {
            shared.users.retain(|&user| user != number);
        }
        self.shared.retain(|shared| !shared.users.is_empty());
    }

    /// Returns the tiles that are read for all jobs together.
    pub fn tiles(&self) -> TilesRead {
        self.admitted.iter().map(|member| member.tiles).max().unwrap_or_default()
    }
}
