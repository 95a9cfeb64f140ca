//! The arrays of a graph, packed: original ids, degrees, the vertex order.
//!
//! ```text
//!  file    | chunk 0 | chunk 1 | ... | where each chunk ends |
//!  chunk   what its coding needs, and 65,536 numbers in blocks of 256
//!  block   base, width | low bits of all numbers, in 8 lanes | exceptions
//! ```
//!
//! A chunk decodes by itself. [`Coding`] says how its numbers are transformed: not at all, to gaps,
//! or to runs.

mod array;
mod blocks;
mod coding;
mod lanes;
mod writer;

#[cfg(test)]
mod tests;

pub(crate) use array::{Array, Stretch};
pub use blocks::Number;
pub(crate) use blocks::{decode as decode_packed, encode as encode_packed};
pub use coding::{Ascending, Coding, Permutation, Unordered};
pub use writer::PackedWriter;

/// Numbers of a chunk; the last one may have fewer.
pub(crate) const CHUNK: usize = 1 << 16;
