//! What a rank sees of the other ranks.

use tegula_machine::threads::Cancel;

use crate::error::Result;
use crate::{collectives, long};

/// The most bytes of one message. A transport may hold a message in one piece at both ends, and
/// MPI counts the bytes of a message in 31 bits.
pub const MESSAGE_SIZE_MAX: usize = 64 << 20;

/// The least value of [`Comm::message_size_max`]: the length of a long message must fit. Callers
/// may need more.
pub const MESSAGE_SIZE_MIN: usize = 16;

/// Says what a message is for. The receiver asks for messages by tag, so messages with different
/// tags may overtake each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tag(pub u32);

/// One of several ranks, which send each other messages. All methods may be called from any thread.
///
/// Messages of one rank with one tag come in the order in which they were sent. Any two other
/// messages may overtake each other. A message may wait at its receiver without limit of memory, so
/// callers bound how far one rank may be ahead of another.
///
/// The *collectives* ([`gather`](Comm::gather), [`broadcast`](Comm::broadcast),
/// [`all_gather`](Comm::all_gather), [`barrier`](Comm::barrier)) are called by all ranks, with one
/// tag, by one thread of each rank. Collectives with the same tag may follow each other if all
/// ranks call them in the same order. If a collective fails on one rank, that rank must
/// [`abort`](Comm::abort); the others might wait for it.
///
/// # Errors
/// Every method fails with the first [`Error::Aborted`](crate::Error::Aborted) or
/// [`Error::Silent`](crate::Error::Silent) of any rank, from then on. Methods that take a `cancel`
/// fail with [`Error::Cancelled`](crate::Error::Cancelled) at most 100 ms after it was set. A wait
/// for a rank that has ended its work fails with [`Error::Left`](crate::Error::Left).
///
/// # Panics
/// If a rank is not below [`size`](Comm::size).
pub trait Comm: Send + Sync {
    /// Returns the number of this rank.
    fn rank(&self) -> usize;

    /// Returns the number of ranks.
    fn size(&self) -> usize;

    /// Sends a message of at most [`message_size_max`](Comm::message_size_max) bytes to a rank, which
    /// may be this one. Never waits for the receiver.
    fn send(&self, to: usize, tag: Tag, bytes: Vec<u8>) -> Result<()>;

    /// Returns the next message of `from` with this tag, if it has come.
    fn poll(&self, from: usize, tag: Tag) -> Result<Option<Vec<u8>>>;

    /// Waits for the next message of `from` with this tag.
    fn receive(&self, from: usize, tag: Tag, cancel: &Cancel) -> Result<Vec<u8>>;

    /// Ends the work of all ranks. Every later or waiting call on any rank fails with the first
    /// abort. If two ranks of different processes abort at the same time, either may be the first.
    fn abort(&self, reason: &str);

    /// Returns the bytes of all messages to other ranks.
    fn bytes_sent(&self) -> u64;

    /// Returns the bytes of all messages of other ranks that were taken.
    fn bytes_received(&self) -> u64;

    /// Returns the most bytes of one message, from [`MESSAGE_SIZE_MIN`] to [`MESSAGE_SIZE_MAX`]. It is
    /// the same on all ranks.
    fn message_size_max(&self) -> usize {
        MESSAGE_SIZE_MAX
    }

    /// Sends a message of any length, for [`receive_long`](Comm::receive_long). One thread at a
    /// time sends long messages to a rank with a tag. A message of up to 4 KiB travels as one
    /// message.
    fn send_long(&self, to: usize, tag: Tag, bytes: &[u8]) -> Result<()> {
        long::send(self, to, tag, bytes)
    }

    /// Waits for a message that was sent by [`send_long`](Comm::send_long). One thread at a time
    /// receives long messages of a rank with a tag. Memory grows only with what has arrived.
    ///
    /// # Errors
    /// Besides the errors of every method of this trait, [`Error::Damaged`](crate::Error::Damaged)
    /// if the packets do not fit together.
    fn receive_long(&self, from: usize, tag: Tag, cancel: &Cancel) -> Result<Vec<u8>> {
        long::receive(self, from, tag, cancel)
    }

    /// Collects the bytes of every rank, of any length. Returns them by rank at the root, and
    /// `None` elsewhere.
    fn gather(
        &self,
        root: usize,
        bytes: Vec<u8>,
        tag: Tag,
        cancel: &Cancel,
    ) -> Result<Option<Vec<Vec<u8>>>> {
        collectives::gather(self, root, bytes, tag, cancel)
    }

    /// Returns the root's bytes, of any length, on every rank. They travel along a tree, whose
    /// depth is the logarithm of the number of ranks.
    ///
    /// # Panics
    /// If `bytes` is `None` at the root, or given elsewhere.
    fn broadcast(
        &self,
        root: usize,
        bytes: Option<Vec<u8>>,
        tag: Tag,
        cancel: &Cancel,
    ) -> Result<Vec<u8>> {
        collectives::broadcast(self, root, bytes, tag, cancel)
    }

    /// Returns the bytes of every rank, of any length, by rank on every rank. Each rank sends its
    /// bytes to each other one, so short messages need one step.
    fn all_gather(&self, bytes: Vec<u8>, tag: Tag, cancel: &Cancel) -> Result<Vec<Vec<u8>>> {
        collectives::all_gather(self, bytes, tag, cancel)
    }

    /// Returns once all ranks have called it.
    fn barrier(&self, tag: Tag, cancel: &Cancel) -> Result<()> {
        collectives::barrier(self, tag, cancel)
    }
}
