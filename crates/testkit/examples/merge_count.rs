//! Times the yardstick for triangles: merged adjacency lists in plain compressed sparse rows, in
//! memory.
//!
//! `merge_count SCALE` builds an R-MAT graph and prints its size. For each line of standard input,
//! it prints the time and the result of a count. So rounds can alternate with those of another
//! program.

use std::error::Error;
use std::io::{self, BufRead, Write};
use std::time::Instant;

use tegula_generators::Rmat;
use tegula_testkit::MergeCount;

/// The default seed of `tegula generate`.
const SEED: u64 = 1;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [scale] = arguments.as_slice() else {
        return Err("usage: merge_count SCALE".into());
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let graph = Rmat::new(scale.parse()?, Rmat::EDGE_FACTOR, SEED)?;
    let rows = MergeCount::new(&graph, threads);
    say(&format!(r#"{{"edges":{},"threads":{threads}}}"#, rows.edge_count()))?;
    for line in io::stdin().lock().lines() {
        line?;
        let started = Instant::now();
        let triangles = rows.triangles();
        let seconds = started.elapsed().as_secs_f64();
        say(&format!(r#"{{"seconds":{seconds},"triangles":{triangles}}}"#))?;
    }
    Ok(())
}

fn say(line: &str) -> Result<(), Box<dyn Error>> {
    let mut out = io::stdout().lock();
    writeln!(out, "{line}")?;
    Ok(out.flush()?)
}
