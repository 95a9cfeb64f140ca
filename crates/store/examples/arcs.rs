#![expect(clippy::print_stdout, reason = "an example prints")]
//! Writes the arcs of a graph for `bench/webgraph-bits`. An arc is its source and its target, 4
//! little-endian bytes each, in the vertex order of the graph. Arcs ascend by source, then target.
//!
//! ```sh
//! cargo run --release -p tegula-store --example arcs -- GRAPH FILE
//! ```

use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::ops::ControlFlow;
use std::path::Path;

use tegula_machine::disk::{Backend, Caching, Pool, Reader, Targets};
use tegula_store::graph::Graph;
use tegula_store::rows::{Direction, RowBatch, RowReader};
use tegula_store::{Result, ShortId};

/// Rows brought into memory together.
const BATCH: usize = 1024;

fn main() -> std::result::Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [graph, file] = arguments.as_slice() else {
        return Err("usage: arcs GRAPH FILE".into());
    };
    let reader = Reader::open(Backend::Auto, Pool::new(64 << 20))?;
    let graph = Graph::open(Path::new(graph), &reader, Caching::PageCache)?;
    let size = RowReader::cache_size_max(&graph, Direction::Forward, false);
    let rows = RowReader::open(&graph, Direction::Forward, false, size, &Targets::default())?;
    let rows = rows.ok_or("the graph has no rows")?;
    let vertices: Vec<ShortId> = (0..graph.short_vertex_count()?).map(ShortId).collect();
    let mut out = BufWriter::new(File::create(file)?);
    for part in vertices.chunks(BATCH) {
        for (source, target) in arcs(&rows, part)? {
            out.write_all(&source.to_le_bytes())?;
            out.write_all(&target.to_le_bytes())?;
        }
    }
    out.into_inner()?;
    println!(r#"{{"vertices":{},"arcs":{}}}"#, graph.vertex_count(), graph.edge_count());
    Ok(())
}

/// The arcs of `sources`, which must ascend.
fn arcs(rows: &RowReader, sources: &[ShortId]) -> Result<Vec<(u32, u32)>> {
    let mut arcs = Vec::new();
    let mut batch = RowBatch::default();
    let mut done = 0;
    while done < sources.len() {
        done += rows.for_each_row(&sources[done..], &mut batch, |row| {
            let source = row.source().0;
            row.for_each(|target| arcs.push((source, target.0)))?;
            Ok(ControlFlow::Continue(()))
        })?;
    }
    arcs.sort_unstable();
    Ok(arcs)
}
