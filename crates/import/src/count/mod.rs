//! Stage 1: reads the input once, and counts vertices and degrees.

pub(crate) mod both_ways;
pub(crate) mod census;
pub(crate) mod declared;
pub(crate) mod distinct;
pub(crate) mod intake;
pub(crate) mod names;
