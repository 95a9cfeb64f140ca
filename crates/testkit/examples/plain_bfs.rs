//! Times the yardstick for breadth-first search: direction-optimising, along plain compressed
//! sparse rows, in memory.
//!
//! `plain_bfs rmat|grid|list SCALE|WIDTH|FILE directed|undirected SOURCE` builds a graph and prints
//! its size. For each line of standard input, it prints the time and the result of a search from
//! the source. So rounds can alternate with those of another program.

use std::error::Error;
use std::io::{self, BufRead, Write};
use std::path::Path;
use std::time::Instant;

use tegula_generators::{Generator, Grid, Listed, Rmat};
use tegula_testkit::{PlainBfs, data};

/// The default seed of `tegula generate`.
const SEED: u64 = 1;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [model, size, directions, source] = arguments.as_slice() else {
        return Err("usage: plain_bfs rmat|grid|list SIZE|FILE directed|undirected SOURCE".into());
    };
    let listed = match model.as_str() {
        "list" => data::read_edge_list(Path::new(size))?.edges,
        _ => Vec::new(),
    };
    let graph: Box<dyn Generator + '_> = match model.as_str() {
        "rmat" => Box::new(Rmat::new(size.parse()?, Rmat::EDGE_FACTOR, SEED)?),
        "grid" => Box::new(Grid::new(size.parse()?, size.parse()?)?),
        "list" => Box::new(Listed::new(&listed)),
        _ => return Err(format!("there is no model `{model}`").into()),
    };
    let is_undirected = match directions.as_str() {
        "undirected" => true,
        "directed" => false,
        _ => return Err(format!("`{directions}` is neither directed nor undirected").into()),
    };
    let source = source.parse()?;
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let rows = PlainBfs::new(&*graph, is_undirected, threads);
    let (vertices, edges) = (rows.vertex_count(), rows.edge_count());
    say(&format!(r#"{{"vertices":{vertices},"edges":{edges},"threads":{threads}}}"#))?;
    for line in io::stdin().lock().lines() {
        line?;
        let started = Instant::now();
        let levels = rows.levels(source);
        let seconds = started.elapsed().as_secs_f64();
        let reached: usize = levels.iter().sum();
        let hops: usize = levels.iter().enumerate().map(|(hops, count)| hops * count).sum();
        say(&format!(r#"{{"seconds":{seconds},"reached":{reached},"distance_sum":{hops}}}"#))?;
    }
    Ok(())
}

fn say(line: &str) -> Result<(), Box<dyn Error>> {
    let mut out = io::stdout().lock();
    writeln!(out, "{line}")?;
    Ok(out.flush()?)
}
