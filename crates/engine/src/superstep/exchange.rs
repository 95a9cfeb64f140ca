//! How messages get from the vertices that signal to where edges are processed.

use tegula_machine::Result;
use tegula_machine::memory::huge;

use crate::job::context::JobContext;
use crate::program::{Aggregate, Value};

/// Messages of all vertices, between generate and process: the seam at which machines part. On one machine
/// nothing moves ([`Local`]).
pub trait Exchange<M: Value + PartialEq> {
    /// Writes the messages of the vertices whose bits are set in `active`: `generate` is given the first
    /// vertex and the places of a range of at most 64, and their bits. Messages published before are taken
    /// back.
    ///
    /// # Errors
    /// Cancellation; a panic.
    fn publish(
        &mut self,
        active: &[u64],
        context: &JobContext<'_>,
        generate: &(dyn Fn(usize, u64, &mut [M]) + Sync),
    ) -> Result<()>;

    /// The messages by source, the identity for those that have none, and one more identity.
    fn messages(&self) -> &[M];

    /// Takes all messages back.
    fn withdraw(&mut self);

    /// What all have summed up, of sums in ascending order of their vertices.
    fn agree<A: Aggregate>(&self, sums: impl Iterator<Item = A>) -> A {
        A::sum(sums)
    }
}

/// Vertices whose messages one worker writes at a time: a multiple of 64.
const RANGE_SIZE: usize = 1 << 16;

/// One machine: messages are where they are needed.
pub struct Local<M> {
    messages: Vec<M>,
    identity: M,
    /// A bit for each vertex whose message is not the identity.
    published: Vec<u64>,
    has_published: bool,
}

impl<M: Value + PartialEq> Local<M> {
    /// No messages yet.
    pub fn new(vertex_count: usize, identity: M) -> Local<M> {
        let mut messages = huge::with_capacity(vertex_count + 1);
        messages.resize(vertex_count + 1, identity);
        let published = vec![0; vertex_count.div_ceil(64)];
        Local { messages, identity, published, has_published: false }
    }

    /// A place for each vertex, all identities, for messages that are pushed to their targets. They are to be
    /// identities again before anything is published.
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
                // Without an active vertex, now or before, there are identities already.
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
