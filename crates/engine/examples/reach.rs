#![expect(clippy::print_stdout, reason = "an example prints")]
//! A program of one's own: the largest original id that reaches each vertex within k hops.
//!
//! `cargo run --release --example reach -- GRAPH.tegula 3`

use std::path::Path;

use tegula_engine::{Activity, ApplyTo, Next, Program, RunOptions, VertexId, open_graph, run};
use tegula_store::read::Backend;

/// Messages and states are ranks in the order of the original ids, so the largest rank is the largest id.
struct LargestWithin {
    hops: u64,
    rank_of: Vec<u32>,
}

impl Program for LargestWithin {
    type State = u32;
    type Message = u32;
    type Weight = ();
    type Aggregate = ();
    const APPLY_TO: ApplyTo = ApplyTo::Reached;
    const NEEDS_DEGREE: bool = false;

    fn init(&self, vertex: VertexId, _degree: u32, (): &mut ()) -> (u32, Activity) {
        (self.rank_of[vertex.index()], Activity::Active)
    }
    fn begin_iteration(&mut self, iteration: u64, (): &()) -> Next {
        if iteration < self.hops { Next::Continue } else { Next::Stop }
    }
    fn signal(&self, _vertex: VertexId, largest: &u32, _degree: u32) -> Option<u32> {
        Some(*largest)
    }
    fn along(&self, message: u32, (): ()) -> u32 {
        message
    }
    fn identity(&self) -> u32 {
        0
    }
    fn reduce(&self, a: u32, b: u32) -> u32 {
        a.max(b)
    }
    fn apply(&self, _: VertexId, _: u32, largest: &mut u32, seen: u32, (): &mut ()) -> Activity {
        let is_larger = seen > *largest;
        *largest = seen.max(*largest);
        Activity::when(is_larger)
    }
    fn merge(&self, (): &mut (), (): ()) {}
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let directory = arguments.next().ok_or("which graph?")?;
    let hops = arguments.next().map_or(Ok(2), |hops| hops.parse())?;

    let options = RunOptions::default();
    let graph = open_graph(Path::new(&directory), options.memory, Backend::Auto)?;
    let ids = graph.original_ids()?;
    let by_rank = ids.dense_by_rank()?;
    let mut rank_of = vec![0; by_rank.len()];
    by_rank.iter().zip(0..).for_each(|(vertex, rank)| rank_of[vertex.index()] = rank);

    let outcome = run(&graph, LargestWithin { hops, rank_of }, &options)?;
    for vertex in by_rank.iter().take(10) {
        let largest = ids.by_rank(outcome.states[vertex.index()] as usize)?;
        let own = ids.by_rank(outcome.program.rank_of[vertex.index()] as usize)?;
        println!("{own}\t{largest}");
    }
    Ok(())
}
