//! Reads the arrays of a graph.

use std::marker::PhantomData;
use std::ops::Range;

use tegula_machine::disk::{BlockFile, BlockStream, CheckedBlock};
use zerocopy::IntoBytes;

use super::{CHUNK, Coding, Unordered};
use crate::{Error, Result};

/// An array on disk. Holds 8 bytes for each chunk; every use streams the file.
pub(crate) struct Array<C: Coding> {
    file: BlockFile,
    len: usize,
    /// The end of each chunk in bytes.
    ends: Vec<u64>,
    coding: PhantomData<C>,
}

/// The numbers of a chunk.
pub(crate) enum Stretch<'a, N> {
    /// All numbers follow from the first.
    Regular { first: N, count: usize },
    /// All numbers, decoded.
    Any(&'a [N]),
}

/// Upper bound for the bytes of a chunk. No coding takes more, and a damaged file may not claim
/// more.
const CHUNK_SIZE_MAX: u64 = 1 << 20;

impl<C: Coding> Array<C> {
    /// Opens an array of `len` numbers.
    ///
    /// # Errors
    /// [`Error::Corrupt`](tegula_machine::Error::Corrupt) where the file holds another number of
    /// chunks.
    pub fn open(file: BlockFile, len: usize) -> Result<Array<C>> {
        let ends = read_ends(&file, len)?;
        Ok(Array { file, len, ends, coding: PhantomData })
    }

    /// Returns the error for invalid numbers.
    pub fn damaged(&self, detail: String) -> Error {
        damaged(&self.file, "payload", detail)
    }

    /// Upper bound for the bytes that [`for_each_chunk`](Self::for_each_chunk) holds.
    pub fn stream_size(&self) -> u64 {
        let numbers = (CHUNK.min(self.len) * size_of::<C::Number>()) as u64;
        let in_one_piece = CHUNK_SIZE_MAX.min(self.file.len());
        self.file.len().min(BlockFile::STREAM_SIZE_MAX) + in_one_piece + numbers
    }

    /// Visits all numbers, 65,536 at a time: `visit` gets the position of the first, and the
    /// numbers from there on.
    pub fn for_each_chunk<E: From<Error>>(
        &self,
        mut visit: impl FnMut(usize, &[C::Number]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut numbers = vec![C::Number::default(); CHUNK.min(self.len)];
        self.for_each_coded(|chunk, bytes| {
            let here = self.numbers_of(chunk);
            let numbers = &mut numbers[..here.len()];
            self.decode(chunk, bytes, numbers)?;
            visit(here.start, numbers)
        })
    }

    /// Visits all chunks without decoding regular ones: `visit` gets the position of the first
    /// number, and the numbers.
    pub fn for_each_stretch<E: From<Error>>(
        &self,
        mut visit: impl FnMut(usize, Stretch<'_, C::Number>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut numbers = vec![C::Number::default(); CHUNK.min(self.len)];
        self.for_each_coded(|chunk, bytes| {
            let here = self.numbers_of(chunk);
            let regular = C::decode_regular(bytes, here.len());
            if let Some(first) = regular.map_err(|fault| self.fault(chunk, fault))? {
                return visit(here.start, Stretch::Regular { first, count: here.len() });
            }
            let numbers = &mut numbers[..here.len()];
            self.decode(chunk, bytes, numbers)?;
            visit(here.start, Stretch::Any(numbers))
        })
    }

    /// Reads all numbers.
    pub fn read_all(&self) -> Result<Vec<C::Number>> {
        let mut all = vec![C::Number::default(); self.len];
        self.for_each_coded(|chunk, bytes| {
            self.decode(chunk, bytes, &mut all[self.numbers_of(chunk)])
        })?;
        Ok(all)
    }

    /// Visits the bytes of all chunks.
    fn for_each_coded<E: From<Error>>(
        &self,
        mut visit: impl FnMut(usize, &[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let coded = self.file.stream(0..self.ends.last().copied().unwrap_or(0));
        let mut pieces = Pieces::of(coded.map_err(Error::from)?);
        (0..self.ends.len()).try_for_each(|chunk| {
            let bytes = self.bytes_of(chunk);
            visit(chunk, pieces.next((bytes.end - bytes.start) as usize)?)
        })
    }

    /// Reads the numbers at a range of positions, which must lie within the array. Decodes every
    /// chunk that overlaps it.
    pub fn read(&self, range: Range<usize>) -> Result<Vec<C::Number>> {
        // Chunks are decoded as a whole, so both ends may exceed the range for a while.
        let mut numbers = Vec::with_capacity(range.len() + 2 * CHUNK);
        let chunks = range.start / CHUNK..range.end.div_ceil(CHUNK);
        if chunks.is_empty() {
            return Ok(numbers);
        }
        let all = self.bytes_of(chunks.start).start..self.bytes_of(chunks.end - 1).end;
        let coded = self.file.read_range(all.start, (all.end - all.start) as usize)?;
        for chunk in chunks {
            let (here, bytes) = (self.numbers_of(chunk), self.bytes_of(chunk));
            let bytes =
                &coded[(bytes.start - all.start) as usize..(bytes.end - all.start) as usize];
            let first = numbers.len();
            numbers.resize(first + here.len(), C::Number::default());
            self.decode(chunk, bytes, &mut numbers[first..])?;
            numbers.truncate(first + range.end.min(here.end) - here.start);
            numbers.drain(first..first + range.start.max(here.start) - here.start);
        }
        Ok(numbers)
    }

    /// The positions of a chunk's numbers.
    fn numbers_of(&self, chunk: usize) -> Range<usize> {
        chunk * CHUNK..self.len.min((chunk + 1) * CHUNK)
    }

    fn bytes_of(&self, chunk: usize) -> Range<u64> {
        let start = chunk.checked_sub(1).map_or(0, |before| self.ends[before]);
        start..self.ends[chunk]
    }

    fn decode(&self, chunk: usize, bytes: &[u8], numbers: &mut [C::Number]) -> Result<()> {
        C::decode(bytes, numbers).map_err(|fault| self.fault(chunk, fault))
    }

    fn fault(&self, chunk: usize, fault: &str) -> Error {
        damaged(&self.file, &format!("chunk {chunk}"), fault.to_owned())
    }
}

impl Array<Unordered> {
    /// Whether the chunk of a position has no bytes, so that all its numbers are 0.
    pub fn is_empty_at(&self, position: usize) -> bool {
        self.bytes_of(position / CHUNK).is_empty()
    }
}

fn damaged(file: &BlockFile, part: &str, detail: String) -> Error {
    Error::corrupt(file.path(), part, detail)
}

fn read_ends(file: &BlockFile, len: usize) -> Result<Vec<u64>> {
    // The number of numbers follows the ends.
    let count = len.div_ceil(CHUNK) + 1;
    let Some(chunks_len) = file.len().checked_sub((count * size_of::<u64>()) as u64) else {
        let detail = format!("it has {} bytes, too few for {len} numbers", file.len());
        return Err(damaged(file, "payload", detail));
    };
    let mut ends = vec![0u64; count];
    file.read_into(chunks_len, ends.as_mut_bytes())?;
    let found = ends.pop().unwrap_or(0);
    if found != len as u64 {
        return Err(damaged(file, "payload", format!("it has {found} numbers, not {len}")));
    }
    let mut start = 0;
    let is_chunk = |&end: &u64| {
        let size = end.checked_sub(std::mem::replace(&mut start, end));
        size.is_some_and(|size| size <= CHUNK_SIZE_MAX)
    };
    if !ends.iter().all(is_chunk) || ends.last().copied().unwrap_or(0) != chunks_len {
        return Err(damaged(file, "payload", "its chunks do not follow each other".to_owned()));
    }
    Ok(ends)
}

/// A stream of bytes, read in pieces of any length.
struct Pieces<'f> {
    blocks: BlockStream<'f>,
    block: Option<CheckedBlock>,
    /// Bytes of the block that were taken.
    taken: usize,
    /// A piece that spans several blocks.
    joined: Vec<u8>,
}

impl<'f> Pieces<'f> {
    fn of(blocks: BlockStream<'f>) -> Pieces<'f> {
        Pieces { blocks, block: None, taken: 0, joined: Vec::new() }
    }

    /// The next `len` bytes, which must exist.
    fn next(&mut self, len: usize) -> Result<&[u8]> {
        let left = self.block.as_ref().map_or(0, |block| block.len() - self.taken);
        if len <= left {
            self.taken += len;
            return Ok(self
                .block
                .as_ref()
                .map_or(&[], |block| &block[self.taken - len..self.taken]));
        }
        self.joined.clear();
        while self.joined.len() < len {
            let Some(block) = &self.block else {
                // The frame is released before waiting for the next one.
                self.block = self.blocks.next().transpose()?;
                self.taken = 0;
                assert!(self.block.is_some(), "more bytes were asked for than there are");
                continue;
            };
            let part = &block[self.taken..block.len().min(self.taken + len - self.joined.len())];
            self.joined.extend_from_slice(part);
            self.taken += part.len();
            if self.taken == block.len() {
                self.block = None;
            }
        }
        Ok(&self.joined)
    }
}
