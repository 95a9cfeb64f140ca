//! Ranks: several processes, or threads, that run one program on a partitioned graph.
//!
//! ```text
//!  generate     own vertices
//!  exchange     to each other rank: the messages of the sources that have an edge there
//!  process      own tiles: all edges into own targets
//!  apply        own vertices
//!  agree        sums by batch, active chunks, open targets: one message
//! ```
//!
//! Messages travel segment by segment. So it makes no difference to the others whether a rank has
//! its arrays in memory or on disk, and whether it scans meanwhile.
//!
//! Arrays cover all vertices of the whole graph, but a rank fills in only the states of its own.
//! All ranks take the same decisions, because they take them from the same numbers. No decision
//! depends on a clock. (Filtered and dispatched messages are those of DFOGraph, Yu et al., PPoPP
//! 2021, section 4. That each rank owns its targets and reads no states of others is an idea of
//! GraM, Wu et al., SoCC 2015, section 3.)

mod agree;
mod checkpoints;
mod failure;
mod intervals;
mod lists;
mod states;
mod statistics;
mod tags;
mod times;
mod transfer;
mod wire;

use std::ops::Range;
use std::sync::Mutex;

use tegula_comm::{Comm, Tag};
use tegula_machine::disk::crc32c;
use tegula_machine::threads::Cancel;
use tegula_store::graph::Graph;
use tegula_store::{Error, Result};

use crate::program::Value;
use crate::states::cut::{indices, shared};
pub use agree::Standing;
pub use failure::of_comm;
use failure::rank_failed;
use intervals::Intervals;
use lists::Lists;
pub use lists::{messages_to_receive, words_of};
use times::{Times, Timing};
pub use transfer::packets_size;
use transfer::{OnTheirWay, Transfer};
use wire::{Incoming, Outgoing};

/// The ranks of a run, as one of them sees them.
pub struct Ranks<'r> {
    comm: &'r dyn Comm,
    cancel: Cancel,
    /// The vertices of each rank.
    vertices: Vec<Range<usize>>,
    segments: Vec<Range<usize>>,
    lists: Lists,
    on_their_way: OnTheirWay,
    times: Times,
    intervals: Mutex<Intervals>,
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
        // Begun before the lists travel: their bytes belong to the first interval.
        let intervals = Mutex::new(Intervals::start(comm));
        let lists = Lists::meet(comm, graph, &vertices, cancel)?;
        let (grid, count) = (graph.grid(), graph.vertex_count());
        let segments = 0..grid.segment_count(count);
        let segments = segments.map(|segment| indices(grid.sources(segment, count))).collect();
        // A child, so that `give_up` ends the waits of this run and not its caller.
        let (cancel, times) = (cancel.child(), Times::default());
        let on_their_way = OnTheirWay::new(comm.size());
        Ok(Ranks { comm, cancel, vertices, segments, lists, on_their_way, times, intervals })
    }

    /// Returns the vertices of this rank.
    pub fn own_vertices(&self) -> Range<usize> {
        self.vertices[self.comm.rank()].clone()
    }

    /// Returns the sources of each segment.
    pub fn segments(&self) -> &[Range<usize>] {
        &self.segments
    }

    /// Sends the published messages of the own sources of a segment to the ranks that need them,
    /// and receives the messages of other ranks. `published` has a bit for each source whose
    /// message may differ from the identity. The ranks begin with different receivers, so that they
    /// rarely send to one at the same time. Any thread may call this, but one at a time.
    ///
    /// # Errors
    /// Cancellation; the failure of another rank.
    pub fn exchange<M: Value + PartialEq>(
        &self,
        segment: usize,
        messages: &mut [M],
        published: &mut [u64],
        identity: M,
    ) -> Result<()> {
        let _timing = self.times.exchanging.start();
        let (rank, size) = (self.comm.rank(), self.comm.size());
        let own = self.own_sources(segment);
        for step in 1..size {
            self.cancel.check()?;
            let (to, from) = ((rank + step) % size, (rank + size - step) % size);
            let theirs = self.sources_of(segment, from);
            let [own_messages, messages] = disjoint(messages, [own.clone(), theirs.clone()]);
            let [own_published, published] =
                disjoint(published, [words_of(&own), words_of(&theirs)]);
            let sent = Outgoing {
                messages: &*own_messages,
                published: &*own_published,
                list: self.lists.wanted_by[to].among(&self.of_rank(segment, rank)),
            };
            let wanted = self.lists.wanted_from[from].among(&self.of_rank(segment, from));
            let mut places = Incoming::new(messages, published, wanted, identity);
            let transfer = self.transfer((to, from), tags::MESSAGES);
            let mut take = || {
                // The other rank may send fewer packets than this one.
                if places.is_complete() {
                    return Ok(false);
                }
                let taken = places.take(&transfer.take()?);
                taken.map(|()| true).map_err(|detail| rank_failed(from, detail))
            };
            // A receiver expects no packet of a rank that has no source in the segment.
            if !own.is_empty() {
                sent.send(transfer.packet_size(), &mut |packet| {
                    // Each round sends a packet and takes one, so no rank waits for ever (see
                    // `transfer`).
                    transfer.send(packet)?;
                    take().map(drop)
                })?;
            }
            while take()? {}
        }
        Ok(())
    }

    /// Begins a time in which workers wait for messages. It ends when the result is dropped.
    pub fn begin_wait(&self) -> Timing<'_> {
        self.times.exchanging_alone.start()
    }

    /// Ends all waits for other ranks, because this one has failed.
    pub fn give_up(&self) {
        self.cancel.cancel();
    }

    fn transfer(&self, between: (usize, usize), tag: Tag) -> Transfer<'_> {
        let own = (&self.on_their_way, &self.times.waiting);
        Transfer::new(self.comm, &self.cancel, own, between, tag)
    }

    /// Returns the own sources in a segment, counted from the first source of the segment.
    pub fn own_sources(&self, segment: usize) -> Range<usize> {
        self.sources_of(segment, self.comm.rank())
    }

    /// Returns the same for any rank.
    fn sources_of(&self, segment: usize, rank: usize) -> Range<usize> {
        counted_from(&self.segments[segment], &self.vertices[rank], self.segments[segment].start)
    }

    /// Returns the sources of a rank in a segment, counted from the first vertex of the rank.
    fn of_rank(&self, segment: usize, rank: usize) -> Range<usize> {
        counted_from(&self.segments[segment], &self.vertices[rank], self.vertices[rank].start)
    }
}

/// Returns the vertices that two ranges share, counted from a vertex. It is `0..0` if there are
/// none.
fn counted_from(one: &Range<usize>, other: &Range<usize>, first: usize) -> Range<usize> {
    let both = shared(one, other);
    // Without common vertices, the subtraction would underflow.
    if both.is_empty() { both } else { both.start - first..both.end - first }
}

/// Returns two ranges of a slice, which share nothing.
fn disjoint<T>(all: &mut [T], ranges: [Range<usize>; 2]) -> [&mut [T]; 2] {
    let Ok(both) = all.get_disjoint_mut(ranges) else { unreachable!("no two ranks own a vertex") };
    both
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
        // A rank that differs from rank 0 can name its directory. The others know only its number.
        Some(_) if all[comm.rank()] != all[0] => {
            Err(Error::not_a_partition(graph.directory(), detail))
        }
        Some(rank) => Err(rank_failed(rank, detail.to_owned())),
        None => Ok(()),
    }
}
