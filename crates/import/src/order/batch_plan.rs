//! The plan of the batches, and the files with an entry for each vertex: all that follows from the
//! degrees and the order alone.

use std::ops::Range;
use std::path::Path;

use tegula_store::graph::{VertexOrder, file_names};
use tegula_store::packed::{Permutation, Unordered};
use tegula_store::tiles::{BATCH_LOG2_MAX, Batch, Grid, TileOrder, WINDOW_LOG2};
use tegula_store::{Error, Result};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use super::{NONE, Numbered};
use crate::config::{ImportConfig, Tuning};
use crate::count::census::Degrees;
use crate::import_run::ImportRun;
use crate::piles::Piles;
use crate::shares;
use crate::vertex_files::{ArrayFile, VertexFile};

/// The most edges that are expected in a [bin](crate::sort::bins).
pub(crate) const BIN_EDGES: u64 = 1 << 18;

/// The degrees of a vertex, on the way to its dense id.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
struct DenseRow {
    /// The place of its dense id in the slice.
    place: u32,
    degrees: Degrees,
}

/// Visits the degrees by ascending dense id, a slice at a time: its first dense id, a multiple of
/// 2^16, and the degrees from there on. Slices without any edge may be left out.
pub(crate) fn for_each_dense_slice(
    run: &ImportRun<'_>,
    numbered: &Numbered<'_>,
    visit: &mut dyn FnMut(u64, &[Degrees]) -> Result<()>,
) -> Result<()> {
    let affordable = (run.share(shares::DENSE_SLICE) / size_of::<Degrees>() as u64).max(1).ilog2();
    // A slice has whole ranges of batches, and places in it fit 32 bits.
    let slice_log2 = affordable.clamp(BATCH_LOG2_MAX, 31);
    if numbered.order == VertexOrder::Given {
        // There may be many vertices without edges between the few with edges.
        let slice_log2 = if numbered.declared.is_some() { WINDOW_LOG2 } else { slice_log2 };
        return for_each_given_slice(run, numbered, slice_log2, visit);
    }
    let connected = numbered.summary.vertices;
    let slices = ((connected.max(1) - 1) >> slice_log2) as usize + 1;
    let rows = Piles::new(slices, run.space(run.share(shares::DENSE_ROWS)));
    numbered.for_each(&mut |block| {
        run.cancel.check()?;
        let mut rows_here =
            block.degrees.iter().zip(block.dense).filter(|&(_, &dense)| dense != NONE);
        rows.write(|writer| {
            rows_here.try_for_each(|(&degrees, &dense)| {
                let place = (dense & ((1 << slice_log2) - 1)) as u32;
                let row = DenseRow { place, degrees };
                writer.push((dense >> slice_log2) as usize, row)
            })
        })
    })?;
    let mut rows = rows.close()?;
    let mut slice = Vec::new();
    for index in 0..slices {
        run.cancel.check()?;
        let first = (index as u64) << slice_log2;
        slice.clear();
        slice.resize((numbered.vertices() - first).min(1 << slice_log2) as usize, [0; 2]);
        rows.for_each(index, &mut |part| {
            part.iter().for_each(|row| slice[row.place as usize] = row.degrees);
            Ok(())
        })?;
        rows.clear(index);
        visit(first, &slice)?;
    }
    Ok(())
}

/// Visits the slices in the given order, in which the vertices already come.
fn for_each_given_slice(
    run: &ImportRun<'_>,
    numbered: &Numbered<'_>,
    slice_log2: u32,
    visit: &mut dyn FnMut(u64, &[Degrees]) -> Result<()>,
) -> Result<()> {
    let (mut first, mut slice) = (0, Vec::new());
    let close = |first: u64,
                 slice: &mut Vec<Degrees>,
                 visit: &mut dyn FnMut(u64, &[Degrees]) -> Result<()>| {
        slice.resize((numbered.vertices() - first).min(1 << slice_log2) as usize, [0; 2]);
        visit(first, slice)?;
        slice.clear();
        Ok::<(), Error>(())
    };
    numbered.for_each(&mut |block| {
        run.cancel.check()?;
        for (&degrees, &dense) in block.degrees.iter().zip(block.dense) {
            if dense == NONE {
                continue;
            }
            let start = dense >> slice_log2 << slice_log2;
            if start != first {
                if !slice.is_empty() {
                    close(first, &mut slice, visit)?;
                }
                first = start;
            }
            slice.resize((dense - first) as usize, [0; 2]);
            slice.push(degrees);
        }
        Ok(())
    })?;
    if slice.is_empty() { Ok(()) } else { close(first, &mut slice, visit) }
}

/// A batch, and the number of edges into each of its *units*. These are its target windows; a batch
/// that is smaller than a window is one unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PlannedBatch {
    pub batch: Batch,
    /// Its index among all batches of the graph.
    pub index: usize,
    pub unit_edges: Vec<u64>,
}

impl PlannedBatch {
    /// Returns a batch whose targets have these in-degrees.
    fn new(batch: Batch, index: usize, in_degrees: &[u32]) -> PlannedBatch {
        let mut unit_edges: Vec<u64> = in_degrees.chunks(1 << WINDOW_LOG2).map(sum_of).collect();
        // The last batch of a graph may reach beyond its vertices.
        unit_edges.resize(1 << batch.log2.saturating_sub(WINDOW_LOG2), 0);
        PlannedBatch { batch, index, unit_edges }
    }

    /// Returns the number of edges into the batch.
    pub fn edges(&self) -> u64 {
        self.unit_edges.iter().sum()
    }
}

/// Returns the number of edges of vertices with these degrees.
fn sum_of(degrees: &[u32]) -> u64 {
    degrees.iter().map(|&degree| u64::from(degree)).sum()
}

/// A segment of sources.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PlannedSegment {
    pub segment: u32,
    /// The number of edges that begin in it.
    pub edges: u64,
    /// The number of edges that begin in each of its [slices](Grid::slice_log2). Empty if all edges
    /// of the segment go to one bin wherever they lead: there may be many such segments.
    pub slice_edges: Vec<u64>,
}

/// The batches of a graph. A range of 2^18 targets without in-edges is not listed; its batches are
/// as large as batches may be.
pub(crate) struct BatchPlan {
    pub grid: Grid,
    pub tile_order: TileOrder,
    /// Number of vertices.
    pub vertices: u64,
    pub batches: Vec<PlannedBatch>,
    /// The segments in which edges begin.
    pub segments: Vec<PlannedSegment>,
}

impl BatchPlan {
    fn new(grid: Grid, tile_order: TileOrder, vertices: u64) -> BatchPlan {
        BatchPlan { grid, tile_order, vertices, batches: Vec::new(), segments: Vec::new() }
    }

    /// Adds the batches of a range of targets that begins behind all ranges before.
    fn add_batches(&mut self, first: u64, in_degrees: &[u32], batch_edges: u64) {
        let batches = Batch::plan(in_degrees, batch_edges, self.grid);
        for (index, batch) in (self.count_before(first)..).zip(batches) {
            let targets = batch.targets(in_degrees.len() as u64);
            let into = &in_degrees[targets.start as usize..targets.end as usize];
            let batch = Batch { target_first: first + batch.target_first, ..batch };
            self.batches.push(PlannedBatch::new(batch, index, into));
        }
    }

    /// Adds the given batches that begin before the end of a range of targets and are not in the
    /// plan yet. Those in the range are halved where they have more than `edges_max` edges. So the
    /// batches of a rank do not depend on where the graph is cut.
    fn add_given(&mut self, first: u64, in_degrees: &[u32], given: &[Batch], edges_max: u64) {
        let begins_before = |end: u64| given.partition_point(|batch| batch.target_first < end);
        let last = self.batches.last().map(|last| last.batch.targets(self.vertices).end);
        let new = begins_before(last.unwrap_or(0))..begins_before(first + in_degrees.len() as u64);
        for &batch in &given[new] {
            let mut pieces = Vec::new();
            match batch.target_first.checked_sub(first) {
                Some(target_first) => {
                    Batch { target_first, ..batch }.halve_into(in_degrees, edges_max, &mut pieces)
                }
                // It has no in-edges.
                None => self.batches.push(PlannedBatch::new(batch, self.batches.len(), &[])),
            }
            for piece in pieces {
                let targets = piece.targets(in_degrees.len() as u64);
                let into = &in_degrees[targets.start as usize..targets.end as usize];
                let piece = Batch { target_first: first + piece.target_first, ..piece };
                self.batches.push(PlannedBatch::new(piece, self.batches.len(), into));
            }
        }
    }

    /// Returns the number of batches before `target`, where a batch begins that is not listed yet.
    fn count_before(&self, target: u64) -> usize {
        let (index, first) = self.batches.last().map_or((0, 0), |last| {
            (last.index + 1, last.batch.target_first + (1 << last.batch.log2))
        });
        index + (target.saturating_sub(first) >> full_log2(self.grid)) as usize
    }

    /// Adds edges that begin in the slices from `first` on.
    fn add_slices(&mut self, first: u64, edges: impl Iterator<Item = u64>) {
        let each_log2 = self.grid.segment_log2 - self.grid.slice_log2();
        for (slice, edges) in (first..).zip(edges).filter(|&(_, edges)| edges > 0) {
            let segment = (slice >> each_log2) as u32;
            if self.segments.last().is_none_or(|last| last.segment != segment) {
                self.forget_slices_of_last();
                let slice_edges = vec![0; 1 << each_log2];
                self.segments.push(PlannedSegment { segment, edges: 0, slice_edges });
            }
            let local = slice & ((1 << each_log2) - 1);
            self.segments.last_mut().into_iter().for_each(|last| {
                last.edges += edges;
                last.slice_edges[local as usize] = edges;
            });
        }
    }

    /// Drops the slices of the last segment, which another one follows, unless bins need them.
    /// The slices of the first segment are needed if it stays the only one.
    fn forget_slices_of_last(&mut self) {
        if let [_, .., last] = &mut self.segments[..]
            && last.edges <= BIN_EDGES
        {
            last.slice_edges = Vec::new();
        }
    }

    /// Returns all batches of the graph, also those that are not listed.
    pub fn all_batches(&self) -> impl Iterator<Item = Batch> {
        let log2 = full_log2(self.grid);
        let full = move |gap: Range<u64>| {
            gap.step_by(1 << log2).map(move |target_first| Batch { target_first, log2 })
        };
        let mut next = 0;
        let listed = self.batches.iter().flat_map(move |planned| {
            let batch = planned.batch;
            let gap = std::mem::replace(&mut next, batch.target_first + (1 << batch.log2));
            full(gap..batch.target_first).chain([batch])
        });
        let end = self.batches.last().map(|last| last.batch);
        let end = end.map_or(0, |last| last.target_first + (1 << last.log2));
        listed.chain(full(end..self.vertices.max(end)))
    }
}

/// Brings the in-degrees of targets into the plan, by ascending dense id, a range of 2^18 at a
/// time.
struct Planning<'p> {
    plan: BatchPlan,
    /// The most edges of a batch that can be halved.
    batch_edges: u64,
    /// Given batches, if any. Each batch of the plan is a piece of one of them.
    given: Option<&'p [Batch]>,
    /// Number of the current range.
    range: u64,
    /// The in-degrees of its targets so far.
    in_degrees: Vec<u32>,
}

impl Planning<'_> {
    /// Adds targets from `first` on. Targets that are left out have no in-edges.
    fn add_targets(&mut self, mut first: u64, mut in_degrees: &[u32]) {
        while !in_degrees.is_empty() {
            let range = first >> BATCH_LOG2_MAX;
            if range != self.range {
                self.close_range();
                self.range = range;
            }
            let local = (first - (range << BATCH_LOG2_MAX)) as usize;
            let room = (1 << BATCH_LOG2_MAX) - local;
            let (here, rest) = in_degrees.split_at(in_degrees.len().min(room));
            self.in_degrees.resize(local, 0);
            self.in_degrees.extend_from_slice(here);
            (first, in_degrees) = (first + here.len() as u64, rest);
        }
    }

    fn close_range(&mut self) {
        if self.in_degrees.iter().any(|&degree| degree > 0) {
            let first = self.range << BATCH_LOG2_MAX;
            let len = (self.plan.vertices - first).min(1 << BATCH_LOG2_MAX);
            self.in_degrees.resize(len as usize, 0);
            match self.given {
                Some(given) => {
                    self.plan.add_given(first, &self.in_degrees, given, self.batch_edges);
                }
                None => self.plan.add_batches(first, &self.in_degrees, self.batch_edges),
            }
        }
        self.in_degrees.clear();
    }

    fn finish(mut self) -> BatchPlan {
        self.close_range();
        if let Some(given) = self.given {
            self.plan.add_given(self.plan.vertices, &[], given, self.batch_edges);
        }
        self.plan
    }
}

/// Returns log2 of the targets of a batch without in-edges.
fn full_log2(grid: Grid) -> u32 {
    BATCH_LOG2_MAX.min(grid.column_log2)
}

/// Writes the degrees by dense id, and plans the batches on the way.
pub(crate) fn plan_and_write_degrees(
    run: &ImportRun<'_>,
    numbered: &Numbered<'_>,
    directory: &Path,
    config: &ImportConfig,
) -> Result<(BatchPlan, Vec<VertexFile>)> {
    let Tuning { grid, tile_order, batch_edges, .. } = config.tuning;
    let given = config.batches.as_deref();
    let mut out_file = ArrayFile::create(directory, file_names::OUT_DEGREES, Unordered)?;
    // In an undirected graph, the in-degrees are the out-degrees.
    let in_file = || ArrayFile::create(directory, file_names::IN_DEGREES, Unordered);
    let mut in_file = (!run.rule.undirected).then(in_file).transpose()?;
    let plan = BatchPlan::new(grid, tile_order, numbered.vertices());
    let mut planning = Planning { plan, batch_edges, given, range: 0, in_degrees: Vec::new() };
    let (mut column, mut next) = (Vec::new(), 0);
    let slice_log2 = grid.slice_log2();
    for_each_dense_slice(run, numbered, &mut |first, slice| {
        column.clear();
        column.extend(slice.iter().map(|&[out, _]| out));
        // Slices without an edge are left out, and their degrees are 0.
        out_file.push_regular(0, first - next)?;
        out_file.push(&column)?;
        planning.plan.add_slices(first >> slice_log2, column.chunks(1 << slice_log2).map(sum_of));
        column.clear();
        column.extend(slice.iter().map(|&[_, into]| into));
        if let Some(file) = &mut in_file {
            file.push_regular(0, first - next)?;
            file.push(&column)?;
        }
        planning.add_targets(first, &column);
        next = first + column.len() as u64;
        Ok(())
    })?;
    let plan = planning.finish();
    out_file.push_regular(0, plan.vertices - next)?;
    if let Some(file) = &mut in_file {
        file.push_regular(0, plan.vertices - next)?;
    }
    let mut files = vec![out_file.finish()?];
    files.extend(in_file.map(ArrayFile::finish).transpose()?);
    Ok((plan, files))
}

/// Writes the dense id of each vertex by id position, unless the two are the same.
pub(crate) fn write_order(numbered: &Numbered<'_>, directory: &Path) -> Result<Option<VertexFile>> {
    if numbered.order == VertexOrder::Given {
        return Ok(None);
    }
    let coding = Permutation::new(numbered.runs());
    let mut file = ArrayFile::create(directory, file_names::ORDER, coding)?;
    let mut is_identity = true;
    // Where vertices are declared, id positions are ids; ids that are passed over have no edge.
    let (mut id_position, mut isolated) = (0, numbered.isolated().start);
    let mut dense_ids = Vec::new();
    numbered.for_each(&mut |block| {
        dense_ids.clear();
        for (place, &dense) in block.dense.iter().enumerate().filter(|&(_, &dense)| dense != NONE) {
            if numbered.declared.is_some() && block.id(place) > id_position {
                let gap = block.id(place) - id_position;
                file.push(&dense_ids)?;
                dense_ids.clear();
                file.push_regular(isolated, gap)?;
                is_identity &= isolated == id_position;
                (id_position, isolated) = (id_position + gap, isolated + gap);
            }
            is_identity &= dense == id_position;
            id_position += 1;
            dense_ids.push(dense);
        }
        file.push(&dense_ids)
    })?;
    file.push_regular(isolated, numbered.vertices() - id_position)?;
    // Whether the order changes anything is known only at the end.
    if is_identity { file.discard().map(|()| None) } else { file.finish().map(Some) }
}

impl BatchPlan {
    /// Maps targets to the numbers of their units, counted through all batches.
    pub fn units(&self) -> UnitTable {
        let mut table = UnitTable { rows: Vec::new(), units: Vec::new() };
        let mut unit = 0;
        // All batches of one aligned range of 2^18 targets.
        let range = |planned: &PlannedBatch| planned.batch.target_first >> BATCH_LOG2_MAX;
        for here in self.batches.chunk_by(|a, b| range(a) == range(b)) {
            // Nobody asks for the ranges between, to which no edge leads.
            table.rows.resize(range(&here[0]) as usize, Row::default());
            let unit_log2 = |planned: &PlannedBatch| planned.batch.log2.min(WINDOW_LOG2);
            let shift = here.iter().map(unit_log2).min().unwrap_or(WINDOW_LOG2);
            table.rows.push(Row { offset: table.units.len() as u32, shift });
            for planned in here {
                for _ in &planned.unit_edges {
                    table
                        .units
                        .extend(std::iter::repeat_n(unit, 1 << (unit_log2(planned) - shift)));
                    unit += 1;
                }
            }
        }
        table
    }
}

/// Maps a target to its unit with two loads. The first is always in the cache.
pub(crate) struct UnitTable {
    /// One row for each aligned range of 2^18 targets.
    rows: Vec<Row>,
    units: Vec<u32>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Row {
    offset: u32,
    shift: u32,
}

impl UnitTable {
    /// Returns the unit of a target, which must lie in one of the batches.
    #[inline]
    pub fn get(&self, target: u64) -> u32 {
        let row = self.rows[(target >> BATCH_LOG2_MAX) as usize];
        let local = target as u32 & ((1 << BATCH_LOG2_MAX) - 1);
        self.units[(row.offset + (local >> row.shift)) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_knows_the_unit_of_each_target() {
        let logs = [18, 17, 16, 4, 4, 5, 6, 7, 8, 9, 15, 10, 10, 11];
        let mut first = 0;
        let batches = logs.iter().map(|&log2| {
            let batch = Batch { target_first: first, log2 };
            first += 1 << log2;
            PlannedBatch::new(batch, 0, &[])
        });
        let batches: Vec<PlannedBatch> = batches.collect();
        let plan =
            BatchPlan { batches, ..BatchPlan::new(Grid::default(), TileOrder::default(), first) };
        let table = plan.units();
        let mut unit = 0;
        for planned in &plan.batches {
            for part in 0..planned.unit_edges.len() as u64 {
                let targets = 1 << planned.batch.log2.min(WINDOW_LOG2);
                let first = planned.batch.target_first + part * targets;
                assert_eq!([first, first + targets - 1].map(|target| table.get(target)), [unit; 2]);
                unit += 1;
            }
        }
        assert_eq!(unit, 4 + 2 + 12);
    }

    #[test]
    fn units_know_their_edges() {
        let batch = Batch { target_first: 0, log2: BATCH_LOG2_MAX };
        let planned = PlannedBatch::new(batch, 0, &vec![3; (1 << WINDOW_LOG2) + 5]);
        assert_eq!(planned.unit_edges, [3 << WINDOW_LOG2, 15, 0, 0]);
        assert_eq!(planned.edges(), (3 << WINDOW_LOG2) + 15);
    }
}
