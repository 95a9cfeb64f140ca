//! Shared by all tests: turns an edge list into a graph directory, and states into a table.

#![allow(dead_code, reason = "each scenario uses a part of it")]

pub mod small;
pub mod tables;
pub mod ways;

use std::path::{Path, PathBuf};

use tegula_engine::{Executor, Graph, RunOptions, ShortId, VertexId, open_graph};
use tegula_import::{ImportConfig, import};
use tegula_machine::disk::Backend;
use tegula_machine::threads::{Cancel, Silent};
use tegula_store::graph::{IdChunk, VertexOrder};
use tegula_store::{Error, OriginalId};
use tegula_testkit::{EdgeList, Table};

/// More than any small graph needs.
pub const AMPLE: u64 = 1 << 30;

/// Imports a graph in a vertex order and returns its directory.
pub fn import_edges(folder: &Path, name: &str, graph: &EdgeList, order: VertexOrder) -> PathBuf {
    let config = ImportConfig { order: Some(order), ..Default::default() };
    import_with(config, folder, &format!("{name}-{}", order.name()), graph)
}

/// Imports a graph and returns its directory.
pub fn import_with(config: ImportConfig, folder: &Path, name: &str, graph: &EdgeList) -> PathBuf {
    let input = folder.join(format!("{name}.bin64"));
    let mut bytes = Vec::new();
    for (number, &(source, target)) in graph.edges.iter().enumerate() {
        bytes.extend([source.to_le_bytes(), target.to_le_bytes()].concat());
        let weight = graph.weights.as_ref().map(|weights| weights[number].to_le_bytes());
        bytes.extend(weight.into_iter().flatten());
    }
    std::fs::write(&input, bytes).unwrap();
    let output = folder.join(format!("{name}.tegula"));
    let mut config = ImportConfig { memory: 256 << 20, allow_empty: true, ..config };
    config.input.weighted = graph.weights.is_some();
    import(&[input], &output, &config, &Silent, &Cancel::default()).unwrap();
    output
}

/// Opens a graph with the default backend.
pub fn open(directory: &Path) -> Graph {
    open_graph(directory, AMPLE, Backend::Auto).unwrap()
}

/// Options with ample memory and a number of threads.
pub fn threads(threads: usize) -> RunOptions<'static> {
    RunOptions { memory: AMPLE, threads, ..Default::default() }
}

/// The same options with an executor.
pub fn with_executor(executor: Executor, count: usize) -> RunOptions<'static> {
    RunOptions { executor, ..threads(count) }
}

/// Every executor.
pub const EXECUTORS: [Executor; 3] = [Executor::Scan, Executor::Seek, Executor::Auto];

/// Values by dense id as a table by original id.
pub fn table<S: Copy, T>(graph: &Graph, states: &[S], value: impl Fn(S) -> T) -> Table<T> {
    let mut rows = Vec::new();
    let chunks = graph.original_ids().unwrap().for_each_chunk(|ids, dense| {
        let IdChunk::Integers(ids) = ids else { panic!("integer ids") };
        rows.extend(ids.into_iter().zip(dense).map(|(id, v)| (id, value(states[v.index()]))));
        Ok::<(), Error>(())
    });
    chunks.unwrap();
    rows
}

/// The original id of each dense id.
pub fn original_of(graph: &Graph) -> Vec<u64> {
    let mut originals = vec![0; graph.vertex_count() as usize];
    let dense: Vec<u64> = (0..graph.vertex_count()).collect();
    for (original, dense) in table(graph, &dense, |dense| dense) {
        originals[dense as usize] = original;
    }
    originals
}

/// The dense id of an original id.
pub fn find(graph: &Graph, id: u64) -> VertexId {
    graph.original_ids().unwrap().find(&OriginalId::Integer(id)).unwrap().unwrap()
}

/// Component roots as a table of (vertex, smallest original id of its component).
pub fn components(graph: &Graph, roots: &[ShortId]) -> Table<u64> {
    let rows = table(graph, roots, |root| root.0);
    let mut smallest = std::collections::HashMap::new();
    for &(vertex, root) in &rows {
        // Rows ascend, so the first vertex of a component is its smallest.
        smallest.entry(root).or_insert(vertex);
    }
    rows.iter().map(|(vertex, root)| (*vertex, smallest[root])).collect()
}
