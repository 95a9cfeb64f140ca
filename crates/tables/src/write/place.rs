//! Where an output may lie. This is checked before the work, which may take hours.

use std::fs;
use std::io;
use std::path::Path;

use rustix::fs::{Access, access};
use tegula_machine::Error as MachineError;
use tegula_store::graph;

use super::error::{Error, Result};

/// Refuses an existing file, unless `replace`. Devices and pipes are no files.
///
/// # Errors
/// [`AlreadyExists`](MachineError::AlreadyExists); [`Io`](MachineError::Io) for a
/// folder.
pub fn check_is_new(path: &Path, replace: bool) -> Result<()> {
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        // A link to a missing file.
        Err(_) if !replace && path.is_symlink() => {
            return Err(MachineError::AlreadyExists { path: path.to_owned() }.into());
        }
        Err(_) => return Ok(()),
    };
    if metadata.is_dir() {
        return Err(failed(path)(io::ErrorKind::IsADirectory.into()).into());
    }
    if metadata.is_file() && !replace {
        return Err(MachineError::AlreadyExists { path: path.to_owned() }.into());
    }
    Ok(())
}

/// Checks before the work that a file or folder can be made at `path`. A graph directory is
/// refused: a further file in it could replace a part of the graph, or keep the graph from being
/// replaced.
///
/// # Errors
/// [`Io`](MachineError::Io); [`Error::InGraph`] for a graph directory.
pub fn check_parent(path: &Path) -> Result<()> {
    let parent = parent(path);
    let named = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => {
            let detail = format!("folder {} does not exist", parent.display());
            io::Error::new(io::ErrorKind::NotFound, detail)
        }
        _ => error,
    };
    fs::metadata(parent).map_err(named).map_err(failed(path))?;
    check_is_in_no_graph(parent)?;
    // A link to a file is written through, so the folder of that file counts too.
    if path.is_symlink() && path.is_file() {
        check_is_in_no_graph(path)?;
    }
    // Neither a device, a pipe nor a link needs a new file in this folder.
    if !path.is_symlink() && fs::metadata(path).map_or(true, |metadata| metadata.is_file()) {
        access(parent, Access::WRITE_OK).map_err(|error| failed(path)(error.into()))?;
    }
    Ok(())
}

/// The folder that a path is in.
pub fn parent(path: &Path) -> &Path {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    parent.unwrap_or(Path::new("."))
}

/// Refuses a graph directory and any path in one, because a graph that holds other files is not
/// replaced.
///
/// # Errors
/// [`Error::InGraph`].
pub fn check_is_in_no_graph(path: &Path) -> Result<()> {
    graph::directory_around(path).map_or(Ok(()), |graph| Err(Error::InGraph { graph }))
}

fn failed(path: &Path) -> impl FnOnce(io::Error) -> tegula_store::Error {
    tegula_store::Error::io("create", path)
}
