//! A folder that stays the one that was opened, whatever its name leads to later.
//!
//! A graph may be replaced by another one while it is read, or while rows are added to it. Whoever works
//! through a [`Directory`] sees the files of one graph only, and writes to no other.

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

/// What a rename does where the new name is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IfTaken {
    /// It fails.
    Fail,
    /// What has the name is lost.
    Replace,
    /// The two change names.
    Exchange,
}

impl Directory {
    /// Opens a folder; its files are reached through this from then on.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn open(path: &Path) -> io::Result<Directory> {
        Directory::open_at(CWD, path, path.to_owned(), OFlags::empty())
    }

    /// Opens a folder within this one; a link to one is none.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn open_folder(&self, name: &OsStr) -> io::Result<Directory> {
        Directory::open_at(self.fd(), Path::new(name), self.join(name), OFlags::NOFOLLOW)
    }

    fn open_at(at: BorrowedFd<'_>, name: &Path, path: PathBuf, flags: OFlags) -> io::Result<Self> {
        // Names are looked up in it, which takes no right to list them.
        let flags = flags | OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let fd = openat(at, name, flags, Mode::empty())?;
        Ok(Directory(Arc::new(Opened { path, fd })))
    }

    /// The path by which it was opened.
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.0.fd.as_fd()
    }

    /// The path of a file in it, for messages.
    pub fn join(&self, name: impl AsRef<Path>) -> PathBuf {
        self.path().join(name)
    }

    /// Whether its path still leads to it: it was not replaced, moved or removed.
    pub fn is_in_place(&self) -> bool {
        let found = statat(CWD, self.path(), AtFlags::empty()).map(identity);
        found.is_ok() && found == fstat(self.fd()).map(identity)
    }

    /// Opens a file in it, for reading unless the flags say otherwise.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn open_file(&self, name: impl AsRef<OsStr>, flags: OFlags) -> io::Result<File> {
        Ok(openat(self.fd(), name.as_ref(), flags | OFlags::CLOEXEC, Mode::empty())?.into())
    }

    /// Creates a file in it, which must not exist.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn create_file(&self, name: impl AsRef<OsStr>) -> io::Result<File> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let create = || openat(self.fd(), name.as_ref(), flags, Mode::from_raw_mode(0o666));
        Ok(named(create)?.into())
    }

    /// Creates a file on its disk that has no name, for reading and writing.
    ///
    /// # Errors
    /// Those of the operating system, and of file systems that know no such files.
    pub fn create_nameless(&self, flags: OFlags) -> io::Result<File> {
        let flags = flags | OFlags::RDWR | OFlags::TMPFILE | OFlags::CLOEXEC;
        Ok(openat(self.fd(), ".", flags, Mode::from_raw_mode(0o600))?.into())
    }

    /// Whether files can be made in it.
    pub fn is_writable(&self) -> bool {
        accessat(self.fd(), ".", Access::WRITE_OK | Access::EXEC_OK, AtFlags::EACCESS).is_ok()
    }

    /// Creates a folder in it, which must not exist.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn create_folder(&self, name: &OsStr, mode: u32) -> io::Result<()> {
        Ok(named(|| mkdirat(self.fd(), name, Mode::from_raw_mode(mode)))?)
    }

    /// What a name in it stands for; a link stands for itself. `None` where there is none.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn kind_of(&self, name: &OsStr) -> io::Result<Option<FileType>> {
        match statat(self.fd(), name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(FileType::from_raw_mode(stat.st_mode))),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether a name in it stands for an open file.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn is_at(&self, name: &str, file: &File) -> io::Result<bool> {
        match statat(self.fd(), name, AtFlags::empty()) {
            Ok(stat) => Ok(identity(stat) == identity(fstat(file)?)),
            Err(Errno::NOENT) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// All names in it, sorted.
    ///
    /// # Errors
    /// Those of the operating system.
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

    /// Bytes of the files in it; what cannot be looked at counts nothing.
    pub fn bytes(&self) -> u64 {
        let names = self.names().unwrap_or_default();
        let stats = names.iter().map(|name| statat(self.fd(), name, AtFlags::empty()));
        stats.flatten().map(|stat| stat.st_size.unsigned_abs()).sum()
    }

    /// Gives what has a name in it a name in another folder.
    ///
    /// # Errors
    /// Those of the operating system.
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
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn remove_file(&self, name: impl AsRef<OsStr>) -> io::Result<()> {
        absent_is_fine(|| unlinkat(self.fd(), name.as_ref(), AtFlags::empty()))
    }

    /// Removes an empty folder from it, if it is there.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn remove_folder(&self, name: &OsStr) -> io::Result<()> {
        absent_is_fine(|| unlinkat(self.fd(), name, AtFlags::REMOVEDIR))
    }

    /// Waits until the names in it are safely on disk.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn sync(&self) -> io::Result<()> {
        durable::sync(self.readable()?)
    }

    /// The same, but not where one may write to it and not read it, as that takes.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn sync_if_readable(&self) -> io::Result<()> {
        match self.sync() {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
            synced => synced,
        }
    }

    /// The same folder, opened to be read itself.
    fn readable(&self) -> io::Result<OwnedFd> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(openat(self.fd(), ".", flags, Mode::empty())?)
    }
}

/// What tells a file from all others that there are.
fn identity(stat: Stat) -> (u64, u64) {
    (stat.st_dev, stat.st_ino)
}

fn absent_is_fine(remove: impl FnOnce() -> Result<(), Errno>) -> io::Result<()> {
    match named(remove) {
        Err(Errno::NOENT) => Ok(()),
        other => Ok(other?),
    }
}
