//! Several workers read one list of files.
//!
//! A worker claims the next part of the current file under a lock, then parses it while others
//! claim and parse theirs. What must happen in order (reading a stream, decompressing it) happens
//! inside the claim, so that no thread of its own and no queue of blocks are needed: each worker
//! holds the one part that it works on, and that bounds the memory.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use tegula_machine::threads::{Cancel, Progress};
use tegula_machine::{Error, Result};

use super::bad_rows::{BadLines, Ledger};
use super::chunk::{EdgeChunk, Ends, Span, StringColumn};
use super::comments::{PartComments, Tally};
use super::file::InputFile;
use super::{IdKind, InputOptions, PassedOver};

/// A file that is being read.
pub(super) trait Reader<'a>: Send {
    /// Takes the next part, in the order of the file; `None` after the last. One worker at a time
    /// calls this. Bytes that have to be read in order are left in `space`.
    fn claim(&mut self, space: &mut Space, emit: &Emit<'_>) -> Result<Option<Part<'a>>>;
}

/// What is left to do with a claimed part: parse it, from `space` or from the file, and emit its
/// edges. Runs beside other parts.
pub(super) type Part<'a> = Box<dyn FnOnce(&mut Space, &Emit<'_>) -> Result<()> + 'a>;

/// How many workers there are, and what each may hold.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sizes {
    /// Workers.
    pub workers: usize,
    /// Bytes that are read at a time; a longer line makes a longer block.
    pub block_bytes: usize,
    /// Edges in a chunk, at most.
    pub chunk_edges: usize,
    /// The longest line that is read.
    pub line_bytes_max: usize,
}

impl Sizes {
    /// Bytes of a block when memory allows: it stays in a core's L2 cache.
    const BLOCK_BYTES_MAX: u64 = 512 << 10;
    const BLOCK_BYTES_MIN: u64 = 16 << 10;
    const CHUNK_EDGES_MAX: u64 = 1 << 16;
    const CHUNK_EDGES_MIN: u64 = 1 << 10;
    /// Bytes of a worker's buffers for one edge of a chunk: two ids, a weight.
    const EDGE_BYTES: u64 = 20;

    /// The sizes that `options` allow for.
    pub fn within(options: &InputOptions, files: &[InputFile]) -> Sizes {
        let worker_bytes_min = files.iter().map(InputFile::worker_bytes_min).max().unwrap_or(0);
        let worker_bytes_min = worker_bytes_min.max(Sizes::BLOCK_BYTES_MIN * 4);
        let affordable = (options.memory / worker_bytes_min).max(1);
        let workers = (options.threads.max(1) as u64).min(affordable);
        let share = options.memory / workers;
        let block_bytes = (share / 4).clamp(Sizes::BLOCK_BYTES_MIN, Sizes::BLOCK_BYTES_MAX);
        let chunk_edges = share / 2 / Sizes::EDGE_BYTES;
        Sizes {
            workers: workers as usize,
            block_bytes: block_bytes as usize,
            chunk_edges: chunk_edges.clamp(Sizes::CHUNK_EDGES_MIN, Sizes::CHUNK_EDGES_MAX) as usize,
            line_bytes_max: Sizes::line_bytes_max(options),
        }
    }

    /// The longest line that is read: a share of the memory, so that the lines that the workers hold
    /// fit in it. The number of workers has no say, or an input might be refused for it.
    pub fn line_bytes_max(options: &InputOptions) -> usize {
        const MEMORY_SHARE: u64 = 16;
        const LINE_BYTES_MAX: u64 = 16 << 20;
        (options.memory / MEMORY_SHARE).clamp(Sizes::BLOCK_BYTES_MIN, LINE_BYTES_MAX) as usize
    }
}

/// A worker's buffers, used again for every part.
#[derive(Debug, Default)]
pub(super) struct Space {
    /// Bytes of the file.
    pub block: Vec<u8>,
    /// Ends of the chunk, where they are narrow integers.
    pub pairs32: Vec<[u32; 2]>,
    /// Ends of the chunk, where they are wide integers.
    pub pairs64: Vec<[u64; 2]>,
    /// Sources of the chunk, where they are strings.
    pub sources: Vec<Span>,
    /// Targets of the chunk, where they are strings.
    pub targets: Vec<Span>,
    /// Weights of the chunk.
    pub weights: Vec<f32>,
    /// Lines of the part that were passed over.
    pub bad_lines: BadLines,
    /// Comments of the part, where ids are strings.
    pub comments: PartComments,
}

/// Where a worker's edges and reports go, and what is asked of it.
pub(super) struct Emit<'a> {
    pub sizes: Sizes,
    pub weighted: bool,
    pub ids: IdKind,
    /// How many rows that cannot be understood may be passed over.
    pub bad_rows_max: u64,
    pub progress: &'a dyn Progress,
    pub cancel: &'a Cancel,
    pub sink: &'a (dyn Fn(EdgeChunk<'_>) -> Result<()> + Sync),
}

impl Emit<'_> {
    /// Hands out a chunk; `weights` count only if they are wanted.
    pub fn chunk(&self, ends: Ends<'_>, weights: &[f32]) -> Result<()> {
        let chunk = EdgeChunk { ends, weights: self.weighted.then_some(weights) };
        debug_assert!(chunk.weights.is_none_or(|weights| weights.len() == chunk.len()));
        if chunk.is_empty() { Ok(()) } else { (self.sink)(chunk) }
    }

    /// Hands out a chunk of strings in `bytes`.
    pub fn strings(
        &self,
        bytes: &[u8],
        sources: &[Span],
        targets: &[Span],
        weights: &[f32],
    ) -> Result<()> {
        let sources = StringColumn::new(bytes, sources);
        let targets = StringColumn::new(bytes, targets);
        self.chunk(Ends::Strings { sources, targets }, weights)
    }
}

/// Reads all files to their end, or to the first fault. Returns what was passed over.
pub(super) fn read_all(files: &[InputFile], emit: &Emit<'_>) -> Result<PassedOver> {
    let failure = FirstFailure::default();
    let ledger = Ledger::new(emit.bad_rows_max);
    let tally = Tally::default();
    let queue = Mutex::new(Queue { files: files.iter(), current: None, claimed: 0 });
    std::thread::scope(|scope| {
        for _ in 0..emit.sizes.workers {
            scope.spawn(|| work(&queue, &failure, &ledger, &tally, emit));
        }
    });
    let failure = failure.into_first();
    let bad_rows = ledger.close(failure.as_ref().map(|(part, _)| *part))?;
    let passed_over = PassedOver { bad_rows, comments: tally.close() };
    failure.map_or(Ok(passed_over), |(_, error)| Err(error))
}

fn work<'a>(
    queue: &Mutex<Queue<'a>>,
    failure: &FirstFailure,
    ledger: &Ledger,
    tally: &Tally,
    emit: &Emit<'_>,
) {
    let mut space = Space::default();
    loop {
        // A lock is poisoned only by a panic, which `guarded` has turned into a recorded failure.
        let Ok(mut claims) = queue.lock() else { return };
        if failure.is_recorded() || ledger.is_exceeded() {
            return;
        }
        let number = claims.claimed;
        let claim = guarded(|| claims.claim(&mut space, emit));
        drop(claims);
        let outcome = match claim {
            Ok(None) => return,
            Ok(Some(part)) => guarded(|| part(&mut space, emit)),
            Err(error) => Err(error),
        };
        ledger.settle(number, std::mem::take(&mut space.bad_lines));
        tally.add(number, std::mem::take(&mut space.comments));
        if let Err(error) = outcome {
            failure.record(number, error);
        }
    }
}

/// Turns a panic into an error, so that one dead worker stops the others.
pub(super) fn guarded<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
        Err(Error::WorkerFailed { detail: text.unwrap_or_else(|| "it panicked".to_owned()) })
    })
}

/// The files, of which one is being read.
struct Queue<'a> {
    files: std::slice::Iter<'a, InputFile>,
    current: Option<Box<dyn Reader<'a> + 'a>>,
    claimed: u64,
}

impl<'a> Queue<'a> {
    /// The next part of any file.
    fn claim(&mut self, space: &mut Space, emit: &Emit<'_>) -> Result<Option<Part<'a>>> {
        emit.cancel.check()?;
        self.claimed += 1;
        loop {
            if let Some(reader) = &mut self.current
                && let Some(part) = reader.claim(space, emit)?
            {
                return Ok(Some(part));
            }
            match self.files.next() {
                Some(file) => self.current = Some(file.open(emit)?),
                None => {
                    self.current = None;
                    return Ok(None);
                }
            }
        }
    }
}

/// The failure of the earliest part. Parts are claimed in order and none is claimed once a failure
/// is recorded, so every part before a failed one is worked on to its end: which failure is the
/// first does not depend on the workers.
#[derive(Default)]
struct FirstFailure {
    recorded: AtomicBool,
    first: Mutex<Option<(u64, Error)>>,
}

impl FirstFailure {
    fn is_recorded(&self) -> bool {
        self.recorded.load(Ordering::Relaxed)
    }

    fn record(&self, number: u64, error: Error) {
        if let Ok(mut first) = self.first.lock()
            && first.as_ref().is_none_or(|(earliest, _)| number < *earliest)
        {
            *first = Some((number, error));
        }
        self.recorded.store(true, Ordering::Relaxed);
    }

    fn into_first(self) -> Option<(u64, Error)> {
        self.first.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}
