//! The arrays with a number per vertex: their size, and damage, which never leads out of bounds.

use std::fs;
use std::path::{Path, PathBuf};

use tegula_import::{ImportConfig, import};
use tegula_machine::Error as MachineError;
use tegula_machine::disk::{Backend, Caching, Pool, Reader};
use tegula_machine::threads::{Cancel, Silent};
use tegula_store::graph::{Graph, VertexOrder};
use tegula_store::{Error, OriginalId, Result};
use tegula_testkit::{Scratch, XorShift};

use crate::resealed::{payload, reseal};

/// log2 of the bytes that are checked together.
const BLOCK_LOG2: u32 = 16;

/// Imports a graph of hubs and others, with gaps between its ids.
fn imported(scratch: &Scratch, edges: u64, vertices: u64, config: ImportConfig) -> PathBuf {
    let (input, output) = (scratch.join("g.el"), scratch.join("g.tegula"));
    let mut random = XorShift::new(7);
    let mut id = || {
        let most = random.below(vertices) + 1;
        let id = random.below(most);
        3 * id + id * id % 3
    };
    let lines: String = (0..edges).map(|_| format!("{} {}\n", id(), id())).collect();
    fs::write(&input, lines).unwrap();
    let config = ImportConfig { memory: 64 << 20, threads: 2, force: true, ..config };
    import(&[input], &output, &config, &Silent, &Cancel::default()).unwrap();
    output
}

fn open(directory: &Path) -> Result<Graph> {
    let reader = Reader::open(Backend::Auto, Pool::new(64 << 20))?;
    Graph::open(directory, &reader, Caching::PageCache)
}

/// All numbers that a graph stores about its vertices.
#[derive(Debug, PartialEq)]
struct Numbers {
    out_degrees: Vec<u32>,
    in_degrees: Vec<u32>,
    ids: Vec<OriginalId>,
    dense: Vec<u64>,
}

fn numbers(graph: &Graph) -> Result<Numbers> {
    let (mut ids, mut dense) = (Vec::new(), Vec::new());
    graph.original_ids()?.for_each_chunk(|chunk, vertices| -> Result<()> {
        ids.extend((0..chunk.len()).map(|index| chunk.get(index)));
        dense.extend(vertices.iter().map(|vertex| vertex.0));
        Ok(())
    })?;
    let (out_degrees, in_degrees) = (graph.out_degrees()?, graph.in_degrees()?);
    Ok(Numbers { out_degrees, in_degrees, ids, dense })
}

fn is_permutation(mut numbers: Vec<u64>) -> bool {
    numbers.sort_unstable();
    numbers.iter().copied().eq(0..numbers.len() as u64)
}

#[test]
#[ignore = "long"]
fn a_flipped_bit_under_right_checksums_is_found_or_gives_other_ids() {
    let scratch = Scratch::new();
    let config = ImportConfig { order: Some(VertexOrder::Degree), ..ImportConfig::default() };
    let directory = imported(&scratch, 250, 90, config);
    let right = numbers(&open(&directory).unwrap()).unwrap();
    for name in ["degrees.out", "degrees.in", "vertices.ids", "vertices.order"] {
        let intact = payload(&directory, name);
        let (mut found, mut idle) = (0, 0);
        for bit in 0..8 * intact.len() {
            let mut damaged = intact.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            reseal(&directory, name, &damaged, BLOCK_LOG2);
            let graph = open(&directory).unwrap();
            let verified = graph.verify(&Silent, &Cancel::default());
            match numbers(&graph) {
                // The bit only fills up the last words of a block.
                Ok(numbers) if numbers == right => {
                    verified.unwrap();
                    idle += 1;
                }
                Ok(numbers) => {
                    assert!(numbers.dense.iter().all(|&dense| dense < graph.vertex_count()));
                    // Any ascending ids are plausible, and so is any permutation.
                    let is_believed = match name {
                        "vertices.ids" => numbers.ids.is_sorted(),
                        "vertices.order" => is_permutation(numbers.dense),
                        _ => false,
                    };
                    assert!(verified.is_err() || is_believed, "bit {bit} of {name}");
                    found += 1;
                }
                Err(error) => {
                    assert!(
                        matches!(&error, Error::Machine(MachineError::Corrupt { path, .. }) if path.ends_with(name))
                    );
                    assert!(verified.is_err(), "bit {bit} of {name}");
                    found += 1;
                }
            }
        }
        assert!(found > idle, "{name}: {found} bits count, {idle} do not");
        reseal(&directory, name, &intact, BLOCK_LOG2);
    }
    open(&directory).unwrap().verify(&Silent, &Cancel::default()).unwrap();
}

#[test]
fn a_vertex_takes_few_bytes_in_every_order() {
    let scratch = Scratch::new();
    for (order, bytes_max) in
        [(VertexOrder::Given, 1.5), (VertexOrder::Degree, 2.3), (VertexOrder::Dfs, 3.7)]
    {
        let config = ImportConfig { order: Some(order), ..ImportConfig::default() };
        let graph = open(&imported(&scratch, 600_000, 200_000, config)).unwrap();
        let files = graph.manifest().files.iter();
        let bytes: u64 = files
            .filter(|file| file.name.starts_with("degrees.") || file.name.starts_with("vertices."))
            .map(|file| file.bytes)
            .sum();
        let per_vertex = bytes as f64 / graph.vertex_count() as f64;
        assert!(per_vertex < bytes_max, "{order:?}: {per_vertex}");
        graph.verify(&Silent, &Cancel::default()).unwrap();
    }
}

#[test]
fn in_degrees_of_an_undirected_graph_are_the_out_degrees() {
    let scratch = Scratch::new();
    let config = ImportConfig { undirected: true, ..ImportConfig::default() };
    let directory = imported(&scratch, 3000, 1000, config);
    assert!(!directory.join("degrees.in").exists());
    let graph = open(&directory).unwrap();
    assert_eq!(graph.in_degrees().unwrap(), graph.out_degrees().unwrap());
    graph.verify(&Silent, &Cancel::default()).unwrap();
}
