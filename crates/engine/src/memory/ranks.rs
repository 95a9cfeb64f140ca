//! Memory for the messages between ranks.

use tegula_store::graph::Graph;

use crate::ranks::packets_size;
use crate::states::cut::Cut;

/// Blocks of states in memory while the states of all ranks come together.
const STATE_BLOCKS: u64 = 4;

/// Returns the bytes that a run with states of `state_size` bytes needs to talk to other ranks: for
/// the lists of sources, for packets on their way, and for blocks of states. 0 if the graph is not
/// open [for ranks](Graph::for_ranks).
pub fn ranks_size(graph: &Graph, state_size: usize) -> u64 {
    let Some(partition) = graph.partition().filter(|_| graph.is_for_ranks()) else { return 0 };
    let (own, ranks) = (partition.vertices(), partition.ranks());
    let lists = (graph.vertex_count() + (own.end - own.start) * (ranks as u64 - 1)) / 8;
    lists + packets_size(ranks) + STATE_BLOCKS * (Cut::of(graph).size_max() * state_size) as u64
}
