//! Lists on disk that grow side by side: one list for each range while numbers are sorted roughly.
//!
//! Each list has one block in memory. Full blocks go to the [store](BlockStore) that all lists
//! share, in the order in which they fill up. So the size of the store depends on the number of
//! values and not on their distribution over the lists.

use std::marker::PhantomData;

use tegula_machine::disk::{BlockStore, Blocks, Directory, Pool, Reader, WriteBehind};
use tegula_store::Result;
use zerocopy::IntoBytes;

use crate::program::Value;

/// The place of lists on disk, and the means to read and write them.
#[derive(Clone, Copy)]
pub struct Disk<'d> {
    pub folder: &'d Directory,
    pub reader: &'d Reader,
    pub writer: &'d WriteBehind,
}

/// The number of lists, and the size of their blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListsLayout {
    /// Number of lists.
    pub count: usize,
    /// Bytes of a block.
    pub block_size: usize,
}

impl ListsLayout {
    /// Returns the blocks of lists that together hold up to `len` values of `size` bytes.
    pub fn blocks(self, size: usize, len: usize) -> Blocks {
        let block_len = self.block_len(size);
        // Each list may end within a block.
        let count = len.div_ceil(block_len) + self.count;
        Blocks { what: "lists", count, size: block_len * size }
    }

    fn block_len(self, size: usize) -> usize {
        (self.block_size / size).max(1)
    }
}

/// Lists while they are written.
pub struct Lists<T> {
    store: BlockStore,
    block_len: usize,
    blocks_taken: usize,
    lists: Vec<List<T>>,
}

struct List<T> {
    /// Blocks of the store, from the first to the last of the list.
    blocks: Vec<usize>,
    len: usize,
    /// Values that do not fill a block yet.
    open: Vec<T>,
}

impl<T: Value> Lists<T> {
    /// Makes empty lists with room for `len` values together.
    pub fn create(layout: ListsLayout, len: usize, disk: Disk<'_>) -> Result<Lists<T>> {
        let blocks = layout.blocks(size_of::<T>(), len);
        // Each list may have a block read ahead, and one block is waited for.
        let pool = Pool::new((layout.count as u64 + 1) * blocks.frame_size());
        let reader = &disk.reader.with_pool(pool);
        let store = BlockStore::create(disk.folder, blocks, reader, disk.writer, &|_| false)?;
        let list = || List { blocks: Vec::new(), len: 0, open: Vec::new() };
        let lists = std::iter::repeat_with(list).take(layout.count).collect();
        Ok(Lists { store, block_len: layout.block_len(size_of::<T>()), blocks_taken: 0, lists })
    }

    /// Appends a value to a list.
    #[inline]
    pub fn push(&mut self, list: usize, value: T) -> Result<()> {
        let open = &mut self.lists[list].open;
        open.push(value);
        if open.len() == self.block_len { self.put_away(list) } else { Ok(()) }
    }

    /// Appends values to a list.
    pub fn extend(&mut self, list: usize, mut values: &[T]) -> Result<()> {
        while !values.is_empty() {
            let open = &mut self.lists[list].open;
            let (these, rest) = values.split_at(values.len().min(self.block_len - open.len()));
            open.extend_from_slice(these);
            if open.len() == self.block_len {
                self.put_away(list)?;
            }
            values = rest;
        }
        Ok(())
    }

    /// Writes the values of a list in memory. Nothing may be appended to it afterwards.
    pub fn close(&mut self, list: usize) -> Result<()> {
        if !self.lists[list].open.is_empty() {
            self.put_away(list)?;
        }
        // A cleared list would keep the memory of its block.
        self.lists[list].open = Vec::new();
        Ok(())
    }

    #[cold]
    fn put_away(&mut self, list: usize) -> Result<()> {
        let List { blocks, len, open } = &mut self.lists[list];
        self.store.write(self.blocks_taken, &[open.as_bytes()])?;
        blocks.push(self.blocks_taken);
        self.blocks_taken += 1;
        *len += open.len();
        open.clear();
        Ok(())
    }

    /// Ends writing.
    pub fn finish(mut self) -> Result<Finished<T>> {
        (0..self.lists.len()).try_for_each(|list| self.close(list))?;
        self.store.finish_writing()?;
        let lists = self.lists.into_iter().map(|list| (list.blocks, list.len)).collect();
        Ok(Finished { store: self.store, block_len: self.block_len, lists, of: PhantomData })
    }
}

/// Lists that are complete.
pub struct Finished<T> {
    store: BlockStore,
    block_len: usize,
    /// The blocks and the number of values of each list.
    lists: Vec<(Vec<usize>, usize)>,
    of: PhantomData<fn() -> T>,
}

impl<T: Value> Finished<T> {
    /// Returns the number of values in a list.
    pub fn len(&self, list: usize) -> usize {
        self.lists[list].1
    }

    /// Visits a list from the first value to the last, block by block.
    pub fn for_each_block(
        &self,
        list: usize,
        visit: &mut dyn FnMut(&[T]) -> Result<()>,
    ) -> Result<()> {
        let mut values = Vec::new();
        for block in 0..self.lists[list].0.len() {
            self.read(list, block, &mut values)?;
            visit(&values)?;
        }
        Ok(())
    }

    /// Returns a cursor at the first value of each list.
    pub fn cursors(&self) -> Cursors<'_, T> {
        let cursor = || Cursor { block: 0, values: Vec::new(), next: 0 };
        let cursors = std::iter::repeat_with(cursor).take(self.lists.len()).collect();
        Cursors { lists: self, cursors }
    }

    /// Reads a block of a list, and requests the next one.
    fn read(&self, list: usize, block: usize, values: &mut Vec<T>) -> Result<()> {
        let (blocks, len) = &self.lists[list];
        let count_in = |block: usize| self.block_len.min(len - block * self.block_len);
        if let Some(&next) = blocks.get(block + 1) {
            self.store.read_ahead(next, count_in(block + 1) * size_of::<T>());
        }
        values.resize(count_in(block), T::new_zeroed());
        Ok(self.store.read(blocks[block], &mut [values.as_mut_bytes()])?)
    }
}

/// A position in each list.
pub struct Cursors<'l, T> {
    lists: &'l Finished<T>,
    cursors: Vec<Cursor<T>>,
}

struct Cursor<T> {
    /// The block after the one in memory.
    block: usize,
    values: Vec<T>,
    next: usize,
}

impl<T: Value> Cursors<'_, T> {
    /// Returns the next value of a list.
    ///
    /// # Panics
    /// At the end of the list.
    #[inline]
    pub fn next(&mut self, list: usize) -> Result<T> {
        let cursor = &mut self.cursors[list];
        if cursor.next == cursor.values.len() {
            self.lists.read(list, cursor.block, &mut cursor.values)?;
            (cursor.block, cursor.next) = (cursor.block + 1, 0);
        }
        cursor.next += 1;
        Ok(cursor.values[cursor.next - 1])
    }
}
