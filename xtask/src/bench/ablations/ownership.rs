//! Who writes the sum of a target: one worker without a lock, or any worker that has an edge to it.

use super::comparison::{ROUNDS_MAX, beside_first, in_turn};
use crate::bench::examples::Example;
use crate::bench::figure::{Figure, Ratio, Unit};
use crate::bench::lab::{Lab, text};
use crate::tegula::Result;
use crate::tegula::command::number;

const WAYS: [&str; 3] = ["owned", "atomics", "locks"];
const TITLES: [&str; 3] = ["a worker owns its targets", "compare-and-swap", "hashed locks"];

/// Adds messages up along the same tiles, with one thread and with two.
pub fn all(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    let graph = lab.rmat(lab.settings.scale)?;
    let example = Example::build(lab.root, "ownership")?;
    let mut worker = example.start(&[text(&graph.graph)?])?;
    worker.answer()?;
    let mut figures = Vec::new();
    for (threads, title) in [(1, "1 thread"), (2, "2 threads")] {
        let samples = in_turn(lab.settings.rounds.min(ROUNDS_MAX), &WAYS, |way| {
            number(&worker.ask(&format!("{way} {threads}"))?, "/seconds")
        })?;
        let subject = format!("messages along all edges, R-MAT {}, {title}", graph.scale);
        let (unit, ratio) = (Unit::Seconds, Ratio::TimesAsLong);
        figures.extend(beside_first(&subject, &TITLES, &samples, unit, ratio));
    }
    lab.remarks.push(
        "Each way adds edge by edge, without the engine's sums of a strip. Paper (MOSAIC): atomics take 1.9 times as \
         long, locks 12.2 times."
            .to_owned(),
    );
    Ok(figures)
}
