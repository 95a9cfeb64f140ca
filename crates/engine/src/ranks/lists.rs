//! The lists of sources by which messages are filtered.

use std::ops::Range;

use tegula_comm::Comm;
use tegula_machine::threads::Cancel;
use tegula_store::Result;
use tegula_store::graph::Graph;
use zerocopy::{FromBytes, IntoBytes};

use super::failure::{of_comm, rank_failed};
use super::tags;

/// Some vertices of a rank.
pub struct SourceList {
    /// A bit for each vertex of the rank.
    pub words: Vec<u64>,
    /// Number of vertices in the list.
    pub count: usize,
}

impl SourceList {
    pub fn new(words: Vec<u64>) -> SourceList {
        let count = words.iter().map(|word| word.count_ones() as usize).sum();
        SourceList { words, count }
    }

    /// Iterates over its vertices, counted from the first one of the rank.
    pub fn vertices(&self) -> ListedVertices<'_> {
        let (first, others) = self.words.split_first().map_or((0, &[][..]), |(&f, o)| (f, o));
        ListedVertices { rest: first, base: 0, others }
    }
}

/// The vertices of a list, ascending.
pub struct ListedVertices<'l> {
    /// The bits of the present word that are left.
    rest: u64,
    /// The vertex of its lowest bit.
    base: usize,
    others: &'l [u64],
}

impl Iterator for ListedVertices<'_> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        while self.rest == 0 {
            let (&next, others) = self.others.split_first()?;
            (self.rest, self.base, self.others) = (next, self.base + 64, others);
        }
        let bit = self.rest.trailing_zeros() as usize;
        self.rest &= self.rest - 1;
        Some(self.base + bit)
    }
}

/// The lists of sources of one rank, by rank; its own are empty.
pub struct Lists {
    /// The own sources that have an edge on each other rank.
    pub wanted_by: Vec<SourceList>,
    /// The sources of each other rank that have an edge here.
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
        let of_rank = |rank: usize| match rank == comm.rank() {
            true => SourceList::new(Vec::new()),
            false => SourceList::new(words[words_of(&vertices[rank])].to_vec()),
        };
        let wanted_from: Vec<SourceList> = (0..comm.size()).map(of_rank).collect();
        let others = || (0..comm.size()).filter(|&rank| rank != comm.rank());
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

fn word_of(bytes: &[u8]) -> u64 {
    u64::read_from_bytes(bytes).unwrap_or_default()
}

/// Returns the words with the bits of the vertices of a rank, which begin with a word.
pub fn words_of(vertices: &Range<usize>) -> Range<usize> {
    let first = vertices.start / 64;
    first..first + vertices.len().div_ceil(64)
}
