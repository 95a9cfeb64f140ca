#![expect(clippy::print_stdout, reason = "an example prints")]
//! Counts, for each vertex, the first 32 vertices that reach it within some hops: `reach GRAPH 3`

use std::path::Path;

use tegula_engine::{Backend, Error, Next, Or, Relaxation, RunOptions, VertexId};

/// States and messages are sets of the first 32 vertices, with a bit for each.
struct ReachedWithin(u64);

impl Relaxation for ReachedWithin {
    type Reduction = Or<u32>;
    type Weight = ();

    fn start(&self, vertex: VertexId) -> Option<u32> {
        1u32.checked_shl(vertex.0 as u32)
    }

    fn begin_iteration(&mut self, iteration: u64) -> Next {
        if iteration < self.0 { Next::Continue } else { Next::Stop }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, directory, hops] = &arguments[..] else { return Err("usage: reach GRAPH HOPS".into()) };
    let options = RunOptions::default();
    let graph = tegula_engine::open_graph(Path::new(directory), options.memory, Backend::Auto)?;
    let states = tegula_engine::run(&graph, ReachedWithin(hops.parse()?), &options)?.states;
    graph.original_ids()?.for_each_chunk(|ids, vertices| {
        for (index, vertex) in vertices.iter().enumerate() {
            println!("{}\t{}", ids.get(index), states[vertex.index()].count_ones());
        }
        Ok::<(), Error>(())
    })?;
    Ok(())
}
