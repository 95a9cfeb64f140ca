//! Triangles: counted in memory beside a merge of neighbour lists, and estimated from disk.

use super::budget::memory_for;
use crate::bench::examples::Example;
use crate::bench::figure::{Figure, Of, Ratio, Unit};
use crate::bench::graphs::{Model, Recipe};
use crate::bench::lab::{DISK_MEMORY, Lab};
use crate::tegula::command::{number, whole};
use crate::tegula::{Result, units};

/// The scale of the graph for counting is lower by this: counting takes more than linear time.
const COUNTED_STEPS: u32 = 4;
/// The default number of hashes of an estimate.
const HASHES: f64 = 64.0;
/// Memory that holds all signatures at the scale of targets.
const AMPLE_MEMORY: u64 = 8 << 30;
/// Rounds of estimates, which take a minute each.
const ROUNDS_MAX: usize = 3;

/// Measures both ways.
pub fn all(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    let mut figures = vec![counted(lab)?];
    figures.extend(estimated(lab)?);
    Ok(figures)
}

/// Measures whole runs, in turn with the yardstick.
fn counted(lab: &mut Lab<'_>) -> Result<Figure> {
    let scale = lab.settings.scale - COUNTED_STEPS;
    let graph = lab.make(Recipe::new(Model::Rmat(scale)))?;
    let mut plain =
        Example::build(lab.root, "merge_count")?.start(&[scale.to_string().as_str()])?;
    plain.answer()?;
    let (mut times, mut plain_times) = (Vec::new(), Vec::new());
    for _ in 0..lab.settings.rounds {
        let run = lab.run("triangles", &graph.graph, None, &[])?;
        let expected = plain.ask("")?;
        let (found, expected_count) =
            (whole(&run, "/summary/triangles")?, whole(&expected, "/triangles")?);
        if found != expected_count {
            return Err(format!("the yardstick has {expected_count} triangles, not {found}").into());
        }
        times.push(number(&run, "/seconds/run")?);
        plain_times.push(number(&expected, "/seconds")?);
    }
    lab.discard(|made| made.title == graph.title)?;
    let title = format!("whole run, {}, in memory", graph.title);
    let figure = Figure::new(title, Unit::Seconds, times).compared_with(
        "lists merged along plain rows",
        plain_times,
        Ratio::TimesAsFast,
    );
    Ok(lab.with_targets(figure, |figure| figure.at_least(Of::Ratio, 1.5, None)))
}

/// Measures estimates from a cold disk: the time per hash.
fn estimated(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    let graph = lab.make(Recipe::new(Model::Rmat(lab.settings.scale)))?;
    let options = ["--approximate"];
    let mut figures = Vec::new();
    for memory in [DISK_MEMORY, AMPLE_MEMORY] {
        let memory = memory_for(lab, "triangles", &graph, &options, memory)?;
        let mut times = Vec::new();
        let mut note = String::new();
        for _ in 0..lab.settings.rounds.min(ROUNDS_MAX) {
            let run = lab.run("triangles", &graph.graph, Some(memory), &options)?;
            times.push(number(&run, "/seconds/run")? / HASHES);
            let passes = whole(&run, "/iterations")?;
            note = format!("{passes} passes, {} read", units::bytes(number(&run, "/bytes_read")?));
        }
        let budget = units::bytes(memory as f64);
        let title = format!("estimate, {}, from disk within {budget}, a hash", graph.title);
        let figure = Figure::new(title, Unit::Seconds, times).note(note);
        figures.push(lab.with_targets(figure, |figure| figure.at_most(Of::Value, 1.0, None)));
    }
    Ok(figures)
}
