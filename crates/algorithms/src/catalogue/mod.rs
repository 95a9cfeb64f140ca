//! The catalogue: all algorithms, for callers that offer them without knowing their types.

mod page;

use crate::algorithm::Entry;

pub use page::page;

/// All algorithms, in the order in which faces offer them.
pub const CATALOGUE: &[Entry] = &[
    Entry::of::<crate::pagerank::PageRankOptions>(),
    Entry::of::<crate::bfs::BfsOptions>(),
    Entry::of::<crate::sssp::SsspOptions>(),
    Entry::of::<crate::wcc::WccOptions>(),
    Entry::of::<crate::mis::MisOptions>(),
    Entry::of::<crate::conductance::ConductanceOptions>(),
    Entry::of::<crate::mst::MstOptions>(),
    Entry::of::<crate::astar::AstarOptions>(),
    Entry::of::<crate::spmv::SpmvOptions>(),
    Entry::of::<crate::triangles::TrianglesOptions>(),
    Entry::of::<crate::belief_propagation::BeliefPropagationOptions>(),
    Entry::of::<crate::cdlp::CdlpOptions>(),
    Entry::of::<crate::lcc::LccOptions>(),
    Entry::of::<crate::degree::DegreeOptions>(),
    Entry::of::<crate::kcore::KcoreOptions>(),
    Entry::of::<crate::scc::SccOptions>(),
    Entry::of::<crate::eigenvector::EigenvectorOptions>(),
    Entry::of::<crate::katz::KatzOptions>(),
    Entry::of::<crate::betweenness::BetweennessOptions>(),
    Entry::of::<crate::closeness::ClosenessOptions>(),
    Entry::of::<crate::harmonic::HarmonicOptions>(),
    Entry::of::<crate::hits::HitsOptions>(),
    Entry::of::<crate::louvain::LouvainOptions>(),
    Entry::of::<crate::leiden::LeidenOptions>(),
    Entry::of::<crate::label_propagation::LabelPropagationOptions>(),
    Entry::of::<crate::diameter::DiameterOptions>(),
    Entry::of::<crate::bridges::BridgesOptions>(),
    Entry::of::<crate::k_hop::KHopOptions>(),
    Entry::of::<crate::random_walks::RandomWalksOptions>(),
    Entry::of::<crate::similarity::SimilarityOptions>(),
    Entry::of::<crate::subgraph::SubgraphOptions>(),
    Entry::of::<crate::topological_order::TopologicalOrderOptions>(),
];

/// Returns the algorithm with this name.
pub fn find(name: &str) -> Option<&'static Entry> {
    CATALOGUE.iter().find(|entry| entry.name == name)
}
