//! An open file, on disk or in memory.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io;
use std::num::NonZeroU64;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{Advice, OFlags, fadvise, fcntl_getfl, fcntl_setfl};

use crate::disk::{Directory, durable};
use crate::error::{Error, Result};

/// Where the bytes of a file may stay, besides the frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caching {
    /// Nowhere: reads bypass the page cache. This is for a graph that exceeds the budget. Where the
    /// file system has no direct I/O, the bytes read are dropped from the page cache afterwards.
    Direct,
    /// In the page cache. This is for a graph that fits into it.
    PageCache,
}

/// A file opened by [`Reader::open_file`](super::Reader::open_file). Clones share it. It is closed
/// when the last clone and its last read are gone.
#[derive(Clone)]
pub struct FileHandle(pub(super) Arc<OpenFile>);

impl FileHandle {
    /// Wraps a file that is open for reading and writing. `path` is for messages; `direct` says
    /// whether it was opened for direct I/O.
    pub(super) fn of(
        file: File,
        path: PathBuf,
        len: u64,
        (caching, direct): (Caching, bool),
    ) -> FileHandle {
        let disk = Disk { file, caching, direct: AtomicBool::new(direct) };
        FileHandle(Arc::new(OpenFile { path, len, source: Source::Disk(disk) }))
    }

    /// Returns its length in bytes when it was opened.
    #[expect(clippy::len_without_is_empty, reason = "a length, not a collection")]
    pub fn len(&self) -> u64 {
        self.0.len
    }

    /// Returns its path as given.
    pub fn path(&self) -> &Path {
        &self.0.path
    }
}

impl fmt::Debug for FileHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FileHandle({}, {} bytes)", self.path().display(), self.len())
    }
}

pub(super) struct OpenFile {
    pub(super) path: PathBuf,
    pub(super) len: u64,
    pub(super) source: Source,
}

pub(super) enum Source {
    Disk(Disk),
    Memory(Vec<u8>),
}

pub(super) struct Disk {
    pub(super) file: File,
    caching: Caching,
    /// Whether the file is read past the page cache right now.
    direct: AtomicBool,
}

impl OpenFile {
    /// Opens a file on disk.
    pub(super) fn on_disk(location: &Location<'_>, caching: Caching) -> Result<OpenFile> {
        let path = location.path();
        let (file, direct) = location.open(caching).map_err(Error::io("open", &path))?;
        let metadata = file.metadata().map_err(Error::io("open", &path))?;
        if !metadata.is_file() {
            let kind = io::Error::new(io::ErrorKind::InvalidInput, "not a regular file");
            return Err(Error::io("open", &path)(kind));
        }
        let disk = Disk { file, caching, direct: AtomicBool::new(direct) };
        Ok(OpenFile { path, len: metadata.len(), source: Source::Disk(disk) })
    }

    /// Makes a file of these bytes.
    pub(super) fn in_memory(path: &Path, bytes: Vec<u8>) -> OpenFile {
        OpenFile { path: path.to_owned(), len: bytes.len() as u64, source: Source::Memory(bytes) }
    }

    /// Makes one read on the calling thread, possibly a short one.
    pub(super) fn read_at(&self, out: &mut [u8], offset: u64) -> io::Result<usize> {
        match &self.source {
            Source::Disk(disk) => disk.file.read_at(out, offset),
            Source::Memory(bytes) => {
                let start = usize::try_from(offset).unwrap_or(usize::MAX).min(bytes.len());
                let len = out.len().min(bytes.len() - start);
                out[..len].copy_from_slice(&bytes[start..][..len]);
                Ok(len)
            }
        }
    }

    /// Writes all bytes, on the calling thread.
    pub(super) fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let Source::Disk(disk) = &self.source else {
            return Err(io::ErrorKind::ReadOnlyFilesystem.into());
        };
        // Read first, since another write may leave direct I/O at the same time.
        let was_direct = self.is_direct();
        match disk.file.write_all_at(bytes, offset) {
            Err(error) if was_direct && is_invalid(&error) => {
                self.leave_direct()?;
                disk.file.write_all_at(bytes, offset)
            }
            written => written,
        }
    }

    /// Waits until all that was written is safely on disk.
    pub(super) fn sync(&self) -> io::Result<()> {
        match &self.source {
            Source::Disk(disk) => durable::sync(&disk.file),
            Source::Memory(_) => Ok(()),
        }
    }

    /// Returns whether a read that starts now bypasses the page cache.
    pub(super) fn is_direct(&self) -> bool {
        matches!(&self.source, Source::Disk(disk) if disk.direct.load(Ordering::Relaxed))
    }

    /// Switches to reads through the page cache, because the file system refused direct I/O.
    pub(super) fn leave_direct(&self) -> io::Result<()> {
        let Source::Disk(disk) = &self.source else { return Ok(()) };
        let flags = fcntl_getfl(&disk.file)?;
        fcntl_setfl(&disk.file, flags - OFlags::DIRECT)?;
        disk.direct.store(false, Ordering::Relaxed);
        // Read-ahead would fill the page cache with unwanted bytes. This is only advice.
        let _ = fadvise(&disk.file, 0, None, Advice::Random);
        tracing::debug!(path = %self.path.display(), "no direct I/O here; reading through the page cache");
        Ok(())
    }

    /// Drops a read range from the page cache, if it should not stay there.
    pub(super) fn forget_cached(&self, offset: u64, len: usize) {
        let Source::Disk(disk) = &self.source else { return };
        if disk.caching == Caching::Direct && !disk.direct.load(Ordering::Relaxed) {
            // This is only advice: the frame is complete either way.
            let _ = fadvise(&disk.file, offset, NonZeroU64::new(len as u64), Advice::DontNeed);
        }
    }
}

/// Where a file is found.
#[derive(Debug, Clone, Copy)]
pub(super) enum Location<'a> {
    /// By its path.
    Path(&'a Path),
    /// By its name in an open folder.
    In(&'a Directory, &'a str),
}

impl Location<'_> {
    pub(super) fn path(&self) -> PathBuf {
        match *self {
            Location::Path(path) => path.to_owned(),
            Location::In(folder, name) => folder.join(name),
        }
    }

    /// Opens the file, for direct I/O if that is wanted and possible. Returns whether it is direct.
    fn open(&self, caching: Caching) -> io::Result<(File, bool)> {
        if caching == Caching::PageCache {
            return Ok((self.open_with(OFlags::empty())?, false));
        }
        match self.open_with(OFlags::DIRECT) {
            Ok(file) => Ok((file, true)),
            Err(error) if is_invalid(&error) => Ok((self.open_with(OFlags::empty())?, false)),
            Err(error) => Err(error),
        }
    }

    fn open_with(&self, flags: OFlags) -> io::Result<File> {
        match *self {
            Location::Path(path) => {
                let mut options = OpenOptions::new();
                options.read(true).custom_flags(flags.bits().cast_signed()).open(path)
            }
            Location::In(folder, name) => folder.open_file(name, flags),
        }
    }
}

/// Returns whether the kernel said EINVAL, its answer where direct I/O is not supported.
pub(super) fn is_invalid(error: &io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::INVAL.raw_os_error())
}
