//! How much memory and disk it takes to look up a value for each vertex of a graph.

use tegula_store::graph::Graph;

use super::plan::LookUpPlan;
use crate::memory::room_for_result;
use crate::states::cut::Cut;
use crate::states::state_blocks;

/// Returns the plan to look up values of `value_size` bytes for all vertices, beside `held` bytes.
pub fn plan_of(graph: &Graph, value_size: usize, held: u64) -> LookUpPlan {
    let cut = Cut::of(graph);
    // Blocks are read whole.
    let least = 2 * (cut.size_max() * value_size) as u64;
    let room = room_for_result(graph).saturating_sub(held).max(least);
    LookUpPlan::new(cut.vertex_count(), value_size, room)
}

/// Returns the bytes of the files for looking up a value of `value_size` bytes for each vertex:
/// sorted entries, and found values.
pub fn look_up_file_size(graph: &Graph, value_size: usize, entry_size: usize) -> u64 {
    let cut = Cut::of(graph);
    let sorted = plan_of(graph, value_size, 0).file_size(cut.vertex_count(), entry_size);
    sorted + state_blocks(&cut, value_size).file_size()
}
