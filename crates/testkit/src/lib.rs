//! Shared by tests and benches: oracles, verifiers, known graphs and scratch folders.
//!
//! Deliberately independent of the engine: an oracle is the shortest correct program over plain
//! vectors, and shares no code with what it checks. Results are tables of `(original id, value)`
//! ordered by id, as the engine returns them.
//!
//! * [`graph`], [`small_graphs`](mod@small_graphs): edge lists, adjacency lists, and a family of
//!   odd cases;
//! * [`pagerank`](mod@pagerank), [`bfs`](mod@bfs), [`sssp`](mod@sssp), [`wcc`](mod@wcc),
//!   [`mis`](mod@mis), [`conductance`](mod@conductance), [`mst`](mod@mst), [`path`]: an oracle and
//!   a verifier each;
//! * [`spmv`](mod@spmv), [`neighbourhoods`], [`scc`](mod@scc), [`depth_first`](mod@depth_first),
//!   [`centrality`]: oracles;
//! * [`matching`]: when two tables agree;
//! * [`csc_pull`], [`delta_stepping`], [`plain_bfs`], [`merge_count`], [`hilbert_loop`],
//!   [`grid_stream`]: yardsticks for speed;
//! * [`edge_stream`]: edges in files, for yardsticks that work from disk;
//! * [`data`], [`facts`], [`graphalytics`]: real graphs with known answers;
//! * [`scratch`]: folders that vanish;
//! * [`input_files`]: files for tests of readers;
//! * [`memory_group`]: limits of memory that the kernel enforces;
//! * [`power_loss`]: what a crash may leave of a folder;
//! * [`manifest`]: manifests with deliberate changes;
//! * [`random`]: numbers that are the same in every run.
//!
//! For tests only: broken expectations panic.

pub mod bfs;
pub mod centrality;
pub mod conductance;
pub mod csc_pull;
pub mod cuts;
pub mod data;
pub mod delta_stepping;
pub mod depth_first;
pub mod distances;
pub mod edge_stream;
pub mod facts;
pub mod graph;
pub mod graphalytics;
pub mod grid_stream;
pub mod hilbert_loop;
pub mod input_files;
pub mod manifest;
pub mod matching;
pub mod memory_group;
pub mod merge_count;
pub mod mis;
pub mod modularity;
pub mod mst;
pub mod neighbourhoods;
pub mod pagerank;
pub mod path;
pub mod plain_bfs;
mod plain_rows;
pub mod power_loss;
pub mod random;
pub mod scc;
pub mod scratch;
pub mod small_graphs;
pub mod spmv;
pub mod sssp;
pub mod wcc;

pub use bfs::{bfs, verify_bfs};
pub use conductance::{conductance, verify_conductance, weighted_conductance};
pub use csc_pull::CscPull;
pub use delta_stepping::DeltaStepping;
pub use depth_first::{EnteredAndLeft, depth_first};
pub use graph::{Adjacency, Compact, EdgeList};
pub use grid_stream::GridStream;
pub use hilbert_loop::HilbertLoop;
pub use manifest::edit_manifest;
pub use memory_group::MemoryGroup;
pub use merge_count::MergeCount;
pub use mis::{mis, verify_mis};
pub use mst::{mst, verify_mst};
pub use pagerank::{
    match_pagerank, match_personalized_pagerank, match_weighted_pagerank, pagerank, pagerank_until,
    personalized_pagerank, verify_pagerank, weighted_pagerank,
};
pub use path::{shortest_path, verify_path};
pub use plain_bfs::PlainBfs;
pub use random::XorShift;
pub use scc::scc;
pub use scratch::Scratch;
pub use small_graphs::small_graphs;
pub use spmv::spmv;
pub use sssp::{sssp, verify_sssp};
pub use wcc::{verify_wcc, wcc};

/// A result: `(original id, value)`, ordered by id, with one row per vertex.
pub type Table<T> = Vec<(u64, T)>;
