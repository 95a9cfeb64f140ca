//! PageRank through the library: `cargo run --release --example ranks -- GRAPH.tegula`
#![expect(clippy::print_stdout, reason = "an example prints")]

use std::path::PathBuf;

use tegula_algorithms::centrality::pagerank::{PageRank, Stop};
use tegula_algorithms::engine::{Backend, Error, RunOptions, open_graph};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let directory = PathBuf::from(std::env::args().nth(1).ok_or("which graph?")?);
    let options = RunOptions { memory: 512 << 20, ..RunOptions::default() };
    let graph = open_graph(&directory, options.memory, Backend::Auto)?;

    let outcome = PageRank::run(&graph, Stop::default(), &options)?;

    // Ranks are by dense id; original ids come in ascending order, a chunk at a time.
    graph.original_ids()?.for_each_chunk(|ids, vertices| {
        for (index, vertex) in vertices.iter().enumerate() {
            println!("{}\t{}", ids.get(index), outcome.states[vertex.index()]);
        }
        Ok::<(), Error>(())
    })?;
    Ok(())
}
