//! Ranks in several processes and on several machines, which exchange messages by MPI.
//!
//! All of it needs an MPI library, so it is compiled only with the feature `mpi`. Without it, this
//! crate is empty.

#[cfg(any(feature = "mpi", test))]
mod envelope;
#[cfg(feature = "mpi")]
mod outbox;
#[cfg(feature = "mpi")]
mod pace;
#[cfg(feature = "mpi")]
mod pump;
#[cfg(feature = "mpi")]
mod run;
#[cfg(feature = "mpi")]
mod transport;
#[cfg(feature = "mpi")]
mod wire;

#[cfg(feature = "mpi")]
pub use run::{Departure, Ended, Settings};
#[cfg(feature = "mpi")]
pub use transport::Mpi;
