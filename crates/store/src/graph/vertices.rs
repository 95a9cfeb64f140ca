//! The original ids of a graph, read from disk as they are needed.
//!
//! The *rank* of a vertex is its position in the ascending order of the original ids. Three files,
//! each absent where it would say nothing, tell rank, original id and dense id apart.

use std::cmp::Ordering;
use std::ops::Range;

use tegula_machine::disk::BlockFile;
use tegula_machine::threads::Cancel;
use tegula_machine::{Error, Result};

use super::file_names;
use super::manifest::IdType;
use super::opened::Graph;
use crate::ids::{OriginalId, SHORT_COUNT_MAX, VertexId};
use crate::packed::{Array, Ascending, CHUNK, Permutation, Stretch};

/// Bytes of strings above which fewer vertices are read at a time.
const CHUNK_TEXT: u64 = 1 << 20;
/// Strings among which one is looked up at once.
const STRINGS_SEARCHED: usize = 1 << 8;

/// The original ids of a graph. Holds no array: every use streams the files.
pub struct OriginalIds {
    vertex_count: usize,
    ids: Ids,
    order: Option<Array<Permutation>>,
}

enum Ids {
    Range,
    Integers(Array<Ascending>),
    Strings { ends: Array<Ascending>, bytes: BlockFile },
}

/// The original ids of consecutive ranks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IdChunk {
    /// Integer ids.
    Integers(Vec<u64>),
    /// String ids.
    Strings(Strings),
}

/// Strings, one behind the other: 8 bytes each beside their text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Strings {
    text: String,
    ends: Vec<u64>,
}

impl Strings {
    /// The string at a position.
    pub fn get(&self, index: usize) -> &str {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.text[start as usize..self.ends[index] as usize]
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        (0..self.len()).map(|index| self.get(index))
    }

    /// The position of a string, where all are ascending.
    pub fn position(&self, string: &str) -> Option<usize> {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low.midpoint(high);
            match self.get(middle).cmp(string) {
                Ordering::Less => low = middle + 1,
                Ordering::Equal => return Some(middle),
                Ordering::Greater => high = middle,
            }
        }
        None
    }

    /// Appends one.
    pub fn push(&mut self, string: &str) {
        self.text.push_str(string);
        self.ends.push(self.text.len() as u64);
    }

    /// Number of strings.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Bytes of all strings together.
    pub fn text_len(&self) -> usize {
        self.text.len()
    }
}

impl IdChunk {
    /// The id at a position.
    pub fn get(&self, index: usize) -> OriginalId {
        match self {
            IdChunk::Integers(ids) => OriginalId::Integer(ids[index]),
            IdChunk::Strings(ids) => OriginalId::String(ids.get(index).to_owned()),
        }
    }

    /// Number of ids.
    pub fn len(&self) -> usize {
        match self {
            IdChunk::Integers(ids) => ids.len(),
            IdChunk::Strings(ids) => ids.len(),
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of all strings together.
    pub fn text_len(&self) -> usize {
        match self {
            IdChunk::Integers(_) => 0,
            IdChunk::Strings(ids) => ids.text_len(),
        }
    }

    /// The position of an id.
    fn position(&self, key: Key<'_>) -> Option<usize> {
        match (self, key) {
            (IdChunk::Integers(ids), Key::Integer(id)) => ids.binary_search(&id).ok(),
            (IdChunk::Strings(ids), Key::String(id)) => ids.position(id),
            _ => None,
        }
    }
}

/// An id that is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Key<'a> {
    Integer(u64),
    String(&'a str),
}

impl<'a> From<&'a OriginalId> for Key<'a> {
    fn from(id: &'a OriginalId) -> Key<'a> {
        match id {
            OriginalId::Integer(id) => Key::Integer(*id),
            OriginalId::String(id) => Key::String(id),
        }
    }
}

impl Graph {
    /// The original ids.
    ///
    /// # Errors
    /// Those of reading.
    pub fn original_ids(&self) -> Result<OriginalIds> {
        OriginalIds::open(self)
    }
}

impl OriginalIds {
    pub(super) fn open(graph: &Graph) -> Result<OriginalIds> {
        let manifest = graph.manifest();
        let vertex_count = graph.vertex_count() as usize;
        let ids = match manifest.ids {
            IdType::Range => Ids::Range,
            IdType::Integer => Ids::Integers(graph.array(file_names::IDS)?),
            IdType::String => Ids::Strings {
                ends: graph.array(file_names::STRING_ENDS)?,
                bytes: graph.block_file(file_names::STRINGS)?,
            },
        };
        let order = match manifest.file(file_names::ORDER) {
            Some(_) => Some(graph.array(file_names::ORDER)?),
            None => None,
        };
        Ok(OriginalIds { vertex_count, ids, order })
    }

    /// Whether the rank of every vertex is its dense id.
    pub fn are_dense(&self) -> bool {
        self.order.is_none()
    }

    /// Whether ids are strings.
    pub fn are_strings(&self) -> bool {
        matches!(self.ids, Ids::Strings { .. })
    }

    /// Visits all vertices in the ascending order of their original ids, 65,536 at a time, fewer
    /// where their strings are long: their original and their dense ids.
    ///
    /// # Errors
    /// Those of reading and of `visit`.
    pub fn for_each_chunk<E: From<Error>>(
        &self,
        mut visit: impl FnMut(IdChunk, &[VertexId]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut rank = 0;
        while rank < self.vertex_count {
            let ids = self.ids_of(rank, CHUNK.min(self.vertex_count - rank), CHUNK_TEXT)?;
            let count = ids.len();
            visit(ids, &self.dense_of(rank, count)?)?;
            rank += count;
        }
        Ok(())
    }

    /// As [`for_each_chunk`](Self::for_each_chunk), without the original ids, which are not read: the
    /// first rank and the dense ids from there on.
    ///
    /// # Errors
    /// Those of reading and of `visit`.
    pub fn for_each_rank<E: From<Error>>(
        &self,
        mut visit: impl FnMut(u64, &[VertexId]) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some(order) = &self.order else {
            for rank in (0..self.vertex_count).step_by(CHUNK) {
                let count = CHUNK.min(self.vertex_count - rank);
                visit(rank as u64, &self.dense_of(rank, count)?)?;
            }
            return Ok(());
        };
        order.for_each_chunk(|rank, dense| {
            self.check_dense(order, dense)?;
            visit(rank as u64, zerocopy::transmute_ref!(dense))
        })
    }

    /// Visits the dense ids by rank, as ranges of consecutive ones. Takes no time for each vertex where there are far
    /// more than edges.
    ///
    /// # Errors
    /// Those of reading and of `visit`.
    pub fn for_each_run<E: From<Error>>(
        &self,
        mut visit: impl FnMut(Range<u64>) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some(order) = &self.order else { return visit(0..self.vertex_count as u64) };
        order.for_each_stretch(|_, stretch| match stretch {
            Stretch::Regular { first, count } => {
                self.check_dense(order, &[first + (count as u64).saturating_sub(1)])?;
                visit(first..first + count as u64)
            }
            Stretch::Any(dense) => {
                self.check_dense(order, dense)?;
                dense
                    .chunk_by(|one, next| one + 1 == *next)
                    .try_for_each(|run| visit(run[0]..run[0] + run.len() as u64))
            }
        })
    }

    /// The rank of each dense id, 4 bytes a vertex; `None` where it is the dense id itself. Of graphs with
    /// [short](crate::ShortId) ids.
    ///
    /// # Errors
    /// Those of reading; cancellation.
    ///
    /// # Panics
    /// When there are more than [`SHORT_COUNT_MAX`] vertices in an order of their own.
    pub fn ranks(&self, cancel: &Cancel) -> Result<Option<Vec<u32>>> {
        if self.order.is_none() {
            return Ok(None);
        }
        assert!(self.vertex_count as u64 <= SHORT_COUNT_MAX, "ranks of 32 bits");
        let mut ranks = vec![0; self.vertex_count];
        self.for_each_rank(|first, vertices| {
            cancel.check()?;
            (first as u32..).zip(vertices).for_each(|(rank, vertex)| ranks[vertex.index()] = rank);
            Ok::<(), Error>(())
        })?;
        Ok(Some(ranks))
    }

    /// Bytes that [`ranks`](Self::ranks) takes.
    pub fn ranks_size(&self) -> u64 {
        self.order.as_ref().map_or(0, |_| 4 * self.vertex_count as u64)
    }

    /// Bytes that [`for_each_rank`](Self::for_each_rank) holds of the file with the dense ids.
    pub fn for_each_rank_size(&self) -> u64 {
        self.order.as_ref().map_or(0, Array::stream_size)
    }

    /// The original ids of a range of ranks, which must lie within the graph.
    ///
    /// # Errors
    /// Those of reading.
    ///
    /// # Panics
    /// When ids are strings.
    pub fn integers(&self, ranks: Range<usize>) -> Result<Vec<u64>> {
        match &self.ids {
            Ids::Range => Ok((ranks.start as u64..ranks.end as u64).collect()),
            Ids::Integers(ids) => ids.read(ranks),
            Ids::Strings { .. } => panic!("ids are strings"),
        }
    }

    /// The original id at a rank.
    ///
    /// # Errors
    /// Those of reading.
    ///
    /// # Panics
    /// When there is no such rank.
    pub fn by_rank(&self, rank: usize) -> Result<OriginalId> {
        assert!(rank < self.vertex_count, "rank {rank} of {}", self.vertex_count);
        Ok(self.ids_of(rank, 1, u64::MAX)?.get(0))
    }

    /// The dense id of an original id, or `None` when the graph has no such vertex. A string that
    /// reads as a number finds an integer id. Reads a block per halving of the ids.
    ///
    /// # Errors
    /// Those of reading.
    pub fn find(&self, id: &OriginalId) -> Result<Option<VertexId>> {
        let Some(wanted) = self.as_stored(id) else { return Ok(None) };
        let near = self.near((&wanted).into())?;
        let found = self.ids_of(near.start, near.len(), u64::MAX)?.position((&wanted).into());
        found.map(|index| Ok(self.dense_of(near.start + index, 1)?[0])).transpose()
    }

    /// As [`OriginalIds::find`] for each of many ids as text: 48 bytes each, the result included.
    /// Reads the ids from the least to the greatest of them once.
    ///
    /// # Errors
    /// Those of reading.
    pub fn find_all(&self, ids: &[&str]) -> Result<Vec<Option<VertexId>>> {
        let mut wanted: Vec<(Key<'_>, usize)> = Vec::with_capacity(ids.len());
        for (index, &id) in ids.iter().enumerate() {
            let key = match self.ids {
                Ids::Strings { .. } => Some(Key::String(id)),
                Ids::Range | Ids::Integers(_) => id.parse().ok().map(Key::Integer),
            };
            wanted.extend(key.map(|key| (key, index)));
        }
        wanted.sort_unstable();
        let mut found = vec![None; ids.len()];
        let mut rank = match wanted.first() {
            Some(&(least, _)) => self.near(least)?.start,
            None => 0,
        };
        let mut wanted = wanted.into_iter().peekable();
        while let Some((key, _)) = wanted.peek()
            && rank < self.vertex_count
        {
            if let (Ids::Range, Key::Integer(id)) = (&self.ids, key) {
                // Where ids are ranks, there may be far more than are wanted.
                rank =
                    rank.max(usize::try_from(*id).unwrap_or(usize::MAX).min(self.vertex_count - 1));
            }
            let ids = self.ids_of(rank, CHUNK.min(self.vertex_count - rank), CHUNK_TEXT)?;
            let vertices = self.dense_of(rank, ids.len())?;
            let last = ids.get(ids.len() - 1);
            while let Some((key, index)) = wanted.next_if(|(key, _)| *key <= Key::from(&last)) {
                found[index] = ids.position(key).map(|position| vertices[position]);
            }
            rank += ids.len();
        }
        Ok(found)
    }

    /// The few ranks among which an id is, if the graph has it.
    fn near(&self, wanted: Key<'_>) -> Result<Range<usize>> {
        let searched = if self.are_strings() { STRINGS_SEARCHED } else { CHUNK };
        let (mut low, mut high) = (0, self.vertex_count);
        while high - low > searched {
            let middle = low + (high - low) / 2;
            if Key::from(&self.by_rank(middle)?) <= wanted { low = middle } else { high = middle }
        }
        Ok(low..high)
    }

    /// An id as the graph would have it: a string or an integer.
    fn as_stored(&self, id: &OriginalId) -> Option<OriginalId> {
        match (&self.ids, id) {
            (Ids::Strings { .. }, OriginalId::Integer(id)) => {
                Some(OriginalId::String(id.to_string()))
            }
            (Ids::Range | Ids::Integers(_), OriginalId::String(id)) => {
                id.parse().ok().map(OriginalId::Integer)
            }
            _ => Some(id.clone()),
        }
    }

    /// The ids from a rank on; at least one, and no more strings than `text_max` bytes hold.
    fn ids_of(&self, rank: usize, count: usize, text_max: u64) -> Result<IdChunk> {
        match &self.ids {
            Ids::Range => Ok(IdChunk::Integers((rank as u64..(rank + count) as u64).collect())),
            Ids::Integers(ids) => Ok(IdChunk::Integers(ids.read(rank..rank + count)?)),
            Ids::Strings { ends, bytes } => strings_of(ends, bytes, rank, count, text_max),
        }
    }

    fn dense_of(&self, rank: usize, count: usize) -> Result<Vec<VertexId>> {
        let Some(order) = &self.order else {
            return Ok((rank..rank + count).map(|dense| VertexId(dense as u64)).collect());
        };
        let dense = order.read(rank..rank + count)?;
        self.check_dense(order, &dense)?;
        // In the same memory.
        Ok(dense.into_iter().map(VertexId).collect())
    }

    /// Whether dense ids read from a file are below the number of vertices.
    fn check_dense(&self, order: &Array<Permutation>, dense: &[u64]) -> Result<()> {
        // Not by `Iterator::max`, which takes three times as long.
        let most = dense.iter().fold(0, |most, &dense| most.max(dense));
        if dense.is_empty() || (most as usize) < self.vertex_count {
            return Ok(());
        }
        Err(order.damaged(format!("vertex {most} of {}", self.vertex_count)))
    }
}

fn strings_of(
    ends: &Array<Ascending>,
    bytes: &BlockFile,
    rank: usize,
    count: usize,
    text_max: u64,
) -> Result<IdChunk> {
    let damaged = |detail: &str| ends.damaged(detail.to_owned());
    // The end of the one before is where the first begins.
    let mut limits = ends.read(rank.saturating_sub(1)..rank + count)?;
    let first = if rank > 0 { limits.remove(0) } else { 0 };
    let last = limits.last().copied().unwrap_or(first);
    if !limits.is_sorted() || limits.first().is_some_and(|&end| end < first) || last > bytes.len() {
        return Err(damaged("its ends do not ascend"));
    }
    limits.iter_mut().for_each(|end| *end -= first);
    let fitting = limits.partition_point(|&end| end <= text_max);
    limits.truncate(fitting.max(1));
    let text = bytes.read_range(first, limits.last().map_or(0, |&end| end as usize))?;
    let text = String::from_utf8(text).map_err(|_| damaged("an id is not UTF-8"))?;
    if limits.iter().any(|&end| !text.is_char_boundary(end as usize)) {
        return Err(damaged("an id is not UTF-8"));
    }
    Ok(IdChunk::Strings(Strings { text, ends: limits }))
}
