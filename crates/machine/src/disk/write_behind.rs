//! Background writing: threads that write full buffers to disk.

use std::collections::HashSet;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

use crossbeam_channel::{Sender, unbounded};

use super::buffer::{Buffer, GRID};
use super::device::{Device, spawn};
use super::file::{Caching, FileHandle, OpenFile};
use super::pool::Pool;
use super::reader::Reader;
use crate::error::{Error, Result};
use crate::threads::lock;

/// Writes in flight: enough for an SSD, with blocks of half a megabyte.
const THREADS: usize = 2;

/// Writes blocks in the background. Clones share its threads, which end with the last clone, and
/// its memory. A caller that writes faster than the disk waits for memory.
#[derive(Clone)]
pub struct WriteBehind {
    /// `None` where the system started no thread: then the calling threads write.
    tasks: Option<Sender<Write>>,
    device: Arc<dyn Device>,
    pool: Arc<Pool>,
    caching: Caching,
    bytes_written: Arc<AtomicU64>,
}

/// A block on its way to disk.
struct Write {
    file: Arc<OpenFile>,
    offset: u64,
    buffer: Buffer,
    len: usize,
    end: End,
}

/// Reports the end of the write of a block when dropped, however it ended.
struct End {
    written: Arc<Written>,
    block: usize,
    file: Arc<OpenFile>,
    result: Option<io::Result<()>>,
}

/// The blocks of a store that are being written, and the first failure.
#[derive(Default)]
pub(super) struct Written {
    state: Mutex<State>,
    ended: Condvar,
}

#[derive(Default)]
struct State {
    begun: HashSet<usize>,
    failure: Option<Failure>,
}

/// The first failure, which all later calls report.
struct Failure {
    kind: io::ErrorKind,
    detail: String,
    file: Arc<OpenFile>,
}

impl WriteBehind {
    /// Starts threads that write from buffers of `memory` bytes in all, past the page cache or
    /// through it. They write to the device of `reader`.
    pub fn start(reader: &Reader, memory: u64, caching: Caching) -> WriteBehind {
        let (tasks, queue) = unbounded::<Write>();
        let device = reader.device();
        let begin = |_: &usize| {
            let (queue, device) = (queue.clone(), Arc::clone(device));
            spawn("tegula-write", move || queue.iter().for_each(|write| write.run(&*device)))
                .is_ok()
        };
        let started = (0..THREADS).take_while(begin).count();
        let tasks = (started > 0).then_some(tasks);
        let (device, pool, bytes_written) = (Arc::clone(device), Pool::new(memory), Arc::default());
        WriteBehind { tasks, device, pool, caching, bytes_written }
    }

    /// Returns where the bytes of its files may stay.
    pub fn caching(&self) -> Caching {
        self.caching
    }

    /// Frees the buffers that are not in use.
    pub(super) fn trim(&self) {
        self.pool.trim();
    }

    /// Returns the bytes given to it for writing so far.
    pub fn bytes_written(&self) -> u64 {
        self.bytes_written.load(Ordering::Relaxed)
    }

    /// Returns a buffer to write from, once there is memory for it.
    pub(super) fn buffer(&self, size: usize, path: &Path) -> Result<Buffer> {
        self.pool.lend(size).map_err(Error::io("find memory to write", path))
    }

    /// Writes the first `len` bytes of a buffer. The rest of their last page may be written, too.
    pub(super) fn write(
        &self,
        file: &FileHandle,
        offset: u64,
        buffer: Buffer,
        len: usize,
        (written, block): (&Arc<Written>, usize),
    ) {
        self.bytes_written.fetch_add(len as u64, Ordering::Relaxed);
        let file = Arc::clone(&file.0);
        let written = Arc::clone(written);
        let end = End { written, block, file: Arc::clone(&file), result: None };
        let write = Write { file, offset, buffer, len, end };
        match &self.tasks {
            // Fails only when all threads are gone. The dropped write then reports that.
            Some(tasks) => drop(tasks.send(write)),
            None => write.run(&*self.device),
        }
    }
}

impl Write {
    fn run(mut self, device: &dyn Device) {
        let wide = self.len.next_multiple_of(GRID);
        let result = device.write(&self.file, &self.buffer.bytes()[..wide], self.offset);
        // The buffer first: once the end is reported, the memory has been returned.
        drop(self.buffer);
        self.end.result = Some(result);
    }
}

impl Drop for End {
    fn drop(&mut self) {
        let result = self.result.take();
        let result =
            result.unwrap_or_else(|| Err(io::Error::other("the thread that writes has stopped")));
        let mut state = lock(&self.written.state);
        state.begun.remove(&self.block);
        if let (Err(error), None) = (result, &state.failure) {
            let (kind, file) = (error.kind(), Arc::clone(&self.file));
            state.failure = Some(Failure { kind, detail: error.to_string(), file });
        }
        self.written.ended.notify_all();
    }
}

impl Written {
    /// Waits for an earlier write of the block, and notes that a new one begins.
    pub(super) fn begin(&self, block: usize) -> Result<()> {
        self.wait(|state| !state.begun.contains(&block))?.begun.insert(block);
        Ok(())
    }

    /// Returns whether a write of a block is on its way.
    pub(super) fn has_begun(&self, block: usize) -> bool {
        lock(&self.state).begun.contains(&block)
    }

    /// Waits until no write of a block is on its way.
    pub(super) fn wait_for(&self, block: usize) -> Result<()> {
        self.wait(|state| !state.begun.contains(&block)).map(drop)
    }

    /// Waits until no write is on its way.
    pub(super) fn wait_for_all(&self) -> Result<()> {
        self.wait(|state| state.begun.is_empty()).map(drop)
    }

    fn wait(&self, is_met: impl Fn(&State) -> bool) -> Result<MutexGuard<'_, State>> {
        let mut state = lock(&self.state);
        loop {
            if let Some(Failure { kind, detail, file }) = &state.failure {
                let source = io::Error::new(*kind, detail.clone());
                return Err(Error::io("write", &file.path)(source));
            }
            if is_met(&state) {
                return Ok(state);
            }
            state = self.ended.wait(state).unwrap_or_else(|lock| lock.into_inner());
        }
    }
}
