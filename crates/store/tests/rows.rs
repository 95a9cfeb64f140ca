//! Rows hold what the edge list holds, whatever the encoding, the budget and the number of workers, and
//! every damage to them is found.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use tegula_store::graph::Graph;
use tegula_store::import::{ImportConfig, import};
use tegula_store::read::{Backend, Caching, Pool, Reader, Targets};
use tegula_store::rows::{RowBatch, RowEncoding, RowReader, RowsConfig, build};
use tegula_store::{Cancel, Error, Silent, VertexId};
use tegula_testkit::XorShift;

const ENCODINGS: [RowEncoding; 3] = RowEncoding::ALL;

/// The neighbours of each vertex and the weights of the edges, sorted.
type Adjacency = BTreeMap<u32, Vec<(u32, u32)>>;

/// Edges of a graph with hubs, loops, repeated edges and vertices without out-edges.
fn edges(seed: u64, count: usize, vertices: u64) -> Vec<(u32, u32, f32)> {
    let mut random = XorShift::new(seed);
    let mut below = |limit: u64| random.below(limit);
    let mut edges = Vec::new();
    for number in 0..count {
        let most = below(vertices) + 1;
        let source = if number % 5 == 0 { below(4) } else { below(most) };
        let target = if number % 17 == 0 { source } else { below(vertices) };
        edges.push((source as u32, target as u32, (below(64) + 1) as f32));
        if number % 23 == 0 {
            edges.push((source as u32, target as u32, (below(64) + 1) as f32));
        }
    }
    edges
}

fn write_edges(path: &Path, edges: &[(u32, u32, f32)]) {
    let lines =
        edges.iter().map(|(source, target, weight)| format!("{source} {target} {weight}\n"));
    fs::write(path, lines.collect::<String>()).unwrap();
}

fn open(directory: &Path) -> Graph {
    let reader = Reader::open(Backend::Auto, Pool::new(64 << 20)).unwrap();
    Graph::open(directory, &reader, Caching::PageCache).unwrap()
}

fn config(encoding: RowEncoding, memory: u64, threads: usize) -> RowsConfig {
    RowsConfig { encoding, memory, threads }
}

fn build_rows(graph: &Graph, config: &RowsConfig) -> Result<(), Error> {
    build(graph, config, &Silent, &Cancel::default()).map(drop)
}

/// What all rows hold, read through so much cache.
fn adjacency(graph: &Graph, cache: u64) -> Adjacency {
    let rows = RowReader::open(graph, true, cache, &Targets::default()).unwrap().unwrap();
    let sources: Vec<VertexId> = (0..graph.vertex_count()).map(VertexId).collect();
    let mut batch = RowBatch::default();
    let mut adjacency = Adjacency::new();
    for sources in sources.chunks(50) {
        let mut rest = sources;
        while !rest.is_empty() {
            rows.prefetch(rest.iter().copied());
            let count = rows.get(rest, &mut batch).unwrap();
            for index in 0..count {
                let row = rows.row(&batch, index);
                let mut edges = Vec::new();
                row.for_each(|target| edges.push((target.0, row.weight(edges.len()) as u32)))
                    .unwrap();
                if rows.rows().is_ascending() {
                    assert!(edges.is_sorted_by_key(|edge| edge.0));
                }
                edges.sort_unstable();
                adjacency.insert(row.source().0, edges);
            }
            rest = &rest[count..];
        }
    }
    adjacency
}

/// What an edge list holds, by dense ids, which here are the ids.
fn expected(edges: &[(u32, u32, f32)], vertices: u32, is_weighted: bool) -> Adjacency {
    let mut adjacency: Adjacency = (0..vertices).map(|vertex| (vertex, Vec::new())).collect();
    for &(source, target, weight) in edges {
        let weight = if is_weighted { weight as u32 } else { 1 };
        adjacency.entry(source).or_default().push((target, weight));
    }
    adjacency.values_mut().for_each(|edges| edges.sort_unstable());
    adjacency
}

/// A graph of these edges in a folder of its own, every vertex with an edge.
fn imported(folder: &Path, edges: &[(u32, u32, f32)], is_weighted: bool) -> PathBuf {
    write_edges(&folder.join("edges.wel"), edges);
    let output = folder.join("g.tegula");
    let mut config = ImportConfig { memory: 128 << 20, threads: 2, ..ImportConfig::default() };
    config.input.weighted = is_weighted;
    config.order = Some(tegula_store::import::VertexOrder::Given);
    import(&[folder.join("edges.wel")], &output, &config, &Silent, &Cancel::default()).unwrap();
    output
}

/// Edges among `0..vertices`, each of which occurs.
fn dense_edges(seed: u64, count: usize, vertices: u32) -> Vec<(u32, u32, f32)> {
    let mut edges = edges(seed, count, u64::from(vertices));
    edges.extend((0..vertices).map(|vertex| (vertex / 2, vertex, 1.0)));
    edges
}

#[test]
fn rows_hold_the_edges_in_every_encoding_and_are_read_through_any_cache() {
    for (seed, (count, vertices)) in
        [(0, 1), (40, 9), (5000, 300), (60_000, 70_000)].iter().enumerate()
    {
        for is_weighted in [false, true] {
            for encoding in ENCODINGS {
                let folder = tempfile::tempdir().unwrap();
                let edges = dense_edges(seed as u64 + 1, *count, *vertices);
                let directory = imported(folder.path(), &edges, is_weighted);
                build_rows(&open(&directory), &config(encoding, 64 << 20, 2)).unwrap();
                let graph = open(&directory);
                for cache in [0, 40 << 10, 64 << 20] {
                    assert!(
                        adjacency(&graph, cache) == expected(&edges, *vertices, is_weighted),
                        "{encoding:?}, {count} edges, weighted: {is_weighted}, cache {cache}"
                    );
                }
            }
        }
    }
}

#[test]
fn the_files_are_the_same_for_every_budget_and_number_of_workers() {
    let folder = tempfile::tempdir().unwrap();
    let edges = dense_edges(7, 2_500_000, 150_000);
    let mut files: Option<Vec<Vec<u8>>> = None;
    for (memory, threads) in [(512 << 20, 2), (512 << 20, 1), (50 << 20, 1), (70 << 20, 3)] {
        let own = folder.path().join(format!("{memory}-{threads}"));
        fs::create_dir(&own).unwrap();
        let directory = imported(&own, &edges, true);
        build_rows(&open(&directory), &config(RowEncoding::Gap, memory, threads)).unwrap();
        let names = ["rows.data", "rows.index", "rows.weights", "manifest.json"];
        let now = names.iter().map(|name| fs::read(directory.join(name)).unwrap()).collect();
        match &files {
            None => files = Some(now),
            Some(first) => assert!(*first == now, "{memory} bytes, {threads} threads"),
        }
    }
}

#[test]
fn a_build_that_does_not_fit_the_budget_says_so_and_leaves_the_graph_alone() {
    let folder = tempfile::tempdir().unwrap();
    let directory = imported(folder.path(), &dense_edges(3, 9000, 500), false);
    let before = fs::read(directory.join("manifest.json")).unwrap();
    let result = build_rows(&open(&directory), &config(RowEncoding::Gap, 1 << 20, 2));
    assert!(matches!(result, Err(Error::OverBudget { needed, budget, .. }) if needed > budget));
    assert_eq!(fs::read(directory.join("manifest.json")).unwrap(), before);
    assert!(
        RowReader::open(&open(&directory), false, 1 << 20, &Targets::default()).unwrap().is_none()
    );
}
