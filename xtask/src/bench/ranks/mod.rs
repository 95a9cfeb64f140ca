//! Runs on ranks, beside runs of one process and the figures of DFOGraph (Yu et al., PPoPP 2021).

mod cost;
mod cut;
mod expected;
mod links;
mod model;
mod mpi;
mod namespaces;
mod one_vertex;
mod out_of_core;
mod pagerank;
mod peers;
mod traffic;
mod wire;

use super::figures::Group;

/// Every group, in the order in which they are measured and shown.
pub const RANKS: &[Group] = &[
    Group { name: "two-ranks-memory", title: "Two ranks in memory", measure: pagerank::in_memory },
    Group { name: "two-ranks-disk", title: "Two ranks from disk", measure: pagerank::from_disk },
    Group { name: "one-rank", title: "One rank and none", measure: pagerank::one_rank },
    Group {
        name: "one-vertex",
        title: "Iterations with one active vertex",
        measure: one_vertex::all,
    },
    Group { name: "wire-rmat", title: "Bytes between ranks, R-MAT", measure: wire::rmat },
    Group { name: "wire-uniform", title: "Bytes between ranks, uniform", measure: wire::uniform },
    Group { name: "wire-cnr-2000", title: "Bytes between ranks, cnr-2000", measure: wire::cnr },
    Group {
        name: "ranks-out-of-core",
        title: "A graph whose arrays and tiles are on disk",
        measure: out_of_core::directed,
    },
    Group {
        name: "ranks-out-of-core-undirected",
        title: "An undirected graph whose arrays and tiles are on disk",
        measure: out_of_core::undirected,
    },
    Group { name: "ranks-model", title: "A model of 2 to 64 machines", measure: model::all },
    Group {
        name: "ranks-cost",
        title: "One rank along a list of edges (COST)",
        measure: cost::all,
    },
    Group {
        name: "ranks-peers",
        title: "Two ranks beside NetworKit and GraphX",
        measure: peers::all,
    },
    Group { name: "links", title: "PageRank by the rate of the link", measure: links::all },
];
