//! How an iteration reaches its edges.
//!
//! * [`scan`] goes through the tiles that hold an active source and an open target,
//! * [`seek`] pushes along the rows of the active vertices,
//! * [`pull`] looks through the rows of vertices that are not settled.
//!
//! The first and the last know the active vertices by a bit each, the second by a list. Each predicts what an
//! iteration would take, and [`choice`] picks. No result depends on it.

pub mod choice;
pub mod cost;
pub mod kernel;
pub mod pull;
pub mod scan;
pub mod seek;

use std::time::Duration;

use tegula_machine::Result;

use crate::job::TileDemand;
use crate::job::context::JobContext;
use crate::program::Program;
use crate::superstep::Superstep;

/// Rows that are brought into memory together.
const ROWS_PER_BATCH: usize = 64;

/// How the edges of one iteration are reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessKind {
    /// Through all tiles that hold an active source and a target that is not settled.
    Scan,
    /// Along the rows of the active vertices.
    Seek,
    /// Through the rows of the vertices that are not settled, up to the first active neighbour.
    Pull,
}

impl ProcessKind {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            ProcessKind::Scan => "scan",
            ProcessKind::Seek => "seek",
            ProcessKind::Pull => "pull",
        }
    }
}

/// One way to reach the edges of an iteration.
pub trait Process<P: Program>: Send + Sync {
    /// Which one.
    fn kind(&self) -> ProcessKind;

    /// What it would take now, as corrected by what was learnt.
    fn predict(&self, step: &Superstep<'_, P>) -> Prediction;

    /// Runs the iteration, or its beginning.
    ///
    /// # Errors
    /// Those of reading; cancellation; a panic of the program.
    fn run(
        &mut self,
        step: &mut Superstep<'_, P>,
        prediction: &Prediction,
        context: &JobContext<'_>,
    ) -> Result<Progressed>;

    /// Takes into account how long an iteration took that was predicted.
    fn learn(&mut self, prediction: &Prediction, took: Duration);
}

/// How far an iteration has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progressed {
    /// To its end; `edges` were looked at.
    Done {
        /// Edges of the rows that were looked through.
        edges: u64,
    },
    /// To where it needs tiles.
    NeedsTiles(TileDemand),
}

/// What a process is predicted to take.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Prediction {
    /// Seconds.
    pub seconds: f64,
    /// Seconds before they are corrected by what iterations took.
    pub by_costs: f64,
    /// Pages of rows that it touches.
    pub pages: f64,
    /// Seconds of it that reading those takes which are not in memory.
    pub reading: f64,
    /// Whether there is too little to do for more than one worker.
    pub is_small: bool,
}
