//! A program on its way, whatever its types: what a set of jobs that shares scans consists of.

use crate::scan::ScanJob;

/// One of the jobs that share a scan.
pub trait Job {
    /// Iterations begun so far.
    fn iteration(&self) -> u64;

    /// Generate: asks the program whether it goes on and fills the array of messages. False when
    /// the job is over.
    fn generate(&mut self) -> bool;

    /// The process and apply phases, to be run by a scan.
    fn start_scan(&mut self) -> Box<dyn RunningScan + '_>;

    /// Takes over what the scan left: sums, active vertices, settled targets.
    fn finish_iteration(&mut self);
}

/// The part of a job that a scan works on.
pub trait RunningScan: ScanJob {
    /// The scan is complete.
    fn end(self: Box<Self>);
}
