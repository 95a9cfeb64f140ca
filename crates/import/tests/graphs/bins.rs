//! Edges that lie elsewhere than chance would have them. Bins that follow from degrees are then far
//! too large or nearly empty, and the graph is right all the same, for every budget and number of
//! workers.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use tegula_import::{ImportConfig, import};
use tegula_machine::disk::{Backend, Caching, Pool, Reader};
use tegula_machine::threads::{Cancel, Silent};
use tegula_store::graph::{Graph, VertexOrder};
use tegula_store::tiles::{BATCH_EDGES_MAX, Grid, TileOrder, WINDOW_LOG2};
use tegula_testkit::{Scratch, XorShift};

/// A budget with more bins than piles where batches are small, and one that holds everything.
const BUDGETS: [u64; 2] = [64 << 20, 1 << 30];

/// Two communities of one window of targets each, with nothing between them. Of the slices of which
/// a bin expects a little, half give nothing, and the others twice as much.
fn communities(edges: u64) -> Vec<[u32; 2]> {
    let mut random = XorShift::new(edges);
    let mut end =
        |community: u64| (community << WINDOW_LOG2 | random.below(1 << WINDOW_LOG2)) as u32;
    let mut pairs: Vec<[u32; 2]> =
        (0..edges).map(|number| [end(number % 2), end(number % 2)]).collect();
    // Every id is a vertex.
    pairs.extend((0..2 << WINDOW_LOG2).map(|id| [id, id]));
    pairs
}

/// Five blocks of edges, each from 64 sources into 128 targets, and no other edges. A block has
/// more edges than are encoded at once; by chance, each cell would have a fifth of them. So bins of
/// several segments are divided by segments, and then by the batches of a column.
fn blocks() -> Vec<[u32; 2]> {
    let mut random = XorShift::new(5);
    let mut below = |count| random.below(count) as u32;
    let mut pairs = Vec::new();
    for block in 0..5 {
        let source_first = 64 * ((block + 2) % 5);
        pairs.extend((0..530_000).map(|_| [source_first + below(64), 128 * block + below(128)]));
    }
    pairs.extend((0..640).map(|id| [id, id]));
    pairs
}

fn files(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap());
    entries.map(|e| (e.file_name().into_string().unwrap(), fs::read(e.path()).unwrap())).collect()
}

fn open(directory: &Path) -> Graph {
    let reader = Reader::open(Backend::Auto, Pool::new(64 << 20)).unwrap();
    Graph::open(directory, &reader, Caching::PageCache).unwrap()
}

fn edges_of(directory: &Path) -> Vec<[u32; 2]> {
    let graph = open(directory);
    let mut edges = Vec::new();
    for index in 0..graph.tiles().len() {
        let read = graph.read_tiles(index..index + 1, false).wait().unwrap();
        let (tile, _) = read.get(&graph, index);
        let visit = |_, source, target| edges.push([source as u32, target as u32]);
        graph.for_each_edge(index, tile, visit).unwrap();
    }
    edges.sort_unstable();
    edges
}

/// Imports edges with each of these batches and grids, for every budget and number of workers.
fn check(mut pairs: Vec<[u32; 2]>, cuts: &[(u64, Grid)]) {
    let scratch = Scratch::new();
    let input = scratch.join("edges.bin32");
    let bytes = pairs.as_flattened().iter().flat_map(|id| id.to_le_bytes());
    fs::write(&input, bytes.collect::<Vec<u8>>()).unwrap();
    pairs.sort_unstable();
    for &(batch_edges, grid) in cuts {
        let mut first = None;
        for (memory, threads) in [(BUDGETS[0], 1), (BUDGETS[1], 1), (BUDGETS[1], 3)] {
            let order = Some(VertexOrder::Given);
            let mut config = ImportConfig { order, memory, threads, ..Default::default() };
            (config.tuning.batch_edges, config.tuning.grid) = (batch_edges, grid);
            let output = scratch
                .join(format!("{batch_edges}-{}-{memory}-{threads}.tegula", grid.segment_log2));
            import(std::slice::from_ref(&input), &output, &config, &Silent, &Cancel::default())
                .unwrap();
            let found = files(&output);
            match &first {
                None => {
                    assert!(edges_of(&output) == pairs, "{batch_edges}: other edges");
                    first = Some(found);
                }
                Some(first) => {
                    assert!(*first == found, "{batch_edges}: other files in {memory} by {threads}");
                }
            }
        }
    }
}

#[test]
fn communities_are_imported_whole() {
    // Batches of some thousand edges have more bins than the smaller budget has piles.
    let half = Grid { segment_log2: WINDOW_LOG2, column_log2: WINDOW_LOG2 };
    let cuts = [(BATCH_EDGES_MAX, Grid::default()), (1 << 12, Grid::default()), (1 << 12, half)];
    check(communities(2_400_000), &cuts);
}

#[test]
fn blocks_in_the_midst_of_empty_cells_are_imported_whole() {
    let grid = Grid { segment_log2: 6, column_log2: 7 };
    check(blocks(), &[(BATCH_EDGES_MAX, grid), (1 << 12, grid)]);
}

#[test]
fn tiles_of_a_batch_have_the_order_that_is_asked_for() {
    let scratch = Scratch::new();
    let mut random = XorShift::new(6);
    let mut pairs: Vec<[u32; 2]> =
        (0..2_200_000).map(|_| [(); 2].map(|()| random.below(2 << WINDOW_LOG2) as u32)).collect();
    // Every id is a vertex.
    pairs.extend((0..2 << WINDOW_LOG2).map(|id| [id, id]));
    let input = scratch.join("edges.bin32");
    let bytes = pairs.as_flattened().iter().flat_map(|id| id.to_le_bytes());
    fs::write(&input, bytes.collect::<Vec<u8>>()).unwrap();
    pairs.sort_unstable();
    // Runs of tiles to one window of targets: this window, and the window of sources that begins
    // the run.
    for (tile_order, expected) in [
        (TileOrder::Hilbert, &[(0, 0), (1, 1)][..]),
        (TileOrder::Source, &[(0, 0), (1, 0), (0, 1), (1, 1)]),
        (TileOrder::Target, &[(0, 0), (1, 0)]),
    ] {
        let order = Some(VertexOrder::Given);
        let mut config = ImportConfig { order, memory: BUDGETS[1], ..Default::default() };
        config.tuning.tile_order = tile_order;
        let output = scratch.join(format!("{tile_order:?}.tegula"));
        import(std::slice::from_ref(&input), &output, &config, &Silent, &Cancel::default())
            .unwrap();
        let graph = open(&output);
        assert_eq!(graph.batches().len(), 1);
        let mut runs: Vec<(u32, u32)> = Vec::new();
        for tile in graph.tiles() {
            let [source, target] = [tile.summary.source_first, tile.summary.target_first]
                .map(|first| first >> WINDOW_LOG2);
            if runs.last().is_none_or(|&(window, _)| window != target) {
                runs.push((target, source));
            }
        }
        assert_eq!(runs, expected, "{tile_order:?}");
        assert!(edges_of(&output) == pairs, "{tile_order:?}: other edges");
        graph.verify(&Silent, &Cancel::default()).unwrap();
    }
}
