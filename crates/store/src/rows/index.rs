//! The index of the rows: for each vertex, where its row lies. It stays in memory while the layout is
//! used: about `2 + log2(bits of a row)` bits a vertex, and as much again where edges have weights.
//!
//! Rows are indexed by chunk. A chunk in which most vertices have a row numbers its rows like its
//! vertices (compressed sparse rows, CSR). One in which few do lists those (doubly compressed, DCSR;
//! Buluc and Gilbert 2008), as one of the two indices that DFOGraph (Yu et al., PPoPP 2021, section
//! 3.2) chooses between.

use std::ops::Range;

use zerocopy::little_endian::{U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use super::elias_fano::{EliasFano, Shape, Walk, sample, step_max, write};
use super::encoding::{RowCode, RowEncoding};
use super::extent::RowExtent;
use crate::ids::ShortId;

/// log2 of the most vertices of a chunk.
pub(super) const CHUNK_LOG2_MAX: u32 = 16;
/// A chunk of more edges is halved, down to one vertex.
pub(super) const CHUNK_EDGES_MAX: u64 = 1 << 20;

/// A chunk in the file: its sources, where its bits and words lie, how many edges it has.
#[derive(Debug, Clone, Copy, Default, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub(super) struct ChunkRecord {
    pub source_first: U32,
    pub source_count: U32,
    /// Rows that are indexed: as many as there are sources (CSR), or fewer (DCSR).
    pub row_count: U32,
    /// Loops that the index tells, for an encoding that cannot.
    pub loop_count: U32,
    /// First byte in `rows.data`.
    pub data_offset: U64,
    /// Bits of all rows.
    pub data_bits: U64,
    /// Edges of the chunks before.
    pub edge_first: U64,
    pub edge_count: U64,
    /// First word of its part of the index, counted from the first behind the records.
    pub word_first: U64,
    /// What the encoding needs to know, zeros behind it.
    pub parameters: [u8; PARAMETERS_SIZE],
}

/// Bytes of a record for what an encoding needs to know of a chunk.
pub(super) const PARAMETERS_SIZE: usize = 32;

/// Words of a record: records and words share one array.
pub(super) const RECORD_WORDS: usize = size_of::<ChunkRecord>() / size_of::<u64>();
const _: () = assert!(size_of::<ChunkRecord>() == 88);

/// What the index is checked against.
#[derive(Debug, Clone, Copy)]
pub(super) struct Expected {
    pub encoding: RowEncoding,
    pub chunks: u64,
    pub vertices: u64,
    pub edges: u64,
    pub is_weighted: bool,
    /// Bytes of `rows.data`.
    pub data_len: u64,
}

/// A number of bits and a number of edges, of one row or of several.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct RowMeasure {
    pub bits: u64,
    pub edges: u64,
}

/// The rows of one chunk while they are written.
#[derive(Debug, Default)]
pub(super) struct ChunkRows {
    /// For each vertex what the rows of the chunk take, up to its own and with it.
    pub ends: Vec<RowMeasure>,
    /// Vertices with a loop that the index tells, counted from the chunk's first, ascending.
    pub loops: Vec<u16>,
}

impl ChunkRows {
    /// Appends the words of the index; returns how many rows it has.
    pub fn write(&self, is_weighted: bool, words: &mut Vec<u64>) -> u32 {
        let RowMeasure { bits, edges } = self.ends.last().copied().unwrap_or_default();
        let last_source = self.ends.len().saturating_sub(1) as u64;
        let is_row = |&index: &usize| {
            let before = index.checked_sub(1).map_or(0, |before| self.ends[before].edges);
            self.ends[index].edges > before
        };
        let mut rows: Vec<usize> = (0..self.ends.len()).filter(is_row).collect();
        let size = |rows: usize| {
            let edges = if is_weighted { Shape::new(rows, edges).words() } else { 0 };
            Shape::new(rows, bits).words() + edges
        };
        let sparse = size(rows.len()) + Shape::new(rows.len(), last_source).words();
        // A dense index answers faster: the sparse one has to be worth it.
        if 2 * sparse < size(self.ends.len()) {
            let sources: Vec<u64> = rows.iter().map(|&row| row as u64).collect();
            write(&sources, last_source, words);
        } else {
            rows = (0..self.ends.len()).collect();
        }
        let column = |pick: fn(&RowMeasure) -> u64| {
            rows.iter().map(|&row| pick(&self.ends[row])).collect::<Vec<u64>>()
        };
        write(&column(|end| end.bits), bits, words);
        if is_weighted {
            write(&column(|end| end.edges), edges, words);
        }
        words.extend(self.loops.chunks(4).map(|loops| {
            loops.iter().rev().fold(0, |word, &source| word << 16 | u64::from(source))
        }));
        rows.len() as u32
    }
}

/// The index in memory.
#[derive(Debug)]
pub(super) struct RowIndex {
    chunks: Vec<Chunk>,
    vertex_count: u32,
    /// The first chunk of each range of 2^16 vertices.
    first_chunks: Vec<u32>,
    words: Vec<u64>,
    samples: Vec<u32>,
    /// Bits and weights of any row at the most.
    row_max: RowMeasure,
}

/// Where a walk through the index has come to.
#[derive(Debug, Clone, Copy, Default)]
pub struct IndexWalk {
    chunk: Option<u32>,
    ends: Walk,
    edge_ends: Walk,
}

/// A chunk in memory.
#[derive(Debug)]
pub(super) struct Chunk {
    source_first: u32,
    data_first: u64,
    data_bits: u64,
    edge_first: u64,
    edge_count: u64,
    pub code: RowCode,
    /// How many bits before a row its reference may begin.
    reach: u64,
    /// The sources that have a row, where not all are indexed.
    sources: Option<Sequence>,
    ends: Sequence,
    edge_ends: Option<Sequence>,
    /// First word of the loops, and how many loops there are.
    loops: (usize, usize),
}

/// A sequence among the words.
#[derive(Debug, Clone, Copy)]
struct Sequence {
    shape: Shape,
    word: usize,
    sample: usize,
}

impl RowIndex {
    /// Bytes that the index of a graph takes in memory when it was read from `len` bytes.
    pub fn size(len: u64) -> u64 {
        // Samples: 4 bytes for every 32 rows, which take at least 8 bytes. Chunks: less than twice
        // their records.
        2 * len
    }

    /// Takes over the payload of `rows.index`.
    ///
    /// # Errors
    /// What does not fit, in words.
    pub fn open(words: Vec<u64>, expected: &Expected) -> Result<RowIndex, String> {
        let record_words = expected.chunks.checked_mul(RECORD_WORDS as u64);
        let record_words = record_words.filter(|&count| count <= words.len() as u64);
        let record_words = record_words
            .ok_or_else(|| format!("{} words for {} chunks", words.len(), expected.chunks))?;
        let base = record_words as usize;
        let records = <[ChunkRecord]>::ref_from_bytes(words[..base].as_bytes())
            .map_err(|error| error.to_string())?;
        let mut loading = Loading {
            words: &words,
            base,
            taken: base,
            samples: Vec::new(),
            row_max: RowMeasure::default(),
        };
        let mut next = ChunkRecord::default();
        let mut chunks = Vec::with_capacity(records.len());
        let mut first_chunks = Vec::new();
        for (number, record) in records.iter().enumerate() {
            let chunk = loading
                .chunk(record, &next, expected)
                .map_err(|detail| format!("chunk {number}: {detail}"))?;
            if chunk.source_first >> CHUNK_LOG2_MAX == first_chunks.len() as u32 {
                first_chunks.push(number as u32);
            }
            next.source_first = (chunk.source_first + record.source_count.get()).into();
            next.data_offset = (chunk.data_first / 8 + chunk.data_bits.div_ceil(8)).into();
            next.edge_first = (chunk.edge_first + chunk.edge_count).into();
            chunks.push(chunk);
        }
        let end = (u64::from(next.source_first.get()), next.edge_first.get());
        if end != (expected.vertices, expected.edges)
            || next.data_offset.get() != expected.data_len
            || loading.taken != words.len()
        {
            return Err("the chunks are not all of the graph".to_owned());
        }
        let (samples, row_max) = (loading.samples, loading.row_max);
        first_chunks.push(chunks.len() as u32);
        let vertex_count = expected.vertices as u32;
        Ok(RowIndex { chunks, vertex_count, first_chunks, words, samples, row_max })
    }

    /// Bounds on the bits that are read of a row, and on its edges, the latter 0 without weights: those of the
    /// longest, and at the most twice those of an average row of its chunk more.
    pub fn row_max(&self) -> RowMeasure {
        self.row_max
    }

    /// Whether rows copy in any chunk.
    pub fn copies(&self) -> bool {
        self.chunks.iter().any(|chunk| chunk.reach > 0)
    }

    /// The vertices of each chunk, and the places of its edges among those of all rows.
    pub fn chunks(&self) -> impl Iterator<Item = (Range<u32>, Range<u64>)> + '_ {
        let ends = self.chunks.iter().skip(1).map(|chunk| chunk.source_first);
        let ends = ends.chain(std::iter::once(self.vertex_count));
        self.chunks.iter().zip(ends).map(|(chunk, end)| {
            (chunk.source_first..end, chunk.edge_first..chunk.edge_first + chunk.edge_count)
        })
    }

    /// The row so many vertices before another, if that is in the same chunk.
    #[inline]
    pub fn before(&self, extent: &RowExtent, distance: u32) -> Option<RowExtent> {
        let source = extent.source.0.checked_sub(distance)?;
        let is_in_chunk = source >= self.chunks[extent.chunk as usize].source_first;
        is_in_chunk.then(|| self.extent(ShortId(source)))
    }

    /// A chunk.
    #[inline]
    pub fn chunk(&self, number: u32) -> &Chunk {
        &self.chunks[number as usize]
    }

    /// Where the row of a vertex lies; the row of one without edges is empty. About 15 ns.
    ///
    /// # Panics
    /// When there is no such vertex.
    #[inline]
    pub fn extent(&self, source: ShortId) -> RowExtent {
        self.extent_from(source, &mut IndexWalk::default())
    }

    /// As [`RowIndex::extent`], about 5 ns where `walk` comes by ascending vertices close to each other.
    #[inline(always)]
    pub fn extent_from(&self, source: ShortId, walk: &mut IndexWalk) -> RowExtent {
        let number = self.chunk_of(source.0);
        let chunk = &self.chunks[number as usize];
        let local = source.0 - chunk.source_first;
        let row = match chunk.sources {
            None => Ok(local as usize),
            Some(sources) => self.view(sources).position(u64::from(local)),
        };
        if walk.chunk != Some(number) {
            *walk = IndexWalk { chunk: Some(number), ..IndexWalk::default() };
        }
        let ends = self.view(chunk.ends);
        let bits = range_at(&ends, row, chunk.data_first, chunk.data_bits, &mut walk.ends);
        let edges = match chunk.edge_ends {
            None => 0..0,
            Some(ends) => {
                let (first, count) = (chunk.edge_first, chunk.edge_count);
                range_at(&self.view(ends), row, first, count, &mut walk.edge_ends)
            }
        };
        let read_first = bits.start.saturating_sub(chunk.reach).max(chunk.data_first);
        RowExtent { source, chunk: number, bits, read_first, edges }
    }

    /// How many loops the index tells of a vertex.
    pub fn loops(&self, chunk: u32, source: ShortId) -> usize {
        let chunk = &self.chunks[chunk as usize];
        let (first, count) = chunk.loops;
        let at = |index: usize| (self.words[first + index / 4] >> (16 * (index % 4))) as u16;
        let local = source.0 - chunk.source_first;
        let find = |is_before: &dyn Fn(u32) -> bool| {
            let (mut low, mut high) = (0, count);
            while low < high {
                let middle = low.midpoint(high);
                if is_before(u32::from(at(middle))) { low = middle + 1 } else { high = middle }
            }
            low
        };
        if count == 0 {
            return 0;
        }
        find(&|other| other <= local).saturating_sub(find(&|other| other < local))
    }

    #[inline]
    fn chunk_of(&self, source: u32) -> u32 {
        let window = (source >> CHUNK_LOG2_MAX) as usize;
        let (first, end) = (self.first_chunks[window], self.first_chunks[window + 1]);
        if end == first + 1 {
            return first;
        }
        let chunks = &self.chunks[first as usize..end as usize];
        first + chunks.partition_point(|chunk| chunk.source_first <= source) as u32 - 1
    }

    #[inline]
    fn view(&self, sequence: Sequence) -> EliasFano<'_> {
        let Sequence { shape, word, sample } = sequence;
        let words = &self.words[word..word + shape.words()];
        EliasFano::new(shape, words, &self.samples[sample..sample + shape.samples()])
    }
}

/// What lies between the end before a row and its own, both at most `count`, counted from `first`. A source
/// without a row comes with the number of rows before it.
#[inline(always)]
fn range_at(
    ends: &EliasFano<'_>,
    row: Result<usize, usize>,
    first: u64,
    count: u64,
    walk: &mut Walk,
) -> Range<u64> {
    let (start, end) = match row {
        Ok(row) => ends.walk_to(row, walk),
        // A vertex without edges has its place too: who reads a range may begin there.
        Err(0) => (0, 0),
        Err(next) => (u64::MAX, ends.walk_to(next - 1, walk).1),
    };
    let end = end.min(count);
    // A damaged sequence may descend within a few numbers: then the row is empty.
    first + start.min(end)..first + end
}

/// The words of an index while they are taken apart.
struct Loading<'a> {
    words: &'a [u64],
    /// Words of the records.
    base: usize,
    taken: usize,
    samples: Vec<u32>,
    row_max: RowMeasure,
}

impl<'a> Loading<'a> {
    /// Checks the record of a chunk; `next` tells where it has to begin.
    fn chunk(
        &mut self,
        record: &ChunkRecord,
        next: &ChunkRecord,
        expected: &Expected,
    ) -> Result<Chunk, String> {
        let source_first = record.source_first.get();
        let source_count = record.source_count.get();
        let row_count = record.row_count.get();
        let (data_bits, edge_count) = (record.data_bits.get(), record.edge_count.get());
        let room = (1 << CHUNK_LOG2_MAX) - (source_first & ((1 << CHUNK_LOG2_MAX) - 1));
        let data_first = record.data_offset.get().checked_mul(8);
        let data_end = data_first.and_then(|first| first.checked_add(data_bits));
        let is_in_place = source_first == next.source_first.get()
            && (1..=room).contains(&source_count)
            && source_first.checked_add(source_count).is_some()
            && row_count <= source_count
            && record.data_offset == next.data_offset
            && data_end.is_some_and(|end| end < u64::MAX - 8)
            && record.edge_first == next.edge_first
            && record.edge_first.get().checked_add(edge_count).is_some_and(|end| end < 1 << 60)
            && record.word_first.get() == (self.taken - self.base) as u64;
        let Some(data_first) = data_first.filter(|_| is_in_place) else {
            return Err("it is out of place".to_owned());
        };
        let (parameters, rest) = record.parameters.split_at(expected.encoding.parameters_size());
        if rest.iter().any(|&byte| byte != 0) {
            return Err("it has parameters that mean nothing".to_owned());
        }
        let vertex_count = expected.vertices as u32;
        let code = RowCode::from_parameters(expected.encoding, vertex_count, parameters)?;
        let rows = row_count as usize;
        let sources = if row_count == source_count {
            None
        } else {
            Some(self.sequence(rows, u64::from(source_count) - 1)?)
        };
        let (ends, bits_max) = self.ends(rows, data_bits)?;
        self.row_max.bits = self.row_max.bits.max(bits_max + code.reach());
        let mut edge_ends = None;
        if expected.is_weighted {
            let (ends, edges_max) = self.ends(rows, edge_count)?;
            self.row_max.edges = self.row_max.edges.max(edges_max);
            edge_ends = Some(ends);
        }
        let loop_count = record.loop_count.get() as usize;
        let loops = (self.taken, loop_count);
        self.take(loop_count.div_ceil(4))?;
        Ok(Chunk {
            source_first,
            data_first,
            data_bits,
            edge_first: record.edge_first.get(),
            edge_count,
            reach: code.reach(),
            code,
            sources,
            ends,
            edge_ends,
            loops,
        })
    }

    /// A sequence whose last number is `last`, for there is nothing behind the last row; and a bound on
    /// the longest.
    fn ends(&mut self, count: usize, last: u64) -> Result<(Sequence, u64), String> {
        let sequence = self.sequence(count, last)?;
        let words = &self.words[sequence.word..sequence.word + sequence.shape.words()];
        let view = EliasFano::new(sequence.shape, words, &self.samples[sequence.sample..]);
        let end =
            count.checked_sub(1).map_or(0, |index| view.walk_to(index, &mut Walk::default()).1);
        if end != last {
            return Err(format!("its rows end at {end}, not {last}"));
        }
        Ok((sequence, step_max(sequence.shape, words).min(last)))
    }

    fn sequence(&mut self, count: usize, last: u64) -> Result<Sequence, String> {
        let shape = Shape::new(count, last);
        let (word, first_sample) = (self.taken, self.samples.len());
        let words = self.take(shape.words())?;
        sample(shape, words, &mut self.samples)?;
        Ok(Sequence { shape, word, sample: first_sample })
    }

    fn take(&mut self, count: usize) -> Result<&'a [u64], String> {
        let end = self.taken.checked_add(count).filter(|&end| end <= self.words.len());
        let end = end.ok_or_else(|| "its words are cut off".to_owned())?;
        let words = &self.words[self.taken..end];
        self.taken = end;
        Ok(words)
    }
}
