//! Partitions a graph among ranks, and puts it together again.
//!
//! ```text
//!  graph          columns of tiles, filed by batch
//!    |  cut       each rank gets a contiguous range of batches
//!    v
//!  rank-0.tegula  the tiles into its own targets; all other batches are empty
//!  rank-1.tegula  ..
//! ```
//!
//! A shard is a graph directory like any other. It has all vertices with their ids, so a rank finds
//! any vertex by itself. Its out-degrees count only its own edges. A vertex whose out-degree is 0
//! sends nothing to this rank, so these degrees are the list of senders. The degrees of the whole
//! graph lie beside them. Tiles are copied as they are. So the shards hold the bytes of the graph,
//! and a graph that is put together again has them too. (A contiguous range of vertices for each
//! machine is the first level of DFOGraph's partition, Yu et al., PPoPP 2021, section 3.1.)

mod cut;
mod degrees;
mod shards;
mod write;

pub use cut::Balance;
pub use shards::{Shards, shard_paths};
pub use write::{Gathering, gather, split};
