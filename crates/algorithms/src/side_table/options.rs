//! Options of every algorithm that reads tables.

use serde::{Deserialize, Serialize};

/// How the tables that options name are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct TableOptions {
    /// Take the first line of each table for the names of its columns. Without this, only known names, as `vertex`,
    /// are taken for a header.
    #[cfg_attr(feature = "clap", arg(long))]
    pub header: bool,
    /// What to do with a row of a table whose vertex the graph does not have [default: refuse; skip where the table
    /// has coordinates].
    #[cfg_attr(feature = "clap", arg(long, value_enum, value_name = "WHAT"))]
    pub missing: Option<Missing>,
}

/// What is done with a row whose vertex the graph does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Missing {
    /// Refuse the table.
    Refuse,
    /// Pass over the row. A warning counts such rows. A table of nothing else is refused.
    Skip,
}
