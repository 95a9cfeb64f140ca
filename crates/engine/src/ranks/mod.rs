//! Ranks: several processes, or threads, that run one program on a partitioned graph.
//!
//! ```text
//!  generate     own vertices
//!  exchange     to each other rank: the messages of the sources that have an edge there
//!  process      own tiles: all edges into own targets
//!  apply        own vertices
//!  agree        sums by batch, active vertices, open targets: one small message
//! ```
//!
//! Arrays cover all vertices of the whole graph, but a rank fills in only the states of its own.
//! All ranks take the same decisions, because they take them from the same numbers. No decision
//! depends on a clock. (Filtered and dispatched messages are those of DFOGraph, Yu et al., PPoPP
//! 2021, section 4. That each rank owns its targets and reads no states of others is an idea of
//! GraM, Wu et al., SoCC 2015, section 3.)

mod agree;
mod failure;
mod lists;
mod states;
mod statistics;
mod tags;
mod times;
mod wire;

use std::ops::Range;

use tegula_comm::Comm;
use tegula_machine::disk::crc32c;
use tegula_machine::threads::Cancel;
use tegula_store::graph::Graph;
use tegula_store::{Error, Result};

use crate::program::Value;
use crate::statistics::RankStatistics;
pub use agree::Standing;
pub use failure::of_comm;
use failure::rank_failed;
use lists::{Lists, words_of};
use times::Times;
use wire::{Incoming, Outgoing};

/// The ranks of a run, as one of them sees them.
pub struct Ranks<'r> {
    comm: &'r dyn Comm,
    cancel: Cancel,
    /// The vertices of each rank.
    vertices: Vec<Range<usize>>,
    lists: Lists,
    times: Times,
    /// The bytes of messages before the run.
    before: RankStatistics,
}

impl<'r> Ranks<'r> {
    /// Meets the other ranks of a run on a graph that is open [for ranks](Graph::for_ranks). Each
    /// rank tells each other one which sources have an edge there.
    ///
    /// # Errors
    /// [`Error::NotAPartition`] where the number of ranks is not that of the partition, or this is
    /// the shard of another rank; failed reads; the failure of another rank.
    pub fn meet(comm: &'r dyn Comm, graph: &Graph, cancel: &Cancel) -> Result<Ranks<'r>> {
        let partition = check_shard(comm, graph)?;
        check_same_graph(comm, graph, cancel)?;
        let vertices = (0..comm.size()).map(|rank| {
            let vertices = partition.vertices_of(rank);
            vertices.start as usize..vertices.end as usize
        });
        let vertices: Vec<Range<usize>> = vertices.collect();
        let before = RankStatistics {
            bytes_sent: comm.bytes_sent(),
            bytes_received: comm.bytes_received(),
            ..RankStatistics::default()
        };
        let lists = Lists::meet(comm, graph, &vertices, cancel)?;
        let (cancel, times) = (cancel.clone(), Times::default());
        Ok(Ranks { comm, cancel, vertices, lists, times, before })
    }

    /// Returns the vertices of this rank.
    pub fn own_vertices(&self) -> Range<usize> {
        self.vertices[self.comm.rank()].clone()
    }

    /// Sends the published messages of own vertices to the ranks that need them, and takes those of
    /// the others. `published` has a bit for each vertex whose message may differ from the
    /// identity. The ranks begin with different receivers, so that they rarely send to one at the
    /// same time.
    ///
    /// # Errors
    /// Cancellation; the failure of another rank.
    pub fn exchange<M: Value + PartialEq>(
        &self,
        messages: &mut [M],
        published: &mut [u64],
        identity: M,
    ) -> Result<()> {
        let _timing = self.times.exchanging.start();
        let (rank, size) = (self.comm.rank(), self.comm.size());
        for step in 1..size {
            self.cancel.check()?;
            let (to, from) = ((rank + step) % size, (rank + size - step) % size);
            let own = self.own_vertices();
            let sent = Outgoing {
                messages: &messages[own.clone()],
                published: &published[words_of(&own)],
                list: &self.lists.wanted_by[to],
            };
            let comm = self.comm;
            sent.send(comm.message_size_max(), &mut |packet| {
                comm.send(to, tags::MESSAGES, packet).map_err(of_comm)
            })?;
            let theirs = self.vertices[from].clone();
            let mut places = Incoming {
                published: &mut published[words_of(&theirs)],
                messages: &mut messages[theirs],
                list: &self.lists.wanted_from[from],
                identity,
            };
            places.receive(
                &mut || comm.receive(from, tags::MESSAGES, &self.cancel).map_err(of_comm),
                &|detail| rank_failed(from, detail),
            )?;
        }
        Ok(())
    }
}

/// Checks that a graph is the shard of this rank.
///
/// # Errors
/// [`Error::NotAPartition`].
pub fn check_shard<'g>(
    comm: &dyn Comm,
    graph: &'g Graph,
) -> Result<&'g tegula_store::graph::Partition> {
    let refused = |detail: String| Error::not_a_partition(graph.directory(), detail);
    let partition = graph.partition().filter(|_| graph.is_for_ranks());
    let partition = partition.ok_or_else(|| refused("it holds a whole graph".to_owned()))?;
    if partition.ranks() != comm.size() {
        let (shards, ranks) = (partition.ranks(), comm.size());
        return Err(refused(format!("it has {shards} shards, but there are {ranks} ranks")));
    }
    if partition.rank as usize != comm.rank() {
        let (found, wanted) = (partition.rank, comm.rank());
        return Err(refused(format!("it is the shard of rank {found}, not of rank {wanted}")));
    }
    Ok(partition)
}

/// Checks that all ranks have the same version of the software and shards of the same graph.
fn check_same_graph(comm: &dyn Comm, graph: &Graph, cancel: &Cancel) -> Result<()> {
    let partition = graph.partition().map(|partition| (&partition.cuts, &partition.whole));
    let told = serde_json::to_vec(&(env!("CARGO_PKG_VERSION"), partition));
    let told = told.map_err(|error| Error::io("describe", graph.directory())(error.into()))?;
    let digest = crc32c(&told).to_le_bytes().to_vec();
    let all = comm.all_gather(digest, tags::GRAPH, cancel).map_err(of_comm)?;
    let detail =
        "it is a shard of another graph than that of rank 0, or of another version of tegula";
    match all.iter().position(|digest| *digest != all[0]) {
        Some(_) if all[comm.rank()] != all[0] => {
            Err(Error::not_a_partition(graph.directory(), detail))
        }
        Some(rank) => Err(rank_failed(rank, detail.to_owned())),
        None => Ok(()),
    }
}
