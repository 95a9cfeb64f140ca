//! Traversals of rows on disk by one thread, with and without run-ahead.

use std::process::{Command, Stdio};

use serde_json::Value;

use crate::bench::examples::Example;
use crate::bench::figure::{Figure, Of, Ratio, Unit};
use crate::bench::graphs::{Made, Model, Recipe};
use crate::bench::lab::{Lab, text};
use crate::tegula::command::{number, whole};
use crate::tegula::{Result, units};

/// The cache in percent of the rows.
const CACHE_PERCENT: &str = "5";
/// Rounds: a part of a traversal without run-ahead takes long.
const ROUNDS_MAX: usize = 3;

/// A part of a traversal.
struct Part {
    kind: &'static str,
    title: &'static str,
    /// A share of 1 / `before` of the vertices is visited before the part begins; none if this is
    /// 0.
    before: u64,
    /// The part has 1 / `share` of the vertices.
    share: u64,
    /// Whether targets have been set for it.
    has_targets: bool,
}

const PARTS: [Part; 4] = [
    Part { kind: "bfs", title: "breadth-first", before: 4, share: 64, has_targets: true },
    // The row of a vertex decides which vertex follows it, if the row leads on.
    Part { kind: "dfs", title: "depth-first", before: 4, share: 64, has_targets: false },
    Part { kind: "dijkstra", title: "best-first", before: 16, share: 64, has_targets: true },
    // Rows before the part would be read ahead into it.
    Part { kind: "sequential", title: "sequential", before: 0, share: 16, has_targets: false },
];

/// Measures each kind of traversal.
pub fn all(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    let program = Example::build(lab.root, "traverse")?;
    let graph = lab.make(Recipe::new(Model::Rmat(lab.settings.scale)).undirected().weighted())?;
    let mut figures = Vec::new();
    for part in PARTS {
        figures.extend(run_ahead(lab, &program, &graph, &part)?);
    }
    let probe = probe(lab)?;
    lab.remarks.push(probe);
    Ok(figures)
}

fn run_ahead(lab: &Lab<'_>, program: &Example, graph: &Made, part: &Part) -> Result<[Figure; 2]> {
    let from = graph.vertices.checked_div(part.before).unwrap_or(0).to_string();
    let count = (graph.vertices / part.share).to_string();
    let mut arguments = vec![text(&graph.graph)?, part.kind, &graph.source, CACHE_PERCENT];
    arguments.extend([from.as_str(), &count]);
    let (mut with, mut without, mut hit_rates) = (Vec::new(), Vec::new(), Vec::new());
    let mut note = String::new();
    for _ in 0..lab.settings.rounds.min(ROUNDS_MAX) {
        lab.cache.drop(&graph.graph)?;
        let done = program.run(&arguments)?;
        with.push(number(&done, "/seconds")?);
        hit_rates.push(number(&done, "/hit_rate")?);
        let (requests, bytes) = (whole(&done, "/requests")?, number(&done, "/bytes_read")?);
        note = format!(
            "{} rows after {}, {} requests and {} with run-ahead",
            units::count(whole(&done, "/rows")?),
            units::count(whole(&done, "/rows_before")?),
            units::count(requests),
            units::bytes(bytes),
        );
        lab.cache.drop(&graph.graph)?;
        let done = program.run(&[&arguments[..], &["--without-run-ahead"]].concat())?;
        without.push(number(&done, "/seconds")?);
    }
    let title = format!("{} order, {}", part.title, graph.title);
    let figure = Figure::new(format!("{title}, a part"), Unit::Seconds, with)
        .compared_with("without run-ahead", without, Ratio::TimesAsFast)
        .note(note);
    let hits = Figure::new(format!("{title}, hit rate"), Unit::Share, hit_rates);
    if !part.has_targets {
        return Ok([figure, hits]);
    }
    let figure = lab.with_targets(figure, |figure| figure.at_least(Of::Ratio, 4.0, Some(6.0)));
    let hits = lab.with_targets(hits, |figure| figure.at_least(Of::Value, 0.99, None));
    Ok([figure, hits])
}

/// Measures what queue depth alone gains on this disk. The probe is not remembered: later figures
/// must not depend on whether this group was measured.
fn probe(lab: &Lab<'_>) -> Result<String> {
    let mut command = Command::new(lab.tegula.path());
    command.args(["probe", text(lab.scratch.path())?, "--json"]).stdin(Stdio::null());
    let output = command.env("XDG_CACHE_HOME", lab.scratch.path()).output()?;
    if !output.status.success() {
        return Err(format!("the probe: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    let found: Value = serde_json::from_slice(&output.stdout)?;
    let random = found.pointer("/random").and_then(Value::as_array);
    let rates = random.ok_or("the probe shows no random reads")?;
    let rate = |in_flight: u64| -> Result<f64> {
        let is_it =
            |rate: &&Value| rate.pointer("/in_flight").and_then(Value::as_u64) == Some(in_flight);
        number(rates.iter().find(is_it).unwrap_or(&Value::Null), "/reads_per_second")
    };
    let (one, many) = (rate(1)?, rate(64)?);
    Ok(format!(
        "Random reads of 4 KiB: {}/s one at a time, {}/s with 64 in flight, {:.1} times as many.",
        units::decimal(one),
        units::decimal(many),
        many / one
    ))
}
