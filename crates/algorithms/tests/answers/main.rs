//! Algorithms against oracles, in every way to run them, on good and on damaged graphs.
//!
//! One program for all scenarios is linked once, and they share the processors while they run.

#[path = "../support/mod.rs"]
mod support;

mod arrays_on_disk;
mod beliefs;
mod catalogue;
mod centralities;
mod checkpoints;
mod communities;
mod directions;
mod faults;
mod laws;
mod mirrored;
mod neighbourhoods;
mod open_rows;
mod oracles;
mod parts;
mod passes;
mod paths;
mod precision;
mod properties;
mod ranks;
mod real_graphs;
mod row_faults;
mod same_bits;
mod searches;
mod similarity;
mod structure;
mod tables;
mod traversals;
mod walks;
mod weighted_ranks;
mod wide;
mod within_hops;
