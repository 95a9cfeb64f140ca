//! Stage 5: encodes tiles, and writes what goes with them.

pub(crate) mod build;
pub(crate) mod divide;
