//! Plans which arrays of a run on disk stay in memory.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;

use tegula_machine::disk::Blocks;
use tegula_store::SHORT_COUNT_MAX;
use tegula_store::graph::{Graph, IdType, file_names};
use tegula_store::tiles::WINDOW_SIZE;

use super::arrays_plan::ArraysPlan;
use super::batch_sizes::BatchSizes;
use super::look_up::look_up_file_size;
use super::overhead::RESULT_OVERHEAD;
use super::ranks::ranks_size;
use super::sent_messages::{block_messages, blocks_of, sending_size};
use crate::external::activity::ActiveBlocks;
use crate::external::wanted::{CellLists, MessageTraffic};
use crate::options::Messages;
use crate::parts::Parts;
use crate::program::{Accumulator, Message, Program};
use crate::states::cut::{Cut, STRETCH_LOG2, indices};
use crate::states::state_blocks;
use crate::superstep::accumulators::Accumulators;
use crate::superstep::exchange::Exchange;
use crate::tile_source::TileSource;

/// How often an iteration moves a block of states: it is read for messages, and read and written by
/// apply.
const STATE_TRANSFERS: u64 = 3;
/// Blocks of a store for each worker: one at work, two read ahead.
const READ_AHEAD: usize = 3;
/// Blocks on their way to disk, for each worker.
const WRITE_BEHIND: usize = 3;
/// Bytes that a disk reads besides tiles while processors process an edge: 4 to 9 ns, at a gigabyte
/// a second.
const SPARED_PER_EDGE: u64 = 4;

/// A use of memory beyond accumulators.
#[derive(Debug, Clone, Copy)]
enum Use {
    Ahead,
    Messages,
    States,
}

/// Bytes of the files of a graph that is built first, for a run alone.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct BuiltFiles {
    /// Bytes that stay as long as the arrays.
    pub kept: u64,
    /// The most bytes before there are arrays.
    pub while_building: u64,
}

/// The memory and disk that a run with its arrays on disk needs, as a function of its budget.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArraysOnDisk {
    cut: Cut,
    /// The blocks with states of this rank; on one machine, all.
    own_blocks: Range<usize>,
    /// The first column with targets of this rank.
    first_column: u32,
    /// Bytes of the accumulators of each column from there on, up to the last one with such
    /// targets.
    columns: Vec<u64>,
    /// Blocks of a segment. No more are read ahead during a scan.
    segment_blocks: usize,
    /// Bytes that the disk could read while processors process the tiles of an iteration.
    scan_work: u64,
    /// Bytes of the files that bring a result into the order of the original ids, without the files
    /// of its states.
    result_files: u64,
    /// Files of a graph that is built first.
    built: BuiltFiles,
    /// Bytes for the messages of the next segment while they travel between ranks; 0 if there is no
    /// such segment.
    next_segment: u64,
    /// Bytes needed for any grouping of columns, without those that only the result needs later.
    fixed: u64,
    threads: usize,
    state_block: usize,
    message_block: usize,
    /// Messages in a block when they are sent.
    block_messages: usize,
    /// The lists of the cells, for messages sent to groups of columns.
    listed: CellLists,
    /// Bytes of memory for sending.
    dispatch: u64,
}

impl ArraysOnDisk {
    /// Returns what a program needs on a graph.
    pub(crate) fn of<P: Program>(
        graph: &Graph,
        parts: &Parts,
        threads: usize,
        messages: Messages,
    ) -> ArraysOnDisk {
        let listed = CellLists::of(graph, size_of::<Message<P>>(), messages);
        ArraysOnDisk::with::<P>(graph, BatchSizes::of::<P>(graph, parts), listed, threads)
    }

    /// Returns what a program needs with the given batches and lists, and the vertices and the grid
    /// of a graph.
    pub(super) fn with<P: Program>(
        graph: &Graph,
        batches: BatchSizes,
        listed: CellLists,
        threads: usize,
    ) -> ArraysOnDisk {
        let cut = Cut::of(graph);
        let (grid, vertex_count) = (graph.grid(), graph.vertex_count());
        let BatchSizes { first_column, columns, widest, waiting_targets, count } = batches;
        let size = cut.size_max();
        let state_block = state_blocks(&cut, size_of::<P::State>()).size;
        let message_size = size_of::<Message<P>>();
        let message_block = size * message_size;
        let degrees = if P::NEEDS_DEGREE { 5 << STRETCH_LOG2 } else { 0 };
        let waiting = Accumulators::<P>::parked_size(waiting_targets);
        let worker = Accumulators::<P>::size(widest)
            // For the batches in one block.
            + widest.max(size as u64) * size_of::<Accumulator<P>>() as u64
            + waiting
            + state_block as u64
            + degrees.min(5 * vertex_count);
        let edges: u64 = graph.tiles().iter().map(|tile| u64::from(tile.summary.edge_count)).sum();
        let segment = u64::from(grid.source_count(0, vertex_count));
        let messages = Exchange::<Message<P>>::segment_size(segment, graph.is_for_ranks());
        let has_next = graph.is_for_ranks() && grid.segment_count(vertex_count) > 1;
        let dispatch = match listed.list_bytes_max() {
            0 => 0,
            _ => sending_size(threads.min(columns.len()), grid, message_size),
        };
        let tables = ActiveBlocks::size(&cut)
            + 8 * cut.count() as u64
            + 4 * vertex_count.div_ceil(WINDOW_SIZE as u64)
            + count * size_of::<Option<P::Aggregate>>() as u64;
        let mut arrays = ArraysOnDisk {
            cut,
            own_blocks: cut.blocks(&indices(graph.own_vertices())),
            first_column,
            columns,
            segment_blocks: cut.blocks(&indices(grid.sources(0, vertex_count))).len(),
            result_files: result_file_size::<P>(graph),
            built: BuiltFiles::default(),
            next_segment: if has_next { messages } else { 0 },
            scan_work: SPARED_PER_EDGE * edges,
            fixed: messages + tables + threads as u64 * worker,
            threads,
            state_block,
            message_block,
            block_messages: block_messages(grid),
            listed,
            dispatch,
        };
        arrays.fixed += arrays.read_size(0) + arrays.write_size();
        arrays.fixed += ranks_size(graph, size_of::<P::State>());
        // The overhead has bytes for writing a result, which arrays may use until then.
        arrays.fixed = arrays.fixed.saturating_sub(RESULT_OVERHEAD);
        arrays
    }

    /// Adds `bytes` that stay in memory.
    #[must_use]
    pub fn with_bytes(self, bytes: u64) -> ArraysOnDisk {
        ArraysOnDisk { fixed: self.fixed + bytes, ..self }
    }

    /// Adds the files of a graph that is built first.
    #[must_use]
    pub(super) fn with_files(self, built: BuiltFiles) -> ArraysOnDisk {
        ArraysOnDisk { built, ..self }
    }

    /// Returns whether the arrays must not lie in memory, because ids there are
    /// [short](tegula_store::ShortId).
    pub(crate) fn must_leave_memory(&self) -> bool {
        self.cut.vertex_count() as u64 > SHORT_COUNT_MAX
    }

    /// Returns how the arrays are cut into blocks.
    pub(crate) fn cut(&self) -> Cut {
        self.cut
    }

    /// Returns the blocks with states of this rank; on one machine, all.
    pub(crate) fn own_blocks(&self) -> Range<usize> {
        self.own_blocks.clone()
    }

    /// Returns the blocks of states.
    pub(crate) fn state_blocks(&self) -> Blocks {
        Blocks { what: "states", count: self.cut.count(), size: self.state_block }
    }

    /// Returns the blocks of messages.
    pub(crate) fn message_blocks(&self) -> Blocks {
        Blocks { what: "messages", count: self.cut.count(), size: self.message_block }
    }

    /// Returns the number of messages in a block when they are sent.
    pub(crate) fn block_messages(&self) -> usize {
        self.block_messages
    }

    /// Returns the lists of the cells.
    pub(crate) fn listed(&self) -> &CellLists {
        &self.listed
    }

    /// Returns the blocks in which a plan sends messages.
    pub(crate) fn sent_blocks(&self, plan: &ArraysPlan) -> Blocks {
        let wanted = self.listed.wanted_by_further_groups(plan).flat_map(BTreeMap::into_values);
        let count = wanted.map(|wanted| blocks_of(wanted, self.block_messages)).sum();
        Blocks { count, ..self.sent_block() }
    }

    fn sent_block(&self) -> Blocks {
        let size = self.block_messages * self.listed.message_size();
        Blocks { what: "sent messages", count: 1, size }
    }

    /// Returns the bytes of a buffer for a block of any kind.
    fn frame_size(&self) -> u64 {
        let sent = if self.dispatch > 0 { self.sent_block().frame_size() } else { 0 };
        self.state_blocks().frame_size().max(self.message_blocks().frame_size()).max(sent)
    }

    /// Returns the bytes of the buffers for reads, including `ahead` for blocks read ahead during a
    /// scan.
    pub(crate) fn read_size(&self, ahead: u64) -> u64 {
        (READ_AHEAD * self.threads) as u64 * self.frame_size() + ahead
    }

    /// Returns how many blocks may be read ahead during a scan: no other blocks are read meanwhile.
    pub(crate) fn blocks_ahead(&self, plan: &ArraysPlan, blocks: Blocks) -> usize {
        (self.read_size(plan.ahead) / blocks.frame_size()) as usize
    }

    /// Returns the bytes of the buffers for writes.
    pub(crate) fn write_size(&self) -> u64 {
        (WRITE_BEHIND * self.threads) as u64 * self.frame_size()
    }

    /// Returns the plan that needs the least memory.
    pub fn least(&self) -> ArraysPlan {
        self.groupings().min_by_key(|plan| plan.bytes).unwrap_or_else(|| self.grouped(1, false))
    }

    /// Yields the plans that hold no blocks, by ascending number of groups.
    fn groupings(&self) -> impl Iterator<Item = ArraysPlan> + '_ {
        let columns = self.columns.len() as u32;
        let together = (1..=columns.max(1)).map(move |groups| columns.div_ceil(groups).max(1));
        let mut before = 0;
        // Several numbers of groups may lead to one width.
        let distinct =
            together.filter(move |&columns| std::mem::replace(&mut before, columns) != columns);
        distinct.flat_map(move |together| {
            let may_send = self.dispatch > 0 && together < columns;
            let ways = std::iter::once(false).chain(may_send.then_some(true));
            ways.map(move |sends| self.grouped(together, sends))
        })
    }

    /// Returns the plan for a run with `memory` bytes beyond the least that tiles need. Tiles get
    /// as much as they need to stream without waits, if there is enough. `None` if `memory` is too
    /// little.
    pub fn plan(&self, memory: u64, may_hold: bool) -> Option<ArraysPlan> {
        let least = self.least();
        let streaming = TileSource::stream_size_wanted(self.threads, memory);
        let left = memory.checked_sub(least.bytes)?.saturating_sub(streaming);
        self.fit(least.bytes + left, may_hold)
    }

    /// Returns the plan for `memory` bytes with which an iteration waits least for arrays; `None`
    /// if `memory` is too little. Without `may_hold`, no blocks stay in memory.
    pub(crate) fn fit(&self, memory: u64, may_hold: bool) -> Option<ArraysPlan> {
        let plans = self.groupings().filter(|plan| plan.bytes <= memory);
        let plans = plans.map(|plan| self.filled(plan, memory, may_hold));
        let must_send = self.listed.must_send();
        plans.min_by_key(|plan| (must_send && !plan.sends, self.waited_for(plan), plan.groups))
    }

    /// Fills the free memory of a plan, first with the use that spares the most bytes per byte of
    /// memory.
    fn filled(&self, mut plan: ArraysPlan, memory: u64, may_hold: bool) -> ArraysPlan {
        let mut left = memory - plan.bytes;
        let mut take = |size: u64, most: usize| {
            let count = (left / size.max(1)).min(most as u64);
            left -= count * size;
            count as usize
        };
        // Without this room, scans wait for the network, for an unknown time. So it comes first.
        plan.exchanges_ahead = self.next_segment > 0 && take(self.next_segment, 1) == 1;
        let (count, groups) = (self.cut.count(), u64::from(plan.groups));
        let (state, message) = (self.state_block as u64, self.message_block as u64);
        let scans = groups * self.segments();
        let frame = self.message_blocks().frame_size();
        let ahead = scans * message / frame.max(1);
        let ahead_max = (self.scan_work / (scans * message).max(1)) as usize;
        let reread = self.message_traffic(&plan).reread;
        let reread = reread.div_ceil((count * self.message_block).max(1) as u64);
        let messages = if may_hold { reread } else { 0 };
        let states = if may_hold { STATE_TRANSFERS } else { 0 };
        let mut uses = [(ahead, Use::Ahead), (messages, Use::Messages), (states, Use::States)];
        uses.sort_by_key(|&(spared, _)| Reverse(spared));
        for (_, what) in uses.into_iter().filter(|&(spared, _)| spared > 0) {
            match what {
                Use::Ahead => {
                    let most = ahead_max.min(self.segment_blocks);
                    // The usual buffers are free during a scan.
                    let most = most.saturating_sub(self.blocks_ahead(&plan, self.message_blocks()));
                    plan.ahead = frame * take(frame, most) as u64;
                }
                Use::Messages => plan.messages_held = take(message, count),
                Use::States => plan.states_held = take(state, self.own_blocks.len()),
            }
        }
        ArraysPlan { bytes: memory - left, ..plan }
    }

    fn segments(&self) -> u64 {
        self.listed.segments() as u64
    }

    /// Returns whether messages are kept for further groups.
    pub(crate) fn keeps_messages(&self, plan: &ArraysPlan) -> bool {
        plan.groups > 1 && self.segments() > 1
    }

    fn message_traffic(&self, plan: &ArraysPlan) -> MessageTraffic {
        let held = plan.messages_held as f64 / self.cut.count().max(1) as f64;
        self.listed.traffic(plan, held)
    }

    /// Returns the plan with `columns` columns at a time and no other use of memory.
    fn grouped(&self, columns: u32, sends: bool) -> ArraysPlan {
        let sums = self.columns.chunks(columns as usize).map(|group| group.iter().sum());
        // A rank without targets sends messages all the same.
        let groups = (self.columns.len() as u32).div_ceil(columns).max(1);
        let dispatch = if sends { self.dispatch } else { 0 };
        let bytes = self.fixed + dispatch + sums.max().unwrap_or(0);
        let first_column = self.first_column;
        let (exchanges_ahead, ahead, states_held, messages_held) = (false, 0, 0, 0);
        ArraysPlan {
            first_column,
            columns,
            groups,
            sends,
            exchanges_ahead,
            ahead,
            states_held,
            messages_held,
            bytes,
        }
    }

    /// Returns the cost of an iteration's waits in bytes: bytes of arrays not read during scans,
    /// and the work of sending.
    pub(crate) fn waited_for(&self, plan: &ArraysPlan) -> u64 {
        let scans = u64::from(plan.groups) * self.segments();
        let ahead = self.blocks_ahead(plan, self.message_blocks()).min(self.segment_blocks);
        let ahead = (scans * (ahead * self.message_block) as u64).min(self.scan_work);
        let messages = self.message_traffic(plan);
        self.traffic_with(plan, &messages).saturating_sub(ahead) + messages.work
    }

    /// Returns the bytes of arrays that an iteration reads and writes if all vertices are active.
    pub fn traffic(&self, plan: &ArraysPlan) -> u64 {
        self.traffic_with(plan, &self.message_traffic(plan))
    }

    fn traffic_with(&self, plan: &ArraysPlan, messages: &MessageTraffic) -> u64 {
        let states = (self.own_blocks.len() - plan.states_held) * self.state_block;
        STATE_TRANSFERS * states as u64 + messages.reread + messages.sent
    }

    /// Returns the most bytes that files take at a time: the files of the arrays or of the later
    /// result, and the files of a graph that is built first.
    pub fn file_size(&self, plan: &ArraysPlan) -> u64 {
        let unless_held =
            |blocks: Blocks, held| if held < blocks.count { blocks.file_size() } else { 0 };
        let states = unless_held(self.state_blocks(), plan.states_held);
        let messages = unless_held(self.message_blocks(), plan.messages_held);
        let kept = if self.keeps_messages(plan) { messages } else { 0 };
        let sent = if plan.sends { self.sent_blocks(plan).file_size() } else { 0 };
        let running = states + (kept + sent).max(self.result_files);
        self.built.while_building.max(self.built.kept + running)
    }
}

/// Returns the bytes of the files that bring the result of a program into the order of the original
/// ids. The file of its states does not count. Each file is looked up from the one before.
fn result_file_size<P: Program>(graph: &Graph) -> u64 {
    let (state, number) = (size_of::<P::State>(), size_of::<u32>());
    let is_sorted = graph.manifest().file(file_names::ORDER).is_none();
    let mut size = 0;
    if !is_sorted {
        size = look_up_file_size(graph, state, number);
    }
    if P::NAMES_VERTEX && !is_sorted {
        // Groups are named by the first place of each.
        let place = if graph.has_short_ids() { size_of::<u32>() } else { size_of::<u64>() };
        size = size.max(look_up_file_size(graph, place, number + place));
    }
    if P::NAMES_VERTEX && graph.manifest().ids == IdType::Integer {
        size = size.max(look_up_file_size(graph, size_of::<u64>(), number));
    }
    size
}
