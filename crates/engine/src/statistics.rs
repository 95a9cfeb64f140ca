//! What a run reports of itself.

use std::time::Duration;

use tegula_store::graph::Graph;

use crate::iteration_times::TIMES_MAX;
use crate::job::PartStatistics;
use crate::process_kind::ProcessKind;
use crate::rank_statistics::RankStatistics;

/// The statistics of a run.
#[derive(Debug, Clone, Default)]
pub struct RunStatistics {
    /// Iterations (supersteps) run.
    pub iterations: u64,
    /// Iterations that were run before the checkpoint from which the run resumed.
    pub iterations_before: u64,
    /// Time of each iteration. These three lists keep the first 2^16 iterations.
    pub iteration_times: Vec<Duration>,
    /// The process of each iteration.
    pub processes: Vec<ProcessKind>,
    /// Predicted seconds of each iteration, uncorrected; none where a scan was the only way.
    pub predicted_seconds: Vec<Option<f64>>,
    /// Edges in the processed tiles and in the rows that were looked through, over all iterations.
    pub edges_processed: u64,
    /// Tiles that the run did not need and skipped, over all iterations.
    pub tiles_skipped: u64,
    /// Bytes read for the run, including reads shared with other jobs.
    pub bytes_read: u64,
    /// Bytes of tiles that a run alone would have read, and this one need not: other jobs had them
    /// read.
    pub bytes_shared: u64,
    /// Time in which workers processed tiles for the run, over all workers and scans.
    pub scan_working: Duration,
    /// Time in which workers waited for tiles of the run, over all workers and scans. Each job that
    /// shares a tile counts the whole wait.
    pub scan_waiting: Duration,
    /// Bytes of arrays written to disk because memory had no room for them.
    pub bytes_written: u64,
    /// The statistics of each rank; none on one machine.
    pub ranks: Vec<RankStatistics>,
}

impl RunStatistics {
    /// Makes the run begin at `iteration`.
    pub(crate) fn begin_at(&mut self, iteration: u64) {
        (self.iterations, self.iterations_before) = (iteration, iteration);
    }

    /// Adds the statistics of a run that continued this one for the same answer.
    pub fn add(&mut self, next: RunStatistics) {
        self.iterations += next.iterations;
        self.iterations_before += next.iterations_before;
        self.iteration_times.extend(next.iteration_times);
        self.processes.extend(next.processes);
        self.predicted_seconds.extend(next.predicted_seconds);
        self.iteration_times.truncate(TIMES_MAX);
        self.processes.truncate(TIMES_MAX);
        self.predicted_seconds.truncate(TIMES_MAX);
        self.edges_processed += next.edges_processed;
        self.tiles_skipped += next.tiles_skipped;
        self.bytes_read += next.bytes_read;
        self.bytes_shared += next.bytes_shared;
        self.scan_working += next.scan_working;
        self.scan_waiting += next.scan_waiting;
        self.bytes_written += next.bytes_written;
        self.ranks.resize(self.ranks.len().max(next.ranks.len()), RankStatistics::default());
        self.ranks.iter_mut().zip(&next.ranks).for_each(|(rank, next)| rank.add(next));
    }

    /// Returns the statistics of one run of a fused run, which ended after `iterations`. Lane 0
    /// keeps what all have read; the others count it as shared.
    #[must_use]
    pub fn of_lane(&self, lane: usize, iterations: u64) -> RunStatistics {
        let first = lane == 0;
        RunStatistics {
            bytes_written: if first { self.bytes_written } else { 0 },
            ..self.since(
                &RunStatistics::default(),
                iterations,
                if first { self.bytes_read } else { 0 },
            )
        }
    }

    /// Returns the statistics of one run of a fused run, which ran `iterations` iterations after
    /// `before`. It keeps `bytes_read` of what all have read since then, and counts the others as
    /// shared.
    pub(crate) fn since(
        &self,
        before: &RunStatistics,
        iterations: u64,
        bytes_read: u64,
    ) -> RunStatistics {
        fn values_since<T: Copy>(all: &[T], before: &[T], iterations: u64) -> Vec<T> {
            let since = all.iter().skip(before.len());
            since.take(iterations.min(TIMES_MAX as u64) as usize).copied().collect()
        }
        let (times, predicted) = (&self.iteration_times, &self.predicted_seconds);
        let all_read = self.bytes_read - before.bytes_read;
        RunStatistics {
            iterations,
            iterations_before: 0,
            iteration_times: values_since(times, &before.iteration_times, iterations),
            processes: values_since(&self.processes, &before.processes, iterations),
            predicted_seconds: values_since(predicted, &before.predicted_seconds, iterations),
            edges_processed: self.edges_processed - before.edges_processed,
            tiles_skipped: self.tiles_skipped - before.tiles_skipped,
            bytes_read,
            bytes_shared: self.bytes_shared - before.bytes_shared + all_read - bytes_read,
            scan_working: self.scan_working - before.scan_working,
            scan_waiting: self.scan_waiting - before.scan_waiting,
            bytes_written: 0,
            ranks: self.ranks.clone(),
        }
    }

    /// Adds an iteration.
    pub(crate) fn add_iteration(
        &mut self,
        process: ProcessKind,
        predicted_seconds: Option<f64>,
        took: Duration,
    ) {
        self.iterations += 1;
        if self.iteration_times.len() == TIMES_MAX {
            return;
        }
        self.iteration_times.push(took);
        self.processes.push(process);
        self.predicted_seconds.push(predicted_seconds);
    }

    /// Adds the statistics of the parts of one scan.
    pub(crate) fn add_scan(&mut self, scanned: &PartStatistics, graph: &Graph) {
        self.edges_processed += scanned.edges;
        self.tiles_skipped += graph.tiles().len() as u64 - scanned.tiles;
        self.bytes_read += scanned.bytes_read;
        self.bytes_shared += scanned.bytes_shared;
        self.scan_working += scanned.working;
        self.scan_waiting += scanned.waiting;
    }
}
