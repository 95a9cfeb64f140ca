//! A panic of one rank ends the work of all.

use crate::comm::Comm;

/// Ends the work of all ranks if it is dropped by a panic. Each rank holds one while it works, so
/// that the others do not wait for a rank that panicked.
pub struct AbortOnPanic<'c>(&'c dyn Comm);

impl<'c> AbortOnPanic<'c> {
    /// Guards the work of a rank.
    pub fn new(comm: &'c dyn Comm) -> AbortOnPanic<'c> {
        AbortOnPanic(comm)
    }
}

impl Drop for AbortOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.abort(&format!("rank {} panicked", self.0.rank()));
        }
    }
}
