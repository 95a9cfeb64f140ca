#![expect(clippy::print_stdout, reason = "an example prints")]
//! Compresses the rows of a graph, in its vertex order, into WebGraph's BV format with its default
//! parameters, and says how many bits that takes. The format has no parallel edges: each counts once.
//!
//! ```sh
//! cargo run --release -p tegula-cli --features webgraph --example webgraph_bits -- GRAPH
//! ```

use std::error::Error;
use std::ops::ControlFlow;
use std::path::Path;

use dsi_bitstream::prelude::BE;
use tegula_machine::Result;
use tegula_machine::disk::{Backend, Caching, Pool, Reader, Targets};
use tegula_store::VertexId;
use tegula_store::graph::Graph;
use tegula_store::rows::{RowBatch, RowReader};
use webgraph::graphs::arc_list_graph::ArcListGraph;
use webgraph::graphs::bvgraph::BvComp;

/// Rows that are brought into memory together.
const BATCH: usize = 1024;

fn main() -> std::result::Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [graph] = arguments.as_slice() else {
        return Err("usage: webgraph_bits GRAPH".into());
    };
    let reader = Reader::open(Backend::Auto, Pool::new(64 << 20))?;
    let graph = Graph::open(Path::new(graph), &reader, Caching::PageCache)?;
    let arcs = arcs(&graph)?.ok_or("the graph has no rows")?;
    let folder = tempfile::tempdir()?;
    let vertices = graph.vertex_count() as usize;
    let rows = ArcListGraph::new(vertices, arcs.iter().copied());
    let bits = BvComp::with_basename(folder.path().join("bv")).comp_graph::<BE>(rows)?;
    let (edges, bits_per_edge) = (arcs.len(), bits as f64 / arcs.len() as f64);
    println!(r#"{{"edges":{edges},"bits_per_edge":{bits_per_edge}}}"#);
    Ok(())
}

/// Sources and targets, each pair once and in order; none if there are no rows.
fn arcs(graph: &Graph) -> Result<Option<Vec<(usize, usize)>>> {
    let size = RowReader::cache_size_max(graph, false);
    let Some(rows) = RowReader::open(graph, false, size, &Targets::default())? else {
        return Ok(None);
    };
    let vertices: Vec<VertexId> = (0..graph.vertex_count()).map(VertexId).collect();
    let mut arcs = Vec::new();
    let mut batch = RowBatch::default();
    for part in vertices.chunks(BATCH) {
        let mut done = 0;
        while done < part.len() {
            done += rows.for_each_row(&part[done..], &mut batch, |row| {
                let source = row.source().0 as usize;
                row.for_each(|target| arcs.push((source, target.0 as usize)))?;
                Ok(ControlFlow::Continue(()))
            })?;
        }
    }
    arcs.sort_unstable();
    arcs.dedup();
    Ok(Some(arcs))
}
