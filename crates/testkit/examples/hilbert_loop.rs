//! Times the yardstick of one thread, which runs PageRank and components along a list of edges in
//! the order of a Hilbert curve.
//!
//! `hilbert_loop SCALE FILE` builds an R-MAT graph of 16 edges per vertex, in memory and in the
//! file, and prints its size. For each line of standard input, `memory|disk pagerank|wcc
//! ITERATIONS`, it prints the time and the result. So rounds can alternate with those of another
//! program.

use std::error::Error;
use std::io::{self, BufRead, Write};
use std::path::Path;
use std::time::Instant;

use tegula_generators::Rmat;
use tegula_testkit::HilbertLoop;

const DAMPING: f32 = 0.85;
/// The default seed of `tegula generate rmat`.
const SEED: u64 = 1;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [scale, file] = arguments.as_slice() else {
        return Err("usage: hilbert_loop SCALE FILE".into());
    };
    let mut in_memory = HilbertLoop::new(&Rmat::new(scale.parse()?, Rmat::EDGE_FACTOR, SEED)?);
    let mut on_disk = in_memory.on_disk(Path::new(file))?;
    say(&format!(r#"{{"vertices":{}}}"#, in_memory.vertex_count()))?;
    for line in io::stdin().lock().lines() {
        let line = line?;
        let words: Vec<&str> = line.split_whitespace().collect();
        let [place, algorithm, iterations] = words[..] else {
            return Err(format!("`{line}` is no place, algorithm and iterations").into());
        };
        let edges = if place == "disk" { &mut on_disk } else { &mut in_memory };
        match algorithm {
            "pagerank" => say(&ranks(edges, iterations.parse()?)?)?,
            "wcc" => say(&components(edges)?)?,
            _ => return Err(format!("there is no algorithm `{algorithm}`").into()),
        }
    }
    Ok(())
}

/// Runs PageRank from the start. Returns the times of the iterations and the greatest rank.
fn ranks(edges: &mut HilbertLoop, iterations: usize) -> io::Result<String> {
    let mut ranks = edges.initial_ranks();
    let mut seconds = Vec::with_capacity(iterations);
    for _ in 0..iterations {
        let started = Instant::now();
        edges.iterate(DAMPING, &mut ranks)?;
        seconds.push(started.elapsed().as_secs_f64());
    }
    let greatest = ranks.iter().copied().fold(0.0, f32::max);
    Ok(format!(r#"{{"iteration_seconds":{seconds:?},"greatest":{greatest}}}"#))
}

fn components(edges: &HilbertLoop) -> io::Result<String> {
    let started = Instant::now();
    let count = edges.component_count()?;
    let seconds = started.elapsed().as_secs_f64();
    Ok(format!(r#"{{"seconds":{seconds},"components":{count}}}"#))
}

fn say(line: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{line}")?;
    out.flush()
}
