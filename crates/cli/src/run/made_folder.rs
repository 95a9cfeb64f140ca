//! Folders that a run makes for its files.

use std::path::Path;

use tegula_machine::Error as MachineError;
use tegula_machine::disk::{MadeFolder, durable};
use tegula_tables::{check_is_in_no_graph, check_parent};

use crate::errors::Result;

/// Makes a folder; `None` if it exists. Another process may make it at the same time.
///
/// # Errors
/// Where the folder would lie in a graph directory, or cannot be created.
pub fn make(path: &Path) -> Result<Option<MadeFolder>> {
    check_is_in_no_graph(path)?;
    check_parent(path)?;
    let made = MadeFolder::make(path)?;
    if made.is_some() {
        durable::sync_parent(path).map_err(MachineError::io("sync", path))?;
    }
    Ok(made)
}
