//! Finding a graph directory.

use std::io;
use std::path::{Path, PathBuf};

use tegula_machine::disk::Directory;

use super::file_names;
use crate::{Error, Result};

/// Opens a directory that should hold a graph.
///
/// # Errors
/// [`Error::NotAGraph`] where there is none.
pub(super) fn open_directory(path: &Path) -> Result<Directory> {
    let not_a_graph =
        |detail: &str| Error::NotAGraph { path: path.to_owned(), detail: detail.to_owned() };
    Directory::open(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => not_a_graph("it does not exist"),
        io::ErrorKind::NotADirectory => not_a_graph("it is a file, not a folder"),
        _ => Error::io("read", path)(error),
    })
}

/// Whether a folder holds a graph, judged by the names of its files.
pub fn is_directory(path: &Path) -> bool {
    [file_names::MANIFEST, file_names::TILES].iter().all(|name| path.join(name).is_file())
}

/// The graph directory that `path` is, or that contains it at any depth. Follows links. A path that
/// does not exist yet counts as a place in its nearest existing folder.
pub fn directory_around(path: &Path) -> Option<PathBuf> {
    let absolute = std::path::absolute(path).ok()?;
    let real = absolute.ancestors().find_map(|path| path.canonicalize().ok())?;
    real.ancestors().find(|&folder| is_directory(folder)).map(Path::to_owned)
}
