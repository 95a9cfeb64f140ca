//! The reader, through which all files are read.

use std::fmt;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::disk::Directory;
use crate::error::{Error, Result};

use super::backend::Backend;
use super::buffer::{Buffer, Frame};
use super::device::Device;
use super::file::{Caching, FileHandle, Location, OpenFile};
use super::pending::{Pending, Promise, promise};
use super::pool::{Pool, Waiter};
use super::task::{Extent, Task, extent_in};

/// Reads byte ranges of files into frames. Clones share everything. Any thread may use it.
#[derive(Clone)]
pub struct Reader {
    device: Arc<dyn Device>,
    pool: Arc<Pool>,
    requests: Arc<AtomicU64>,
    bytes_read: Arc<AtomicU64>,
}

/// A byte range of a file. Neither offset nor length need be aligned.
#[derive(Debug, Clone, Copy)]
pub struct Request<'f> {
    /// The file, opened by the same reader.
    pub file: &'f FileHandle,
    /// First byte.
    pub offset: u64,
    /// Number of bytes.
    pub len: usize,
}

/// Counts of what a reader did so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Statistics {
    /// Requests made.
    pub requests: u64,
    /// Bytes read for them. Reading whole pages makes this more than was asked for.
    pub bytes_read: u64,
}

impl Reader {
    /// Starts a backend that reads into memory of `pool`. Readers may share a pool.
    pub fn open(backend: Backend, pool: Arc<Pool>) -> Result<Reader> {
        let (requests, bytes_read) = Default::default();
        Ok(Reader { device: backend.start()?, pool, requests, bytes_read })
    }

    /// Returns this reader with frames from another pool.
    #[must_use]
    pub fn with_pool(&self, pool: Arc<Pool>) -> Reader {
        Reader { pool, ..self.clone() }
    }

    /// Returns the device that reads and writes.
    pub(super) fn device(&self) -> &Arc<dyn Device> {
        &self.device
    }

    /// Opens a file for reading.
    pub fn open_file(&self, path: impl AsRef<Path>, caching: Caching) -> Result<FileHandle> {
        self.open_at(&Location::Path(path.as_ref()), caching)
    }

    /// Opens a file in a folder for reading.
    pub fn open_file_in(
        &self,
        folder: &Directory,
        name: &str,
        caching: Caching,
    ) -> Result<FileHandle> {
        self.open_at(&Location::In(folder, name), caching)
    }

    fn open_at(&self, location: &Location<'_>, caching: Caching) -> Result<FileHandle> {
        Ok(FileHandle(Arc::new(self.device.open(location, caching)?)))
    }

    /// Asks for frames and returns at once. Frames that find no room in the budget are read as soon
    /// as earlier frames are dropped, in the order asked; see the rules of this [module](super).
    /// [`Pending::wait`] reports an invalid request.
    pub fn read_batch(&self, requests: &[Request<'_>]) -> Vec<Pending> {
        let pending = requests.iter().map(|request| self.enqueue(request)).collect();
        self.pool.grant_waiting();
        pending
    }

    /// Asks for one frame, like [`read_batch`](Reader::read_batch).
    pub fn read(&self, file: &FileHandle, offset: u64, len: usize) -> Pending {
        let pending = self.enqueue(&Request { file, offset, len });
        self.pool.grant_waiting();
        pending
    }

    /// Asks for frames only if the budget has room for all of them now, and no other request waits.
    pub fn try_read_batch(&self, requests: &[Request<'_>]) -> Option<Vec<Pending>> {
        let plans: Vec<Route> = requests.iter().map(|request| self.plan(request)).collect();
        let sizes: Vec<usize> = plans.iter().filter_map(Route::size).collect();
        let mut memory = self.pool.try_lend(&sizes)?.into_iter();
        let begin = |plan| {
            let (promise, pending) = promise(&self.pool);
            match plan {
                Route::Answer(answer) => promise.answer(answer),
                Route::Read(read) => {
                    // There is a buffer for each. If one were missing, the dropped promise would
                    // report it.
                    if let Some(memory) = memory.next() {
                        read.begin(memory, promise);
                    }
                }
            }
            pending
        };
        Some(plans.into_iter().map(begin).collect())
    }

    /// Returns the bytes that the frame of a request takes in the pool; 0 for a request outside of
    /// its file.
    pub fn frame_size(&self, request: &Request<'_>) -> u64 {
        match extent_in(&request.file.0, request.offset, request.len) {
            Ok(extent) if request.len > 0 => self.pool.buffer_size(extent.wide_len) as u64,
            _ => 0,
        }
    }

    /// Returns the pool that all frames come from.
    pub fn pool(&self) -> &Arc<Pool> {
        &self.pool
    }

    /// Returns what was read so far.
    pub fn statistics(&self) -> Statistics {
        Statistics {
            requests: self.requests.load(Ordering::Relaxed),
            bytes_read: self.bytes_read.load(Ordering::Relaxed),
        }
    }

    /// Queues a request for memory, unless it needs none.
    fn enqueue(&self, request: &Request<'_>) -> Pending {
        let (promise, pending) = promise(&self.pool);
        match self.plan(request) {
            Route::Answer(answer) => promise.answer(answer),
            Route::Read(read) => self.pool.enqueue(Box::new(Queued { read, promise })),
        }
        pending
    }

    /// Decides how to answer a request.
    fn plan(&self, request: &Request<'_>) -> Route {
        self.requests.fetch_add(1, Ordering::Relaxed);
        let file = &request.file.0;
        let extent = match extent_in(file, request.offset, request.len) {
            Ok(extent) => extent,
            Err(error) => return Route::Answer(Err(error)),
        };
        if request.len == 0 {
            return Route::Answer(Ok(Frame::empty()));
        }
        let size = self.pool.buffer_size(extent.wide_len);
        if size as u64 > self.pool.frames_max() {
            return Route::Answer(Err(Error::OverBudget {
                what: format!("reading from {} in one piece", file.path.display()),
                needed: size as u64,
                budget: self.pool.frames_max(),
            }));
        }
        Route::Read(Read {
            device: Arc::clone(&self.device),
            file: Arc::clone(file),
            extent,
            size,
            bytes_read: Arc::clone(&self.bytes_read),
        })
    }
}

impl fmt::Debug for Reader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Reader({:?})", self.pool)
    }
}

/// How to answer a request.
enum Route {
    /// At once: there is nothing to read.
    Answer(Result<Frame>),
    /// By filling a buffer.
    Read(Read),
}

impl Route {
    fn size(&self) -> Option<usize> {
        match self {
            Route::Answer(_) => None,
            Route::Read(read) => Some(read.size),
        }
    }
}

/// A read that lacks only its buffer.
struct Read {
    device: Arc<dyn Device>,
    file: Arc<OpenFile>,
    extent: Extent,
    size: usize,
    bytes_read: Arc<AtomicU64>,
}

impl Read {
    fn begin(self, memory: io::Result<Buffer>, promise: Promise) {
        let Read { device, file, extent, bytes_read, .. } = self;
        match memory {
            Ok(buffer) => device.submit(Task::new(file, buffer, extent, bytes_read, promise)),
            Err(error) => {
                promise.answer(Err(Error::io("find memory to read", &file.path)(error)));
            }
        }
    }
}

/// A read in the queue for memory.
struct Queued {
    read: Read,
    promise: Promise,
}

impl Waiter for Queued {
    fn size(&self) -> usize {
        self.read.size
    }

    fn is_abandoned(&self) -> bool {
        self.promise.is_abandoned()
    }

    fn grant(self: Box<Self>, memory: io::Result<Buffer>) {
        self.read.begin(memory, self.promise);
    }
}
