//! How much room it takes to look up a value for each vertex of a graph.

use tegula_store::graph::Graph;

use super::plan::Plan;
use crate::external::cut::Cut;
use crate::external::states::state_blocks;
use crate::overhead::room_for_result;

/// How values of `value_size` bytes are looked up for all vertices, beside `held` bytes.
pub fn plan_of(graph: &Graph, value_size: usize, held: u64) -> Plan {
    let cut = Cut::of(graph);
    // Blocks are read whole.
    let least = 2 * (cut.size_max() * value_size) as u64;
    let room = room_for_result(graph).saturating_sub(held).max(least);
    Plan::new(cut.vertex_count(), value_size, room)
}

/// Bytes of the files in which a value of `value_size` bytes is looked up for each vertex: what is sorted, and the
/// values that are found.
pub fn look_up_file_size(graph: &Graph, value_size: usize, entry_size: usize) -> u64 {
    let cut = Cut::of(graph);
    let sorted = plan_of(graph, value_size, 0).file_size(cut.vertex_count(), entry_size);
    sorted + state_blocks(&cut, value_size).file_size()
}
