//! Which vertices are in one component, found by one look at each edge at the most.

mod disjoint_sets;
mod unsettled;

pub(crate) use disjoint_sets::DisjointSets;
pub(crate) use unsettled::UnsettledEdges;
