//! Memory for the messages between ranks.

use tegula_store::graph::Graph;

use crate::options::RunOptions;
use crate::program::{Message, Program};

/// Returns the bytes that a run needs to talk to other ranks, if there are any. They hold the lists
/// of sources, and messages or states on their way. No rank waits until another takes a message, so
/// those of all others may lie here, and its own for all others.
pub fn ranks_size<P: Program>(graph: &Graph, options: &RunOptions<'_>) -> u64 {
    let (Some(comm), Some(partition)) = (options.ranks, graph.partition()) else { return 0 };
    let own = partition.vertices();
    let (own, others) = (own.end - own.start, comm.size() as u64 - 1);
    let lists = (graph.vertex_count() + own * others) / 8;
    let size = size_of::<Message<P>>().max(size_of::<P::State>()) as u64;
    lists + size * (graph.vertex_count() + own * others)
}
