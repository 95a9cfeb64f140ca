//! How much memory there is, and how it is taken.

mod budget;
pub mod huge;

pub use budget::{MemoryLimit, READING_THREADS_MAX, default_memory, memory_limit, parse_size};
