//! The door to standard output. Unlike the standard library's, it reports an error where standard
//! output was closed before the process began.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::io::{Errno, fcntl_getfd};
use serde::Serialize;
use serde_json::Serializer;
use tegula_machine::threads::lock;

use crate::errors::{Failure, Result};
use crate::escape;

/// Its name in messages.
pub const NAME: &str = "standard output";

/// The descriptor of standard output.
const DESCRIPTOR: i32 = 1;

/// Whether standard output was closed when the process began.
static WAS_CLOSED: AtomicBool = AtomicBool::new(false);
/// Whether the one object that `--json` promises has been written or is being written.
static IS_ANSWERED: AtomicBool = AtomicBool::new(false);

/// Before `main`, Rust opens `/dev/null` in the place of a closed standard output. So `look` runs
/// earlier, as constructors do.
#[used]
// SAFETY: the C library calls each function in this section once, on the only thread. `look` needs
// nothing that the standard library sets up first.
#[unsafe(link_section = ".init_array")]
static LOOK_FIRST: extern "C" fn() = look;

extern "C" fn look() {
    // SAFETY: there is one thread, so nobody closes the descriptor during this call. The kernel
    // also answers for a descriptor that is not open.
    let descriptor = unsafe { BorrowedFd::borrow_raw(DESCRIPTOR) };
    let is_closed = fcntl_getfd(descriptor) == Err(Errno::BADF);
    WAS_CLOSED.store(is_closed, Ordering::Relaxed);
}

/// Returns standard output as a file, which reports every error of writing.
///
/// # Errors
/// [`io::Error`] where it is closed.
pub fn open() -> io::Result<File> {
    if WAS_CLOSED.load(Ordering::Relaxed) {
        return Err(io::Error::other("it is closed"));
    }
    // The handle of the standard library takes a write to a closed descriptor for done.
    Ok(File::from(io::stdout().as_fd().try_clone_to_owned()?))
}

/// Checks before the work, not after it, that the result can be written.
pub fn check() -> Result<()> {
    open().map(drop).map_err(Failure::stdout)
}

/// Writes a text to standard output.
pub fn write(text: &str) -> Result<()> {
    open().and_then(|mut out| out.write_all(text.as_bytes())).map_err(Failure::stdout)
}

/// Writes the object that answers `--json`, the only one or the last one. Further objects, from any
/// thread, are not written: after the answer, only the exit code tells of a failure.
pub fn answer(object: &impl Serialize) -> Result<()> {
    if IS_ANSWERED.swap(true, Ordering::SeqCst) {
        return Ok(());
    }
    // Without the lock below: a thread that holds it may end the process for lack of memory.
    write_object(object)
}

/// Writes an object of one of many jobs, before the answer.
pub fn object(object: &impl Serialize) -> Result<()> {
    /// Held while an object is written, so that no two are mixed.
    static IS_WRITING: Mutex<()> = Mutex::new(());
    let _writing = lock(&IS_WRITING);
    write_object(object)
}

/// Writes an object. It may name every vertex, so it is serialized while it is written.
fn write_object(object: &impl Serialize) -> Result<()> {
    let write = || {
        let mut out = BufWriter::new(open()?);
        object.serialize(&mut Serializer::with_formatter(&mut out, escape::Visible))?;
        writeln!(out)?;
        out.flush()
    };
    write().map_err(Failure::stdout)
}
