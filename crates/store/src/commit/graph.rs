//! Writes a graph directory under a hidden name and renames it when it is complete.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use rustix::io::Errno;
use tegula_machine::Error as MachineError;
use tegula_machine::disk::hidden_name::OLD;
use tegula_machine::disk::{IfTaken, Unfinished, durable, knows_no_flags, lock, parted};

use crate::graph::contents::{self, reason_to_keep};
use crate::{Error, Result};

/// A graph directory that is being written. It is removed unless it is committed.
pub struct UnfinishedGraph {
    directory: Unfinished,
    output: PathBuf,
    replace: bool,
}

impl UnfinishedGraph {
    /// Creates the hidden directory beside `output`, which must not exist. With `replace`, `output`
    /// may be an empty folder, or hold a graph and nothing else.
    ///
    /// # Errors
    /// [`Error::AlreadyExists`](tegula_machine::Error::AlreadyExists) where `output` exists and
    /// `replace` is false, [`Error::NotReplaced`] where it holds something other than a graph.
    pub fn create(output: &Path, replace: bool) -> Result<UnfinishedGraph> {
        check_output(output, replace)?;
        if let Some(parent) = output.parent() {
            durable::create_folders(parent).map_err(Error::io("create", parent))?;
        }
        let directory = Unfinished::folder(output, contents::remove)?;
        Ok(UnfinishedGraph { directory, output: output.to_owned(), replace })
    }

    /// The hidden directory, for the files.
    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Renames the directory to `output`. Its files and their names must be synced. The old graph
    /// at `output` takes the hidden name and is removed.
    ///
    /// # Errors
    /// [`Error::AlreadyExists`](tegula_machine::Error::AlreadyExists) where another graph took the
    /// name meanwhile, [`Error::NotReplaced`] where something else appeared in the old graph. After
    /// these errors `output` is unchanged. If the last sync fails, the new graph has the name, but
    /// a loss of power may bring the old one back.
    pub fn commit(self) -> Result<()> {
        let failed = || Error::io("create", &self.output);
        let (parent, name) = parted(&self.output)?;
        // Locks the old graph: under the hidden name, no process may take it for a leftover.
        let _locked = lock(&parent, name, OFlags::NOFOLLOW | OFlags::NONBLOCK);
        self.directory.at_once(|| self.rename(name))?;
        parent.sync().map_err(failed())?;
        if let Err(error) = self.directory.remove() {
            // Another process has just made a file in it: the file stays, and so does its folder.
            tracing::warn!(path = %self.path().display(), %error, "what was replaced is not removed");
        }
        Ok(())
    }

    /// Renames the directory; exchanges it with the old graph if there is one.
    fn rename(&self, name: &OsStr) -> Result<()> {
        let rename = |if_taken| self.rename_to(name, if_taken);
        // An exchange needs both names, so a free one is tried first.
        match rename(IfTaken::Fail) {
            Err(Errno::EXIST) if self.replace => match rename(IfTaken::Exchange) {
                Err(error) if knows_no_flags(error) => self.rename_aside(name),
                Err(error) => Err(self.not_created(error.into())),
                Ok(()) => self.check_replaced(self.directory.hidden().1, || {
                    rename(IfTaken::Exchange).map_err(io::Error::from)
                }),
            },
            Err(error) if knows_no_flags(error) => self.rename_plainly(name),
            renamed => renamed.map_err(|error| self.not_created(error.into())),
        }
    }

    fn rename_to(&self, name: &OsStr, if_taken: IfTaken) -> Result<(), Errno> {
        let (parent, hidden) = self.directory.hidden();
        parent.rename(hidden, (parent, name), if_taken)
    }

    fn not_created(&self, error: io::Error) -> Error {
        match error.kind() {
            io::ErrorKind::AlreadyExists => {
                MachineError::AlreadyExists { path: self.output.clone() }.into()
            }
            _ => Error::io("create", &self.output)(error),
        }
    }

    /// Checks the old graph once more, under its new name. If something new is in it, `back`
    /// restores it.
    fn check_replaced(&self, old: &OsStr, back: impl FnOnce() -> io::Result<()>) -> Result<()> {
        let (parent, _) = self.directory.hidden();
        let found = match reason_to_keep(parent, old) {
            Ok(None) => return Ok(()),
            Ok(Some(found)) => Error::NotReplaced { path: self.output.clone(), found },
            Err(error) => self.not_created(error),
        };
        back().map_err(|error| self.not_created(error))?;
        Err(found)
    }

    /// Renames without flags, which replaces only an empty folder.
    fn rename_plainly(&self, name: &OsStr) -> Result<()> {
        match self.rename_to(name, IfTaken::Replace) {
            Err(Errno::EXIST | Errno::NOTEMPTY | Errno::NOTDIR) if self.replace => {
                self.rename_aside(name)
            }
            renamed => renamed.map_err(|error| self.not_created(error.into())),
        }
    }

    /// Renames the old graph first, then the new one. For a short moment in between there is no
    /// graph.
    fn rename_aside(&self, name: &OsStr) -> Result<()> {
        let (parent, hidden) = self.directory.hidden();
        // A name that marks a leftover, in case the process is killed.
        let mut aside = hidden.to_owned();
        aside.push(OLD);
        let rename = |from: &OsStr, to: &OsStr| -> io::Result<()> {
            Ok(parent.rename(from, (parent, to), IfTaken::Replace)?)
        };
        rename(name, &aside).map_err(|error| self.not_created(error))?;
        self.check_replaced(&aside, || rename(&aside, name))?;
        let renamed = rename(hidden, name);
        // As after an exchange, the old graph takes the hidden name and is removed.
        let back_to = if renamed.is_ok() { hidden } else { name };
        rename(&aside, back_to).and(renamed).map_err(|error| self.not_created(error))
    }
}

/// Checks before the work that a graph directory can be made at `output`.
///
/// # Errors
/// The errors of [`UnfinishedGraph::create`] about what is there.
pub fn check_output(output: &Path, replace: bool) -> Result<()> {
    match fs::symlink_metadata(output) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(Error::io("read", output)(error)),
        Ok(_) => {}
    }
    // A folder that can never be replaced is reported first: `replace` would not help.
    let (parent, name) = parted(output)?;
    match reason_to_keep(&parent, name).map_err(Error::io("read", output))? {
        Some(found) => Err(Error::NotReplaced { path: output.to_owned(), found }),
        None if !replace => Err(MachineError::AlreadyExists { path: output.to_owned() }.into()),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::graph::file_names;
    use tegula_machine::disk::{BlockFileWriter, crc32c};

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
        let unfinished = UnfinishedGraph::create(&output, false).unwrap();
        make_graph(unfinished.path(), "new");
        assert!(!output.exists());
        unfinished.commit().unwrap();
        assert_eq!(which(&output), "new");
        assert_eq!(hidden_in(output.parent().unwrap()), 0);
        assert!(matches!(
            UnfinishedGraph::create(&output, false),
            Err(Error::Machine(MachineError::AlreadyExists { .. }))
        ));
    }

    #[test]
    fn a_dropped_graph_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let unfinished = UnfinishedGraph::create(&folder.path().join("g"), false).unwrap();
        make_graph(unfinished.path(), "new");
        drop(unfinished);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    /// Something that passes for a graph: a file with tegula's mark, and a file that says which
    /// graph.
    fn make_graph(directory: &Path, which: &str) {
        fs::create_dir_all(directory).unwrap();
        let marked = directory.join(file_names::OUT_DEGREES);
        BlockFileWriter::create(marked).unwrap().finish().unwrap();
        fs::write(directory.join(file_names::TILES), which).unwrap();
    }

    fn which(output: &Path) -> String {
        fs::read_to_string(output.join(file_names::TILES)).unwrap()
    }

    /// Asserts that `output` is not replaced, with these words in the error.
    #[track_caller]
    fn assert_kept(output: &Path, words: &str) {
        let refused = UnfinishedGraph::create(output, true).err().unwrap();
        assert!(matches!(refused, Error::NotReplaced { .. }), "{refused}");
        assert!(refused.to_string().contains(words), "no `{words}` in: {refused}");
    }

    #[test]
    fn a_graph_is_replaced_and_so_is_an_empty_folder() {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("g");
        fs::create_dir(&output).unwrap();
        let replace = || {
            let unfinished = UnfinishedGraph::create(&output, true).unwrap();
            make_graph(unfinished.path(), "new");
            unfinished.commit().unwrap();
            assert_eq!(which(&output), "new");
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        };
        replace();
        // Damaged, and with leftovers of killed row builders.
        fs::write(output.join(file_names::MANIFEST), "damaged").unwrap();
        fs::write(output.join(".manifest.json.unfinished-17-abcdef"), "").unwrap();
        let rows = output.join(".rows.data.unfinished-17-abcdef");
        fs::create_dir(&rows).unwrap();
        fs::write(rows.join(file_names::ROW_INDEX), "").unwrap();
        replace();
        // A graph of a newer version may have a new kind of file, which its manifest names.
        fs::remove_file(output.join(file_names::OUT_DEGREES)).unwrap();
        let sealed = "{\n  \"format_version\": 9,\n  \"files\": [{ \"name\": \"shards.data\" }]";
        let sum = crc32c(sealed.as_bytes());
        let newer = format!("{sealed},\n  \"crc32c\": \"{sum:08x}\"\n}}\n");
        fs::write(output.join(file_names::MANIFEST), newer).unwrap();
        fs::write(output.join("shards.data"), "").unwrap();
        replace();
    }

    #[test]
    fn a_folder_without_a_graph_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("g");
        fs::create_dir(&output).unwrap();
        fs::write(output.join("thesis.txt"), "text").unwrap();
        assert_kept(&output, "holds no graph");
        for text in ["{\"manifest_version\": 3}", "{\"format_version\": 3, \"files\": []}", ""] {
            fs::write(output.join(file_names::MANIFEST), text).unwrap();
            fs::write(output.join(file_names::TILES), "mosaic").unwrap();
            assert_kept(&output, "holds no graph");
        }
        assert_eq!(fs::read_to_string(output.join("thesis.txt")).unwrap(), "text");
        assert_kept(&output.join("thesis.txt"), "is no directory");
        assert!(UnfinishedGraph::create(Path::new("/"), true).is_err());
    }

    #[test]
    fn a_graph_with_anything_else_in_it_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("g");
        make_graph(&output, "old");
        let thesis = output.join("thesis.txt");
        fs::write(&thesis, "text").unwrap();
        assert_kept(&output, "also holds thesis.txt");
        fs::remove_file(&thesis).unwrap();
        // Folders and links are no files of a graph, even with its names.
        for name in ["notes", file_names::ROWS, ".rows.data.unfinished-1-abcdef"] {
            fs::create_dir(output.join(name)).unwrap();
            fs::write(output.join(name).join("thesis.txt"), "text").unwrap();
            assert_kept(&output, &format!("also holds {name}"));
            fs::remove_dir_all(output.join(name)).unwrap();
            symlink(folder.path(), output.join(name)).unwrap();
            assert_kept(&output, &format!("also holds {name}"));
            fs::remove_file(output.join(name)).unwrap();
        }
        symlink(&output, folder.path().join("link")).unwrap();
        assert_kept(&folder.path().join("link"), "is a symbolic link");
        UnfinishedGraph::create(&output, true).unwrap();
        assert_eq!(which(&output), "old");
    }

    /// A way to give the finished graph its name.
    type Commit = fn(UnfinishedGraph) -> Result<()>;

    #[test]
    fn a_file_that_appears_during_an_import_is_kept_with_its_graph() {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("g");
        make_graph(&output, "old");
        let plainly: Commit = |unfinished| unfinished.rename_plainly("g".as_ref());
        for commit in [UnfinishedGraph::commit as Commit, plainly] {
            let unfinished = UnfinishedGraph::create(&output, true).unwrap();
            make_graph(unfinished.path(), "new");
            fs::write(output.join("thesis.txt"), "text").unwrap();
            let refused = commit(unfinished).unwrap_err();
            assert!(refused.to_string().contains("also holds thesis.txt"), "{refused}");
            assert_eq!(which(&output), "old");
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
            fs::remove_file(output.join("thesis.txt")).unwrap();
        }
    }

    #[test]
    fn a_second_import_does_not_replace_the_first() {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("g");
        let (first, second) = (
            UnfinishedGraph::create(&output, false).unwrap(),
            UnfinishedGraph::create(&output, false).unwrap(),
        );
        make_graph(first.path(), "first");
        first.commit().unwrap();
        assert!(second.commit().is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    /// Makes a graph, and another one to replace it.
    fn replacement(output: &Path) -> UnfinishedGraph {
        make_graph(output, "old");
        let unfinished = UnfinishedGraph::create(output, true).unwrap();
        make_graph(unfinished.path(), "new");
        unfinished
    }

    #[test]
    fn a_file_system_without_rename_flags_still_replaces() {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("g");
        let unfinished = replacement(&output);
        unfinished.rename_plainly("g".as_ref()).unwrap();
        drop(unfinished);
        assert_eq!(which(&output), "new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_plain_rename_replaces_only_if_asked_to() {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("g");
        let mut unfinished = replacement(&output);
        unfinished.replace = false;
        unfinished.rename_plainly("g".as_ref()).unwrap_err();
        drop(unfinished);
        assert_eq!(which(&output), "old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_graph_comes_back_if_the_new_one_cannot_be_renamed() {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("g");
        let unfinished = replacement(&output);
        fs::remove_dir_all(unfinished.path()).unwrap();
        unfinished.rename_aside("g".as_ref()).unwrap_err();
        drop(unfinished);
        assert_eq!(which(&output), "old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
