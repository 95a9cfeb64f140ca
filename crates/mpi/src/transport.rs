//! What the threads of a rank see of the other ranks.

use std::sync::atomic::{AtomicU64, Ordering};

use tegula_comm::{Comm, Error, Mailbox, Result, Tag};
use tegula_machine::threads::Cancel;

use crate::envelope::Kind;
use crate::outbox::{Outbox, Outgoing};
use crate::wire::Wire;

/// A rank in a process of its own. [`Mpi::run`] makes it.
///
/// Any thread may use it. It never calls MPI: messages go to a pump, which runs on the thread that
/// initialised MPI.
pub struct Mpi {
    rank: usize,
    size: usize,
    tag_max: i32,
    pub(crate) mailbox: Mailbox,
    pub(crate) outbox: Outbox,
    bytes_sent: AtomicU64,
}

impl Mpi {
    pub(crate) fn new(wire: &Wire) -> Mpi {
        let (rank, size) = (wire.rank(), wire.size());
        Mpi {
            rank,
            size,
            tag_max: wire.tag_max(),
            mailbox: Mailbox::new(rank),
            outbox: Outbox::default(),
            bytes_sent: AtomicU64::new(0),
        }
    }

    /// Ends the work of this rank, and lets the pump tell the others.
    pub(crate) fn end(&self, error: Error) {
        self.mailbox.end(error);
        self.outbox.ring();
    }
}

impl Comm for Mpi {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn send(&self, to: usize, tag: Tag, bytes: Vec<u8>) -> Result<()> {
        assert!(to < self.size, "rank {to} of {}", self.size);
        self.mailbox.check()?;
        let (size, size_max) = (bytes.len(), self.message_size_max());
        if size > size_max {
            return Err(Error::TooLong { to, size, size_max });
        }
        let mpi_tag = Kind::Data(tag).mpi_tag(self.tag_max).ok_or_else(|| {
            Error::Transport(format!("the MPI library has no tag for a message with tag {}", tag.0))
        })?;
        if to == self.rank {
            self.mailbox.deliver(to, tag, bytes);
        } else {
            self.bytes_sent.fetch_add(size as u64, Ordering::Relaxed);
            self.outbox.push(Outgoing { to, mpi_tag, bytes });
        }
        Ok(())
    }

    fn poll(&self, from: usize, tag: Tag) -> Result<Option<Vec<u8>>> {
        assert!(from < self.size, "rank {from} of {}", self.size);
        self.mailbox.poll(from, tag)
    }

    fn receive(&self, from: usize, tag: Tag, cancel: &Cancel) -> Result<Vec<u8>> {
        assert!(from < self.size, "rank {from} of {}", self.size);
        self.mailbox.receive(from, tag, cancel)
    }

    fn abort(&self, reason: &str) {
        self.end(Error::Aborted { rank: self.rank, reason: reason.to_owned() });
    }

    fn bytes_sent(&self) -> u64 {
        self.bytes_sent.load(Ordering::Relaxed)
    }

    fn bytes_received(&self) -> u64 {
        self.mailbox.bytes_taken()
    }
}
