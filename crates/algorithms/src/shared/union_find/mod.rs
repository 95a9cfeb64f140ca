//! Finds which vertices are in one component, with at most one look at each edge.

mod disjoint_sets;
mod unsettled;

pub(crate) use disjoint_sets::DisjointSets;
pub(crate) use unsettled::UnsettledEdges;
