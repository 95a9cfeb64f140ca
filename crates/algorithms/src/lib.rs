//! Graph algorithms on the engine, and their catalogue.
//!
//! An algorithm is a folder. `mod.rs` is its short paper, its options and its needs; `answer.rs`
//! turns its result into an answer; the other files compute the result. [`CATALOGUE`] lists all
//! algorithms for faces, which offer them without knowing any.
//!
//! Algorithms that run at the same time on one graph share what they read of it. Each is a call on
//! a thread of its own, with the same result as when it runs alone:
//!
//! ```
//! use tegula_algorithms::paths::bfs::Bfs;
//! use tegula_algorithms::engine::{RunOptions, Scheduler, VertexId, open_graph};
//! use tegula_algorithms::centrality::pagerank::{PageRank, Stop};
//! # use tegula_machine::{disk::Backend, threads::{Cancel, Silent}};
//!
//! # let folder = tegula_testkit::Scratch::new();
//! # let (edges, directory) = (folder.join("edges.txt"), folder.join("edges.tegula"));
//! # std::fs::write(&edges, "1 2\n2 3\n3 1\n")?;
//! # let config = tegula_import::ImportConfig::default();
//! # tegula_import::import(&[edges], &directory, &config, &Silent, &Cancel::default())?;
//! let options = RunOptions { memory: 512 << 20, ..RunOptions::default() };
//! let graph = open_graph(&directory, options.memory, Backend::Auto)?;
//!
//! let (ranks, levels) = Scheduler::scope(&graph, &options.resources(), |scheduler| {
//!     let options = RunOptions { scheduler: Some(scheduler), ..options.clone() };
//!     std::thread::scope(|scope| {
//!         let ranks = scope.spawn(|| PageRank::run(&graph, Stop::default(), &options));
//!         let levels = Bfs::run(&graph, VertexId(0), &options);
//!         (ranks.join().expect("a panic of a job is an error"), levels)
//!     })
//! });
//! assert_eq!((ranks?.states.len(), levels?.states.len()), (3, 3));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
mod shared;

pub mod algorithm;
pub mod answer;
pub mod catalogue;
pub mod jobs;
pub mod passes;
pub mod side_table;

pub mod centrality;
pub mod clustering;
pub mod communities;
pub mod components;
pub mod paths;
pub mod propagation;
pub mod similarity;
pub mod structure;

pub use catalogue::{CATALOGUE, find};
pub use error::{Error, Hint, Result, Setting, SettingValue};
pub use shared::find_vertex::find_vertex;
pub use shared::sources::Sources;
pub use shared::{original_ids, vertex_list};
pub use tegula_engine as engine;
