//! What all passes of one import have in common: its memory, its threads, its folder.

use std::path::PathBuf;

use tegula_machine::threads::{Cancel, Progress, Workers};
use tegula_machine::{Error, Result};

use super::census::Counters;
use super::edge::ArcRule;
use super::shares::{self, Share};
use super::space::Space;

/// Memory that the process needs besides the tables, buckets and buffers that are counted.
const PROCESS_BYTES: u64 = 16 << 20;
/// Memory that a worker needs for what passes through its hands: a part of a graph, most of all, takes
/// room for its edges three times while it is encoded.
const WORKER_BYTES: u64 = 16 << 20;
/// As [`WORKER_BYTES`], where edges have weights.
const WORKER_BYTES_WEIGHTED: u64 = 24 << 20;

/// What an import may take of the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Resources {
    /// Bytes that may be shared out: those of the workers themselves are taken off.
    pub memory: u64,
    /// Workers for which the budget suffices.
    pub threads: usize,
}

/// One import at work.
pub(super) struct ImportRun<'a> {
    /// Bytes that may be shared out.
    pub memory: u64,
    /// Who works.
    pub workers: &'a Workers,
    /// Where temporary files go.
    pub folder: PathBuf,
    /// Which arcs are made of the input's edges.
    pub rule: ArcRule,
    /// Who watches.
    pub progress: &'a dyn Progress,
    /// Who may end it.
    pub cancel: &'a Cancel,
}

impl ImportRun<'_> {
    /// The least budget of an import.
    pub const MEMORY_MIN: u64 = 64 << 20;

    /// How a budget for the whole process is divided: what may be shared out, and for how many
    /// workers that is enough.
    pub fn divide(budget: u64, threads: usize, weighted: bool) -> Result<Resources> {
        if budget < ImportRun::MEMORY_MIN {
            let needed = ImportRun::MEMORY_MIN;
            return Err(Error::OverBudget { what: "an import".into(), needed, budget });
        }
        let worker = ImportRun::worker_bytes(weighted);
        let free = budget - PROCESS_BYTES;
        let threads = threads.clamp(1, (free / 2 / worker).max(1) as usize);
        Ok(Resources { memory: free - threads as u64 * worker, threads })
    }

    /// Bytes of each worker that are not shared out: whatever comes behind the tiles may have them.
    pub fn worker_bytes(weighted: bool) -> u64 {
        if weighted { WORKER_BYTES_WEIGHTED } else { WORKER_BYTES }
    }

    /// The bytes of a share.
    pub fn share(&self, share: Share) -> u64 {
        share.of(self.memory)
    }

    /// Counters of degrees that take one share, and another one for what waits to be counted.
    pub fn counters(&self, counters: Share, waiting: Share) -> Counters {
        Counters::within(self.share(counters), self.share(waiting), self.workers.count())
    }

    /// Space for buckets of which `held` bytes stay in memory.
    pub fn space(&self, held: u64) -> Space {
        Space {
            folder: self.folder.clone(),
            held,
            writing: self.share(shares::WRITING),
            writers: self.workers.count(),
        }
    }
}
