#![expect(clippy::print_stdout, reason = "an example prints")]
//! Times reading the vertex arrays of a graph, one after the other, on one thread.
//!
//! ```sh
//! cargo run --release -p tegula-store --example read_vertices -- GRAPH PASSES
//! ```
//!
//! Prints the bytes of the arrays. For each pass, prints the seconds of opening the graph and of
//! reading the out-degrees, the in-degrees, the dense ids by id position, and the original ids with
//! dense ids. After the first pass, the arrays are in the page cache.

use std::error::Error;
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use tegula_machine::disk::{Backend, Caching, Pool, Reader};
use tegula_store::graph::Graph;
use tegula_store::{Error as ReadError, Result};

fn main() -> std::result::Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, passes] = arguments.as_slice() else {
        return Err("usage: read_vertices GRAPH PASSES".into());
    };
    let reader = Reader::open(Backend::Auto, Pool::new(64 << 20))?;
    let mut seconds = Vec::new();
    for _ in 0..passes.parse()? {
        seconds.push(pass(Path::new(path), &reader)?);
    }
    let graph = Graph::open(Path::new(path), &reader, Caching::PageCache)?;
    let files = graph.manifest().files.iter();
    let is_of_vertices = |name: &str| name.starts_with("vertices.") || name.starts_with("degrees.");
    let bytes: u64 = files.filter(|file| is_of_vertices(&file.name)).map(|file| file.bytes).sum();
    let vertices = graph.vertex_count();
    println!(r#"{{"vertices":{vertices},"bytes":{bytes},"seconds":{seconds:?}}}"#);
    Ok(())
}

/// The seconds of each step.
fn pass(path: &Path, reader: &Reader) -> Result<Vec<f64>> {
    let mut started = Instant::now();
    let mut lap = || {
        let seconds = started.elapsed().as_secs_f64();
        started = Instant::now();
        seconds
    };
    let graph = Graph::open(path, reader, Caching::PageCache)?;
    let mut seconds = vec![lap()];
    black_box(graph.out_degrees()?);
    seconds.push(lap());
    black_box(graph.in_degrees()?);
    seconds.push(lap());
    let ids = graph.original_ids()?;
    ids.for_each_id_position(|_, vertices| {
        black_box(vertices);
        Ok::<(), ReadError>(())
    })?;
    seconds.push(lap());
    ids.for_each_chunk(|ids, vertices| {
        black_box((ids, vertices));
        Ok::<(), ReadError>(())
    })?;
    seconds.push(lap());
    Ok(seconds)
}
