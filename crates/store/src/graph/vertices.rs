//! The original ids of a graph, streamed from disk.
//!
//! The *id position* of a vertex is its position in the ascending order of the original ids. Three
//! files map between id position, original id and dense id. A file that would say nothing is
//! absent.

use std::cmp::Ordering;
use std::ops::Range;
use std::sync::{Arc, Mutex, Weak};

use tegula_machine::disk::BlockFile;
use tegula_machine::threads::{Cancel, lock};

use super::file_names;
use super::manifest::IdType;
use super::opened::Graph;
use crate::ids::{OriginalId, SHORT_COUNT_MAX, VertexId};
use crate::packed::{Array, Ascending, CHUNK, Permutation, Stretch};
use crate::{Error, Result};

/// Bytes of strings above which fewer vertices are read at a time.
const CHUNK_TEXT: u64 = 1 << 20;
/// Number of strings that the last step of a look-up reads at once.
const STRINGS_SEARCHED: usize = 1 << 8;

/// The original ids of a graph. Holds no array: every use streams the files.
pub struct OriginalIds {
    vertex_count: usize,
    ids: Ids,
    order: Option<Array<Permutation>>,
    shared: Arc<SharedIdPositions>,
}

/// The id positions of a graph as long as somebody uses them. Of a vector, only the header stays in
/// memory after its last user.
pub(super) type SharedIdPositions = Mutex<Weak<Vec<u32>>>;

enum Ids {
    Range,
    Integers(Array<Ascending>),
    Strings { ends: Array<Ascending>, bytes: BlockFile },
}

/// The original ids of consecutive id positions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IdChunk {
    /// Integer ids.
    Integers(Vec<u64>),
    /// String ids.
    Strings(Strings),
}

/// Strings, stored one behind the other: 8 bytes each beside their text.
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

    /// Iterates over all strings, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        (0..self.len()).map(|index| self.get(index))
    }

    /// The position of a string. The strings must ascend.
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

    /// Appends a string.
    pub fn push(&mut self, string: &str) {
        self.text.push_str(string);
        self.ends.push(self.text.len() as u64);
    }

    /// Number of strings.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no strings.
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

    /// Whether there are no ids.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of all strings together; 0 for integers.
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

/// An id to look up.
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
    /// Opens the original ids.
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
        let shared = Arc::clone(graph.shared_id_positions());
        Ok(OriginalIds { vertex_count, ids, order, shared })
    }

    /// Whether the id position of every vertex is its dense id.
    pub fn are_dense(&self) -> bool {
        self.order.is_none()
    }

    /// Whether ids are strings.
    pub fn are_strings(&self) -> bool {
        matches!(self.ids, Ids::Strings { .. })
    }

    /// Visits all vertices by ascending original id, with their dense ids. A chunk has 65,536
    /// vertices, or fewer where their strings are long.
    pub fn for_each_chunk<E: From<Error>>(
        &self,
        mut visit: impl FnMut(IdChunk, &[VertexId]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut id_position = 0;
        while id_position < self.vertex_count {
            let ids =
                self.ids_of(id_position, CHUNK.min(self.vertex_count - id_position), CHUNK_TEXT)?;
            let count = ids.len();
            visit(ids, &self.dense_of(id_position, count)?)?;
            id_position += count;
        }
        Ok(())
    }

    /// Visits all vertices as [`for_each_chunk`](Self::for_each_chunk) does, without reading the
    /// original ids. `visit` gets the first id position of a chunk and the dense ids from there on.
    pub fn for_each_id_position<E: From<Error>>(
        &self,
        mut visit: impl FnMut(u64, &[VertexId]) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some(order) = &self.order else {
            for id_position in (0..self.vertex_count).step_by(CHUNK) {
                let count = CHUNK.min(self.vertex_count - id_position);
                visit(id_position as u64, &self.dense_of(id_position, count)?)?;
            }
            return Ok(());
        };
        order.for_each_chunk(|id_position, dense| {
            self.check_dense(order, dense)?;
            visit(id_position as u64, zerocopy::transmute_ref!(dense))
        })
    }

    /// Visits the dense ids by id position, as ranges of consecutive ids. A regular chunk is one
    /// range and takes constant time, so vertices without edges are cheap.
    pub fn for_each_run<E: From<Error>>(
        &self,
        mut visit: impl FnMut(Range<u64>) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some(order) = &self.order else { return visit(0..self.vertex_count as u64) };
        order.for_each_stretch(|_, stretch| match stretch {
            Stretch::Regular { first, count } => {
                // The last number of a regular stretch is the greatest.
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

    /// Returns the id position of each dense id, in 4 bytes a vertex; `None` where id positions and
    /// dense ids are equal. For graphs with [short](crate::ShortId) ids. Callers at the same time
    /// have one copy.
    ///
    /// # Panics
    /// When there are more than [`SHORT_COUNT_MAX`] vertices and id positions differ from dense
    /// ids.
    pub fn id_positions(&self, cancel: &Cancel) -> Result<Option<Arc<Vec<u32>>>> {
        if self.order.is_none() {
            return Ok(None);
        }
        // A second caller waits here while the first one reads.
        let mut shared = lock(&self.shared);
        if let Some(id_positions) = shared.upgrade() {
            return Ok(Some(id_positions));
        }
        let mut id_positions = vec![0; self.vertex_count];
        self.write_id_positions(&mut id_positions, cancel)?;
        let id_positions = Arc::new(id_positions);
        *shared = Arc::downgrade(&id_positions);
        Ok(Some(id_positions))
    }

    /// Writes the id position of each dense id into an array with a number for each vertex. For
    /// graphs with [short](crate::ShortId) ids.
    ///
    /// # Panics
    /// When there are more than [`SHORT_COUNT_MAX`] vertices, or the array has another length.
    pub fn write_id_positions(&self, id_positions: &mut [u32], cancel: &Cancel) -> Result<()> {
        assert!(self.vertex_count as u64 <= SHORT_COUNT_MAX, "id positions of 32 bits");
        assert_eq!(id_positions.len(), self.vertex_count, "a number for each vertex");
        self.for_each_id_position(|first, vertices| {
            cancel.check()?;
            (first as u32..)
                .zip(vertices)
                .for_each(|(id_position, vertex)| id_positions[vertex.index()] = id_position);
            Ok(())
        })
    }

    /// Bytes of the result of [`id_positions`](Self::id_positions).
    pub fn id_positions_size(&self) -> u64 {
        self.order.as_ref().map_or(0, |_| 4 * self.vertex_count as u64)
    }

    /// Bytes of buffers in [`for_each_id_position`](Self::for_each_id_position).
    pub fn for_each_id_position_size(&self) -> u64 {
        self.order.as_ref().map_or(0, Array::stream_size)
    }

    /// Returns the original ids of a range of id positions, which must lie within the graph.
    ///
    /// # Panics
    /// When ids are strings.
    pub fn integers(&self, id_positions: Range<usize>) -> Result<Vec<u64>> {
        match &self.ids {
            Ids::Range => Ok((id_positions.start as u64..id_positions.end as u64).collect()),
            Ids::Integers(ids) => ids.read(id_positions),
            Ids::Strings { .. } => panic!("ids are strings"),
        }
    }

    /// Returns the original id at an id position.
    ///
    /// # Panics
    /// When there is no such id position.
    pub fn by_id_position(&self, id_position: usize) -> Result<OriginalId> {
        assert!(
            id_position < self.vertex_count,
            "id position {id_position} of {}",
            self.vertex_count
        );
        Ok(self.ids_of(id_position, 1, u64::MAX)?.get(0))
    }

    /// Returns the dense id of an original id, or `None` if the graph has no such vertex. A string
    /// that reads as a number finds an integer id. Reads a block for each step of a binary search.
    pub fn find(&self, id: &OriginalId) -> Result<Option<VertexId>> {
        let Some(wanted) = self.as_stored(id) else { return Ok(None) };
        let near = self.near((&wanted).into())?;
        let found = self.ids_of(near.start, near.len(), u64::MAX)?.position((&wanted).into());
        found.map(|index| Ok(self.dense_of(near.start + index, 1)?[0])).transpose()
    }

    /// Looks up many ids given as text; takes 48 bytes each, the result included. Streams the
    /// stored ids once, from the least to the greatest of those wanted.
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
        let mut id_position = match wanted.first() {
            Some(&(least, _)) => self.near(least)?.start,
            None => 0,
        };
        let mut wanted = wanted.into_iter().peekable();
        while let Some((key, _)) = wanted.peek()
            && id_position < self.vertex_count
        {
            if let (Ids::Range, Key::Integer(id)) = (&self.ids, key) {
                // Ids are id positions: skip those that nobody asked for.
                id_position = id_position
                    .max(usize::try_from(*id).unwrap_or(usize::MAX).min(self.vertex_count - 1));
            }
            let ids =
                self.ids_of(id_position, CHUNK.min(self.vertex_count - id_position), CHUNK_TEXT)?;
            let vertices = self.dense_of(id_position, ids.len())?;
            let last = ids.get(ids.len() - 1);
            while let Some((key, index)) = wanted.next_if(|(key, _)| *key <= Key::from(&last)) {
                found[index] = ids.position(key).map(|position| vertices[position]);
            }
            id_position += ids.len();
        }
        Ok(found)
    }

    /// Returns the few id positions that an id can have if the graph has it.
    fn near(&self, wanted: Key<'_>) -> Result<Range<usize>> {
        let searched = if self.are_strings() { STRINGS_SEARCHED } else { CHUNK };
        let (mut low, mut high) = (0, self.vertex_count);
        while high - low > searched {
            let middle = low + (high - low) / 2;
            if Key::from(&self.by_id_position(middle)?) <= wanted {
                low = middle
            } else {
                high = middle
            }
        }
        Ok(low..high)
    }

    /// Converts an id to the type of ids that the graph has: string or integer.
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

    /// Returns ids from an id position on: at least one, and at most `text_max` bytes of strings.
    fn ids_of(&self, id_position: usize, count: usize, text_max: u64) -> Result<IdChunk> {
        match &self.ids {
            Ids::Range => {
                Ok(IdChunk::Integers((id_position as u64..(id_position + count) as u64).collect()))
            }
            Ids::Integers(ids) => {
                Ok(IdChunk::Integers(ids.read(id_position..id_position + count)?))
            }
            Ids::Strings { ends, bytes } => strings_of(ends, bytes, id_position, count, text_max),
        }
    }

    fn dense_of(&self, id_position: usize, count: usize) -> Result<Vec<VertexId>> {
        let Some(order) = &self.order else {
            return Ok((id_position..id_position + count)
                .map(|dense| VertexId(dense as u64))
                .collect());
        };
        let dense = order.read(id_position..id_position + count)?;
        self.check_dense(order, &dense)?;
        // Reuses the memory of the vector.
        Ok(dense.into_iter().map(VertexId).collect())
    }

    /// Checks that dense ids read from a file are below the number of vertices.
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
    id_position: usize,
    count: usize,
    text_max: u64,
) -> Result<IdChunk> {
    let damaged = |detail: &str| ends.damaged(detail.to_owned());
    // The first string begins where the one before it ends.
    let mut limits = ends.read(id_position.saturating_sub(1)..id_position + count)?;
    let first = if id_position > 0 { limits.remove(0) } else { 0 };
    let last = limits.last().copied().unwrap_or(first);
    if !limits.is_sorted() || limits.first().is_some_and(|&end| end < first) || last > bytes.len() {
        return Err(damaged("its ends do not ascend"));
    }
    limits.iter_mut().for_each(|end| *end -= first);
    let fitting = limits.partition_point(|&end| end <= text_max);
    limits.truncate(fitting.max(1));
    let text = bytes.read_range(first, limits.last().map_or(0, |&end| end as usize))?;
    let text = String::from_utf8(text).map_err(|_| damaged("an id is not UTF-8"))?;
    // The text may be valid as a whole although an end lies within a character.
    if limits.iter().any(|&end| !text.is_char_boundary(end as usize)) {
        return Err(damaged("an id is not UTF-8"));
    }
    Ok(IdChunk::Strings(Strings { text, ends: limits }))
}
