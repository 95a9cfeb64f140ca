//! The cost of checkpoints: runs that keep one before every iteration, in turn with runs without.

use crate::bench::figure::{Figure, Of, Ratio, Unit};
use crate::bench::lab::{Lab, text};
use crate::tegula::command::number;
use crate::tegula::scratch::remove;
use crate::tegula::{Result, units};

/// Iterations of a run.
const ITERATIONS: &str = "20";
/// Where the arrays of a run lie. On disk, the arrays are the checkpoint.
const ARRAYS: [(&str, &str); 2] = [("memory", "copied from memory"), ("disk", "arrays on disk")];

/// Measures whole runs of PageRank from disk.
pub fn of_pagerank(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    let graph = lab.rmat(lab.settings.scale)?;
    let memory = lab.disk_memory(&graph)?;
    let folder = lab.scratch.join("checkpoints");
    let mut figures = Vec::new();
    for (arrays, how) in ARRAYS {
        let (mut with, mut without) = (Vec::new(), Vec::new());
        for _ in 0..lab.settings.rounds {
            let options = ["--iterations", ITERATIONS, "--arrays", arrays];
            let run = lab.run("pagerank", &graph.graph, Some(memory), &options)?;
            without.push(number(&run, "/seconds/run")?);
            let kept = [&options[..], &["--checkpoint", text(&folder)?]].concat();
            let run = lab.run("pagerank", &graph.graph, Some(memory), &kept)?;
            with.push(number(&run, "/seconds/run")?);
            remove(&folder)?;
        }
        let title = format!(
            "PageRank, {ITERATIONS} iterations, R-MAT {}, from disk within {}, a checkpoint in each, {how}",
            graph.scale,
            units::bytes(memory as f64)
        );
        let figure = Figure::new(title, Unit::Seconds, with).compared_with(
            "without checkpoints",
            without,
            Ratio::TimesAsLong,
        );
        figures
            .push(lab.with_targets(figure, |figure| figure.at_most(Of::Ratio, 1.02, Some(1.002))));
    }
    Ok(figures)
}
