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
    /// Edges are followed against their direction, but the graph has only one.
    #[error("{what} needs both directions of every edge, but {} was imported as directed; import it with --undirected{instead}", graph.display())]
    OneDirection {
        /// What was asked for.
        what: &'static str,
        /// What else there is, as the end of the message; nothing where there is nothing.
        instead: &'static str,
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
        "a heuristic scale of {scale} is too large: an edge is shorter than its straight line times that; give a smaller one, or none to have it measured"
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

/// Refuses a graph that has the edges in one direction only. `instead` ends the message.
pub(crate) fn check_both_directions(
    graph: &Graph,
    what: &'static str,
    instead: &'static str,
) -> Result<()> {
    if graph.manifest().undirected {
        return Ok(());
    }
    Err(Error::OneDirection { what, instead, graph: graph.directory().to_owned() })
}

/// Whether a weight makes paths shorter, or is no number.
pub(crate) fn is_negative(weight: f32) -> bool {
    weight.is_nan() || weight < 0.0
}
