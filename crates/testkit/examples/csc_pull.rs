//! Times the yardstick for PageRank: iterations along plain compressed sparse columns, in memory.
//!
//! `csc_pull rmat|uniform SCALE` builds a graph of 16 edges per vertex and prints two lines of
//! JSON: the graph, and the times of ten iterations. With `--on-request`, it reads a number of
//! iterations from each line of standard input and runs a round of them. So rounds can alternate
//! with those of another program.

use std::error::Error;
use std::io::{self, BufRead, Write};
use std::time::Instant;

use tegula_generators::{ErdosRenyi, Generator, Rmat};
use tegula_testkit::csc_pull::{CscPull, Isolated};

const DAMPING: f32 = 0.85;
const ITERATIONS_DEFAULT: usize = 10;
/// The default seed of `tegula generate rmat`.
const SEED: u64 = 1;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (model, scale, is_on_request) = match arguments.as_slice() {
        [model, scale] => (model, scale.parse()?, false),
        [model, scale, flag] if flag == "--on-request" => (model, scale.parse()?, true),
        _ => return Err("usage: csc_pull rmat|uniform SCALE [--on-request]".into()),
    };
    let graph: Box<dyn Generator> = match model.as_str() {
        "rmat" => Box::new(Rmat::new(scale, Rmat::EDGE_FACTOR, SEED)?),
        "uniform" => {
            let vertices = 1 << scale;
            Box::new(ErdosRenyi::new(vertices, vertices * Rmat::EDGE_FACTOR, SEED)?)
        }
        _ => return Err(format!("there is no model `{model}`").into()),
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let started = Instant::now();
    let mut columns = CscPull::new(&*graph, Isolated::Drop, threads);
    let seconds = started.elapsed().as_secs_f64();
    let (vertices, edges) = (columns.vertex_count(), columns.edge_count());
    say(&format!(
        r#"{{"vertices":{vertices},"edges":{edges},"threads":{threads},"build_seconds":{seconds}}}"#
    ))?;
    if !is_on_request {
        return say(&round(&mut columns, ITERATIONS_DEFAULT));
    }
    for line in io::stdin().lock().lines() {
        say(&round(&mut columns, line?.trim().parse()?))?;
    }
    Ok(())
}

/// Runs PageRank from the start. Returns the times of the iterations and the sum of the ranks.
fn round(columns: &mut CscPull, iterations: usize) -> String {
    let mut ranks = columns.initial_ranks();
    let mut seconds = Vec::with_capacity(iterations);
    for _ in 0..iterations {
        let started = Instant::now();
        columns.iterate(DAMPING, &mut ranks);
        seconds.push(started.elapsed().as_secs_f64());
    }
    let sum: f64 = ranks.iter().map(|&rank| f64::from(rank)).sum();
    format!(r#"{{"iteration_seconds":{seconds:?},"sum":{sum}}}"#)
}

fn say(line: &str) -> Result<(), Box<dyn Error>> {
    let mut out = io::stdout().lock();
    writeln!(out, "{line}")?;
    Ok(out.flush()?)
}
