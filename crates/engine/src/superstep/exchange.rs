//! The way of messages from the vertices that signal to the edges that carry them.

use tegula_machine::memory::huge;
use tegula_store::Result;

use crate::job::context::JobContext;
use crate::program::{Aggregate, Value};

/// Messages of all vertices, between generate and process. Here a run on several machines would
/// differ; on one machine nothing moves ([`Local`]).
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

    /// Returns the total over all machines of sums in ascending order of their vertices.
    fn agree<A: Aggregate>(&self, sums: impl Iterator<Item = A>) -> A {
        A::sum(sums)
    }
}

/// Vertices whose messages one worker writes at a time: a multiple of 64.
const RANGE_SIZE: usize = 1 << 16;

/// The exchange on one machine: messages are already where they are needed.
pub struct Local<M> {
    messages: Vec<M>,
    identity: M,
    /// A bit for each vertex whose message is not the identity.
    published: Vec<u64>,
    has_published: bool,
}

impl<M: Value + PartialEq> Local<M> {
    /// Makes an exchange without messages.
    pub fn new(vertex_count: usize, identity: M) -> Local<M> {
        let mut messages = huge::with_capacity(vertex_count + 1);
        messages.resize(vertex_count + 1, identity);
        let published = vec![0; vertex_count.div_ceil(64)];
        Local { messages, identity, published, has_published: false }
    }

    /// Returns a place for each vertex, all identities, for messages pushed to their targets. The
    /// caller must leave identities again before anything is published.
    pub fn inbox(&mut self) -> &mut [M] {
        self.withdraw();
        let count = self.messages.len() - 1;
        &mut self.messages[..count]
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
}
