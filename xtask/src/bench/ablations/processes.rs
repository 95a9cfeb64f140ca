//! Whole runs under other conditions: one thread or two, and budgets that hold a part of the graph,
//! all of it, or more.

use std::path::Path;

use super::comparison::{ROUNDS_MAX, in_turn};
use crate::bench::figure::{Figure, Ratio, Unit, median};
use crate::bench::figures::arrays::iteration;
use crate::bench::lab::{Lab, text};
use crate::tegula::command::{number, numbers, whole};
use crate::tegula::{Result, units};

const ITERATIONS: &str = "10";
/// Budgets in percent of the tiles, in addition to the least that a run needs.
const PERCENT: [u64; 11] = [5, 10, 20, 30, 45, 60, 75, 90, 110, 150, 200];
/// Iterations of a run within a budget. The first one, which finds nothing in memory, does not
/// count.
const BUDGET_ITERATIONS: u64 = 5;

/// Measures one thread against two, in memory and from disk.
pub fn threads(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    let graph = lab.rmat(lab.settings.scale)?;
    let both_ways = lab.rmat_both_ways(lab.settings.scale)?;
    let disk = lab.disk_memory(&graph)?;
    let runs: [(&str, &Path, &[&str]); 4] = [
        ("pagerank", &graph.graph, &["--iterations", ITERATIONS]),
        ("spmv", &graph.graph, &["--iterations", ITERATIONS]),
        ("bfs", &graph.graph, &["--source", &graph.hub]),
        ("wcc", &both_ways, &["--method", "propagation"]),
    ];
    let mut figures = Vec::new();
    for (place, memory) in [("in memory", None), ("from disk", Some(disk))] {
        for (algorithm, directory, options) in runs {
            let rounds = lab.settings.rounds.min(ROUNDS_MAX);
            let mut samples = in_turn(rounds, &["2", "1"], |threads| {
                let options = [options, &["--threads", threads]].concat();
                let run = lab.run(algorithm, directory, memory, &options)?;
                Ok(numbers(&run, "/iteration_seconds")?.iter().sum())
            })?;
            let (one, two) = (samples.pop().unwrap_or_default(), samples.pop().unwrap_or_default());
            let title = format!("{algorithm}, R-MAT {}, {place}, two threads", graph.scale);
            let figure = Figure::new(title, Unit::Seconds, two);
            figures.push(figure.compared_with("one thread", one, Ratio::TimesAsFast));
        }
    }
    Ok(figures)
}

/// Measures PageRank within budgets that hold a part of the tiles, all tiles, and more.
pub fn budgets(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    let graph = lab.rmat(lab.settings.scale)?;
    let estimate = lab.tegula.json(&["run", "pagerank", text(&graph.graph)?, "--estimate"])?;
    let tiles = whole(&estimate, "/layout_bytes")?;
    let needed = ["/vertex_bytes", "/stream_bytes_min", "/overhead_bytes"];
    let needed = needed.iter().map(|field| whole(&estimate, field)).sum::<Result<u64>>()?;
    let memory = |percent: u64| needed + tiles * percent / 100;
    let rounds = lab.settings.rounds.min(ROUNDS_MAX);
    let mut peaks = vec![Vec::new(); PERCENT.len()];
    let places: Vec<usize> = (0..PERCENT.len()).collect();
    let samples = in_turn(rounds, &places, |&place| {
        let run = lab.pagerank(&graph.graph, BUDGET_ITERATIONS, Some(memory(PERCENT[place])))?;
        peaks[place].push(number(&run, "/peak_memory_bytes")?);
        iteration(&run)
    })?;
    let fastest = samples.last().cloned().unwrap_or_default();
    let figures = PERCENT.iter().zip(samples).zip(peaks).map(|((&percent, own), peaks)| {
        let budget = memory(percent);
        let title = format!(
            "iteration, R-MAT {}, {percent} % of the tiles beside its arrays ({})",
            graph.scale,
            units::bytes(budget as f64)
        );
        Figure::new(title, Unit::Seconds, own)
            .with_budget(budget)
            .compared_with("the largest budget", fastest.clone(), Ratio::TimesAsLong)
            .note(format!("at the peak {}", units::bytes(median(&peaks))))
    });
    Ok(figures.collect())
}
