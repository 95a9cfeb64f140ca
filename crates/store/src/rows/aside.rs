//! Rows beside a graph: built without a change to the graph's directory.

use std::path::Path;

use tegula_machine::disk::Unfinished;
use tegula_machine::threads::{Cancel, Progress};

use super::build::{RowsConfig, write};
use crate::Result;
use crate::graph::{Graph, Manifest, contents};

/// Rows stored outside of the graph's directory. Dropping them deletes them.
#[derive(Debug)]
pub struct RowsAside {
    folder: Unfinished,
    /// The manifest of the graph with these rows.
    manifest: Manifest,
}

/// Builds the rows in a hidden folder within `place`, for [`Graph::add_rows`].
///
/// # Errors
/// [`Error::OverBudget`](tegula_machine::Error::OverBudget) as of [`build()`](super::build()).
pub fn build_aside(
    graph: &Graph,
    place: &Path,
    config: &RowsConfig,
    progress: &dyn Progress,
    cancel: &Cancel,
) -> Result<RowsAside> {
    let folder = Unfinished::private_folder(&place.join("tegula-rows"), contents::remove)?;
    let manifest = write(graph, &folder, config, progress, cancel)?;
    Ok(RowsAside { folder, manifest })
}

impl Graph {
    /// Adds rows that lie outside of the graph's directory. Their names are deleted at once, so
    /// they vanish with the last handle of the graph.
    ///
    /// # Errors
    /// [`Error::Replaced`](crate::Error::Replaced) if they belong to another graph.
    pub fn add_rows(&mut self, rows: RowsAside) -> Result<()> {
        let RowsAside { folder, manifest } = rows;
        self.add_files(&folder.open_folder()?, manifest)
    }
}
