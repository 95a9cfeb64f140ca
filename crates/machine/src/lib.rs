//! What a run uses of the machine: memory, threads and the disk.

mod error;
mod hint;
mod mix;
mod words;

pub mod disk;
pub mod memory;
pub mod threads;

pub use error::{At, Bytes, Error, Place, Result, Unresumable};
pub use hint::{Action, Diagnostic, Hint, Setting, SettingValue};
pub use mix::mix;
pub use words::{count, counted};
