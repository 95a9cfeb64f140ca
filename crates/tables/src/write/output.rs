//! Where the bytes of a table go.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tegula_store::Error;

use super::error::Result;

/// Bytes that are written at a time.
const BUFFER_BYTES: usize = 1 << 18;

/// A file or stream that a table is written to.
pub trait Output: Write + Send {
    /// Its path, or a name for messages.
    fn path(&self) -> &Path;

    /// Writes what is buffered and completes it; returns its length in bytes.
    ///
    /// # Errors
    /// [`Error::NameTaken`](crate::Error::NameTaken) where another file took the name of a
    /// [`NewFile`](crate::NewFile) during the work.
    fn commit(self) -> Result<u64>;
}

/// An output around any writer: a pipe, a socket, bytes in memory. It is buffered.
pub struct Stream<W: Write> {
    name: PathBuf,
    out: BufWriter<W>,
    length: u64,
}

impl<W: Write> Stream<W> {
    /// Begins to write. Messages call it `name`.
    pub fn new(name: impl Into<PathBuf>, out: W) -> Stream<W> {
        let out = BufWriter::with_capacity(BUFFER_BYTES, out);
        Stream { name: name.into(), out, length: 0 }
    }

    /// The writer. It may lack bytes that are buffered.
    pub fn get_ref(&self) -> &W {
        self.out.get_ref()
    }
}

impl<W: Write> Write for Stream<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.length += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl<W: Write + Send> Output for Stream<W> {
    fn path(&self) -> &Path {
        &self.name
    }

    fn commit(mut self) -> Result<u64> {
        // Dropping the buffer would write it, too, but hide an error.
        self.out.flush().map_err(Error::io("write", &self.name))?;
        Ok(self.length)
    }
}
