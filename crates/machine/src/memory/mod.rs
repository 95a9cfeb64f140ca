//! How much memory there is, and how it is taken.

pub mod huge;
mod limit;
mod prefetch;
mod size;

pub use limit::{MemoryLimit, READING_THREADS_MAX, default_memory, memory_limit};
pub use prefetch::prefetch;
pub use size::parse_size;
