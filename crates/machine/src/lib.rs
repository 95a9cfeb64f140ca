//! What a run uses of the machine: memory, threads and the disk.

mod error;
mod mix;
mod words;

pub mod disk;
pub mod memory;
pub mod threads;

pub use error::{Bytes, Error, Result};
pub use mix::mix;
pub use words::{count, counted};
