#![expect(clippy::print_stdout, reason = "an example prints")]
//! Runs PageRank with its arrays in mapped files, which the kernel pages, as a baseline for arrays
//! on disk.
//!
//! `mapped_arrays GRAPH FOLDER ITERATIONS MEMORY LIMIT` runs as in memory, so MEMORY must suffice
//! for that. But every large allocation is mapped from an unnamed file in FOLDER, and the process
//! has only LIMIT bytes of memory, so the kernel has to move pages. It prints the seconds of each
//! iteration as JSON.

use std::alloc::{GlobalAlloc, Layout, System};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::ptr::null_mut;
use std::sync::OnceLock;
use std::time::Duration;

use rustix::fs::{CWD, Mode, OFlags, ftruncate, openat};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use tegula_algorithms::centrality::pagerank::{PageRank, Stop};
use tegula_algorithms::engine::{RunOptions, open_graph};
use tegula_machine::disk::Backend;
use tegula_testkit::MemoryGroup;

/// Allocations of at least this size are mapped.
const MAPPED_MIN: usize = 1 << 20;

/// The folder of the files. No large allocation may happen before it is set.
static FOLDER: OnceLock<PathBuf> = OnceLock::new();

/// An allocator that maps large allocations.
struct Mapped;

impl Mapped {
    fn maps(layout: Layout) -> bool {
        layout.size() >= MAPPED_MIN && layout.align() <= 4096
    }

    /// Maps new pages, which are zero. Returns null on failure.
    fn map(len: usize) -> *mut u8 {
        let Some(folder) = FOLDER.get() else { return null_mut() };
        let flags = OFlags::RDWR | OFlags::TMPFILE | OFlags::CLOEXEC;
        let Ok(file) = openat(CWD, folder, flags, Mode::from_raw_mode(0o600)) else {
            return null_mut();
        };
        if ftruncate(&file, len as u64).is_err() {
            return null_mut();
        }
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping, at an address that the kernel chooses, of a file that nobody else
        // can open.
        let pages = unsafe { mmap(null_mut(), len, access, MapFlags::SHARED, &file, 0) };
        pages.map_or(null_mut(), <*mut _>::cast)
    }
}

// SAFETY: memory is the system's, or pages that were mapped for one allocation and are unmapped
// with it. The layout tells which of the two, since every large allocation is mapped: see `alloc`.
unsafe impl GlobalAlloc for Mapped {
    // SAFETY: as the trait says.
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        match Mapped::maps(layout) {
            true => Mapped::map(layout.size()),
            // SAFETY: the caller's promises are passed on.
            false => unsafe { System.alloc(layout) },
        }
    }

    // SAFETY: as the trait says.
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        match Mapped::maps(layout) {
            true => Mapped::map(layout.size()),
            // SAFETY: the caller's promises are passed on.
            false => unsafe { System.alloc_zeroed(layout) },
        }
    }

    // SAFETY: as the trait says.
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        match Mapped::maps(layout) {
            // SAFETY: it was mapped with this length, and nobody holds it any longer.
            true => drop(unsafe { munmap(pointer.cast(), layout.size()) }),
            // SAFETY: the caller's promises are passed on.
            false => unsafe { System.dealloc(pointer, layout) },
        }
    }
}

#[global_allocator]
static ALLOCATOR: Mapped = Mapped;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [graph, folder, iterations, memory, limit] = arguments.as_slice() else {
        return Err("usage: mapped_arrays GRAPH FOLDER ITERATIONS MEMORY LIMIT".into());
    };
    FOLDER.get_or_init(|| PathBuf::from(folder));
    let options = RunOptions { memory: memory.parse()?, ..RunOptions::default() };
    let stop = Stop::Iterations(iterations.parse()?);
    let graph = open_graph(Path::new(graph), options.memory, Backend::Auto)?;
    let group = MemoryGroup::new(limit.parse()?)?;
    let outcome = group.run(|| PageRank::run(&graph, stop, &options))??;
    let seconds = outcome.statistics.iteration_times.iter().map(Duration::as_secs_f64);
    println!("{{\"iteration_seconds\": {:?}}}", seconds.collect::<Vec<_>>());
    Ok(())
}
