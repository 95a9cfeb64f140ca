//! Jobs: the work of a scheduler.
//!
//! A job advances by itself ([`Job::advance`]) until it needs tiles. Then the scheduler deals out
//! parts of the graph to all jobs that need them ([`Job::begin_part`]), and the job advances again.
//! Kinds:
//!
//! * [`program`]: a vertex program, iteration by iteration, with its [rows](program_rows),
//! * [`external`]: the same with its arrays on disk,
//! * [`pass`]: shows every edge to a visitor once,
//! * [`foreign`]: shows blocks of edges to an engine with loops of its own,
//! * [`traversal`]: follows rows, and needs no tiles.
//!
//! The rows of programs and traversals are [shared](shared_rows).

pub mod checkpoint_writer;
pub mod context;
pub mod external;
pub mod foreign;
pub mod pass;
pub mod program;
pub mod program_rows;
pub mod shared_rows;
pub mod stage;
mod tile_edges;
pub mod traversal;

use std::ops::Range;
use std::time::Duration;

use tegula_store::Result;
use tegula_store::graph::TileEntry;
use tegula_store::tiles::Tile;

use crate::parts::{Part, Parts};
use context::JobContext;

/// Bytes for each vertex of a job that does not know better: a state and a message.
const VERTEX_BYTES_TYPICAL: u64 = 8;

/// A piece of work for a scheduler.
pub trait Job: Send + Sync {
    /// Advances to the end, until tiles are needed, or until it is [others'
    /// turn](JobContext::is_others_turn).
    ///
    /// # Errors
    /// An error ends the job.
    fn advance(&mut self, context: &JobContext<'_>) -> Result<Advanced>;

    /// Returns whether [`Job::advance`] returns soon when other jobs wait.
    fn is_resumable(&self) -> bool {
        true
    }

    /// Returns the parts of whole batches in which the scan may need tiles. [`Job::needs`] is not
    /// called for tiles of other parts.
    fn parts(&self, parts: &Parts) -> Range<usize> {
        0..parts.parts.len()
    }

    /// Returns whether the scan needs a tile. It is called when the scan begins, before the tile is
    /// read, and before it is processed. Once it returns false, the tile may be left out of this
    /// scan.
    fn needs(&self, tile: &TileEntry) -> bool;

    /// Returns the bytes that the scan touches for each vertex, for the size of a stretch of tiles.
    fn vertex_bytes(&self) -> u64 {
        VERTEX_BYTES_TYPICAL
    }

    /// Begins a part of the scan for one worker. If the work is dropped before [`PartWork::end`],
    /// the job has failed or the part is begun anew.
    fn begin_part(&self, part: &Part) -> Box<dyn PartWork + '_>;

    /// Adds what a worker has done for this job in one part.
    fn note_part(&self, done: &PartStatistics);
}

/// How far a job has advanced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Advanced {
    /// It has ended.
    Done,
    /// It waits for tiles.
    NeedsTiles(TileDemand),
    /// It can advance again at once.
    Further,
}

/// What a job needs from a scan of the tiles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TileDemand {
    /// Whether it needs the weights of edges.
    pub has_weights: bool,
    /// Whether every batch is finished, even if none of its tiles is needed.
    pub has_every_batch: bool,
    /// The direction that the job prefers.
    pub direction: ScanDirection,
}

/// The work of one worker on one part, for one job.
pub trait PartWork {
    /// Processes a tile of the part. `weights` has a number for each entry, or is empty.
    ///
    /// # Errors
    /// A description of what is wrong with the tile.
    fn process(&mut self, tile: Tile<'_>, entry: &TileEntry, weights: &[f32])
    -> Result<(), String>;

    /// Returns whether the part may be begun anew after its tiles could not be read.
    fn is_restartable(&self) -> bool {
        true
    }

    /// Ends the part.
    fn end(self: Box<Self>);
}

/// The direction of a scan through the parts. Within a part, tiles come by ascending segment, and
/// then in the order of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScanDirection {
    /// By ascending batch.
    FirstToLast,
    /// In the opposite order.
    LastToFirst,
}

impl ScanDirection {
    /// Returns the part of a batch that a job takes first; the others follow it. A job that joins
    /// in the middle of a batch leaves that batch for the next round. Otherwise reductions of its
    /// parts would wait for the part before in more than one batch at a time.
    pub fn first_of_batch(self, index: usize, part: &Part) -> usize {
        match self {
            ScanDirection::FirstToLast => index - part.number,
            ScanDirection::LastToFirst => index + (part.count - 1 - part.number),
        }
    }
}

/// The statistics of one worker, for one job in one part.
#[derive(Debug, Clone, Copy, Default)]
pub struct PartStatistics {
    /// Edges of the tiles that were processed.
    pub edges: u64,
    /// Tiles that were processed.
    pub tiles: u64,
    /// Bytes read for the part, including reads shared with other jobs.
    pub bytes_read: u64,
    /// Bytes of tiles that a run alone would have read, and this one need not: other jobs had them
    /// read.
    pub bytes_shared: u64,
    /// Time in which the worker processed tiles for the job.
    pub working: Duration,
    /// Time in which the worker waited for tiles of the part, for all of its jobs at once.
    pub waiting: Duration,
}

impl PartStatistics {
    /// Adds the statistics of a further part.
    pub fn add(&mut self, further: &PartStatistics) {
        self.edges += further.edges;
        self.tiles += further.tiles;
        self.bytes_read += further.bytes_read;
        self.bytes_shared += further.bytes_shared;
        self.working += further.working;
        self.waiting += further.waiting;
    }
}
