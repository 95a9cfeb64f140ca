//! The error type of the store and of what lies above it. A message says what happened, where, and
//! what to do about it. Advice that names an option is not in the message but in [`Error::hints`].

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use tegula_machine::Error as MachineError;

use crate::hint::{Action, Diagnostic, Hint, Setting};

/// Shorthand for results with this error.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What can go wrong while a graph is imported, opened or read.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Reading or writing failed, a file is damaged, or a limit of the machine was reached.
    #[error("{0}{advice}", advice = advice(.0))]
    Machine(#[from] MachineError),
    /// An input is malformed; the place says which line, row or byte.
    #[error("{place}: {problem}")]
    BadInput {
        /// File and line, row or byte.
        place: Place,
        /// What is wrong there, what was expected, and what can be done about it.
        problem: Diagnostic,
    },
    /// The path is not a graph directory, or the directory was never finished.
    #[error("{} is not a graph directory: {detail}", path.display())]
    NotAGraph {
        /// The path given.
        path: PathBuf,
        /// What is missing there.
        detail: String,
    },
    /// The path does not hold the shards of one graph, one for each rank.
    #[error("{} does not belong to a partitioned graph: {detail}", path.display())]
    NotAPartition {
        /// The path given.
        path: PathBuf,
        /// What is missing there, or does not fit.
        detail: String,
    },
    /// The work cannot be shared by the ranks of a partitioned graph.
    #[error("{what} does not run on ranks")]
    NotOnRanks {
        /// The work, with the reason.
        what: &'static str,
    },
    /// Another rank of the run failed, so this one cannot go on.
    #[error("rank {rank} failed: {detail}")]
    RankFailed {
        /// Its number.
        rank: usize,
        /// What it said.
        detail: String,
    },
    /// Another rank of the run is gone, and has not said why.
    #[error("rank {rank} is lost: {detail}")]
    RankLost {
        /// Its number.
        rank: usize,
        /// How that was noticed.
        detail: String,
    },
    /// The work needs a layout that the graph does not have.
    #[error("{} has no layout `{layout}`", path.display())]
    MissingLayout {
        /// The graph directory.
        path: PathBuf,
        /// The missing layout.
        layout: &'static str,
    },
    /// The open graph was replaced by another one, or moved away.
    #[error("{} was replaced while it was being read; run again", path.display())]
    Replaced {
        /// The graph directory.
        path: PathBuf,
    },
    /// The caller asked to replace the output, but that would destroy something in it.
    #[error("{} {found}, so it is not replaced; move that away, or choose another name", path.display())]
    NotReplaced {
        /// The path given.
        path: PathBuf,
        /// What is in the way, worded to follow the path.
        found: String,
    },
    /// A run cannot go on from what the folder holds, or would overwrite it.
    #[error("{} {why}", path.display())]
    NotResumable {
        /// The folder.
        path: PathBuf,
        /// Why not.
        why: Unresumable,
    },
}

/// Why a run cannot go on from what a folder holds, or cannot keep checkpoints there. Each text is
/// worded to follow the path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unresumable {
    /// There is nothing to go on from.
    #[error("holds no undamaged checkpoint")]
    NoCheckpoint,
    /// The folder has checkpoints, which would be lost.
    #[error("already holds checkpoints; resume from them, or choose another folder")]
    Checkpoints,
    /// Another process uses the folder.
    #[error(
        "is in use by another run for its checkpoints; wait until it ends, or choose another folder"
    )]
    InUse,
    /// The checkpoint belongs to another run.
    #[error("holds a checkpoint of `{found}`, but this is `{wanted}`")]
    OtherRun {
        /// The run that the checkpoint belongs to.
        found: String,
        /// The run that was to go on.
        wanted: String,
    },
    /// The checkpoint belongs to something else, which this says.
    #[error("holds {0}")]
    Other(String),
}

/// Says what to do about a file of a graph that cannot be read.
fn advice(error: &MachineError) -> &'static str {
    match error {
        MachineError::Corrupt { .. } => "; import the graph again",
        MachineError::UnsupportedVersion { found, supported, .. } if found > supported => {
            "; use a newer tegula"
        }
        MachineError::UnsupportedVersion { .. } => "; import its edge list again",
        _ => "",
    }
}

impl Error {
    /// Makes a [`Cancelled`](MachineError::Cancelled).
    pub fn cancelled() -> Error {
        MachineError::Cancelled.into()
    }

    /// Makes a [`Corrupt`](MachineError::Corrupt) from the damaged file, the damaged part and what
    /// is wrong with it.
    pub fn corrupt(
        path: impl Into<PathBuf>,
        part: impl Into<String>,
        detail: impl Into<String>,
    ) -> Error {
        let (path, part, detail) = (path.into(), part.into(), detail.into());
        MachineError::Corrupt { path, part, detail }.into()
    }

    /// Makes an [`OverBudget`](MachineError::OverBudget) from the work that was refused, and the
    /// bytes that it needs and may use.
    pub fn over_budget(what: impl Into<String>, needed: u64, budget: u64) -> Error {
        MachineError::OverBudget { what: what.into(), needed, budget }.into()
    }

    /// Makes a [`Limit`](MachineError::Limit) from what is counted, how many there are, and how
    /// many there may be.
    pub fn limit(what: &'static str, found: u64, limit: u64) -> Error {
        MachineError::Limit { what, found, limit }.into()
    }

    /// Makes an [`Error::BadInput`].
    pub fn bad_input(place: Place, problem: impl Into<Diagnostic>) -> Error {
        Error::BadInput { place, problem: problem.into() }
    }

    /// Makes an [`Error::Replaced`] from the path of the graph directory.
    pub fn replaced(path: &Path) -> Error {
        Error::Replaced { path: path.to_owned() }
    }

    /// Makes a [`NotAPartition`](Error::NotAPartition).
    pub fn not_a_partition(path: &Path, detail: impl Into<String>) -> Error {
        Error::NotAPartition { path: path.to_owned(), detail: detail.into() }
    }

    /// Restates an error from within a share of the budget in terms of the `whole` budget: both
    /// figures grow by what the other shares take.
    pub fn of_whole(self, whole: u64) -> Error {
        match self {
            Error::Machine(MachineError::OverBudget { what, needed, budget }) if budget < whole => {
                Error::over_budget(what, needed + (whole - budget), whole)
            }
            other => other,
        }
    }

    /// Returns what can be done about it besides what the message says: any one of these.
    pub fn hints(&self) -> Vec<Hint> {
        match self {
            Error::BadInput { problem, .. } => problem.hints.clone(),
            Error::MissingLayout { layout, .. } => vec![Action::ImportLayout(layout).into()],
            Error::Machine(MachineError::AlreadyExists { .. }) => {
                vec![Hint::set([Setting::on("force")]).detail("to replace it")]
            }
            Error::Machine(MachineError::OverBudget { .. }) => vec![Hint::raise("memory")],
            Error::NotAGraph { .. } => vec![Action::MakeGraph.into()],
            Error::NotOnRanks { .. } => vec![Action::GatherGraph.into()],
            Error::Machine(_)
            | Error::RankFailed { .. }
            | Error::RankLost { .. }
            | Error::Replaced { .. }
            | Error::NotReplaced { .. }
            | Error::NotResumable { .. }
            | Error::NotAPartition { .. } => Vec::new(),
        }
    }

    /// Returns a name of the variant for programs. These names never change.
    pub fn kind(&self) -> &'static str {
        match self {
            Error::Machine(error) => error.kind(),
            Error::BadInput { .. } => "bad_input",
            Error::NotAGraph { .. } => "not_a_graph",
            Error::NotAPartition { .. } => "not_a_partition",
            Error::NotOnRanks { .. } => "not_on_ranks",
            Error::RankFailed { .. } => "rank_failed",
            Error::RankLost { .. } => "rank_lost",
            Error::MissingLayout { .. } => "missing_layout",
            Error::NotReplaced { .. } => "not_replaced",
            Error::Replaced { .. } => "replaced",
            Error::NotResumable { .. } => "not_resumable",
        }
    }

    /// Wraps an operating system error: `.map_err(Error::io("read", path))`. Unwraps an error of
    /// this type or of the machine that came through `Read` or `Write` as an `io::Error`.
    pub fn io(action: &'static str, path: impl AsRef<Path>) -> impl FnOnce(io::Error) -> Error {
        let of_machine = MachineError::io(action, path);
        move |source| source.downcast().unwrap_or_else(|source| of_machine(source).into())
    }
}

/// Where in an input something is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file, or `-` for standard input.
    pub file: PathBuf,
    /// The place in it.
    pub at: At,
}

/// A position in an input, in the unit that its format counts in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum At {
    /// The file as a whole.
    File,
    /// A line of text, from 1.
    Line(u64),
    /// A row of a table, from 1.
    Row(u64),
    /// A byte offset, from 0.
    Byte(u64),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = self.file.display();
        match self.at {
            At::File => write!(f, "{file}"),
            At::Line(line) => write!(f, "{file}, line {line}"),
            At::Row(row) => write!(f, "{file}, row {row}"),
            At::Byte(byte) => write!(f, "{file}, byte {byte}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_keeps_its_kind_on_its_way_through_a_reader() {
        for (sent, kind) in [
            (io::Error::other(Error::replaced(Path::new("g"))), "replaced"),
            (io::Error::other(MachineError::Cancelled), "cancelled"),
            (io::Error::other(Error::cancelled()), "cancelled"),
            (io::Error::other("no more"), "io"),
        ] {
            assert_eq!(Error::io("read", "a")(sent).kind(), kind);
        }
    }

    #[test]
    fn a_graph_that_cannot_be_read_has_its_advice() {
        let version =
            |found| MachineError::UnsupportedVersion { path: "g".into(), found, supported: 2 };
        for (error, told) in [
            (
                Error::corrupt("a", "block 3", "it is short"),
                "a is damaged at block 3: it is short; import the graph again",
            ),
            (
                version(3).into(),
                "g has format version 3, but this tegula reads version 2; use a newer tegula",
            ),
            (
                version(1).into(),
                "g has format version 1, but this tegula reads version 2; import its edge list again",
            ),
            (Error::cancelled(), "interrupted"),
        ] {
            assert_eq!(error.to_string(), told);
        }
    }
}
