//! Which vertices are reached from where, and how far they are.

mod path_options;
mod path_table;
mod search_files;
mod search_options;

pub mod astar;
pub mod bfs;
pub mod diameter;
pub mod k_hop;
pub mod sssp;

pub use path_options::PathOptions;
pub use search_options::SearchOptions;
