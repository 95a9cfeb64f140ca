//! Why an algorithm gave no answer, and what may be done about it.

use std::path::PathBuf;
use std::sync::Mutex;

use tegula_engine::{Graph, ShortId};
use tegula_import::settings;
use tegula_machine::threads::{get_mut, lock};

use crate::shared::original_ids::{Name, name_of};

pub use tegula_store::{Hint, Setting, SettingValue};

/// Shorthand for results of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why an algorithm gave no answer. Every face shows the same messages. What to do instead is a
/// [hint](Error::hints), which each face words its way.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The run failed.
    #[error(transparent)]
    Run(#[from] tegula_engine::Error),
    /// An option names a vertex that the graph does not have.
    #[error("{} has no vertex `{id}`", graph.display())]
    NoSuchVertex {
        /// The graph directory.
        graph: PathBuf,
        /// The id.
        id: String,
    },
    /// The budget is too small for this run, but large enough for another one with the same result.
    #[error("{error}")]
    OverBudget {
        /// The budget, and the bytes that the run needs.
        error: Box<tegula_engine::Error>,
        /// How to get the other run.
        instead: Hint,
    },
    /// The run follows edges against their direction, but the graph stores only one direction.
    #[error("{what} needs both directions of every edge, but {} was imported as directed", graph.display())]
    OneDirection {
        /// What was asked for.
        what: &'static str,
        /// A setting for which one direction is enough.
        instead: Option<Setting>,
        /// Whether the graph is a shard, so that the new graph has to be partitioned again.
        is_partitioned: bool,
        /// The graph directory.
        graph: PathBuf,
    },
    /// An array over all vertices must lie in memory, but the graph has too many vertices for that.
    #[error("{what} holds an array over all vertices in memory, but {} has too many vertices for that ({vertices})", graph.display())]
    TooManyVertices {
        /// What was asked for.
        what: &'static str,
        /// The number of vertices.
        vertices: u64,
        /// How to keep the arrays on disk, where that is possible.
        instead: Option<Box<Hint>>,
        /// The graph directory.
        graph: PathBuf,
    },
    /// Weights have to be at least 0.
    #[error("{} has an edge{}; {what} need weights of at least 0", graph.display(), refused(edge))]
    NegativeWeight {
        /// What needs such weights.
        what: &'static str,
        /// The ends of the edge, if they are known.
        edge: Option<Box<(Name, Name)>>,
        /// The graph directory.
        graph: PathBuf,
    },
    /// Weights have to be above 0.
    #[error("{} has an edge whose weight is not above 0; {what} needs weights above 0", graph.display())]
    NotPositiveWeight {
        /// What needs such weights.
        what: &'static str,
        /// The graph directory.
        graph: PathBuf,
    },
    /// The heuristic overestimates the length of an edge.
    #[error(
        "a heuristic scale of {scale} is too large: an edge is shorter than {scale} times the straight line between its ends"
    )]
    Overestimate {
        /// The scale.
        scale: f64,
    },
    /// A seed has an invalid weight, or no seed has a weight above 0.
    #[error(
        "a seed has the weight {weight}; weights must be finite and at least 0, and one must be above 0"
    )]
    BadSeed {
        /// The invalid weight; 0 when all weights are 0.
        weight: f64,
    },
    /// An option has no effect without another one, which is missing or has another value.
    #[error("`{option}` has an effect only with {of}")]
    IdleOption {
        /// The option.
        option: &'static str,
        /// The setting that gives it an effect.
        of: Setting,
    },
    /// The graph has a cycle, so in no order does every edge lead forward.
    #[error("{} has a cycle: {}", graph.display(), around(vertices, *length))]
    Cycle {
        /// The graph directory.
        graph: PathBuf,
        /// Vertices of the cycle in the direction of its edges; of a long cycle, only the first
        /// ones.
        vertices: Vec<Name>,
        /// The number of vertices of the cycle.
        length: usize,
    },
    /// The algorithm does not have these options, or their values are invalid.
    #[error("options of {algorithm}: {detail}")]
    BadOptions {
        /// The algorithm.
        algorithm: &'static str,
        /// What is wrong.
        detail: String,
    },
}

impl From<tegula_machine::Error> for Error {
    fn from(error: tegula_machine::Error) -> Error {
        Error::Run(error.into())
    }
}

impl Error {
    /// Returns what to do instead: any one of these hints is enough.
    pub fn hints(&self) -> Vec<Hint> {
        match self {
            Error::OneDirection { instead, is_partitioned, .. } => {
                let undirected = Hint::import(settings::UNDIRECTED);
                let undirected = match is_partitioned {
                    true => undirected.detail("and then partition it"),
                    false => undirected,
                };
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

    /// Returns whether the content of the graph is the reason, not the request.
    pub fn is_of_graph(&self) -> bool {
        matches!(
            self,
            Error::NegativeWeight { .. } | Error::NotPositiveWeight { .. } | Error::Cycle { .. }
        )
    }
}

/// Says why the weight of an edge is refused. The ends are known where [`is_weight`] refuses it.
fn refused(edge: &Option<Box<(Name, Name)>>) -> String {
    match edge.as_deref() {
        None => " whose weight is below 0 or NaN".to_owned(),
        Some((source, target)) => {
            format!(" from `{source}` to `{target}` whose weight is below 0 or not a finite number")
        }
    }
}

/// Lists the vertices of a cycle one after the other.
fn around(vertices: &[Name], length: usize) -> String {
    let names: Vec<String> = vertices.iter().map(|name| format!("`{name}`")).collect();
    let ends = names.first().map_or("", String::as_str);
    match length - vertices.len() {
        0 => format!("{} -> {ends}", names.join(" -> ")),
        others => format!("{} -> {others} more -> {ends}", names.join(" -> ")),
    }
}

/// Refuses a graph that stores its edges in one direction only.
pub(crate) fn check_both_directions(
    graph: &Graph,
    what: &'static str,
    instead: Option<Setting>,
) -> Result<()> {
    if graph.manifest().undirected {
        return Ok(());
    }
    let (is_partitioned, graph) = (graph.partition().is_some(), graph.directory().to_owned());
    Err(Error::OneDirection { what, instead, is_partitioned, graph })
}

/// What needs weights of at least 0, in errors about shortest paths.
pub(crate) const PATHS: &str = "shortest paths";

/// Returns the error for a graph with weights that `what` cannot use.
pub(crate) fn negative_weight(graph: &Graph, what: &'static str) -> Error {
    Error::NegativeWeight { what, edge: None, graph: graph.directory().to_owned() }
}

/// The first edge with an invalid weight, by the dense ids of its ends. The order in which threads
/// find such edges does not matter.
#[derive(Debug, Default)]
pub(crate) struct RefusedEdge(Mutex<Option<(ShortId, ShortId)>>);

impl RefusedEdge {
    #[cold]
    pub(crate) fn refuse(&self, edge: (ShortId, ShortId)) {
        let mut first = lock(&self.0);
        *first = Some(first.map_or(edge, |other| other.min(edge)));
    }

    /// Fails if an edge was refused. Reads the order of the vertices to name its ends.
    ///
    /// # Errors
    /// [`Error::NegativeWeight`] with the ends of the edge.
    pub(crate) fn check(&mut self, graph: &Graph, what: &'static str) -> Result<()> {
        let Some((source, target)) = get_mut(&mut self.0).take() else { return Ok(()) };
        let [source, target] = [source, target].map(|vertex| name_of(graph, vertex.into()));
        let edge = Some(Box::new((source?, target?)));
        Err(Error::NegativeWeight { what, edge, graph: graph.directory().to_owned() })
    }
}

/// Returns whether a weight is a finite number of at least 0.
#[inline(always)]
pub(crate) fn is_weight(weight: impl Into<f64>) -> bool {
    // The range ends before infinity, and does not contain NaN.
    (0.0..f64::INFINITY).contains(&weight.into())
}

/// Returns whether a weight makes paths shorter, or is NaN.
pub(crate) fn is_negative(weight: f32) -> bool {
    weight.is_nan() || weight < 0.0
}

/// Returns whether a weight makes every path longer. NaN does not.
pub(crate) fn is_positive(weight: f32) -> bool {
    weight > 0.0
}
