//! Aligned memory: the mapping itself, a buffer lent by the pool, and the frame that a caller sees.

use std::fmt;
use std::io;
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::Arc;

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};

use super::pool::Pool;

/// Every buffer starts on this grid and every read is widened to it, as direct I/O demands.
pub(super) const GRID: usize = 4096;

/// Mappings from this size on ask for huge pages.
const HUGE_FROM: usize = 2 << 20;

/// Anonymous memory: zeroed when it is created, unmapped when it is dropped.
pub(super) struct Mapping {
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: a `Mapping` owns its memory alone and gives access only through `&self`/`&mut self`.
unsafe impl Send for Mapping {}
// SAFETY: as above; shared access only reads.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps `len` bytes; `len` is a positive multiple of [`GRID`].
    pub(super) fn new(len: usize) -> io::Result<Mapping> {
        assert!(len > 0 && len.is_multiple_of(GRID));
        // SAFETY: a fresh anonymous mapping at an address of the kernel's choice touches no
        // memory that anybody else owns.
        let address = unsafe {
            mmap_anonymous(
                std::ptr::null_mut(),
                len,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::PRIVATE,
            )?
        };
        if len >= HUGE_FROM {
            // Advice only: without huge pages it works the same, slower.
            // SAFETY: the range is the mapping made above, and the advice changes no byte of it.
            let _ = unsafe { madvise(address, len, Advice::LinuxHugepage) };
        }
        let start = NonNull::new(address.cast())
            .ok_or_else(|| io::Error::other("memory was mapped at address zero"))?;
        Ok(Mapping { start, len })
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    fn bytes(&self) -> &[u8] {
        // SAFETY: `start..start + len` is mapped and initialised (zeroes at first) until drop.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `bytes`; `&mut self` makes the access exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the range was mapped by `new`, and nothing borrows it any more. Should the
        // kernel refuse (too many mappings), the memory is leaked, which is safe.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.len) };
    }
}

/// A mapping lent by a pool, which gets it back when this is dropped.
pub(super) struct Buffer {
    mapping: Option<Mapping>,
    pool: Arc<Pool>,
}

impl Buffer {
    pub(super) fn new(mapping: Mapping, pool: Arc<Pool>) -> Buffer {
        Buffer { mapping: Some(mapping), pool }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        self.mapping.as_ref().map_or(&[], Mapping::bytes)
    }

    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        self.mapping.as_mut().map_or(&mut [], Mapping::bytes_mut)
    }

    /// Abandons the memory for good, because the kernel may still write to it. The pool takes the
    /// bytes off its books, so that no waiting request hangs because of a dead backend.
    pub(super) fn leak(mut self) {
        if let Some(mapping) = self.mapping.take() {
            let len = mapping.len();
            std::mem::forget(mapping);
            self.pool.write_off(len);
        }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if let Some(mapping) = self.mapping.take() {
            self.pool.take_back(mapping);
        }
    }
}

/// The bytes of one request, in memory of the pool. They count against the budget until this is
/// dropped.
///
/// Its first byte has the same alignment in memory as in the file, up to 4096 bytes. So a table
/// that starts at a multiple of 8 in the file can be viewed in place as a slice of `u64`.
pub struct Frame {
    buffer: Option<Buffer>,
    start: usize,
    len: usize,
}

impl Frame {
    /// Makes the frame of a request of no bytes, which needs no memory.
    pub(super) fn empty() -> Frame {
        Frame { buffer: None, start: 0, len: 0 }
    }

    /// Makes the frame of `len` bytes of `buffer` from `start` on.
    pub(super) fn new(buffer: Buffer, start: usize, len: usize) -> Frame {
        debug_assert!(start + len <= buffer.bytes().len());
        Frame { buffer: Some(buffer), start, len }
    }
}

impl Deref for Frame {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.buffer.as_ref().map_or(&[], |buffer| &buffer.bytes()[self.start..][..self.len])
    }
}

impl fmt::Debug for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Frame({} bytes)", self.len)
    }
}
