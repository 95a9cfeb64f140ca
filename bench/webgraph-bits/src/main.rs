//! Compresses arcs into WebGraph's BV format with its default parameters, and says how many bits that takes.
//! The format has no parallel edges: each counts once.
//!
//! ```sh
//! cargo run --release --manifest-path bench/webgraph-bits/Cargo.toml -- VERTICES ARCS
//! ```
//!
//! `ARCS` is a file of pairs of vertices below `VERTICES`, 4 little-endian bytes each, by ascending source
//! and then target, as the example `arcs` of `tegula-store` writes it.

use std::error::Error;

use dsi_bitstream::prelude::BE;
use webgraph::graphs::arc_list_graph::ArcListGraph;
use webgraph::graphs::bvgraph::BvComp;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [vertices, arcs] = arguments.as_slice() else {
        return Err("usage: webgraph-bits VERTICES ARCS".into());
    };
    let bytes = std::fs::read(arcs)?;
    let (pairs, []) = bytes.as_chunks::<8>() else {
        return Err(format!("{arcs} is cut off").into());
    };
    let mut arcs: Vec<(usize, usize)> = pairs.iter().map(arc).collect();
    arcs.dedup();
    let folder = tempfile::tempdir()?;
    let rows = ArcListGraph::new(vertices.parse()?, arcs.iter().copied());
    let bits = BvComp::with_basename(folder.path().join("bv")).comp_graph::<BE>(rows)?;
    let (edges, bits_per_edge) = (arcs.len(), bits as f64 / arcs.len() as f64);
    println!(r#"{{"edges":{edges},"bits_per_edge":{bits_per_edge}}}"#);
    Ok(())
}

fn arc(bytes: &[u8; 8]) -> (usize, usize) {
    let [a, b, c, d, target @ ..] = *bytes;
    (u32::from_le_bytes([a, b, c, d]) as usize, u32::from_le_bytes(target) as usize)
}
