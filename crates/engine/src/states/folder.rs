//! The folder for arrays that do not fit in memory.

use std::path::Path;

use tegula_machine::disk::Directory;
use tegula_store::graph::Graph;
use tegula_store::{Error, Result};

/// Opens the folder for arrays on disk: the chosen one, or the graph's if it is writable, or the
/// temporary one.
pub fn spill_folder(graph: &Graph, chosen: Option<&Path>) -> Result<Directory> {
    let open = |path: &Path| Directory::open(path).map_err(Error::io("open", path));
    match chosen {
        Some(path) => open(path),
        None if graph.opened_directory().is_writable() => Ok(graph.opened_directory().clone()),
        None => open(&std::env::temp_dir()),
    }
}
