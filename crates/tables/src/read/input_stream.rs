//! Reads a file or standard input as a stream of decompressed bytes.

use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tegula_machine::threads::Cancel;
use tegula_store::{At, Error, Place, Result};

use super::decompress::{damage, decompress};
use crate::compression::Compression;

/// Decompressed bytes, read in order.
pub struct InputStream {
    path: PathBuf,
    compression: Compression,
    reader: Box<dyn Read + Send>,
    stored_read: Arc<AtomicU64>,
    stored_told: u64,
    plain_read: u64,
}

impl InputStream {
    /// The base-2 logarithm of the largest window that `zstd` makes by default. Such windows are
    /// always read, however little memory there is.
    pub const WINDOW_LOG_USUAL: u32 = 23;
    /// The base-2 logarithm of the largest window that `zstd` reads by default.
    pub const WINDOW_LOG_MAX: u32 = 27;

    /// Opens a file.
    pub fn open(path: &Path, compression: Compression, window_log_max: u32) -> Result<InputStream> {
        let file = File::open(path).map_err(Error::io("open", path))?;
        InputStream::new(path, Box::new(file), compression, window_log_max)
    }

    /// Decompresses what `stored` gives. zstd holds a whole window; a window of more than
    /// 2^`window_log_max` bytes is refused.
    pub fn new(
        path: &Path,
        stored: Box<dyn Read + Send>,
        compression: Compression,
        window_log_max: u32,
    ) -> Result<InputStream> {
        let stored_read = Arc::new(AtomicU64::new(0));
        let counted = Counted { inner: stored, read: Arc::clone(&stored_read) };
        let reader = decompress(counted, compression, window_log_max);
        let reader = reader.map_err(Error::io("read", path))?;
        let path = path.to_owned();
        Ok(InputStream { path, compression, reader, stored_read, stored_told: 0, plain_read: 0 })
    }

    /// Fills `space`, and returns how many bytes it read: fewer only at the end or on an error.
    pub fn fill(&mut self, space: &mut [u8]) -> (usize, Result<()>) {
        // A pipe and a decoder give what they have. Callers take fewer bytes than asked for as the
        // end, so this goes on until `space` is full.
        let mut filled = 0;
        let result = loop {
            if filled == space.len() {
                break Ok(());
            }
            match self.reader.read(&mut space[filled..]) {
                Ok(0) => break Ok(()),
                Ok(read) => filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => break Err(error),
            }
        };
        // Counted before an error is made, which says how far the text was read.
        self.plain_read += filled as u64;
        (filled, result.map_err(|error| self.failure(error)))
    }

    /// Skips the next `bytes` bytes, or the rest of a shorter stream.
    pub fn skip(&mut self, mut bytes: u64) -> Result<()> {
        let mut passed = vec![0; bytes.min(64 << 10) as usize];
        while bytes > 0 {
            let wanted = bytes.min(passed.len() as u64);
            let (read, result) = self.fill(&mut passed[..wanted as usize]);
            result?;
            bytes = if read as u64 == wanted { bytes - wanted } else { 0 };
        }
        Ok(())
    }

    /// Puts back `head`, the bytes that were read from this stream last.
    pub fn unread(&mut self, head: Vec<u8>) {
        self.plain_read -= head.len() as u64;
        // Each call nests the reader once more: this is for the first bytes, not for each block.
        let rest = std::mem::replace(&mut self.reader, Box::new(io::empty()));
        self.reader = Box::new(Cursor::new(head).chain(rest));
    }

    /// Bytes read from the stored file since the last call.
    pub fn stored_bytes_since(&mut self) -> u64 {
        let read = self.stored_read.load(Ordering::Relaxed);
        read - std::mem::replace(&mut self.stored_told, read)
    }

    fn failure(&self, error: io::Error) -> Error {
        match damage(&error, self.compression, self.plain_read) {
            Some(detail) => {
                Error::bad_input(Place { file: self.path.clone(), at: At::File }, detail)
            }
            None => Error::io("read", &self.path)(error),
        }
    }
}

impl std::fmt::Debug for InputStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("InputStream")
            .field("path", &self.path)
            .field("compression", &self.compression)
            .finish()
    }
}

/// Counts the bytes read from the stored file.
struct Counted {
    inner: Box<dyn Read + Send>,
    read: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(space)?;
        self.read.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

/// How long a [`Patient`] reader waits between two checks for cancellation.
const PATIENCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

/// A pipe or a terminal, which may send nothing for any length of time. The wait ends with
/// [`Error::Cancelled`](tegula_machine::Error::Cancelled) on cancellation.
pub(super) struct Patient {
    file: File,
    cancel: Cancel,
}

impl Patient {
    pub fn new(file: File, cancel: &Cancel) -> Patient {
        Patient { file, cancel: cancel.clone() }
    }
}

impl Read for Patient {
    fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        loop {
            self.cancel.check().map_err(io::Error::other)?;
            // A pipe without a writer was opened without waiting for one, and `read` would take it
            // for ended. `poll` waits until a writer comes.
            let mut waited_for = [PollFd::new(&self.file, PollFlags::IN)];
            match poll(&mut waited_for, Some(&PATIENCE)) {
                Ok(0) | Err(rustix::io::Errno::INTR) => {}
                Ok(_) => match self.file.read(space) {
                    // Another reader of the same pipe was quicker.
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                    done => return done,
                },
                Err(error) => return Err(error.into()),
            }
        }
    }
}
