//! The door to standard output. Unlike that of the standard library, it does not take for written what
//! nobody can ever read.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::io::{Errno, fcntl_getfd};
use serde::Serialize;
use serde_json::Serializer;

use crate::errors::{Failure, Result};
use crate::escape;

/// What it is called in messages.
pub const NAME: &str = "standard output";

/// The descriptor of standard output.
const DESCRIPTOR: i32 = 1;

/// Whether there was none when the process began.
static WAS_CLOSED: AtomicBool = AtomicBool::new(false);
/// Whether the one object that `--json` promises is out, or on its way.
static IS_ANSWERED: AtomicBool = AtomicBool::new(false);

/// Before `main`, Rust opens `/dev/null` in the place of a standard output that is closed. Whoever wants
/// to know has to look before that, as constructors do.
#[used]
// SAFETY: the C library calls what is in this section once, on the one thread that there is.
// `look` touches nothing that the standard library has to set up first.
#[unsafe(link_section = ".init_array")]
static LOOK_FIRST: extern "C" fn() = look;

extern "C" fn look() {
    // SAFETY: there is one thread, so nobody closes the descriptor during this call; the kernel answers
    // for one that is not open as well.
    let descriptor = unsafe { BorrowedFd::borrow_raw(DESCRIPTOR) };
    let is_closed = fcntl_getfd(descriptor) == Err(Errno::BADF);
    WAS_CLOSED.store(is_closed, Ordering::Relaxed);
}

/// Standard output as a file: each error of writing is told.
///
/// # Errors
/// [`io::Error`] where it is closed.
pub fn open() -> io::Result<File> {
    if WAS_CLOSED.load(Ordering::Relaxed) {
        return Err(io::Error::other("it is closed"));
    }
    Ok(File::from(io::stdout().as_fd().try_clone_to_owned()?))
}

/// Finds out before the work, not after it, that nobody can be told of the result.
///
/// # Errors
/// Those of [`open`].
pub fn check() -> Result<()> {
    open().map(drop).map_err(Failure::stdout)
}

/// Writes all of this.
///
/// # Errors
/// Those of opening and writing.
pub fn write(text: &str) -> Result<()> {
    open().and_then(|mut out| out.write_all(text.as_bytes())).map_err(Failure::stdout)
}

/// Writes the one object that is the answer to `--json`, as it is made: it may name every vertex. What comes
/// second, from whichever thread, is not written: a failure behind the answer is told by the exit code.
///
/// # Errors
/// Those of opening and writing.
pub fn answer(object: &impl Serialize) -> Result<()> {
    if IS_ANSWERED.swap(true, Ordering::SeqCst) {
        return Ok(());
    }
    let write = || {
        let mut out = BufWriter::new(open()?);
        object.serialize(&mut Serializer::with_formatter(&mut out, escape::Visible))?;
        writeln!(out)?;
        out.flush()
    };
    write().map_err(Failure::stdout)
}
