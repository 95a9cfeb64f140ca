//! What MOSAIC measures besides PageRank and searches, from a cold disk (its Tables 5 and 6).

use std::path::PathBuf;

use super::budget::memory_for;
use crate::bench::figure::{Figure, Of, Unit, median};
use crate::bench::graphs::{Model, Recipe};
use crate::bench::lab::{DISK_MEMORY, Lab};
use crate::tegula::command::{number, numbers, whole};
use crate::tegula::{Result, units};

/// Iterations of SpMV; a sample is the median of their times.
const ITERATIONS: &str = "10";
/// Rounds of measurements that take long.
const ROUNDS_MAX: usize = 3;

/// A run within a budget.
struct FromDisk<'a> {
    algorithm: &'a str,
    title: String,
    graph: PathBuf,
    options: &'a [&'a str],
    memory: u64,
    /// The target: the most seconds it may take.
    most: f64,
}

/// Measures SpMV, components by propagation, and shortest paths.
pub fn all(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    let scale = lab.settings.scale;
    let graph = lab.rmat(scale)?;
    let both_ways = lab.rmat_both_ways(scale)?;
    let memory = lab.disk_memory(&graph)?;
    let spmv = FromDisk {
        algorithm: "spmv",
        title: format!("SpMV, iteration, R-MAT {scale}"),
        graph: graph.graph,
        options: &["--iterations", ITERATIONS],
        memory,
        most: 0.25,
    };
    let wcc = FromDisk {
        algorithm: "wcc",
        title: format!("components by propagation, whole run, R-MAT {scale}, undirected"),
        graph: both_ways,
        options: &["--method", "propagation"],
        memory,
        most: 2.0,
    };
    let mut figures = iterations(lab, &spmv)?;
    figures.extend(whole_runs(lab, &wcc)?);
    let graph = lab.make(Recipe::new(Model::Rmat(scale)).weighted())?;
    let options = ["--source", graph.source.as_str()];
    let sssp = FromDisk {
        algorithm: "sssp",
        title: format!("shortest paths, whole run, {}", graph.title),
        memory: memory_for(lab, "sssp", &graph, &options, DISK_MEMORY)?,
        graph: graph.graph.clone(),
        options: &options,
        most: 9.0,
    };
    figures.extend(whole_runs(lab, &sssp)?);
    lab.discard(|made| made.title == graph.title)?;
    Ok(figures)
}

fn iterations(lab: &Lab<'_>, what: &FromDisk<'_>) -> Result<Vec<Figure>> {
    measure(lab, what, |run| Ok(median(&numbers(run, "/iteration_seconds")?)))
}

fn whole_runs(lab: &Lab<'_>, what: &FromDisk<'_>) -> Result<Vec<Figure>> {
    measure(lab, what, |run| number(run, "/seconds/run"))
}

fn measure(
    lab: &Lab<'_>,
    what: &FromDisk<'_>,
    seconds: impl Fn(&serde_json::Value) -> Result<f64>,
) -> Result<Vec<Figure>> {
    let (mut times, mut peaks, mut note) = (Vec::new(), Vec::new(), String::new());
    for _ in 0..lab.settings.rounds.min(ROUNDS_MAX) {
        let run = lab.run(what.algorithm, &what.graph, Some(what.memory), what.options)?;
        times.push(seconds(&run)?);
        peaks.push(number(&run, "/peak_memory_bytes")?);
        let read = units::bytes(number(&run, "/bytes_read")?);
        note = format!("{} iterations, {read} read", whole(&run, "/iterations")?);
    }
    let budget = units::bytes(what.memory as f64);
    let title = format!("{}, from disk within {budget}", what.title);
    let figure = Figure::new(title, Unit::Seconds, times).note(note);
    let peak = Figure::new("peak memory of these runs", Unit::Bytes, peaks);
    Ok(vec![
        lab.with_targets(figure, |figure| figure.at_most(Of::Value, what.most, None)),
        peak.at_most(Of::Value, what.memory as f64, None),
    ])
}
