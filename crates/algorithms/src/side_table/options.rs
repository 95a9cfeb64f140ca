//! Options of every algorithm that reads tables.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How the tables that options name are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct TableOptions {
    /// The first line of each table names its columns. Without this option a first line is a header
    /// only if it has known column names, such as `vertex`.
    #[cfg_attr(feature = "clap", arg(long))]
    pub header: bool,
    /// What to do with rows whose vertex is not in the graph [default: refuse; for coordinates:
    /// skip].
    #[cfg_attr(feature = "clap", arg(long, value_enum, value_name = "WHAT"))]
    pub missing: Option<Missing>,
}

/// What is done with a row whose vertex the graph does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Missing {
    /// Refuse the whole table.
    Refuse,
    /// Skip the row and count it in a warning. A table without any known vertex is still refused.
    Skip,
}
