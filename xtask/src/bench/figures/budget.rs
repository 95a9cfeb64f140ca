//! Budgets of memory in proportion to the graph.

use crate::bench::graphs::Made;
use crate::bench::lab::{Lab, SCALE};
use crate::tegula::Result;
use crate::tegula::command::whole;

/// Returns a budget: `memory` at the scale of targets, and in proportion at other scales. It is at
/// least what the run needs, because the needs do not shrink with small graphs.
pub fn memory_for(
    lab: &Lab<'_>,
    algorithm: &str,
    graph: &Made,
    options: &[&str],
    memory: u64,
) -> Result<u64> {
    let memory = (memory << lab.settings.scale) >> SCALE;
    let estimate = lab.run(algorithm, &graph.graph, None, &[options, &["--estimate"]].concat())?;
    let needed = whole(&estimate, "/needed_bytes")?;
    Ok(memory.max(needed + needed / 16))
}
