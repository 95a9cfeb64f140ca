//! Whole runs on small graphs: the time of starting, opening and writing, without the algorithm.

use std::fs;
use std::path::Path;
use std::time::Instant;

use super::size::{UNDIRECTED, edge_lists};
use crate::bench::figure::{Figure, Of, Unit, median};
use crate::bench::lab::{Lab, text};
use crate::tegula::command::{numbers, vertex};
use crate::tegula::scratch::remove;
use crate::tegula::{Result, units};

/// Larger graph directories are skipped.
const BYTES_MAX: u64 = 10_000_000;
/// Runs per round: one takes milliseconds.
const RUNS: usize = 5;
/// The most seconds besides the algorithm, and a better value.
const BESIDE: (f64, f64) = (0.010, 0.005);

/// Measures three algorithms on each edge list that makes a small graph.
pub fn all(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    let mut figures = Vec::new();
    for (name, edges) in edge_lists(lab) {
        let graph = lab.scratch.join("small.tegula");
        let mut arguments = vec!["import", text(&edges)?, "-o", text(&graph)?];
        arguments.extend(["--layouts", "tiles,rows"]);
        arguments.extend(UNDIRECTED.contains(&name.as_str()).then_some("--undirected"));
        lab.tegula.json(&arguments)?;
        if size(&graph)? <= BYTES_MAX {
            let ranks = lab.pagerank(&graph, 2, None)?;
            let hub = vertex(&ranks, "/summary/top/0/vertex")?;
            for (algorithm, options) in
                [("bfs", &["--source", &hub][..]), ("wcc", &[]), ("pagerank", &[])]
            {
                figures.push(beside_algorithm(lab, &name, &graph, algorithm, options)?);
            }
        }
        remove(&graph)?;
    }
    Ok(figures)
}

/// Measures the time of the whole process minus that of its iterations.
fn beside_algorithm(
    lab: &Lab<'_>,
    name: &str,
    graph: &Path,
    algorithm: &str,
    options: &[&str],
) -> Result<Figure> {
    let result = lab.scratch.join("result.npy");
    let mut arguments = vec!["run", algorithm, text(graph)?, "-o", text(&result)?, "--force"];
    arguments.extend(options);
    let (mut rounds, mut iterations) = (Vec::new(), Vec::new());
    for _ in 0..lab.settings.rounds {
        let mut beside = Vec::new();
        for _ in 0..RUNS {
            let started = Instant::now();
            let run = lab.tegula.json(&arguments)?;
            let whole = started.elapsed().as_secs_f64();
            let own: f64 = numbers(&run, "/iteration_seconds")?.iter().sum();
            iterations.push(own);
            beside.push(whole - own);
        }
        rounds.push(median(&beside));
    }
    let own = units::seconds(median(&iterations));
    let (most, better) = BESIDE;
    Ok(Figure::new(format!("{algorithm}, {name}, beside its iterations"), Unit::Seconds, rounds)
        .note(format!("iterations {own}"))
        .at_most(Of::Value, most, Some(better)))
}

/// Returns the bytes of all files of a folder.
fn size(folder: &Path) -> Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(folder)? {
        bytes += entry?.metadata()?.len();
    }
    Ok(bytes)
}
