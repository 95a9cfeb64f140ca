//! Writes the edges of a graph to a file, as pairs of dense ids.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::ops::ControlFlow;
use std::path::Path;

use tegula_comm::{Comm, Tag};
use tegula_engine::traverse::Directions;
use tegula_engine::{Error, Graph, ProgressUnit, RunOptions, of_comm};
use tegula_machine::threads::Cancel;
use tegula_store::graph::Partition;
use zerocopy::IntoBytes;
use zerocopy::little_endian::{U32, U64};

use crate::error::Result;

/// Bytes of the buffer before the file.
const BUFFER_SIZE: usize = 1 << 20;
/// Bytes of pairs that a rank may send to all others before it takes theirs.
const ROUND_SIZE: usize = 4 << 20;
const PAIRS: Tag = Tag(103);

/// Writes the edges of a graph in other directions. On ranks, the file gets the edges of all ranks
/// whose targets are of this rank.
///
/// # Errors
/// Errors of reading and writing; cancellation; the failure of another rank.
pub(super) fn write_pairs(
    graph: &Graph,
    directions: Directions,
    path: &Path,
    options: &RunOptions<'_>,
) -> Result<()> {
    let failed = || Error::io("write", path);
    let file = File::create_new(path).map_err(failed())?;
    let out = BufWriter::with_capacity(BUFFER_SIZE, file);
    let others = options.ranks.zip(graph.partition());
    let others = others.map(|(comm, partition)| Others::new(comm, partition, &options.cancel));
    let mut pairs = Pairs { out, path, is_short: graph.has_short_ids(), others };
    let edges = graph.tiles().iter().map(|tile| u64::from(tile.summary.edge_count)).sum();
    options.progress.begin("copying edges", Some(edges), ProgressUnit::Edges);
    graph.for_each_tile(
        |_| true,
        false,
        &options.cancel,
        |index, tile, _| {
            let mut written = Ok(());
            let visit = |_, source: u64, target: u64| {
                // The visit cannot end early.
                if written.is_ok() {
                    written = pairs.add(graph, directions, source, target);
                }
            };
            let visited = graph.for_each_edge(index, tile, visit);
            visited.map_err(|detail| graph.damaged_tile(index, detail))?;
            written?;
            options.progress.advance(u64::from(graph.tiles()[index].summary.edge_count));
            Ok::<_, Error>(ControlFlow::Continue(()))
        },
    )?;
    pairs.finish()?;
    options.progress.end();
    Ok(())
}

/// The file, and what travels to other ranks.
struct Pairs<'p> {
    out: BufWriter<File>,
    path: &'p Path,
    is_short: bool,
    others: Option<Others<'p>>,
}

impl Pairs<'_> {
    /// Adds the pairs of an edge that is stored from `source` to `target`. One machine leaves the
    /// second direction to the import.
    fn add(
        &mut self,
        graph: &Graph,
        directions: Directions,
        source: u64,
        target: u64,
    ) -> tegula_engine::Result<()> {
        if directions != Directions::Reverse {
            self.write(source, target)?;
        }
        let is_other_wanted = match directions {
            Directions::Forward => false,
            Directions::Reverse => true,
            // A loop has one direction, as in an import.
            Directions::Both => {
                source != target && self.others.is_some() && !graph.manifest().undirected
            }
        };
        if is_other_wanted { self.route(target, source) } else { Ok(()) }
    }

    /// Writes a pair to the file, or sends it to the rank of its target.
    fn route(&mut self, source: u64, target: u64) -> tegula_engine::Result<()> {
        let rank = match &self.others {
            Some(others) => others.rank_of(target),
            None => return self.write(source, target),
        };
        let is_short = self.is_short;
        let Some(others) = self.others.as_mut().filter(|others| others.comm.rank() != rank) else {
            return self.write(source, target);
        };
        with_bytes(is_short, source, target, |bytes| others.buffers[rank].extend_from_slice(bytes));
        if others.buffers[rank].len() >= others.buffer_size {
            self.swap(false)?;
        }
        Ok(())
    }

    fn write(&mut self, source: u64, target: u64) -> tegula_engine::Result<()> {
        let Pairs { out, path, is_short, .. } = self;
        let written = with_bytes(*is_short, source, target, |bytes| out.write_all(bytes));
        written.map_err(Error::io("write", path))
    }

    /// Sends the buffered pairs to all other ranks, and writes the pairs that they send. Returns
    /// whether all ranks have read their tiles. All ranks call it equally often.
    fn swap(&mut self, is_last: bool) -> tegula_engine::Result<bool> {
        let Some(others) = &mut self.others else { return Ok(true) };
        let pair_size = if self.is_short { 2 * size_of::<u32>() } else { 2 * size_of::<u64>() };
        let mut are_done = is_last;
        let all = || (0..others.comm.size()).filter(|&rank| rank != others.comm.rank());
        for rank in all() {
            let buffer = &mut others.buffers[rank];
            buffer[0] = u8::from(is_last);
            others.comm.send_long(rank, PAIRS, buffer).map_err(of_comm)?;
            buffer.truncate(1);
        }
        for rank in all() {
            let bytes = others.comm.receive_long(rank, PAIRS, others.cancel).map_err(of_comm)?;
            let (is_done, pairs) = match bytes.split_first() {
                Some((&flag, pairs)) if pairs.len().is_multiple_of(pair_size) => (flag != 0, pairs),
                _ => {
                    let detail = format!("it sent {} bytes of pairs", bytes.len());
                    return Err(Error::RankFailed { rank, detail });
                }
            };
            are_done &= is_done;
            self.out.write_all(pairs).map_err(Error::io("write", self.path))?;
        }
        Ok(are_done)
    }

    /// Takes pairs until every rank has sent its last ones, and closes the file.
    fn finish(mut self) -> tegula_engine::Result<()> {
        // Other ranks may not have read all of their tiles yet.
        while !self.swap(true)? {}
        let closed = self.out.into_inner();
        closed.map_err(|error| Error::io("write", self.path)(error.into_error()))?;
        Ok(())
    }
}

/// Calls `take` with the bytes of a pair.
fn with_bytes<R>(is_short: bool, source: u64, target: u64, take: impl FnOnce(&[u8]) -> R) -> R {
    match is_short {
        true => take([source, target].map(|end| U32::new(end as u32)).as_bytes()),
        false => take([source, target].map(U64::new).as_bytes()),
    }
}

/// The other ranks, and the pairs on their way to them.
struct Others<'o> {
    comm: &'o dyn Comm,
    cancel: &'o Cancel,
    partition: &'o Partition,
    /// For each rank: a byte that says whether these are its last pairs, and the pairs.
    buffers: Vec<Vec<u8>>,
    buffer_size: usize,
}

impl<'o> Others<'o> {
    fn new(comm: &'o dyn Comm, partition: &'o Partition, cancel: &'o Cancel) -> Others<'o> {
        let buffer_size = ROUND_SIZE / comm.size();
        Others { comm, cancel, partition, buffers: vec![vec![0]; comm.size()], buffer_size }
    }

    /// Returns the rank with the edges into a target.
    fn rank_of(&self, target: u64) -> usize {
        self.partition.cuts.partition_point(|&cut| cut <= target) - 1
    }
}
