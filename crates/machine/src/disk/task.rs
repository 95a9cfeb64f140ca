//! One read on its way through a backend: what to ask of the kernel next, and what its answers
//! mean.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{Error, Result};

use super::buffer::{Buffer, Frame, GRID};
use super::file::{OpenFile, is_invalid};
use super::pending::Promise;

/// The most bytes to ask of the kernel at once, which reads no more than 2 GiB.
const READ_LEN_MAX: usize = 1 << 30;

/// A byte range of a file, and the range on the 4096 grid around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Extent {
    /// Where the widened range starts.
    file_start: u64,
    /// Bytes of the widened range; the file may end inside of it.
    pub(super) wide_len: usize,
    /// Bytes in front of the requested ones.
    skip: usize,
    /// Requested bytes.
    len: usize,
}

impl Extent {
    /// Widens `len` bytes at `offset` to the grid; `None` where that overflows the address space.
    pub(super) fn new(offset: u64, len: usize) -> Option<Extent> {
        let skip = (offset % GRID as u64) as usize;
        let wide_len = skip.checked_add(len)?.checked_next_multiple_of(GRID)?;
        Some(Extent { file_start: offset - skip as u64, wide_len, skip, len })
    }
}

/// A read for a backend to do, with all that it needs.
pub(super) struct Task {
    file: Arc<OpenFile>,
    buffer: Buffer,
    extent: Extent,
    /// Bytes of the buffer that are read.
    done: usize,
    /// Whether the read that the kernel has now bypasses the page cache.
    direct: bool,
    interference: Interference,
    bytes_read: Arc<AtomicU64>,
    promise: Promise,
}

/// What fault injection does to a task.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Interference {
    /// Replaces the next answer of the kernel by this error.
    pub(super) errno: Option<i32>,
    /// Limits the next answer of the kernel to this many bytes.
    pub(super) short: Option<usize>,
    /// Flips this bit of the finished frame, modulo its length in bits.
    pub(super) flip_bit: Option<u64>,
}

impl Task {
    pub(super) fn new(
        file: Arc<OpenFile>,
        buffer: Buffer,
        extent: Extent,
        bytes_read: Arc<AtomicU64>,
        promise: Promise,
    ) -> Task {
        assert!(extent.wide_len <= buffer.bytes().len());
        let interference = Interference::default();
        Task { file, buffer, extent, done: 0, direct: false, interference, bytes_read, promise }
    }

    pub(super) fn file(&self) -> &OpenFile {
        &self.file
    }

    pub(super) fn interfere(&mut self, interference: Interference) {
        self.interference = interference;
    }

    /// Returns the next read: its destination, and its offset in the file. The slice belongs to the
    /// buffer of this task, and does not move with the task.
    pub(super) fn next_read(&mut self) -> (&mut [u8], u64) {
        self.direct = self.file.is_direct();
        let position = self.position();
        let end = self.extent.wide_len.min(position + READ_LEN_MAX);
        let offset = self.extent.file_start + position as u64;
        (&mut self.buffer.bytes_mut()[position..end], offset)
    }

    /// Returns where in the buffer the next read starts. A short read may have ended off the grid,
    /// where direct I/O cannot go on, so the last page is read again.
    fn position(&self) -> usize {
        self.done / GRID * GRID
    }

    /// Takes the kernel's answer to [`next_read`](Task::next_read). Returns the task while there is
    /// more to read.
    pub(super) fn advance(mut self, answer: io::Result<usize>) -> Option<Task> {
        let answer = self.interference.answer(answer);
        match answer {
            Ok(bytes) => {
                self.bytes_read.fetch_add(bytes as u64, Ordering::Relaxed);
                let reached = self.position() + bytes;
                if reached >= self.extent.skip + self.extent.len {
                    self.finish();
                    return None;
                }
                if reached <= self.done {
                    self.fail_at_end();
                    return None;
                }
                self.done = reached;
                Some(self)
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Some(self),
            Err(error) if self.direct && is_invalid(&error) => match self.file.leave_direct() {
                Ok(()) => Some(self),
                Err(_) => self.fail(error),
            },
            Err(error) => self.fail(error),
        }
    }

    /// Does the whole task on the calling thread.
    pub(super) fn run(mut self) {
        loop {
            let file = Arc::clone(&self.file);
            let (out, offset) = self.next_read();
            let answer = file.read_at(out, offset);
            match self.advance(answer) {
                Some(task) => self = task,
                None => return,
            }
        }
    }

    /// Ends a task whose buffer the kernel may still write to. The buffer is never reused.
    pub(super) fn leak(self) {
        self.buffer.leak();
    }

    fn finish(mut self) {
        let Extent { file_start, wide_len, skip, len } = self.extent;
        self.file.forget_cached(file_start, wide_len);
        if let Some(bit) = self.interference.flip_bit {
            let bit = (bit % (len as u64 * 8)) as usize;
            self.buffer.bytes_mut()[skip + bit / 8] ^= 1 << (bit % 8);
        }
        self.promise.answer(Ok(Frame::new(self.buffer, skip, len)));
    }

    fn fail(self, source: io::Error) -> Option<Task> {
        let offset = self.extent.file_start + self.position() as u64;
        let source = io::Error::new(source.kind(), AtByte { offset, source });
        // The buffer first: once the failure is reported, the memory has been returned.
        drop(self.buffer);
        self.promise.answer(Err(Error::io("read", &self.file.path)(source)));
        None
    }

    fn fail_at_end(self) {
        let end = self.extent.file_start + self.done as u64;
        drop(self.buffer);
        self.promise.answer(Err(Error::Corrupt {
            path: self.file.path.clone(),
            part: format!("byte {end}"),
            detail: format!("the file ends there, but it had {} bytes when opened", self.file.len),
        }));
    }
}

impl Interference {
    /// Returns the kernel's answer, changed by the injected faults. Each fault strikes once.
    fn answer(&mut self, answer: io::Result<usize>) -> io::Result<usize> {
        if let Some(errno) = self.errno.take() {
            return Err(io::Error::from_raw_os_error(errno));
        }
        let short = self.short.take().unwrap_or(usize::MAX);
        answer.map(|bytes| bytes.min(short))
    }
}

/// Checks a request against its file and widens it.
pub(super) fn extent_in(file: &OpenFile, offset: u64, len: usize) -> Result<Extent> {
    let end = offset.checked_add(len as u64);
    match end.filter(|&end| end <= file.len).and_then(|_| Extent::new(offset, len)) {
        Some(extent) => Ok(extent),
        None => Err(Error::Corrupt {
            path: file.path.clone(),
            part: format!("byte {}", offset.max(file.len)),
            detail: format!(
                "{len} bytes at byte {offset} were asked for, but the file has {} bytes",
                file.len
            ),
        }),
    }
}

/// An error of the operating system, with its place in the file.
#[derive(Debug)]
struct AtByte {
    offset: u64,
    source: io::Error,
}

impl fmt::Display for AtByte {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at byte {}: {}", self.offset, self.source)
    }
}

impl std::error::Error for AtByte {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}
