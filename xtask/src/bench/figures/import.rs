//! How fast edge lists become graphs.

use std::path::Path;

use crate::bench::figure::{Figure, Of, Unit};
use crate::bench::lab::{self, Lab};
use crate::tegula::Result;
use crate::tegula::command::number;
use crate::tegula::scratch::remove;

/// The memory budget of an import.
const MEMORY: u64 = 1 << 30;
/// How much smaller than the main graph the one in text is.
const TEXT_STEPS: u32 = 2;

/// Raw pairs of 32-bit ids.
pub fn raw(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    let graph = lab.rmat(lab.settings.scale)?;
    let title = format!("raw pairs, R-MAT {}, within 1 GiB", graph.scale);
    let [rate, peak] = imports(lab, &graph.pairs, title)?;
    let rate = lab.with_targets(rate, |figure| figure.at_least(Of::Value, 20e6, Some(40e6)));
    Ok(vec![rate, peak])
}

/// Text as SNAP has it: a source and a target in decimal on each line.
pub fn text(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    let scale = lab.settings.scale - TEXT_STEPS;
    let file = lab.scratch.join("edges.txt");
    lab.generate(scale, &file)?;
    let title = format!("text, R-MAT {scale}, within 1 GiB");
    let [rate, peak] = imports(lab, &file, title)?;
    remove(&file)?;
    let rate = lab.with_targets(rate, |figure| figure.at_least(Of::Value, 8e6, Some(20e6)));
    Ok(vec![rate, peak])
}

/// Imports again and again: edges a second, and the most memory that was in use.
fn imports(lab: &Lab<'_>, input: &Path, title: String) -> Result<[Figure; 2]> {
    let graph = lab.scratch.join("imported.tegula");
    let memory = MEMORY.to_string();
    let (mut rates, mut peaks) = (Vec::new(), Vec::new());
    for _ in 0..lab.settings.rounds {
        lab.cache.drop(input)?;
        let (input, output) = (lab::text(input)?, lab::text(&graph)?);
        let report = lab.tegula.json(&["import", input, "-o", output, "--memory", &memory])?;
        rates.push(number(&report, "/edges")? / number(&report, "/seconds")?);
        peaks.push(number(&report, "/peak_memory_bytes")?);
        remove(&graph)?;
    }
    let peak = Figure::new("peak memory of these imports", Unit::Bytes, peaks);
    let rate = Figure::new(title, Unit::EdgesPerSecond, rates);
    Ok([rate, peak.at_most(Of::Value, MEMORY as f64, None)])
}
