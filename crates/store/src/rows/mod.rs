//! Rows: the adjacency matrix sorted by source, each row readable alone.

mod bits;
mod ceesor;
mod encoding;
mod gap;
mod plain;
mod widths;

#[cfg(test)]
mod tests;

pub use bits::{BitWriter, RowBits};
pub use ceesor::CeesorCode;
pub use encoding::{RowCode, RowEncoding};
pub use gap::GapCode;
pub use plain::PlainCode;
