//! Times the yardstick for shortest paths: delta-stepping along plain compressed sparse rows, in
//! memory.
//!
//! `delta_stepping rmat SCALE SOURCE` or `delta_stepping grid WIDTH SOURCE` builds an undirected
//! graph and prints its size. Then it reads the width of a bucket from each line of standard input,
//! and prints the time and the result of a search from the source. So rounds can alternate with
//! those of another program.

use std::error::Error;
use std::io::{self, BufRead, Write};
use std::time::Instant;

use tegula_generators::{Generator, Grid, Rmat};
use tegula_testkit::DeltaStepping;

/// The default seed of `tegula generate`, for edges and for weights.
const SEED: u64 = 1;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [model, size, source] = arguments.as_slice() else {
        return Err("usage: delta_stepping rmat|grid SCALE|WIDTH SOURCE".into());
    };
    let graph: Box<dyn Generator> = match model.as_str() {
        "rmat" => Box::new(Rmat::new(size.parse()?, Rmat::EDGE_FACTOR, SEED)?),
        "grid" => Box::new(Grid::new(size.parse()?, size.parse()?)?),
        _ => return Err(format!("there is no model `{model}`").into()),
    };
    let source = source.parse()?;
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let started = Instant::now();
    let rows = DeltaStepping::new(&*graph, SEED, threads);
    let seconds = started.elapsed().as_secs_f64();
    let (vertices, edges) = (rows.vertex_count(), rows.edge_count());
    say(&format!(
        r#"{{"vertices":{vertices},"edges":{edges},"threads":{threads},"build_seconds":{seconds}}}"#
    ))?;
    for line in io::stdin().lock().lines() {
        let delta = line?.trim().parse()?;
        let started = Instant::now();
        let distances = rows.distances(source, delta);
        let seconds = started.elapsed().as_secs_f64();
        say(&summary(&distances, seconds))?;
    }
    Ok(())
}

fn summary(distances: &[f32], seconds: f64) -> String {
    let (mut reached, mut sum, mut max) = (0u64, 0.0, 0f64);
    for &distance in distances.iter().filter(|distance| distance.is_finite()) {
        let distance = f64::from(distance);
        reached += 1;
        sum += distance;
        max = max.max(distance);
    }
    format!(
        r#"{{"seconds":{seconds},"reached":{reached},"distance_sum":{sum},"distance_max":{max}}}"#
    )
}

fn say(line: &str) -> Result<(), Box<dyn Error>> {
    let mut out = io::stdout().lock();
    writeln!(out, "{line}")?;
    Ok(out.flush()?)
}
