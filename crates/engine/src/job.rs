//! A program on its way, whatever its types: what a set of jobs that shares scans consists of.

use tegula_machine::Result;
use tegula_store::rows::RowReader;

use crate::process::{Frontier, Process};
use crate::scan::ScanJob;
use crate::workers::Workers;

/// One of the jobs that share a scan.
pub trait Job {
    /// Iterations begun so far.
    fn iteration(&self) -> u64;

    /// Asks the program whether it goes on. False when the job is over, from then on.
    fn begin_iteration(&mut self) -> bool;

    /// Which vertices are active, for the choice of how their edges are reached.
    fn frontier(&self) -> Frontier<'_>;

    /// Generate, and the process and apply phases as a job of a scan.
    fn start_scan(&mut self) -> Box<dyn RunningScan + '_>;

    /// Takes over what the scan left: sums, active vertices, settled targets.
    fn finish_scan(&mut self);

    /// The whole iteration by rows: [`Process::Seek`] or [`Process::Pull`]. Returns how many edges were
    /// looked at.
    ///
    /// # Errors
    /// Those of reading; cancellation; a worker that panicked.
    fn run_on_rows(
        &mut self,
        process: Process,
        rows: &RowReader,
        workers: &Workers<'_>,
    ) -> Result<u64>;
}

/// The part of a job that a scan works on.
pub trait RunningScan: ScanJob {
    /// The scan is complete.
    fn end(self: Box<Self>);
}
