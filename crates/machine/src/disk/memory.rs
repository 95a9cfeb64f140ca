//! The backend without a disk: files are byte vectors, and a read is a copy on the caller's thread.

use std::collections::HashMap;
use std::io;
use std::path::PathBuf;

use crate::error::{Error, Result};

use super::device::Device;
use super::file::{Caching, Location, OpenFile};
use super::task::Task;

pub(super) struct Memory {
    files: HashMap<PathBuf, Vec<u8>>,
}

impl Memory {
    pub(super) fn new(files: HashMap<PathBuf, Vec<u8>>) -> Memory {
        Memory { files }
    }
}

impl Device for Memory {
    fn open(&self, location: &Location<'_>, _caching: Caching) -> Result<OpenFile> {
        let path = location.path();
        match self.files.get(&path) {
            Some(bytes) => Ok(OpenFile::in_memory(&path, bytes.clone())),
            None => Err(Error::io("open", path)(io::ErrorKind::NotFound.into())),
        }
    }

    fn submit(&self, task: Task) {
        task.run();
    }
}
