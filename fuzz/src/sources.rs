//! The reader of lists of sources.

use std::fmt::Write;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use tegula_machine::disk::crc32c;
use tegula_machine::threads::{Cancel, Silent};
use tegula_store::graph::{CellEntry, Graph, file_names};
use tegula_store::tiles::Grid;

use crate::graph::{Directory, KINDS, Kind};
use crate::{answer, choice};

/// So large that lists have several words, and so small that there are several cells.
const GRID: Grid = Grid { segment_log2: 10, column_log2: 10 };

/// Bytes of the records of the tile table, and places in the record of a cell.
const BATCH_RECORD: usize = 24;
const CELL_RECORD: usize = 48;
const PLACE: usize = 24;
const COUNT: usize = 32;
const SIZE: usize = 36;
const CHECKSUM: usize = 40;

/// A graph with lists of sources.
struct Listed {
    directory: Directory,
    /// Where the records of cells begin in the tile table.
    cells_start: usize,
    /// The lists of sources by cell.
    lists: Vec<Vec<u8>>,
}

static LISTED: LazyLock<Listed> = LazyLock::new(|| {
    let edges = (0..1500u64).fold(String::new(), |mut text, edge| {
        let (source, target) = (edge * edge % 1999 / 7 * 7, edge * 91 % 2000);
        writeln!(text, "{source}\t{target}").expect("memory takes it");
        text
    });
    let kind = Kind { grid: GRID, ..KINDS[0] };
    let directory = Directory::make("listed", &kind, &edges);
    let manifest = directory.manifest().to_string();
    let graph = directory.open_with_manifest(manifest.as_bytes()).expect("a graph");
    let mut rest = directory.content(file_names::SOURCES).expect("there are several segments");
    let mut lists = Vec::new();
    for cell in graph.cells() {
        let (list, behind) = rest.split_at(cell.sources_size as usize);
        lists.push(list.to_vec());
        rest = behind;
    }
    assert!(lists.iter().filter(|list| !list.is_empty()).count() > 1);
    Listed { directory, cells_start: BATCH_RECORD * graph.batches().len(), lists }
});

/// The lists of sources that are read, by cell, with their number of sources.
pub fn lists() -> impl Iterator<Item = (u8, u8, &'static [u8])> {
    let table = LISTED.directory.content(file_names::TILE_TABLE).expect("every graph has one");
    (0..).zip(&LISTED.lists).filter(|(_, list)| !list.is_empty()).map(|(cell, list)| {
        let record = LISTED.cells_start + CELL_RECORD * usize::from(cell);
        (cell, table[record + COUNT], &list[..])
    })
}

/// Reads a graph with another list of sources. The first byte chooses its cell, and whether the
/// graph is verified, which takes longer; the second is the number of its sources.
pub fn read(data: &[u8]) {
    let Some((cell, data)) = choice(data) else { return };
    let Some((count, list)) = choice(data) else { return };
    let Listed { directory, cells_start, lists } = &*LISTED;
    let chosen = usize::from(cell) % lists.len();
    let mut table =
        directory.content(file_names::TILE_TABLE).expect("every graph has one").to_vec();
    let mut all = Vec::new();
    for (cell, own) in lists.iter().enumerate() {
        let own = if cell == chosen { list } else { own };
        let record = &mut table[cells_start + CELL_RECORD * cell..][..CELL_RECORD];
        record[PLACE..][..8].copy_from_slice(&(all.len() as u64).to_le_bytes());
        if cell == chosen {
            record[COUNT..][..4].copy_from_slice(&u32::from(count).to_le_bytes());
            record[SIZE..][..4].copy_from_slice(&(list.len() as u32).to_le_bytes());
            record[CHECKSUM..][..4].copy_from_slice(&crc32c(list).to_le_bytes());
        }
        all.extend_from_slice(own);
    }
    let contents = [(file_names::TILE_TABLE, &table[..]), (file_names::SOURCES, &all)];
    let Some(graph) = answer(directory.open_with_each(&contents)) else { return };
    let is_read = is_read(&graph, &graph.cells()[chosen]);
    if cell >> 4 == 0 {
        let is_verified = answer(graph.verify(&Silent, &Cancel::default())).is_some();
        assert!(is_read || !is_verified, "a verified list cannot be read");
    }
}

/// Returns whether the list of a cell can be read, if there is one.
fn is_read(graph: &Graph, cell: &CellEntry) -> bool {
    let Some(list) = graph.read_sources(cell) else { return true };
    let count = graph.grid().source_count(cell.cell.segment, graph.vertex_count());
    let words = || (0..count.div_ceil(64)).map(|_| AtomicU64::new(0));
    let words: Vec<AtomicU64> = words().collect();
    if answer(list.add_to(&words)).is_none() {
        return false;
    }
    let words = || words.iter().map(|word| word.load(Ordering::Relaxed));
    assert_eq!(words().map(u64::count_ones).sum::<u32>(), cell.source_count);
    let beyond = words().last().map_or(0, |last| last.unbounded_shr(count % 64));
    assert!(count % 64 == 0 || beyond == 0);
    true
}
