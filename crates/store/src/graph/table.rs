//! The tile table: its records, checked against each other and the manifest.

use std::ops::Range;

use super::cells::{CellEntry, check_cells};
use super::manifest::Manifest;
use super::records::{BatchRecord, CellRecord, TileRecord};
use crate::tiles::{BATCH_LOG2_MAX, BATCH_LOG2_MIN, Batch, Cell, Origin, TileSummary, WINDOW_LOG2};

/// A tile in the table: its place, and what is known without reading it.
#[derive(Debug, Clone, Copy)]
pub struct TileEntry {
    /// First byte in the file of tiles.
    pub offset: u64,
    /// Bytes.
    pub size: u32,
    /// CRC-32C of the bytes.
    pub checksum: u32,
    /// First byte in the file of weights.
    pub weights_offset: u64,
    /// Number of weights; 0 in an unweighted graph.
    pub weight_count: u32,
    /// CRC-32C of the weights.
    pub weights_checksum: u32,
    /// Its cell, as an index into [`Graph::cells`](super::Graph::cells).
    pub cell: u32,
    /// Enough to tell whether a run can skip the tile.
    pub summary: TileSummary,
}

impl TileEntry {
    /// The number of its target window. `origin` is what its ids count from.
    #[inline]
    pub fn window(&self, origin: Origin) -> usize {
        (origin.target as usize + self.summary.target_first as usize) >> WINDOW_LOG2
    }
}

/// The lengths of the files that a table describes; 0 if there is none.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct FileSizes {
    pub tiles: u64,
    pub weights: u64,
    pub sources: u64,
}

/// The records of a table, as in the file.
pub(super) struct Records<'r> {
    pub batches: &'r [BatchRecord],
    pub cells: &'r [CellRecord],
    pub tiles: &'r [TileRecord],
}

/// A checked table.
#[derive(Debug, Default)]
pub(super) struct Table {
    pub batches: Vec<Batch>,
    pub entries: Vec<TileEntry>,
    pub cells: Vec<CellEntry>,
    /// Runs of tiles of one batch in one cell, by batch and then in the order of the file.
    runs: Vec<Range<u32>>,
    /// The range of `runs` for each batch.
    batch_runs: Vec<Range<u32>>,
}

impl Table {
    /// Checks the records against each other, the manifest and the sizes of the files.
    pub fn check(
        records: &Records<'_>,
        manifest: &Manifest,
        sizes: FileSizes,
    ) -> Result<Table, String> {
        // Ranges of tiles are kept in 32 bits.
        if manifest.tiles > u64::from(u32::MAX) {
            return Err(format!("{} tiles exceed the limit of 2^32 - 1", manifest.tiles));
        }
        let batches = check_batches(records.batches, manifest)?;
        let cells = check_cells(records.cells, manifest, sizes.sources)?;
        let entries = check_tiles(records.tiles, &cells, manifest, sizes)?;
        for (record, entry) in records.cells.iter().zip(&cells) {
            if edges_of(&entries[entry.tiles.clone()]) != record.edge_count.get() {
                let Cell { column, segment } = entry.cell;
                return Err(format!(
                    "the cell of column {column}, segment {segment} has another number of edges than its tiles"
                ));
            }
        }
        let mut runs = cut_runs(&entries, &cells, &batches, manifest)?;
        // The sort is stable, so the runs of a batch stay in the order of the file.
        runs.sort_by_key(|run| run.batch);
        let mut table = Table { batches, entries, cells, runs: Vec::new(), batch_runs: Vec::new() };
        let mut rest = &runs[..];
        for (index, record) in records.batches.iter().enumerate() {
            let own = rest.partition_point(|run| run.batch == index);
            let first = table.runs.len() as u32;
            table.runs.extend(rest[..own].iter().map(|run| run.tiles.clone()));
            table.batch_runs.push(first..table.runs.len() as u32);
            rest = &rest[own..];
            table.check_edges(index, record)?;
        }
        Ok(table)
    }

    /// The tiles of a batch, segment by segment.
    pub fn batch_tiles(&self, batch: usize) -> impl Iterator<Item = Range<usize>> {
        let runs = &self.batch_runs[batch];
        let runs = self.runs[runs.start as usize..runs.end as usize].iter();
        runs.map(|tiles| tiles.start as usize..tiles.end as usize)
    }

    /// Number of runs of tiles, each of one batch in one cell.
    pub fn run_count(&self) -> usize {
        self.runs.len()
    }

    /// Checks that a batch has as many edges as its tiles.
    fn check_edges(&self, batch: usize, record: &BatchRecord) -> Result<(), String> {
        let edges: u64 = self.batch_tiles(batch).map(|tiles| edges_of(&self.entries[tiles])).sum();
        let (first, expected) = (record.target_first.get(), record.edge_count.get());
        if edges == expected {
            return Ok(());
        }
        Err(format!("the batch at target {first} has {edges} edges, not {expected}"))
    }
}

fn edges_of(tiles: &[TileEntry]) -> u64 {
    tiles.iter().map(|tile| u64::from(tile.summary.edge_count)).sum()
}

/// A run of tiles of one batch in one cell.
struct BatchRun {
    batch: usize,
    tiles: Range<u32>,
}

fn check_batches(records: &[BatchRecord], manifest: &Manifest) -> Result<Vec<Batch>, String> {
    let log2_max = BATCH_LOG2_MAX.min(manifest.grid.column_log2);
    let (mut next_target, mut edges) = (0u64, 0u64);
    let mut batches = Vec::new();
    for record in records {
        let log2 = record.log2.get();
        let is_aligned = (BATCH_LOG2_MIN..=log2_max).contains(&log2)
            && record.target_first.get() == next_target
            && next_target & ((1 << log2) - 1) == 0;
        if !is_aligned || next_target >= manifest.vertices || record.reserved.get() != 0 {
            return Err(format!("batch {} is out of place", batches.len()));
        }
        batches.push(Batch { target_first: next_target, log2 });
        next_target += 1 << log2;
        // Counts of damaged records must not wrap around to the right sum.
        edges = edges.saturating_add(record.edge_count.get());
    }
    let complete = next_target >= manifest.vertices && edges == manifest.edges;
    if complete { Ok(batches) } else { Err("batches are missing".into()) }
}

/// Cuts the tiles of each cell into runs by batch. Batches ascend in a cell.
fn cut_runs(
    entries: &[TileEntry],
    cells: &[CellEntry],
    batches: &[Batch],
    manifest: &Manifest,
) -> Result<Vec<BatchRun>, String> {
    let mut runs = Vec::new();
    for CellEntry { cell, tiles, .. } in cells {
        let origin = manifest.grid.origin(*cell).target;
        let mut rest = tiles.clone();
        let mut batch = 0;
        while let Some(first) = entries[rest.clone()].first().map(|tile| tile.summary) {
            let first = origin + u64::from(first.target_first);
            // The first batch begins at 0, so there is one.
            let found = batches.partition_point(|it| it.target_first <= first) - 1;
            let targets = batches[found].targets(manifest.vertices);
            let is_inside = |target: u32| targets.contains(&(origin + u64::from(target)));
            let begins_inside = |tile: &&TileEntry| is_inside(tile.summary.target_first);
            let own = entries[rest.clone()].iter().take_while(begins_inside).count();
            let run = rest.start..rest.start + own;
            let ends_inside = |tile: &TileEntry| is_inside(tile.summary.target_last);
            if !entries[run.clone()].iter().all(ends_inside)
                || own == 0
                || (run.start > tiles.start && found <= batch)
            {
                return Err("a tile lies outside its batch".into());
            }
            batch = found;
            rest.start = run.end;
            runs.push(BatchRun { batch, tiles: run.start as u32..run.end as u32 });
        }
    }
    Ok(runs)
}

fn check_tiles(
    records: &[TileRecord],
    cells: &[CellEntry],
    manifest: &Manifest,
    sizes: FileSizes,
) -> Result<Vec<TileEntry>, String> {
    let (mut next_offset, mut next_weights, mut edges) = (0u64, 0u64, 0u64);
    let mut entries = Vec::with_capacity(records.len());
    let placed = cells
        .iter()
        .zip(0..)
        .flat_map(|(entry, cell)| records[entry.tiles.clone()].iter().map(move |it| (cell, it)));
    for (cell, record) in placed {
        let out_of_place = || format!("tile {} is out of place", entries.len());
        let at = cells[cell as usize].cell;
        let summary = summary_of(record, at, manifest).ok_or_else(out_of_place)?;
        let has_no_weights = record.weight_count.get() == 0
            && record.weights_offset.get() == 0
            && record.weights_checksum.get() == 0;
        let in_sequence = record.offset.get() == next_offset
            && if manifest.weighted {
                record.weights_offset.get() == next_weights
            } else {
                has_no_weights
            };
        if !in_sequence {
            return Err(out_of_place());
        }
        entries.push(TileEntry {
            offset: next_offset,
            size: record.size.get(),
            checksum: record.checksum.get(),
            weights_offset: next_weights,
            weight_count: record.weight_count.get(),
            weights_checksum: record.weights_checksum.get(),
            cell,
            summary,
        });
        next_offset += u64::from(record.size.get());
        next_weights += 4 * u64::from(record.weight_count.get());
        edges += u64::from(summary.edge_count);
    }
    if (next_offset, next_weights, edges) == (sizes.tiles, sizes.weights, manifest.edges) {
        Ok(entries)
    } else {
        Err("tiles are missing".into())
    }
}

/// The summary of a tile from its record; `None` if the tile cannot lie in the cell.
fn summary_of(record: &TileRecord, cell: Cell, manifest: &Manifest) -> Option<TileSummary> {
    let (grid, vertices) = (manifest.grid, manifest.vertices);
    let origin = grid.origin(cell);
    let summary = TileSummary {
        edge_count: record.edge_count.get(),
        source_first: record.source_first.get(),
        source_last: record.source_last.get(),
        target_first: record.target_first.get(),
        target_last: record.target_last.get(),
        source_mask: record.source_mask.get(),
    };
    let (sources, targets) =
        (grid.sources(cell.segment, vertices), grid.targets(cell.column, vertices));
    let is_source = |id: u32| sources.contains(&(origin.source + u64::from(id)));
    let is_target = |id: u32| targets.contains(&(origin.target + u64::from(id)));
    let is_sound = summary.source_first <= summary.source_last
        && is_source(summary.source_first)
        && is_source(summary.source_last)
        && summary.target_first <= summary.target_last
        && is_target(summary.target_first)
        && is_target(summary.target_last)
        && summary.target_first >> WINDOW_LOG2 == summary.target_last >> WINDOW_LOG2
        && record.reserved.get() == 0
        // A tile without a mask would seem to have no active source, and its edges would be left
        // out.
        && (summary.edge_count == 0 || summary.source_mask != 0);
    is_sound.then_some(summary)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{FORMAT_VERSION, IdType, OrderChoice};
    use crate::tiles::Grid;

    const VERTICES: u32 = 128;

    /// The table of a small graph, with its manifest and file sizes.
    struct Small {
        batches: [BatchRecord; 2],
        cells: [CellRecord; 2],
        tiles: [TileRecord; 3],
        manifest: Manifest,
        sizes: FileSizes,
    }

    /// A column with two batches of 64 targets. The first batch has a tile from each segment of 64
    /// sources, the second batch one from the second segment.
    fn records(weighted: bool) -> Small {
        let batch = |target_first: u64, edge_count: u64| BatchRecord {
            target_first: target_first.into(),
            log2: 6.into(),
            reserved: 0.into(),
            edge_count: edge_count.into(),
        };
        let tile = |number: u32, edge_count: u32, target_first: u32| TileRecord {
            offset: u64::from(100 * number).into(),
            weights_offset: u64::from(if weighted { 40 * number } else { 0 }).into(),
            source_mask: 1.into(),
            size: 100.into(),
            checksum: 0xABCD.into(),
            weights_checksum: if weighted { 0xABCD } else { 0 }.into(),
            weight_count: if weighted { 10 } else { 0 }.into(),
            edge_count: edge_count.into(),
            source_first: 0.into(),
            source_last: 63.into(),
            target_first: target_first.into(),
            target_last: (target_first + 9).into(),
            reserved: 0.into(),
        };
        let order = OrderChoice { name: "given".into(), reason: String::new(), estimates: vec![] };
        let cell = |segment: u32, tile_count: u64, edge_count: u64| CellRecord {
            column: 0.into(),
            segment: segment.into(),
            tile_count: tile_count.into(),
            edge_count: edge_count.into(),
            sources_offset: (7 * u64::from(segment)).into(),
            source_count: (4 + segment).into(),
            sources_size: 7.into(),
            sources_checksum: 0xABCD.into(),
            reserved: 0.into(),
        };
        Small {
            batches: [batch(0, 30), batch(64, 5)],
            cells: [cell(0, 1, 10), cell(1, 2, 25)],
            tiles: [tile(0, 10, 0), tile(1, 20, 8), tile(2, 5, 70)],
            manifest: Manifest {
                format_version: FORMAT_VERSION,
                vertices: u64::from(VERTICES),
                edges: 35,
                undirected: false,
                weighted,
                equal_weight: None,
                loops: 0,
                duplicates: 0,
                ids: IdType::Range,
                order,
                grid: Grid { segment_log2: 6, column_log2: 7 },
                batches: 2,
                cells: 2,
                tiles: 3,
                rows: None,
                reverse: None,
                partition: None,
                files: Vec::new(),
            },
            sizes: FileSizes { tiles: 300, weights: if weighted { 120 } else { 0 }, sources: 14 },
        }
    }

    fn check(small: &Small) -> Result<Table, String> {
        let Small { batches, cells, tiles, manifest, sizes } = small;
        Table::check(&Records { batches, cells, tiles }, manifest, *sizes)
    }

    /// Asserts that the records are refused with these words after `change`.
    #[track_caller]
    fn assert_refused(weighted: bool, words: &str, change: impl Fn(&mut Small)) {
        let mut records = records(weighted);
        check(&records).unwrap();
        change(&mut records);
        let detail = check(&records).unwrap_err();
        assert!(detail.contains(words), "{detail}");
    }

    #[test]
    fn a_sound_table_gives_batches_and_their_tiles() {
        for weighted in [false, true] {
            let table = check(&records(weighted)).unwrap();
            let tiles = |batch| table.batch_tiles(batch).collect::<Vec<_>>();
            assert_eq!((tiles(0), tiles(1)), (vec![0..1, 1..2], std::iter::once(2..3).collect()));
            assert_eq!(table.entries[1].weights_offset, if weighted { 40 } else { 0 });
            assert!(table.entries.iter().map(|tile| tile.cell).eq([0, 1, 1]));
            assert!(table.entries.iter().all(|tile| tile.summary.source_first == 0));
        }
    }

    #[test]
    fn batches_and_tiles_with_different_edge_counts_are_refused() {
        // The sum over all batches is unchanged.
        assert_refused(false, "batch at target 0 has 30 edges, not 29", |it| {
            it.batches[0].edge_count -= 1;
            it.batches[1].edge_count += 1;
        });
        assert_refused(false, "batches are missing", |it| it.batches[1].edge_count += 1);
        assert_refused(false, "tiles are missing", |it| it.tiles[1].edge_count += 1);
    }

    #[test]
    fn cells_out_of_order_or_with_wrong_counts_are_refused() {
        assert_refused(false, "cell 1", |it| it.cells[1].segment = 0.into());
        assert_refused(false, "cell 1", |it| it.cells[1].segment = 2.into());
        assert_refused(false, "cell 1", |it| it.cells[1].column = 1.into());
        assert_refused(false, "cell 1", |it| it.cells[1].tile_count = u64::MAX.into());
        assert_refused(false, "cell 0", |it| it.cells[0].tile_count = 0.into());
        assert_refused(false, "cells are missing", |it| it.cells[1].tile_count = 1.into());
        assert_refused(false, "cells are missing", |it| it.cells[1].edge_count += 1);
        assert_refused(false, "segment 0 has another number of edges", |it| {
            it.cells[0].edge_count += 1;
            it.cells[1].edge_count -= 1;
        });
    }

    #[test]
    fn invalid_lists_of_sources_are_refused() {
        assert_refused(false, "cell 1", |it| it.cells[1].sources_offset = 8.into());
        assert_refused(false, "cell 0", |it| it.cells[0].source_count = 0.into());
        assert_refused(false, "cell 0", |it| it.cells[0].source_count = 11.into());
        assert_refused(false, "cell 0", |it| it.cells[0].sources_size = 0.into());
        assert_refused(false, "cell 0", |it| it.cells[0].reserved = 1.into());
        assert_refused(false, "cells are missing", |it| it.sizes.sources = 15);
        // No list has more than half of the 64 sources.
        assert_refused(false, "cell 0", |it| {
            it.cells[0].source_count = 33.into();
            it.cells[0].edge_count = 40.into();
        });
    }

    #[test]
    fn weights_in_an_unweighted_graph_are_refused() {
        assert_refused(false, "tile 1", |it| it.tiles[1].weights_offset = 4.into());
        assert_refused(false, "tile 1", |it| it.tiles[1].weights_checksum = 1.into());
        assert_refused(false, "tile 1", |it| it.tiles[1].weight_count = 1.into());
        assert_refused(true, "tile 1", |it| it.tiles[1].weights_offset = 0.into());
    }

    #[test]
    fn a_tile_with_edges_and_an_empty_source_mask_is_refused() {
        assert_refused(false, "tile 2", |it| it.tiles[2].source_mask = 0.into());
    }

    #[test]
    fn tiles_outside_their_cell_or_batch_are_refused() {
        assert_refused(false, "tile 1", |it| it.tiles[1].source_last = 64.into());
        assert_refused(false, "tile 1", |it| it.tiles[1].source_last = u32::MAX.into());
        assert_refused(false, "tile 2", |it| it.tiles[2].target_last = VERTICES.into());
        assert_refused(false, "outside its batch", |it| it.tiles[1].target_last = 64.into());
        assert_refused(false, "outside its batch", |it| it.tiles[2].target_first = 63.into());
    }

    #[test]
    fn a_tile_that_reaches_into_the_next_batch_is_refused_at_any_position() {
        for crossing in 0..4 {
            let mut it = records(false);
            let one = it.tiles[1];
            it.manifest.grid.segment_log2 = 7;
            it.cells[0].tile_count = 5.into();
            it.cells[0].edge_count = 35.into();
            let mut tiles = [one; 5];
            for (number, tile) in (0u32..).zip(&mut tiles) {
                tile.offset = u64::from(100 * number).into();
                tile.edge_count = [10, 10, 5, 5, 5][number as usize].into();
                let first = if number < 2 { 8 } else { 70 };
                (tile.target_first, tile.target_last) = (first.into(), (first + 9).into());
            }
            (it.batches[0].edge_count, it.batches[1].edge_count) = (20.into(), 15.into());
            it.sizes = FileSizes { tiles: 500, ..FileSizes::default() };
            (it.manifest.tiles, it.manifest.cells) = (5, 1);
            // In a graph with one segment, cells have no lists.
            it.cells[0].source_count = 0.into();
            it.cells[0].sources_size = 0.into();
            it.cells[0].sources_checksum = 0.into();
            let check = |tiles: &[TileRecord]| {
                let records = Records { batches: &it.batches, cells: &it.cells[..1], tiles };
                Table::check(&records, &it.manifest, it.sizes)
            };
            check(&tiles).unwrap();
            (tiles[crossing].target_first, tiles[crossing].target_last) = (8.into(), 70.into());
            assert!(check(&tiles).is_err(), "tile {crossing}");
        }
    }

    #[test]
    fn batches_of_a_cell_come_in_order() {
        assert_refused(false, "outside its batch", |it| {
            (it.tiles[1].target_first, it.tiles[1].target_last) = (70.into(), 71.into());
            (it.tiles[2].target_first, it.tiles[2].target_last) = (8.into(), 9.into());
        });
    }
}
