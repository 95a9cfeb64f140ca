//! External memory: a program whose arrays over the vertices lie on disk.
//!
//! ```text
//!  for each group of columns
//!    for each segment
//!      messages     from the states of the segment, the first time; further groups read all of
//!                   them back, or those that were sent to them
//!      exchange     with other ranks, the first time: during the scan of the segment before
//!      scan         the tiles of these cells: into accumulators that wait for the next segment
//!    apply          block by block: read, change, write
//! ```
//!
//! Memory holds the messages of one segment, the accumulators of a group of columns, and the tables
//! that tell which tiles and blocks are needed. On ranks, it also holds the messages of the next
//! segment where there is room. A [`ArraysPlan`] sets how many columns go together, and which
//! blocks stay in memory. The order of reductions and sums is that of a run in memory, so results
//! are the same to the bit. (The two-level column partition and the passes over it are those of
//! DFOGraph, Yu et al., PPoPP 2021, section 3.)

pub mod activity;
mod apply;
pub mod background;
mod begin;
mod dispatch;
pub mod group;
pub mod lists;
pub mod look_up;
mod messages;
mod part;
mod sorted;
pub mod wanted;

use std::ops::Range;
use std::sync::Arc;

use tegula_machine::disk::{BlockStore, WriteBehind};
use tegula_store::Result;
use tegula_store::graph::{DegreeReader, Graph, TileEntry};
use tegula_store::tiles::Cell;
use zerocopy::IntoBytes;

use crate::checkpoint::Keeper;
use crate::instructions::Instructions;
use crate::job::context::JobContext;
use crate::job::{ScanDirection, TileDemand};
use crate::memory::{ArraysOnDisk, ArraysPlan};
use crate::parts::Parts;
use crate::program::{ApplyTo, EdgeWeight, Message, Program};
use crate::ranks::Ranks;
use crate::states::cut::{Cut, indices, shared};
use crate::states::{BlockStates, States, StatesOnDisk};
use crate::statistics::RunStatistics;
use crate::superstep::exchange::Exchange;
use crate::superstep::execution::Execution;
use activity::{ActiveBlocks, NextActivity};
use background::BackgroundExchange;
use dispatch::Dispatch;
use group::ColumnGroup;

pub use part::ExternalPart;
pub use sorted::{OrderedStates, StatesByIdPosition, StatesWriter};

/// A frontier is small if fewer than one in `SMALL_FRONTIER` vertices are active.
const SMALL_FRONTIER: u64 = 64;

/// A program between scans, whose arrays lie on disk.
pub struct ExternalStep<'g, P: Program> {
    graph: &'g Graph,
    parts: Arc<Parts>,
    execution: Execution<P>,
    instructions: Instructions,
    cut: Cut,
    arrays: ArraysOnDisk,
    plan: ArraysPlan,
    writer: WriteBehind,
    states: StatesOnDisk<P::State>,
    /// The messages of all segments, if further groups of columns read them again.
    kept_messages: Option<BlockStore>,
    /// The messages that are sent to further groups of columns.
    dispatch: Option<Dispatch<P::Reduction>>,
    degrees: Option<DegreeReader>,
    activity: ActiveBlocks,
    next_activity: NextActivity,
    /// The vertices of this rank; on one machine, all.
    own: Range<usize>,
    /// It holds the messages of the segment at work.
    exchange: Exchange<'g, Message<P>>,
    /// Brings the messages of other ranks.
    background: Option<Arc<BackgroundExchange<'g, Message<P>>>>,
    /// Room for the messages of the next segment, if the plan has some and they do not travel.
    next_exchange: Option<Exchange<'g, Message<P>>>,
    group: ColumnGroup<P>,
    /// This iteration's sum over the targets of each batch.
    sums: Vec<Option<P::Aggregate>>,
    position: Position,
}

/// Where an iteration stops.
pub enum NextScan {
    /// It waits for tiles.
    Tiles(TileDemand),
    /// It comes to the next segment or group of columns.
    Further,
    /// It has ended.
    Done,
}

/// The position of an iteration.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Position {
    /// The group of columns.
    group: u32,
    segment: u32,
}

impl<P: Program> ExternalStep<'_, P> {
    /// Returns whether the active vertices are too few to reach most blocks.
    fn has_small_frontier(&self) -> bool {
        let few = self.graph.vertex_count() / SMALL_FRONTIER;
        P::APPLY_TO == ApplyTo::Reached && self.active_count() < few
    }

    /// Returns the number of active vertices of this rank.
    pub fn active_count(&self) -> u64 {
        self.activity.summary.count()
    }

    /// Returns the bytes of arrays read from disk.
    fn bytes_read(&self) -> u64 {
        let kept = self.kept_messages.as_ref().map_or(0, BlockStore::bytes_read);
        let sent = self.dispatch.as_ref().map_or(0, Dispatch::bytes_read);
        self.states.store().bytes_read() + kept + sent
    }

    /// Returns the bytes of arrays written to disk.
    fn bytes_written(&self) -> u64 {
        self.writer.bytes_written()
    }

    /// Begins an iteration and returns its number, from 0; `None` if the program is over.
    pub fn begin_iteration(&mut self) -> Option<u64> {
        self.position = Position::default();
        self.execution.begin_iteration(self.active_count())
    }

    /// Tells the program the statistics after an iteration.
    pub fn end_iteration(&mut self, statistics: &RunStatistics) {
        self.execution.program.end_iteration(statistics);
        if let Some(ranks) = self.exchange.ranks() {
            ranks.end_interval(statistics.bytes_read + self.bytes_read(), self.bytes_written());
        }
    }

    /// Keeps a checkpoint if one is due before an iteration that has begun and has done nothing
    /// yet.
    ///
    /// # Errors
    /// Failed reads and writes; cancellation; the failure of another rank.
    pub fn keep_if_due(
        &self,
        keeper: &Keeper<'_>,
        iteration: u64,
        context: &JobContext<'_>,
    ) -> Result<()> {
        if !keeper.is_due(iteration) {
            return Ok(());
        }
        self.clear_old_bits(context)?;
        self.exchange.ranks().map_or(Ok(()), Ranks::await_checkpoints)?;
        let header = keeper.header(iteration, &self.execution.aggregate)?;
        Ok(self.states.store().keep_version(&header)?)
    }

    /// Clears the activity bits of the blocks that the last iteration did not write. A run that
    /// resumes would take their vertices for active ones and follow their edges again.
    fn clear_old_bits(&self, context: &JobContext<'_>) -> Result<()> {
        let is_old = |block: &usize| {
            self.activity.counts[*block] == 0 && self.next_activity.has_bits(*block)
        };
        let stretches = Cut::stretches(&self.own);
        context.for_each(stretches.len(), &|index| {
            let mut old = self.cut.blocks(&stretches[index]).filter(is_old).peekable();
            if old.peek().is_none() {
                return Ok(());
            }
            let mut room = BlockStates::<P::State>::new(self.cut.size_max());
            while let Some(block) = old.next() {
                context.cancel().check()?;
                if let Some(&next) = old.peek() {
                    self.states.read_ahead(next);
                }
                let (states, active) = room.of(self.cut.vertices(block).len());
                self.states.read_with(block, states, active)?;
                active.fill(0);
                self.states.write(block, states, active)?;
                self.next_activity.note_cleared(block);
            }
            Ok(())
        })
    }

    /// Returns the number of iterations begun.
    pub fn iterations_begun(&self) -> u64 {
        self.execution.iterations_begun()
    }

    /// Advances to the next scan, or to the next segment or group.
    ///
    /// # Errors
    /// Failed reads and writes; cancellation; a panic of the program.
    pub fn next_scan(&mut self, context: &JobContext<'_>) -> Result<NextScan> {
        let Position { group, segment } = self.position;
        if group == self.plan.groups {
            self.finish()?;
            return Ok(NextScan::Done);
        }
        if segment == self.segment_count() {
            self.apply(context)?;
            // After the last group comes the first one of the next iteration.
            self.position = Position { group: (group + 1) % self.plan.groups, segment: 0 };
            let batches = self.batches();
            self.group.trim(self.graph, batches, context.threads());
            self.position.group = group + 1;
            return Ok(NextScan::Further);
        }
        if !self.bring_messages(context)? {
            // Blocks read ahead for this segment would take memory from others.
            self.forget_ahead();
            self.end_scan();
            return Ok(NextScan::Further);
        }
        Ok(NextScan::Tiles(TileDemand {
            has_weights: P::Weight::IS_WEIGHTED && self.graph.is_weighted(),
            has_every_batch: false,
            direction: ScanDirection::FirstToLast,
        }))
    }

    /// Ends the scan of a segment, after all its tiles.
    pub fn end_scan(&mut self) {
        self.position.segment += 1;
    }

    /// Ends an iteration: takes over sums and active vertices.
    fn finish(&mut self) -> Result<()> {
        let mut sums = Vec::new();
        sums.extend(self.sums.iter_mut().filter_map(Option::take));
        self.agree(sums.into_iter())
    }

    /// Takes over the active vertices, and the total of the sums over all ranks.
    fn agree(&mut self, sums: impl Iterator<Item = P::Aggregate>) -> Result<()> {
        self.activity = self.next_activity.take();
        self.execution.agree(&self.exchange, sums, &mut self.activity.summary)
    }

    /// Returns the index of the first part of a batch.
    fn first_part_of(&self, batch: usize) -> usize {
        self.parts.parts.partition_point(|part| part.batch < batch)
    }

    /// Returns whether the current scan needs a tile. The tile must be of its cells, and it may
    /// hold an active source and a target that is not settled.
    pub fn needs(&self, tile: &TileEntry) -> bool {
        let cell = self.graph.cell_of(tile);
        let origin = self.graph.grid().origin(cell);
        self.is_in_cells(cell) && self.execution.needs(tile, origin, &self.activity.summary)
    }

    fn is_in_cells(&self, cell: Cell) -> bool {
        cell.segment == self.position.segment && self.columns().contains(&cell.column)
    }

    /// Returns the columns at work. Of the first and the last, targets may belong to other ranks.
    fn columns(&self) -> Range<u32> {
        let columns = self.plan.columns_of(self.position.group);
        let count = self.graph.grid().column_count(self.graph.vertex_count());
        columns.start..columns.end.min(count)
    }

    /// Returns the targets at work.
    fn targets(&self) -> Range<usize> {
        let (grid, count) = (self.graph.grid(), self.graph.vertex_count());
        let columns = self.columns();
        if columns.is_empty() {
            return 0..0;
        }
        let start = grid.targets(columns.start, count).start;
        let end = grid.targets(columns.end - 1, count).end;
        shared(&indices(start..end), &self.own)
    }

    /// Returns the batches at work.
    fn batches(&self) -> Range<usize> {
        let (targets, batches) = (self.targets(), self.graph.batches());
        let position =
            |vertex| batches.partition_point(|batch| (batch.target_first as usize) < vertex);
        position(targets.start)..position(targets.end)
    }

    /// Returns the parts at work.
    pub fn parts_at_work(&self) -> Range<usize> {
        let batches = self.batches();
        self.first_part_of(batches.start)..self.first_part_of(batches.end)
    }

    fn segment_count(&self) -> u32 {
        self.graph.grid().segment_count(self.graph.vertex_count())
    }

    /// Returns the sources at work.
    fn sources(&self) -> Range<usize> {
        self.sources_of(self.position.segment)
    }

    /// Returns the sources of a segment.
    fn sources_of(&self, segment: u32) -> Range<usize> {
        indices(self.graph.grid().sources(segment, self.graph.vertex_count()))
    }

    /// Ends a run: adds the bytes of arrays to the statistics, and on ranks gathers the states and
    /// the statistics of other ranks.
    ///
    /// # Errors
    /// Failed reads and writes; cancellation; the failure of another rank.
    pub fn complete(&self, statistics: &mut RunStatistics) -> Result<()> {
        let ranks = self.exchange.ranks();
        if let Some(ranks) = ranks {
            if !self.execution.is_own_enough {
                self.complete_states(ranks)?;
            }
            // A later run on these ranks would take an acknowledgement of this one for its own.
            ranks.end_transfers()?;
        }
        statistics.bytes_read += self.bytes_read();
        statistics.bytes_written = self.bytes_written();
        ranks.map_or(Ok(()), |ranks| ranks.complete_statistics(statistics))
    }

    /// Takes the states of other ranks.
    fn complete_states(&self, ranks: &Ranks<'_>) -> Result<()> {
        let mut is_written = vec![false; self.cut.count()];
        is_written[self.cut.blocks(&self.own)].fill(true);
        let mut room = BlockStates::<P::State>::new(self.cut.size_max());
        let mut own_room = BlockStates::<P::State>::new(self.cut.size_max());
        let mut read = |vertices: Range<usize>| {
            let block = self.cut.blocks(&vertices).start;
            let all = self.cut.vertices(block);
            let (states, active) = own_room.of(all.len());
            self.states.read_with(block, states, active)?;
            Ok(states[vertices.start - all.start..vertices.end - all.start].as_bytes().to_vec())
        };
        let mut write = |vertices: Range<usize>, bytes: &[u8]| {
            let block = self.cut.blocks(&vertices).start;
            let all = self.cut.vertices(block);
            let (states, active) = room.of(all.len());
            // A block that ranks share has states already, which must stay. Other blocks were never
            // written and cannot be read.
            if std::mem::replace(&mut is_written[block], true) {
                self.states.read_with(block, states, active)?;
            }
            let places = &mut states[vertices.start - all.start..vertices.end - all.start];
            places.as_mut_bytes().copy_from_slice(bytes);
            self.states.write(block, states, active)
        };
        ranks.complete(&self.cut, size_of::<P::State>(), &mut read, &mut write)
    }

    /// Returns the states and the program after its end.
    pub fn into_result(self) -> Result<(States<P::State>, P)> {
        self.states.store().finish_writing()?;
        Ok((self.states.into(), self.execution.program))
    }
}

#[cfg(test)]
mod tests;
