//! Helpers that the tests of rows share: graphs, and how their rows are built and opened.
#![allow(dead_code, reason = "each test binary uses a part of it")]

use std::fs;
use std::path::{Path, PathBuf};

use tegula_import::{ImportConfig, import};
use tegula_machine::disk::{Backend, Caching, Pool, Reader, Targets};
use tegula_machine::threads::{Cancel, Silent};
use tegula_store::Error;
use tegula_store::graph::Graph;
use tegula_store::rows::{ChunkCut, Direction, RowEncoding, RowReader, RowsConfig, build};
use tegula_testkit::XorShift;

use crate::resealed::payload;

pub const ENCODINGS: [RowEncoding; 4] = RowEncoding::ALL;

/// So small that every vertex with more than a few edges has its row in several pieces.
pub const TINY: ChunkCut = ChunkCut { edges_max: 6, window_log2: 2 };

/// Edges of a graph with hubs, loops, repeated edges and vertices without out-edges.
pub fn edges(seed: u64, count: usize, vertices: u64) -> Vec<(u32, u32, f32)> {
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

pub fn write_edges(path: &Path, edges: &[(u32, u32, f32)]) {
    let lines =
        edges.iter().map(|(source, target, weight)| format!("{source} {target} {weight}\n"));
    fs::write(path, lines.collect::<String>()).unwrap();
}

/// Imports these edges into a folder of their own. Every vertex must have an edge.
pub fn imported(folder: &Path, edges: &[(u32, u32, f32)], is_weighted: bool) -> PathBuf {
    write_edges(&folder.join("edges.wel"), edges);
    let output = folder.join("g.tegula");
    let mut config = ImportConfig { memory: 128 << 20, threads: 2, ..ImportConfig::default() };
    config.input.weighted = is_weighted;
    config.order = Some(tegula_store::graph::VertexOrder::Given);
    import(&[folder.join("edges.wel")], &output, &config, &Silent, &Cancel::default()).unwrap();
    output
}

/// Edges among `0..vertices`, each of which occurs.
pub fn dense_edges(seed: u64, count: usize, vertices: u32) -> Vec<(u32, u32, f32)> {
    let mut edges = edges(seed, count, u64::from(vertices));
    edges.extend((0..vertices).map(|vertex| (vertex / 2, vertex, 1.0)));
    edges
}

/// Edges of a graph in which rows are alike, with loops and repeated edges.
pub fn alike_edges(seed: u64, vertices: u32, degree: u32) -> Vec<(u32, u32, f32)> {
    let mut random = XorShift::new(seed);
    let mut shared = Vec::new();
    let mut edges = Vec::new();
    for source in 0..vertices {
        if source % 20 == 0 {
            shared = (0..degree).map(|_| random.below(u64::from(vertices)) as u32).collect();
        }
        let own = [random.below(u64::from(vertices)) as u32, source];
        let is_kept = |index: usize| source % 3 != 0 || index as u32 != source % degree;
        let kept = shared.iter().enumerate().filter(|&(index, _)| is_kept(index));
        let targets = kept.map(|(_, &target)| target).chain(own);
        edges.extend(targets.map(|target| (source, target, (target % 50 + 1) as f32)));
    }
    edges
}

pub fn open(directory: &Path) -> Graph {
    reopen(directory).unwrap()
}

pub fn reopen(directory: &Path) -> Result<Graph, Error> {
    let reader = Reader::open(Backend::Auto, Pool::new(64 << 20)).unwrap();
    Graph::open(directory, &reader, Caching::PageCache)
}

pub fn config(encoding: RowEncoding, memory: u64, threads: usize) -> RowsConfig {
    RowsConfig { direction: Direction::Forward, encoding, memory, threads, cut: ChunkCut::STANDARD }
}

pub fn build_rows(graph: &Graph, config: &RowsConfig) -> Result<(), Error> {
    build(graph, config, &Silent, &Cancel::default()).map(drop)
}

/// Opens the rows of a graph, with a cache of `cache` bytes.
pub fn opened_rows(
    graph: &Graph,
    has_weights: bool,
    cache: u64,
) -> Result<Option<RowReader>, Error> {
    RowReader::open(graph, Direction::Forward, has_weights, cache, &Targets::default())
}

/// Whether the rows of the first chunk copy, according to the flags of its record.
pub fn copies(directory: &Path) -> bool {
    payload(directory, "rows.index")[56] & 4 != 0
}

pub fn verify(directory: &Path) -> Result<(), Error> {
    reopen(directory)?.verify(&Silent, &Cancel::default()).map(drop)
}
