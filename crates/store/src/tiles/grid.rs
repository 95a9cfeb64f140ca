//! How the adjacency matrix is cut: windows of targets, slices of sources.

/// log2 of the number of vertices of a window.
pub const WINDOW_LOG2: u32 = 16;

/// Vertices of a window: ids in it are 2-byte local ids.
pub const WINDOW_SIZE: usize = 1 << WINDOW_LOG2;

/// log2 of the sources of a slice: their messages (64 KiB of four bytes each) stay close to the core
/// while all targets are visited strip by strip.
pub const SLICE_LOG2: u32 = 14;
