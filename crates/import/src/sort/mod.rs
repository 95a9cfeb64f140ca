//! Stage 4: sorts edges into the [`bins`] from which tiles are encoded.

pub(crate) mod bins;
