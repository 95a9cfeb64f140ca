//! What `demo` and `bench` share: the command, the files that it works on, and figures for people.

pub mod arguments;
pub mod command;
pub mod page_cache;
pub mod scratch;
pub mod units;

use std::path::{Path, PathBuf};

/// A result, or why there is none.
pub type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Returns cargo's target folder, in which this program lies.
pub fn target_folder() -> Result<PathBuf> {
    let own = std::env::current_exe()?;
    let folder = own.parent().and_then(Path::parent);
    Ok(folder.ok_or("this program does not lie in a target folder")?.to_owned())
}
