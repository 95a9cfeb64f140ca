//! The error type of this crate: files, budgets, limits and workers. It knows nothing of graphs
//! or ranks.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Shorthand for results with this error.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What can go wrong with files, memory and threads. All jobs that share a read share its error.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused an operation on a file.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What failed, as an infinitive: "read", "create", "sync".
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the operating system said.
        source: Arc<io::Error>,
    },
    /// A file does not hold what was written to it.
    #[error("{} is damaged at {part}: {detail}", path.display())]
    Corrupt {
        /// The damaged file.
        path: PathBuf,
        /// The damaged part: "tile 17", "block 3", "header".
        part: String,
        /// What is wrong with that part.
        detail: String,
    },
    /// A tegula of another format version wrote the file.
    #[error("{} has format version {found}, but this tegula reads version {supported}", path.display())]
    UnsupportedVersion {
        /// The file or folder.
        path: PathBuf,
        /// Its version.
        found: u32,
        /// The version that this build reads.
        supported: u32,
    },
    /// The output exists, and the caller did not ask to replace it.
    #[error("{} exists already; choose another name", path.display())]
    AlreadyExists {
        /// The path given.
        path: PathBuf,
    },
    /// Another process uses the folder of versions.
    #[error("{} is in use by another process; wait until it ends, or choose another folder", path.display())]
    InUse {
        /// The folder.
        path: PathBuf,
    },
    /// The versions in the folder are not of these blocks.
    #[error("{} holds {found}", path.display())]
    OtherBlocks {
        /// The folder.
        path: PathBuf,
        /// What it holds.
        found: String,
    },
    /// The work cannot be done within the memory budget.
    #[error("{}", over_budget(what, Bytes::told_apart(*needed, *budget)))]
    OverBudget {
        /// The work that was refused.
        what: String,
        /// Bytes it needs.
        needed: u64,
        /// Bytes it may use.
        budget: u64,
    },
    /// A number exceeds what the format can hold.
    #[error("{what}: {found} exceeds the limit of {limit}")]
    Limit {
        /// What is counted.
        what: &'static str,
        /// How many there are.
        found: u64,
        /// How many there may be.
        limit: u64,
    },
    /// The caller cancelled the work.
    #[error("interrupted")]
    Cancelled,
    /// A worker died, so its work cannot be completed.
    #[error("a worker failed: {detail}")]
    WorkerFailed {
        /// The panic's message.
        detail: String,
    },
}

fn over_budget(what: &str, [needed, budget]: [String; 2]) -> String {
    format!("{what} needs {needed} but the budget is {budget}")
}

impl Error {
    /// Returns a name of the variant for programs. These names never change.
    pub fn kind(&self) -> &'static str {
        match self {
            Error::Io { .. } => "io",
            Error::Corrupt { .. } => "corrupt",
            Error::UnsupportedVersion { .. } => "unsupported_version",
            Error::AlreadyExists { .. } => "already_exists",
            // As the engine calls them in runs, which alone keep versions.
            Error::InUse { .. } | Error::OtherBlocks { .. } => "not_resumable",
            Error::OverBudget { .. } => "over_budget",
            Error::Limit { .. } => "limit",
            Error::Cancelled => "cancelled",
            Error::WorkerFailed { .. } => "worker_failed",
        }
    }

    /// Wraps an operating system error: `.map_err(Error::io("read", path))`. Unwraps an error of
    /// this type that came through `Read` or `Write` as an `io::Error`.
    pub fn io(action: &'static str, path: impl AsRef<Path>) -> impl FnOnce(io::Error) -> Error {
        let path = path.as_ref().to_owned();
        move |source| {
            source.downcast().unwrap_or_else(|source| Error::Io {
                action,
                path,
                source: Arc::new(source),
            })
        }
    }
}

/// A byte count that prints with a binary unit: `1.5 GiB`, or `1.500 GiB` with another precision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bytes(pub u64);

impl Bytes {
    /// Formats two byte counts, with enough digits that different counts print differently.
    pub fn told_apart(one: u64, other: u64) -> [String; 2] {
        // 17 digits distinguish any two floats.
        let told = |digits: usize| [one, other].map(|size| format!("{:.digits$}", Bytes(size)));
        (1..17).map(told).find(|[one, other]| one != other).unwrap_or_else(|| told(1))
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [&str; 5] = ["KiB", "MiB", "GiB", "TiB", "PiB"];
        if self.0 < 1024 {
            return write!(f, "{} B", self.0);
        }
        let mut value = self.0 as f64 / 1024.0;
        let mut unit = 0;
        while value >= 1024.0 && unit + 1 < UNITS.len() {
            value /= 1024.0;
            unit += 1;
        }
        let digits = f.precision().unwrap_or(1);
        write!(f, "{value:.digits$} {}", UNITS[unit])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn different_sizes_in_one_message_print_differently() {
        for (needed, budget, told) in [
            (2 << 20, 1 << 20, "it needs 2.0 MiB but the budget is 1.0 MiB"),
            ((55 << 20) + 4096, 55 << 20, "it needs 55.004 MiB but the budget is 55.000 MiB"),
            ((1 << 20) + 1, 1 << 20, "it needs 1.000001 MiB but the budget is 1.000000 MiB"),
            (1000, 999, "it needs 1000 B but the budget is 999 B"),
        ] {
            let refused = Error::OverBudget { what: "it".to_owned(), needed, budget };
            assert_eq!(refused.to_string(), told);
        }
        let [one, other] = Bytes::told_apart((1 << 50) + 1, 1 << 50);
        assert_ne!(one, other);
    }
}
