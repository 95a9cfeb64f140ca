//! Which vertices are reached from where, and how far they are.

mod path_table;

pub mod astar;
pub mod bfs;
pub mod diameter;
pub mod k_hop;
pub mod sssp;
