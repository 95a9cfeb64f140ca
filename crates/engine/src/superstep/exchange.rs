//! The way of messages from the vertices that signal to the edges that carry them, and of sums to a
//! total. Here a run on several machines would differ.
//!
//! A program with its arrays on disk takes its totals from an exchange, too, but does not
//! [publish](Exchange::publish). The bits of its active vertices lie in the blocks of its states, so
//! it would have to read each block twice. And it often reads messages again instead of generating
//! them. So it writes the messages of a segment to their [places](Local::places) itself.

use tegula_machine::memory::huge;
use tegula_store::Result;

use crate::job::context::JobContext;
use crate::program::{Aggregate, Value};

/// Messages between generate and process, and sums between iterations. On one machine nothing moves
/// ([`Local`]).
pub trait Exchange<M: Value + PartialEq> {
    /// Writes the messages of the vertices whose bits are set in `active`. It calls `generate` with
    /// the first vertex of a range of at most 64, the bits of the range, and the places for its
    /// messages. Earlier messages are withdrawn.
    ///
    /// # Errors
    /// Cancellation; a panic.
    fn publish(
        &mut self,
        active: &[u64],
        context: &JobContext<'_>,
        generate: &(dyn Fn(usize, u64, &mut [M]) + Sync),
    ) -> Result<()>;

    /// Returns the messages by source: the identity for sources without one, and one more identity
    /// at the end.
    fn messages(&self) -> &[M];

    /// Withdraws all messages.
    fn withdraw(&mut self);

    /// Returns a place for each vertex, all identities, for messages pushed to their targets. The
    /// caller must leave identities again before anything is published.
    fn inbox(&mut self) -> &mut [M];

    /// Returns the total over all machines of the sums over ranges of vertices. Each comes with the
    /// number of its range, a batch or a window, by ascending number. No two machines have sums of
    /// one range. So all machines can add them in one order, and a total has the same bits on any
    /// number of machines.
    ///
    /// # Errors
    /// Another machine that cannot be reached.
    fn agree<A: Aggregate>(&self, sums: impl Iterator<Item = (usize, A)>) -> Result<A>;
}

/// Vertices whose messages one worker writes at a time: a multiple of 64.
const RANGE_SIZE: usize = 1 << 16;

/// The exchange on one machine: messages are already where they are needed.
pub struct Local<M> {
    messages: Vec<M>,
    identity: M,
    /// A bit for each vertex whose message is not the identity; empty if none is published.
    published: Vec<u64>,
    has_published: bool,
}

impl<M: Value + PartialEq> Local<M> {
    /// Makes an exchange without messages.
    pub fn new(vertex_count: usize, identity: M) -> Local<M> {
        let published = vec![0; vertex_count.div_ceil(64)];
        Local { published, ..Local::of_segment(vertex_count, identity) }
    }

    /// Makes an exchange for segments of up to `source_count` sources, whose messages are not
    /// published but written to their [places](Local::places).
    pub fn of_segment(source_count: usize, identity: M) -> Local<M> {
        let mut messages = huge::with_capacity(source_count + 1);
        messages.resize(source_count + 1, identity);
        Local { messages, identity, published: Vec::new(), has_published: false }
    }

    /// Returns the places for the messages of a segment of `source_count` sources, with the messages
    /// of the segment before. Identities follow behind them.
    pub fn places(&mut self, source_count: usize) -> &mut [M] {
        let (places, behind) = self.messages.split_at_mut(source_count);
        behind.fill(self.identity);
        places
    }
}

impl<M: Value + PartialEq> Exchange<M> for Local<M> {
    fn publish(
        &mut self,
        active: &[u64],
        context: &JobContext<'_>,
        generate: &(dyn Fn(usize, u64, &mut [M]) + Sync),
    ) -> Result<()> {
        self.has_published = true;
        let count = self.messages.len() - 1;
        let messages = self.messages[..count].chunks_mut(RANGE_SIZE);
        let published = self.published.chunks_mut(RANGE_SIZE / 64);
        let ranges: Vec<_> = messages.zip(published).map(std::sync::Mutex::new).collect();
        let identity = self.identity;
        context.for_each(ranges.len(), &|range| {
            let (messages, published) = &mut *tegula_machine::threads::lock(&ranges[range]);
            let first = range * RANGE_SIZE;
            for (index, (messages, before)) in
                messages.chunks_mut(64).zip(&mut **published).enumerate()
            {
                let vertex = first + 64 * index;
                let now = active[vertex / 64];
                // With no active vertex before or now, all places hold identities already.
                if now | *before == 0 {
                    continue;
                }
                if now != u64::MAX {
                    messages.fill(identity);
                }
                *before = now;
                generate(vertex, now, messages);
            }
            Ok(())
        })
    }

    fn messages(&self) -> &[M] {
        &self.messages
    }

    fn withdraw(&mut self) {
        if !std::mem::take(&mut self.has_published) {
            return;
        }
        for (word, published) in self.published.iter_mut().enumerate() {
            let mut rest = std::mem::take(published);
            while rest != 0 {
                self.messages[64 * word + rest.trailing_zeros() as usize] = self.identity;
                rest &= rest - 1;
            }
        }
    }

    fn inbox(&mut self) -> &mut [M] {
        self.withdraw();
        let count = self.messages.len() - 1;
        &mut self.messages[..count]
    }

    fn agree<A: Aggregate>(&self, sums: impl Iterator<Item = (usize, A)>) -> Result<A> {
        Ok(A::sum(sums.map(|(_, sum)| sum)))
    }
}
