//! How an iteration reaches its edges.
//!
//! * [`scan`] goes through the tiles that hold an active source and an open target,
//! * [`seek`] pushes along the rows of the active vertices,
//! * [`pull`] looks through the rows of vertices that are not settled.
//!
//! Scan and pull keep the active vertices as bits, seek keeps them as a list. Each process predicts
//! how long an iteration would take, and [`choice`] picks one. No result depends on the choice.

pub mod choice;
pub mod cost;
pub mod kernel;
pub mod pull;
pub mod scan;
pub mod seek;

use std::time::Duration;

use tegula_store::Result;

use crate::job::TileDemand;
use crate::job::context::JobContext;
use crate::process_kind::ProcessKind;
use crate::program::Program;
use crate::superstep::Superstep;

/// Rows that are read into memory together.
const ROWS_PER_BATCH: usize = 64;

/// One way to reach the edges of an iteration.
pub trait Process<P: Program>: Send + Sync {
    /// Returns the kind of process.
    fn kind(&self) -> ProcessKind;

    /// Predicts how long it would take now, corrected by earlier iterations.
    fn predict(&self, step: &Superstep<'_, P>) -> Prediction;

    /// Runs the iteration, or its part before tiles are needed.
    ///
    /// # Errors
    /// Read errors; cancellation; a panic of the program.
    fn run(
        &mut self,
        step: &mut Superstep<'_, P>,
        prediction: &Prediction,
        context: &JobContext<'_>,
    ) -> Result<Progressed>;

    /// Learns from how long a predicted iteration took, or would have taken.
    fn learn(&mut self, prediction: &Prediction, took: Duration);
}

/// How far an iteration has advanced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progressed {
    /// It has ended.
    Done {
        /// Edges of the rows that were looked through.
        edges: u64,
    },
    /// It waits for tiles.
    NeedsTiles(TileDemand),
    /// It has been given up, because another process will probably end sooner. The frontier is as
    /// before, and no message has been applied.
    GivenUp {
        /// Edges of the rows that were looked through.
        edges: u64,
    },
}

/// The predicted cost of a process.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Prediction {
    /// Seconds.
    pub seconds: f64,
    /// Seconds before the correction by earlier iterations.
    pub by_costs: f64,
    /// Pages of rows that it touches.
    pub pages: f64,
    /// Seconds of reading the pages that are not in memory.
    pub reading: f64,
    /// Whether the work is too little for more than one worker.
    pub is_small: bool,
    /// Edges of the rows that it looks through.
    pub edges: f64,
    /// Seconds that the quickest other process takes, if another one was asked.
    pub otherwise: Option<f64>,
}

impl Prediction {
    /// The prediction of a process that is not to be chosen.
    pub const NEVER: Prediction = Prediction {
        seconds: f64::INFINITY,
        by_costs: f64::INFINITY,
        pages: 0.0,
        reading: 0.0,
        is_small: false,
        edges: 0.0,
        otherwise: None,
    };
}
