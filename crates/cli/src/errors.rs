//! How a command can fail, with which exit code, and what the user is told.

use std::any::Any;
use std::borrow::Cow;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tegula_algorithms::jobs::Fault;
use tegula_machine::threads::panic_message;
use tegula_machine::{Bytes, Error as MachineError};
use tegula_store::Error;

use crate::json;
use crate::{escape, hints, stdout};

/// Shorthand for results of this crate.
pub type Result<T> = std::result::Result<T, Failure>;

/// Escape codes of a terminal.
const RED: &str = "\u{1b}[31m";
const CYAN: &str = "\u{1b}[36m";
const PLAIN: &str = "\u{1b}[0m";
/// Stands before each further line of help, so that all lines begin in one column.
const BESIDE_HELP: &str = "\n        ";

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// Reading, importing or running failed.
    #[error(transparent)]
    Store(Error),
    /// The budget is too small for this run, but not for another run with the same result.
    #[error("{error}")]
    OverBudget {
        /// The budget, and what the run needs.
        error: Error,
        /// What to do.
        help: String,
    },
    /// The command line asks for something that makes no sense.
    #[error("{message}")]
    Usage {
        /// What it asks for, and why that makes no sense.
        message: String,
        /// What to do instead.
        help: Option<String>,
    },
    /// The graph lacks a vertex that the user named.
    #[error("{} has no vertex `{id}`", graph.display())]
    NoSuchVertex {
        /// The graph directory.
        graph: PathBuf,
        /// The id.
        id: String,
    },
    /// Rows must be built, but the folder takes no more files.
    #[error("cannot add rows to {}: {source}", folder.display())]
    RowsNotAdded {
        /// The graph directory, or the folder for temporary files.
        folder: PathBuf,
        /// What the operating system said.
        source: Arc<io::Error>,
        /// What to do instead.
        help: String,
    },
    /// The algorithm has no answer for this graph.
    #[error("{message}")]
    UnfitGraph {
        /// Why not.
        message: String,
    },
    /// Something took the name of the output during the work.
    #[error("{} was created during the run; the result is in {}", path.display(), kept.display())]
    OutputTaken {
        /// The output.
        path: PathBuf,
        /// Where the result is.
        kept: PathBuf,
    },
    /// More memory is asked for than the process can ever have.
    #[error("{}", over_limit(what, limit, Bytes::told_apart(*memory, *left)))]
    OverLimit {
        /// What asks for the memory.
        what: &'static str,
        /// Bytes asked for.
        memory: u64,
        /// Bytes that the process can have.
        left: u64,
        /// What limits the process.
        limit: &'static str,
    },
    /// The system had no memory for an allocation.
    #[error("the system has no memory for an allocation of {}", Bytes(*size))]
    OutOfMemory {
        /// Bytes of the allocation.
        size: u64,
    },
    /// Jobs of a batch failed. Each has been reported.
    #[error("{failed} of {jobs} jobs failed")]
    JobsFailed {
        /// The number of these jobs.
        failed: usize,
        /// The number of all jobs.
        jobs: usize,
    },
    /// The reader of standard output has left.
    #[error("the reader of standard output has closed it")]
    ClosedPipe,
    /// A fault of tegula itself.
    #[error("internal error in tegula: {detail}")]
    Panicked {
        /// The panic's message.
        detail: String,
    },
}

impl Failure {
    /// Whether this rank failed only because another one has.
    pub fn is_of_another_rank(&self) -> bool {
        matches!(self, Failure::Store(Error::RankFailed { .. }))
    }
}

fn over_limit(what: &str, limit: &str, [memory, left]: [String; 2]) -> String {
    format!("{what} {memory} is more than the {left} that {limit} leaves")
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        match error {
            // Only of standard output: `head` and the like close it when they have enough.
            Error::Machine(MachineError::Io { path, source, .. })
                if path == Path::new(stdout::NAME)
                    && source.kind() == io::ErrorKind::BrokenPipe =>
            {
                Failure::ClosedPipe
            }
            other => Failure::Store(other),
        }
    }
}

impl From<tegula_tables::Error> for Failure {
    fn from(error: tegula_tables::Error) -> Failure {
        use tegula_tables::Error as Refused;

        let help = match error {
            Refused::Store(error) => return error.into(),
            Refused::NameTaken { path, kept } => return Failure::OutputTaken { path, kept },
            Refused::NotText { .. } => "choose csv or tsv with --format, or another ending",
            Refused::NoStrings { .. } => "choose .parquet, .arrows, .csv or .tsv",
            Refused::InGraph { .. } => "name a place outside of it",
            // Help against `NoFormat` is added where the endings are known.
            _ => return Failure::usage(error.to_string()),
        };
        Failure::usage_with(error.to_string(), help)
    }
}

impl From<MachineError> for Failure {
    fn from(error: MachineError) -> Failure {
        Error::from(error).into()
    }
}

impl From<tegula_algorithms::Error> for Failure {
    fn from(error: tegula_algorithms::Error) -> Failure {
        let help = hints::any_of(&error.hints());
        match error {
            tegula_algorithms::Error::Run(error) => error.into(),
            tegula_algorithms::Error::NoSuchVertex { graph, id } => {
                Failure::NoSuchVertex { graph, id }
            }
            tegula_algorithms::Error::IdleOption { option, of } => {
                let (option, of) = (hints::flag(option), hints::setting(&of));
                Failure::usage(format!("{option} has an effect only with {of}"))
            }
            tegula_algorithms::Error::BadOptions { algorithm, detail } => {
                let detail = hints::typed(&detail, algorithm);
                Failure::usage(format!("options of {algorithm}: {detail}"))
            }
            tegula_algorithms::Error::OverBudget { error, .. } => {
                Failure::OverBudget { error: *error, help: help.unwrap_or_default() }
            }
            unfit if unfit.is_of_graph() => Failure::UnfitGraph { message: unfit.to_string() },
            wrong_use => Failure::Usage { message: wrong_use.to_string(), help },
        }
    }
}

impl Failure {
    /// An error in the command line.
    pub fn usage(message: impl Into<String>) -> Failure {
        Failure::Usage { message: message.into(), help: None }
    }

    /// An error in the command line, with what to do instead.
    pub fn usage_with(message: impl Into<String>, help: impl Into<String>) -> Failure {
        Failure::Usage { message: message.into(), help: Some(help.into()) }
    }

    /// Returns the same failure, with figures of the whole `budget` in place of figures of a share
    /// of it.
    pub fn of_whole(self, budget: u64) -> Failure {
        match self {
            Failure::Store(error) => Failure::Store(error.of_whole(budget)),
            other => other,
        }
    }

    /// An error of writing to standard output.
    pub fn stdout(error: io::Error) -> Failure {
        Error::io("write to", stdout::NAME)(error).into()
    }

    /// A panic that was caught.
    pub fn panic(payload: &(dyn Any + Send)) -> Failure {
        Failure::Panicked { detail: panic_message(payload) }
    }

    /// Returns the exit code of the failure.
    pub fn exit_code(&self) -> u8 {
        match self {
            Failure::Usage { .. } => 2,
            Failure::NoSuchVertex { .. } | Failure::UnfitGraph { .. } => 3,
            Failure::OverLimit { .. } | Failure::OutOfMemory { .. } => 4,
            Failure::RowsNotAdded { .. }
            | Failure::OutputTaken { .. }
            | Failure::JobsFailed { .. }
            | Failure::ClosedPipe
            | Failure::Panicked { .. } => 1,
            Failure::Store(error) | Failure::OverBudget { error, .. } => exit_code(error),
        }
    }

    /// Returns its name for programs, which never changes. docs/GUIDE.md lists all names.
    pub fn kind(&self) -> &'static str {
        match self {
            Failure::Store(error) | Failure::OverBudget { error, .. } => error.kind(),
            Failure::Usage { .. } => "usage",
            Failure::NoSuchVertex { .. } => "no_such_vertex",
            Failure::RowsNotAdded { .. } => "rows_not_added",
            Failure::UnfitGraph { .. } => "unfit_graph",
            Failure::OutputTaken { .. } => "output_taken",
            Failure::OverLimit { .. } => "over_limit",
            Failure::OutOfMemory { .. } => "out_of_memory",
            Failure::JobsFailed { .. } => "jobs_failed",
            Failure::ClosedPipe => "closed_pipe",
            Failure::Panicked { .. } => "panicked",
        }
    }

    /// Returns what to do instead, where that is known.
    fn help(&self) -> Option<Cow<'_, str>> {
        let words = match self {
            Failure::Store(error) => return hints::any_of(&error.hints()).map(Cow::Owned),
            Failure::Usage { help, .. } => help.as_deref(),
            Failure::NoSuchVertex { .. } => {
                Some("vertices are named by the ids of the imported edge list")
            }
            Failure::RowsNotAdded { help, .. } | Failure::OverBudget { help, .. } => {
                Some(help.as_str())
            }
            Failure::OutputTaken { .. } => {
                Some("rename one of them; with --force the output would have been replaced")
            }
            Failure::OverLimit { .. } => Some("raise the limit, or give less with --memory"),
            Failure::OutOfMemory { .. } => Some(
                "give less with --memory, or raise the limit of the process (ulimit -v, ulimit -d)",
            ),
            Failure::Panicked { .. } => {
                Some("report it, with the messages above and the command line")
            }
            Failure::JobsFailed { .. } => {
                Some("the messages above say why; the other results stand")
            }
            Failure::UnfitGraph { .. } | Failure::ClosedPipe => None,
        };
        words.map(Cow::Borrowed)
    }

    /// Returns the failure as `--json` prints it.
    pub fn to_json(&self) -> json::Failed {
        json::Failed {
            schema: "tegula.error.v1",
            kind: self.kind(),
            message: self.to_string(),
            hint: self.help().map(Cow::into_owned),
            exit_code: self.exit_code(),
        }
    }
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Failure {
        match fault {
            Fault::Refused(error) => error.into(),
            Fault::Panicked(detail) => Failure::Panicked { detail },
        }
    }
}

/// Turns a panic into a failure, so that it is reported like any other.
pub fn guarded<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    // Nothing that a panic may have left half done is used afterwards.
    let outcome = catch_unwind(AssertUnwindSafe(work));
    outcome.unwrap_or_else(|panic| Err(Failure::panic(&*panic)))
}

fn exit_code(error: &Error) -> u8 {
    match error {
        Error::Machine(error) => machine_exit_code(error),
        Error::BadInput { .. }
        | Error::NotAGraph { .. }
        | Error::NotAPartition { .. }
        | Error::NotResumable { .. } => 3,
        Error::MissingLayout { .. } => 2,
        _ => 1,
    }
}

fn machine_exit_code(error: &MachineError) -> u8 {
    match error {
        MachineError::Corrupt { .. }
        | MachineError::UnsupportedVersion { .. }
        | MachineError::InUse { .. }
        | MachineError::OtherBlocks { .. }
        | MachineError::Limit { .. } => 3,
        // A missing input is the user's mistake, unlike a missing file that was to be written.
        MachineError::Io { action: "open" | "read", source, .. }
            if source.kind() == io::ErrorKind::NotFound =>
        {
            3
        }
        // The system had less memory than the budget allows.
        MachineError::Io { source, .. } if source.kind() == io::ErrorKind::OutOfMemory => 4,
        MachineError::OverBudget { .. } => 4,
        MachineError::Cancelled => 130,
        _ => 1,
    }
}

/// Returns the message for a person. Lines are never wrapped, so that they can be searched.
pub fn render(failure: &Failure, coloured: bool) -> String {
    let [red, cyan, plain] = if coloured { [RED, CYAN, PLAIN] } else { [""; 3] };
    let message = failure.to_string();
    let mut text = format!("  {red}×{plain} {}", escape::line(&message));
    if let Some(help) = failure.help().filter(|help| !help.is_empty()) {
        let help = escape::lines(&help).replace('\n', BESIDE_HELP);
        text += &format!("\n{cyan}  help: {plain}{help}");
    }
    text.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use tegula_store::{At, Place, Unresumable};

    use super::*;

    /// One failure of each kind, and its exit code.
    fn failures() -> Vec<(Failure, u8)> {
        let place = Place { file: "a.txt".into(), at: At::Line(3) };
        let not_found = || io::Error::from(io::ErrorKind::NotFound);
        let newer = MachineError::UnsupportedVersion { path: "g".into(), found: 9, supported: 2 };
        let damage = Error::corrupt("g", "tile", "no");
        vec![
            (Error::io("open", Path::new("a"))(not_found()).into(), 3),
            (Error::bad_input(place, "no number").into(), 3),
            (damage.into(), 3),
            (Error::NotAGraph { path: "g".into(), detail: "empty".into() }.into(), 3),
            (newer.into(), 3),
            (Error::MissingLayout { path: "g".into(), layout: "rows" }.into(), 2),
            (MachineError::AlreadyExists { path: "g".into() }.into(), 1),
            (Error::NotReplaced { path: "g".into(), found: "is a file".into() }.into(), 1),
            (Error::Replaced { path: "g".into() }.into(), 1),
            (Error::NotResumable { path: "c".into(), why: Unresumable::InUse }.into(), 3),
            (Error::over_budget("it", 2, 1).into(), 4),
            (Error::limit("vertices", 2, 1).into(), 3),
            (Error::cancelled().into(), 130),
            (MachineError::WorkerFailed { detail: "no".into() }.into(), 1),
            (Failure::usage("no"), 2),
            (Failure::NoSuchVertex { graph: "g".into(), id: "7".into() }, 3),
            (Error::not_a_partition(Path::new("g"), "no").into(), 3),
            (Error::NotOnRanks { what: "it" }.into(), 1),
            (Error::RankFailed { rank: 1, detail: "no".into() }.into(), 1),
            (Error::RankLost { rank: 1, detail: "no".into() }.into(), 1),
            (
                Failure::RowsNotAdded {
                    folder: "g".into(),
                    source: Arc::new(io::ErrorKind::PermissionDenied.into()),
                    help: String::new(),
                },
                1,
            ),
            (Failure::UnfitGraph { message: "below 0".into() }, 3),
            (Failure::OutputTaken { path: "a".into(), kept: "a-1".into() }, 1),
            (Failure::JobsFailed { failed: 1, jobs: 2 }, 1),
            (Failure::OverLimit { what: "--memory", memory: 2, left: 1, limit: "`ulimit -v`" }, 4),
            (Failure::OutOfMemory { size: 1 << 40 }, 4),
            (Failure::stdout(io::ErrorKind::BrokenPipe.into()), 1),
            (Failure::panic(&"no"), 1),
        ]
    }

    #[test]
    fn a_panic_is_a_failure_with_its_message() {
        let number = 7;
        for work in
            [|_| panic!("at once"), |number| panic!("at {number}")] as [fn(u32) -> Result<()>; 2]
        {
            match guarded(|| work(number)) {
                Err(Failure::Panicked { detail }) => assert!(detail.starts_with("at ")),
                other => panic!("{other:?}"),
            }
        }
        assert!(guarded(|| Ok(())).is_ok());
    }

    #[test]
    fn every_kind_of_failure_has_its_exit_code() {
        for (failure, code) in failures() {
            assert_eq!(failure.exit_code(), code, "{failure}");
        }
        let io = |action, kind: io::ErrorKind| {
            Failure::from(Error::io(action, Path::new("a"))(kind.into())).exit_code()
        };
        assert_eq!(io("create", io::ErrorKind::NotFound), 1);
        assert_eq!(io("map", io::ErrorKind::OutOfMemory), 4);
        assert_eq!(io("write", io::ErrorKind::BrokenPipe), 1);
        assert_eq!(Failure::stdout(io::ErrorKind::StorageFull.into()).exit_code(), 1);
    }

    #[test]
    fn the_guide_lists_every_kind_of_failure_and_no_other() {
        let guide = include_str!("../../../docs/GUIDE.md");
        let list = guide.split("`kind` is one of ").nth(1).unwrap().split('.').next().unwrap();
        let listed: Vec<&str> = list.split('`').skip(1).step_by(2).collect();
        let kinds: Vec<&str> = failures().iter().map(|(failure, _)| failure.kind()).collect();
        assert_eq!(listed, kinds);
    }

    #[test]
    fn a_program_is_told_of_a_failure_in_fields() {
        let told = serde_json::to_value(Failure::usage_with("no", "yes").to_json()).unwrap();
        let expected = serde_json::json!({
            "schema": "tegula.error.v1",
            "kind": "usage",
            "message": "no",
            "hint": "yes",
            "exit_code": 2,
        });
        assert_eq!(told, expected);
        let exists = Failure::from(MachineError::AlreadyExists { path: "g".into() });
        let told = serde_json::to_value(exists.to_json()).unwrap();
        assert_eq!(told["message"], "g exists already; choose another name");
        assert_eq!(told["hint"], "use --force to replace it");
        let told = serde_json::to_value(Failure::from(Error::cancelled()).to_json()).unwrap();
        assert!(told["hint"].is_null() && told["kind"] == "cancelled", "{told}");
    }

    #[test]
    fn messages_stay_on_one_line() {
        let failure = Failure::usage_with("long ".repeat(60), "do it otherwise");
        let plain = render(&failure, false);
        assert_eq!(plain.lines().count(), 2, "{plain}");
        assert!(plain.contains("help: do it otherwise") && !plain.contains('\u{1b}'), "{plain}");
    }

    #[test]
    fn the_message_stands_above_lines_of_help_in_one_column() {
        let failure = Failure::usage_with("no", "this\nor that");
        assert_eq!(render(&failure, false), "  × no\n  help: this\n        or that");
        let coloured =
            "  \u{1b}[31m×\u{1b}[0m no\n\u{1b}[36m  help: \u{1b}[0mthis\n        or that";
        assert_eq!(render(&failure, true), coloured);
        assert_eq!(render(&Failure::usage("no"), false), "  × no");
    }

    #[test]
    fn names_in_messages_cannot_command_a_terminal() {
        let path = Path::new("\u{1b}[2J\nall is well").to_owned();
        let failure = Failure::from(MachineError::AlreadyExists { path });
        let plain = render(&failure, false);
        assert!(plain.contains("\\u{1b}[2J\\nall is well exists"), "{plain}");
    }
}
