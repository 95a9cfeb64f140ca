//! A row of more edges than a chunk may have is in several pieces. These hold the edges of the edge
//! list to their targets, and the row is built in memory for a single piece.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use tegula_import::{ImportConfig, import};
use tegula_machine::Error as MachineError;
use tegula_machine::disk::{Backend, Caching, Pool, Reader, Targets};
use tegula_machine::threads::{Cancel, Silent};
use tegula_store::graph::{Graph, VertexOrder};
use tegula_store::rows::{
    ChunkCut, Direction, RowBatch, RowEncoding, RowReader, Rows, RowsConfig, build,
};
use tegula_store::{Error, ShortId};
use tegula_testkit::{XorShift, edit_manifest};

/// Imports these edges, with weights. Every vertex must have an edge.
fn imported(folder: &Path, name: &str, edges: &[(u32, u32, u32)], undirected: bool) -> PathBuf {
    let lines = edges.iter().map(|(from, to, weight)| format!("{from} {to} {weight}\n"));
    fs::write(folder.join("edges.wel"), lines.collect::<String>()).unwrap();
    let output = folder.join(name);
    let mut config =
        ImportConfig { memory: 128 << 20, threads: 2, undirected, ..ImportConfig::default() };
    config.input.weighted = true;
    config.order = Some(VertexOrder::Given);
    import(&[folder.join("edges.wel")], &output, &config, &Silent, &Cancel::default()).unwrap();
    output
}

fn copy(directory: &Path, other: &Path) {
    fs::create_dir(other).unwrap();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, other.join(path.file_name().unwrap())).unwrap();
    }
}

fn open(directory: &Path) -> Graph {
    let reader = Reader::open(Backend::Auto, Pool::new(64 << 20)).unwrap();
    Graph::open(directory, &reader, Caching::PageCache).unwrap()
}

fn config(direction: Direction, encoding: RowEncoding, cut: ChunkCut) -> RowsConfig {
    RowsConfig { direction, encoding, memory: 64 << 20, threads: 2, cut }
}

fn build_rows(directory: &Path, config: &RowsConfig) -> Result<(), Error> {
    build(&open(directory), config, &Silent, &Cancel::default()).map(drop)
}

fn verify(directory: &Path) {
    open(directory).verify(&Silent, &Cancel::default()).unwrap();
}

/// Edges from and to a few hubs, some of them repeated or loops, and a ring through all vertices.
fn edges(vertices: u32) -> Vec<(u32, u32, u32)> {
    let mut random = XorShift::new(11);
    let mut below = |limit: u32| random.below(u64::from(limit)) as u32;
    let mut edges = Vec::new();
    for vertex in 0..vertices {
        edges.push((vertex, (vertex + 1) % vertices, below(50) + 1));
    }
    for hub in [0, 5, 6, vertices / 2, vertices - 1] {
        for number in 0..3 * vertices {
            let end = if number % 40 == 0 { hub } else { below(vertices) };
            let times = if number % 11 == 0 { 3 } else { 1 };
            for _ in 0..times {
                let weight = below(50) + 1;
                edges.push(if number % 2 == 0 { (hub, end, weight) } else { (end, hub, weight) });
            }
        }
    }
    edges
}

/// Returns the neighbours of each vertex in a direction, with weights, ascending.
fn adjacency(
    edges: &[(u32, u32, u32)],
    direction: Direction,
    undirected: bool,
) -> BTreeMap<u32, Vec<(u32, u32)>> {
    let mut found: BTreeMap<u32, Vec<(u32, u32)>> = BTreeMap::new();
    for &(from, to, weight) in edges {
        if undirected || direction == Direction::Forward {
            found.entry(from).or_default().push((to, weight));
        }
        if (undirected && from != to) || direction == Direction::Reverse && !undirected {
            found.entry(to).or_default().push((from, weight));
        }
    }
    found.values_mut().for_each(|edges| edges.sort_unstable());
    found
}

#[test]
fn pieces_hold_the_edges_to_their_targets_and_are_as_long_as_they_may_be() {
    let vertices = 90;
    let edges = edges(vertices);
    for (undirected, direction) in
        [(false, Direction::Forward), (false, Direction::Reverse), (true, Direction::Forward)]
    {
        let expected = adjacency(&edges, direction, undirected);
        let folder = tempfile::tempdir().unwrap();
        let imported = imported(folder.path(), "g.tegula", &edges, undirected);
        for encoding in RowEncoding::ALL {
            for cut in [(1, 0), (7, 1), (40, 3), (100, 5)] {
                let cut = ChunkCut { edges_max: cut.0, window_log2: cut.1 };
                let directory = folder.path().join(format!("{encoding:?}-{}", cut.edges_max));
                copy(&imported, &directory);
                build_rows(&directory, &config(direction, encoding, cut)).unwrap();
                verify(&directory);
                let is_long = |row: &&Vec<(u32, u32)>| row.len() as u64 > cut.edges_max;
                assert!(expected.values().filter(is_long).count() >= 5);
                for cache in [0, 1 << 20] {
                    assert_pieces(&open(&directory), direction, cut, &expected, cache);
                }
            }
        }
    }
}

/// Asserts that the rows of a graph are in the expected pieces.
#[track_caller]
fn assert_pieces(
    graph: &Graph,
    direction: Direction,
    cut: ChunkCut,
    expected: &BTreeMap<u32, Vec<(u32, u32)>>,
    cache: u64,
) {
    let rows = RowReader::open(graph, direction, true, cache, &Targets::default());
    let rows = rows.unwrap().unwrap();
    let vertices = graph.short_vertex_count().unwrap();
    let mut batch = RowBatch::default();
    let mut long = Vec::new();
    for source in (0..vertices).map(ShortId) {
        let row = &expected[&source.0];
        let to_window = |window: u32| {
            row.iter().filter(|edge| edge.0 >> cut.window_log2 == window).count() as u64
        };
        let pieces = rows.rows().pieces(source);
        long.extend((pieces.len() > 1).then_some(source));
        let (mut next, mut edges_before) = (0, 0);
        for piece in pieces {
            let targets = piece.targets();
            assert_eq!((piece.source(), targets.start.0), (source, next));
            next = targets.end.0;
            let mut found = Vec::new();
            let piece = rows.piece(&piece, &mut batch).unwrap();
            piece
                .for_each(|target| found.push((target.0, piece.weight(found.len()) as u32)))
                .unwrap();
            found.sort_unstable();
            let is_to = |edge: &&(u32, u32)| (targets.start.0..targets.end.0).contains(&edge.0);
            assert!(found.iter().eq(row.iter().filter(is_to)), "{source:?}, {targets:?}");
            if edges_before == 0 && targets.end.0 == vertices {
                continue;
            }
            let edges = found.len() as u64;
            let windows =
                (targets.start.0 >> cut.window_log2)..targets.end.0.div_ceil(1 << cut.window_log2);
            let filled = windows.clone().filter(|&window| to_window(window) > 0).count();
            assert!(edges > 0 && (edges <= cut.edges_max || filled == 1), "{edges} edges");
            assert_eq!(targets.start.0 % (1 << cut.window_log2), 0);
            let first = windows.clone().map(to_window).find(|&edges| edges > 0).unwrap();
            assert!(edges_before == 0 || edges_before + first > cut.edges_max, "it had room");
            edges_before = edges;
        }
        assert_eq!(next, vertices);
    }
    assert_eq!(rows.rows().long(), long);
}

#[test]
fn pieces_are_the_same_for_every_budget_and_number_of_workers() {
    let edges = edges(3000);
    let cut = ChunkCut { edges_max: 700, window_log2: 6 };
    let folder = tempfile::tempdir().unwrap();
    let mut files: Option<Vec<Vec<u8>>> = None;
    for (number, (memory, threads)) in
        [(512 << 20, 1), (512 << 20, 3), (9_000_000, 1), (20 << 20, 2)].into_iter().enumerate()
    {
        let directory = imported(folder.path(), &format!("{number}.tegula"), &edges, false);
        let config = config(Direction::Forward, RowEncoding::Copy, cut);
        build_rows(&directory, &RowsConfig { memory, threads, ..config }).unwrap();
        let names = ["rows.data", "rows.index", "rows.weights", "manifest.json"];
        let now: Vec<_> =
            names.iter().map(|name| fs::read(directory.join(name)).unwrap()).collect();
        let first = files.get_or_insert_with(|| now.clone());
        assert!(*first == now, "{memory} bytes, {threads} threads");
    }
}

#[test]
fn a_row_is_built_in_memory_for_one_of_its_pieces() {
    // A hub whose whole row would take some 9 MB while it is built.
    let vertices = 300_000;
    let mut edges: Vec<(u32, u32, u32)> = (0..vertices).map(|end| (7, end, end % 60)).collect();
    edges.push((0, 7, 1));
    let folder = tempfile::tempdir().unwrap();
    let directory = imported(folder.path(), "g.tegula", &edges, false);
    let small = ChunkCut { edges_max: 1 << 14, window_log2: 12 };
    let config = config(Direction::Forward, RowEncoding::Gap, ChunkCut::STANDARD);
    let whole = RowsConfig { memory: 0, threads: 1, ..config };
    let in_pieces = RowsConfig { cut: small, ..whole };
    let [whole, memory] = [whole, in_pieces].map(|config| match build_rows(&directory, &config) {
        Err(Error::Machine(MachineError::OverBudget { needed, .. })) => needed,
        other => panic!("{other:?}"),
    });
    assert!(memory + (7 << 20) < whole, "{memory} bytes in pieces, else {whole}");
    build_rows(&directory, &RowsConfig { memory, ..in_pieces }).unwrap();
    verify(&directory);
    let graph = open(&directory);
    let rows = RowReader::open(&graph, Direction::Forward, true, 0, &Targets::default());
    let rows = rows.unwrap().unwrap();
    let whole = rows.rows().batch_size(true) - rows.rows().piece_batch_size(true);
    assert!(whole > 1 << 20, "read whole it takes {whole} bytes more than piece by piece");
    let mut next = 0;
    let mut batch = RowBatch::default();
    rows.get(&[ShortId(7)], &mut batch).unwrap();
    let row = rows.row(&batch, 0);
    row.for_each(|target| {
        assert_eq!((target.0, row.weight(next as usize) as u32), (next, next % 60));
        next += 1;
    })
    .unwrap();
    assert_eq!(next, vertices);
}

#[test]
fn an_edge_repeated_very_often_makes_a_longer_piece() {
    let mut edges: Vec<(u32, u32, u32)> = (0..64).map(|end| (3, end, 1)).collect();
    edges.extend((0..1000).map(|number| (3, 17, number % 9)));
    edges.push((3, 3, 2));
    let folder = tempfile::tempdir().unwrap();
    for encoding in RowEncoding::ALL {
        let directory = imported(folder.path(), encoding.name(), &edges, false);
        let cut = ChunkCut { edges_max: 10, window_log2: 2 };
        build_rows(&directory, &config(Direction::Forward, encoding, cut)).unwrap();
        verify(&directory);
        let graph = open(&directory);
        let rows = RowReader::open(&graph, Direction::Forward, true, 0, &Targets::default());
        let rows = rows.unwrap().unwrap();
        let mut batch = RowBatch::default();
        let edges = rows.rows().pieces(ShortId(3)).map(|piece| {
            let row = rows.piece(&piece, &mut batch).unwrap();
            row.try_fold(0, |edges, _| std::ops::ControlFlow::Continue(edges + 1)).unwrap()
        });
        assert_eq!(edges.collect::<Vec<_>>(), [9, 8, 1004, 8, 8, 8, 8, 8, 4]);
    }
}

#[test]
fn a_graph_has_the_later_version_only_where_a_row_is_in_pieces() {
    let folder = tempfile::tempdir().unwrap();
    let path = imported(folder.path(), "g.tegula", &edges(90), false);
    let other = folder.path().join("other.tegula");
    copy(&path, &other);
    let cut = ChunkCut { edges_max: 40, window_log2: 3 };
    for (directory, cut, version) in [(&path, ChunkCut::STANDARD, 8), (&other, cut, 9)] {
        build_rows(directory, &config(Direction::Forward, RowEncoding::Gap, cut)).unwrap();
        assert_eq!(open(directory).manifest().format_version, version);
    }
    edit_manifest(&other, |body| body.replace("\"format_version\": 9", "\"format_version\": 8"));
    let refused = Rows::open(&open(&other), Direction::Forward).unwrap_err().to_string();
    assert!(refused.contains("rows.index") && refused.contains("out of place"), "{refused}");
}
