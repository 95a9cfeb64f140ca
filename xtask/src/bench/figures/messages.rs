//! How messages reach further groups of columns where arrays lie on disk: each group reads all
//! messages again, or only messages with a use are dispatched.

use std::path::Path;

use serde_json::Value;

use crate::bench::figure::{Figure, Of, Ratio, Unit};
use crate::bench::figures::arrays::{ITERATIONS, ROUNDS_MAX, VERTICES, iteration, uniform};
use crate::bench::lab::{Lab, text};
use crate::tegula::command::whole;
use crate::tegula::scratch::remove;
use crate::tegula::{Result, units};

/// Groups of columns, out of 64 columns. A single group would have no further ones.
const GROUPS: [u64; 3] = [4, 16, 64];
/// The chosen way may take at most this many times as long as either one alone.
const CHOSEN_AT_MOST: f64 = 1.1;

/// Measures an iteration of PageRank with the chosen way, in turn with each way alone.
pub fn both_ways(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    let (steps, degree) = VERTICES;
    let log2 = lab.settings.scale + steps;
    // The number of segments and columns is the same at every scale.
    let grid = format!("{},{}", log2 - 2, log2 - 6);
    let Some((graph, name)) = uniform(lab, log2, degree << log2, &["--grid", &grid])? else {
        return Ok(Vec::new());
    };
    let mut figures = Vec::new();
    for groups in GROUPS {
        let memory = budget_for(lab, &graph, groups)?;
        let planned = groups_within(lab, &graph, memory)?;
        let title = format!(
            "PageRank iteration, {name}, {planned} groups of columns, within {}",
            units::bytes(memory as f64)
        );
        let mut samples = [vec![], vec![], vec![]];
        for _ in 0..lab.settings.rounds.min(ROUNDS_MAX) {
            for (messages, samples) in ["auto", "reread", "dispatched"].iter().zip(&mut samples) {
                let iterations = ITERATIONS.to_string();
                let options = ["--iterations", &iterations, "--messages", messages];
                samples.push(iteration(&lab.run("pagerank", &graph, Some(memory), &options)?)?);
            }
        }
        let [chosen, reread, sent] = samples;
        for (beside, samples) in [("all read again", reread), ("sent", sent)] {
            let figure = Figure::new(&title, Unit::Seconds, chosen.clone()).compared_with(
                beside,
                samples,
                Ratio::TimesAsLong,
            );
            let limit = |figure: Figure| figure.at_most(Of::Ratio, CHOSEN_AT_MOST, None);
            figures.push(lab.with_targets(figure, limit));
        }
    }
    remove(&graph)?;
    Ok(figures)
}

/// Returns the largest budget, to a mebibyte, with at least `groups` groups of columns; the
/// smallest possible budget if none has that number.
fn budget_for(lab: &Lab<'_>, graph: &Path, groups: u64) -> Result<u64> {
    let roomy = estimate(lab, graph, None)?;
    let needed = whole(&roomy, "/needed_bytes")?;
    let (mut enough, mut too_much) = (needed, needed + whole(&roomy, "/vertex_bytes")?);
    while too_much - enough > 1 << 20 {
        let middle = enough.midpoint(too_much);
        match groups_within(lab, graph, middle)? >= groups {
            true => enough = middle,
            false => too_much = middle,
        }
    }
    Ok(enough)
}

/// Returns the number of groups of columns within a budget.
fn groups_within(lab: &Lab<'_>, graph: &Path, memory: u64) -> Result<u64> {
    let estimate = estimate(lab, graph, Some(memory))?;
    Ok(estimate["arrays_on_disk"]["column_groups"].as_u64().unwrap_or(1))
}

fn estimate(lab: &Lab<'_>, graph: &Path, memory: Option<u64>) -> Result<Value> {
    let memory = memory.map(|bytes| bytes.to_string());
    let budget = memory.iter().flat_map(|memory| ["--memory", memory]);
    let arguments = ["run", "pagerank", text(graph)?, "--estimate"];
    lab.tegula.json(&arguments.into_iter().chain(budget).collect::<Vec<_>>())
}
