//! The process that made an object. A fork of it has none of its threads, and locks that were taken
//! at the fork stay taken there. So methods ask for the process before they touch a lock.

use std::fmt::Display;
use std::process;

use crate::failure::{Failure, Result};

/// A process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Home(u32);

impl Home {
    /// Returns this process.
    pub fn here() -> Home {
        Home(process::id())
    }

    /// Whether this is that process.
    pub fn is_here(self) -> bool {
        self == Home::here()
    }

    /// Refuses a fork of the process in which a graph was opened.
    ///
    /// # Errors
    /// [`Failure`] there.
    pub fn check(self, graph: impl Display) -> Result<()> {
        if self.is_here() {
            return Ok(());
        }
        let message = format!("{graph} was opened before this process forked");
        let hint = "open it in the new process, or start processes by \"spawn\"";
        Err(Failure::usage_with(message, hint))
    }
}
