//! The catalogue: all algorithms, for callers that offer them without knowing their types.

mod page;

use crate::algorithm::Entry;
use crate::centrality::{
    betweenness, closeness, degree, eigenvector, harmonic, hits, katz, pagerank,
};
use crate::clustering::{kcore, lcc, triangles};
use crate::communities::{cdlp, conductance, label_propagation, leiden, louvain};
use crate::components::{bridges, scc, wcc};
use crate::paths::{astar, bfs, diameter, k_hop, sssp};
use crate::propagation::{belief_propagation, spmv};
use crate::similarity::{random_walks, similarity};
use crate::structure::{mis, mst, subgraph, topological_order};

pub use page::page;

/// All algorithms, by family.
pub const CATALOGUE: &[Entry] = &[
    Entry::of::<pagerank::PageRankOptions>(),
    Entry::of::<degree::DegreeOptions>(),
    Entry::of::<eigenvector::EigenvectorOptions>(),
    Entry::of::<katz::KatzOptions>(),
    Entry::of::<betweenness::BetweennessOptions>(),
    Entry::of::<closeness::ClosenessOptions>(),
    Entry::of::<harmonic::HarmonicOptions>(),
    Entry::of::<hits::HitsOptions>(),
    Entry::of::<bfs::BfsOptions>(),
    Entry::of::<sssp::SsspOptions>(),
    Entry::of::<astar::AstarOptions>(),
    Entry::of::<diameter::DiameterOptions>(),
    Entry::of::<k_hop::KHopOptions>(),
    Entry::of::<wcc::WccOptions>(),
    Entry::of::<scc::SccOptions>(),
    Entry::of::<bridges::BridgesOptions>(),
    Entry::of::<conductance::ConductanceOptions>(),
    Entry::of::<cdlp::CdlpOptions>(),
    Entry::of::<louvain::LouvainOptions>(),
    Entry::of::<leiden::LeidenOptions>(),
    Entry::of::<label_propagation::LabelPropagationOptions>(),
    Entry::of::<triangles::TrianglesOptions>(),
    Entry::of::<lcc::LccOptions>(),
    Entry::of::<kcore::KcoreOptions>(),
    Entry::of::<mis::MisOptions>(),
    Entry::of::<mst::MstOptions>(),
    Entry::of::<subgraph::SubgraphOptions>(),
    Entry::of::<topological_order::TopologicalOrderOptions>(),
    Entry::of::<random_walks::RandomWalksOptions>(),
    Entry::of::<similarity::SimilarityOptions>(),
    Entry::of::<spmv::SpmvOptions>(),
    Entry::of::<belief_propagation::BeliefPropagationOptions>(),
];

/// Returns the algorithm with this name.
pub fn find(name: &str) -> Option<&'static Entry> {
    CATALOGUE.iter().find(|entry| entry.name == name)
}
