//! What a result is written to: a new file, or directly a device, a pipe or standard output.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use tegula_machine::threads::Cancel;
use tegula_store::Error;
use tegula_tables::{NewFile, Output, Stream};

use super::patient::Patient;
use crate::errors::{Failure, Result};
use crate::stdout;

/// A file that a result is written to.
pub enum ResultFile {
    /// A file that has its name only when it is complete.
    New(NewFile),
    /// A device, a pipe or standard output, which is written to directly.
    Direct(Stream<Patient>),
}

impl ResultFile {
    /// Begins a file. With `replace` it takes the place of an existing file at the end. Waiting for
    /// the reader of a pipe ends with `cancel`.
    ///
    /// # Errors
    /// [`Error::Cancelled`](tegula_machine::Error::Cancelled) while it waits for a reader.
    pub fn create(path: &Path, replace: bool, cancel: &Cancel) -> Result<ResultFile> {
        // Only a regular file can be replaced by a complete one.
        if fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
            let opened = Patient::open(path, cancel).map_err(Error::io("open", path))?;
            return Ok(ResultFile::Direct(Stream::new(path, opened)));
        }
        Ok(ResultFile::New(NewFile::create(path, replace)?))
    }

    /// Returns standard output.
    pub fn standard_output(cancel: &Cancel) -> Result<ResultFile> {
        let file = stdout::open().map_err(Failure::stdout)?;
        Ok(ResultFile::Direct(Stream::new(stdout::NAME, Patient::of(file, cancel))))
    }
}

impl Output for ResultFile {
    fn path(&self) -> &Path {
        match self {
            ResultFile::New(file) => file.path(),
            ResultFile::Direct(stream) => stream.path(),
        }
    }

    fn commit(self) -> tegula_tables::Result<u64> {
        match self {
            ResultFile::New(file) => file.commit(),
            ResultFile::Direct(stream) => stream.commit(),
        }
    }
}

impl Write for ResultFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            ResultFile::New(file) => file.write(bytes),
            ResultFile::Direct(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            ResultFile::New(file) => file.flush(),
            ResultFile::Direct(stream) => stream.flush(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_is_written_to_and_not_replaced() {
        let null = Path::new("/dev/null");
        let mut file = ResultFile::create(null, false, &Cancel::default()).unwrap();
        file.write_all(b"nothing").unwrap();
        assert_eq!(file.commit().unwrap(), 7);
        assert!(!fs::metadata(null).unwrap().is_file());
    }
}
