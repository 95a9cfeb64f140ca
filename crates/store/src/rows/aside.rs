//! Rows beside a graph: built for a graph whose directory is left as it is.

use std::path::Path;

use tegula_machine::Result;
use tegula_machine::disk::Temporary;
use tegula_machine::threads::{Cancel, Progress};

use super::build::{RowsConfig, write};
use crate::graph::{Graph, Manifest, contents};

/// Rows of a graph whose directory is left as it is. Dropping them removes them.
#[derive(Debug)]
pub struct RowsAside {
    folder: Temporary,
    /// That of the graph with them.
    manifest: Manifest,
}

/// Builds the layout in a hidden folder within `place`, for [`Graph::add_rows`].
///
/// # Errors
/// Those of reading and writing; [`Error::OverBudget`](tegula_machine::Error::OverBudget) as of
/// [`build()`](super::build()).
pub fn build_aside(
    graph: &Graph,
    place: &Path,
    config: &RowsConfig,
    progress: &dyn Progress,
    cancel: &Cancel,
) -> Result<RowsAside> {
    let folder = Temporary::private_folder(&place.join("tegula-rows"), contents::remove)?;
    let manifest = write(graph, &folder, config, progress, cancel)?;
    Ok(RowsAside { folder, manifest })
}

impl Graph {
    /// Has rows from then on that do not lie in its directory. They are gone with the last handle of the
    /// graph: their names are removed at once.
    ///
    /// # Errors
    /// [`Error::Replaced`](tegula_machine::Error::Replaced) where they are those of another graph; those
    /// of opening them.
    pub fn add_rows(&mut self, rows: RowsAside) -> Result<()> {
        let RowsAside { folder, manifest } = rows;
        self.add_files(&folder.open_folder()?, manifest)
    }
}
