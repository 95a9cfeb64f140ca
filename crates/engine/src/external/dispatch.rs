//! Dispatched messages: messages of a segment are sent to the groups of columns that need them.
//!
//! The messages of a segment are in memory for the first group. Then each further group gets the
//! messages of the sources that its cells list, in the order of the list and without the sources.
//! If most of these messages are the identity, only the others are written, with their sources. If
//! all are, the group need not scan these cells at all. This is the dispatching, dense, sparse or
//! not at all, of DFOGraph (Yu et al., PPoPP 2021, section 4). The bytes that it moves are weighed
//! against reading all messages again.

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use tegula_machine::disk::BlockStore;
use tegula_machine::threads::lock;
use tegula_store::Result;
use tegula_store::graph::{CellEntry, Graph, ListedSources};
use zerocopy::IntoBytes;

use super::wanted::{NeededMessages, cells_of};
use crate::job::context::JobContext;
use crate::memory::{ArraysOnDisk, ArraysPlan, SOURCE_SIZE, blocks_of};
use crate::program::Reduction;

/// How the messages of a segment reach a group of columns in this iteration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sent {
    /// The group reads all again, or they are still in memory.
    All,
    /// None; all messages that it needs are identities.
    None,
    /// This number of messages, one for each listed source.
    Listed(usize),
    /// This number of messages, with their sources.
    Pairs(usize),
}

/// The layout of sent messages in their blocks.
#[derive(Debug, Clone, Copy)]
struct MessageLayout {
    count: usize,
    /// Messages in a full block.
    block: usize,
    /// Whether each comes with its source.
    has_sources: bool,
}

impl MessageLayout {
    /// Makes the layout of messages without their sources.
    fn listed(count: usize, block_messages: usize) -> MessageLayout {
        MessageLayout { count, block: block_messages, has_sources: false }
    }

    /// Makes the layout of messages of `size` bytes with their sources.
    fn pairs(count: usize, block_messages: usize, size: usize) -> MessageLayout {
        let block = block_messages * size / (size + SOURCE_SIZE);
        MessageLayout { count, block, has_sources: true }
    }

    /// Returns whether these pairs take fewer bytes than listed messages of `size` bytes, and fit
    /// in `blocks` blocks. The end of each block may have no room for another pair.
    fn is_better_than(&self, listed: &MessageLayout, size: usize, blocks: usize) -> bool {
        self.count * (size + SOURCE_SIZE) < listed.count * size && self.blocks() <= blocks
    }

    /// Returns the number of blocks.
    fn blocks(&self) -> usize {
        self.count.div_ceil(self.block)
    }

    /// Returns the number of messages in a block.
    fn count_in(&self, block: usize) -> usize {
        self.block.min(self.count - block * self.block)
    }
}

/// Messages on their way to further groups of columns.
pub struct Dispatch<R: Reduction> {
    segments: usize,
    /// Messages in a block, without their sources.
    block_messages: usize,
    /// By group and segment. Nothing is sent to the first group, but its ways note whether it needs
    /// any message.
    ways: Vec<Way>,
    store: BlockStore,
    list_bytes_read: AtomicU64,
    /// The source of the first message in each block, counted from the first source of its segment.
    first_sources: Vec<AtomicU32>,
    /// Bits of the listed sources while messages are received.
    listed: Vec<AtomicU64>,
    rooms: Mutex<Vec<SendBuffers<R>>>,
}

/// The way of messages from a segment to a group.
struct Way {
    wanted: Option<NeededMessages>,
    blocks: Range<usize>,
    sent: Mutex<Sent>,
}

/// The buffers of a worker that sends.
struct SendBuffers<R: Reduction> {
    listed: Vec<AtomicU64>,
    messages: Vec<R::Message>,
    sources: Vec<u32>,
}

impl<R: Reduction> Dispatch<R> {
    /// Begins without any sent message. `store` has the [blocks](ArraysOnDisk::sent_blocks) of the plan.
    pub fn new(
        graph: &Graph,
        arrays: &ArraysOnDisk,
        plan: &ArraysPlan,
        store: BlockStore,
    ) -> Dispatch<R> {
        let mut end = 0;
        let of_group = |group: u32| {
            let wanted = arrays.listed().wanted(plan.columns_of(group));
            wanted.into_iter().map(move |wanted| (group, wanted))
        };
        let ways = (0..plan.groups).flat_map(of_group).map(|(group, wanted)| {
            let start = end;
            end += if group > 0 { blocks_of(wanted, arrays.block_messages()) } else { 0 };
            Way { wanted, blocks: start..end, sent: Mutex::new(Sent::None) }
        });
        let ways: Vec<Way> = ways.collect();
        let segment = graph.grid().source_count(0, graph.vertex_count()) as usize;
        Dispatch {
            segments: arrays.listed().segments(),
            block_messages: arrays.block_messages(),
            ways,
            store,
            list_bytes_read: AtomicU64::new(0),
            first_sources: (0..end).map(|_| AtomicU32::new(0)).collect(),
            listed: (0..segment.div_ceil(64)).map(|_| AtomicU64::new(0)).collect(),
            rooms: Mutex::default(),
        }
    }

    /// Returns the store of the messages.
    pub fn store(&self) -> &BlockStore {
        &self.store
    }

    /// Returns the bytes of messages and lists read.
    pub fn bytes_read(&self) -> u64 {
        self.store.bytes_read() + self.list_bytes_read.load(Ordering::Relaxed)
    }

    fn way(&self, group: u32, segment: u32) -> &Way {
        &self.ways[group as usize * self.segments + segment as usize]
    }

    /// Returns how messages reach a group.
    pub fn sent(&self, group: u32, segment: u32) -> Sent {
        *lock(&self.way(group, segment).sent)
    }

    /// Returns the layout of sent messages; `None` if none was sent.
    fn layout(&self, sent: Sent) -> Option<MessageLayout> {
        let size = size_of::<R::Message>();
        match sent {
            Sent::All | Sent::None => None,
            Sent::Listed(count) => Some(MessageLayout::listed(count, self.block_messages)),
            Sent::Pairs(count) => Some(MessageLayout::pairs(count, self.block_messages, size)),
        }
    }

    /// Chooses how the messages of a segment reach further groups. At most `active` of its `size`
    /// sources have one, and `reread` bytes move if a group reads all of them again. Returns
    /// whether any group does.
    pub fn choose(
        &self,
        arrays: &ArraysOnDisk,
        plan: &ArraysPlan,
        segment: u32,
        (active, size): (u64, u64),
        reread: u64,
    ) -> bool {
        let mut is_any = false;
        for group in 0..plan.groups {
            let way = self.way(group, segment);
            let is_sent = way.wanted.is_some_and(|wanted| {
                let spared = wanted.spared(active, size);
                match group {
                    // Without its tiles an inexact sum would be rounded at other places, so its
                    // scan is not left out.
                    0 => R::IS_EXACT && wanted.list_bytes < spared,
                    _ => {
                        let sent = wanted.traffic(active, size, size_of::<R::Message>() as u64);
                        arrays.listed().sends(sent + wanted.work(), reread + spared)
                    }
                }
            });
            // For the time being: `send` decides once it has seen the messages.
            *lock(&way.sent) = if is_sent { Sent::None } else { Sent::All };
            is_any |= group > 0 && !is_sent;
        }
        is_any
    }

    /// Sends the messages of a segment to the groups for which sending was chosen, and finds out
    /// whether the first group needs any. `is_every_active` promises that every source is active.
    ///
    /// # Errors
    /// Failed reads of the lists and failed writes; cancellation.
    pub fn send(
        &self,
        graph: &Graph,
        plan: &ArraysPlan,
        segment: u32,
        messages: &[R::Message],
        is_every_active: bool,
        context: &JobContext<'_>,
    ) -> Result<()> {
        context.for_each(plan.groups as usize, &|group| {
            let group = group as u32;
            let way = self.way(group, segment);
            if *lock(&way.sent) == Sent::All {
                return Ok(());
            }
            context.cancel().check()?;
            let room = lock(&self.rooms).pop();
            let mut room = room.unwrap_or_else(|| SendBuffers {
                listed: self.listed.iter().map(|_| AtomicU64::new(0)).collect(),
                messages: Vec::with_capacity(self.block_messages),
                sources: Vec::with_capacity(self.block_messages),
            });
            let mut lists = cells_of(graph, plan.columns_of(group), segment)
                .filter_map(|cell| graph.read_sources(cell));
            let mut next = lists.next();
            while let Some(list) = next {
                next = lists.next();
                self.add_listed(list, &room.listed)?;
            }
            *lock(&way.sent) =
                self.send_listed(way.blocks.clone(), &mut room, messages, is_every_active)?;
            lock(&self.rooms).push(room);
            Ok(())
        })
    }

    fn add_listed(&self, list: ListedSources<'_>, bits: &[AtomicU64]) -> Result<()> {
        self.list_bytes_read.fetch_add(list.size(), Ordering::Relaxed);
        list.add_to(bits)
    }

    /// Sends the messages of listed sources in blocks of a range, and clears the list.
    fn send_listed(
        &self,
        blocks: Range<usize>,
        room: &mut SendBuffers<R>,
        messages: &[R::Message],
        is_every_active: bool,
    ) -> Result<Sent> {
        let SendBuffers { listed, messages: values, sources } = room;
        let says = |source: usize| messages[source] != R::IDENTITY;
        let count = listed.iter_mut().map(|word| word.get_mut().count_ones() as usize).sum();
        let mut saying = 0;
        // Identities are searched for only if some source may have one.
        match is_every_active {
            true => saying = count,
            false => for_each_listed(listed, 0..messages.len(), |source| {
                saying += usize::from(says(source));
            }),
        }
        let size = size_of::<R::Message>();
        let all = MessageLayout::listed(count, self.block_messages);
        let pairs = MessageLayout::pairs(saying, self.block_messages, size);
        let sent = match saying {
            // If the reduction is inexact, the number of processed tiles decides when short sums
            // are rounded, even with no message.
            0 if R::IS_EXACT || count == 0 => Sent::None,
            // The first group has the messages already.
            _ if blocks.is_empty() => Sent::All,
            _ if pairs.is_better_than(&all, size, blocks.len()) => Sent::Pairs(saying),
            _ => Sent::Listed(count),
        };
        let Some(layout) = self.layout(sent) else {
            listed.iter_mut().for_each(|word| *word.get_mut() = 0);
            return Ok(sent);
        };
        let mut block = blocks.start;
        // The visit below cannot end early, so the first error is kept until it has ended.
        let mut failed = None;
        let mut write = |sources: &mut Vec<u32>, values: &mut Vec<R::Message>, first: usize| {
            self.first_sources[block].store(first as u32, Ordering::Relaxed);
            let written = self.store.write(block, &[sources.as_bytes(), values.as_bytes()]);
            failed = failed.take().or(written.err());
            block += 1;
            sources.clear();
            values.clear();
        };
        let mut first = 0;
        for_each_listed(listed, 0..messages.len(), |source| {
            if layout.has_sources {
                if !says(source) {
                    return;
                }
                sources.push(source as u32);
            }
            if values.is_empty() {
                first = source;
            }
            values.push(messages[source]);
            if values.len() == layout.block {
                write(sources, values, first);
            }
        });
        if !values.is_empty() {
            write(sources, values, first);
        }
        listed.iter_mut().for_each(|word| *word.get_mut() = 0);
        failed.map_or(Ok(sent), |error| Err(error.into()))
    }

    /// Puts the messages sent from a segment to a group into their places. Places of sources that
    /// its cells do not list stay as they are: no tile of these cells reads them.
    pub fn receive(
        &mut self,
        graph: &Graph,
        plan: &ArraysPlan,
        (group, segment): (u32, u32),
        messages: &mut [R::Message],
        context: &JobContext<'_>,
    ) -> Result<()> {
        let Some(layout) = self.layout(self.sent(group, segment)) else { return Ok(()) };
        if !layout.has_sources {
            self.listed.iter_mut().for_each(|word| *word.get_mut() = 0);
            let cells: Vec<&CellEntry> = cells_of(graph, plan.columns_of(group), segment).collect();
            context.for_each(cells.len(), &|index| {
                let list = graph.read_sources(cells[index]);
                list.map_or(Ok(()), |list| self.add_listed(list, &self.listed))
            })?;
        }
        let first_block = self.way(group, segment).blocks.start;
        let first_source =
            |index: usize| self.first_sources[first_block + index].load(Ordering::Relaxed) as usize;
        let blocks = layout.blocks();
        if blocks == 0 {
            // An inexact reduction has its scan even if there are no pairs.
            messages.fill(R::IDENTITY);
        }
        let (mut rest, mut start) = (messages, 0);
        let mut places = Vec::with_capacity(blocks);
        // Messages come in the order of their sources. So each block has places that no other
        // block writes.
        for index in 0..blocks {
            let end = if index + 1 < blocks { first_source(index + 1) } else { start + rest.len() };
            let (own, behind) = rest.split_at_mut(end - start);
            places.push(Mutex::new(BlockPlaces {
                start,
                count: layout.count_in(index),
                messages: own,
            }));
            (rest, start) = (behind, end);
        }
        context.for_each(blocks, &|index| {
            context.cancel().check()?;
            for ahead in index + 1..(index + 3).min(blocks) {
                self.read_block_ahead(first_block, ahead, &layout);
            }
            let place = &mut *lock(&places[index]);
            match layout.has_sources {
                true => self.place_pairs(first_block + index, place),
                false => self.place_listed(first_block + index, place),
            }
        })
    }

    fn place_listed(&self, block: usize, place: &mut BlockPlaces<'_, R>) -> Result<()> {
        let mut values = vec![R::IDENTITY; place.count];
        self.store.read(block, &mut [values.as_mut_bytes()])?;
        let mut values = values.into_iter();
        let (start, messages) = (place.start, &mut *place.messages);
        for_each_listed(&self.listed, start..start + messages.len(), |source| {
            if let Some(value) = values.next() {
                messages[source - start] = value;
            }
        });
        Ok(())
    }

    fn place_pairs(&self, block: usize, place: &mut BlockPlaces<'_, R>) -> Result<()> {
        let (mut sources, mut values) = (vec![0u32; place.count], vec![R::IDENTITY; place.count]);
        self.store.read(block, &mut [sources.as_mut_bytes(), values.as_mut_bytes()])?;
        place.messages.fill(R::IDENTITY);
        for (source, value) in sources.into_iter().zip(values) {
            place.messages[source as usize - place.start] = value;
        }
        Ok(())
    }

    /// Requests the first `most` blocks of messages sent from a segment to a group.
    pub fn read_ahead(&self, group: u32, segment: u32, most: usize) {
        let Some(layout) = self.layout(self.sent(group, segment)) else { return };
        let first = self.way(group, segment).blocks.start;
        (0..layout.blocks().min(most))
            .for_each(|index| self.read_block_ahead(first, index, &layout));
    }

    /// Requests the block at a position among those from `first` on.
    fn read_block_ahead(&self, first: usize, index: usize, layout: &MessageLayout) {
        let source = if layout.has_sources { SOURCE_SIZE } else { 0 };
        let len = layout.count_in(index) * (size_of::<R::Message>() + source);
        self.store.read_ahead(first + index, len);
    }
}

/// The places for the messages of a block.
struct BlockPlaces<'m, R: Reduction> {
    /// The first source, counted from the first one of the segment.
    start: usize,
    /// The number of messages in the block.
    count: usize,
    messages: &'m mut [R::Message],
}

/// Visits the set bits in a range in ascending order.
fn for_each_listed(words: &[AtomicU64], range: Range<usize>, mut visit: impl FnMut(usize)) {
    let numbers = range.start / 64..range.end.div_ceil(64);
    for (word, first) in words[numbers.clone()].iter().zip((64 * numbers.start..).step_by(64)) {
        let mut rest = word.load(Ordering::Relaxed);
        if first < range.start {
            rest &= u64::MAX << (range.start - first);
        }
        if range.end < first + 64 {
            rest &= !(u64::MAX << (range.end - first));
        }
        while rest != 0 {
            visit(first + rest.trailing_zeros() as usize);
            rest &= rest - 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_sent_only_if_they_fit_in_the_blocks_of_listed_messages() {
        for (size, fewer_but_too_wide) in [(1, 25), (4, 0), (8, 21), (16, 6)] {
            let listed = MessageLayout::listed(2048, 64);
            let mut refused = 0;
            for count in 0..=listed.count {
                let pairs = MessageLayout::pairs(count, 64, size);
                let has_room = pairs.blocks() <= listed.blocks();
                let is_better = pairs.is_better_than(&listed, size, listed.blocks());
                assert!(!is_better || has_room, "{count} of {size} bytes");
                refused += usize::from(!has_room && count * (size + 4) < listed.count * size);
            }
            assert_eq!(refused, fewer_but_too_wide, "{size} bytes");
        }
    }
}
