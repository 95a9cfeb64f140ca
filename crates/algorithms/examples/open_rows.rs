#![expect(clippy::print_stdout, reason = "an example prints")]
//! Times runs on a graph whose rows are open and in memory, as a service would hold them.
//!
//! `open_rows bfs|sssp GRAPH SOURCE` opens a graph, brings its rows into memory, runs once, and
//! prints the time and a summary of the result. Then it runs again for every line on standard
//! input, with the bucket width on that line, if there is one. So its runs can alternate with those
//! of another program.

use std::error::Error;
use std::io::BufRead;
use std::path::Path;
use std::time::Instant;

use tegula_algorithms::engine::{
    Graph, RowReader, RunOptions, RunStatistics, VertexId, open_graph,
};
use tegula_algorithms::paths::bfs::Bfs;
use tegula_algorithms::paths::sssp::{self, SsspConfig};
use tegula_machine::disk::Backend;
use tegula_machine::threads::Workers;
use tegula_store::OriginalId;
use tegula_store::rows::Direction;

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [kind, path, source] = arguments.as_slice() else {
        return Err("usage: open_rows bfs|sssp GRAPH SOURCE".into());
    };
    let has_weights = match kind.as_str() {
        "bfs" => false,
        "sssp" => true,
        _ => return Err(format!("there is no `{kind}`").into()),
    };
    let memory = tegula_machine::memory::default_memory();
    let graph = open_graph(Path::new(path), memory, Backend::Auto)?;
    let found = graph.original_ids()?.find(&OriginalId::String(source.clone()))?;
    let source = found.ok_or("there is no such source")?;
    let options = RunOptions { memory, ..RunOptions::default() };
    let rows = open_rows(&graph, Direction::Forward, has_weights, &options)?;
    let rows = rows.ok_or("the graph has no rows")?;
    let reverse = match kind.as_str() {
        "bfs" if !graph.manifest().undirected => {
            open_rows(&graph, Direction::Reverse, has_weights, &options)?
        }
        _ => None,
    };
    let options = RunOptions { rows: Some(&rows), reverse: reverse.as_ref(), ..options };
    println!("{}", run(&graph, source, has_weights, None, &options)?);
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let delta = Some(line.trim()).filter(|line| !line.is_empty());
        let delta = delta.map(str::parse).transpose()?;
        println!("{}", run(&graph, source, has_weights, delta, &options)?);
    }
    Ok(())
}

/// Opens and unpacks the rows of a direction, if the graph has them.
fn open_rows(
    graph: &Graph,
    direction: Direction,
    has_weights: bool,
    options: &RunOptions<'_>,
) -> Outcome<Option<RowReader>> {
    let all = RowReader::cache_size_max(graph, direction, has_weights);
    let rows = RowReader::open(graph, direction, has_weights, all, &options.speed.targets)?;
    if let Some(rows) = &rows {
        Workers::scope(options.threads, |workers| rows.unpack(workers, &options.cancel))?;
    }
    Ok(rows)
}

fn run(
    graph: &Graph,
    source: VertexId,
    has_weights: bool,
    delta: Option<f64>,
    options: &RunOptions<'_>,
) -> Outcome<String> {
    let started = Instant::now();
    if has_weights {
        let found = sssp::run(graph, source, SsspConfig { delta, ..Default::default() }, options)?;
        let seconds = started.elapsed().as_secs_f64();
        return Ok(summary(
            seconds,
            &found.distances,
            found.delta.unwrap_or(1.0),
            &found.statistics,
        ));
    }
    let found = Bfs::run(graph, source, options)?;
    let seconds = started.elapsed().as_secs_f64();
    let distance = |distance: Option<u32>| distance.map_or(f64::INFINITY, f64::from);
    let distances: Vec<f64> =
        found.states.iter().map(|reached| distance(reached.distance())).collect();
    Ok(summary(seconds, &distances, 1.0, &found.statistics))
}

fn summary(seconds: f64, distances: &[f64], delta: f64, statistics: &RunStatistics) -> String {
    let reached = distances.iter().filter(|distance| distance.is_finite());
    let (count, sum) = (reached.clone().count(), reached.clone().sum::<f64>());
    let max = reached.fold(0.0, |max: f64, &distance| max.max(distance));
    let (iterations, edges) = (statistics.iterations, statistics.edges_processed);
    let names: Vec<&str> = statistics.processes.iter().map(|process| process.name()).collect();
    let times: Vec<f64> =
        statistics.iteration_times.iter().take(100).map(|time| time.as_secs_f64()).collect();
    format!(
        r#"{{"seconds":{seconds},"reached":{count},"distance_sum":{sum},"distance_max":{max},"delta":{delta},"iterations":{iterations},"edges":{edges},"iteration_seconds":{times:?},"processes":{:?}}}"#,
        &names[..names.len().min(100)]
    )
}
