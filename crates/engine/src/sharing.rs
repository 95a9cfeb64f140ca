//! The scan of a graph for other engines: an engine and the jobs of a [`Scheduler`] share the tiles
//! in memory and each read.
//!
//! GraphM (Zhao et al., SC 2019, section 3.4) is a layer of storage below graph engines. Each of
//! its four calls is here:
//!
//! | GraphM | here |
//! | --- | --- |
//! | `Init()` makes the graph ready for the engine | [`join`] |
//! | `GetActiveVertices()` says what the engine needs | the set given to [`SharedScan::scan`] |
//! | `Sharing()` returns the next chunk of edges | the calls of `visit` |
//! | `Barrier()` ends an iteration | the return of [`SharedScan::scan`] |
//!
//! The paper's `Convert()` is the import of a graph.

use std::sync::Mutex;
use std::time::Instant;

use tegula_machine::threads::unlocked;
use tegula_store::Result;
use tegula_store::graph::Graph;

use crate::job::foreign::ForeignScan;
use crate::options::RunOptions;
use crate::process_kind::ProcessKind;
use crate::scheduler::{Admitted, MemoryDemand, Scheduler};
use crate::statistics::RunStatistics;
use crate::superstep::active_set::ActiveSet;

pub use crate::job::foreign::EdgeBlock;

/// Another engine among the jobs of a scheduler.
pub struct SharedScan<'s> {
    graph: &'s Graph,
    scheduler: &'s Scheduler<'s>,
    admitted: &'s Admitted<'s, 's>,
    options: &'s RunOptions<'s>,
    has_weights: bool,
    statistics: RunStatistics,
}

/// Calls `body` with the shared scan of a graph, on the scheduler of the options or on a new one.
/// The engine holds `held` bytes of its own until `body` returns, and the scheduler counts them.
/// Weights are read if `has_weights`. Returns what `body` returns, and the statistics of all scans.
///
/// # Errors
/// [`OverBudget`](tegula_machine::Error::OverBudget) before `body` is called; the errors of `body`;
/// [`Limit`](tegula_machine::Error::Limit) for a graph without short ids.
pub fn join<R>(
    graph: &Graph,
    held: u64,
    has_weights: bool,
    options: &RunOptions<'_>,
    body: impl FnOnce(&mut SharedScan<'_>) -> Result<R>,
) -> Result<(R, RunStatistics)> {
    graph.short_vertex_count()?;
    options.with_scheduler(graph, |scheduler| {
        // A set is there twice while it is copied.
        let held = held + 2 * ActiveSet::size(graph.vertex_count());
        let demand = MemoryDemand::scan("the engine", held, has_weights && graph.is_weighted());
        let admitted = scheduler.ledger().admit(&[demand], options.reserve, &options.cancel)?;
        let statistics = RunStatistics::default();
        let admitted = &admitted;
        let mut scan = SharedScan { graph, scheduler, admitted, options, has_weights, statistics };
        let result = body(&mut scan)?;
        Ok((result, scan.statistics))
    })
}

impl SharedScan<'_> {
    /// Shows all edges from active vertices to `visit`, in blocks of up to 4096, and returns when
    /// it has seen all. Bit `v % 64` of word `v / 64` of `active` tells whether vertex `v` is
    /// active; without a set, all vertices are active. Edges come in no particular order, and
    /// several workers call `visit` at once. Tiles without an active source are not read.
    ///
    /// # Errors
    /// Read errors; cancellation; [`WorkerFailed`](tegula_machine::Error::WorkerFailed) if `visit`
    /// panics. `visit` may have seen some of the edges then.
    ///
    /// # Panics
    /// When `active` has another number of words than `vertex_count.div_ceil(64)`.
    pub fn scan(
        &mut self,
        active: Option<&[u64]>,
        visit: &(dyn Fn(EdgeBlock<'_>) + Sync),
    ) -> Result<()> {
        let vertex_count = self.graph.vertex_count() as usize;
        let active = active.map(|words| {
            assert_eq!(words.len(), vertex_count.div_ceil(64), "a bit for each vertex");
            let mut set = ActiveSet::new(vertex_count);
            set.replace(words.to_vec());
            set
        });
        let started = Instant::now();
        let mut scan = ForeignScan {
            graph: self.graph,
            visit,
            active,
            has_weights: self.has_weights,
            instructions: self.options.tuning.instructions,
            has_begun: false,
            scanned: Mutex::default(),
        };
        self.scheduler.work_off(&mut scan, self.admitted, &self.options.cancel)?;
        self.statistics.add_iteration(ProcessKind::Scan, None, started.elapsed());
        self.statistics.add_scan(&unlocked(scan.scanned), self.graph);
        self.options.progress.advance(1);
        Ok(())
    }
}
