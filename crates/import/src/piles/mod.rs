//! Records sorted roughly into piles, which stay in memory while they may and go to disk when
//! they must.
//!
//! Every pass of the import that may not fit in memory is built from this module. It writes its
//! records into piles, then takes pile after pile, each small enough to be worked on in
//! memory. When all of them fit in memory, nothing is written, and the code that uses them is the
//! same.
//!
//! ```text
//!  writer (one per worker)           shelf (one per pile)            spill file
//!  [block][block][block] --full--> [slab][slab][  ] in memory --over budget--> an extent
//! ```
//!
//! A writer has a small block for each pile, so that all its blocks stay in the L2 cache.
//! Slabs are large, so that the system is seldom asked for memory and can give huge pages.
//!
//! The spill files have no names: their disk space is free again, however the process ends.

pub(crate) mod space;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::io::{self, IoSlice};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};

use tegula_machine::memory::huge;
use tegula_machine::threads::{Cancel, Stash, Workers, lock, unlocked};
use tegula_store::{Error, Result};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use self::space::Space;

/// A type that can be written as it lies in memory, and read back.
pub(crate) trait Record:
    FromBytes + IntoBytes + Immutable + KnownLayout + Copy + Send + Sync + 'static
{
}

impl<R: FromBytes + IntoBytes + Immutable + KnownLayout + Copy + Send + Sync + 'static> Record
    for R
{
}

/// Bytes that are written to disk at a time, so that piles lie in few pieces.
const SPILL_BYTES: u64 = 4 << 20;

/// Bytes that are read from disk, or passed on, at a time.
const PART_BYTES: usize = 256 << 10;

/// Number of spill files: the system lets one thread at a time write to a file.
const SPILL_FILES: usize = 8;

/// A file without a name, created when it is first needed, and its length.
#[derive(Default)]
struct Spill {
    file: OnceLock<File>,
    len: AtomicU64,
}

/// Piles that are being written.
pub(crate) struct Piles<R> {
    space: Space,
    block_len: usize,
    slab_len: usize,
    shelves: Vec<Mutex<Shelf<R>>>,
    held: AtomicU64,
    spills: Vec<Spill>,
    idle: Mutex<Vec<Vec<R>>>,
    writers: Stash<Vec<Vec<R>>>,
}

/// The content of one pile: first what lies in the file, then what lies in memory.
struct Shelf<R> {
    extents: Vec<Extent>,
    slabs: Vec<Vec<R>>,
    len: u64,
}

impl<R> Shelf<R> {
    const EMPTY: Shelf<R> = Shelf { extents: Vec::new(), slabs: Vec::new(), len: 0 };
}

#[derive(Debug, Clone, Copy)]
struct Extent {
    offset: u64,
    len: usize,
}

impl<R: Record> Piles<R> {
    pub fn new(count: usize, space: Space) -> Piles<R> {
        // A record may be larger than a block, or have no bytes at all.
        let len_of = |bytes: u64| (bytes as usize / size_of::<R>().max(1)).max(1);
        let block_len = len_of(space.block_bytes(count));
        // A slab holds whole blocks, so that they fill it.
        let blocks = (len_of(space.slab_bytes(count)) / block_len).max(1);
        Piles {
            block_len,
            slab_len: blocks * block_len,
            space,
            shelves: std::iter::repeat_with(|| Mutex::new(Shelf::EMPTY)).take(count).collect(),
            held: AtomicU64::new(0),
            spills: std::iter::repeat_with(Spill::default).take(SPILL_FILES).collect(),
            idle: Mutex::new(Vec::new()),
            writers: Stash::default(),
        }
    }

    /// Number of piles.
    pub fn count(&self) -> usize {
        self.shelves.len()
    }

    /// Lends a writer. Records that one writer puts into one pile stay in order.
    pub fn write(&self, fill: impl FnOnce(&mut Writer<'_, R>) -> Result<()>) -> Result<()> {
        let new = || std::iter::repeat_with(Vec::new).take(self.shelves.len()).collect();
        self.writers.with(new, |blocks| fill(&mut Writer { piles: self, blocks }))
    }

    /// Ends the writing.
    pub fn close(mut self) -> Result<Filled<R>> {
        // Blocks that are not full are still with the writers.
        for blocks in std::mem::take(&mut self.writers).into_items() {
            for (pile, block) in blocks.into_iter().enumerate() {
                self.put_away(pile, &block)?;
            }
        }
        Ok(Filled {
            folder: self.space.folder,
            shelves: self.shelves.into_iter().map(unlocked).collect(),
            spills: self.spills.into_iter().map(|spill| spill.file.into_inner()).collect(),
        })
    }

    /// Puts records on the shelf of a pile, one behind the other.
    fn put_away(&self, pile: usize, records: &[R]) -> Result<()> {
        if records.is_empty() {
            return Ok(());
        }
        let mut shelf = lock(&self.shelves[pile]);
        shelf.len += records.len() as u64;
        let has_room = |slab: &&mut Vec<R>| slab.capacity() - slab.len() >= records.len();
        if let Some(slab) = shelf.slabs.last_mut().filter(has_room) {
            slab.extend_from_slice(records);
            return Ok(());
        }
        let mut slab = self.new_slab(records.len());
        slab.extend_from_slice(records);
        shelf.slabs.push(slab);
        // Several writers may pass at once and exceed the budget by a slab each. The memory set
        // aside for workers has room for that.
        if self.held.load(Ordering::Relaxed) <= self.space.held {
            return Ok(());
        }
        // The writer whose slab exceeds the budget makes room for it. It spills the oldest
        // slabs, so that the records stay in order, and the new one only if there is no other.
        // Others may use the shelf meanwhile: the place in the file is taken.
        let mut bytes = 0;
        let fits = |slab: &&Vec<R>| {
            bytes += size_of_val(&slab[..]) as u64;
            bytes <= SPILL_BYTES
        };
        let full = &shelf.slabs[..shelf.slabs.len() - 1];
        let count = full.iter().take_while(fits).count().max(1);
        let slabs: Vec<Vec<R>> = shelf.slabs.drain(..count).collect();
        let len: usize = slabs.iter().map(Vec::len).sum();
        let spill = &self.spills[pile % SPILL_FILES];
        let offset = spill.len.fetch_add((len * size_of::<R>()) as u64, Ordering::Relaxed);
        shelf.extents.push(Extent { offset, len });
        drop(shelf);
        self.write_out(slabs, spill, offset)
    }

    /// Returns a slab with room for at least `len` records, and counts it as held.
    fn new_slab(&self, len: usize) -> Vec<R> {
        let is_large_enough = |slab: &Vec<R>| slab.capacity() >= len;
        // Only a record longer than a slab needs another size. The idle slab is freed then.
        let idle = lock(&self.idle).pop().filter(is_large_enough);
        let slab = idle.unwrap_or_else(|| huge::with_capacity(self.slab_len.max(len)));
        self.held.fetch_add(bytes_of(&slab), Ordering::Relaxed);
        slab
    }

    /// Writes slabs one behind the other.
    fn write_out(&self, slabs: Vec<Vec<R>>, spill: &Spill, offset: u64) -> Result<()> {
        let mut slices: Vec<IoSlice<'_>> =
            slabs.iter().map(|slab| IoSlice::new(slab.as_bytes())).collect();
        write_all_at(self.file_of(spill)?, &mut slices, offset)
            .map_err(Error::io("write a temporary file in", &self.space.folder))?;
        drop(slices);
        self.held.fetch_sub(slabs.iter().map(bytes_of).sum(), Ordering::Relaxed);
        let mut idle = lock(&self.idle);
        // Idle slabs are not counted as held. One for each pile is about an eighth of the share.
        let room = self.shelves.len().saturating_sub(idle.len());
        idle.extend(slabs.into_iter().take(room).map(|mut slab| {
            slab.clear();
            slab
        }));
        Ok(())
    }

    fn file_of<'s>(&self, spill: &'s Spill) -> Result<&'s File> {
        if let Some(file) = spill.file.get() {
            return Ok(file);
        }
        let folder = &self.space.folder;
        let file = tempfile::tempfile_in(folder)
            .map_err(Error::io("create a temporary file in", folder))?;
        // Another writer may have been quicker. Then the file made here has no name, and goes.
        Ok(spill.file.get_or_init(|| file))
    }
}

/// Returns the bytes of records and of the free space behind them.
fn bytes_of<R>(slab: &Vec<R>) -> u64 {
    (slab.capacity() * size_of::<R>()) as u64
}

/// Writes slices one behind the other, as many at a time as the system takes.
fn write_all_at(file: &File, mut slices: &mut [IoSlice<'_>], mut offset: u64) -> io::Result<()> {
    // Linux takes no more at a time.
    const SLICES_MAX: usize = 1024;
    // Empty slices in front go: a write of them alone returns 0, as a failed one does.
    IoSlice::advance_slices(&mut slices, 0);
    while !slices.is_empty() {
        let written =
            match rustix::io::pwritev(file, &slices[..slices.len().min(SLICES_MAX)], offset) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(written) => written,
                Err(rustix::io::Errno::INTR) => continue,
                Err(error) => return Err(error.into()),
            };
        offset += written as u64;
        IoSlice::advance_slices(&mut slices, written);
    }
    Ok(())
}

/// Writes into piles.
pub(crate) struct Writer<'a, R> {
    piles: &'a Piles<R>,
    blocks: &'a mut Vec<Vec<R>>,
}

impl<R: Record> Writer<'_, R> {
    /// Appends a record to a pile. It takes about 2 ns if the blocks of all piles fit the L2
    /// cache.
    #[inline]
    pub fn push(&mut self, pile: usize, record: R) -> Result<()> {
        let block = &mut self.blocks[pile];
        if block.len() == block.capacity() {
            self.put_away(pile)?;
        }
        self.blocks[pile].push(record);
        Ok(())
    }

    /// Appends records that stay one behind the other.
    pub fn push_all(&mut self, pile: usize, records: &[R]) -> Result<()> {
        self.push_joined(pile, records, &[])
    }

    /// Appends two runs of records that stay one behind the other.
    pub fn push_joined(&mut self, pile: usize, first: &[R], second: &[R]) -> Result<()> {
        let block = &mut self.blocks[pile];
        if block.capacity() - block.len() < first.len() + second.len() {
            self.put_away(pile)?;
        }
        self.blocks[pile].extend_from_slice(first);
        self.blocks[pile].extend_from_slice(second);
        Ok(())
    }

    #[cold]
    fn put_away(&mut self, pile: usize) -> Result<()> {
        let block = &mut self.blocks[pile];
        self.piles.put_away(pile, block)?;
        // The block keeps its memory. With an allocation for each block, workers waited for the
        // allocator.
        block.clear();
        // A block has no capacity at first, and a long record may have given it too much.
        block.shrink_to(self.piles.block_len);
        block.reserve_exact(self.piles.block_len);
        Ok(())
    }
}

/// Piles that are complete.
pub(crate) struct Filled<R> {
    folder: PathBuf,
    shelves: Vec<Shelf<R>>,
    spills: Vec<Option<File>>,
}

impl<R: Record> Filled<R> {
    /// Number of piles.
    pub fn count(&self) -> usize {
        self.shelves.len()
    }

    /// Number of records in a pile.
    pub fn len(&self, pile: usize) -> u64 {
        self.shelves[pile].len
    }

    /// Bytes that went to disk.
    #[cfg(test)]
    pub fn spilled(&self) -> u64 {
        let extents = self.shelves.iter().flat_map(|shelf| &shelf.extents);
        extents.map(|extent| (extent.len * size_of::<R>()) as u64).sum()
    }

    /// Visits a pile's records in the order in which they were put away.
    pub fn for_each(&self, pile: usize, visit: &mut dyn FnMut(&[R]) -> Result<()>) -> Result<()> {
        let mut space = Vec::new();
        let spill = self.spill(pile);
        let mut parts = self.parts(pile).into_iter();
        parts.try_for_each(|part| self.visit_part(&part, spill, &mut space, visit))
    }

    /// Returns a cursor that reads a pile's records from the first to the last, some at a time.
    pub fn cursor(&self, pile: usize) -> Cursor<'_, R> {
        let parts = self.parts(pile).into_iter();
        Cursor { filled: self, pile, parts, space: Vec::new(), waiting: Vec::new() }
    }

    /// Returns a pile's records, piece by piece, if all of them lie in memory.
    pub fn held(&self, pile: usize) -> Option<Vec<&[R]>> {
        let Shelf { extents, slabs, .. } = &self.shelves[pile];
        extents.is_empty().then(|| slabs.iter().map(Vec::as_slice).collect())
    }

    /// Visits a pile's records on several threads, in no particular order.
    pub fn for_each_parallel(
        &self,
        pile: usize,
        workers: &Workers,
        cancel: &Cancel,
        visit: &(dyn Fn(&[R]) -> Result<()> + Sync),
    ) -> Result<()> {
        let spaces = Stash::default();
        let parts = self.parts(pile);
        workers.for_each(parts.len(), cancel, &|part| {
            spaces.with(Vec::new, |space| {
                self.visit_part(&parts[part], self.spill(pile), space, &mut |records| {
                    visit(records)
                })
            })
        })
    }

    /// Returns a pile's first record.
    pub fn first(&self, pile: usize) -> Result<Option<R>> {
        let mut first = None;
        if let Some(part) = self.parts(pile).first() {
            self.visit_part(part, self.spill(pile), &mut Vec::new(), &mut |records| {
                first = records.first().copied();
                Ok(())
            })?;
        }
        Ok(first)
    }

    /// Frees a pile's memory.
    pub fn clear(&mut self, pile: usize) {
        self.shelves[pile] = Shelf::EMPTY;
    }

    /// Returns all records of a pile.
    pub fn read(&self, pile: usize) -> Result<Vec<R>> {
        let mut records = Vec::with_capacity(self.len(pile) as usize);
        self.for_each(pile, &mut |part| {
            records.extend_from_slice(part);
            Ok(())
        })?;
        Ok(records)
    }

    /// Returns the file of a pile's extents.
    fn spill(&self, pile: usize) -> Option<&File> {
        self.spills[pile % SPILL_FILES].as_ref()
    }

    /// Returns the parts, of a bounded size, in which a pile is read.
    fn parts(&self, pile: usize) -> Vec<ReadPart<'_, R>> {
        let shelf = &self.shelves[pile];
        let part_len = (PART_BYTES / size_of::<R>().max(1)).max(1);
        let mut parts = Vec::new();
        for extent in &shelf.extents {
            for first in (0..extent.len).step_by(part_len) {
                let offset = extent.offset + (first * size_of::<R>()) as u64;
                parts.push(ReadPart::Spilled(Extent {
                    offset,
                    len: part_len.min(extent.len - first),
                }));
            }
        }
        let held = shelf.slabs.iter().flat_map(|slab| slab.chunks(part_len));
        parts.extend(held.map(ReadPart::Held));
        parts
    }

    fn visit_part(
        &self,
        part: &ReadPart<'_, R>,
        spill: Option<&File>,
        space: &mut Vec<R>,
        visit: &mut dyn FnMut(&[R]) -> Result<()>,
    ) -> Result<()> {
        match (part, spill) {
            (ReadPart::Held(records), _) => visit(records),
            (ReadPart::Spilled(extent), Some(file)) => {
                // Never shorter, since growing again would write zeros that are read over.
                space.resize(extent.len.max(space.len()), R::new_zeroed());
                let records = &mut space[..extent.len];
                file.read_exact_at(records.as_mut_bytes(), extent.offset)
                    .map_err(Error::io("read a temporary file in", &self.folder))?;
                visit(records)
            }
            (ReadPart::Spilled(_), None) => unreachable!("an extent lies in the spill file"),
        }
    }
}

/// A place in a pile, which moves on with each read.
pub(crate) struct Cursor<'f, R> {
    filled: &'f Filled<R>,
    pile: usize,
    parts: std::vec::IntoIter<ReadPart<'f, R>>,
    space: Vec<R>,
    /// Records of a part that were not asked for yet.
    waiting: Vec<R>,
}

impl<R: Record> Cursor<'_, R> {
    /// Replaces the content of `records` by the next `count` records; fewer at the end.
    pub fn read(&mut self, count: usize, records: &mut Vec<R>) -> Result<()> {
        let Cursor { filled, pile, parts, space, waiting } = self;
        while waiting.len() < count
            && let Some(part) = parts.next()
        {
            filled.visit_part(&part, filled.spill(*pile), space, &mut |part| {
                waiting.extend_from_slice(part);
                Ok(())
            })?;
        }
        records.clear();
        records.extend(waiting.drain(..count.min(waiting.len())));
        Ok(())
    }
}

/// Some records of a pile.
enum ReadPart<'a, R> {
    Held(&'a [R]),
    Spilled(Extent),
}
