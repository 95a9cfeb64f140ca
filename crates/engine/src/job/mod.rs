//! Jobs: what a scheduler works on, of whatever kind.
//!
//! A job goes on by itself ([`Job::advance`]) until it needs tiles; then the scheduler deals out parts of
//! the graph to all jobs that need them ([`Job::begin_part`]), and the job goes on. Kinds:
//!
//! * [`program`]: a vertex program, iteration by iteration, with its [rows](program_rows),
//! * [`external`]: the same with its arrays on disk,
//! * [`pass`]: shows every edge to a visitor once,
//! * [`traversal`]: follows rows, and needs no tiles.

pub mod context;
pub mod copies;
pub mod external;
pub mod pass;
pub mod program;
pub mod program_rows;
pub mod traversal;

use std::ops::Range;
use std::time::Duration;

use tegula_machine::Result;
use tegula_store::graph::TileEntry;
use tegula_store::tiles::Tile;

use crate::parts::{Part, Parts};
use context::JobContext;

/// Something that a scheduler works on.
pub trait Job: Send + Sync {
    /// Goes on: to the end, until tiles are needed, or until it is [others' turn](JobContext::is_others_turn).
    ///
    /// # Errors
    /// Whatever ends the job.
    fn advance(&mut self, context: &JobContext<'_>) -> Result<Advanced>;

    /// Whether it comes back from [`Job::advance`] soon, where others wait.
    fn is_resumable(&self) -> bool {
        true
    }

    /// The parts in which the scan may have a use for a tile, those of whole batches; of others it is not asked.
    fn parts(&self, parts: &Parts) -> Range<usize> {
        0..parts.parts.len()
    }

    /// Whether the scan has a use for a tile: asked when it begins, before the tile is read, and before it
    /// is processed. A tile for which there is none, even once, may be left out of this scan.
    fn needs(&self, tile: &TileEntry) -> bool;

    /// A worker begins a part of the scan. Where the work is dropped before its end, the job has failed or
    /// the part is begun anew.
    fn begin_part(&self, part: &Part) -> Box<dyn PartWork + '_>;

    /// What a worker has done for this job in one part.
    fn note_part(&self, done: &PartStatistics);
}

/// How far a job has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Advanced {
    /// To its end.
    Done,
    /// To where it needs tiles.
    NeedsTiles(TileDemand),
    /// Some way; it can go on at once.
    Further,
}

/// What a job needs of a scan of the tiles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TileDemand {
    /// Whether it needs the weights of edges.
    pub has_weights: bool,
    /// Whether a batch is to be finished even where no tile of it is needed.
    pub has_every_batch: bool,
    /// Which way it would rather go.
    pub direction: ScanDirection,
}

/// A worker at one part, for one job.
pub trait PartWork {
    /// Processes a tile of the part; `weights` has a number for each entry, or is empty.
    ///
    /// # Errors
    /// What does not fit in the tile, in words.
    fn process(&mut self, tile: Tile<'_>, entry: &TileEntry, weights: &[f32])
    -> Result<(), String>;

    /// Whether the part may be begun anew, after its tiles could not be read.
    fn is_restartable(&self) -> bool {
        true
    }

    /// The part has ended.
    fn end(self: Box<Self>);
}

/// Which way a scan goes through the parts. Within a part, tiles come by ascending segment, and then in the order
/// of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScanDirection {
    /// By ascending batch.
    FirstToLast,
    /// In the opposite order.
    LastToFirst,
}

impl ScanDirection {
    /// The part of a batch that a job takes first. The others follow it, so that a job that joins in the
    /// middle of a batch leaves that batch for the next round: what its parts are reduced to waits for the
    /// part before, and is to wait for one batch at a time.
    pub fn first_of_batch(self, index: usize, part: &Part) -> usize {
        match self {
            ScanDirection::FirstToLast => index - part.number,
            ScanDirection::LastToFirst => index + (part.count - 1 - part.number),
        }
    }
}

/// What one worker did for one job in one part.
#[derive(Debug, Clone, Copy, Default)]
pub struct PartStatistics {
    /// Edges of the tiles that were processed.
    pub edges: u64,
    /// Tiles that were processed.
    pub tiles: u64,
    /// Bytes that were read for it, alone or with others.
    pub bytes_read: u64,
    /// What it took, waiting for tiles included.
    pub time: Duration,
}

impl PartStatistics {
    /// Adds those of a further part.
    pub fn add(&mut self, further: &PartStatistics) {
        self.edges += further.edges;
        self.tiles += further.tiles;
        self.bytes_read += further.bytes_read;
        self.time += further.time;
    }
}
