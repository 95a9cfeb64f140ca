//! Graphs for the tests of several modules.

use std::path::PathBuf;

use tegula_generators::{ErdosRenyi, edges};
use tegula_import::{ImportConfig, import};
use tegula_machine::disk::{Backend, Caching, Pool, Reader};
use tegula_machine::threads::{Cancel, Silent};
use tegula_store::graph::{Graph, VertexOrder};
use tegula_store::rows::{ChunkCut, RowEncoding};
use tegula_testkit::{EdgeList, Scratch};

/// Makes a random graph of 200,000 vertices and 2,000,000 edges, in some fifty tiles, read past the
/// page cache within `memory` bytes.
pub fn random_graph(scratch: &Scratch, memory: u64) -> Graph {
    let edges = edges(&ErdosRenyi::new(200_000, 2_000_000, 7).unwrap());
    let input = scratch.path().join("random.bin64");
    let ends = edges.iter().flat_map(|&(source, target): &(u64, u64)| [source, target]);
    std::fs::write(&input, ends.flat_map(u64::to_le_bytes).collect::<Vec<u8>>()).unwrap();
    let output = scratch.path().join("random.tegula");
    let order = Some(VertexOrder::Given);
    let config = ImportConfig { order, memory: 256 << 20, ..Default::default() };
    import(&[input], &output, &config, &Silent, &Cancel::default()).unwrap();
    let reader = Reader::open(Backend::Auto, Pool::new(memory)).unwrap();
    Graph::open(&output, &reader, Caching::Direct).unwrap()
}

/// Makes the directory of an undirected graph with rows and dense ids; weighted if the edges are.
pub fn graph_with_rows(
    scratch: &Scratch,
    edges: &EdgeList,
    encoding: RowEncoding,
    row_cut: ChunkCut,
) -> PathBuf {
    let (input, output) = (scratch.join("edges.el"), scratch.join("graph.tegula"));
    let line = |(number, (source, target)): (usize, &(u64, u64))| match &edges.weights {
        Some(weights) => format!("{source} {target} {}\n", weights[number]),
        None => format!("{source} {target}\n"),
    };
    std::fs::write(&input, edges.edges.iter().enumerate().map(line).collect::<String>()).unwrap();
    let (order, rows) = (Some(VertexOrder::Given), Some(encoding));
    let mut config = ImportConfig { order, rows, undirected: true, ..Default::default() };
    config.tuning.row_cut = row_cut;
    config.memory = 256 << 20;
    config.input.weighted = edges.weights.is_some();
    import(&[input], &output, &config, &Silent, &Cancel::default()).unwrap();
    output
}
