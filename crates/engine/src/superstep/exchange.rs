//! The way of messages from the vertices that signal to the edges that carry them, and of sums to a
//! total: on one machine, or between ranks.
//!
//! A program with its arrays on disk does not [publish](Exchange::publish). The bits of its active
//! vertices lie in the blocks of its states, so it would have to read each block twice. And it
//! often reads messages again instead of generating them. So it writes the messages of a segment to
//! their [places](Exchange::places) itself.

use std::ops::Range;
use std::sync::Mutex;

use tegula_machine::memory::huge;
use tegula_machine::threads::lock;
use tegula_store::Result;

use super::active_set::ActiveSet;
use crate::job::context::JobContext;
use crate::program::{Aggregate, Value};
use crate::ranks::{Ranks, Standing};

/// Vertices whose messages one worker writes at a time: a multiple of 64.
const RANGE_SIZE: usize = 1 << 16;

/// Messages between generate and process, and sums between iterations. On one machine nothing
/// moves: messages are already where they are needed.
pub struct Exchange<'r, M> {
    /// By source: the identity for sources without a message, and one more identity at the end.
    messages: Vec<M>,
    identity: M,
    /// A bit for each vertex whose message may differ from the identity; empty if none is
    /// published.
    published: Vec<u64>,
    has_published: bool,
    ranks: Option<Ranks<'r>>,
}

impl<'r, M: Value + PartialEq> Exchange<'r, M> {
    /// Makes an exchange without messages.
    pub fn new(vertex_count: usize, identity: M, ranks: Option<Ranks<'r>>) -> Exchange<'r, M> {
        let published = vec![0; vertex_count.div_ceil(64)];
        Exchange { published, ranks, ..Exchange::of_segment(vertex_count, identity) }
    }

    /// Makes an exchange for segments of up to `source_count` sources, whose messages are not
    /// published but written to their [places](Exchange::places).
    pub fn of_segment(source_count: usize, identity: M) -> Exchange<'r, M> {
        let mut messages = huge::with_capacity(source_count + 1);
        messages.resize(source_count + 1, identity);
        Exchange { messages, identity, published: Vec::new(), has_published: false, ranks: None }
    }

    /// Returns the places for the messages of a segment of `source_count` sources, with the messages
    /// of the segment before. Identities follow behind them.
    pub fn places(&mut self, source_count: usize) -> &mut [M] {
        let (places, behind) = self.messages.split_at_mut(source_count);
        behind.fill(self.identity);
        places
    }

    /// Returns the vertices of this rank; on one machine, all.
    pub fn own_vertices(&self) -> Range<usize> {
        self.ranks.as_ref().map_or(0..self.messages.len() - 1, Ranks::own_vertices)
    }

    /// Writes the messages of the vertices in `active`. It calls `generate` with the first vertex
    /// of a range of at most 64, the bits of the range, and the places for its messages. Earlier
    /// messages are withdrawn. Messages come from other ranks, too, and their sources are added to
    /// `active`.
    ///
    /// # Errors
    /// Cancellation; a panic; the failure of another rank.
    pub fn publish(
        &mut self,
        active: &mut ActiveSet,
        context: &JobContext<'_>,
        generate: &(dyn Fn(usize, u64, &mut [M]) + Sync),
    ) -> Result<()> {
        self.has_published = true;
        let own = self.own_vertices();
        let words = active.words();
        let messages = self.messages[own.clone()].chunks_mut(RANGE_SIZE);
        let published = self.published[own.start / 64..].chunks_mut(RANGE_SIZE / 64);
        let ranges: Vec<_> = messages.zip(published).map(Mutex::new).collect();
        let identity = self.identity;
        context.for_each(ranges.len(), &|range| {
            let (messages, published) = &mut *lock(&ranges[range]);
            let first = own.start + range * RANGE_SIZE;
            for (index, (messages, before)) in
                messages.chunks_mut(64).zip(&mut **published).enumerate()
            {
                let vertex = first + 64 * index;
                let now = words[vertex / 64];
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
        })?;
        let Some(ranks) = &self.ranks else { return Ok(()) };
        let (messages, published) = (&mut self.messages, &mut self.published);
        ranks.exchange(messages, published, identity)?;
        active.change(|words| words.copy_from_slice(published));
        Ok(())
    }

    /// Returns the messages by source: the identity for sources without one, and one more identity
    /// at the end.
    pub fn messages(&self) -> &[M] {
        &self.messages
    }

    /// Withdraws all messages.
    pub fn withdraw(&mut self) {
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

    /// Returns a place for each vertex, all identities, for messages pushed to their targets. The
    /// caller must leave identities again before anything is published.
    pub fn inbox(&mut self) -> &mut [M] {
        self.withdraw();
        let count = self.messages.len() - 1;
        &mut self.messages[..count]
    }

    /// Returns the other ranks, if there are any.
    pub fn ranks(&self) -> Option<&Ranks<'r>> {
        self.ranks.as_ref()
    }

    /// Returns the total over all ranks of sums, which come by ascending batch, unit or window, and what
    /// the other ranks have left to do. No two ranks have sums of one batch, so all add them in one
    /// order, and a total has the same bits on any number of ranks.
    ///
    /// # Errors
    /// The failure of another rank.
    pub fn agree<A: Aggregate>(
        &self,
        sums: impl Iterator<Item = A>,
        own: Standing,
    ) -> Result<(A, Standing)> {
        match &self.ranks {
            Some(ranks) => ranks.agree(sums, own),
            None => Ok((A::sum(sums), Standing::default())),
        }
    }
}
