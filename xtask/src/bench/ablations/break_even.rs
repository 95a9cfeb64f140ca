//! When an import pays off: the number of iterations, against edges that are only partitioned.

use std::fs;

use super::comparison::ROUNDS_MAX;
use super::cost::check_ranks;
use crate::bench::examples::Example;
use crate::bench::figure::{Figure, Unit, median};
use crate::bench::lab::{Lab, text};
use crate::tegula::command::{number, numbers};
use crate::tegula::scratch::remove;
use crate::tegula::{Result, units};

const ITERATIONS: u64 = 5;
/// The least memory of an import.
const IMPORT_MEMORY_MIN: u64 = 64 << 20;

/// Measures PageRank from raw pairs, import included, against a grid of blocks of raw pairs
/// (GridGraph), both from disk.
pub fn all(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    let graph = lab.rmat(lab.settings.scale)?;
    let memory = lab.disk_memory(&graph)?.max(IMPORT_MEMORY_MIN);
    let example = Example::build(lab.root, "grid_stream")?;
    let (imported, grid) = (lab.scratch.join("imported.tegula"), lab.scratch.join("grid"));
    let (budget, iterations) = (memory.to_string(), ITERATIONS.to_string());
    let (ids, vertices) = ((1u64 << graph.scale).to_string(), graph.vertices.to_string());
    let pairs = text(&graph.pairs)?;
    let mut samples: [Vec<f64>; 4] = Default::default();
    for _ in 0..lab.settings.rounds.min(ROUNDS_MAX) {
        lab.cache.drop(&graph.pairs)?;
        let import = ["import", pairs, "-o", text(&imported)?, "--memory", &budget];
        let report = lab.tegula.json(&import)?;
        let run = lab.pagerank(&imported, ITERATIONS, Some(memory))?;
        remove(&imported)?;
        fs::create_dir(&grid)?;
        lab.cache.drop(&graph.pairs)?;
        let mut worker = example.start(&[pairs, text(&grid)?, &ids, &vertices])?;
        let built = worker.answer()?;
        let round = worker.ask(&iterations)?;
        drop(worker);
        remove(&grid)?;
        check_ranks(number(&run, "/summary/top/0/rank")?, number(&round, "/greatest")?)?;
        let found = [
            number(&report, "/seconds")?,
            number(&built, "/build_seconds")?,
            median(&numbers(&run, "/iteration_seconds")?),
            median(&numbers(&round, "/iteration_seconds")?),
        ];
        samples.iter_mut().zip(found).for_each(|(samples, value)| samples.push(value));
    }
    let rounds = 0..samples[0].len();
    let even = rounds.map(|round| break_even(samples.each_ref().map(|samples| samples[round])));
    let even: Option<Vec<f64>> = even.collect();
    let [import, partition, own, other] =
        samples.each_ref().map(|samples| units::seconds(median(samples)));
    let note = format!(
        "import {import}, iteration {own}; the grid: partitioning {partition}, iteration {other}. \
         Paper (MOSAIC): 20 (twitter) and 8 (uk2007) iterations against GridGraph, 8 and 5 against X-Stream"
    );
    let Some(even) = even else {
        lab.remarks
            .push(format!("An iteration of tegula takes no less than one of the grid: {note}."));
        return Ok(Vec::new());
    };
    let within = units::bytes(memory as f64);
    let title =
        format!("iterations until the import has paid off, R-MAT {}, within {within}", graph.scale);
    Ok(vec![Figure::new(title, Unit::Count, even).note(note)])
}

/// Takes the times of import and partitioning, and of an iteration after each. Returns the number
/// of iterations after which the import has paid off; `None` if it never does.
fn break_even([import, partition, own, other]: [f64; 4]) -> Option<f64> {
    (own < other).then(|| (import - partition).max(0.0) / (other - own))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_import_pays_off_by_what_each_iteration_saves() {
        assert_eq!(break_even([10.0, 4.0, 1.0, 3.0]), Some(3.0));
        assert_eq!(break_even([3.0, 4.0, 1.0, 3.0]), Some(0.0));
        assert_eq!(break_even([10.0, 4.0, 3.0, 3.0]), None);
    }
}
