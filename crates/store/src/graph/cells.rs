//! The cells of the tile table: their tiles and their lists of sources.

use std::ops::Range;

use super::manifest::Manifest;
use super::records::CellRecord;
use crate::tiles::{Cell, is_listed, words_of};

/// A cell in the table: its tiles, and the place of its list of sources.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CellEntry {
    /// Its column and segment.
    pub cell: Cell,
    /// Its tiles, as a range of the table.
    pub tiles: Range<usize>,
    /// Number of sources with an edge in it; 0 in a graph with one segment.
    pub source_count: u32,
    /// Bytes of its list of sources; 0 if they are not listed.
    pub sources_size: u32,
    /// First byte of the list in `tiles.sources`.
    pub(super) sources_offset: u64,
    /// CRC-32C of the list.
    pub(super) sources_checksum: u32,
}

impl CellEntry {
    /// Whether its sources are listed.
    pub fn is_listed(&self) -> bool {
        self.sources_size > 0
    }
}

/// Checks the records of cells against each other and the manifest.
pub(super) fn check_cells(
    records: &[CellRecord],
    manifest: &Manifest,
    sources_length: u64,
) -> Result<Vec<CellEntry>, String> {
    let (grid, vertices) = (manifest.grid, manifest.vertices);
    let mut cells: Vec<CellEntry> = Vec::with_capacity(records.len());
    let (mut next_tile, mut edges, mut next_list) = (0u64, 0u64, 0u64);
    for record in records {
        let cell = Cell { column: record.column.get(), segment: record.segment.get() };
        let is_in_place = cell.column < grid.column_count(vertices)
            && cell.segment < grid.segment_count(vertices)
            && cells.last().is_none_or(|before| before.cell < cell)
            && record.sources_offset.get() == next_list
            && lists_soundly(record, manifest);
        let end = next_tile.checked_add(record.tile_count.get());
        let Some(end) = end.filter(|&end| is_in_place && next_tile < end && end <= manifest.tiles)
        else {
            return Err(format!("cell {} is out of place", cells.len()));
        };
        cells.push(CellEntry {
            cell,
            tiles: next_tile as usize..end as usize,
            source_count: record.source_count.get(),
            sources_size: record.sources_size.get(),
            sources_offset: next_list,
            sources_checksum: record.sources_checksum.get(),
        });
        next_tile = end;
        next_list += u64::from(record.sources_size.get());
        // Counts of damaged records must not wrap around to the right sum.
        edges = edges.saturating_add(record.edge_count.get());
    }
    let complete =
        (next_tile, edges, next_list) == (manifest.tiles, manifest.edges, sources_length);
    if complete { Ok(cells) } else { Err("cells are missing".into()) }
}

/// Whether the fields about sources are consistent.
fn lists_soundly(record: &CellRecord, manifest: &Manifest) -> bool {
    let (count, size) = (record.source_count.get(), record.sources_size.get());
    let grid = manifest.grid;
    let sources = grid.source_count(record.segment.get(), manifest.vertices);
    let has_list = manifest.lists_sources() && is_listed(count, sources);
    let is_possible = u64::from(count) <= record.edge_count.get() && count <= sources;
    record.reserved.get() == 0
        && is_possible
        && (count > 0) == manifest.lists_sources()
        && (size > 0) == has_list
        && size as usize <= 8 * words_of(sources)
        && (has_list || record.sources_checksum.get() == 0)
}
