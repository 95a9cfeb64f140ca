//! Why an algorithm gave no answer.

use std::path::PathBuf;

use tegula_engine::Graph;

/// Shorthand for results of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Why an algorithm gave no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The run failed.
    #[error(transparent)]
    Run(#[from] tegula_engine::Error),
    /// The method follows edges against their direction, but the graph has only one.
    #[error("{method} needs both directions of every edge, but {} was imported as directed; import it with --undirected, or use another method", graph.display())]
    OneDirection {
        /// The method.
        method: &'static str,
        /// The graph directory.
        graph: PathBuf,
    },
    /// Shortest paths need weights that never make a path shorter.
    #[error("{} has an edge whose weight is below 0 or no number; shortest paths need weights of at least 0", graph.display())]
    NegativeWeight {
        /// The graph directory.
        graph: PathBuf,
    },
    /// A heuristic must not exceed what is left to the target.
    #[error(
        "a heuristic scale of {scale} is too large: an edge is shorter than its straight line times that"
    )]
    Overestimate {
        /// The scale.
        scale: f64,
    },
    /// A walk cannot begin anew where it should.
    #[error(
        "a seed has the weight {weight}; weights are numbers of at least 0, one of them above it"
    )]
    BadSeed {
        /// The weight; 0 when no seed has another one.
        weight: f64,
    },
}

/// Refuses a graph that has the edges in one direction only.
pub(crate) fn check_both_directions(graph: &Graph, method: &'static str) -> Result<()> {
    if graph.manifest().undirected {
        return Ok(());
    }
    Err(Error::OneDirection { method, graph: graph.directory().to_owned() })
}
