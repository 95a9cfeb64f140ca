//! How often a run keeps a checkpoint.

use super::comparison::{beside_first, in_turn};
use crate::bench::figure::{Figure, Ratio, Unit};
use crate::bench::lab::{Lab, text};
use crate::tegula::Result;
use crate::tegula::command::number;
use crate::tegula::scratch::remove;

const ITERATIONS: &str = "20";
/// Iterations from one checkpoint to the next; the first run keeps no checkpoints.
const EVERY: [Option<&str>; 4] = [None, Some("1"), Some("4"), Some("10")];
const AXIS: &str = "iterations from one checkpoint to the next";

/// Measures PageRank from disk, from no checkpoints to one in each iteration.
pub fn all(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    let graph = lab.rmat(lab.settings.scale)?;
    let memory = lab.disk_memory(&graph)?;
    let folder = lab.scratch.join("checkpoints");
    let samples = in_turn(lab.settings.rounds, &EVERY, |every| {
        let mut options = vec!["--iterations", ITERATIONS];
        if let Some(every) = every {
            options.extend(["--checkpoint", text(&folder)?, "--checkpoint-every", every]);
        }
        let run = lab.run("pagerank", &graph.graph, Some(memory), &options)?;
        remove(&folder)?;
        number(&run, "/seconds/run")
    })?;
    let subject = format!("PageRank, {ITERATIONS} iterations, R-MAT {}, from disk", graph.scale);
    let titles = ["without checkpoints", "one in each", "every 4th", "every 10th"];
    let figures = beside_first(&subject, &titles, &samples, Unit::Seconds, Ratio::TimesAsLong);
    let on_curve = |(figure, every): (Figure, Option<&str>)| match every {
        Some(every) => Ok(figure.on_curve_of_values("with checkpoints", every.parse()?, AXIS)),
        None => Ok(figure),
    };
    figures.into_iter().zip(EVERY).map(on_curve).collect()
}
