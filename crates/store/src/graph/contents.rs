//! Tells a graph's files from others in a folder, so that only the former are replaced and removed.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;

use rustix::fs::{FileType, OFlags};
use tegula_machine::disk::hidden_name::is_hidden_name;
use tegula_machine::disk::{Directory, ends_as_block_file};

use super::file_names;
use super::manifest::Manifest;
use super::partition::shard_name;
use crate::rows::Direction;

/// Why a folder must not be replaced, in words that follow its name. `None` if it is empty or holds
/// only a graph, of any version and however damaged, or only the shards of one.
pub fn reason_to_keep(parent: &Directory, name: &OsStr) -> io::Result<Option<String>> {
    match parent.kind_of(name)? {
        Some(FileType::Directory) => {}
        Some(FileType::Symlink) => {
            return Ok(Some("is a symbolic link".to_owned()));
        }
        Some(_) => return Ok(Some("is no directory".to_owned())),
        None => return Ok(None),
    }
    let folder = parent.open_folder(name)?;
    let own = OwnFiles::of(&folder)?;
    let names = folder.names()?;
    if names.is_empty() {
        return Ok(None);
    }
    if !own.has_mark {
        return Ok(Some("holds no graph that tegula has written".to_owned()));
    }
    for name in names {
        if !own.holds(&folder, &name)? {
            return Ok(Some(format!("also holds {}", name.display())));
        }
    }
    Ok(None)
}

/// Removes a file, or the files of a graph in a folder and then the folder. Other files stay, and
/// so does the folder then.
///
/// # Errors
/// [`io::ErrorKind::DirectoryNotEmpty`] if other files stay.
pub fn remove(parent: &Directory, name: &OsStr) -> io::Result<()> {
    if parent.kind_of(name)? != Some(FileType::Directory) {
        return parent.remove_file(name);
    }
    if is_of_run(name) {
        return fs::remove_dir_all(parent.join(name));
    }
    let folder = parent.open_folder(name)?;
    let own = OwnFiles::of(&folder)?;
    let mut names = folder.names()?;
    // The manifest goes last: it may name files that this version does not know.
    names.sort_by_key(|name| name == file_names::MANIFEST);
    for entry in names {
        if own.holds(&folder, &entry)? {
            remove(&folder, &entry)?;
        }
    }
    parent.remove_folder(name)
}

/// The names of a graph's files.
struct OwnFiles {
    /// The names in the manifest, if its checksum is right.
    listed: Vec<String>,
    /// Whether the folder has a file that only tegula writes: a manifest with the right checksum,
    /// or a block file.
    has_mark: bool,
}

impl OwnFiles {
    fn of(folder: &Directory) -> io::Result<OwnFiles> {
        let listed = match folder.kind_of(file_names::MANIFEST.as_ref())? {
            Some(FileType::RegularFile) => Manifest::files_listed(folder),
            _ => None,
        };
        let mut has_mark = listed.is_some();
        // A graph whose manifest is damaged is known by its block files.
        for name in file_names::BLOCK_FILES {
            if !has_mark && folder.kind_of(name.as_ref())? == Some(FileType::RegularFile) {
                has_mark = ends_as_block_file(&folder.open_file(name, OFlags::NOFOLLOW)?)?;
            }
        }
        // The folder of a partitioned graph has only shards.
        let first = shard_name(0);
        if !has_mark && folder.kind_of(first.as_ref())? == Some(FileType::Directory) {
            has_mark = OwnFiles::of(&folder.open_folder(first.as_ref())?)?.has_mark;
        }
        Ok(OwnFiles { listed: listed.unwrap_or_default(), has_mark })
    }

    /// Whether all entries of the folder belong to a graph.
    fn holds_all(&self, folder: &Directory) -> io::Result<bool> {
        for name in folder.names()? {
            if !self.holds(folder, &name)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether an entry of the folder belongs to a graph.
    fn holds(&self, folder: &Directory, name: &OsString) -> io::Result<bool> {
        Ok(match folder.kind_of(name)? {
            Some(FileType::RegularFile) => {
                file_names::all().any(|known| name == known)
                    || self.listed.iter().any(|listed| name == listed.as_str())
                    // A process that was killed may have left an unfinished manifest.
                    || is_hidden_name(name, file_names::MANIFEST.as_ref())
            }
            Some(FileType::Directory) if is_of_run(name) => true,
            Some(FileType::Directory) if is_of_rows(name) => {
                OwnFiles { listed: Vec::new(), has_mark: false }
                    .holds_all(&folder.open_folder(name)?)?
            }
            Some(FileType::Directory) if is_shard_name(name) => {
                let shard = folder.open_folder(name)?;
                OwnFiles::of(&shard)?.holds_all(&shard)?
            }
            Some(_) => false,
            // It was removed meanwhile.
            None => true,
        })
    }
}

/// Whether this is the name of a rank's directory.
fn is_shard_name(name: &OsStr) -> bool {
    let number = name
        .to_str()
        .and_then(|name| name.strip_prefix("rank-")?.strip_suffix(".tegula")?.parse().ok());
    number.is_some_and(|rank: usize| name == shard_name(rank).as_str())
}

/// Whether this is the hidden name of a folder in which a run builds a graph, or did when its
/// process was killed. Nobody else has files there.
fn is_of_run(name: &OsStr) -> bool {
    is_hidden_name(name, file_names::OWN_GRAPH.as_ref())
}

/// Whether this is the hidden name of a folder for rows that are being built, or were when their
/// process was killed.
fn is_of_rows(name: &OsStr) -> bool {
    let mut directions = Direction::ALL.into_iter();
    directions.any(|direction| is_hidden_name(name, direction.files().data.as_ref()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_graph_is_removed_and_other_files_stay() {
        let above = tempfile::tempdir().unwrap();
        let parent = Directory::open(above.path()).unwrap();
        let folder = above.path().join("g");
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join(file_names::TILES), "text").unwrap();
        fs::write(folder.join("thesis.txt"), "text").unwrap();
        fs::create_dir(folder.join(file_names::ROWS)).unwrap();
        remove(&parent, "g".as_ref()).unwrap_err();
        assert_eq!(fs::read_to_string(folder.join("thesis.txt")).unwrap(), "text");
        assert!(folder.join(file_names::ROWS).is_dir() && !folder.join(file_names::TILES).exists());
        fs::remove_file(folder.join("thesis.txt")).unwrap();
        let of_run = folder.join(".tegula-run.unfinished-17-abcdef/graph");
        fs::create_dir_all(&of_run).unwrap();
        fs::write(of_run.join(file_names::TILES), "text").unwrap();
        fs::remove_dir(folder.join(file_names::ROWS)).unwrap();
        remove(&parent, "g".as_ref()).unwrap();
        assert!(!folder.exists());
    }
}
