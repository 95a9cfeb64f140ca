//! Ends the process at a large allocation, even if the memory is never touched.

use std::alloc::{GlobalAlloc, Layout, System, handle_alloc_error};

use tegula_machine::threads::is_in_foreign_code;

/// The largest allocation, in bytes. Inputs have a few KiB and readers a budget of less than this.
pub const ALLOCATION_MAX: usize = 64 << 20;

#[global_allocator]
static LIMITED: Limited = Limited;

/// The system's allocator with a limit for each allocation.
struct Limited;

/// The largest allocation by the Parquet library, in bytes: a page may claim to have 2^31 values,
/// each with up to 16 bytes. The library reserves them, and touches only what the page holds.
const FOREIGN_ALLOCATION_MAX: usize = 1 << 35;

/// Ends the process if an allocation of `size` bytes is too large.
fn check(layout: Layout, size: usize) {
    let is_too_large = size > ALLOCATION_MAX;
    if is_too_large && (size > FOREIGN_ALLOCATION_MAX || !is_in_foreign_code()) {
        handle_alloc_error(layout);
    }
}

// SAFETY: all calls go to the system's allocator unchanged.
unsafe impl GlobalAlloc for Limited {
    // SAFETY: the caller upholds the contract of the trait.
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        check(layout, layout.size());
        // SAFETY: as above.
        unsafe { System.alloc(layout) }
    }

    // SAFETY: the caller upholds the contract of the trait.
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }

    // SAFETY: the caller upholds the contract of the trait.
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        check(layout, layout.size());
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    // SAFETY: the caller upholds the contract of the trait.
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        check(layout, size);
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, size) }
    }
}
