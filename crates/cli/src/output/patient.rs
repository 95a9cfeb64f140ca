//! Writes to a file that may block for any time: a pipe whose reader is not there yet or has
//! stopped reading, or a stopped terminal. Waiting ends once the work should stop.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use tegula_machine::threads::Cancel;

/// Time between two checks whether the work should stop.
const PATIENCE: Duration = Duration::from_millis(100);
/// Bytes that a pipe always takes when it is ready for writing: `PIPE_BUF` of Linux.
const PIPE_BYTES: usize = 4096;

fn is_pipe(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|metadata| metadata.file_type().is_fifo())
}

/// A file, a pipe or a device that is written to.
pub struct Patient {
    file: File,
    /// The most bytes of a write, so that no write blocks; `None` for files, which never block for
    /// long.
    at_once: Option<usize>,
    cancel: Cancel,
}

impl Patient {
    /// Opens a device or a pipe; waits until a pipe has a reader.
    ///
    /// # Errors
    /// [`Error::Cancelled`](tegula_machine::Error::Cancelled) while it waits.
    pub fn open(path: &Path, cancel: &Cancel) -> io::Result<Patient> {
        loop {
            cancel.check().map_err(io::Error::other)?;
            let opened = File::options().write(true).custom_flags(libc::O_NONBLOCK).open(path);
            match opened {
                // A pipe has no reader yet. Sockets and missing devices give the same error, and
                // are refused.
                Err(error) if error.raw_os_error() == Some(libc::ENXIO) && is_pipe(path) => {
                    sleep(PATIENCE);
                }
                // `O_NONBLOCK` holds for this open file alone.
                opened => {
                    let (file, cancel) = (opened?, cancel.clone());
                    return Ok(Patient { file, at_once: Some(usize::MAX), cancel });
                }
            }
        }
    }

    /// Takes a file that is open already and may be shared with other processes.
    pub fn of(file: File, cancel: &Cancel) -> Patient {
        // `O_NONBLOCK` would hold for the other processes, too. So writes are short enough not to
        // block once the file is ready.
        let is_file = file.metadata().is_ok_and(|metadata| metadata.is_file());
        Patient { file, at_once: (!is_file).then_some(PIPE_BYTES), cancel: cancel.clone() }
    }

    /// Waits until the file takes more bytes.
    fn wait(&self) -> io::Result<()> {
        let patience = Timespec { tv_sec: 0, tv_nsec: PATIENCE.subsec_nanos().into() };
        loop {
            self.cancel.check().map_err(io::Error::other)?;
            match poll(&mut [PollFd::new(&self.file, PollFlags::OUT)], Some(&patience)) {
                Ok(0) | Err(Errno::INTR) => {}
                Ok(_) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
    }
}

impl Write for Patient {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(at_once) = self.at_once else { return self.file.write(bytes) };
        loop {
            // The wait also ends if the reader leaves. The write then fails, and says so.
            self.wait()?;
            match self.file.write(&bytes[..bytes.len().min(at_once)]) {
                // Another writer was quicker.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                done => return done,
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
