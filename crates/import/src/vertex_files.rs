//! The files of a graph directory that hold an entry for each vertex.

use std::path::{Path, PathBuf};

use tegula_machine::disk::{BlockFileSummary, durable};
use tegula_store::graph::file_names;
use tegula_store::packed::{Ascending, Coding, PackedWriter};
use tegula_store::{Error, Result};

/// A complete file: its name and what was written.
pub(super) type VertexFile = (&'static str, BlockFileSummary);

/// An array that is written number by number.
pub(super) struct ArrayFile<C: Coding> {
    name: &'static str,
    path: PathBuf,
    writer: PackedWriter<C>,
}

impl<C: Coding> ArrayFile<C> {
    pub fn create(directory: &Path, name: &'static str, coding: C) -> Result<ArrayFile<C>> {
        let path = directory.join(name);
        Ok(ArrayFile { name, writer: PackedWriter::create(&path, coding)?, path })
    }

    pub fn push(&mut self, numbers: &[C::Number]) -> Result<()> {
        self.writer.push(numbers)
    }

    pub fn push_regular(&mut self, first: C::Number, count: u64) -> Result<()> {
        self.writer.push_regular(first, count)
    }

    pub fn finish(self) -> Result<VertexFile> {
        Ok((self.name, self.writer.finish()?))
    }

    /// Removes the file again.
    pub fn discard(self) -> Result<()> {
        // Closed first, so that nothing is written to a removed file.
        drop(self.writer);
        durable::remove_file(&self.path).map_err(Error::io("remove", &self.path))
    }
}

/// Writes the file of integer ids, which `fill` passes on in ascending order.
pub(super) fn write_ids(
    directory: &Path,
    fill: &mut dyn FnMut(&mut dyn FnMut(&[u64]) -> Result<()>) -> Result<()>,
) -> Result<VertexFile> {
    let mut file = ArrayFile::create(directory, file_names::IDS, Ascending)?;
    fill(&mut |ids| file.push(ids))?;
    file.finish()
}
