//! How much memory this process may use, and helpers to allocate and prefetch it.

mod allocation;
mod cache;
pub mod huge;
mod limit;
mod prefetch;
mod size;

pub use allocation::ALLOCATION_SIZE;
pub use cache::last_level_cache;
pub use limit::{MemoryLimit, READING_THREADS_MAX, default_memory, memory_limit};
pub use prefetch::prefetch;
pub use size::parse_size;
