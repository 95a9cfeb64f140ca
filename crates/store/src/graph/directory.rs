//! Finding a graph directory.

use std::io;
use std::path::Path;

use tegula_machine::disk::Directory;
use tegula_machine::{Error, Result};

/// Opens a directory that is said to hold a graph.
///
/// # Errors
/// [`Error::NotAGraph`] where there is none; those of opening it.
pub(super) fn open_directory(path: &Path) -> Result<Directory> {
    let not_a_graph =
        |detail: &str| Error::NotAGraph { path: path.to_owned(), detail: detail.to_owned() };
    Directory::open(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            not_a_graph("it does not exist; make a graph with `tegula import`")
        }
        io::ErrorKind::NotADirectory => {
            not_a_graph("it is a file, not a folder; make a graph of it with `tegula import`")
        }
        _ => Error::io("read", path)(error),
    })
}
