//! How the command allocates memory. Freed memory goes back to the system. Where the system has no
//! memory for an allocation, the command says so and exits as it does for a budget that is too
//! small, instead of being aborted.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Mutex;

use crate::errors::Failure;
use crate::session;

/// The system's allocator, which ends the process in good order where there is no memory. It is for
/// the program `tegula` alone.
pub struct OrEnd;

// SAFETY: the system's allocator does all the work, and its results are passed on as they are. What
// ends the process on a failure never unwinds into the caller.
unsafe impl GlobalAlloc for OrEnd {
    // SAFETY: as the trait asks for.
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller upholds what the system's allocator asks for.
        or_end(unsafe { System.alloc(layout) }, layout.size())
    }

    // SAFETY: as the trait asks for.
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        or_end(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    // SAFETY: as the trait asks for.
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above; the pointer came from the system's allocator.
        or_end(unsafe { System.realloc(pointer, layout, size) }, size)
    }

    // SAFETY: as the trait asks for.
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above; the pointer came from the system's allocator.
        unsafe { System.dealloc(pointer, layout) }
    }
}

fn or_end(pointer: *mut u8, size: usize) -> *mut u8 {
    if pointer.is_null() {
        end(size);
    }
    pointer
}

/// Ends the process. Returns only where there is no memory even for the message; the process is
/// then aborted.
#[cold]
fn end(size: usize) {
    /// Held by the thread that ends the process; other threads wait for it.
    static ENDING: Mutex<()> = Mutex::new(());
    thread_local! {
        static IS_ENDING: Cell<bool> = const { Cell::new(false) };
    }
    // The message may fail to get memory as well. Then this thread comes here again, and must not
    // wait for itself.
    if !IS_ENDING.replace(true) {
        let _ending = ENDING.lock();
        session::end_at_once(&Failure::OutOfMemory { size: size as u64 });
    }
}

/// The size in bytes from which an allocation is a mapping of its own, which goes back at once.
#[cfg(target_env = "gnu")]
const MAPPED_FROM: libc::c_int = 4 << 20;
/// Free bytes that the allocator keeps at the end of its heap.
#[cfg(target_env = "gnu")]
const KEPT: libc::c_int = 8 << 20;

/// Gives free memory that the allocator keeps back to the system. Called between phases of the
/// work: what one phase freed would otherwise stay beside what the next one takes.
pub fn give_back() {
    #[cfg(target_env = "gnu")]
    // SAFETY: it touches no memory that is in use. It may find nothing to give back, which is fine.
    let _ = unsafe { libc::malloc_trim(0) };
}

/// [`MAPPED_FROM`] while jobs run side by side with a small budget.
#[cfg(target_env = "gnu")]
const MAPPED_FROM_BESIDE_OTHERS: libc::c_int = 256 << 10;
/// Below this budget, memory between the allocations of other jobs matters.
const SMALL_BUDGET: u64 = 256 << 20;

/// Makes allocations from 256 KiB on mappings of their own, so that memory goes back when a job
/// frees it, even if other jobs hold memory above it in the heap. It must be called before jobs run
/// side by side within `budget` bytes. Without it, 36 jobs took 44 MiB of a budget of 41. Mappings
/// cost up to a tenth of the time, so large budgets keep the default.
pub fn map_smaller_allocations(budget: u64) {
    if budget < SMALL_BUDGET {
        #[cfg(target_env = "gnu")]
        // SAFETY: it sets a number that threads read under the lock of the only arena
        // (`keep_little`); `mallopt` takes that lock.
        let _ = unsafe { libc::mallopt(libc::M_MMAP_THRESHOLD, MAPPED_FROM_BESIDE_OTHERS) };
    }
}

/// Bounds the freed memory that the allocator keeps. By default glibc has an arena for each thread,
/// reserves 64 MiB of addresses for each, and keeps freed memory in it: 28 MiB in a run with
/// reading threads that otherwise takes 46. Must be called before there are threads that allocate.
pub fn keep_little() {
    #[cfg(target_env = "gnu")]
    for (parameter, value) in [
        (libc::M_ARENA_MAX, 1),
        (libc::M_MMAP_THRESHOLD, MAPPED_FROM),
        (libc::M_TRIM_THRESHOLD, KEPT),
    ] {
        // SAFETY: it sets a number of the allocator's; no other thread allocates. A refusal does no
        // harm.
        let _ = unsafe { libc::mallopt(parameter, value) };
    }
}
