//! Which batches there are, and the files with an entry for each vertex: all that follows from the
//! degrees and the order alone.

use std::path::Path;

use tegula_machine::Result;
use tegula_store::graph::{VertexOrder, file_names};
use tegula_store::packed::{Permutation, Unordered};
use tegula_store::tiles::{BATCH_LOG2_MAX, Batch, Grid, WINDOW_LOG2};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use super::buckets::Buckets;
use super::census::Degrees;
use super::import_run::ImportRun;
use super::mapping::NONE;
use super::order::Numbered;
use super::shares;
use super::vertex_files::{ArrayFile, VertexFile};

/// The degrees of a vertex, on their way to its dense id.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
struct DenseRow {
    dense: u32,
    degrees: Degrees,
}

/// Visits the degrees by ascending dense id, a slice at a time: its first dense id, a multiple of
/// 2^18, and the degrees from there on.
pub(super) fn for_each_dense_slice(
    run: &ImportRun<'_>,
    numbered: &Numbered<'_>,
    visit: &mut dyn FnMut(u32, &[Degrees]) -> Result<()>,
) -> Result<()> {
    let vertices = numbered.summary.vertices;
    let affordable = (run.share(shares::DENSE_SLICE) / size_of::<Degrees>() as u64).max(1).ilog2();
    let slice_log2 = affordable.clamp(BATCH_LOG2_MAX, 31);
    let slices = ((vertices.max(1) - 1) >> slice_log2) as usize + 1;
    let rows = Buckets::new(slices, run.space(run.share(shares::DENSE_ROWS)));
    numbered.for_each(&mut |_, block, dense| {
        run.cancel.check()?;
        let rows_here = block.iter().zip(dense).filter(|&(_, &dense)| dense != NONE);
        rows.write(|writer| {
            let mut rows_here = rows_here;
            rows_here.try_for_each(|(&degrees, &dense)| {
                writer.push((dense >> slice_log2) as usize, DenseRow { dense, degrees })
            })
        })
    })?;
    let mut rows = rows.close()?;
    let mut slice = Vec::new();
    for index in 0..slices {
        run.cancel.check()?;
        let first = (index as u64) << slice_log2;
        slice.clear();
        slice.resize((vertices - first).min(1 << slice_log2) as usize, [0; 2]);
        rows.for_each(index, &mut |part| {
            part.iter()
                .for_each(|row| slice[(u64::from(row.dense) - first) as usize] = row.degrees);
            Ok(())
        })?;
        rows.clear(index);
        visit(first as u32, &slice)?;
    }
    Ok(())
}

/// A batch, and how many edges end in each of its *units*: its target windows, or the part of one that it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PlannedBatch {
    pub batch: Batch,
    pub unit_edges: Vec<u64>,
}

impl PlannedBatch {
    /// A batch with these in-degrees of its targets.
    fn new(batch: Batch, in_degrees: &[u32]) -> PlannedBatch {
        let mut unit_edges: Vec<u64> = in_degrees.chunks(1 << WINDOW_LOG2).map(sum_of).collect();
        // The last batch of a graph may reach beyond its vertices.
        unit_edges.resize(1 << batch.log2.saturating_sub(WINDOW_LOG2), 0);
        PlannedBatch { batch, unit_edges }
    }

    /// How many edges end in the batch.
    pub fn edges(&self) -> u64 {
        self.unit_edges.iter().sum()
    }
}

/// The edges of vertices with these degrees.
fn sum_of(degrees: &[u32]) -> u64 {
    degrees.iter().map(|&degree| u64::from(degree)).sum()
}

/// The batches of a graph.
pub(super) struct BatchPlan {
    pub grid: Grid,
    pub batches: Vec<PlannedBatch>,
    /// How many edges begin in each [slice](Grid::slice_log2) of sources.
    pub slice_edges: Vec<u64>,
}

/// Writes the degrees in their order; plans the batches, of up to `batch_edges` edges, on the way.
pub(super) fn plan_and_write_degrees(
    run: &ImportRun<'_>,
    numbered: &Numbered<'_>,
    directory: &Path,
    grid: Grid,
    batch_edges: u64,
) -> Result<(BatchPlan, Vec<VertexFile>)> {
    let mut out_file = ArrayFile::create(directory, file_names::OUT_DEGREES, Unordered)?;
    // In-degrees of an undirected graph are its out-degrees.
    let in_file = || ArrayFile::create(directory, file_names::IN_DEGREES, Unordered);
    let mut in_file = (!run.rule.undirected).then(in_file).transpose()?;
    let (mut batches, mut slice_edges) = (Vec::new(), Vec::new());
    let mut column = Vec::new();
    for_each_dense_slice(run, numbered, &mut |first, slice| {
        column.clear();
        column.extend(slice.iter().map(|&[out, _]| out));
        out_file.push(&column)?;
        slice_edges.extend(column.chunks(1 << grid.slice_log2()).map(sum_of));
        column.clear();
        column.extend(slice.iter().map(|&[_, into]| into));
        if let Some(file) = &mut in_file {
            file.push(&column)?;
        }
        batches.extend(Batch::plan(&column, batch_edges, grid).into_iter().map(|batch| {
            let targets = batch.targets(column.len() as u32);
            let into = &column[targets.start as usize..targets.end as usize];
            PlannedBatch::new(Batch { target_first: first + batch.target_first, ..batch }, into)
        }));
        Ok(())
    })?;
    let mut files = vec![out_file.finish()?];
    files.extend(in_file.map(ArrayFile::finish).transpose()?);
    Ok((BatchPlan { grid, batches, slice_edges }, files))
}

/// Writes the dense id of each vertex by rank, unless the two are the same.
pub(super) fn write_order(numbered: &Numbered<'_>, directory: &Path) -> Result<Option<VertexFile>> {
    if numbered.order == VertexOrder::Given {
        return Ok(None);
    }
    let coding = Permutation::new(numbered.runs());
    let mut file = ArrayFile::create(directory, file_names::ORDER, coding)?;
    let mut is_identity = true;
    let mut rank = 0;
    let mut dense_ids = Vec::new();
    numbered.for_each(&mut |_, _, dense| {
        dense_ids.clear();
        dense_ids.extend(dense.iter().copied().filter(|&dense| dense != NONE));
        for &dense in &dense_ids {
            is_identity &= dense == rank;
            rank = rank.wrapping_add(1);
        }
        file.push(&dense_ids)
    })?;
    if is_identity { file.discard().map(|()| None) } else { file.finish().map(Some) }
}

impl BatchPlan {
    /// From targets to the numbers of their units, counted through all batches.
    pub fn units(&self) -> UnitTable {
        let mut table = UnitTable { rows: Vec::new(), units: Vec::new() };
        let mut unit = 0;
        // All batches of one aligned range of 2^18 targets.
        let range = |planned: &PlannedBatch| planned.batch.target_first >> BATCH_LOG2_MAX;
        for here in self.batches.chunk_by(|a, b| range(a) == range(b)) {
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

/// From a target to its unit: two loads, of which the first is always in the cache.
pub(super) struct UnitTable {
    /// One for each aligned range of 2^18 targets.
    rows: Vec<Row>,
    units: Vec<u32>,
}

#[derive(Debug, Clone, Copy)]
struct Row {
    offset: u32,
    shift: u32,
}

impl UnitTable {
    /// The unit of a target, which must lie in one of the batches.
    #[inline]
    pub fn get(&self, target: u32) -> u32 {
        let row = self.rows[(target >> BATCH_LOG2_MAX) as usize];
        let local = target & ((1 << BATCH_LOG2_MAX) - 1);
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
            PlannedBatch::new(batch, &[])
        });
        let batches: Vec<PlannedBatch> = batches.collect();
        let plan = BatchPlan { grid: Grid::default(), batches, slice_edges: Vec::new() };
        let table = plan.units();
        let mut unit = 0;
        for planned in &plan.batches {
            for part in 0..planned.unit_edges.len() as u32 {
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
        let planned = PlannedBatch::new(batch, &vec![3; (1 << WINDOW_LOG2) + 5]);
        assert_eq!(planned.unit_edges, [3 << WINDOW_LOG2, 15, 0, 0]);
        assert_eq!(planned.edges(), (3 << WINDOW_LOG2) + 15);
    }
}
