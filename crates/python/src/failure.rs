//! Why something failed, and the exception for it.

use std::fmt;

use pyo3::prelude::*;
use tegula_algorithms::jobs::Fault;
use tegula_machine::Error as MachineError;
use tegula_store::Error;

use crate::hints;

/// Shorthand for results of this crate.
pub type Result<T> = std::result::Result<T, Failure>;

/// Why something failed.
#[derive(Debug)]
pub enum Failure {
    /// It is one of the errors of the package.
    Message {
        /// The kind, as in `tegula.error.v1`. It chooses the class of the exception.
        kind: &'static str,
        /// What happened.
        message: String,
        /// What to do instead, where that is known.
        hint: Option<String>,
        /// The number of the error of the system, if it is one.
        errno: Option<i32>,
    },
    /// Code of the user raised an exception.
    Raised(PyErr),
}

impl Failure {
    fn message(kind: &'static str, message: impl Into<String>, hint: Option<&str>) -> Failure {
        let (message, hint) = (message.into(), hint.map(str::to_owned));
        Failure::Message { kind, message, hint, errno: None }
    }

    /// Makes a failure for wrong use.
    pub fn usage(message: impl Into<String>) -> Failure {
        Failure::message("usage", message, None)
    }

    /// Makes a failure for wrong use, with what to do instead.
    pub fn usage_with(message: impl Into<String>, hint: &str) -> Failure {
        Failure::message("usage", message, Some(hint))
    }

    /// Makes a failure for input that cannot be read.
    pub fn bad_input(message: impl Into<String>) -> Failure {
        Failure::message("bad_input", message, None)
    }

    /// Makes a failure for input that cannot be read, with what to do instead.
    pub fn bad_input_with(message: impl Into<String>, hint: &str) -> Failure {
        Failure::message("bad_input", message, Some(hint))
    }

    /// Says in the message what it is about.
    pub fn about(self, what: &str) -> Failure {
        match self {
            Failure::Message { kind, message, hint, errno } => {
                Failure::Message { kind, message: format!("{what}: {message}"), hint, errno }
            }
            Failure::Raised(error) => Failure::Raised(error),
        }
    }

    /// Makes a failure for rows that have no place on disk.
    pub fn rows_not_added(message: impl Into<String>, hint: &str) -> Failure {
        Failure::message("rows_not_added", message, Some(hint))
    }

    /// Makes a failure for more memory than the process can have.
    pub fn over_limit(message: impl Into<String>) -> Failure {
        Failure::message("over_limit", message, Some("raise the limit, or give less as memory"))
    }

    /// Makes a failure for a job that was cancelled.
    pub fn cancelled_job() -> Failure {
        Failure::message("cancelled", "the job was cancelled", None)
    }

    /// Makes a failure for a fault of tegula itself.
    pub fn panic(message: &str) -> Failure {
        let message = format!("internal error in tegula: {message}");
        Failure::message("panicked", message, Some("report it, with the call"))
    }

    /// Returns the failure `count` times, for jobs that failed together.
    pub fn copies(self, count: usize) -> impl Iterator<Item = Failure> {
        let copy = move || match &self {
            &Failure::Message { kind, ref message, ref hint, errno } => {
                Failure::Message { kind, message: message.clone(), hint: hint.clone(), errno }
            }
            // Only an attached thread may count references to an object of Python.
            Failure::Raised(error) => Failure::Raised(Python::attach(|py| error.clone_ref(py))),
        };
        std::iter::repeat_with(copy).take(count)
    }

    /// Returns the exception.
    pub fn exception(&self, py: Python<'_>) -> PyErr {
        let (kind, message, hint, errno) = match self {
            Failure::Message { kind, message, hint, errno } => (kind, message, hint, errno),
            Failure::Raised(error) => return error.clone_ref(py),
        };
        let made = py
            .import("tegula.errors")
            .and_then(|errors| errors.getattr("of_kind")?.call1((kind, message, hint, errno)));
        made.map_or_else(|error| error, PyErr::from_value)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Message { message, hint: None, .. } => f.write_str(message),
            Failure::Message { message, hint: Some(hint), .. } => write!(f, "{message}; {hint}"),
            Failure::Raised(error) => error.fmt(f),
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        let (kind, hint) = (error.kind(), hints::any_of(&error.hints()));
        let errno = match &error {
            Error::Machine(MachineError::Io { source, .. }) => source.raw_os_error(),
            _ => None,
        };
        Failure::Message { kind, message: error.to_string(), hint, errno }
    }
}

impl From<PyErr> for Failure {
    fn from(error: PyErr) -> Failure {
        Failure::Raised(error)
    }
}

impl From<MachineError> for Failure {
    fn from(error: MachineError) -> Failure {
        Error::from(error).into()
    }
}

impl From<tegula_algorithms::Error> for Failure {
    fn from(error: tegula_algorithms::Error) -> Failure {
        use tegula_algorithms::Error as Refused;

        let (message, hint) = (error.to_string(), hints::any_of(&error.hints()));
        let (kind, message, hint) = match error {
            Refused::Run(error) => return error.into(),
            Refused::NoSuchVertex { .. } => {
                let ids = "vertices are named by the ids of the imported edge list";
                ("no_such_vertex", message, Some(ids.to_owned()))
            }
            Refused::IdleOption { option, of } => {
                let of = hints::setting(&of);
                ("usage", format!("{option}= has an effect only with {of}"), hint)
            }
            Refused::OverBudget { .. } => ("over_budget", message, hint),
            unfit if unfit.is_of_graph() => ("unfit_graph", message, hint),
            _ => ("usage", message, hint),
        };
        Failure::Message { kind, message, hint, errno: None }
    }
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Failure {
        match fault {
            Fault::Refused(error) => error.into(),
            Fault::Panicked(message) => Failure::panic(&message),
        }
    }
}

impl From<tegula_tables::Error> for Failure {
    fn from(error: tegula_tables::Error) -> Failure {
        use tegula_tables::Error as Refused;

        let message = error.to_string();
        let (kind, hint) = match error {
            Refused::Store(error) => return error.into(),
            Refused::NameTaken { .. } => ("output_taken", "rename one of them"),
            Refused::NoFormat { .. } => (
                "usage",
                "end it with .parquet, .csv, .tsv, .npy, .arrows, or .csv.gz, .tsv.zst, ..; or give format=",
            ),
            Refused::NotText { .. } => {
                ("usage", "use format=\"csv\" or \"tsv\", or another ending")
            }
            Refused::NoStrings { .. } => ("usage", "choose .parquet, .arrows, .csv or .tsv"),
            Refused::InGraph { .. } => ("usage", "name a place outside of it"),
            _ => return Failure::usage(message),
        };
        Failure::message(kind, message, Some(hint))
    }
}
