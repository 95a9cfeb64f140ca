//! Shortest paths in memory and from disk, beside delta-stepping along plain compressed sparse
//! rows.

use serde_json::Value;

use super::targets::{LONG, SKEWED};
use crate::bench::examples::Example;
use crate::bench::figure::{Figure, Of, Ratio, Unit};
use crate::bench::graphs::{Made, Model, Recipe};
use crate::bench::lab::{Lab, text};
use crate::tegula::command::{Worker, number, whole};
use crate::tegula::{Result, units};

/// The first bucket width that is tried; the mean weight is 0.5.
const DELTA_FIRST: f64 = 0.125;
/// The largest relative difference of the sums of all distances: the yardstick uses single
/// precision.
const TOLERANCE: f64 = 1e-4;

/// The memory of searches from a cold disk.
const DISK_MEMORY: u64 = 1 << 30;

/// Measures a skewed graph and one with a large diameter, both open, and the skewed one also from
/// disk.
pub fn all(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    let ours = Example::build(lab.root, "open_rows")?;
    let plain = Example::build(lab.root, "delta_stepping")?;
    let scale = lab.settings.scale;
    let side = 1u64 << (scale / 2);
    let graphs = [
        (Model::Rmat(scale), ["rmat".to_owned(), scale.to_string()], SKEWED),
        (Model::Grid(side), ["grid".to_owned(), side.to_string()], LONG),
    ];
    let mut figures = Vec::new();
    for (model, [name, size], (most, better)) in graphs {
        let graph = lab.make(Recipe::new(model).undirected().weighted())?;
        let mut ours = ours.start(&["sssp", text(&graph.graph)?, &graph.source])?;
        ours.answer()?;
        let mut plain = plain.start(&[&name, &size, &graph.source])?;
        let edges = whole(&plain.answer()?, "/edges")?;
        if edges != graph.edges {
            return Err(format!("the yardstick has {edges} edges, not {}", graph.edges).into());
        }
        let (delta, delta_plain) = (best_delta(&mut ours)?, best_delta(&mut plain)?);
        let (mut times, mut plain_times) = (Vec::new(), Vec::new());
        for _ in 0..lab.settings.rounds {
            let found = ours.ask(&delta.to_string())?;
            let expected = plain.ask(&delta_plain.to_string())?;
            agree(&found, &expected)?;
            times.push(number(&found, "/seconds")?);
            plain_times.push(number(&expected, "/seconds")?);
        }
        let figure = Figure::new(format!("{}, in memory", graph.title), Unit::Seconds, times)
            .compared_with("plain delta-stepping", plain_times, Ratio::TimesAsLong)
            .note(format!("buckets of {delta}, of the yardstick {delta_plain}; the best of each"));
        figures
            .push(lab.with_targets(figure, |figure| figure.at_most(Of::Ratio, most, Some(better))));
        drop(ours);
        if matches!(model, Model::Rmat(_)) {
            figures.push(from_disk(lab, &graph, &mut plain, delta_plain)?);
        }
        drop(plain);
        if matches!(model, Model::Grid(_)) {
            lab.discard(|made| made.title == graph.title)?;
        }
    }
    Ok(figures)
}

/// Measures whole searches from a cold disk, in turn with the yardstick, which holds the graph in
/// memory.
fn from_disk(lab: &Lab<'_>, graph: &Made, plain: &mut Worker, delta_plain: f64) -> Result<Figure> {
    let (mut times, mut plain_times) = (Vec::new(), Vec::new());
    for _ in 0..lab.settings.rounds {
        let options = ["--source", graph.source.as_str()];
        let run = lab.run("sssp", &graph.graph, Some(DISK_MEMORY), &options)?;
        times.push(number(&run, "/seconds/run")?);
        plain_times.push(number(&plain.ask(&delta_plain.to_string())?, "/seconds")?);
    }
    let title = format!("{}, from disk within {}", graph.title, units::bytes(DISK_MEMORY as f64));
    let figure = Figure::new(title, Unit::Seconds, times).compared_with(
        "plain delta-stepping, in memory",
        plain_times,
        Ratio::TimesAsLong,
    );
    Ok(lab.with_targets(figure, |figure| figure.at_most(Of::Ratio, 2.0, Some(1.3))))
}

/// Halves and doubles the bucket width until two further steps have not helped.
fn best_delta(worker: &mut Worker) -> Result<f64> {
    let mut seconds = |delta: f64| number(&worker.ask(&delta.to_string())?, "/seconds");
    let mut best = (DELTA_FIRST, seconds(DELTA_FIRST)?);
    for factor in [0.5, 2.0] {
        let (mut delta, mut worse) = (best.0, 0);
        while worse < 2 {
            delta *= factor;
            let time = seconds(delta)?;
            worse = if time < best.1 { 0 } else { worse + 1 };
            if time < best.1 {
                best = (delta, time);
            }
        }
    }
    Ok(best.0)
}

/// Checks that the same vertices are reached, at the same distances.
fn agree(found: &Value, expected: &Value) -> Result<()> {
    let [reached, reached_plain] = [found, expected].map(|answer| whole(answer, "/reached"));
    let [sum, sum_plain] = [found, expected].map(|answer| number(answer, "/distance_sum"));
    let (sum, sum_plain) = (sum?, sum_plain?);
    if reached? != reached_plain? || (sum - sum_plain).abs() > TOLERANCE * sum_plain {
        return Err(format!("the distances differ: {found}, {expected}").into());
    }
    Ok(())
}
