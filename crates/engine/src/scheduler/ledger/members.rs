//! Which jobs have memory, which wait, and what they count.

use std::collections::VecDeque;

use tegula_machine::disk::Lease;

use crate::scheduler::demand::{MemoryDemand, Taken, TilesRead};
use crate::scheduler::shared::{Share, SharedKey, SharedValue};

/// The admitted and the waiting jobs.
#[derive(Default)]
pub struct Members {
    pub admitted: Vec<Member>,
    pub shared: Vec<Shared>,
    /// In the order of arrival.
    pub waiting: VecDeque<u64>,
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
    /// A reserve. The last run within it has left `kept` bytes.
    Reserve { kept: u64 },
}

/// A value that admitted jobs share.
pub struct Shared {
    pub value: SharedValue,
    pub held: u64,
    /// The numbers of the runs that use it. The first one pays.
    users: Vec<u64>,
    pub lease: Option<Lease>,
}

impl Member {
    /// Returns the bytes that it uses for itself.
    #[cfg(test)]
    pub fn used(&self) -> u64 {
        match self.role {
            Role::Run { .. } => self.held + self.taken,
            Role::Reserve { kept } => kept,
        }
    }
}

impl Members {
    /// Returns the bytes of all members.
    pub fn held(&self) -> u64 {
        let held = |member: &Member| match member.role {
            Role::Run { within: None } => self.paid(member),
            // These count as a part of their reserve.
            Role::Run { within: Some(_) } => 0,
            Role::Reserve { .. } => member.held.max(self.used_within(member)),
        };
        self.admitted.iter().map(held).sum()
    }

    /// Returns the bytes for a reserve: at least the reserved ones, and more while its runs use
    /// more.
    pub fn held_by_reserve(&self, number: u64) -> u64 {
        let reserve = self.find_member(number);
        reserve.map_or(0, |reserve| reserve.held.max(self.used_within(reserve)))
    }

    /// Returns the bytes in use within a reserve, apart from those that a next run replaces.
    pub fn used_beside_next(&self, number: u64) -> u64 {
        if self.runs_within(number).next().is_none() {
            return 0;
        }
        self.find_member(number).map_or(0, |reserve| self.used_within(reserve))
    }

    fn used_within(&self, reserve: &Member) -> u64 {
        let Role::Reserve { kept } = reserve.role else { return 0 };
        kept + self.runs_within(reserve.number).map(|run| self.paid(run)).sum::<u64>()
    }

    fn runs_within(&self, number: u64) -> impl Iterator<Item = &Member> {
        self.admitted.iter().filter(move |member| member.role == Role::Run { within: Some(number) })
    }

    /// Returns the bytes of a run, with the shared values for which it pays.
    fn paid(&self, run: &Member) -> u64 {
        let shared = self.shared.iter().filter(|shared| shared.users[0] == run.number);
        run.held + run.taken + shared.map(|shared| shared.held).sum::<u64>()
    }

    fn find_member(&self, number: u64) -> Option<&Member> {
        self.admitted.iter().find(|member| member.number == number)
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

    /// Counts a member, and the shares of its demand that are not held yet. Returns its shared
    /// values.
    pub fn enter(
        &mut self,
        number: u64,
        role: Role,
        demand: &MemoryDemand<'_>,
        taken: &Taken,
    ) -> Vec<SharedValue> {
        if let Role::Run { within: Some(reserve) } = role
            && self.runs_within(reserve).next().is_none()
        {
            self.keep(reserve, |_| 0);
        }
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

    /// Counts a member no longer, and frees the shared values that no other one uses. What a run
    /// holds may be its result, so its reserve keeps these bytes.
    pub fn leave(&mut self, number: u64) {
        if let Some(&Member { role: Role::Run { within: Some(reserve) }, held, .. }) =
            self.find_member(number)
        {
            self.keep(reserve, |kept| kept.max(held));
        }
        self.admitted.retain(|member| member.number != number);
        for shared in &mut self.shared {
            shared.users.retain(|&user| user != number);
        }
        self.shared.retain(|shared| !shared.users.is_empty());
    }

    fn keep(&mut self, reserve: u64, renew: impl Fn(u64) -> u64) {
        for member in &mut self.admitted {
            if let Role::Reserve { kept } = &mut member.role
                && member.number == reserve
            {
                *kept = renew(*kept);
            }
        }
    }

    /// Returns the tiles that are read for all jobs together.
    pub fn tiles(&self) -> TilesRead {
        self.admitted.iter().map(|member| member.tiles).max().unwrap_or_default()
    }
}
