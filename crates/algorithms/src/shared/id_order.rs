//! The ascending order of the original ids, which decides between equal results.

use tegula_engine::{Estimate, Graph};
use tegula_store::graph::file_names;

use crate::error::Result;

/// Returns whether id positions differ from dense ids.
pub(crate) fn has_order(graph: &Graph) -> bool {
    graph.manifest().file(file_names::ORDER).is_some()
}

/// Returns the estimate of a run that streams the order of the vertices after it has freed the
/// tiles.
pub(crate) fn with_order_streamed(estimate: Estimate, graph: &Graph) -> Result<Estimate> {
    let order = graph.original_ids()?.for_each_id_position_size();
    let stream_bytes_min = estimate.stream_bytes_min.max(order);
    Ok(Estimate { stream_bytes_min, ..estimate })
}
