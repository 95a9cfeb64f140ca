//! The lists of sources by which messages are filtered.

use std::ops::Range;

use tegula_comm::Comm;
use tegula_machine::threads::Cancel;
use tegula_store::graph::Graph;
use tegula_store::{Error, Result};
use zerocopy::{FromBytes, IntoBytes};

use super::failure::{of_comm, rank_failed};
use super::tags;
use super::wire::messages_sent;
use crate::states::cut::{indices, shared};

/// Some vertices of a rank.
pub struct SourceList {
    /// A bit for each vertex of the rank.
    words: Vec<u64>,
    /// Number of vertices in the list.
    count: usize,
}

impl SourceList {
    pub fn new(words: Vec<u64>) -> SourceList {
        let count = count_of(&words);
        SourceList { words, count }
    }

    /// Returns the listed ones of some vertices of the rank, which are counted from its first one.
    /// They begin with a word.
    pub fn among(&self, vertices: &Range<usize>) -> Listed<'_> {
        let words = &self.words[words_of(vertices)];
        // A graph of one segment asks for all vertices in each iteration, so these are counted only
        // once.
        let is_all = words.len() == self.words.len();
        Listed { words, count: if is_all { self.count } else { count_of(words) } }
    }
}

fn count_of(words: &[u64]) -> usize {
    words.iter().map(|word| word.count_ones() as usize).sum()
}

/// The listed ones of some vertices.
#[derive(Debug, Clone, Copy)]
pub struct Listed<'l> {
    /// A bit for each vertex.
    pub words: &'l [u64],
    /// Number of listed vertices.
    pub count: usize,
}

impl<'l> Listed<'l> {
    /// Returns the listed vertices, counted from the first vertex.
    pub fn vertices(self) -> ListedVertices<'l> {
        let (first, others) = self.words.split_first().map_or((0, &[][..]), |(&f, o)| (f, o));
        ListedVertices { rest: first, base: 0, others }
    }
}

/// The vertices of a list that are left, ascending.
pub struct ListedVertices<'l> {
    /// The bits of the present word that are left.
    rest: u64,
    /// The vertex of its lowest bit.
    base: usize,
    others: &'l [u64],
}

impl ListedVertices<'_> {
    /// Visits the next `count` vertices, or those that are left.
    #[inline]
    pub fn for_each_of(&mut self, count: usize, mut visit: impl FnMut(usize)) {
        let mut left = count;
        while left > 0 {
            if self.rest == 0 {
                let Some((&next, others)) = self.others.split_first() else { return };
                (self.rest, self.base, self.others) = (next, self.base + 64, others);
            }
            // The word stays in a register.
            let mut rest = self.rest;
            while rest != 0 && left > 0 {
                visit(self.base + rest.trailing_zeros() as usize);
                rest &= rest - 1;
                left -= 1;
            }
            self.rest = rest;
        }
    }
}

/// The lists of sources of one rank, by rank; its own are empty.
pub struct Lists {
    /// For each other rank, the sources of this rank that have an edge there.
    pub wanted_by: Vec<SourceList>,
    /// For each other rank, its sources that have an edge here.
    pub wanted_from: Vec<SourceList>,
}

impl Lists {
    /// Finds the sources that have an edge here, and tells the ranks that own them.
    pub fn meet(
        comm: &dyn Comm,
        graph: &Graph,
        vertices: &[Range<usize>],
        cancel: &Cancel,
    ) -> Result<Lists> {
        let words = wanted(graph, cancel)?;
        let of_rank = |rank: usize| match rank == comm.rank() {
            true => SourceList::new(Vec::new()),
            false => SourceList::new(words[words_of(&vertices[rank])].to_vec()),
        };
        let wanted_from: Vec<SourceList> = (0..comm.size()).map(of_rank).collect();
        let others = || (0..comm.size()).filter(|&rank| rank != comm.rank());
        // Sending never waits for the receiver, so all ranks may send before any of them receives.
        for rank in others() {
            let bytes = wanted_from[rank].words.as_bytes();
            comm.send_long(rank, tags::LISTS, bytes).map_err(of_comm)?;
        }
        let own = vertices[comm.rank()].len().div_ceil(64);
        let mut wanted_by: Vec<SourceList> =
            (0..comm.size()).map(|_| SourceList::new(Vec::new())).collect();
        for rank in others() {
            let bytes = comm.receive_long(rank, tags::LISTS, cancel).map_err(of_comm)?;
            let words: Vec<u64> = bytes.chunks_exact(8).map(word_of).collect();
            let last = words.last().copied().unwrap_or(0);
            let beyond = vertices[comm.rank()].len() % 64;
            // A bit behind the last vertex would be counted as a source.
            let has_others = beyond > 0 && last >> beyond != 0;
            if bytes.len() != 8 * own || has_others {
                let detail =
                    format!("it sent a list of sources that does not fit: {} bytes", bytes.len());
                return Err(rank_failed(rank, detail));
            }
            wanted_by[rank] = SourceList::new(words);
        }
        Ok(Lists { wanted_by, wanted_from })
    }
}

/// Returns a bit for each vertex that has an edge here.
fn wanted(graph: &Graph, cancel: &Cancel) -> Result<Vec<u64>> {
    let mut words = vec![0u64; graph.short_vertex_count()?.div_ceil(64) as usize];
    graph.for_each_own_degrees(|first, degrees| {
        cancel.check()?;
        let words = &mut words[first as usize / 64..];
        for (word, degrees) in words.iter_mut().zip(degrees.chunks(64)) {
            let bits = degrees.iter().enumerate();
            *word = bits.fold(0, |word, (bit, &degree)| word | u64::from(degree > 0) << bit);
        }
        Ok(())
    })?;
    Ok(words)
}

/// Returns how many messages other ranks send to this one if all vertices have one. The graph must be
/// open [for ranks](Graph::for_ranks).
///
/// # Errors
/// [`Error::NotAPartition`] where the directory holds a whole graph; failed reads; cancellation.
pub fn messages_to_receive(graph: &Graph, cancel: &Cancel) -> Result<u64> {
    let whole = || Error::not_a_partition(graph.directory(), "it holds a whole graph");
    let partition = graph.partition().ok_or_else(whole)?;
    let words = wanted(graph, cancel)?;
    let (grid, count) = (graph.grid(), graph.vertex_count());
    let others = (0..partition.ranks()).filter(|&rank| rank != partition.rank as usize);
    let from = |rank| {
        let vertices = indices(partition.vertices_of(rank));
        let in_segment = move |segment| shared(&indices(grid.sources(segment, count)), &vertices);
        (0..grid.segment_count(count)).map(in_segment)
    };
    let shares = others.flat_map(from).filter(|share| !share.is_empty());
    let sent = |share: Range<usize>| messages_sent(count_of(&words[words_of(&share)]), share.len());
    Ok(shares.map(|share| sent(share) as u64).sum())
}

fn word_of(bytes: &[u8]) -> u64 {
    // Callers pass chunks of 8 bytes, so the default is never used.
    u64::read_from_bytes(bytes).unwrap_or_default()
}

/// Returns the words with the bits of the vertices of a rank, which begin with a word.
pub fn words_of(vertices: &Range<usize>) -> Range<usize> {
    let first = vertices.start / 64;
    first..first + vertices.len().div_ceil(64)
}
