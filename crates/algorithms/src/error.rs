//! Why an algorithm gave no answer, and what may be done about it.

use std::path::PathBuf;
use std::sync::Mutex;

use tegula_engine::{Graph, ShortId};
use tegula_import::settings;
use tegula_machine::threads::{lock, unlocked};

use crate::original_ids::{Name, name_of};

pub use tegula_machine::{Hint, Setting, SettingValue};

/// Shorthand for results of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Why an algorithm gave no answer. Messages are the same for every face; what to do instead is a
/// [hint](Error::hints), which each face words its way.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The run failed.
    #[error(transparent)]
    Run(#[from] tegula_engine::Error),
    /// A vertex that an option names is not there.
    #[error("{} has no vertex `{id}`", graph.display())]
    NoSuchVertex {
        /// The graph directory.
        graph: PathBuf,
        /// The id.
        id: String,
    },
    /// The budget is too small for the run, and large enough for another one that finds the same.
    #[error("{error}")]
    OverBudget {
        /// The budget, and what the run needs.
        error: Box<tegula_engine::Error>,
        /// What is done for the other run.
        instead: Hint,
    },
    /// Edges are followed against their direction, but the graph has only one.
    #[error("{what} needs both directions of every edge, but {} was imported as directed", graph.display())]
    OneDirection {
        /// What was asked for.
        what: &'static str,
        /// What does with one direction.
        instead: Option<Setting>,
        /// The graph directory.
        graph: PathBuf,
    },
    /// An array over all vertices has to lie in memory, where there is none for so many.
    #[error("{what} holds an array over all vertices in memory, which cannot be for the {vertices} of {}", graph.display())]
    TooManyVertices {
        /// What was asked for.
        what: &'static str,
        /// How many there are.
        vertices: u64,
        /// What has its arrays on disk.
        instead: Option<Box<Hint>>,
        /// The graph directory.
        graph: PathBuf,
    },
    /// Weights have to be at least 0.
    #[error("{} has an edge{} whose weight is below 0 or NaN; {what} need weights of at least 0",
        graph.display(), between(edge))]
    NegativeWeight {
        /// What needs them.
        what: &'static str,
        /// Where it leads from and to, if that is known.
        edge: Option<Box<(Name, Name)>>,
        /// The graph directory.
        graph: PathBuf,
    },
    /// Weights have to be above 0.
    #[error("{} has an edge whose weight is not above 0; {what} needs weights above 0", graph.display())]
    NotPositiveWeight {
        /// What needs them.
        what: &'static str,
        /// The graph directory.
        graph: PathBuf,
    },
    /// A heuristic must not exceed what is left to the target.
    #[error(
        "a heuristic scale of {scale} is too large: an edge is shorter than {scale} times the straight line between its ends"
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
    /// An option that only counts together with another one, which is missing or says something else.
    #[error("`{option}` is for {of}")]
    IdleOption {
        /// The option.
        option: &'static str,
        /// What it is for.
        of: Setting,
    },
    /// There is no order in which every edge leads forward.
    #[error("{} has a cycle: {}", graph.display(), around(vertices, *length))]
    Cycle {
        /// The graph directory.
        graph: PathBuf,
        /// Vertices of the cycle, in the direction of its edges: the first of them, where there are many.
        vertices: Vec<Name>,
        /// How many it has.
        length: usize,
    },
    /// Options that are no options of the algorithm, or have values that are none.
    #[error("options of {algorithm}: {detail}")]
    BadOptions {
        /// The algorithm.
        algorithm: &'static str,
        /// What is wrong.
        detail: String,
    },
}

impl Error {
    /// What may be done instead: any of these.
    pub fn hints(&self) -> Vec<Hint> {
        match self {
            Error::OneDirection { instead, .. } => {
                let undirected = Hint::import(settings::UNDIRECTED);
                let set = instead.map(|setting| Hint::set([setting]));
                std::iter::once(undirected).chain(set).collect()
            }
            Error::OverBudget { error, instead } => {
                error.hints().into_iter().chain([instead.clone()]).collect()
            }
            Error::TooManyVertices { instead, .. } => {
                instead.as_deref().cloned().into_iter().collect()
            }
            Error::Overestimate { .. } => {
                let option = "heuristic_scale";
                let smaller = Setting { option, value: SettingValue::Any };
                vec![
                    Hint::set([smaller]).detail("with a smaller one"),
                    Hint::leave_out(option).detail("to have it measured"),
                ]
            }
            Error::Run(error) => error.hints(),
            Error::NoSuchVertex { .. }
            | Error::NegativeWeight { .. }
            | Error::NotPositiveWeight { .. }
            | Error::BadSeed { .. }
            | Error::IdleOption { .. }
            | Error::Cycle { .. }
            | Error::BadOptions { .. } => Vec::new(),
        }
    }

    /// Whether it is for what the graph holds, not for what was asked for.
    pub fn is_of_graph(&self) -> bool {
        matches!(
            self,
            Error::NegativeWeight { .. } | Error::NotPositiveWeight { .. } | Error::Cycle { .. }
        )
    }
}

/// Where an edge leads, if that is known.
fn between(edge: &Option<Box<(Name, Name)>>) -> String {
    edge.as_ref().map_or(String::new(), |edge| format!(" from `{}` to `{}`", edge.0, edge.1))
}

/// A cycle as its vertices one behind the other.
fn around(vertices: &[Name], length: usize) -> String {
    let names: Vec<String> = vertices.iter().map(|name| format!("`{name}`")).collect();
    let ends = names.first().map_or("", String::as_str);
    match length - vertices.len() {
        0 => format!("{} -> {ends}", names.join(" -> ")),
        others => format!("{} -> {others} more -> {ends}", names.join(" -> ")),
    }
}

/// Refuses a graph that has the edges in one direction only.
pub(crate) fn check_both_directions(
    graph: &Graph,
    what: &'static str,
    instead: Option<Setting>,
) -> Result<()> {
    if graph.manifest().undirected {
        return Ok(());
    }
    Err(Error::OneDirection { what, instead, graph: graph.directory().to_owned() })
}

/// What needs weights of at least 0, where that is shortest paths.
pub(crate) const PATHS: &str = "shortest paths";

/// The error for a graph that has other weights than those that `what` needs.
pub(crate) fn negative_weight(graph: &Graph, what: &'static str) -> Error {
    Error::NegativeWeight { what, edge: None, graph: graph.directory().to_owned() }
}

/// The first edge, by the dense ids of its ends, whose weight is none, whichever thread finds it.
#[derive(Debug, Default)]
pub(crate) struct RefusedEdge(Mutex<Option<(ShortId, ShortId)>>);

impl RefusedEdge {
    #[cold]
    pub(crate) fn refuse(&self, edge: (ShortId, ShortId)) {
        let mut first = lock(&self.0);
        *first = Some(first.map_or(edge, |other| other.min(edge)));
    }

    /// Fails if there is one. It reads the order of the vertices.
    ///
    /// # Errors
    /// [`Error::NegativeWeight`] of what needs other weights; those of reading.
    pub(crate) fn check(self, graph: &Graph, what: &'static str) -> Result<()> {
        let Some((source, target)) = unlocked(self.0) else { return Ok(()) };
        let [source, target] = [source, target].map(|vertex| name_of(graph, vertex.into()));
        let edge = Some(Box::new((source?, target?)));
        Err(Error::NegativeWeight { what, edge, graph: graph.directory().to_owned() })
    }
}

/// Whether a weight is a finite number of at least 0.
#[inline(always)]
pub(crate) fn is_weight(weight: impl Into<f64>) -> bool {
    (0.0..f64::INFINITY).contains(&weight.into())
}

/// Whether a weight makes paths shorter, or is NaN.
pub(crate) fn is_negative(weight: f32) -> bool {
    weight.is_nan() || weight < 0.0
}

/// Whether a weight makes every path longer. NaN does not.
pub(crate) fn is_positive(weight: f32) -> bool {
    weight > 0.0
}
