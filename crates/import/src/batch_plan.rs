//! Which batches there are, and the files with an entry for each vertex: all that follows from the
//! degrees and the order alone.

use std::ops::Range;
use std::path::Path;

use tegula_machine::Result;
use tegula_store::graph::{VertexOrder, file_names};
use tegula_store::packed::{Permutation, Unordered};
use tegula_store::tiles::{BATCH_LOG2_MAX, Batch, WINDOW_LOG2};
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

/// A batch and how many edges end in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PlannedBatch {
    pub batch: Batch,
    pub edges: u64,
}

impl PlannedBatch {
    /// Number of target windows, or parts of one, that the batch consists of.
    pub fn units(&self) -> usize {
        1 << self.batch.log2.saturating_sub(WINDOW_LOG2)
    }
}

/// The batches of a graph.
pub(super) struct BatchPlan {
    pub batches: Vec<PlannedBatch>,
    pub vertices: u64,
}

/// Writes the files that follow from the degrees and the order; plans the batches, of up to `batch_edges`
/// edges, on the way.
pub(super) fn plan_and_write(
    run: &ImportRun<'_>,
    numbered: &Numbered<'_>,
    directory: &Path,
    batch_edges: u64,
) -> Result<(BatchPlan, Vec<VertexFile>)> {
    let mut files = Vec::new();
    files.extend(write_order(numbered, directory)?);
    let mut out_file = ArrayFile::create(directory, file_names::OUT_DEGREES, Unordered)?;
    // In-degrees of an undirected graph are its out-degrees.
    let in_file = || ArrayFile::create(directory, file_names::IN_DEGREES, Unordered);
    let mut in_file = (!run.rule.undirected).then(in_file).transpose()?;
    let mut batches = Vec::new();
    let mut column = Vec::new();
    for_each_dense_slice(run, numbered, &mut |first, slice| {
        column.clear();
        column.extend(slice.iter().map(|&[out, _]| out));
        out_file.push(&column)?;
        column.clear();
        column.extend(slice.iter().map(|&[_, into]| into));
        if let Some(file) = &mut in_file {
            file.push(&column)?;
        }
        batches.extend(Batch::plan(&column, batch_edges).into_iter().map(|batch| {
            let targets = batch.targets(column.len() as u32);
            let into = &column[targets.start as usize..targets.end as usize];
            let edges = into.iter().map(|&degree| u64::from(degree)).sum();
            PlannedBatch {
                batch: Batch { target_first: first + batch.target_first, ..batch },
                edges,
            }
        }));
        Ok(())
    })?;
    files.push(out_file.finish()?);
    files.extend(in_file.map(ArrayFile::finish).transpose()?);
    Ok((BatchPlan { batches, vertices: numbered.summary.vertices }, files))
}

/// Writes the dense id of each vertex by rank, unless the two are the same.
fn write_order(numbered: &Numbered<'_>, directory: &Path) -> Result<Option<VertexFile>> {
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
    /// Cuts the batches into groups that follow one another: each with up to `edges` edges and up to
    /// `units` units, or of one batch.
    pub fn groups(&self, edges: u64, units: usize) -> Vec<Range<usize>> {
        let mut groups: Vec<Range<usize>> = Vec::new();
        let (mut edges_here, mut units_here) = (0, 0);
        for (index, planned) in self.batches.iter().enumerate() {
            edges_here += planned.edges;
            units_here += planned.units();
            match groups.last_mut() {
                Some(group) if edges_here <= edges && units_here <= units => group.end += 1,
                _ => {
                    groups.push(index..index + 1);
                    (edges_here, units_here) = (planned.edges, planned.units());
                }
            }
        }
        groups
    }

    /// A table from targets to a number for each unit of the batches in a range. `number` is called
    /// for unit after unit with the index of its batch.
    pub fn table(
        &self,
        batches: Range<usize>,
        mut number: impl FnMut(usize) -> u32,
    ) -> TargetTable {
        let mut rows: Vec<Row> = Vec::new();
        let mut cells: Vec<u32> = Vec::new();
        let first_range = self
            .batches
            .get(batches.start)
            .map_or(0, |planned| planned.batch.target_first >> BATCH_LOG2_MAX);
        let mut index = batches.start;
        while index < batches.end {
            // All batches of one aligned range of 2^18 targets.
            let range = self.batches[index].batch.target_first >> BATCH_LOG2_MAX;
            let in_range =
                |planned: &&PlannedBatch| planned.batch.target_first >> BATCH_LOG2_MAX == range;
            let here = self.batches[index..batches.end].iter().take_while(in_range);
            let shift = here
                .clone()
                .map(|planned| planned.batch.log2.min(WINDOW_LOG2))
                .min()
                .unwrap_or(WINDOW_LOG2);
            let offset = cells.len() as u32;
            cells.resize(cells.len() + (1 << (BATCH_LOG2_MAX - shift)), u32::MAX);
            for planned in here {
                let unit_cells = 1 << (planned.batch.log2.min(WINDOW_LOG2) - shift);
                let local = planned.batch.target_first & ((1 << BATCH_LOG2_MAX) - 1);
                let mut cell = offset as usize + (local >> shift) as usize;
                for _ in 0..planned.units() {
                    cells[cell..cell + unit_cells].fill(number(index));
                    cell += unit_cells;
                }
                index += 1;
            }
            rows.push(Row { offset, shift });
        }
        TargetTable { first_range, rows, cells }
    }
}

/// From a target to a number: two loads, of which the first is always in the cache.
pub(super) struct TargetTable {
    first_range: u32,
    rows: Vec<Row>,
    cells: Vec<u32>,
}

#[derive(Debug, Clone, Copy)]
struct Row {
    offset: u32,
    shift: u32,
}

impl TargetTable {
    /// The number of a target, which must lie in one of the batches.
    #[inline]
    pub fn get(&self, target: u32) -> u32 {
        let row = self.rows[((target >> BATCH_LOG2_MAX) - self.first_range) as usize];
        let local = target & ((1 << BATCH_LOG2_MAX) - 1);
        self.cells[(row.offset + (local >> row.shift)) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(sizes: &[(u32, u64)]) -> BatchPlan {
        let mut first = 0;
        let batches = sizes.iter().map(|&(log2, edges)| {
            let batch = Batch { target_first: first, log2 };
            first += 1 << log2;
            PlannedBatch { batch, edges }
        });
        BatchPlan { batches: batches.collect(), vertices: u64::from(first) }
    }

    #[test]
    fn groups_hold_as_many_batches_as_they_may() {
        let plan = plan(&[(18, 10), (18, 90), (17, 5), (17, 5), (18, 500), (18, 1)]);
        assert_eq!(plan.groups(100, 100), [0..2, 2..4, 4..5, 5..6]);
        assert_eq!(plan.groups(1000, 6), [0..1, 1..3, 3..5, 5..6]);
        assert_eq!(plan.groups(0, 0), [0..1, 1..2, 2..3, 3..4, 4..5, 5..6]);
        assert_eq!(plan.groups(u64::MAX, usize::MAX), std::slice::from_ref(&(0..6)));
    }

    #[test]
    fn a_table_knows_the_unit_of_each_target() {
        let plan = plan(&[
            (18, 0),
            (17, 0),
            (16, 0),
            (4, 0),
            (4, 0),
            (5, 0),
            (6, 0),
            (7, 0),
            (8, 0),
            (9, 0),
            (15, 0),
        ]);
        for batches in [0..plan.batches.len(), 0..1, 1..7, 3..plan.batches.len()] {
            let mut owners = Vec::new();
            let table = plan.table(batches.clone(), |batch| {
                owners.push(batch);
                owners.len() as u32 - 1
            });
            let mut unit = 0;
            for index in batches {
                let planned = &plan.batches[index];
                for part in 0..planned.units() as u32 {
                    let targets = 1 << planned.batch.log2.min(WINDOW_LOG2);
                    let first = planned.batch.target_first + part * targets;
                    assert_eq!(
                        [first, first + targets - 1].map(|target| table.get(target)),
                        [unit; 2]
                    );
                    assert_eq!(owners[unit as usize], index);
                    unit += 1;
                }
            }
            assert_eq!(owners.len(), unit as usize);
        }
    }
}
