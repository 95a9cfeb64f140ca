//! Messages between ranks: the processes, or threads, that share the work on one graph.
//!
//! [`Comm`] is what a rank sees of the others. [`Threads`] connects ranks within one process, and
//! [`Sim`] does the same under disturbance and in virtual time. A transport between processes
//! implements [`Comm`] too, with a [`Mailbox`] for what has arrived.

mod collectives;
mod comm;
mod error;
mod guard;
mod long;
mod mailbox;
mod sim;
mod threads;

pub use comm::{Comm, MESSAGE_SIZE_MAX, MESSAGE_SIZE_MIN, Tag};
pub use error::{Error, Result};
pub use guard::AbortOnPanic;
pub use mailbox::Mailbox;
pub use sim::{Link, Loss, Sim, SimConfig, SimStatistics};
pub use threads::Threads;
