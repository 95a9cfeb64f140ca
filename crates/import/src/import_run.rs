//! What all passes of one import have in common: its memory, its threads, its folder.

use std::path::PathBuf;

use tegula_machine::threads::{Cancel, Progress, Workers};
use tegula_machine::{Error, Result};
use tegula_store::SHORT_COUNT_MAX;

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
/// What it needs in addition where numbers of vertices have 64 bits: a part is encoded from a copy with such ends.
const WORKER_BYTES_WIDE: u64 = 4 << 20;

/// What memory is needed for besides what is shared out.
#[derive(Debug, Clone, Copy)]
pub(super) struct Needs {
    /// Whether edges have weights.
    pub weighted: bool,
    /// Whether numbers of vertices have 64 bits.
    pub wide: bool,
    /// Bytes for the batches of declared vertices.
    pub batches: u64,
}

impl Needs {
    /// Bytes of each worker that are not shared out: whatever comes behind the tiles may have them.
    pub fn worker_bytes(&self) -> u64 {
        let plain = if self.weighted { WORKER_BYTES_WEIGHTED } else { WORKER_BYTES };
        plain + if self.wide { WORKER_BYTES_WIDE } else { 0 }
    }
}

/// What an import may take of the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Resources {
    /// Bytes that may be shared out: those of the workers themselves are taken off.
    pub memory: u64,
    /// Workers for which the budget suffices.
    pub threads: usize,
    /// Vertices, at the most, whose numbers have 32 bits; 0 where there is memory set aside for numbers of 64 bits.
    pub short_max: u64,
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
    /// As of [`Resources`].
    pub short_max: u64,
}

impl ImportRun<'_> {
    /// The least budget of an import.
    pub const MEMORY_MIN: u64 = 64 << 20;

    /// How a budget for the whole process is divided: what may be shared out, and for how many
    /// workers that is enough.
    pub fn divide(budget: u64, threads: usize, needs: Needs) -> Result<Resources> {
        let needed = ImportRun::MEMORY_MIN + needs.batches;
        if budget < needed {
            let what = match needs.batches {
                0 => "an import",
                _ => "an import of so many vertices",
            };
            return Err(Error::OverBudget { what: what.into(), needed, budget });
        }
        let worker = needs.worker_bytes();
        let free = budget - PROCESS_BYTES - needs.batches;
        let threads = threads.clamp(1, (free / 2 / worker).max(1) as usize);
        let short_max = if needs.wide { 0 } else { SHORT_COUNT_MAX };
        Ok(Resources { memory: free - threads as u64 * worker, threads, short_max })
    }

    /// Whether numbers of so many vertices have 64 bits.
    pub fn is_wide(&self, count: u64) -> bool {
        count > self.short_max
    }

    /// The same run with memory set aside for numbers of 64 bits, and `batches` bytes for batches, once it is found
    /// that there are so many vertices.
    ///
    /// # Errors
    /// [`Error::OverBudget`] where that leaves too little.
    pub fn widened(&self, batches: u64) -> Result<ImportRun<'_>> {
        let needed = self.workers.count() as u64 * WORKER_BYTES_WIDE + batches;
        if needed > self.memory / 2 {
            let what = "an import of so many vertices".to_owned();
            return Err(Error::OverBudget { what, needed: 2 * needed, budget: self.memory });
        }
        Ok(ImportRun {
            memory: self.memory - needed,
            workers: self.workers,
            folder: self.folder.clone(),
            rule: self.rule,
            progress: self.progress,
            cancel: self.cancel,
            short_max: 0,
        })
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
