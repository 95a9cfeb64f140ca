//! What `demo` and `bench` share: the command itself, the files it works on, and figures for people.

pub mod arguments;
pub mod command;
pub mod page_cache;
pub mod scratch;
pub mod units;

use std::path::{Path, PathBuf};

/// A result, or why there is none.
pub type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// The folder that cargo builds into: this program lies in it.
///
/// # Errors
/// When the system does not say where that is.
pub fn target_folder() -> Result<PathBuf> {
    let own = std::env::current_exe()?;
    let folder = own.parent().and_then(Path::parent);
    Ok(folder.ok_or("this program does not lie in a target folder")?.to_owned())
}
