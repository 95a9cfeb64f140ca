//! Parses the index from its file and checks it.

use zerocopy::{FromBytes, IntoBytes};

use super::record::{ChunkRecord, RECORD_WORDS, RowMeasure};
use super::{CHUNK_LOG2_MAX, Chunk, RowIndex, Sequence};
use crate::ids::ShortId;
use crate::rows::elias_fano::{EliasFano, Shape, Walk, sample, step_max};
use crate::rows::encoding::{RowCode, RowEncoding};

/// What the index must agree with.
#[derive(Debug, Clone, Copy)]
pub(in crate::rows) struct Expected {
    pub encoding: RowEncoding,
    pub chunks: u64,
    pub vertices: u64,
    pub edges: u64,
    pub is_weighted: bool,
    /// Whether rows may be in several pieces.
    pub has_pieces: bool,
    /// Bytes of `rows.data`.
    pub data_len: u64,
}

impl RowIndex {
    /// Parses the payload of `rows.index` and keeps its words.
    pub fn open(words: Vec<u64>, expected: &Expected) -> Result<RowIndex, String> {
        let base = record_words(&words, expected)?;
        let records = <[ChunkRecord]>::ref_from_bytes(words[..base].as_bytes())
            .map_err(|error| error.to_string())?;
        let mut loading = Loading {
            words: &words,
            base,
            taken: base,
            samples: Vec::new(),
            piece_max: RowMeasure::default(),
        };
        let (mut row, mut row_max) = (RowMeasure::default(), RowMeasure::default());
        let mut long: Vec<ShortId> = Vec::new();
        let mut next = ChunkRecord::default();
        let mut chunks = Vec::with_capacity(records.len());
        let mut first_chunks = Vec::new();
        for (number, record) in records.iter().enumerate() {
            let is_of_same = |other: Option<&ChunkRecord>| {
                other.is_some_and(|other| other.source_first == record.source_first)
            };
            let is_further = is_of_same(number.checked_sub(1).map(|before| &records[before]));
            let place = Place {
                next: &next,
                is_piece: is_further || is_of_same(records.get(number + 1)),
                before: chunks.last().filter(|_| is_further),
            };
            let is_piece = place.is_piece;
            let chunk = loading
                .chunk(record, &place, expected)
                .map_err(|detail| format!("chunk {number}: {detail}"))?;
            if !is_further {
                row = RowMeasure::default();
                long.extend(is_piece.then_some(ShortId(chunk.source_first)));
            }
            if is_piece {
                // Each piece begins at a whole byte.
                row.bits += chunk.data_bits.next_multiple_of(8);
                row.edges += if expected.is_weighted { chunk.edge_count } else { 0 };
                row_max = row_max.max(row);
            }
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
            return Err("the chunks do not add up to the whole graph".to_owned());
        }
        let Loading { samples, piece_max, .. } = loading;
        let row_max = row_max.max(piece_max);
        first_chunks.push(chunks.len() as u32);
        let vertex_count = expected.vertices as u32;
        Ok(RowIndex {
            chunks,
            vertex_count,
            first_chunks,
            words,
            samples,
            row_max,
            piece_max,
            long,
        })
    }
}

/// Number of words that the records take.
fn record_words(words: &[u64], expected: &Expected) -> Result<usize, String> {
    let count = expected.chunks.checked_mul(RECORD_WORDS as u64);
    let count = count.filter(|&count| count <= words.len() as u64);
    let too_few = || format!("{} words for {} chunks", words.len(), expected.chunks);
    Ok(count.ok_or_else(too_few)? as usize)
}

/// The place where a chunk must be.
struct Place<'p> {
    /// Where it begins, unless a piece of the same row is before it.
    next: &'p ChunkRecord,
    /// Whether it is a piece of a row.
    is_piece: bool,
    /// The piece of the same row before it.
    before: Option<&'p Chunk>,
}

/// An index while it is parsed.
struct Loading<'a> {
    words: &'a [u64],
    /// Words of the records.
    base: usize,
    taken: usize,
    samples: Vec<u32>,
    /// Upper bounds of one read.
    piece_max: RowMeasure,
}

impl<'a> Loading<'a> {
    /// Checks the record of a chunk and takes its words.
    fn chunk(
        &mut self,
        record: &ChunkRecord,
        place: &Place<'_>,
        expected: &Expected,
    ) -> Result<Chunk, String> {
        let source_first = record.source_first.get();
        let source_count = record.source_count.get();
        let row_count = record.row_count.get();
        let (data_bits, edge_count) = (record.data_bits.get(), record.edge_count.get());
        let room = (1 << CHUNK_LOG2_MAX) - (source_first & ((1 << CHUNK_LOG2_MAX) - 1));
        let data_first = record.data_offset.get().checked_mul(8);
        let data_end = data_first.and_then(|first| first.checked_add(data_bits));
        let Place { next, is_piece, before } = *place;
        // Behind a piece comes another piece of the same row, or the next source.
        let source_expected = next.source_first.get().checked_sub(before.is_some().into());
        let is_in_place = source_expected == Some(source_first)
            && (1..=room).contains(&source_count)
            && source_first.checked_add(source_count).is_some()
            && row_count <= source_count
            && (!is_piece || expected.has_pieces && source_count == 1 && row_count == 1)
            && record.data_offset == next.data_offset
            && data_end.is_some_and(|end| end < u64::MAX - 8)
            && record.edge_first == next.edge_first
            // Weights take four bytes an edge, which must fit 64 bits.
            && record.edge_first.get().checked_add(edge_count).is_some_and(|end| end < 1 << 60)
            && record.word_first.get() == (self.taken - self.base) as u64;
        let Some(data_first) = data_first.filter(|_| is_in_place) else {
            return Err("it is out of place".to_owned());
        };
        let (parameters, rest) = record.parameters.split_at(expected.encoding.parameters_size());
        if rest.iter().any(|&byte| byte != 0) {
            return Err("it has parameters that its encoding does not use".to_owned());
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
        self.piece_max.bits = self.piece_max.bits.max(bits_max + code.reach());
        let mut edge_ends = None;
        if expected.is_weighted {
            let (ends, edges_max) = self.ends(rows, edge_count)?;
            self.piece_max.edges = self.piece_max.edges.max(edges_max);
            edge_ends = Some(ends);
        }
        let loop_count = record.loop_count.get() as usize;
        let loops = (self.taken, loop_count);
        self.take(loop_count.div_ceil(4))?;
        let target_first = if is_piece { self.target_first(before, vertex_count)? } else { 0 };
        Ok(Chunk {
            source_first,
            piece: before.map_or(0, |before| before.piece + 1),
            target_first,
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

    /// Returns the first target of a piece: 0 for the first piece, else more than that of the piece
    /// before.
    fn target_first(&mut self, before: Option<&Chunk>, vertex_count: u32) -> Result<u32, String> {
        let found = self.take(1)?[0];
        let least = before.map_or(0, |before| u64::from(before.target_first) + 1);
        let most = before.map_or(0, |_| u64::from(vertex_count).saturating_sub(1));
        match (least..=most).contains(&found) {
            true => Ok(found as u32),
            false => Err(format!("a piece of a row begins at target {found}")),
        }
    }

    /// Takes the row ends of a chunk; the last must be `last`. Also returns an upper bound for the
    /// longest row.
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
