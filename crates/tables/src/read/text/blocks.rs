//! Cuts a stream of text into blocks at line ends.

use std::path::{Path, PathBuf};

use memchr::{memchr_iter, memrchr};
use tegula_machine::Bytes;
use tegula_store::{At, Error, Result};

use super::super::fault::bad_at;
use super::super::input_stream::InputStream;

/// Where the rows begin: after a byte order mark, comments and a header.
#[derive(Debug, Clone, Copy, Default)]
pub struct Start {
    /// Bytes before them.
    pub bytes: u64,
    /// Lines before them.
    pub lines: u64,
}

/// The blocks of a stream.
pub struct Blocks {
    path: PathBuf,
    stream: InputStream,
    /// The start of the line that the last block cut off.
    carry: Vec<u8>,
    block_bytes: usize,
    /// The longest line that is read.
    line_bytes_max: usize,
    next_line: u64,
    /// `Some` once the stream has ended, perhaps with an error that is still to be reported.
    end: Option<Result<()>>,
}

/// A block in a worker's buffer, which ends with a line feed.
#[derive(Debug, Clone, Copy)]
pub struct TextBlock {
    /// Its length.
    pub bytes: usize,
    /// The number of its first line, from 1.
    pub first_line: u64,
    /// Where the last line begins, if it has no line feed in the stream but lines before it have
    /// one.
    pub open_end: Option<usize>,
}

impl Blocks {
    /// Skips what comes before `start`. A block has about `block_bytes` bytes; a longer line makes
    /// a longer block.
    pub fn new(
        path: &Path,
        mut stream: InputStream,
        start: Start,
        block_bytes: usize,
        line_bytes_max: usize,
    ) -> Result<Blocks> {
        stream.skip(start.bytes)?;
        Ok(Blocks {
            path: path.to_owned(),
            stream,
            carry: Vec::new(),
            block_bytes: block_bytes.max(1),
            line_bytes_max,
            next_line: start.lines + 1,
            end: None,
        })
    }

    /// Reads the next block into the first bytes of `space`.
    ///
    /// If the stream breaks off with an error, the whole lines before it are still handed out, so
    /// that a fault in them is reported instead.
    pub fn next(&mut self, space: &mut Vec<u8>) -> Result<Option<TextBlock>> {
        let mut filled = self.carry.len();
        grow(space, filled + self.block_bytes);
        space[..filled].copy_from_slice(&self.carry);
        self.carry.clear();
        let mut searched = 0;
        let cut = loop {
            if self.end.is_none() {
                let (read, result) = self.stream.fill(&mut space[filled..][..self.block_bytes]);
                if read < self.block_bytes || result.is_err() {
                    self.end = Some(result);
                }
                filled += read;
            }
            let line_end = memrchr(b'\n', &space[searched..filled]).map(|at| searched + at + 1);
            match (line_end, &self.end) {
                (Some(cut), None | Some(Err(_))) => break cut,
                // Where the error cut the only line off, its rest is unknown: no part of it is
                // handed out.
                (None, Some(Err(_))) => break 0,
                (_, Some(Ok(()))) => break filled,
                (None, None) if filled > self.line_bytes_max => {
                    return Err(line_too_long(&self.path, self.next_line, self.line_bytes_max));
                }
                // Searching from the start again would make a long line cost the square of its
                // blocks.
                (None, None) => searched = filled,
            }
            grow(space, filled + self.block_bytes);
        };
        self.carry.extend_from_slice(&space[cut..filled]);
        self.finish(space, cut)
    }

    /// Ends the block's last line with a line feed, and counts the block's lines.
    fn finish(&mut self, space: &mut Vec<u8>, mut bytes: usize) -> Result<Option<TextBlock>> {
        if bytes == 0 {
            self.carry.clear();
            // An error is reported once. Further calls find the end.
            let end = self.end.replace(Ok(()));
            return end.unwrap_or(Ok(())).map(|()| None);
        }
        let first_line = self.next_line;
        let mut open_end = None;
        if space[bytes - 1] != b'\n' {
            let line_start = memrchr(b'\n', &space[..bytes]).map_or(0, |at| at + 1);
            // If no line has a line feed, its lack on the only line says nothing about a cut.
            open_end = (line_start > 0 || first_line > 1).then_some(line_start);
            grow(space, bytes + 1);
            space[bytes] = b'\n';
            bytes += 1;
        }
        self.next_line += memchr_iter(b'\n', &space[..bytes]).count() as u64;
        Ok(Some(TextBlock { bytes, first_line, open_end }))
    }

    /// Bytes read from the stored file since the last call.
    pub fn stored_bytes_since(&mut self) -> u64 {
        self.stream.stored_bytes_since()
    }
}

/// The error for a line that is too long.
pub(super) fn line_too_long(path: &Path, line: u64, bytes_max: usize) -> Error {
    let detail = format!(
        "the line is longer than {}, the limit for this memory; is this text?",
        Bytes(bytes_max as u64)
    );
    bad_at(path, At::Line(line), detail)
}

/// Makes `space` at least `bytes` long.
fn grow(space: &mut Vec<u8>, bytes: usize) {
    if space.len() < bytes {
        space.resize(bytes, 0);
    }
}
