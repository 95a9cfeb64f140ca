//! What all passes of one import have in common: its memory, its threads, its folder.

use std::path::PathBuf;

use tegula_machine::threads::{Cancel, Progress};
use tegula_machine::{Error, Result};

use super::edge::ArcRule;
use super::space::Space;

/// Memory that the process needs besides the tables, buckets and buffers that are counted.
const PROCESS_BYTES: u64 = 16 << 20;
/// Memory that a worker needs for what passes through its hands: a part of a graph, most of all, takes
/// room for its edges three times while it is encoded.
const WORKER_BYTES: u64 = 16 << 20;
/// As [`WORKER_BYTES`], where edges have weights.
const WORKER_BYTES_WEIGHTED: u64 = 24 << 20;

/// One import at work.
pub(super) struct Run<'a> {
    /// Bytes that may be shared out.
    pub memory: u64,
    /// Workers.
    pub threads: usize,
    /// Where temporary files go.
    pub folder: PathBuf,
    /// Which arcs are made of the input's edges.
    pub rule: ArcRule,
    /// Who watches.
    pub progress: &'a dyn Progress,
    /// Who may end it.
    pub cancel: &'a Cancel,
}

impl Run<'_> {
    /// The least budget of an import.
    pub const MEMORY_MIN: u64 = 64 << 20;

    /// How a budget for the whole process is divided: what may be shared out, and for how many
    /// workers that is enough.
    pub fn divide(budget: u64, threads: usize, weighted: bool) -> Result<(u64, usize)> {
        if budget < Run::MEMORY_MIN {
            let needed = Run::MEMORY_MIN;
            return Err(Error::OverBudget { what: "an import".into(), needed, budget });
        }
        let worker = Run::worker_bytes(weighted);
        let free = budget - PROCESS_BYTES;
        let threads = threads.clamp(1, (free / 2 / worker).max(1) as usize);
        Ok((free - threads as u64 * worker, threads))
    }

    /// Bytes of each worker that are not shared out: whatever comes behind the tiles may have them.
    pub fn worker_bytes(weighted: bool) -> u64 {
        if weighted { WORKER_BYTES_WEIGHTED } else { WORKER_BYTES }
    }

    /// Space for buckets of which `held` bytes stay in memory.
    pub fn space(&self, held: u64) -> Space {
        Space {
            folder: self.folder.clone(),
            held,
            writing: self.memory / 24,
            writers: self.threads,
        }
    }
}
