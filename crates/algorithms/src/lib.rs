//! Graph algorithms on the engine, and the catalogue of them.
//!
//! An algorithm is a folder: `mod.rs` is its short paper, its options and what it needs, `answer.rs` what it says
//! of what it found, and the other files are how that is found. [`CATALOGUE`] lists all of them for whoever offers
//! them without knowing any.

mod error;

pub mod algorithm;
pub mod answer;
pub mod original_ids;
pub mod side_table;

pub mod astar;
pub mod bfs;
pub mod conductance;
pub mod mis;
pub mod mst;
pub mod pagerank;
pub mod sssp;
pub mod wcc;

pub use error::{Error, Hint, Result, Setting};
pub use tegula_engine as engine;

use algorithm::Entry;

/// All algorithms, in the order in which they are offered.
pub const CATALOGUE: &[Entry] = &[
    Entry::of::<pagerank::PageRankOptions>(),
    Entry::of::<bfs::BfsOptions>(),
    Entry::of::<sssp::SsspOptions>(),
    Entry::of::<wcc::WccOptions>(),
    Entry::of::<mis::MisOptions>(),
    Entry::of::<conductance::ConductanceOptions>(),
    Entry::of::<mst::MstOptions>(),
    Entry::of::<astar::AstarOptions>(),
];

/// The algorithm with a name.
pub fn find(name: &str) -> Option<&'static Entry> {
    CATALOGUE.iter().find(|entry| entry.name == name)
}
