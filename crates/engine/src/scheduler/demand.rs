//! What a job demands of the ledger.

use super::shared::Share;

/// The memory that a job needs.
pub struct MemoryDemand<'n> {
    /// What needs it, for the error message.
    pub(super) what: &'static str,
    /// Least bytes that the job holds until it leaves.
    pub(super) held: u64,
    /// What it shares with other jobs.
    pub(super) shares: Vec<Share>,
    pub(super) takes_of: TakesOf<'n>,
    pub(super) tiles: TilesRead,
}

/// Returns what a job takes of free bytes beyond the least ones. For each of its shares that is
/// held already, it gets the bytes beyond the least ones.
type TakesOf<'n> = Box<dyn Fn(u64, &[Option<u64>]) -> Taken + 'n>;

/// Bytes beyond the least ones.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Taken {
    /// For the job alone.
    pub own: u64,
    /// For each of its shares, in their order. Where the share is held already, or there is no
    /// number, these are 0.
    pub shares: Vec<u64>,
}

/// Which tiles a job reads. The greatest of several jobs decides what is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) enum TilesRead {
    /// It follows rows alone.
    #[default]
    None,
    /// It needs no weights.
    Unweighted,
    /// It needs weights.
    Weighted,
}

impl TilesRead {
    fn of(has_weights: bool) -> TilesRead {
        if has_weights { TilesRead::Weighted } else { TilesRead::Unweighted }
    }
}

impl<'n> MemoryDemand<'n> {
    /// Makes the demand of a job that scans and itself holds `held` bytes.
    pub fn scan(what: &'static str, held: u64, has_weights: bool) -> MemoryDemand<'n> {
        MemoryDemand::of(what, held, TilesRead::of(has_weights), |_| 0)
    }

    /// Makes the demand of a job that only follows rows and itself holds `held` bytes.
    pub fn rows(what: &'static str, held: u64) -> MemoryDemand<'n> {
        MemoryDemand::of(what, held, TilesRead::None, |_| 0)
    }

    /// Makes the demand of a job that scans and follows rows. `takes_of` gets the number of free bytes
    /// beside the `held` ones, and returns how many of them the job takes.
    pub fn both(
        what: &'static str,
        held: u64,
        has_weights: bool,
        takes_of: impl Fn(u64) -> u64 + 'n,
    ) -> MemoryDemand<'n> {
        MemoryDemand::of(what, held, TilesRead::of(has_weights), takes_of)
    }

    fn of(
        what: &'static str,
        held: u64,
        tiles: TilesRead,
        takes_of: impl Fn(u64) -> u64 + 'n,
    ) -> MemoryDemand<'n> {
        let takes_of = move |free: u64, _: &[Option<u64>]| {
            let own = takes_of(free).min(free);
            Taken { own, shares: Vec::new() }
        };
        MemoryDemand { what, held, shares: Vec::new(), takes_of: Box::new(takes_of), tiles }
    }

    /// Adds shares that come before all others. `takes_of` replaces what the job takes of free
    /// bytes: it also gets, for each share that is held already, its bytes beyond the least ones.
    #[must_use]
    pub fn sharing(
        mut self,
        shares: impl IntoIterator<Item = Share>,
        takes_of: impl Fn(u64, &[Option<u64>]) -> Taken + 'n,
    ) -> MemoryDemand<'n> {
        self.shares.splice(..0, shares);
        MemoryDemand { takes_of: Box::new(takes_of), ..self }
    }

    /// Adds a share behind the others, of no more than the least bytes.
    #[must_use]
    pub fn with_share(mut self, share: Option<Share>) -> MemoryDemand<'n> {
        self.shares.extend(share);
        self
    }
}
