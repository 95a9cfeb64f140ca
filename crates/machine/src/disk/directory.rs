//! An open folder that stays the same folder, wherever its path leads later.
//!
//! Another graph may replace a graph while it is read, or while rows are added to it. Code that
//! works through a [`Directory`] sees and writes only the files of one graph.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{
    Access, AtFlags, CWD, Dir, FileType, Mode, OFlags, RenameFlags, Stat, accessat, fstat, mkdirat,
    openat, renameat, renameat_with, statat, unlinkat,
};
use rustix::io::Errno;

use crate::disk::durable::{self, named};

/// An open folder. Clones share it.
#[derive(Debug, Clone)]
pub struct Directory(Arc<Opened>);

#[derive(Debug)]
struct Opened {
    path: PathBuf,
    fd: OwnedFd,
}

/// What a rename does if the new name is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IfTaken {
    /// It fails.
    Fail,
    /// It replaces the file that has the name.
    Replace,
    /// It exchanges the two names.
    Exchange,
}

impl Directory {
    /// Opens a folder, through which its files are then reached.
    pub fn open(path: &Path) -> io::Result<Directory> {
        Directory::open_at(CWD, path, path.to_owned(), OFlags::empty())
    }

    /// Opens a folder within this one. A symbolic link is refused.
    pub fn open_folder(&self, name: &OsStr) -> io::Result<Directory> {
        Directory::open_at(self.fd(), Path::new(name), self.join(name), OFlags::NOFOLLOW)
    }

    fn open_at(at: BorrowedFd<'_>, name: &Path, path: PathBuf, flags: OFlags) -> io::Result<Self> {
        // Looking up names takes no right to list them.
        let flags = flags | OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let fd = openat(at, name, flags, Mode::empty())?;
        Ok(Directory(Arc::new(Opened { path, fd })))
    }

    /// Returns the path by which it was opened.
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.0.fd.as_fd()
    }

    /// Returns the path of a file in it, for messages.
    pub fn join(&self, name: impl AsRef<Path>) -> PathBuf {
        self.path().join(name)
    }

    /// Returns whether both are the same folder, whatever their paths.
    pub fn is_same(&self, other: &Directory) -> bool {
        let identities = [self, other].map(|directory| fstat(directory.fd()).map(identity));
        identities[0].is_ok() && identities[0] == identities[1]
    }

    /// Returns whether its path still leads to it: it was not replaced, moved or removed.
    pub fn is_in_place(&self) -> bool {
        let found = statat(CWD, self.path(), AtFlags::empty()).map(identity);
        found.is_ok() && found == fstat(self.fd()).map(identity)
    }

    /// Opens a file in it, for reading unless the flags say otherwise.
    pub fn open_file(&self, name: impl AsRef<OsStr>, flags: OFlags) -> io::Result<File> {
        Ok(openat(self.fd(), name.as_ref(), flags | OFlags::CLOEXEC, Mode::empty())?.into())
    }

    /// Creates a file in it, which must not exist.
    pub fn create_file(&self, name: impl AsRef<OsStr>) -> io::Result<File> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let create = || openat(self.fd(), name.as_ref(), flags, Mode::from_raw_mode(0o666));
        Ok(named(create)?.into())
    }

    /// Creates a nameless file on the folder's disk, for reading and writing.
    ///
    /// # Errors
    /// Fails on file systems without nameless files.
    pub fn create_nameless(&self, flags: OFlags) -> io::Result<File> {
        let flags = flags | OFlags::RDWR | OFlags::TMPFILE | OFlags::CLOEXEC;
        Ok(openat(self.fd(), ".", flags, Mode::from_raw_mode(0o600))?.into())
    }

    /// Returns whether files can be created in it.
    pub fn is_writable(&self) -> bool {
        accessat(self.fd(), ".", Access::WRITE_OK | Access::EXEC_OK, AtFlags::EACCESS).is_ok()
    }

    /// Creates a folder in it, which must not exist.
    pub fn create_folder(&self, name: &OsStr, mode: u32) -> io::Result<()> {
        Ok(named(|| mkdirat(self.fd(), name, Mode::from_raw_mode(mode)))?)
    }

    /// Returns the kind of file that a name in it stands for, without following links. `None` where
    /// nothing has the name.
    pub fn kind_of(&self, name: &OsStr) -> io::Result<Option<FileType>> {
        match statat(self.fd(), name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(FileType::from_raw_mode(stat.st_mode))),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns whether a name in it stands for this open file.
    pub fn is_at(&self, name: &str, file: &File) -> io::Result<bool> {
        match statat(self.fd(), name, AtFlags::empty()) {
            Ok(stat) => Ok(identity(stat) == identity(fstat(file)?)),
            Err(Errno::NOENT) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns all names in it, sorted.
    pub fn names(&self) -> io::Result<Vec<OsString>> {
        let mut names = Vec::new();
        for entry in Dir::new(self.readable()?)? {
            let entry = entry?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name != "." && name != ".." {
                names.push(name.to_owned());
            }
        }
        names.sort();
        Ok(names)
    }

    /// Returns the total size of the files in it. A file that cannot be examined counts as 0.
    pub fn bytes(&self) -> u64 {
        let names = self.names().unwrap_or_default();
        let stats = names.iter().map(|name| statat(self.fd(), name, AtFlags::empty()));
        stats.flatten().map(|stat| stat.st_size.unsigned_abs()).sum()
    }

    /// Renames an entry of this folder to a name in another folder.
    pub fn rename(
        &self,
        name: &OsStr,
        (folder, new): (&Directory, &OsStr),
        if_taken: IfTaken,
    ) -> Result<(), Errno> {
        let (from, to) = (self.fd(), folder.fd());
        named(|| match if_taken {
            IfTaken::Replace => renameat(from, name, to, new),
            IfTaken::Fail => renameat_with(from, name, to, new, RenameFlags::NOREPLACE),
            IfTaken::Exchange => renameat_with(from, name, to, new, RenameFlags::EXCHANGE),
        })
    }

    /// Removes a file or a link from it, if it is there.
    pub fn remove_file(&self, name: impl AsRef<OsStr>) -> io::Result<()> {
        absent_is_fine(|| unlinkat(self.fd(), name.as_ref(), AtFlags::empty()))
    }

    /// Removes an empty folder from it, if it is there.
    pub fn remove_folder(&self, name: &OsStr) -> io::Result<()> {
        absent_is_fine(|| unlinkat(self.fd(), name, AtFlags::REMOVEDIR))
    }

    /// Waits until the names in it are safely on disk.
    pub fn sync(&self) -> io::Result<()> {
        durable::sync(self.readable()?)
    }

    /// Like [`sync`](Self::sync), but does nothing where the process may not read the folder, which
    /// `sync` needs.
    pub fn sync_if_readable(&self) -> io::Result<()> {
        match self.sync() {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
            synced => synced,
        }
    }

    /// Opens the same folder for reading.
    fn readable(&self) -> io::Result<OwnedFd> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(openat(self.fd(), ".", flags, Mode::empty())?)
    }
}

/// Identifies a file among all files of the system.
fn identity(stat: Stat) -> (u64, u64) {
    (stat.st_dev, stat.st_ino)
}

fn absent_is_fine(remove: impl FnOnce() -> Result<(), Errno>) -> io::Result<()> {
    match named(remove) {
        Err(Errno::NOENT) => Ok(()),
        other => Ok(other?),
    }
}
