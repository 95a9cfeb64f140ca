//! Ranks within one process.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use tegula_machine::threads::Cancel;

use crate::comm::{Comm, MESSAGE_SIZE_MAX, MESSAGE_SIZE_MIN, Tag};
use crate::error::{Error, Result};
use crate::mailbox::Mailbox;

/// A rank within this process. A message is handed on without a copy. Dropping it ends the work of
/// this rank.
pub struct Threads {
    rank: usize,
    shared: Arc<Shared>,
    bytes_sent: AtomicU64,
}

struct Shared {
    mailboxes: Vec<Mailbox>,
    /// The first reason for which the work of all ends.
    end: OnceLock<Error>,
    message_size_max: usize,
}

impl Threads {
    /// Makes `count` ranks that send each other messages.
    pub fn ranks(count: usize) -> Vec<Threads> {
        Threads::with_message_size_max(count, MESSAGE_SIZE_MAX)
    }

    /// Like [`Threads::ranks`], for tests of long messages.
    ///
    /// # Panics
    /// If `message_size_max` is not within [`MESSAGE_SIZE_MIN`] and [`MESSAGE_SIZE_MAX`].
    pub fn with_message_size_max(count: usize, message_size_max: usize) -> Vec<Threads> {
        assert!((MESSAGE_SIZE_MIN..=MESSAGE_SIZE_MAX).contains(&message_size_max));
        let mailboxes = (0..count).map(Mailbox::new).collect();
        let shared = Arc::new(Shared { mailboxes, end: OnceLock::new(), message_size_max });
        let rank =
            |rank| Threads { rank, shared: Arc::clone(&shared), bytes_sent: AtomicU64::new(0) };
        (0..count).map(rank).collect()
    }

    fn mailbox(&self) -> &Mailbox {
        &self.shared.mailboxes[self.rank]
    }
}

impl Comm for Threads {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.shared.mailboxes.len()
    }

    fn send(&self, to: usize, tag: Tag, bytes: Vec<u8>) -> Result<()> {
        self.mailbox().check()?;
        let (size, size_max) = (bytes.len(), self.shared.message_size_max);
        if size > size_max {
            return Err(Error::TooLong { to, size, size_max });
        }
        if to != self.rank {
            self.bytes_sent.fetch_add(size as u64, Ordering::Relaxed);
        }
        self.shared.mailboxes[to].deliver(self.rank, tag, bytes);
        Ok(())
    }

    fn poll(&self, from: usize, tag: Tag) -> Result<Option<Vec<u8>>> {
        assert!(from < self.size(), "rank {from} of {}", self.size());
        self.mailbox().poll(from, tag)
    }

    fn receive(&self, from: usize, tag: Tag, cancel: &Cancel) -> Result<Vec<u8>> {
        assert!(from < self.size(), "rank {from} of {}", self.size());
        let received = self.mailbox().receive(from, tag, cancel);
        // A rank that has learnt of an abort may leave before this mailbox learns of it.
        received.map_err(|error| match self.shared.end.get() {
            Some(end) => end.clone(),
            None => error,
        })
    }

    fn abort(&self, reason: &str) {
        let own = Error::Aborted { rank: self.rank, reason: reason.to_owned() };
        let first = self.shared.end.get_or_init(|| own);
        for mailbox in &self.shared.mailboxes {
            mailbox.end(first.clone());
        }
    }

    fn bytes_sent(&self) -> u64 {
        self.bytes_sent.load(Ordering::Relaxed)
    }

    fn bytes_received(&self) -> u64 {
        self.mailbox().bytes_taken()
    }

    fn message_size_max(&self) -> usize {
        self.shared.message_size_max
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        for mailbox in &self.shared.mailboxes {
            mailbox.leave(self.rank);
        }
    }
}
