//! Blocks that are written again and again: where arrays lie for which memory has no room.
//!
//! They lie in a file without a name, which goes with the process, however that ends. Its room is reserved when it is
//! made, so that a disk that is too small is known before there is anything to lose. What is written goes out behind
//! the back of whoever wrote it ([`WriteBehind`]); what is read comes through the [door](Reader), and what will be
//! read soon may be [asked for ahead](BlockStore::read_ahead). Checksums stay in memory: a block is what was written
//! to it last, or an error. What is one value over and over again, as the distances of what no search has reached yet,
//! never goes to disk.
//!
//! Reading and writing have a pool each, so that whoever waits for memory to write does not wait for one who waits
//! for memory to read.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use rustix::fs::{FallocateFlags, OFlags, fallocate, fstatvfs, ftruncate};
use rustix::io::Errno;

use super::buffer::GRID;
use super::checksum::crc32c;
use super::directory::Directory;
use super::file::{Caching, FileHandle};
use super::pending::Pending;
use super::pool::Pool;
use super::reader::{Reader, Request};
use super::temporary::Temporary;
use super::write_behind::{WriteBehind, Written};
use crate::error::{Bytes, Error, Result};
use crate::threads::lock;

/// What a store is to hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Blocks {
    /// What is in them, for errors: "states".
    pub what: &'static str,
    /// How many there are.
    pub count: usize,
    /// Bytes of the largest.
    pub size: usize,
}

impl Blocks {
    /// Bytes of the file that holds them.
    pub fn file_size(&self) -> u64 {
        (self.count * self.slot_size()) as u64
    }

    /// Bytes of the memory that a block is read into or written from.
    pub fn frame_size(&self) -> u64 {
        Pool::size_class(self.slot_size()) as u64
    }

    /// Bytes from one block to the next.
    fn slot_size(&self) -> usize {
        self.size.max(1).next_multiple_of(GRID)
    }
}

/// Blocks in a file, or in memory as far as there is room for them. See the [module](self).
pub struct BlockStore {
    blocks: Blocks,
    folder: Directory,
    path: PathBuf,
    file: FileHandle,
    reader: Reader,
    writer: WriteBehind,
    written: Arc<Written>,
    checksums: Vec<AtomicU32>,
    /// Blocks whose parts are periodic: the periods.
    periodic: Mutex<HashMap<usize, [Period; PARTS_MAX]>>,
    /// Those that stay in memory, by number.
    held: HashMap<usize, Mutex<Box<[u8]>>>,
    ahead: Mutex<HashMap<usize, Pending>>,
    bytes_read: AtomicU64,
}

impl BlockStore {
    /// Blocks in a new file on the disk of `folder`, but for those that `is_held` in memory. A block is to be written
    /// before it is read, and by one thread at a time. The pool of the reader is for blocks alone: what it holds is what
    /// may be read ahead and at once.
    ///
    /// # Errors
    /// [`Error::Io`] where the file cannot be made, or the disk has no room for it.
    pub fn create(
        folder: &Directory,
        blocks: Blocks,
        reader: &Reader,
        writer: &WriteBehind,
        is_held: impl Fn(usize) -> bool,
    ) -> Result<BlockStore> {
        let held = (0..blocks.count).filter(|&block| is_held(block));
        let zeroes = |block| (block, Mutex::new(vec![0; blocks.size].into_boxed_slice()));
        let held: HashMap<_, _> = held.map(zeroes).collect();
        let path = folder.join(blocks.what);
        let size = if held.len() == blocks.count { 0 } else { blocks.file_size() };
        let (file, is_direct) = nameless(folder, blocks.what, writer.caching())?;
        reserve(&file, size).map_err(|error| {
            let needed = format!("{error}; {} are needed there", Bytes(size));
            Error::io("reserve room in", folder.path())(io::Error::new(error.kind(), needed))
        })?;
        let file = FileHandle::of(file, path.clone(), size, (writer.caching(), is_direct));
        Ok(BlockStore {
            folder: folder.clone(),
            path,
            file,
            reader: reader.clone(),
            writer: writer.clone(),
            written: Arc::default(),
            checksums: (0..blocks.count).map(|_| AtomicU32::new(0)).collect(),
            periodic: Mutex::default(),
            held,
            ahead: Mutex::default(),
            bytes_read: AtomicU64::new(0),
            blocks,
        })
    }

    /// Reads a block that was written in the same parts, two at the most.
    ///
    /// # Errors
    /// Those of reading; of writing before; [`Error::Io`] where the block is not what was written.
    ///
    /// # Panics
    /// When there is no such block, or it has no room for these parts.
    pub fn read(&self, block: usize, parts: &mut [&mut [u8]]) -> Result<()> {
        let len = parts.iter().map(|part| part.len()).sum();
        assert!(len <= self.blocks.size, "{len} bytes of {}", self.blocks.size);
        if let Some(held) = self.held.get(&block) {
            scatter(&lock(held)[..len], parts);
            return Ok(());
        }
        if let Some(periods) = lock(&self.periodic).get(&block) {
            let parts = parts.iter_mut().filter(|part| !part.is_empty());
            parts.zip(periods).for_each(|(part, period)| repeat(period, part));
            return Ok(());
        }
        self.written.wait_for(block)?;
        let frame = self.request(block, len).wait()?;
        self.bytes_read.fetch_add(len as u64, Ordering::Relaxed);
        if crc32c(&frame[..len]) != self.checksums[block].load(Ordering::Relaxed) {
            let detail =
                format!("block {block} of the {} is not what was written", self.blocks.what);
            let source = io::Error::new(io::ErrorKind::InvalidData, detail);
            return Err(Error::io("read back", &self.path)(source));
        }
        scatter(&frame[..len], parts);
        Ok(())
    }

    /// Writes a block; returns before it is on disk.
    ///
    /// # Errors
    /// Those of writing before.
    ///
    /// # Panics
    /// When there is no such block, or it has no room for these parts.
    pub fn write(&self, block: usize, parts: &[&[u8]]) -> Result<()> {
        let len: usize = parts.iter().map(|part| part.len()).sum();
        assert!(len <= self.blocks.size, "{len} bytes of {}", self.blocks.size);
        if let Some(held) = self.held.get(&block) {
            gather(parts, &mut lock(held)[..len]);
            return Ok(());
        }
        if let Some(periods) = periods_of(parts) {
            lock(&self.periodic).insert(block, periods);
            drop(lock(&self.ahead).remove(&block));
            return Ok(());
        }
        let mut buffer = self.writer.buffer(self.blocks.slot_size(), &self.path)?;
        let bytes = &mut buffer.bytes_mut()[..len];
        gather(parts, bytes);
        self.checksums[block].store(crc32c(bytes), Ordering::Relaxed);
        self.written.begin(block)?;
        // What was asked for ahead is what was before.
        drop(lock(&self.ahead).remove(&block));
        lock(&self.periodic).remove(&block);
        self.writer.write(&self.file, self.offset(block), buffer, len, (&self.written, block));
        Ok(())
    }

    /// Asks for a block that is going to be read, of `len` bytes, if there is memory.
    pub fn read_ahead(&self, block: usize, len: usize) {
        let mut ahead = lock(&self.ahead);
        let is_known = self.held.contains_key(&block)
            || ahead.contains_key(&block)
            || lock(&self.periodic).contains_key(&block);
        if is_known || self.written.has_begun(block) {
            return;
        }
        let pending = self.reader.try_read_batch(&[self.request_of(block, len)]);
        ahead.extend(pending.and_then(|mut pending| pending.pop()).map(|read| (block, read)));
    }

    /// Gives back the memory of blocks that were asked for ahead and not read.
    pub fn forget_ahead(&self) {
        lock(&self.ahead).clear();
    }

    /// Waits until all that was written has left memory, and gives back what it was written from and read into.
    ///
    /// # Errors
    /// Those of writing.
    pub fn finish_writing(&self) -> Result<()> {
        self.written.wait_for_all()?;
        self.forget_ahead();
        self.reader.pool().trim();
        self.writer.trim();
        Ok(())
    }

    /// Whether a block stays in memory.
    pub fn is_held(&self, block: usize) -> bool {
        self.held.contains_key(&block)
    }

    /// Bytes of the blocks that stay in memory.
    pub fn held_bytes(&self) -> u64 {
        (self.held.len() * self.blocks.size) as u64
    }

    /// The folder on whose disk the file lies.
    pub fn folder(&self) -> &Directory {
        &self.folder
    }

    /// Bytes read from the file so far.
    pub fn bytes_read(&self) -> u64 {
        self.bytes_read.load(Ordering::Relaxed)
    }

    /// The read of a block, ahead or now.
    fn request(&self, block: usize, len: usize) -> Pending {
        if let Some(ahead) = lock(&self.ahead).remove(&block) {
            return ahead;
        }
        let request = self.request_of(block, len);
        if let Some(pending) =
            self.reader.try_read_batch(&[request]).and_then(|mut pending| pending.pop())
        {
            return pending;
        }
        // What others may want later must not keep this one waiting; and once it waits nothing is asked for ahead.
        let pending = self.reader.read(&self.file, request.offset, len);
        self.forget_ahead();
        pending
    }

    fn request_of(&self, block: usize, len: usize) -> Request<'_> {
        Request { file: &self.file, offset: self.offset(block), len }
    }

    fn offset(&self, block: usize) -> u64 {
        assert!(block < self.blocks.count, "block {block} of {}", self.blocks.count);
        (block * self.blocks.slot_size()) as u64
    }
}

/// The bytes that a part repeats.
type Period = [u8; 8];

/// The most parts of a block.
const PARTS_MAX: usize = 2;

/// The periods of the parts of a block that are not empty, where all of them have one. Looks no further than the first
/// difference.
fn periods_of(parts: &[&[u8]]) -> Option<[Period; PARTS_MAX]> {
    let mut periods = [Period::default(); PARTS_MAX];
    for (part, period) in parts.iter().filter(|part| !part.is_empty()).zip(&mut periods) {
        let len = part.len().min(period.len());
        period[..len].copy_from_slice(&part[..len]);
        if part[len..] != part[..part.len() - len] {
            return None;
        }
    }
    (parts.len() <= PARTS_MAX).then_some(periods)
}

/// Fills a part with its period.
fn repeat(period: &Period, part: &mut [u8]) {
    let (whole, rest) = part.as_chunks_mut();
    whole.fill(*period);
    rest.copy_from_slice(&period[..rest.len()]);
}

/// An empty file without a name, for reading and writing, and whether that is direct.
fn nameless(folder: &Directory, what: &str, caching: Caching) -> Result<(File, bool)> {
    let direct = if caching == Caching::Direct { OFlags::DIRECT } else { OFlags::empty() };
    for flags in [direct, OFlags::empty()] {
        match folder.create_nameless(flags) {
            Ok(file) => return Ok((file, flags == OFlags::DIRECT)),
            Err(error) if is_refused(&error) => {}
            Err(error) => return Err(Error::io("create a file in", folder.path())(error)),
        }
    }
    // A file system that knows no files without names: this one loses its name at once.
    let temporary = Temporary::file_in(folder, what.as_ref())?;
    let (folder, name) = temporary.hidden();
    let file = folder.open_file(name, OFlags::RDWR | OFlags::NOFOLLOW);
    Ok((file.map_err(Error::io("open", temporary.path()))?, false))
}

/// Whether a file system does not know the flags of opening.
fn is_refused(error: &io::Error) -> bool {
    let refusals = [Errno::INVAL, Errno::OPNOTSUPP, Errno::ISDIR];
    refusals.iter().any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}

/// Gives a file its length, and blocks of the disk where the file system can do so ahead.
fn reserve(file: &File, size: u64) -> io::Result<()> {
    if size == 0 {
        return Ok(());
    }
    // It would fill the disk before it failed.
    let disk = fstatvfs(file)?;
    if disk.f_bavail.saturating_mul(disk.f_frsize) < size {
        return Err(io::ErrorKind::StorageFull.into());
    }
    match fallocate(file, FallocateFlags::empty(), 0, size) {
        Ok(()) => Ok(()),
        Err(Errno::OPNOTSUPP) => Ok(ftruncate(file, size)?),
        Err(error) => Err(error.into()),
    }
}

fn scatter(mut bytes: &[u8], parts: &mut [&mut [u8]]) {
    for part in parts {
        let (these, rest) = bytes.split_at(part.len());
        part.copy_from_slice(these);
        bytes = rest;
    }
}

fn gather(parts: &[&[u8]], mut bytes: &mut [u8]) {
    for part in parts {
        let (these, rest) = bytes.split_at_mut(part.len());
        these.copy_from_slice(part);
        bytes = rest;
    }
}

#[cfg(test)]
mod tests;
