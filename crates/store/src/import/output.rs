//! The directory in which a graph comes into being, and how it appears all at once.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;

use crate::error::{Error, Result};
use crate::graph::Manifest;
use crate::temporary::{Temporary, lock, parent, sync_folder};

/// A directory that is removed again unless it is committed.
pub(super) struct Unfinished {
    directory: Temporary,
    output: PathBuf,
    replace: bool,
}

impl Unfinished {
    /// Creates the directory beside `output`, which must not exist; with `replace` it may, if it is a
    /// graph or empty.
    pub fn create(output: &Path, replace: bool) -> Result<Unfinished> {
        check_output(output, replace)?;
        let parent = parent(output);
        fs::create_dir_all(parent).map_err(Error::io("create", parent))?;
        let directory = Temporary::folder(output)?;
        Ok(Unfinished { directory, output: output.to_owned(), replace })
    }

    /// Where the files go.
    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Gives the finished directory its name. What was there before takes the hidden name, and goes.
    pub fn commit(self) -> Result<()> {
        sync_folder(self.path())?;
        let renamed = self.directory.at_once(|| self.rename());
        renamed.map_err(Error::io("create", &self.output))?;
        sync_folder(parent(&self.output))
    }

    /// Renames, exchanging the two where there is something to be replaced.
    fn rename(&self) -> io::Result<()> {
        let rename = |flags| renameat_with(CWD, self.path(), CWD, &self.output, flags);
        let renamed = match rename(RenameFlags::NOREPLACE) {
            Err(Errno::EXIST) if self.replace => rename(RenameFlags::EXCHANGE),
            other => other,
        };
        match renamed {
            // A file system that knows none of these flags, or not that one.
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => self.rename_plainly(),
            other => Ok(other?),
        }
    }

    /// Renames without flags, which replaces nothing but an empty folder.
    fn rename_plainly(&self) -> io::Result<()> {
        use io::ErrorKind::{AlreadyExists, DirectoryNotEmpty, NotADirectory};
        match fs::rename(self.path(), &self.output) {
            Err(error) => match error.kind() {
                AlreadyExists | DirectoryNotEmpty | NotADirectory if self.replace => {
                    self.rename_aside()
                }
                _ => Err(error),
            },
            Ok(()) => Ok(()),
        }
    }

    /// Renames what is there before the new one: in between, for a short moment, there is no graph.
    fn rename_aside(&self) -> io::Result<()> {
        // A name that tells a leftover, should the process be killed; until then nobody else is to
        // remove it.
        let mut aside = self.path().as_os_str().to_owned();
        aside.push("-old");
        let aside = PathBuf::from(aside);
        let _locked = lock(&self.output);
        fs::rename(&self.output, &aside)?;
        let renamed = fs::rename(self.path(), &self.output);
        // As after an exchange: it takes the hidden name, and goes.
        let back_to = if renamed.is_ok() { self.path() } else { &self.output };
        fs::rename(&aside, back_to).and(renamed)
    }
}

fn check_output(output: &Path, replace: bool) -> Result<()> {
    match fs::symlink_metadata(output) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(Error::io("read", output)(error)),
        Ok(_) if !replace => return Err(Error::AlreadyExists { path: output.to_owned() }),
        Ok(_) => {}
    }
    let is_empty = fs::read_dir(output).is_ok_and(|mut entries| entries.next().is_none());
    if is_empty || !matches!(Manifest::read(output), Err(Error::NotAGraph { .. })) {
        return Ok(());
    }
    let detail =
        "it is not replaced, for it may hold something else; choose another name".to_owned();
    Err(Error::NotAGraph { path: output.to_owned(), detail })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hidden_in(folder: &Path) -> usize {
        fs::read_dir(folder)
            .unwrap()
            .filter(|entry| entry.as_ref().unwrap().file_name().as_encoded_bytes()[0] == b'.')
            .count()
    }

    #[test]
    fn nothing_appears_before_the_commit_and_nothing_else_after_it() {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("deep/g.tegula");
        let unfinished = Unfinished::create(&output, false).unwrap();
        fs::write(unfinished.path().join("file"), "text").unwrap();
        assert!(!output.exists());
        unfinished.commit().unwrap();
        assert_eq!(fs::read_to_string(output.join("file")).unwrap(), "text");
        assert_eq!(hidden_in(output.parent().unwrap()), 0);
        assert!(matches!(Unfinished::create(&output, false), Err(Error::AlreadyExists { .. })));
    }

    #[test]
    fn what_is_dropped_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let unfinished = Unfinished::create(&folder.path().join("g"), false).unwrap();
        fs::write(unfinished.path().join("file"), "text").unwrap();
        drop(unfinished);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn only_graphs_and_empty_folders_are_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("g");
        fs::create_dir(&output).unwrap();
        Unfinished::create(&output, true).unwrap().commit().unwrap();
        fs::write(output.join("thesis.txt"), "text").unwrap();
        assert!(matches!(Unfinished::create(&output, true), Err(Error::NotAGraph { .. })));
        assert_eq!(fs::read_to_string(output.join("thesis.txt")).unwrap(), "text");
        assert!(Unfinished::create(Path::new("/"), true).is_err());
    }

    #[test]
    fn a_second_import_does_not_replace_the_first() {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("g");
        let (first, second) = (
            Unfinished::create(&output, false).unwrap(),
            Unfinished::create(&output, false).unwrap(),
        );
        fs::write(first.path().join("file"), "text").unwrap();
        first.commit().unwrap();
        assert!(second.commit().is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    /// A place with a file in it, and what is to replace it.
    fn replacement(output: &Path) -> Unfinished {
        fs::create_dir(output).unwrap();
        let unfinished = Unfinished::create(output, true).unwrap();
        fs::write(output.join("file"), "old").unwrap();
        fs::write(unfinished.path().join("file"), "new").unwrap();
        unfinished
    }

    #[test]
    fn a_file_system_that_knows_no_flags_replaces_all_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("g");
        let unfinished = replacement(&output);
        unfinished.rename_plainly().unwrap();
        drop(unfinished);
        assert_eq!(fs::read_to_string(output.join("file")).unwrap(), "new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_plain_rename_replaces_only_what_it_is_asked_to() {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("g");
        let mut unfinished = replacement(&output);
        unfinished.replace = false;
        unfinished.rename_plainly().unwrap_err();
        drop(unfinished);
        assert_eq!(fs::read_to_string(output.join("file")).unwrap(), "old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_graph_comes_back_where_the_new_one_cannot_be_renamed() {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("g");
        let unfinished = replacement(&output);
        fs::remove_dir_all(unfinished.path()).unwrap();
        unfinished.rename_aside().unwrap_err();
        drop(unfinished);
        assert_eq!(fs::read_to_string(output.join("file")).unwrap(), "old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
