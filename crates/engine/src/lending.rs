//! Memory of a scheduler for work that is none of its jobs.

use tegula_store::graph::Graph;
use tegula_store::{Error, Result};

use crate::options::RunOptions;
use crate::scheduler::MemoryDemand;

/// Waits for memory on the scheduler of the options, or on a new one, and calls `body` with the
/// granted bytes. These are at least `least`, beside the [overhead](crate::overhead()) of the graph
/// and the least bytes for reading its tiles. Without other jobs they are all that is free. Until
/// `body` returns, other jobs do not get them.
///
/// # Errors
/// [`OverBudget`](tegula_machine::Error::OverBudget) before `body` is called; cancellation; the
/// errors of `body`.
pub fn with_memory<R, E: From<Error>>(
    graph: &Graph,
    least: u64,
    options: &RunOptions<'_>,
    body: impl FnOnce(u64) -> Result<R, E>,
) -> Result<R, E> {
    let is_alone = options.scheduler.is_none();
    options.with_scheduler(graph, |scheduler| {
        let takes_of = |free| if is_alone { free } else { 0 };
        let demand = MemoryDemand::both("the run", least, false, takes_of);
        let admitted = scheduler.ledger().admit(&[demand], options.reserve, &options.cancel)?;
        body(least + admitted.taken)
    })
}
