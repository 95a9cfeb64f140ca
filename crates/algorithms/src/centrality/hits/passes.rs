//! The power method in passes over tiles.

use std::mem;

use tegula_engine::traverse::Directions;
use tegula_engine::{Estimate, Graph, ProgressUnit, RunOptions, RunStatistics, States, Sum};

use super::share::{Total, scale, shares, value_of};
use super::values::HubAndAuthority;
use crate::error::Result;
use crate::passes::Passes;

/// The result of the passes.
#[derive(Debug)]
pub struct HitsInPasses {
    /// The values of each vertex.
    pub values: States<HubAndAuthority>,
    /// The change of the hubs in the last iteration (L1); infinite without an iteration.
    pub change: f64,
    /// Statistics of the run; each iteration has two passes over edges.
    pub statistics: RunStatistics,
}

/// Estimates the memory of [`run_in_passes`].
pub fn estimate_in_passes(graph: &Graph, threads: usize) -> Estimate {
    Passes::estimate::<HubAndAuthority, Sum<u128>>(graph, threads, Directions::Reverse)
}

/// Iterates until the hubs change by at most `tolerance`, at most `max_iterations` times, in passes
/// over tiles. Arrays may lie on disk, and there may be ranks. The values are the same as along
/// rows.
///
/// # Errors
/// [`OverBudget`](tegula_machine::Error::OverBudget); errors of reading and writing; cancellation; the
/// failure of another rank.
pub fn run_in_passes(
    graph: &Graph,
    (tolerance, max_iterations): (f64, u64),
    options: &RunOptions<'_>,
) -> Result<HitsInPasses> {
    let mut passes = Passes::new(graph, options);
    let count = graph.vertex_count();
    let hub = 1.0 / count.max(1) as f64;
    passes.prepare(Directions::Reverse)?;
    let begin = HubAndAuthority { hub, authority: 0.0, next: 0.0 };
    let mut values = passes.vertex_array("hubs and authorities", |_| begin)?;
    // Without values, nothing changes.
    let mut change = if count == 0 { 0.0 } else { f64::INFINITY };
    let mut iterations = 0;
    // The first change is infinite, and so may the tolerance be. The first iteration runs anyway.
    while iterations < max_iterations && (iterations == 0 || change > tolerance) {
        options.progress.begin("iterating", Some(max_iterations), ProgressUnit::Iterations);
        options.progress.advance(iterations);
        let authorities = passes.process_edges::<_, Sum<u128>, Total>(
            Directions::Forward,
            &mut values,
            |_, value| Some(shares(value.hub)),
            |_, value, sum, total| {
                value.authority = value_of(sum);
                total.0 += sum;
            },
        )?;
        let authority_scale = scale(&authorities);
        let hubs = passes.process_edges::<_, Sum<u128>, Total>(
            Directions::Reverse,
            &mut values,
            // The total is known only after the pass, so values are scaled on their way out. The
            // product is the same as along rows, and so are its bits.
            |_, value| Some(shares(value.authority * authority_scale)),
            |_, value, sum, total| {
                value.next = value_of(sum);
                total.0 += sum;
            },
        )?;
        let hub_scale = scale(&hubs);
        let changes = passes.process_vertices(&mut values, |_, value, changes: &mut Total| {
            value.authority *= authority_scale;
            let before = mem::replace(&mut value.hub, value.next * hub_scale);
            changes.0 += shares((value.hub - before).abs());
        })?;
        change = value_of(changes.0);
        iterations += 1;
    }
    options.progress.end();
    let values = passes.into_states(values)?;
    Ok(HitsInPasses { values, change, statistics: passes.statistics().clone() })
}
