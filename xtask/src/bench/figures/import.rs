//! How fast edge lists become graphs.

use std::path::Path;

use crate::bench::figure::{Figure, Of, Unit};
use crate::bench::lab::{Lab, text};
use crate::tegula::command::number;
use crate::tegula::scratch::remove;
use crate::tegula::{Result, units};

/// The memory budget of an import that spills.
const MEMORY: u64 = 1 << 30;
/// The scale of graphs in text and with rows is lower by this than that of the main graph.
const SMALLER_STEPS: u32 = 2;

/// Measures raw pairs of 32-bit ids: with ample memory, within a budget, and undirected with rows.
pub fn raw(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    let graph = lab.rmat(lab.settings.scale)?;
    let title = format!("raw pairs, R-MAT {}", graph.scale);
    let [at_hand, _] = imports(lab, &graph.pairs, format!("{title}, memory at hand"), None, &[])?;
    let within = format!("{title}, within {}", units::bytes(MEMORY as f64));
    let [rate, peak] = imports(lab, &graph.pairs, within, Some(MEMORY), &[])?;
    let scale = lab.settings.scale - SMALLER_STEPS;
    let pairs = lab.scratch.join("smaller.bin32");
    lab.generate(scale, &pairs)?;
    let title = format!("raw pairs, R-MAT {scale}, undirected with rows, memory at hand (arcs)");
    let options = ["--undirected", "--layouts", "tiles,rows"];
    let [rows, _] = imports(lab, &pairs, title, None, &options)?;
    remove(&pairs)?;
    Ok(vec![
        lab.with_targets(at_hand, |figure| figure.at_least(Of::Value, 40e6, Some(60e6))),
        lab.with_targets(rate, |figure| figure.at_least(Of::Value, 30e6, Some(40e6))),
        peak,
        lab.with_targets(rows, |figure| figure.at_least(Of::Value, 25e6, Some(40e6))),
    ])
}

/// Measures text as SNAP has it: a source and a target in decimal on each line.
pub fn from_text(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    let scale = lab.settings.scale - SMALLER_STEPS;
    let file = lab.scratch.join("edges.txt");
    lab.generate(scale, &file)?;
    let title = format!("text, R-MAT {scale}, within {}", units::bytes(MEMORY as f64));
    let [rate, peak] = imports(lab, &file, title, Some(MEMORY), &[])?;
    remove(&file)?;
    let rate = lab.with_targets(rate, |figure| figure.at_least(Of::Value, 25e6, Some(40e6)));
    Ok(vec![rate, peak])
}

/// Imports repeatedly; returns the edges per second and the peak memory.
fn imports(
    lab: &Lab<'_>,
    input: &Path,
    title: String,
    memory: Option<u64>,
    options: &[&str],
) -> Result<[Figure; 2]> {
    let graph = lab.scratch.join("imported.tegula");
    let mut arguments = vec!["import", text(input)?, "-o", text(&graph)?];
    arguments.extend(options);
    let budget = memory.map(|bytes| bytes.to_string());
    arguments.extend(budget.iter().flat_map(|budget| ["--memory", budget]));
    let (mut rates, mut peaks) = (Vec::new(), Vec::new());
    for _ in 0..lab.settings.rounds {
        lab.cache.drop(input)?;
        let report = lab.tegula.json(&arguments)?;
        rates.push(number(&report, "/edges")? / number(&report, "/seconds")?);
        peaks.push(number(&report, "/peak_memory_bytes")?);
        remove(&graph)?;
    }
    let peak = Figure::new("peak memory of these imports", Unit::Bytes, peaks);
    let rate = Figure::new(title, Unit::EdgesPerSecond, rates);
    let peak = match memory {
        Some(memory) => peak.at_most(Of::Value, memory as f64, None),
        None => peak,
    };
    Ok([rate, peak])
}
