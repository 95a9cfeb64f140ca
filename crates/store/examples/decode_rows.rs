#![expect(clippy::print_stdout, reason = "an example prints")]
//! Times decoding rows that are in memory, one after the other, on one thread.
//!
//! ```sh
//! cargo run --release -p tegula-store --example decode_rows -- GRAPH PASSES
//! ```

use std::error::Error;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

use tegula_machine::disk::{Backend, Caching, Pool, Reader, Targets};
use tegula_store::graph::Graph;
use tegula_store::rows::{Direction, RowBatch, RowReader};
use tegula_store::{Result, ShortId};

/// Rows brought into memory together.
const BATCH: usize = 1024;

fn main() -> std::result::Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [graph, passes] = arguments.as_slice() else {
        return Err("usage: decode_rows GRAPH PASSES".into());
    };
    let reader = Reader::open(Backend::Auto, Pool::new(64 << 20))?;
    let graph = Graph::open(Path::new(graph), &reader, Caching::PageCache)?;
    let size = RowReader::cache_size_max(&graph, Direction::Forward, false);
    let rows = RowReader::open(&graph, Direction::Forward, false, size, &Targets::default())?;
    let rows = rows.ok_or("the graph has no rows")?;
    let vertices: Vec<ShortId> = (0..graph.short_vertex_count()?).map(ShortId).collect();
    // The first pass reads the rows.
    decode(&rows, &vertices)?;
    let mut seconds = Vec::new();
    for _ in 0..passes.parse()? {
        let started = Instant::now();
        decode(&rows, &vertices)?;
        seconds.push(started.elapsed().as_secs_f64());
    }
    let (edges, bits) = (graph.edge_count(), rows.rows().bits_per_edge());
    println!(r#"{{"edges":{edges},"bits_per_edge":{bits},"seconds":{seconds:?}}}"#);
    Ok(())
}

fn decode(rows: &RowReader, vertices: &[ShortId]) -> Result<()> {
    let mut batch = RowBatch::default();
    let mut sum = 0u64;
    for part in vertices.chunks(BATCH) {
        let mut done = 0;
        while done < part.len() {
            done += rows.for_each_row(&part[done..], &mut batch, |row| {
                sum = row.try_fold(sum, |sum, target| {
                    ControlFlow::Continue(sum.wrapping_add(u64::from(target.0)))
                })?;
                Ok(ControlFlow::Continue(()))
            })?;
        }
    }
    std::hint::black_box(sum);
    Ok(())
}
