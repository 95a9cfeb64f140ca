//! What the fuzz targets share. Each module serves the readers of one layer.
//!
//! A target gives bytes to a reader. Whatever they are, the reader must answer or refuse them: a
//! panic, a hang, an allocation of more than [`ALLOCATION_MAX`] bytes, or an answer that breaks a
//! promise of the reader is a finding.

pub mod block_file;
pub mod checkpoint;
pub mod edges;
pub mod graph;
mod memory;
pub mod messages;
mod scratch;
pub mod shard;
pub mod sources;
pub mod tables;
pub mod tile;
pub mod vertex_array;

pub use memory::ALLOCATION_MAX;
pub use scratch::put;

use tegula_machine::Error as MachineError;
use tegula_store::{Error, Result};

/// Takes what a reader returned; `None` for a refusal, whose message must be printable.
///
/// # Panics
/// If a worker of the reader panicked.
pub fn answer<T>(result: Result<T>) -> Option<T> {
    match result {
        Ok(answer) => Some(answer),
        Err(Error::Machine(MachineError::WorkerFailed { detail })) => {
            panic!("a worker failed: {detail}")
        }
        Err(error) => {
            assert!(!error.to_string().is_empty(), "{error:?}");
            None
        }
    }
}

/// Splits the first byte off, which chooses among the settings of a target.
pub fn choice(data: &[u8]) -> Option<(u8, &[u8])> {
    data.split_first().map(|(&choice, rest)| (choice, rest))
}

/// Splits bytes at the first zero byte, which separates the files of an input.
pub fn parts(data: &[u8]) -> (&[u8], &[u8]) {
    let end = data.iter().position(|&byte| byte == 0).unwrap_or(data.len());
    (&data[..end], data.get(end + 1..).unwrap_or_default())
}
