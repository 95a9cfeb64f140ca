//! How much memory this process may use, and helpers to allocate and prefetch it.

pub mod huge;
mod limit;
mod prefetch;
mod size;

pub use limit::{MemoryLimit, READING_THREADS_MAX, default_memory, memory_limit};
pub use prefetch::prefetch;
pub use size::parse_size;
