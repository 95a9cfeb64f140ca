//! Groups of vertices with many edges inside, and how good such groups are.

pub mod cdlp;
pub mod conductance;
pub mod label_propagation;
pub mod leiden;
pub mod louvain;
pub mod modularity;
