//! What all passes of one import share: memory, threads and a folder.

use std::path::PathBuf;

use tegula_machine::counted;
use tegula_machine::threads::{Cancel, Progress, Workers};
use tegula_store::{Error, Result, SHORT_COUNT_MAX};

use crate::edge::ArcRule;
use crate::piles::space::Space;
use crate::shares::{self, Share};

/// Memory that the process needs besides the counted tables, piles and buffers.
const PROCESS_BYTES: u64 = 16 << 20;
/// Memory that a worker needs for the data in its hands. A part of a graph needs most: its edges
/// take room three times while it is encoded.
const WORKER_BYTES: u64 = 16 << 20;
/// The same, where edges have weights.
const WORKER_BYTES_WEIGHTED: u64 = 24 << 20;
/// Memory that a worker needs in addition where numbers of vertices have 64 bits: a part is encoded
/// from a copy with such ends.
const WORKER_BYTES_WIDE: u64 = 4 << 20;

/// What an import needs memory for, besides the shares.
#[derive(Debug, Clone, Copy)]
pub(super) struct Needs {
    /// Whether edges have weights.
    pub weighted: bool,
    /// Whether numbers of vertices have 64 bits.
    pub wide: bool,
    /// The number of declared vertices; 0 if none are declared.
    pub vertices: u64,
    /// Bytes for the batches of declared vertices.
    pub batches: u64,
}

impl Needs {
    /// Bytes of each worker that are not shared out. Steps after the tiles may use them.
    pub fn worker_bytes(&self) -> u64 {
        let plain = if self.weighted { WORKER_BYTES_WEIGHTED } else { WORKER_BYTES };
        plain + if self.wide { WORKER_BYTES_WIDE } else { 0 }
    }
}

/// The memory and threads that an import may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Resources {
    /// Bytes that may be shared out; the memory of the workers is already taken off.
    pub memory: u64,
    /// Workers for which the budget suffices.
    pub threads: usize,
    /// The most vertices whose numbers have 32 bits; 0 where memory is set aside for 64-bit
    /// numbers.
    pub short_max: u64,
}

/// Names an import whose number of vertices takes the memory.
fn import_of(vertices: u64) -> String {
    format!("an import of {}", counted(vertices, "vertex", "vertices"))
}

/// A running import.
pub(super) struct ImportRun<'a> {
    /// Bytes that may be shared out.
    pub memory: u64,
    /// The workers.
    pub workers: &'a Workers,
    /// Where temporary files go.
    pub folder: PathBuf,
    /// Which arcs are made of the input's edges.
    pub rule: ArcRule,
    /// Receives the progress.
    pub progress: &'a dyn Progress,
    /// Can end the import early.
    pub cancel: &'a Cancel,
    /// See [`Resources::short_max`].
    pub short_max: u64,
}

impl ImportRun<'_> {
    /// The least budget of an import.
    pub const MEMORY_MIN: u64 = 64 << 20;

    /// Divides a budget for the whole process: returns the bytes to share out, and the number of
    /// workers for which the budget suffices.
    pub fn divide(budget: u64, threads: usize, needs: Needs) -> Result<Resources> {
        let needed = ImportRun::MEMORY_MIN + needs.batches;
        if budget < needed {
            let what = match needs.batches {
                0 => "an import".to_owned(),
                _ => import_of(needs.vertices),
            };
            return Err(Error::over_budget(what, needed, budget));
        }
        let worker = needs.worker_bytes();
        let free = budget - PROCESS_BYTES - needs.batches;
        // Workers take half of the memory at most, but one may take more. The shares come out of
        // the rest.
        let threads = threads.clamp(1, (free / 2 / worker).max(1) as usize);
        let short_max = if needs.wide { 0 } else { SHORT_COUNT_MAX };
        Ok(Resources { memory: free - threads as u64 * worker, threads, short_max })
    }

    /// Whether the numbers of `count` vertices have 64 bits.
    pub fn is_wide(&self, count: u64) -> bool {
        count > self.short_max
    }

    /// Returns the same run with memory set aside for 64-bit numbers, and `batches` bytes for
    /// batches. It is needed when an input turns out to have more `vertices` than 32-bit numbers
    /// allow.
    ///
    /// # Errors
    /// [`Error::OverBudget`](tegula_machine::Error::OverBudget) where that takes more than half of
    /// the memory.
    pub fn widened(&self, vertices: u64, batches: u64) -> Result<ImportRun<'_>> {
        let needed = self.workers.count() as u64 * WORKER_BYTES_WIDE + batches;
        if needed > self.memory / 2 {
            let what = import_of(vertices);
            return Err(Error::over_budget(what, 2 * needed, self.memory));
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

    /// Returns the bytes of a share.
    pub fn share(&self, share: Share) -> u64 {
        share.of(self.memory)
    }

    /// Returns the space for piles that keep `held` bytes in memory.
    pub fn space(&self, held: u64) -> Space {
        Space {
            folder: self.folder.clone(),
            held,
            writing: self.share(shares::WRITING),
            writers: self.workers.count(),
        }
    }
}
