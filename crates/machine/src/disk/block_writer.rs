//! Writes the block files that [`BlockFile`](super::BlockFile) reads.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use zerocopy::IntoBytes;

use crate::disk::{Directory, durable};
use crate::error::{Error, Result};

use super::block_checksums::BlockChecksums;
use super::block_format::{BLOCK_LOG2, BLOCK_LOG2_RANGE, Trailer};

/// A file being written. The trait is narrow, so that tests can fail each step.
pub trait OutputFile: Write {
    /// Waits until all that was written would survive a loss of power.
    fn sync(&mut self) -> io::Result<()>;
}

impl OutputFile for File {
    fn sync(&mut self) -> io::Result<()> {
        durable::sync(self)
    }
}

/// Describes a written block file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockFileSummary {
    /// Bytes of payload.
    pub payload_len: u64,
    /// Bytes of the file.
    pub file_len: u64,
    /// The checksum of the footer, which holds the checksums of the blocks. So it stands for the
    /// content.
    pub footer_crc: u32,
}

/// Writes an immutable file of checksummed blocks from front to back. Without
/// [`finish`](BlockFileWriter::finish), the file cannot be opened.
#[derive(Debug)]
pub struct BlockFileWriter<W: OutputFile = File> {
    output: W,
    path: PathBuf,
    block_log2: u32,
    /// The block being filled; never full between calls.
    block: Vec<u8>,
    checksums: BlockChecksums,
    written: u64,
    /// A write failed; it is unknown how much of it arrived.
    failed: bool,
}

impl BlockFileWriter<File> {
    /// Creates a file, which must not exist.
    pub fn create(path: impl AsRef<Path>) -> Result<BlockFileWriter<File>> {
        let path = path.as_ref();
        let file = durable::create_file(path).map_err(Error::io("create", path))?;
        Ok(BlockFileWriter::new(file, path, BLOCK_LOG2))
    }

    /// Creates a file in a folder, which must not exist, with blocks of `2^block_log2` bytes.
    pub fn create_in(
        folder: &Directory,
        name: &str,
        block_log2: u32,
    ) -> Result<BlockFileWriter<File>> {
        let path = folder.join(name);
        let file = folder.create_file(name).map_err(Error::io("create", &path))?;
        Ok(BlockFileWriter::new(file, path, block_log2))
    }

    /// Returns its path, for messages.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl<W: OutputFile> BlockFileWriter<W> {
    /// Writes to `output` in blocks of `2^block_log2` bytes; `path` is for messages.
    ///
    /// # Panics
    ///
    /// If `block_log2` is not within 12..=30.
    pub fn new(output: W, path: impl AsRef<Path>, block_log2: u32) -> BlockFileWriter<W> {
        assert!(BLOCK_LOG2_RANGE.contains(&block_log2), "blocks of 2^{block_log2} bytes");
        BlockFileWriter {
            output,
            path: path.as_ref().to_owned(),
            block_log2,
            block: Vec::new(),
            checksums: BlockChecksums::default(),
            written: 0,
            failed: false,
        }
    }

    /// Writes the rest and the footer, and waits until all of it is safely on disk. The name of the
    /// file is not: sync its folder for that.
    pub fn finish(mut self) -> Result<BlockFileSummary> {
        self.try_finish().map_err(Error::io("write", &self.path))
    }

    fn try_finish(&mut self) -> io::Result<BlockFileSummary> {
        self.check_intact()?;
        let last = std::mem::take(&mut self.block);
        if !last.is_empty() {
            self.put_block(&last)?;
        }
        let mut footer = self.checksums.to_footer();
        let trailer = Trailer::new(&footer, self.block_log2, self.written);
        footer.extend_from_slice(trailer.as_bytes());
        self.output.write_all(&footer)?;
        self.output.flush()?;
        self.output.sync()?;
        Ok(BlockFileSummary {
            payload_len: self.written,
            file_len: self.written + footer.len() as u64,
            footer_crc: trailer.checksum(),
        })
    }

    fn put_block(&mut self, block: &[u8]) -> io::Result<()> {
        self.output.write_all(block).inspect_err(|_| self.failed = true)?;
        self.checksums.add(block);
        self.written += block.len() as u64;
        Ok(())
    }

    fn check_intact(&self) -> io::Result<()> {
        if self.failed {
            return Err(io::Error::other("an earlier write of it failed"));
        }
        Ok(())
    }
}

impl<W: OutputFile> Write for BlockFileWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.check_intact()?;
        let block_len = 1 << self.block_log2;
        if self.block.is_empty() && bytes.len() >= block_len {
            // A whole block needs no copy.
            self.put_block(&bytes[..block_len])?;
            return Ok(block_len);
        }
        let taken = bytes.len().min(block_len - self.block.len());
        self.block.extend_from_slice(&bytes[..taken]);
        if self.block.len() == block_len {
            let mut block = std::mem::take(&mut self.block);
            self.put_block(&block)?;
            block.clear();
            self.block = block;
        }
        Ok(taken)
    }

    /// Flushes the complete blocks. An incomplete block stays here, for it has no checksum yet.
    fn flush(&mut self) -> io::Result<()> {
        self.check_intact()?;
        self.output.flush()
    }
}
