//! The tile table: its records, checked against each other and the manifest.

use std::ops::Range;

use super::manifest::Manifest;
use super::records::{BatchRecord, TileRecord};
use crate::tiles::{BATCH_LOG2_MAX, BATCH_LOG2_MIN, Batch, TileSummary, WINDOW_LOG2};

/// A tile in the table: where it lies, and what is known without reading it.
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
    /// Enough to tell that a run has no use for the tile.
    pub summary: TileSummary,
}

/// A checked table.
#[derive(Debug)]
pub(super) struct Table {
    pub batches: Vec<Batch>,
    /// The tiles of each batch.
    pub batch_tiles: Vec<Range<u32>>,
    pub entries: Vec<TileEntry>,
}

/// Batches and the tiles of each.
type Batches = (Vec<Batch>, Vec<Range<u32>>);

impl Table {
    /// Checks the records against each other, the manifest and the sizes of the files of tiles and
    /// weights.
    ///
    /// # Errors
    /// What does not fit, in words.
    pub fn check(
        batch_records: &[BatchRecord],
        tile_records: &[TileRecord],
        manifest: &Manifest,
        sizes: (u64, u64),
    ) -> Result<Table, String> {
        let (batches, batch_tiles) = check_batches(batch_records, manifest)?;
        let entries = check_tiles(tile_records, manifest, sizes)?;
        for ((record, batch), tiles) in batch_records.iter().zip(&batches).zip(&batch_tiles) {
            let tiles = &entries[tiles.start as usize..tiles.end as usize];
            check_batch_tiles(record, batch.targets(manifest.vertices as u32), tiles)?;
        }
        Ok(Table { batches, batch_tiles, entries })
    }
}

fn check_batches(records: &[BatchRecord], manifest: &Manifest) -> Result<Batches, String> {
    let (mut next_target, mut next_tile, mut edges) = (0u64, 0u64, 0u64);
    let (mut batches, mut tiles) = (Vec::new(), Vec::new());
    for record in records {
        let batch = Batch { target_first: record.target_first.get(), log2: record.log2.get() };
        let is_aligned = (BATCH_LOG2_MIN..=BATCH_LOG2_MAX).contains(&batch.log2)
            && batch.target_first & ((1 << batch.log2) - 1) == 0
            && u64::from(batch.target_first) == next_target;
        if !is_aligned || next_target >= manifest.vertices || record.reserved.get() != 0 {
            return Err(format!("batch {} is out of place", batches.len()));
        }
        let end = next_tile + u64::from(record.tile_count.get());
        if end > manifest.tiles {
            return Err(format!("batch {} has too many tiles", batches.len()));
        }
        tiles.push(next_tile as u32..end as u32);
        batches.push(batch);
        next_tile = end;
        next_target += 1 << batch.log2;
        edges = edges.saturating_add(record.edge_count.get());
    }
    let complete =
        next_target >= manifest.vertices && next_tile == manifest.tiles && edges == manifest.edges;
    if complete { Ok((batches, tiles)) } else { Err("batches are missing".into()) }
}

/// That the tiles of a batch lie in it and hold its edges.
fn check_batch_tiles(
    record: &BatchRecord,
    targets: Range<u32>,
    tiles: &[TileEntry],
) -> Result<(), String> {
    let mut edges = 0;
    for TileEntry { summary, .. } in tiles {
        if !targets.contains(&summary.target_first) || !targets.contains(&summary.target_last) {
            return Err("a tile lies outside its batch".into());
        }
        edges += u64::from(summary.edge_count);
    }
    let expected = record.edge_count.get();
    if edges != expected {
        let first = targets.start;
        return Err(format!("the batch at target {first} has {edges} edges, not {expected}"));
    }
    Ok(())
}

fn check_tiles(
    records: &[TileRecord],
    manifest: &Manifest,
    (tiles_length, weights_length): (u64, u64),
) -> Result<Vec<TileEntry>, String> {
    let (mut next_offset, mut next_weights, mut edges) = (0u64, 0u64, 0u64);
    let mut entries = Vec::with_capacity(records.len());
    for record in records {
        let summary = TileSummary {
            edge_count: record.edge_count.get(),
            source_first: record.source_first.get(),
            source_last: record.source_last.get(),
            target_first: record.target_first.get(),
            target_last: record.target_last.get(),
            source_mask: record.source_mask.get(),
        };
        let in_range = summary.source_first <= summary.source_last
            && u64::from(summary.source_last) < manifest.vertices
            && summary.target_first <= summary.target_last
            && summary.target_first >> WINDOW_LOG2 == summary.target_last >> WINDOW_LOG2
            && record.reserved.get() == 0
            && (summary.edge_count == 0 || summary.source_mask != 0);
        let has_no_weights = record.weight_count.get() == 0
            && record.weights_offset.get() == 0
            && record.weights_checksum.get() == 0;
        let in_sequence = record.offset.get() == next_offset
            && if manifest.weighted {
                record.weights_offset.get() == next_weights
            } else {
                has_no_weights
            };
        if !in_range || !in_sequence {
            return Err(format!("tile {} is out of place", entries.len()));
        }
        entries.push(TileEntry {
            offset: next_offset,
            size: record.size.get(),
            checksum: record.checksum.get(),
            weights_offset: next_weights,
            weight_count: record.weight_count.get(),
            weights_checksum: record.weights_checksum.get(),
            summary,
        });
        next_offset += u64::from(record.size.get());
        next_weights += 4 * u64::from(record.weight_count.get());
        edges += u64::from(summary.edge_count);
    }
    if (next_offset, next_weights, edges) == (tiles_length, weights_length, manifest.edges) {
        Ok(entries)
    } else {
        Err("tiles are missing".into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{ArrayLayout, FORMAT_VERSION, IdType, OrderChoice};

    const VERTICES: u32 = 128;

    /// Records of a small graph, and what the manifest and the files say of it.
    struct Records {
        batches: [BatchRecord; 2],
        tiles: [TileRecord; 3],
        manifest: Manifest,
        sizes: (u64, u64),
    }

    /// Two batches of 64 targets: the first has two tiles, the second one.
    fn records(weighted: bool) -> Records {
        let batch = |target_first: u32, tile_count: u32, edge_count: u64| BatchRecord {
            target_first: target_first.into(),
            log2: 6.into(),
            tile_count: tile_count.into(),
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
            source_last: (VERTICES - 1).into(),
            target_first: target_first.into(),
            target_last: (target_first + 9).into(),
            reserved: 0.into(),
        };
        let order = OrderChoice { name: "given".into(), reason: String::new(), estimates: vec![] };
        Records {
            batches: [batch(0, 2, 30), batch(64, 1, 5)],
            tiles: [tile(0, 10, 0), tile(1, 20, 8), tile(2, 5, 70)],
            manifest: Manifest {
                format_version: FORMAT_VERSION,
                vertices: u64::from(VERTICES),
                edges: 35,
                undirected: false,
                weighted,
                loops: 0,
                duplicates: 0,
                ids: IdType::Range,
                order,
                arrays: ArrayLayout::Plain,
                batches: 2,
                tiles: 3,
                rows: None,
                reverse: None,
                files: Vec::new(),
            },
            sizes: (300, if weighted { 120 } else { 0 }),
        }
    }

    fn check(records: &Records) -> Result<Table, String> {
        Table::check(&records.batches, &records.tiles, &records.manifest, records.sizes)
    }

    /// That records are refused in these words once something in them is changed.
    #[track_caller]
    fn assert_refused(weighted: bool, words: &str, change: impl Fn(&mut Records)) {
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
            assert_eq!(table.batch_tiles, [0..2, 2..3]);
            assert_eq!(table.entries[1].weights_offset, if weighted { 40 } else { 0 });
        }
    }

    #[test]
    fn batches_whose_edges_are_not_those_of_their_tiles_are_refused() {
        // The sum over all stays what it is.
        assert_refused(false, "batch at target 0 has 30 edges, not 29", |records| {
            records.batches[0].edge_count -= 1;
            records.batches[1].edge_count += 1;
        });
        assert_refused(false, "batches are missing", |it| it.batches[1].edge_count += 1);
        assert_refused(false, "tiles are missing", |it| it.tiles[1].edge_count += 1);
    }

    #[test]
    fn weights_in_an_unweighted_graph_are_refused() {
        assert_refused(false, "tile 1", |it| it.tiles[1].weights_offset = 4.into());
        assert_refused(false, "tile 1", |it| it.tiles[1].weights_checksum = 1.into());
        assert_refused(false, "tile 1", |it| it.tiles[1].weight_count = 1.into());
        assert_refused(true, "tile 1", |it| it.tiles[1].weights_offset = 0.into());
    }

    #[test]
    fn a_tile_of_edges_from_nowhere_is_refused() {
        assert_refused(false, "tile 2", |it| it.tiles[2].source_mask = 0.into());
    }

    #[test]
    fn tiles_outside_their_batch_are_refused() {
        assert_refused(false, "outside its batch", |it| it.tiles[1].target_last = 64.into());
        assert_refused(false, "outside its batch", |it| it.tiles[2].target_first = 63.into());
    }
}
