//! What the readers of all formats share: they hand out parts, and parts emit edges.

use tegula_machine::threads::{Cancel, Progress};
use tegula_store::Result;

use super::bad_rows::BadLines;
use super::balance::Balance;
use super::chunk::{EdgeChunk, Ends, Span, StringColumn};
use super::noted::PartNotes;
use super::options::{IdKind, InputOptions};

/// A file that is being read.
pub(super) trait Reader<'a>: Send {
    /// Takes the next part, in the order of the file; `None` after the last. One worker at a time
    /// calls this, and none does after an error. Bytes that must be read in order are left in
    /// `space`.
    fn claim(&mut self, space: &mut Space, emit: &Emit<'_>) -> Result<Option<Part<'a>>>;
}

/// The work on a claimed part: parses it, from `space` or from the file, and emits its edges.
/// Several parts run at once.
pub(super) type Part<'a> = Box<dyn FnOnce(&mut Space, &Emit<'_>) -> Result<()> + 'a>;

/// How many workers there are, and what each may hold.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sizes {
    /// Workers.
    pub workers: usize,
    /// Bytes to read at a time; a longer line makes a longer block.
    pub block_bytes: usize,
    /// The most edges in a chunk.
    pub chunk_edges: usize,
    /// The longest line that is read.
    pub line_bytes_max: usize,
}

impl Sizes {
    /// The largest block, which stays in a core's L2 cache.
    const BLOCK_BYTES_MAX: u64 = 512 << 10;
    const BLOCK_BYTES_MIN: u64 = 16 << 10;
    const CHUNK_EDGES_MAX: u64 = 1 << 16;
    const CHUNK_EDGES_MIN: u64 = 1 << 10;
    /// Bytes of a worker's buffers for an edge: two ids and a weight.
    const EDGE_BYTES: u64 = 20;

    /// Returns the sizes that `options` allow if a worker needs at least `worker_bytes_min`.
    pub fn for_options(options: &InputOptions, worker_bytes_min: u64) -> Sizes {
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

    /// The longest line that is read: one sixteenth of the memory, so that the workers' lines fit
    /// in it. It does not depend on the number of workers, because a longer line is refused.
    pub fn line_bytes_max(options: &InputOptions) -> usize {
        const MEMORY_SHARE: u64 = 16;
        const LINE_BYTES_MAX: u64 = 16 << 20;
        (options.memory / MEMORY_SHARE).clamp(Sizes::BLOCK_BYTES_MIN, LINE_BYTES_MAX) as usize
    }
}

/// A worker's buffers, reused for every part.
#[derive(Debug, Default)]
pub(super) struct Space {
    /// Bytes of the file.
    pub block: Vec<u8>,
    /// Ends of the chunk's edges, if they are 32-bit integers.
    pub pairs32: Vec<[u32; 2]>,
    /// Ends of the chunk's edges, if they are 64-bit integers.
    pub pairs64: Vec<[u64; 2]>,
    /// Sources of the chunk's edges, if they are strings.
    pub sources: Vec<Span>,
    /// Targets of the chunk's edges, if they are strings.
    pub targets: Vec<Span>,
    /// Weights of the chunk.
    pub weights: Vec<f32>,
    /// Edges found in the part, in formats that count them.
    pub edges: u64,
    /// Lines of the part that cannot be understood and were skipped.
    pub bad_lines: BadLines,
    /// Comments in the part, if ids are strings.
    pub comments: PartNotes,
    /// Rows of the part that have more columns than the first row.
    pub long_rows: PartNotes,
    /// The last line of the file, if it has no line feed and lines before it have one.
    pub open_ends: PartNotes,
    /// Mentions of edges in the part, if adjacency lists become an undirected graph.
    pub balance: Balance,
}

/// Where a worker's edges and reports go, and how it is to read.
pub(super) struct Emit<'a> {
    pub sizes: Sizes,
    pub weighted: bool,
    pub ids: IdKind,
    /// Whether each edge leads both ways, so that one mention of two suffices.
    pub undirected: bool,
    /// The most rows that may be skipped because they cannot be understood.
    pub bad_rows_max: u64,
    pub progress: &'a dyn Progress,
    pub cancel: &'a Cancel,
    pub sink: &'a (dyn Fn(EdgeChunk<'_>) -> Result<()> + Sync),
}

impl Emit<'_> {
    /// Hands out a chunk; `weights` are ignored unless the input is weighted.
    pub fn chunk(&self, ends: Ends<'_>, weights: &[f32]) -> Result<()> {
        let chunk = EdgeChunk { ends, weights: self.weighted.then_some(weights) };
        debug_assert!(chunk.weights.is_none_or(|weights| weights.len() == chunk.len()));
        if chunk.is_empty() { Ok(()) } else { (self.sink)(chunk) }
    }

    /// Hands out a chunk whose ids are strings in `bytes`.
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
