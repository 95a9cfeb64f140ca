//! A store of blocks that are written again and again: the place for arrays that do not fit memory.
//!
//! The blocks lie in a nameless file, which vanishes with the process, however that ends. The space
//! is reserved at creation, so a disk that is too small is noticed before there is anything to
//! lose. Writes go out in the background ([`WriteBehind`]). Reads come through the [`Reader`], and
//! a block that is needed soon may be [read ahead](BlockStore::read_ahead). Checksums stay in
//! memory: reading a block returns what was last written to it, or an error. A block that repeats
//! one value never goes to disk, for example the distances of vertices that no search has reached
//! yet.
//!
//! A long run may [keep versions](BlockStore::keep_version) of its blocks, from which another
//! process can go on.
//!
//! Reading and writing have separate pools, so a thread that waits for memory to write does not
//! wait for one that waits for memory to read.

mod content;
mod room;
mod version_folder;
mod versions;

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use rustix::fs::OFlags;

use super::directory::Directory;
use super::file::FileHandle;
use super::pending::Pending;
use super::reader::{Reader, Request};
use super::write_behind::{WriteBehind, Written};
use crate::error::{Error, Result};
use crate::threads::lock;
pub use content::Blocks;
use content::{PARTS_MAX, Period, Sum, gather, periods_of, repeat, scatter};
pub use room::check_room;
use room::{as_direct, nameless, reserve};
use version_folder::BLOCKS;
pub use version_folder::VersionFolder;
use versions::{Entry, Place, Versions};

/// A block that stays in memory.
struct Held {
    bytes: Box<[u8]>,
    /// Whether it was written since the last version was kept.
    has_changed: bool,
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
    /// The [`Sum`] of each block.
    sums: Vec<AtomicU64>,
    /// The periods of the blocks whose parts are periodic.
    periodic: Mutex<HashMap<usize, [Period; PARTS_MAX]>>,
    /// The blocks that stay in memory, by number.
    held: HashMap<usize, Mutex<Held>>,
    /// Where blocks lie, if versions are kept. Otherwise they lie one after the other.
    versions: Option<Mutex<Versions>>,
    ahead: Mutex<HashMap<usize, Pending>>,
    bytes_read: AtomicU64,
}

impl BlockStore {
    /// Creates a store in a new file on the disk of `folder`. Blocks for which `is_held` is true
    /// stay in memory. A block must be written before it is read, and by one thread at a time. The
    /// reader's pool must serve blocks only; its size limits how many blocks are read ahead or at
    /// once.
    ///
    /// # Errors
    /// [`Error::Io`] where the file cannot be created, or the disk has no room for it.
    pub fn create(
        folder: &Directory,
        blocks: Blocks,
        reader: &Reader,
        writer: &WriteBehind,
        is_held: &dyn Fn(usize) -> bool,
    ) -> Result<BlockStore> {
        let is_held: Vec<bool> = (0..blocks.count).map(is_held).collect();
        let size = if is_held.iter().all(|&held| held) { 0 } else { blocks.file_size() };
        let file = nameless(folder, blocks.what, writer.caching())?;
        reserve(folder, &file.0, size)?;
        let path = folder.join(blocks.what);
        Ok(BlockStore::of(folder, blocks, (reader, writer), &is_held, (file, path, size)))
    }

    /// Opens a store that keeps versions in `folder`. Returns the blocks of the newest version with
    /// the bytes that were kept beside it, or new blocks. The store takes three times the room on
    /// disk: two versions, and the blocks written since. The versions in the folder stay as they
    /// are until a block is written or a version is kept.
    ///
    /// # Errors
    /// [`Error::Io`] where the disk has no room for the file; [`Error::Corrupt`] where all versions
    /// are damaged; [`Error::OtherBlocks`]; [`Error::InUse`] where another process uses the folder.
    pub fn versioned(
        folder: VersionFolder,
        blocks: Blocks,
        reader: &Reader,
        writer: &WriteBehind,
        is_held: &dyn Fn(usize) -> bool,
    ) -> Result<(BlockStore, Option<Vec<u8>>)> {
        let directory = folder.directory().clone();
        let (versions, beside) = Versions::open(folder, blocks, reader)?;
        let is_held: Vec<bool> = (0..blocks.count).map(is_held).collect();
        let size = (Versions::slot_count(blocks) * blocks.slot_size()) as u64;
        let open = |flags| directory.open_file(BLOCKS, flags | OFlags::RDWR | OFlags::NOFOLLOW);
        let path = directory.join(BLOCKS);
        let file = as_direct(writer.caching(), open).map_err(Error::io("open", &path))?;
        reserve(&directory, &file.0, size)?;
        let file = (file, path, size);
        let mut store = BlockStore::of(&directory, blocks, (reader, writer), &is_held, file);
        store.take_up(versions)?;
        Ok((store, beside))
    }

    fn of(
        folder: &Directory,
        blocks: Blocks,
        (reader, writer): (&Reader, &WriteBehind),
        is_held: &[bool],
        ((file, is_direct), path, size): ((File, bool), PathBuf, u64),
    ) -> BlockStore {
        let zeroes = || vec![0; blocks.size].into_boxed_slice();
        let held = |(block, _)| (block, Mutex::new(Held { bytes: zeroes(), has_changed: false }));
        BlockStore {
            folder: folder.clone(),
            file: FileHandle::of(file, path.clone(), size, (writer.caching(), is_direct)),
            path,
            reader: reader.clone(),
            writer: writer.clone(),
            written: Arc::default(),
            sums: (0..blocks.count).map(|_| AtomicU64::new(0)).collect(),
            periodic: Mutex::default(),
            held: is_held.iter().enumerate().filter(|(_, held)| **held).map(held).collect(),
            versions: None,
            ahead: Mutex::default(),
            bytes_read: AtomicU64::new(0),
            blocks,
        }
    }

    /// Takes up the blocks of the newest version.
    fn take_up(&mut self, versions: Versions) -> Result<()> {
        let entries = versions.newest().to_vec();
        self.versions = Some(Mutex::new(versions));
        for (block, entry) in entries.iter().enumerate() {
            match entry.place() {
                Place::Nowhere => continue,
                Place::Periods(periods) => drop(lock(&self.periodic).insert(block, periods)),
                Place::Slot(sum) => {
                    self.set_sum(block, sum);
                    if let Some(held) = self.held.get(&block) {
                        self.read_from_file(
                            block,
                            &mut [&mut lock(held).bytes[..sum.len as usize]],
                        )?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns the number of the newest version, from 1; `None` if none is kept. Each version's
    /// number is one more than that of the version before.
    pub fn newest_version(&self) -> Option<u64> {
        self.versions.as_ref().and_then(|versions| lock(versions).newest_number())
    }

    /// Removes the versions that are ignored. Otherwise they stay until a block is written.
    ///
    /// # Errors
    /// [`Error::Io`] where one of them cannot be removed.
    pub fn forget_newer_versions(&self) -> Result<()> {
        self.versions.as_ref().map_or(Ok(()), |versions| lock(versions).remove_stale())
    }

    /// Keeps the current blocks, and `beside` with them, as a version. The version before stays,
    /// any older one goes. No other thread may write meanwhile. After a return without an error,
    /// the version survives any crash.
    ///
    /// # Errors
    /// [`Error::Io`] where writing fails. The earlier versions remain, but nothing can be written
    /// any more.
    ///
    /// # Panics
    /// When the store keeps no versions.
    pub fn keep_version(&self, beside: &[u8]) -> Result<()> {
        let versions = self.versions.as_ref().expect("blocks of which versions are kept");
        for (&block, held) in &self.held {
            let mut held = lock(held);
            if std::mem::take(&mut held.has_changed) {
                self.write_to_file(block, &[&held.bytes[..self.sum(block).len as usize]])?;
            }
        }
        self.written.wait_for_all()?;
        lock(versions).begin()?;
        self.file.0.sync().map_err(Error::io("sync", &self.path))?;
        let (mut versions, periodic) = (lock(versions), lock(&self.periodic));
        let entry = |block| match periodic.get(&block) {
            Some(&periods) => Entry::of_periods(periods),
            None => versions.entry_of(block, self.sum(block)),
        };
        let entries = (0..self.blocks.count).map(entry).collect();
        versions.keep(self.blocks, entries, beside)
    }

    /// Reads a block into the same parts as it was written from, at most two.
    ///
    /// # Errors
    /// [`Error::Io`] where reading fails, an earlier write failed, or the block is not what was
    /// written.
    ///
    /// # Panics
    /// When there is no such block, or the parts are larger than a block.
    pub fn read(&self, block: usize, parts: &mut [&mut [u8]]) -> Result<()> {
        let len = parts.iter().map(|part| part.len()).sum();
        assert!(len <= self.blocks.size, "{len} bytes of {}", self.blocks.size);
        if let Some(periods) = lock(&self.periodic).get(&block) {
            let parts = parts.iter_mut().filter(|part| !part.is_empty());
            parts.zip(periods).for_each(|(part, period)| repeat(period, part));
            return Ok(());
        }
        if let Some(held) = self.held.get(&block) {
            scatter(&lock(held).bytes[..len], parts);
            return Ok(());
        }
        self.read_from_file(block, parts)
    }

    fn read_from_file(&self, block: usize, parts: &mut [&mut [u8]]) -> Result<()> {
        self.written.wait_for(block)?;
        let len = parts.iter().map(|part| part.len()).sum();
        let Some(request) = self.request_of(block, len) else {
            return Err(self.damaged(block));
        };
        let frame = self.read_ahead_or_now(block, request).wait()?;
        self.bytes_read.fetch_add(len as u64, Ordering::Relaxed);
        match frame.get(..len) {
            Some(bytes) if Sum::of(bytes) == self.sum(block) => scatter(bytes, parts),
            _ => return Err(self.damaged(block)),
        }
        Ok(())
    }

    /// Writes a block, and returns before it is on disk.
    ///
    /// # Errors
    /// [`Error::Io`] where an earlier write failed, or a version could not be kept.
    ///
    /// # Panics
    /// When there is no such block, or the parts are larger than a block.
    pub fn write(&self, block: usize, parts: &[&[u8]]) -> Result<()> {
        let len: usize = parts.iter().map(|part| part.len()).sum();
        assert!(len <= self.blocks.size, "{len} bytes of {}", self.blocks.size);
        if let Some(held) = self.held.get(&block) {
            let mut held = lock(held);
            gather(parts, &mut held.bytes[..len]);
            held.has_changed = true;
            self.set_sum(block, Sum { len: len as u32, checksum: 0 });
            lock(&self.periodic).remove(&block);
            return Ok(());
        }
        if let Some(periods) = periods_of(parts) {
            lock(&self.periodic).insert(block, periods);
            drop(lock(&self.ahead).remove(&block));
            return Ok(());
        }
        self.write_to_file(block, parts)
    }

    fn write_to_file(&self, block: usize, parts: &[&[u8]]) -> Result<()> {
        let mut buffer = self.writer.buffer(self.blocks.slot_size(), &self.path)?;
        let len = parts.iter().map(|part| part.len()).sum();
        let bytes = &mut buffer.bytes_mut()[..len];
        gather(parts, bytes);
        self.set_sum(block, Sum::of(bytes));
        self.written.begin(block)?;
        // A block read ahead has the old content.
        drop(lock(&self.ahead).remove(&block));
        lock(&self.periodic).remove(&block);
        let slot = match &self.versions {
            Some(versions) => lock(versions).slot_to_write(block)? as usize,
            None => block,
        };
        let end = (&self.written, block);
        self.writer.write(&self.file, self.offset_of(slot), buffer, len, end);
        Ok(())
    }

    /// Begins to read `len` bytes of a block that will be needed soon, if there is memory.
    pub fn read_ahead(&self, block: usize, len: usize) {
        let mut ahead = lock(&self.ahead);
        let is_known = self.held.contains_key(&block)
            || ahead.contains_key(&block)
            || lock(&self.periodic).contains_key(&block);
        if is_known || self.written.has_begun(block) {
            return;
        }
        let request = self.request_of(block, len);
        let pending = request.and_then(|request| self.reader.try_read_batch(&[request]));
        ahead.extend(pending.and_then(|mut pending| pending.pop()).map(|read| (block, read)));
    }

    /// Frees the memory of blocks that were read ahead and not used.
    pub fn forget_ahead(&self) {
        lock(&self.ahead).clear();
    }

    /// Waits until all writes have left memory, and frees the buffers of reading and writing.
    pub fn finish_writing(&self) -> Result<()> {
        self.written.wait_for_all()?;
        self.forget_ahead();
        self.reader.pool().trim();
        self.writer.trim();
        Ok(())
    }

    /// Returns whether a block stays in memory.
    pub fn is_held(&self, block: usize) -> bool {
        self.held.contains_key(&block)
    }

    /// Returns the total size of the blocks that stay in memory.
    pub fn held_bytes(&self) -> u64 {
        (self.held.len() * self.blocks.size) as u64
    }

    /// Returns the folder on whose disk the file lies.
    pub fn folder(&self) -> &Directory {
        &self.folder
    }

    /// Returns the bytes read from the file so far.
    pub fn bytes_read(&self) -> u64 {
        self.bytes_read.load(Ordering::Relaxed)
    }

    fn read_ahead_or_now(&self, block: usize, request: Request<'_>) -> Pending {
        if let Some(ahead) = lock(&self.ahead).remove(&block) {
            return ahead;
        }
        if let Some(pending) =
            self.reader.try_read_batch(&[request]).and_then(|mut pending| pending.pop())
        {
            return pending;
        }
        // Blocks read ahead for others must not delay this one. While it waits, nothing is read
        // ahead.
        let pending = self.reader.read(&self.file, request.offset, request.len);
        self.forget_ahead();
        pending
    }

    /// Returns the request that reads a block, if the block was ever written.
    fn request_of(&self, block: usize, len: usize) -> Option<Request<'_>> {
        assert!(block < self.blocks.count, "block {block} of {}", self.blocks.count);
        let slot = match &self.versions {
            Some(versions) => lock(versions).slot_of(block)? as usize,
            None => block,
        };
        Some(Request { file: &self.file, offset: self.offset_of(slot), len })
    }

    fn damaged(&self, block: usize) -> Error {
        let detail = format!("block {block} of the {} is not what was written", self.blocks.what);
        let source = io::Error::new(io::ErrorKind::InvalidData, detail);
        Error::io("read back", &self.path)(source)
    }

    fn offset_of(&self, slot: usize) -> u64 {
        (slot * self.blocks.slot_size()) as u64
    }

    fn sum(&self, block: usize) -> Sum {
        zerocopy::transmute!(self.sums[block].load(Ordering::Relaxed))
    }

    fn set_sum(&self, block: usize, sum: Sum) {
        self.sums[block].store(zerocopy::transmute!(sum), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod version_tests;
