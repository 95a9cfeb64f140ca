//! Rows by target are the rows of the graph with all edges turned around.

use std::fs;
use std::path::{Path, PathBuf};

use tegula_import::{ImportConfig, import};
use tegula_machine::Error as MachineError;
use tegula_machine::disk::{Backend, Caching, Pool, Reader};
use tegula_machine::threads::{Cancel, Silent};
use tegula_store::Error;
use tegula_store::graph::{Graph, VertexOrder};
use tegula_store::rows::{ChunkCut, Direction, RowEncoding, RowsConfig, build};
use tegula_testkit::{Scratch, XorShift};

use crate::resealed::{payload, reseal};

type Edges = Vec<(u64, u64, u64)>;

/// Edges among `0..vertices`. Each vertex occurs, few sources have most edges, and some edges
/// repeat.
fn edges(count: usize, vertices: u64) -> Edges {
    let mut random = XorShift::new(vertices);
    let mut edges: Edges =
        (0..vertices).map(|vertex| (vertex, (vertex + 1) % vertices, 1)).collect();
    for number in 0..count {
        let most = random.below(vertices) + 1;
        let edge = (random.below(most), random.below(vertices), random.below(9) + 1);
        edges.extend(std::iter::repeat_n(edge, 1 + usize::from(number % 11 == 0)));
    }
    edges
}

fn turned_around(edges: &Edges) -> Edges {
    edges.iter().map(|&(source, target, weight)| (target, source, weight)).collect()
}

/// Imports edges so that dense ids are the ids.
fn imported(path: PathBuf, edges: &Edges, config: ImportConfig) -> PathBuf {
    let input = path.with_extension("wel");
    let lines =
        edges.iter().map(|(source, target, weight)| format!("{source} {target} {weight}\n"));
    fs::write(&input, lines.collect::<String>()).unwrap();
    let config = ImportConfig { order: Some(VertexOrder::Given), force: true, ..config };
    import(&[input], &path, &config, &Silent, &Cancel::default()).unwrap();
    path
}

fn config(is_weighted: bool) -> ImportConfig {
    let mut config = ImportConfig { memory: 128 << 20, threads: 2, ..ImportConfig::default() };
    config.input.weighted = is_weighted;
    config
}

fn open(directory: &Path) -> Graph {
    let reader = Reader::open(Backend::Auto, Pool::new(64 << 20)).unwrap();
    Graph::open(directory, &reader, Caching::PageCache).unwrap()
}

fn verify(directory: &Path) -> Result<(), Error> {
    open(directory).verify(&Silent, &Cancel::default()).map(drop)
}

/// Returns the content of the files of a layout.
fn files(directory: &Path, direction: Direction, is_weighted: bool) -> Vec<Vec<u8>> {
    let names = direction.files();
    let weights = is_weighted.then_some(names.weights);
    let names = [names.data, names.index].into_iter().chain(weights);
    names.map(|name| fs::read(directory.join(name)).unwrap()).collect()
}

#[test]
#[ignore = "long"]
fn reverse_rows_are_the_rows_of_the_graph_turned_around() {
    for (count, vertices) in [(0, 1), (300, 40), (40_000, 900), (1_200_000, 150_000)] {
        let edges = edges(count, vertices);
        let turned = turned_around(&edges);
        for (is_weighted, encoding) in [
            (true, RowEncoding::Gap),
            (false, RowEncoding::Copy),
            (false, RowEncoding::Plain),
            (true, RowEncoding::Ceesor),
        ] {
            let scratch = Scratch::new();
            let rows = ImportConfig { rows: Some(encoding), ..config(is_weighted) };
            let turned = imported(scratch.join("turned"), &turned, rows);
            let expected = files(&turned, Direction::Forward, is_weighted);
            for (memory, threads) in [(512 << 20, 2), (50 << 20, 1), (70 << 20, 3)] {
                let graph = imported(scratch.join("graph"), &edges, config(is_weighted));
                let config = RowsConfig {
                    direction: Direction::Reverse,
                    encoding,
                    memory,
                    threads,
                    cut: ChunkCut::STANDARD,
                };
                build(&open(&graph), &config, &Silent, &Cancel::default()).unwrap();
                let found = files(&graph, Direction::Reverse, is_weighted);
                assert!(found == expected, "{encoding:?}, {count} edges, {memory} bytes");
                verify(&graph).unwrap();
            }
        }
    }
}

#[test]
fn a_graph_has_rows_of_both_directions_or_of_either() {
    let scratch = Scratch::new();
    let edges = edges(5000, 300);
    let encoding = Some(RowEncoding::default());
    let graph = |name: &str, rows, reverse| {
        let config = ImportConfig { rows, reverse, ..config(true) };
        imported(scratch.join(name), &edges, config)
    };
    let both = graph("both", encoding, encoding);
    verify(&both).unwrap();
    for (name, rows, reverse, direction) in [
        ("rows", encoding, None, Direction::Forward),
        ("reverse", None, encoding, Direction::Reverse),
    ] {
        let one = graph(name, rows, reverse);
        assert!(files(&one, direction, true) == files(&both, direction, true), "{name}");
        let manifest = open(&one).manifest().clone();
        assert_eq!(manifest.row_layouts().map(|layout| layout.0).collect::<Vec<_>>(), [direction]);
        // The other direction is added.
        let other = direction.opposite();
        let encoding = RowEncoding::default();
        let config = RowsConfig {
            direction: other,
            encoding,
            memory: 64 << 20,
            threads: 2,
            cut: ChunkCut::STANDARD,
        };
        build(&open(&one), &config, &Silent, &Cancel::default()).unwrap();
        assert!(files(&one, other, true) == files(&both, other, true), "{name}");
        verify(&one).unwrap();
    }
}

#[test]
fn an_undirected_graph_has_its_rows_once() {
    let scratch = Scratch::new();
    let edges = edges(900, 70);
    let encoding = Some(RowEncoding::default());
    let undirected = ImportConfig { undirected: true, ..config(false) };
    let rows = ImportConfig { rows: encoding, ..undirected.clone() };
    let rows = files(&imported(scratch.join("rows"), &edges, rows), Direction::Forward, false);
    for (name, forward) in [("both", encoding), ("reverse", None)] {
        let config = ImportConfig { rows: forward, reverse: encoding, ..undirected.clone() };
        let graph = imported(scratch.join(name), &edges, config);
        assert!(files(&graph, Direction::Forward, false) == rows, "{name}");
        assert!(!graph.join("reverse.data").exists());
        let manifest = open(&graph).manifest().clone();
        assert!(manifest.reverse.is_none() && manifest.rows_of(Direction::Reverse).is_some());
        verify(&graph).unwrap();
    }
}

#[test]
fn rows_in_the_place_of_the_reverse_are_noticed() {
    let scratch = Scratch::new();
    // Every vertex has as many edges in as out, so the degrees cannot tell.
    let edges = vec![(0, 1, 1), (1, 2, 1), (2, 3, 1), (3, 0, 1)];
    let encoding = Some(RowEncoding::Plain);
    let config = ImportConfig { rows: encoding, reverse: encoding, ..config(false) };
    let graph = imported(scratch.join("graph"), &edges, config);
    verify(&graph).unwrap();
    for (from, to, block_log2) in
        [("rows.data", "reverse.data", 12), ("rows.index", "reverse.index", 20)]
    {
        let rows = payload(&graph, from);
        reseal(&graph, to, &rows, block_log2);
    }
    let error = verify(&graph).unwrap_err();
    assert!(
        matches!(&error, Error::Machine(MachineError::Corrupt { path, .. }) if path.ends_with("reverse.data")),
        "{error}"
    );
}

#[test]
fn a_reverse_that_does_not_fit_the_budget_says_so_and_leaves_the_graph_alone() {
    let scratch = Scratch::new();
    // All edges enter one vertex: only its row by target is long.
    let edges: Edges = (0..300_000).map(|source| (source, 0, 1)).collect();
    let graph = imported(scratch.join("graph"), &edges, config(false));
    let before = fs::read(graph.join("manifest.json")).unwrap();
    let build_within = |direction, memory| {
        let config = RowsConfig {
            direction,
            encoding: RowEncoding::Gap,
            memory,
            threads: 2,
            cut: ChunkCut::STANDARD,
        };
        build(&open(&graph), &config, &Silent, &Cancel::default()).map(drop)
    };
    let least = RowsConfig::memory_min(&open(&graph), Direction::Reverse).unwrap();
    let error = build_within(Direction::Reverse, least / 2).unwrap_err();
    assert!(
        matches!(error, Error::Machine(MachineError::OverBudget { needed, .. }) if needed > least / 2),
        "{error}"
    );
    assert_eq!(fs::read(graph.join("manifest.json")).unwrap(), before);
    build_within(Direction::Reverse, least).unwrap();
    verify(&graph).unwrap();
}
