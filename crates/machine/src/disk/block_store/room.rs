//! Files with reserved space for blocks.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;

use rustix::fs::{FallocateFlags, OFlags, fallocate, fstatvfs, ftruncate};
use rustix::io::Errno;

use crate::disk::unfinished::Unfinished;
use crate::disk::{Caching, Directory};
use crate::error::{Bytes, Error, Result};

/// Opens a file, for direct I/O if that is wanted and possible. Returns whether it is direct.
pub(super) fn as_direct(
    caching: Caching,
    open: impl Fn(OFlags) -> io::Result<File>,
) -> io::Result<(File, bool)> {
    if caching == Caching::Direct {
        match open(OFlags::DIRECT) {
            Err(error) if is_refused(&error) => {}
            opened => return Ok((opened?, true)),
        }
    }
    Ok((open(OFlags::empty())?, false))
}

/// Creates an empty nameless file for reading and writing. Returns whether it is direct.
pub(super) fn nameless(folder: &Directory, what: &str, caching: Caching) -> Result<(File, bool)> {
    match as_direct(caching, |flags| folder.create_nameless(flags)) {
        Err(error) if is_refused(&error) => {}
        opened => return opened.map_err(Error::io("create a file in", folder.path())),
    }
    // This file system has no nameless files: the file loses its name at once.
    let unfinished = Unfinished::file_in(folder, what.as_ref())?;
    let (folder, name) = unfinished.hidden();
    let file = folder.open_file(name, OFlags::RDWR | OFlags::NOFOLLOW);
    Ok((file.map_err(Error::io("open", unfinished.path()))?, false))
}

/// Returns whether a file system refused the flags of opening.
fn is_refused(error: &io::Error) -> bool {
    let refusals = [Errno::INVAL, Errno::OPNOTSUPP, Errno::ISDIR];
    refusals.iter().any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}

/// Fails if the disk of a folder has no room for `size` bytes, the total of all files to be created
/// there.
///
/// # Errors
/// [`Error::Io`] of the kind [`StorageFull`](io::ErrorKind::StorageFull), which says how much is
/// needed.
pub fn check_room(folder: &Directory, size: u64) -> Result<()> {
    has_room(folder.fd(), size).map_err(no_room(folder, size))
}

/// Gives a file its length, and reserves disk blocks where the file system can.
pub(super) fn reserve(folder: &Directory, file: &File, size: u64) -> Result<()> {
    try_reserve(file, size).map_err(no_room(folder, size))
}

fn no_room(folder: &Directory, size: u64) -> impl FnOnce(io::Error) -> Error {
    move |error| {
        let needed = format!("{error}; this needs {} of free space", Bytes(size));
        Error::io("reserve room in", folder.path())(io::Error::new(error.kind(), needed))
    }
}

/// Fails if the disk of a file has no room for `needed` more bytes.
fn has_room(file: impl AsFd, needed: u64) -> io::Result<()> {
    let disk = fstatvfs(file)?;
    match disk.f_bavail.saturating_mul(disk.f_frsize) < needed {
        true => Err(io::ErrorKind::StorageFull.into()),
        false => Ok(()),
    }
}

fn try_reserve(file: &File, size: u64) -> io::Result<()> {
    let needed = size.saturating_sub(file.metadata()?.len());
    if needed == 0 {
        return Ok(());
    }
    // Checked first, because `fallocate` may fill the disk before it fails.
    has_room(file, needed)?;
    match fallocate(file, FallocateFlags::empty(), 0, size) {
        Ok(()) => Ok(()),
        Err(Errno::OPNOTSUPP) => Ok(ftruncate(file, size)?),
        Err(error) => Err(error.into()),
    }
}
