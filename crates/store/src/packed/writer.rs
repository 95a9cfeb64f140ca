//! Writes packed arrays.

use std::io::Write;
use std::path::Path;

use tegula_machine::disk::{BlockFileSummary, BlockFileWriter, durable};
use zerocopy::IntoBytes;

use super::{CHUNK, Coding};
use crate::{Error, Result};

/// log2 of the bytes that are checked together: about a chunk, since single chunks are looked up.
const BLOCK_LOG2: u32 = 16;

/// Writes an array from front to back. Holds a chunk, and 8 bytes for each chunk before it.
#[derive(Debug)]
pub struct PackedWriter<C: Coding> {
    file: BlockFileWriter,
    coding: C,
    /// Numbers of the next chunk; fewer than a chunk between calls.
    waiting: Vec<C::Number>,
    bytes: Vec<u8>,
    /// The end of each chunk in bytes.
    ends: Vec<u64>,
    /// Numbers so far.
    len: u64,
}

impl<C: Coding> PackedWriter<C> {
    /// Creates a file, which must not exist.
    pub fn create(path: &Path, coding: C) -> Result<PackedWriter<C>> {
        let file = durable::create_file(path).map_err(Error::io("create", path))?;
        let file = BlockFileWriter::new(file, path, BLOCK_LOG2);
        let (waiting, bytes, ends) = (Vec::new(), Vec::new(), Vec::new());
        Ok(PackedWriter { file, coding, waiting, bytes, ends, len: 0 })
    }

    /// Appends numbers.
    pub fn push(&mut self, mut numbers: &[C::Number]) -> Result<()> {
        while let Some(part) = numbers.split_off(..numbers.len().min(CHUNK - self.waiting.len()))
            && !part.is_empty()
        {
            self.waiting.extend_from_slice(part);
            if self.waiting.len() == CHUNK {
                self.write_chunk()?;
            }
        }
        Ok(())
    }

    /// Appends `count` numbers that continue from `first` as in a [regular](Coding) chunk. Full
    /// chunks take constant time.
    pub fn push_regular(&mut self, first: C::Number, count: u64) -> Result<()> {
        let mut done = 0;
        while done < count {
            let here = (count - done).min((CHUNK - self.waiting.len()) as u64);
            let next = C::regular(first, done);
            self.bytes.clear();
            if here == CHUNK as u64 && self.coding.encode_regular(next, CHUNK, &mut self.bytes) {
                self.write_encoded(CHUNK)?;
            } else {
                self.waiting.extend((0..here).map(|index| C::regular(next, index)));
                if self.waiting.len() == CHUNK {
                    self.write_chunk()?;
                }
            }
            done += here;
        }
        Ok(())
    }

    fn write_chunk(&mut self) -> Result<()> {
        self.bytes.clear();
        self.coding.encode(&self.waiting, &mut self.bytes);
        let count = self.waiting.len();
        self.waiting.clear();
        self.write_encoded(count)
    }

    /// Writes the bytes of a chunk of `count` numbers.
    fn write_encoded(&mut self, count: usize) -> Result<()> {
        self.len += count as u64;
        let end = self.ends.last().unwrap_or(&0) + self.bytes.len() as u64;
        self.ends.push(end);
        self.file.write_all(&self.bytes).map_err(Error::io("write", self.file.path()))
    }

    /// Writes the rest. Everything is synced to disk when it returns.
    pub fn finish(mut self) -> Result<BlockFileSummary> {
        if !self.waiting.is_empty() {
            self.write_chunk()?;
        }
        self.ends.push(self.len);
        let written = self.file.write_all(self.ends.as_bytes());
        written.map_err(|error| Error::io("write", self.file.path())(error))?;
        Ok(self.file.finish()?)
    }
}
