//! The way of messages from the vertices that signal to the edges that carry them, and of sums to a
//! total: on one machine, or between ranks.
//!
//! A program with its arrays in memory [publishes](Exchange::publish) the messages of all segments.
//! A program with its arrays on disk has an exchange with room for the messages of one segment, or
//! of two segments between ranks. It writes messages to their [places](Exchange::places) itself,
//! where it often reads them again instead of generating them, and then
//! [brings](Exchange::bring_others) the messages of other ranks.

use std::ops::Range;
use std::sync::{Arc, Mutex};

use tegula_machine::memory::huge;
use tegula_machine::threads::lock;
use tegula_store::Result;

use super::active_set::ActiveSet;
use crate::job::context::JobContext;
use crate::program::{Aggregate, Value};
use crate::ranks::{Ranks, Standing, words_of};

/// Vertices whose messages one worker writes at a time: a multiple of 64.
const RANGE_SIZE: usize = 1 << 16;

/// Messages between generate and process, and sums between iterations. On one machine nothing
/// moves: messages are already where they are needed.
pub struct Exchange<'r, M> {
    /// By source, of all segments or of one: the identity for sources without a message, and one
    /// more identity at the end.
    messages: Vec<M>,
    identity: M,
    /// A bit for each vertex whose message may differ from the identity; empty if none is
    /// published.
    published: Vec<u64>,
    has_published: bool,
    ranks: Option<Arc<Ranks<'r>>>,
}

impl<'r, M: Value + PartialEq> Exchange<'r, M> {
    /// Makes an exchange without messages.
    pub fn new(vertex_count: usize, identity: M, ranks: Option<Ranks<'r>>) -> Exchange<'r, M> {
        let published = vec![0; vertex_count.div_ceil(64)];
        let ranks = ranks.map(Arc::new);
        Exchange { published, ..Exchange::of_segment(vertex_count, identity, ranks) }
    }

    /// Makes an exchange for segments of up to `source_count` sources, whose messages are not
    /// published but written to their [places](Exchange::places).
    pub fn of_segment(
        source_count: usize,
        identity: M,
        ranks: Option<Arc<Ranks<'r>>>,
    ) -> Exchange<'r, M> {
        let published = vec![0; if ranks.is_some() { source_count.div_ceil(64) } else { 0 }];
        let mut messages = huge::with_capacity(source_count + 1);
        messages.resize(source_count + 1, identity);
        Exchange { messages, identity, published, has_published: false, ranks }
    }

    /// Makes another exchange for segments of the same size, between the same ranks.
    pub fn another(&self) -> Exchange<'r, M> {
        let source_count = self.messages.len() - 1;
        Exchange::of_segment(source_count, self.identity, self.ranks.clone())
    }

    /// Returns the bytes of an exchange for segments of up to `source_count` sources.
    pub fn segment_size(source_count: u64, has_ranks: bool) -> u64 {
        let published = if has_ranks { 8 * source_count.div_ceil(64) } else { 0 };
        (source_count + 1) * size_of::<M>() as u64 + published
    }

    /// Returns the places for the messages of a segment of `source_count` sources, with the
    /// messages of the segment before. Identities follow behind them.
    pub fn places(&mut self, source_count: usize) -> &mut [M] {
        let (places, behind) = self.messages.split_at_mut(source_count);
        // The last segment may be shorter. Messages of the one before would follow, where the
        // identity is expected.
        behind.fill(self.identity);
        places
    }

    /// Brings the messages of a segment from other ranks to their places. The messages of this rank
    /// must be in their places; they are sent to the other ranks.
    ///
    /// # Errors
    /// Cancellation; the failure of another rank.
    pub fn bring_others(&mut self, segment: usize) -> Result<()> {
        let Some(ranks) = &self.ranks else { return Ok(()) };
        let sources = &ranks.segments()[segment];
        let messages = &mut self.messages[..sources.len()];
        let published = &mut self.published[..sources.len().div_ceil(64)];
        let own = ranks.own_sources(segment);
        // `exchange` withdraws only published messages, and the bits here are of an earlier
        // segment.
        messages[..own.start].fill(self.identity);
        messages[own.end..].fill(self.identity);
        published.fill(0);
        for (messages, word) in messages[own.clone()].chunks(64).zip(&mut published[words_of(&own)])
        {
            let bits = messages.iter().enumerate();
            *word = bits
                .fold(0, |word, (bit, message)| word | u64::from(*message != self.identity) << bit);
        }
        ranks.exchange(segment, messages, published, self.identity)
    }

    /// Returns a bit for each source of the segment whose message may differ from the identity,
    /// after the messages of other ranks were [brought](Exchange::bring_others).
    pub fn published(&self) -> &[u64] {
        &self.published
    }

    /// Returns the vertices of this rank; on one machine, all.
    pub fn own_vertices(&self) -> Range<usize> {
        self.ranks().map_or(0..self.messages.len() - 1, Ranks::own_vertices)
    }

    /// Writes the messages of the vertices in `active`. It calls `generate` with the first vertex
    /// of a range of at most 64, the bits of the range, and the places for its messages. Earlier
    /// messages are withdrawn. Messages of other ranks come to their places, too.
    ///
    /// # Errors
    /// Cancellation; a panic; the failure of another rank.
    pub fn publish(
        &mut self,
        active: &ActiveSet,
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
                // If all 64 vertices are active, every place gets a message.
                if now != u64::MAX {
                    messages.fill(identity);
                }
                *before = now;
                generate(vertex, now, messages);
            }
            Ok(())
        })?;
        let Some(ranks) = &self.ranks else { return Ok(()) };
        // No tile is processed until all messages are there, so all of this counts as waiting.
        let _waiting = ranks.begin_wait();
        for (segment, sources) in ranks.segments().iter().enumerate() {
            let messages = &mut self.messages[sources.clone()];
            let published = &mut self.published[words_of(sources)];
            ranks.exchange(segment, messages, published, identity)?;
        }
        Ok(())
    }

    /// Returns the messages by source: the identity for sources without one, and one more identity
    /// at the end.
    pub fn messages(&self) -> &[M] {
        &self.messages
    }

    /// Withdraws all messages.
    pub fn withdraw(&mut self) {
        // Otherwise each iteration along rows would look through all bits.
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
        self.ranks.as_deref()
    }

    /// Returns the total over all ranks of sums, which come by ascending batch, unit or window, and
    /// what the other ranks have left to do. No two ranks have sums of one batch, so all add them
    /// in one order, and a total has the same bits on any number of ranks. `active` gets the
    /// summary of all ranks.
    ///
    /// # Errors
    /// The failure of another rank.
    pub fn agree<A: Aggregate>(
        &self,
        sums: impl Iterator<Item = A>,
        own: Standing,
        active: &mut ActiveSet,
    ) -> Result<(A, Standing)> {
        match &self.ranks {
            Some(ranks) => ranks.agree(sums, own, active),
            None => Ok((A::sum(sums), Standing::default())),
        }
    }
}
