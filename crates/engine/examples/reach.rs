#![expect(clippy::print_stdout, reason = "an example prints")]
//! A program of one's own: how many of the first 32 vertices reach each vertex within k hops.
//!
//! `cargo run --release --example reach -- GRAPH.tegula 3`

use std::path::Path;

use tegula_engine::{Activity, ApplyTo, Error, Next, Program, RunOptions, VertexId};
use tegula_machine::disk::Backend;

/// Messages and states are sets of the first vertices, a bit for each.
struct ReachedWithin {
    hops: u64,
}

impl Program for ReachedWithin {
    type State = u32;
    type Message = u32;
    type Accumulator = u32;
    type Weight = ();
    type Aggregate = ();
    const APPLY_TO: ApplyTo = ApplyTo::Reached;
    const NEEDS_DEGREE: bool = false;

    fn init(&self, vertex: VertexId, _degree: u32, (): &mut ()) -> (u32, Activity) {
        (1u32.checked_shl(vertex.0).unwrap_or(0), Activity::when(vertex.0 < 32))
    }
    fn begin_iteration(&mut self, iteration: u64, (): &()) -> Next {
        if iteration < self.hops { Next::Continue } else { Next::Stop }
    }
    fn signal(&self, _vertex: VertexId, set: &u32, _degree: u32) -> Option<u32> {
        Some(*set)
    }
    fn along(&self, message: u32, (): ()) -> u32 {
        message
    }
    fn identity(&self) -> u32 {
        0
    }
    fn reduce(&self, a: u32, b: u32) -> u32 {
        a | b
    }
    fn accumulate(&self, a: u32, b: u32) -> u32 {
        a | b
    }
    fn apply(&self, _: VertexId, _: u32, set: &mut u32, reduced: u32, (): &mut ()) -> Activity {
        let before = std::mem::replace(set, *set | reduced);
        Activity::when(*set != before)
    }
    fn merge(&self, (): &mut (), (): ()) {}
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let directory = arguments.next().ok_or("which graph?")?;
    let hops = arguments.next().map_or(Ok(2), |hops| hops.parse())?;

    let options = RunOptions::default();
    let graph = tegula_engine::open_graph(Path::new(&directory), options.memory, Backend::Auto)?;
    let states = tegula_engine::run(&graph, ReachedWithin { hops }, &options)?.states;
    graph.original_ids()?.for_each_chunk(|ids, vertices| {
        for (index, vertex) in vertices.iter().enumerate() {
            println!("{}\t{}", ids.get(index), states[vertex.index()].count_ones());
        }
        Ok::<(), Error>(())
    })?;
    Ok(())
}
