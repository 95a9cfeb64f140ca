//! Adds rows to a graph directory: new files, then a new manifest.

use tegula_machine::disk::{IfTaken, Unfinished};

use crate::graph::{Graph, Manifest};
use crate::rows::RowFiles;
use crate::{Error, Result};

/// Moves the files of rows from `folder` into the directory of `graph`, then replaces its manifest
/// by `manifest`, which names them.
///
/// # Errors
/// [`Error::Replaced`] where the directory holds another graph by now. After an error the graph is
/// unchanged.
pub(crate) fn commit_rows(
    graph: &Graph,
    folder: Unfinished,
    files: RowFiles,
    manifest: &Manifest,
) -> Result<()> {
    let directory = graph.opened_directory();
    // The graph may have been replaced while its rows were built.
    if Manifest::read_in(directory)? != *graph.manifest() {
        return Err(Error::replaced(directory.path()));
    }
    let names = [files.data, files.weights, files.index];
    let names = names.into_iter().filter(|name| manifest.file(name).is_some());
    let built = folder.open_folder()?;
    // An old file with such a name is no part of the graph: the manifest names no such rows.
    let moved = names.clone().try_for_each(|name| {
        let renamed = built.rename(name.as_ref(), (directory, name.as_ref()), IfTaken::Replace);
        renamed.map_err(|error| Error::io("write", directory.join(name))(error.into()))
    });
    drop(folder);
    let sync = || directory.sync().map_err(Error::io("sync", directory.path()));
    // In this order, so that no manifest names files that a crash can still lose.
    let replaced = moved.and_then(|()| sync()).and_then(|()| manifest.replace(directory));
    if replaced.is_err() {
        // No manifest names files that stay, so errors here do not matter.
        names.for_each(|name| drop(directory.remove_file(name)));
    }
    replaced?;
    sync()
}
