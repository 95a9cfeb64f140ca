//! Raw binary pairs: little-endian `source, target`, with an `f32` after each pair if weighted.
//!
//! ```text
//! width 32:  | source u32 | target u32 | weight f32 |       8 or 12 bytes a record
//! width 64:  | source u64     | target u64     | weight f32 |    16 or 20 bytes
//! ```
//!
//! Workers read ranges of records at their offsets. Pairs without weights go straight into the
//! buffer that the sink sees.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use tegula_store::{At, Diagnostic, Error, Hint, Result};
use tegula_tables::read::{bad_at, bad_file};
use zerocopy::{FromBytes, IntoBytes};

use super::chunk::Ends;
use super::options::PairWidth;
use super::reader::{Emit, Part, Reader, Space};
use crate::settings::WEIGHTED;

/// A file of raw pairs that is being read.
pub(super) struct PairReader<'a> {
    path: &'a Path,
    file: Arc<File>,
    layout: Layout,
    records: u64,
    next: u64,
}

#[derive(Debug, Clone, Copy)]
struct Layout {
    width: PairWidth,
    weighted: bool,
}

impl Layout {
    fn pair_bytes(self) -> usize {
        match self.width {
            PairWidth::Bits32 => size_of::<[u32; 2]>(),
            PairWidth::Bits64 => size_of::<[u64; 2]>(),
        }
    }

    fn record_bytes(self) -> usize {
        self.pair_bytes() + if self.weighted { size_of::<f32>() } else { 0 }
    }
}

/// Refuses a file that ends within a record.
pub(super) fn check_length(
    path: &Path,
    bytes: u64,
    width: PairWidth,
    weighted: bool,
) -> Result<()> {
    let record = Layout { width, weighted }.record_bytes() as u64;
    if bytes.is_multiple_of(record) {
        return Ok(());
    }
    let whole = bytes - bytes % record;
    let other = Layout { width, weighted: !weighted }.record_bytes() as u64;
    let ends = format!("the file ends within a record of {record} bytes");
    let problem = match weighted {
        _ if !bytes.is_multiple_of(other) => {
            Diagnostic::from(format!("{ends}; it is cut off or not of this format"))
        }
        true => {
            Diagnostic::from(format!("{ends}; it fits records of {other} bytes, without weights"))
                .hint(Hint::leave_out(WEIGHTED.option))
        }
        false => {
            Diagnostic::from(format!("{ends}; it fits records of {other} bytes, with weights"))
                .hint(Hint::set([WEIGHTED]))
        }
    };
    Err(bad_at(path, At::Byte(whole), problem))
}

impl<'a> PairReader<'a> {
    pub fn open(path: &'a Path, width: PairWidth, weighted: bool) -> Result<PairReader<'a>> {
        let file = File::open(path).map_err(Error::io("open", path))?;
        let bytes = file.metadata().map_err(Error::io("read", path))?.len();
        // Again, because the file may have changed since its format was found.
        check_length(path, bytes, width, weighted)?;
        let layout = Layout { width, weighted };
        let records = bytes / layout.record_bytes() as u64;
        Ok(PairReader { path, file: Arc::new(file), layout, records, next: 0 })
    }
}

impl<'a> Reader<'a> for PairReader<'a> {
    fn claim(&mut self, _space: &mut Space, emit: &Emit<'_>) -> Result<Option<Part<'a>>> {
        if self.next == self.records {
            return Ok(None);
        }
        let in_block = (emit.sizes.block_bytes / self.layout.record_bytes()).max(1);
        let count = in_block.min(emit.sizes.chunk_edges) as u64;
        let first = self.next;
        self.next = self.records.min(first + count);
        let count = (self.next - first) as usize;
        let (path, file, layout) = (self.path, Arc::clone(&self.file), self.layout);
        Ok(Some(Box::new(move |space, emit| {
            let records = Records { path, file: &file, layout, first, count };
            match layout.weighted {
                true => records.emit_weighted(space, emit)?,
                false => records.emit_plain(space, emit)?,
            }
            emit.progress.advance((count * layout.record_bytes()) as u64);
            Ok(())
        })))
    }
}

/// A range of a file's records.
struct Records<'a> {
    path: &'a Path,
    file: &'a File,
    layout: Layout,
    first: u64,
    count: usize,
}

impl Records<'_> {
    fn offset(&self) -> u64 {
        self.first * self.layout.record_bytes() as u64
    }

    fn read(&self, space: &mut [u8]) -> Result<()> {
        self.file.read_exact_at(space, self.offset()).map_err(|error| match error.kind() {
            std::io::ErrorKind::UnexpectedEof => {
                bad_file(self.path, "the file became shorter while it was read")
            }
            _ => Error::io("read", self.path)(error),
        })
    }

    fn emit_plain(&self, space: &mut Space, emit: &Emit<'_>) -> Result<()> {
        match self.layout.width {
            PairWidth::Bits32 => {
                let pairs = first_of(&mut space.pairs32, self.count);
                self.read(pairs.as_mut_bytes())?;
                pairs.as_flattened_mut().iter_mut().for_each(|id| *id = u32::from_le(*id));
                emit.chunk(Ends::Pairs32(pairs), &[])
            }
            PairWidth::Bits64 => {
                let pairs = first_of(&mut space.pairs64, self.count);
                self.read(pairs.as_mut_bytes())?;
                pairs.as_flattened_mut().iter_mut().for_each(|id| *id = u64::from_le(*id));
                emit.chunk(Ends::Pairs64(pairs), &[])
            }
        }
    }

    fn emit_weighted(&self, space: &mut Space, emit: &Emit<'_>) -> Result<()> {
        let record_bytes = self.layout.record_bytes();
        let block = first_of(&mut space.block, self.count * record_bytes);
        self.read(block)?;
        let weights = first_of(&mut space.weights, self.count);
        let pair_bytes = self.layout.pair_bytes();
        for (index, record) in block.chunks_exact(record_bytes).enumerate() {
            weights[index] = self.weight(index, &record[pair_bytes..])?;
        }
        let records = block.chunks_exact(record_bytes);
        match self.layout.width {
            PairWidth::Bits32 => {
                let pairs = first_of(&mut space.pairs32, self.count);
                for (pair, record) in pairs.iter_mut().zip(records) {
                    pair.as_mut_bytes().copy_from_slice(&record[..pair_bytes]);
                    *pair = pair.map(u32::from_le);
                }
                emit.chunk(Ends::Pairs32(pairs), weights)
            }
            PairWidth::Bits64 => {
                let pairs = first_of(&mut space.pairs64, self.count);
                for (pair, record) in pairs.iter_mut().zip(records) {
                    pair.as_mut_bytes().copy_from_slice(&record[..pair_bytes]);
                    *pair = pair.map(u64::from_le);
                }
                emit.chunk(Ends::Pairs64(pairs), weights)
            }
        }
    }

    fn weight(&self, index: usize, bytes: &[u8]) -> Result<f32> {
        let weight = f32::read_from_bytes(bytes)
            .map_or(f32::NAN, |weight| f32::from_bits(weight.to_bits().to_le()));
        if weight.is_finite() {
            return Ok(weight);
        }
        let at = self.offset() + (index * self.layout.record_bytes()) as u64;
        let detail = format!("the weight {weight} is not finite");
        Err(bad_at(self.path, At::Byte(at), detail))
    }
}

/// Returns the first `count` items of a reused buffer, which grows as needed.
fn first_of<T: Copy + Default>(buffer: &mut Vec<T>, count: usize) -> &mut [T] {
    if buffer.len() < count {
        buffer.resize(count, T::default());
    }
    &mut buffer[..count]
}
