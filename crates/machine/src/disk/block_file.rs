//! Reads block files, and checks each block against its checksum.

use std::collections::VecDeque;
use std::fmt;
use std::fs::File;
use std::io;
use std::ops::{Deref, Range};
use std::os::unix::fs::FileExt;
use std::path::Path;

use zerocopy::{FromBytes, IntoBytes};

use crate::error::{Error, Result};

use super::block_checksums::BlockChecksums;
use super::block_format::{
    BLOCK_LOG2, BLOCK_LOG2_RANGE, CHECKSUM_LEN, MAGIC, TRAILER_LEN, Trailer, VERSION,
};
use super::block_writer::BlockFileSummary;
use super::buffer::Frame;
use super::checksum::crc32c;
use super::file::{Caching, FileHandle};
use super::pending::Pending;
use super::reader::Reader;

/// An open block file. Each block is checked against its checksum when it is read.
#[derive(Clone)]
pub struct BlockFile {
    reader: Reader,
    file: FileHandle,
    block_len: u64,
    payload_len: u64,
    checksums: BlockChecksums,
    footer_crc: u32,
}

impl BlockFile {
    /// Opens a block file and checks its trailer and footer. Blocks are checked when they are read.
    pub fn open(reader: &Reader, path: impl AsRef<Path>, caching: Caching) -> Result<BlockFile> {
        BlockFile::of(reader, reader.open_file(path, caching)?)
    }

    /// Like [`open`](BlockFile::open), for a file that is open.
    pub fn of(reader: &Reader, file: FileHandle) -> Result<BlockFile> {
        let Some(trailer_start) = file.len().checked_sub(TRAILER_LEN as u64) else {
            let detail = format!("it has {} bytes, less than a trailer", file.len());
            return Err(corrupt(&file, "trailer", detail));
        };
        // Its frame must be dropped before the next one is waited for: it may take the whole
        // budget.
        let trailer = {
            let frame = reader.read(&file, trailer_start, TRAILER_LEN).wait()?;
            Trailer::read_from_bytes(&frame)
                .map_err(|_| corrupt(&file, "trailer", "it is too short".to_owned()))?
        };
        let (block_len, footer_len) = layout(&file, &trailer)?;
        let footer_start = trailer.payload_len.get();
        let covered = reader.read(&file, footer_start, footer_len + TRAILER_LEN - 4).wait()?;
        // The trailer was read twice: both copies must agree, since the checksum covers the second.
        let is_same = covered[footer_len..] == trailer.as_bytes()[..TRAILER_LEN - 4];
        if !is_same || crc32c(&covered) != trailer.checksum() {
            return Err(corrupt(&file, "footer", "its checksum differs".to_owned()));
        }
        if trailer.version != VERSION {
            let (found, supported) = (trailer.version.get(), VERSION);
            let path = file.path().to_owned();
            return Err(Error::UnsupportedVersion { path, found, supported });
        }
        let checksums = BlockChecksums::of_footer(&covered[..footer_len]);
        let payload_len = trailer.payload_len.get();
        let footer_crc = trailer.checksum();
        let reader = reader.clone();
        Ok(BlockFile { reader, file, block_len, payload_len, checksums, footer_crc })
    }

    /// Returns the bytes of payload.
    #[expect(clippy::len_without_is_empty, reason = "a length, not a collection")]
    pub fn len(&self) -> u64 {
        self.payload_len
    }

    /// Returns what its writer reported of it, which stands for its content.
    pub fn summary(&self) -> BlockFileSummary {
        BlockFileSummary {
            payload_len: self.payload_len,
            file_len: self.file.len(),
            footer_crc: self.footer_crc,
        }
    }

    /// The most bytes of blocks that a stream keeps in flight, if the budget allows.
    pub const STREAM_SIZE_MAX: u64 = 16 << 20;

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// Returns the checked bytes of a range, block by block, with several blocks in flight.
    pub fn stream(&self, range: Range<u64>) -> Result<BlockStream<'_>> {
        if range.start > range.end || range.end > self.payload_len {
            let detail = format!(
                "bytes {}..{} were asked for, but it holds {} bytes",
                range.start, range.end, self.payload_len
            );
            return Err(corrupt(&self.file, "payload", detail));
        }
        let blocks = if range.is_empty() {
            0..0
        } else {
            range.start / self.block_len..range.end.div_ceil(self.block_len)
        };
        // At most half of the pool, because others read too.
        let bytes = BlockFile::STREAM_SIZE_MAX.min(self.reader.pool().frames_max() / 2);
        let depth =
            (bytes / self.block_len).clamp(1, BlockFile::STREAM_SIZE_MAX >> BLOCK_LOG2) as usize;
        Ok(BlockStream { file: self, range, blocks, in_flight: VecDeque::new(), depth })
    }

    /// Fills `out` with the bytes from `offset` on.
    pub fn read_into(&self, offset: u64, out: &mut [u8]) -> Result<()> {
        let end = offset.saturating_add(out.len() as u64);
        let mut rest = out;
        for block in self.stream(offset..end)? {
            let block = block?;
            let (head, tail) = rest.split_at_mut(block.len());
            head.copy_from_slice(&block);
            rest = tail;
        }
        Ok(())
    }

    /// Returns the bytes of a range.
    pub fn read_range(&self, offset: u64, len: usize) -> Result<Vec<u8>> {
        // Checked before the allocation: a damaged length may have any value.
        self.stream(offset..offset.saturating_add(len as u64))?;
        let mut bytes = vec![0; len];
        self.read_into(offset, &mut bytes)?;
        Ok(bytes)
    }

    /// Fills `out` with the whole payload, which must have exactly that size.
    pub fn read_all_into<T: FromBytes + IntoBytes>(&self, out: &mut [T]) -> Result<()> {
        let out = out.as_mut_bytes();
        if out.len() as u64 != self.payload_len {
            let detail = format!("it holds {} bytes, not {}", self.payload_len, out.len());
            return Err(corrupt(&self.file, "payload", detail));
        }
        self.read_into(0, out)
    }

    /// Reads and checks all blocks.
    pub fn verify(&self) -> Result<()> {
        self.stream(0..self.payload_len)?.try_for_each(|block| block.map(drop))
    }

    /// Returns the bytes of a block, a power of two.
    pub fn block_len(&self) -> u64 {
        self.block_len
    }

    pub(super) fn reader(&self) -> &Reader {
        &self.reader
    }

    pub(super) fn handle(&self) -> &FileHandle {
        &self.file
    }

    /// Checks neighbouring blocks, from block `first` on, against their checksums.
    pub(super) fn check_blocks(&self, first: u64, bytes: &[u8]) -> Result<()> {
        // A block is at most 1 GiB.
        let blocks = bytes.chunks(self.block_len as usize);
        blocks.zip(first..).try_for_each(|(bytes, block)| self.check(block, bytes))
    }

    fn request(&self, block: u64) -> Pending {
        let start = block * self.block_len;
        // At most a block, which is at most 1 GiB.
        let len = self.block_len.min(self.payload_len - start) as usize;
        self.reader.read(&self.file, start, len)
    }

    fn check(&self, block: u64, bytes: &[u8]) -> Result<()> {
        if self.checksums.fit(block, bytes) {
            return Ok(());
        }
        Err(corrupt(&self.file, &format!("block {block}"), "its checksum differs".to_owned()))
    }
}

impl fmt::Debug for BlockFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BlockFile({}, {} bytes)", self.path().display(), self.payload_len)
    }
}

/// Returns whether a file ends with the magic of a block file's trailer.
pub fn ends_as_block_file(file: &File) -> io::Result<bool> {
    let Some(start) = file.metadata()?.len().checked_sub(TRAILER_LEN as u64) else {
        return Ok(false);
    };
    let mut magic = [0; MAGIC.len()];
    file.read_exact_at(&mut magic, start)?;
    Ok(magic == MAGIC)
}

/// Returns the lengths of a block and of the footer, if the trailer's numbers fit the file.
fn layout(file: &FileHandle, trailer: &Trailer) -> Result<(u64, usize)> {
    let bad = |detail: String| Err(corrupt(file, "trailer", detail));
    if trailer.magic != MAGIC {
        return bad("the file does not end as a block file does".to_owned());
    }
    let block_log2 = trailer.block_log2.get();
    if !BLOCK_LOG2_RANGE.contains(&block_log2) {
        return bad(format!("blocks of 2^{block_log2} bytes"));
    }
    if trailer.reserved != 0 {
        return bad("reserved bytes are not zero".to_owned());
    }
    let block_len = 1u64 << block_log2;
    let payload_len = trailer.payload_len.get();
    // Less than 2^52 blocks: their checksums do not overflow.
    let footer_len = payload_len.div_ceil(block_len) * CHECKSUM_LEN;
    let file_len =
        payload_len.checked_add(footer_len).and_then(|len| len.checked_add(TRAILER_LEN as u64));
    match usize::try_from(footer_len) {
        Ok(footer_len) if file_len == Some(file.len()) => Ok((block_len, footer_len)),
        _ => bad(format!("{payload_len} bytes of payload do not fit {} of file", file.len())),
    }
}

fn corrupt(file: &FileHandle, part: &str, detail: String) -> Error {
    Error::Corrupt { path: file.path().to_owned(), part: part.to_owned(), detail }
}

/// The checked blocks of a range in order, read ahead. Ends after the first error.
pub struct BlockStream<'f> {
    file: &'f BlockFile,
    range: Range<u64>,
    /// Blocks that are not requested yet.
    blocks: Range<u64>,
    in_flight: VecDeque<(u64, Pending)>,
    depth: usize,
}

/// Checked bytes of one block: the part inside the requested range.
#[derive(Debug)]
pub struct CheckedBlock {
    frame: Frame,
    part: Range<usize>,
    offset: u64,
}

impl CheckedBlock {
    /// Returns the offset of its first byte in the payload.
    pub fn offset(&self) -> u64 {
        self.offset
    }
}

impl Deref for CheckedBlock {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.frame[self.part.clone()]
    }
}

impl BlockStream<'_> {
    fn receive(&self, index: u64, pending: Pending) -> Result<CheckedBlock> {
        let frame = pending.wait()?;
        self.file.check(index, &frame)?;
        let start = index * self.file.block_len;
        let end = start + frame.len() as u64;
        let (from, to) = (self.range.start.max(start), self.range.end.min(end));
        // Both lie in the frame.
        let part = (from - start) as usize..(to - start) as usize;
        Ok(CheckedBlock { frame, part, offset: from })
    }
}

impl Iterator for BlockStream<'_> {
    type Item = Result<CheckedBlock>;

    fn next(&mut self) -> Option<Result<CheckedBlock>> {
        while self.in_flight.len() < self.depth
            && let Some(block) = self.blocks.next()
        {
            self.in_flight.push_back((block, self.file.request(block)));
        }
        let (index, pending) = self.in_flight.pop_front()?;
        let block = self.receive(index, pending);
        if block.is_err() {
            self.blocks = 0..0;
            self.in_flight.clear();
        }
        Some(block)
    }
}
