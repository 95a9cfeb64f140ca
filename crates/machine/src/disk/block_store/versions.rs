//! Versions of the blocks of a store, from which a run goes on after a crash.
//!
//! A folder holds the blocks in one file, and for each version a list of where they lie:
//!
//! ```text
//!  blocks       | slot 0 | slot 1 | ...
//!  version-17   for each block its slot and checksum; then what the caller keeps beside them
//!  version-18
//! ```
//!
//! No slot that a kept version lists is written to. A block that changes moves to another slot, so
//! a version costs as much as has changed since the one before. Two versions are kept. A new
//! version exists once its slots, its list and the name of the list are safely on disk. By then the
//! oldest is gone, and the slots that only it listed are free.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Write};

use rustix::fs::OFlags;
use zerocopy::little_endian::{U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use super::content::{Blocks, PARTS_MAX, Period, Sum};
use super::version_folder::{BLOCKS, VersionFolder, name_of};
use crate::disk::block_file::BlockFile;
use crate::disk::block_writer::BlockFileWriter;
use crate::disk::reader::Reader;
use crate::disk::unfinished::{Unfinished, lock as lock_file};
use crate::disk::{Caching, Directory};
use crate::error::{Error, Result};

/// Versions that are kept.
const KEPT: usize = 2;
/// Lists are read in pieces of this size, for the memory for blocks may be small.
const LIST_BLOCK_LOG2: u32 = 12;

/// The slot of a block that was never written.
const UNWRITTEN: u32 = u32::MAX;
/// The slot of a block that repeats the bytes in its entry.
const PERIODIC: u32 = u32::MAX - 1;

/// Where the blocks of a store lie, now and in the kept versions.
pub(super) struct Versions {
    /// The lock that this process holds, where the file system has locks.
    locked: Option<File>,
    /// Whether this process created the file of the slots.
    is_new: bool,
    /// The slot of each block now, or [`UNWRITTEN`].
    slots: Vec<u32>,
    /// How many versions list each slot.
    listed: Vec<u8>,
    /// Slots that hold nothing.
    free: Vec<u32>,
    /// Ascending.
    kept: Vec<Kept>,
    /// The numbers of other versions in the folder: damaged and ignored ones, and those
    /// older than the newest two.
    stale: Vec<u64>,
    /// A version could not be kept, so the state of it on disk is unknown.
    has_failed: bool,
    /// Dropped last: this removes a folder that was created for versions and is empty by then.
    folder: VersionFolder,
}

/// A kept version.
struct Kept {
    number: u64,
    entries: Vec<Entry>,
}

#[derive(FromBytes, IntoBytes, KnownLayout, Immutable)]
#[repr(C)]
struct Header {
    number: U64,
    /// The number of blocks, and the bytes of the largest.
    count: U64,
    size: U64,
    /// Bytes behind the entries.
    beside: U64,
}

/// Where a version has a block.
#[derive(Clone, Copy, FromBytes, IntoBytes, KnownLayout, Immutable)]
#[repr(C)]
pub(super) struct Entry {
    slot: U32,
    len: U32,
    checksum: U32,
    reserved: U32,
    periods: [Period; PARTS_MAX],
}

/// An [`Entry`], decoded.
pub(super) enum Place {
    /// It was never written.
    Nowhere,
    /// It repeats these bytes.
    Periods([Period; PARTS_MAX]),
    /// It lies in its slot.
    Slot(Sum),
}

impl Entry {
    fn of_slot(slot: u32, sum: Sum) -> Entry {
        let (reserved, periods) = Default::default();
        let (len, checksum) = (sum.len.into(), sum.checksum.into());
        Entry { slot: slot.into(), len, checksum, reserved, periods }
    }

    /// Makes the entry of a block that repeats these bytes.
    pub fn of_periods(periods: [Period; PARTS_MAX]) -> Entry {
        Entry { periods, ..Entry::of_slot(PERIODIC, Sum { len: 0, checksum: 0 }) }
    }

    pub fn place(&self) -> Place {
        match self.slot.get() {
            UNWRITTEN => Place::Nowhere,
            PERIODIC => Place::Periods(self.periods),
            _ => Place::Slot(Sum { len: self.len.get(), checksum: self.checksum.get() }),
        }
    }

    fn slot(&self) -> Option<u32> {
        Some(self.slot.get()).filter(|&slot| slot < PERIODIC)
    }
}

impl Versions {
    /// Returns the number of slots: enough for a new version while all others are kept.
    pub fn slot_count(blocks: Blocks) -> usize {
        (KEPT + 1) * blocks.count
    }

    /// Opens the versions in a folder. The slots of the blocks start as in the newest version, if
    /// there is one; the bytes kept beside it are returned. Skips a version with a damaged list or
    /// damaged blocks if an older one is sound. For this, all blocks are read once. No version is
    /// changed or removed before the first write.
    ///
    /// # Errors
    /// [`Error::Corrupt`] where all versions are damaged; [`Error::OtherBlocks`];
    /// [`Error::InUse`] where another process uses the folder; [`Error::Io`].
    ///
    /// # Panics
    /// When there are 2^30 blocks or more.
    pub fn open(
        folder: VersionFolder,
        blocks: Blocks,
        reader: &Reader,
    ) -> Result<(Versions, Option<Vec<u8>>)> {
        let directory = folder.directory();
        let count = Versions::slot_count(blocks);
        assert!(u32::try_from(count).is_ok_and(|count| count < PERIODIC), "{count} slots");
        let (locked, is_new) = lock_slots(directory)?;
        let mut versions = Versions {
            locked,
            is_new,
            slots: vec![UNWRITTEN; blocks.count],
            listed: vec![0; count],
            free: Vec::new(),
            kept: Vec::new(),
            stale: Vec::new(),
            has_failed: false,
            folder,
        };
        let beside = versions.read_all(blocks, reader)?;
        versions.free =
            (0..count as u32).rev().filter(|&slot| versions.listed[slot as usize] == 0).collect();
        Ok((versions, beside))
    }

    /// Reads the newest undamaged versions that are not ignored. All others are stale.
    fn read_all(&mut self, blocks: Blocks, reader: &Reader) -> Result<Option<Vec<u8>>> {
        let folder = self.folder.directory().clone();
        let numbers = self.folder.numbers()?;
        let (mut newest, mut damage) = (None, None);
        let newest_max = self.folder.newest_max();
        for &number in numbers.iter().rev().filter(|&&number| number <= newest_max) {
            if self.kept.len() == KEPT {
                break;
            }
            let is_newest = newest.is_none();
            let found = read(&folder, number, blocks, reader).and_then(|found| {
                // The older one is checked when somebody goes on from it.
                is_newest.then(|| check_blocks(&folder, blocks, &found.0, reader)).transpose()?;
                Ok(found)
            });
            match found {
                Ok((entries, beside)) => {
                    newest.get_or_insert(beside);
                    self.list(&entries);
                    self.kept.insert(0, Kept { number, entries });
                }
                Err(error @ Error::Corrupt { .. }) => {
                    tracing::warn!("{error}");
                    damage = Some(error);
                }
                Err(error) => return Err(error),
            }
        }
        if let (None, Some(damage)) = (&newest, damage) {
            return Err(damage);
        }
        if let Some(newest) = self.kept.last() {
            let slots = newest.entries.iter().map(|entry| entry.slot().unwrap_or(UNWRITTEN));
            self.slots = slots.collect();
        }
        let is_kept = |number| self.kept.iter().any(|kept| kept.number == number);
        self.stale = numbers.into_iter().filter(|&number| !is_kept(number)).collect();
        Ok(newest)
    }

    /// Removes the stale versions. Until they are gone, their slots must not be written to.
    ///
    /// # Errors
    /// [`Error::Io`] where one of them cannot be removed.
    pub fn remove_stale(&mut self) -> Result<()> {
        if self.stale.is_empty() {
            return Ok(());
        }
        let folder = self.folder.directory();
        for &number in &self.stale {
            match folder.remove_file(name_of(number)) {
                // An earlier attempt removed it and then failed at another one.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                removed => removed.map_err(Error::io("remove a version from", folder.path()))?,
            }
        }
        folder.sync().map_err(Error::io("sync", folder.path()))?;
        self.stale.clear();
        Ok(())
    }

    /// Returns the number of the newest version, if there is one.
    pub fn newest_number(&self) -> Option<u64> {
        self.kept.last().map(|kept| kept.number)
    }

    /// Returns the blocks of the newest version, if there is one.
    pub fn newest(&self) -> &[Entry] {
        self.kept.last().map_or(&[], |kept| &kept.entries)
    }

    /// Returns the slot that a block lies in, if it was ever written.
    pub fn slot_of(&self, block: usize) -> Option<u32> {
        Some(self.slots[block]).filter(|&slot| slot != UNWRITTEN)
    }

    /// Returns the slot to write a block to; the block lies there from then on.
    ///
    /// # Errors
    /// [`Error::Io`] if an earlier version could not be kept, because its slots may still be
    /// needed, or if a stale version cannot be removed.
    pub fn slot_to_write(&mut self, block: usize) -> Result<u32> {
        self.check()?;
        self.remove_stale()?;
        let slot = self.slots[block];
        if slot == UNWRITTEN || self.listed[slot as usize] > 0 {
            // The kept versions and the current blocks never use more slots than there are.
            self.slots[block] = self.free.pop().expect("a slot for each block of all versions");
        }
        Ok(self.slots[block])
    }

    fn check(&self) -> Result<()> {
        if self.has_failed {
            let error = io::Error::other("an earlier version could not be kept");
            return Err(Error::io("write to", self.folder.directory().path())(error));
        }
        Ok(())
    }

    /// Begins to keep a version. Nothing can be written until [`keep`](Versions::keep) is done.
    ///
    /// # Errors
    /// [`Error::Io`] if an earlier version could not be kept, or if a stale version cannot be removed.
    pub fn begin(&mut self) -> Result<()> {
        self.check()?;
        self.remove_stale()?;
        self.has_failed = true;
        Ok(())
    }

    /// Returns the entry of a block that lies in its slot.
    pub fn entry_of(&self, block: usize, sum: Sum) -> Entry {
        Entry::of_slot(self.slots[block], sum)
    }

    /// Keeps a version that was begun and whose slots are safely on disk. Removes the oldest
    /// version if there are too many.
    ///
    /// # Errors
    /// [`Error::Io`] where the list cannot be written, or the oldest version cannot be removed.
    pub fn keep(&mut self, blocks: Blocks, entries: Vec<Entry>, beside: &[u8]) -> Result<()> {
        let number = self.kept.last().map_or(1, |newest| newest.number + 1);
        let header = Header {
            number: number.into(),
            count: (blocks.count as u64).into(),
            size: (blocks.size as u64).into(),
            beside: (beside.len() as u64).into(),
        };
        let folder = self.folder.directory();
        let unfinished = Unfinished::file_in(folder, name_of(number).as_ref())?;
        let path = unfinished.path();
        let failed = || Error::io("write", path);
        let file = unfinished.open_file().map_err(failed())?;
        let mut writer = BlockFileWriter::new(file, path, LIST_BLOCK_LOG2);
        for part in [header.as_bytes(), entries.as_bytes(), beside] {
            writer.write_all(part).map_err(failed())?;
        }
        writer.finish()?;
        unfinished.take_place(false).map_err(failed())?;
        self.list(&entries);
        self.kept.push(Kept { number, entries });
        let folder = self.folder.directory();
        let is_one_too_many = self.kept.len() > KEPT;
        if is_one_too_many {
            let name = name_of(self.kept[0].number);
            folder.remove_file(&name).map_err(Error::io("remove", folder.join(&name)))?;
        }
        // This makes the new name and the removal of the old one durable. A crash before leaves at
        // least one of the two. After it, nothing needs the slots that only the oldest version
        // listed.
        folder.sync().map_err(Error::io("sync", folder.path()))?;
        if is_one_too_many {
            self.forget_oldest();
        }
        self.has_failed = false;
        Ok(())
    }

    /// Frees the slots that only the oldest version listed, which is gone.
    fn forget_oldest(&mut self) {
        for (block, entry) in self.kept.remove(0).entries.iter().enumerate() {
            let Some(slot) = entry.slot() else { continue };
            let listed = &mut self.listed[slot as usize];
            *listed -= 1;
            if *listed == 0 && self.slots[block] != slot {
                self.free.push(slot);
            }
        }
    }

    fn list(&mut self, entries: &[Entry]) {
        entries.iter().filter_map(Entry::slot).for_each(|slot| self.listed[slot as usize] += 1);
    }
}

impl Drop for Versions {
    /// Removes the file of the slots if no version needs it: it takes the room of three versions.
    fn drop(&mut self) {
        let is_own = self.is_new && self.locked.is_some() && self.kept.is_empty();
        // A version that was begun and could not be kept may still be on disk.
        let may_be_kept = self.has_failed && !self.folder.has_versions().is_ok_and(|has| !has);
        if is_own && !may_be_kept {
            // Nobody could be told of an error, and the next run in this folder reuses the file.
            let _ = self.folder.directory().remove_file(BLOCKS);
        }
    }
}

/// Locks the file of the slots, and creates it if it does not exist. Returns the lock, if the file
/// system has locks, and whether the file is new.
///
/// # Errors
/// [`Error::InUse`] where another process has the lock; [`Error::Io`].
fn lock_slots(folder: &Directory) -> Result<(Option<File>, bool)> {
    let path = folder.join(BLOCKS);
    loop {
        let (locked, is_new) = match lock_file(folder, BLOCKS.as_ref(), OFlags::NOFOLLOW) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                match folder.create_file(BLOCKS) {
                    // Another process was faster, and may have the lock.
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                    created => drop(created.map_err(Error::io("create", &path))?),
                }
                (lock_file(folder, BLOCKS.as_ref(), OFlags::NOFOLLOW), true)
            }
            locked => (locked, false),
        };
        // A process that ends without a version removes the file.
        let is_there = match &locked {
            Ok(Some(file)) => folder.is_at(BLOCKS, file),
            Ok(None) | Err(_) => Ok(true),
        };
        if !is_there.map_err(Error::io("lock", &path))? {
            continue;
        }
        let locked = locked.map_err(|error| match error.kind() {
            io::ErrorKind::WouldBlock => Error::InUse { path: folder.path().to_owned() },
            _ => Error::io("lock", &path)(error),
        })?;
        return Ok((locked, is_new));
    }
}

/// Reads the list of a version, and the bytes beside it.
fn read(
    folder: &Directory,
    number: u64,
    blocks: Blocks,
    reader: &Reader,
) -> Result<(Vec<Entry>, Vec<u8>)> {
    let file = reader.open_file_in(folder, &name_of(number), Caching::PageCache)?;
    let file = BlockFile::of(reader, file)?;
    let corrupt = |detail: String| Error::Corrupt {
        path: file.path().to_owned(),
        part: "its list".to_owned(),
        detail,
    };
    let header = file.read_range(0, size_of::<Header>())?;
    let header = Header::read_from_bytes(&header).map_err(|error| corrupt(error.to_string()))?;
    let found = (header.count.get(), header.size.get());
    if found != (blocks.count as u64, blocks.size as u64) {
        let (count, size) = found;
        let found = format!(
            "{count} blocks of {size} bytes, but the {} take {} blocks of {} bytes",
            blocks.what, blocks.count, blocks.size
        );
        return Err(Error::OtherBlocks { path: folder.path().to_owned(), found });
    }
    let entries_len = blocks.count * size_of::<Entry>();
    let len = (size_of::<Header>() + entries_len) as u64;
    if header.number.get() != number || file.len().checked_sub(len) != Some(header.beside.get()) {
        let detail = "its length or its version number differs from its header";
        return Err(corrupt(detail.to_owned()));
    }
    let nowhere = Entry::of_slot(UNWRITTEN, Sum { len: 0, checksum: 0 });
    let mut entries = vec![nowhere; blocks.count];
    file.read_into(size_of::<Header>() as u64, entries.as_mut_bytes())?;
    let mut listed = HashSet::new();
    for entry in &entries {
        let Some(slot) = entry.slot() else { continue };
        if slot as usize >= Versions::slot_count(blocks) || !listed.insert(slot) {
            return Err(corrupt(format!("slot {slot} is listed twice, or does not exist")));
        }
        if entry.len.get() as usize > blocks.size {
            return Err(corrupt(format!("slot {slot} holds more than a block")));
        }
    }
    let beside = file.read_range(len, (file.len() - len) as usize)?;
    Ok((entries, beside))
}

/// Fails if a block of a version is not what was written.
fn check_blocks(
    folder: &Directory,
    blocks: Blocks,
    entries: &[Entry],
    reader: &Reader,
) -> Result<()> {
    let file = reader.open_file_in(folder, BLOCKS, Caching::Direct)?;
    for (block, entry) in entries.iter().enumerate() {
        let (Some(slot), Place::Slot(sum)) = (entry.slot(), entry.place()) else { continue };
        let (offset, len) = (u64::from(slot) * blocks.slot_size() as u64, sum.len as usize);
        let is_there = offset + len as u64 <= file.len();
        if !is_there || Sum::of(&reader.read(&file, offset, len).wait()?) != sum {
            let (part, path) = (format!("block {block}"), file.path().to_owned());
            let detail = format!("its {} are cut off, or their checksum differs", blocks.what);
            return Err(Error::Corrupt { path, part, detail });
        }
    }
    Ok(())
}
