//! The messages of a segment: generated from its states, or read again.

use std::ops::Range;
use std::sync::Mutex;

use tegula_machine::disk::BlockStore;
use tegula_machine::threads::{Cancel, lock};
use tegula_store::{Result, VertexId};
use zerocopy::IntoBytes;

use super::background::BackgroundExchange;
use super::dispatch::{Dispatch, Sent};
use super::{ExternalStep, Position};
use crate::job::context::JobContext;
use crate::program::{Message, Program, Reduction};
use crate::ranks::words_of;
use crate::states::BlockStates;
use crate::states::cut::{Cut, shared};
use crate::superstep::exchange::Exchange;
use crate::superstep::{bit, split_off};

impl<'g, P: Program> ExternalStep<'g, P> {
    /// Brings the messages of the segment at work into memory, if any tile of these cells is needed
    /// or the messages must be kept. Returns whether there is anything to scan. With ranks, the
    /// first group always exchanges messages, because other ranks may need those from here.
    ///
    /// # Errors
    /// Failed reads and writes; cancellation; a panic of the program; the failure of another rank.
    pub(super) fn bring_messages(&mut self, context: &JobContext<'_>) -> Result<bool> {
        let Position { group, segment } = self.position;
        let is_first = group == 0;
        let background = self.background.clone().filter(|_| is_first);
        let exchanges = background.is_some();
        // The summary of all ranks may have active vertices in a segment without messages. Then its
        // tiles are read as on one machine, for their number decides how sums are rounded.
        if self.exchange.ranks().is_none() && self.active_among(&self.sources()) == 0 {
            return Ok(false);
        }
        let sent = if is_first { Sent::All } else { self.sent(group, segment) };
        let has_tiles = sent != Sent::None && self.has_needed_tiles();
        // The first group generates messages even if it has no use for them: further groups may
        // have.
        if !has_tiles && !exchanges && (!is_first || self.plan.groups == 1) {
            return Ok(false);
        }
        // The messages are taken out, so that workers may write them while they share the rest.
        let empty = Exchange::of_segment(0, P::Reduction::IDENTITY, None);
        let mut exchange = std::mem::replace(&mut self.exchange, empty);
        let brought = match background {
            Some(background) => self.bring_with_others(&mut exchange, &background, context),
            None => self.bring_to(exchange.places(self.sources().len()), sent, context),
        };
        // Put back before an error is passed on, so that the step is whole again.
        self.exchange = exchange;
        brought?;
        self.forget_ahead();
        // By now it is known whether the first group needs any message.
        let has_tiles = has_tiles && self.sent(group, segment) != Sent::None;
        if has_tiles {
            self.read_ahead_of_scan();
        }
        Ok(has_tiles)
    }

    /// Brings the messages of the segment at work to their places.
    fn bring_to(
        &mut self,
        messages: &mut [Message<P>],
        sent: Sent,
        context: &JobContext<'_>,
    ) -> Result<()> {
        let Position { group, segment } = self.position;
        if group > 0 && self.kept_messages.is_none() {
            // Messages of the only segment are in memory since the first group.
            return Ok(());
        }
        let sources = self.sources();
        if let (Some(dispatch), Sent::Listed(_) | Sent::Pairs(_)) = (&mut self.dispatch, sent) {
            return dispatch.receive(self.graph, &self.plan, (group, segment), messages, context);
        }
        let keeps = group == 0 && self.choose_ways(&sources);
        self.bring_stretches(&sources, messages, keeps, context)?;
        if group == 0 { self.dispatch(messages, context) } else { Ok(()) }
    }

    /// Brings the messages of a segment to their places: the own ones are generated, and the
    /// messages of other ranks are received. Then the exchange of the next segment begins, if there
    /// is room for it, and all messages of this one are kept or dispatched for further groups.
    fn bring_with_others(
        &mut self,
        exchange: &mut Exchange<'g, Message<P>>,
        background: &BackgroundExchange<'g, Message<P>>,
        context: &JobContext<'_>,
    ) -> Result<()> {
        let segment = self.position.segment;
        match background.wait()? {
            // The buffer of the segment before has served, and the next segment gets it.
            Some(arrived) => self.next_exchange = Some(std::mem::replace(exchange, arrived)),
            None => {
                self.generate_own(segment, exchange, context)?;
                background.exchange_now(exchange, segment as usize)?;
            }
        }
        // Begun before the messages at hand are kept and dispatched, so that others travel
        // meanwhile.
        if segment + 1 < self.segment_count()
            && let Some(mut next) = self.next_exchange.take()
        {
            self.generate_own(segment + 1, &mut next, context)?;
            background.begin(next, segment as usize + 1);
        }
        let sources = self.sources();
        self.count_others(&sources, &shared(&self.own, &sources), exchange.published());
        let messages = &*exchange.places(sources.len());
        if self.choose_ways(&sources) {
            let blocks = self.cut.blocks(&sources);
            context.for_each(blocks.len(), &|index| self.keep(blocks.start + index, messages))?;
        }
        self.dispatch(messages, context)
    }

    /// Generates the messages of the own sources of a segment in their places.
    fn generate_own(
        &self,
        segment: u32,
        exchange: &mut Exchange<'_, Message<P>>,
        context: &JobContext<'_>,
    ) -> Result<()> {
        let sources = self.sources_of(segment);
        let own = shared(&self.own, &sources);
        if own.is_empty() {
            return Ok(());
        }
        // Whole blocks: no vertex of another rank is active in the states here.
        let blocks = self.cut.blocks(&own);
        let own = self.cut.vertices(blocks.start).start..self.cut.vertices(blocks.end - 1).end;
        let places = exchange.places(sources.len());
        let places = &mut places[own.start - sources.start..own.end - sources.start];
        self.bring_stretches(&own, places, false, context)
    }

    /// Counts the messages of other ranks among the active vertices of the blocks of a segment. The
    /// counts say which blocks are kept, and help to choose a way; no result depends on them.
    fn count_others(&mut self, sources: &Range<usize>, own: &Range<usize>, published: &[u64]) {
        let first_word = sources.start / 64;
        let own = words_of(own);
        for block in self.cut.blocks(sources) {
            let vertices = self.cut.vertices(block);
            let words = vertices.start / 64..vertices.end.div_ceil(64);
            let others = words.filter(|word| !own.contains(word));
            let counts = others.map(|word| published[word - first_word].count_ones());
            self.activity.counts[block] += counts.sum::<u32>();
        }
    }

    /// Keeps the messages of a block for further groups, if it has any.
    fn keep(&self, block: usize, messages: &[Message<P>]) -> Result<()> {
        match &self.kept_messages {
            Some(kept) if self.activity.counts[block] > 0 => {
                let vertices = self.cut.vertices(block);
                let first = vertices.start - self.sources().start;
                Ok(kept.write(block, &[messages[first..first + vertices.len()].as_bytes()])?)
            }
            _ => Ok(()),
        }
    }

    /// Brings the messages of some vertices, whole blocks, to their places.
    fn bring_stretches(
        &self,
        vertices: &Range<usize>,
        messages: &mut [Message<P>],
        keeps: bool,
        context: &JobContext<'_>,
    ) -> Result<()> {
        let stretches = Cut::stretches(vertices);
        let mut rest = messages;
        let place = |stretch: &Range<usize>| Mutex::new(split_off(&mut rest, stretch.len()));
        let places: Vec<_> = stretches.iter().map(place).collect();
        context.for_each(stretches.len(), &|index| {
            let place = &mut *lock(&places[index]);
            let after = stretches.get(index + context.threads());
            self.bring_stretch((&stretches[index], after), place, keeps, context.cancel())
        })
    }

    /// Sends the messages of the segment at work to the groups for which that was chosen.
    fn dispatch(&mut self, messages: &[Message<P>], context: &JobContext<'_>) -> Result<()> {
        let Some(dispatch) = &self.dispatch else { return Ok(()) };
        self.forget_ahead();
        let sources = self.sources();
        let is_every = self.active_among(&sources) == sources.len() as u64;
        dispatch.send(self.graph, &self.plan, self.position.segment, messages, is_every, context)
    }

    /// Chooses how the messages of a segment reach further groups; returns whether they must be
    /// kept for any.
    fn choose_ways(&self, sources: &Range<usize>) -> bool {
        let Some(kept) = &self.kept_messages else { return false };
        let Some(dispatch) = &self.dispatch else { return true };
        let is_reread = |&block: &usize| self.activity.counts[block] > 0 && !kept.is_held(block);
        let reread = self.cut.blocks(sources).filter(is_reread);
        let reread: usize = reread.map(|block| self.message_bytes(block)).sum();
        let of = (self.active_among(sources), sources.len() as u64);
        dispatch.choose(&self.arrays, &self.plan, self.position.segment, of, reread as u64)
    }

    /// Returns how many vertices of whole blocks are active.
    fn active_among(&self, vertices: &Range<usize>) -> u64 {
        let counts = &self.activity.counts[self.cut.blocks(vertices)];
        counts.iter().copied().map(u64::from).sum()
    }

    /// Returns how the messages of a segment reach a group.
    fn sent(&self, group: u32, segment: u32) -> Sent {
        self.dispatch.as_ref().map_or(Sent::All, |dispatch| dispatch.sent(group, segment))
    }

    fn message_bytes(&self, block: usize) -> usize {
        self.cut.vertices(block).len() * size_of::<Message<P>>()
    }

    /// Requests the first blocks needed after the scan: of the next segment, or of the targets. If
    /// the messages of the next segment travel meanwhile, they are generated already.
    fn read_ahead_of_scan(&self) {
        let travels = self.position.group == 0 && self.plan.exchanges_ahead;
        let count = self.segment_count();
        let next = self.position.segment + 1;
        if next == count {
            let targets = self.cut.blocks(&self.targets());
            let wanted = self.arrays.blocks_ahead(&self.plan, self.arrays.state_blocks());
            let wanted = if self.has_small_frontier() { 0 } else { wanted };
            targets.take(wanted).for_each(|block| self.states.read_ahead(block));
            return;
        }
        let next = next + u32::from(travels);
        if next == count {
            return;
        }
        let blocks = self.cut.blocks(&self.sources_of(next));
        let mut active = blocks.filter(|&block| self.activity.counts[block] > 0).peekable();
        // Without active sources, no way may have been chosen in this iteration.
        if let (Some(dispatch), 1.., Some(_)) = (&self.dispatch, self.position.group, active.peek())
            && dispatch.sent(self.position.group, next) != Sent::All
        {
            let wanted = self.arrays.blocks_ahead(&self.plan, self.arrays.sent_blocks(&self.plan));
            dispatch.read_ahead(self.position.group, next, wanted);
            return;
        }
        match &self.kept_messages {
            Some(kept) if self.position.group > 0 => {
                let wanted = self.arrays.blocks_ahead(&self.plan, self.arrays.message_blocks());
                active.take(wanted).for_each(|block| self.ask_for_messages(kept, block));
            }
            _ => {
                let wanted = self.arrays.blocks_ahead(&self.plan, self.arrays.state_blocks());
                active.take(wanted).for_each(|block| self.states.read_ahead(block));
            }
        }
    }

    /// Frees blocks that were requested and not read.
    pub(super) fn forget_ahead(&self) {
        self.states.store().forget_ahead();
        let sent = self.dispatch.as_ref().map(Dispatch::store);
        self.kept_messages.iter().chain(sent).for_each(BlockStore::forget_ahead);
    }

    fn ask_for_messages(&self, kept: &BlockStore, block: usize) {
        kept.read_ahead(block, self.message_bytes(block));
    }

    fn has_needed_tiles(&self) -> bool {
        let tiles = self.graph.tiles();
        self.batches().any(|batch| {
            let mut runs = self.graph.batch_tiles(batch);
            runs.any(|run| {
                self.is_in_cells(self.graph.cell_of(&tiles[run.start]))
                    && tiles[run].iter().any(|tile| self.needs(tile))
            })
        })
    }

    /// Generates the messages of the active vertices of a stretch, and keeps them if `keeps`; or
    /// reads the kept ones again. The stretch `after` probably comes next.
    fn bring_stretch(
        &self,
        (stretch, after): (&Range<usize>, Option<&Range<usize>>),
        messages: &mut [Message<P>],
        keeps: bool,
        cancel: &Cancel,
    ) -> Result<()> {
        let again = self.kept_messages.as_ref().filter(|_| self.position.group > 0);
        let degrees = if again.is_none() { self.degrees_of(stretch)? } else { Vec::new() };
        let size_max = if again.is_none() { self.cut.size_max() } else { 0 };
        let mut room = BlockStates::new(size_max);
        for block in self.cut.blocks(stretch) {
            cancel.check()?;
            let vertices = self.cut.vertices(block);
            let first = vertices.start - stretch.start;
            let messages = &mut messages[first..first + vertices.len()];
            if self.activity.counts[block] == 0 {
                messages.fill(P::Reduction::IDENTITY);
                continue;
            }
            if let Some(kept) = again {
                self.ask_ahead(block, stretch, after, |next| self.ask_for_messages(kept, next));
                kept.read(block, &mut [messages.as_mut_bytes()])?;
                continue;
            }
            self.ask_ahead(block, stretch, after, |next| self.states.read_ahead(next));
            let (states, active) = room.of(vertices.len());
            self.states.read_with(block, states, active)?;
            messages.fill(P::Reduction::IDENTITY);
            for (local, (message, state)) in messages.iter_mut().zip(&*states).enumerate() {
                if bit(active, local) {
                    let vertex = VertexId((vertices.start + local) as u64);
                    let degree = degrees.get(first + local).copied().unwrap_or(0);
                    let signal = self.execution.program.signal(vertex, state, degree);
                    *message = signal.unwrap_or(P::Reduction::IDENTITY);
                }
            }
            if let Some(kept) = self.kept_messages.as_ref().filter(|_| keeps) {
                kept.write(block, &[messages.as_bytes()])?;
            }
        }
        Ok(())
    }

    /// Requests the next blocks with active vertices, in a stretch and in the one `after`.
    fn ask_ahead(
        &self,
        block: usize,
        stretch: &Range<usize>,
        after: Option<&Range<usize>>,
        ask: impl Fn(usize),
    ) {
        let next = self.cut.blocks_behind(block, stretch, after);
        next.filter(|&next| self.activity.counts[next] > 0).take(2).for_each(ask);
    }
}
