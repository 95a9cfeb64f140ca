//! How a command can fail, with which exit code, and how the user is told.

use std::io;
use std::path::PathBuf;

use miette::{Diagnostic, GraphicalReportHandler, GraphicalTheme};
use tegula_store::Error;

/// Shorthand for results of this crate.
pub type Result<T> = std::result::Result<T, Failure>;

/// Why a command did not do what was asked.
#[derive(Debug, thiserror::Error, Diagnostic)]
pub enum Failure {
    /// Reading, importing or running failed.
    #[error(transparent)]
    Store(#[from] Error),
    /// The command line asks for something that makes no sense.
    #[error("{message}")]
    Usage {
        /// What, and why not.
        message: String,
        /// What to do instead.
        #[help]
        help: Option<String>,
    },
    /// A vertex that the user named is not there.
    #[error("{} has no vertex `{id}`", graph.display())]
    #[diagnostic(help("vertices are named by the ids of the imported edge list"))]
    NoSuchVertex {
        /// The graph directory.
        graph: PathBuf,
        /// The id.
        id: String,
    },
    /// Rows are to be built, but the folder takes no more files.
    #[error("cannot add rows to {}: {source}", folder.display())]
    RowsNotAdded {
        /// The graph directory, or the folder for temporary files.
        folder: PathBuf,
        /// What the operating system said.
        source: io::Error,
        /// What to do instead.
        #[help]
        help: String,
    },
    /// The graph holds what the algorithm has no answer for.
    #[error("{message}")]
    UnfitGraph {
        /// What.
        message: String,
    },
    /// Whoever reads standard output has enough of it.
    #[error("standard output was closed")]
    ClosedPipe,
}

impl From<tegula_algorithms::Error> for Failure {
    fn from(error: tegula_algorithms::Error) -> Failure {
        match error {
            tegula_algorithms::Error::Run(error) => error.into(),
            unfit @ tegula_algorithms::Error::NegativeWeight { .. } => {
                Failure::UnfitGraph { message: unfit.to_string() }
            }
            wrong_use => Failure::usage(wrong_use.to_string()),
        }
    }
}

impl Failure {
    /// A fault of the command line.
    pub fn usage(message: impl Into<String>) -> Failure {
        Failure::Usage { message: message.into(), help: None }
    }

    /// A fault of the command line that is easily mended.
    pub fn usage_with(message: impl Into<String>, help: impl Into<String>) -> Failure {
        Failure::Usage { message: message.into(), help: Some(help.into()) }
    }

    /// The same failure, told of the whole budget where it was met within a share of it.
    pub fn of_whole(self, budget: u64) -> Failure {
        match self {
            Failure::Store(error) => Failure::Store(error.of_whole(budget)),
            other => other,
        }
    }

    /// An error of writing to standard output.
    pub fn stdout(error: io::Error) -> Failure {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::ClosedPipe,
            _ => Failure::Store(Error::io("write to", "standard output")(error)),
        }
    }

    /// The exit code that stands for it.
    pub fn exit_code(&self) -> u8 {
        match self {
            // As for every filter that is cut off: what was asked for was delivered.
            Failure::ClosedPipe => 0,
            Failure::Usage { .. } => 2,
            Failure::NoSuchVertex { .. } | Failure::UnfitGraph { .. } => 3,
            Failure::RowsNotAdded { .. } => 1,
            Failure::Store(error) => exit_code(error),
        }
    }
}

fn exit_code(error: &Error) -> u8 {
    match error {
        Error::BadInput { .. }
        | Error::Corrupt { .. }
        | Error::NotAGraph { .. }
        | Error::UnsupportedVersion { .. }
        | Error::Limit { .. } => 3,
        Error::Io { action: "open" | "read", source, .. }
            if source.kind() == io::ErrorKind::NotFound =>
        {
            3
        }
        Error::MissingLayout { .. } => 2,
        Error::OverBudget { .. } => 4,
        Error::Cancelled => 130,
        _ => 1,
    }
}

/// The message for a person. Lines are never wrapped, so that they can be searched.
pub fn render(failure: &Failure, coloured: bool) -> String {
    let theme =
        if coloured { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
    let handler = GraphicalReportHandler::new_themed(theme)
        .with_wrap_lines(false)
        .with_links(coloured)
        .without_cause_chain();
    let mut text = String::new();
    match handler.render_report(&mut text, failure) {
        Ok(()) => text.trim_end().to_owned(),
        Err(_) => failure.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use tegula_store::{At, Place};

    use super::*;

    #[test]
    fn every_kind_of_failure_has_its_exit_code() {
        let place = Place { file: "a.txt".into(), at: At::Line(3) };
        let not_found = || io::Error::from(io::ErrorKind::NotFound);
        let cases: Vec<(Failure, u8)> = vec![
            (Error::BadInput { place, detail: "no number".into() }.into(), 3),
            (Error::NotAGraph { path: "g".into(), detail: "empty".into() }.into(), 3),
            (Error::OverBudget { what: "it".into(), needed: 2, budget: 1 }.into(), 4),
            (Error::Cancelled.into(), 130),
            (Error::MissingLayout { path: "g".into(), layout: "rows" }.into(), 2),
            (Error::AlreadyExists { path: "g".into() }.into(), 1),
            (Error::NotReplaced { path: "g".into(), found: "is a file".into() }.into(), 1),
            (Error::Replaced { path: "g".into() }.into(), 1),
            (Error::io("open", Path::new("a"))(not_found()).into(), 3),
            (Error::io("create", Path::new("a"))(not_found()).into(), 1),
            (Failure::usage("no"), 2),
            (Failure::NoSuchVertex { graph: "g".into(), id: "7".into() }, 3),
            (Failure::UnfitGraph { message: "below 0".into() }, 3),
            (
                Failure::RowsNotAdded {
                    folder: "g".into(),
                    source: io::ErrorKind::PermissionDenied.into(),
                    help: String::new(),
                },
                1,
            ),
            (Failure::stdout(io::ErrorKind::BrokenPipe.into()), 0),
            (Failure::stdout(io::ErrorKind::StorageFull.into()), 1),
        ];
        for (failure, code) in cases {
            assert_eq!(failure.exit_code(), code, "{failure}");
        }
    }

    #[test]
    fn messages_stay_on_one_line_and_have_colours_only_on_request() {
        let failure = Failure::usage_with("long ".repeat(60), "do it otherwise");
        let plain = render(&failure, false);
        assert_eq!(plain.lines().count(), 2, "{plain}");
        assert!(plain.contains("help: do it otherwise") && !plain.contains('\u{1b}'), "{plain}");
        assert!(render(&failure, true).contains('\u{1b}'));
    }
}
