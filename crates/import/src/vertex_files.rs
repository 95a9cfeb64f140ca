//! The files of a graph directory that hold an entry for each vertex.

use std::io::Write;
use std::path::{Path, PathBuf};

use tegula_machine::disk::{BlockFileSummary, BlockFileWriter};
use tegula_machine::{Error, Result};
use tegula_store::graph::file_names;
use zerocopy::{Immutable, IntoBytes};

/// A complete file: its name and what was written.
pub(super) type VertexFile = (&'static str, BlockFileSummary);

/// An array that is written entry by entry.
pub(super) struct ArrayFile {
    name: &'static str,
    path: PathBuf,
    writer: BlockFileWriter,
}

impl ArrayFile {
    pub fn create(directory: &Path, name: &'static str) -> Result<ArrayFile> {
        let path = directory.join(name);
        Ok(ArrayFile { name, writer: BlockFileWriter::create(&path)?, path })
    }

    /// Appends entries, little-endian as all machines that tegula runs on.
    pub fn push<T: IntoBytes + Immutable>(&mut self, entries: &[T]) -> Result<()> {
        self.writer.write_all(entries.as_bytes()).map_err(Error::io("write", &self.path))
    }

    pub fn finish(self) -> Result<VertexFile> {
        Ok((self.name, self.writer.finish()?))
    }

    /// Removes the file again.
    pub fn discard(self) -> Result<()> {
        drop(self.writer);
        std::fs::remove_file(&self.path).map_err(Error::io("remove", &self.path))
    }
}

/// Writes the file of integer ids; `fill` passes on the ids in ascending order.
pub(super) fn write_ids(
    directory: &Path,
    fill: &mut dyn FnMut(&mut dyn FnMut(&[u64]) -> Result<()>) -> Result<()>,
) -> Result<VertexFile> {
    let mut file = ArrayFile::create(directory, file_names::IDS)?;
    fill(&mut |ids| file.push(ids))?;
    file.finish()
}
