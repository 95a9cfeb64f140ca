//! A graph eight times as large: its import, PageRank and a search, all within one budget.

use serde_json::Value;

use crate::bench::figure::{Figure, Of, Unit, median};
use crate::bench::lab::{Lab, text};
use crate::tegula::command::{number, numbers, vertex};
use crate::tegula::scratch::remove;
use crate::tegula::{Result, units};

/// How much larger than the main graph it is (log2), its memory, and its disk bytes per edge:
/// pairs, spilled edges, and tiles.
const STEPS: u32 = 3;
const MEMORY: u64 = 4 << 30;
const ROOM_PER_EDGE: u64 = 18;
/// Iterations of a run; a sample is the median of their times.
const ITERATIONS: u64 = 5;
/// Rounds of runs; the import, which takes minutes, is measured once.
const ROUNDS_MAX: usize = 3;

/// Measures every step from pairs on disk to a search.
pub fn all(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    let scale = lab.settings.scale + STEPS;
    let name = format!("R-MAT {scale}");
    if lab.settings.is_quick || !lab.has_room(ROOM_PER_EDGE * (16 << scale), &name)? {
        return Ok(Vec::new());
    }
    let pairs = lab.scratch.join("big.bin32");
    lab.generate(scale, &pairs)?;
    let graph = lab.scratch.join("big.tegula");
    let memory = MEMORY.to_string();
    lab.cache.drop(&pairs)?;
    let report =
        lab.tegula.json(&["import", text(&pairs)?, "-o", text(&graph)?, "--memory", &memory])?;
    remove(&pairs)?;
    let within = format!("R-MAT {scale}, within {}", units::bytes(MEMORY as f64));
    let rate = number(&report, "/edges")? / number(&report, "/seconds")?;
    let rate =
        Figure::new(format!("import of raw pairs, {within}"), Unit::EdgesPerSecond, vec![rate]);
    let mut peaks = vec![number(&report, "/peak_memory_bytes")?];

    let (mut iterations, mut searches) = (Vec::new(), Vec::new());
    let (mut read, mut found) = (String::new(), String::new());
    for _ in 0..lab.settings.rounds.min(ROUNDS_MAX) {
        let ranks = lab.pagerank(&graph, ITERATIONS, Some(MEMORY))?;
        iterations.push(median(&numbers(&ranks, "/iteration_seconds")?));
        read = bytes_read(&ranks, ITERATIONS)?;
        let hub = vertex(&ranks, "/summary/top/0/vertex")?;
        let search = lab.run("bfs", &graph, Some(MEMORY), &["--source", &hub])?;
        searches.push(number(&search, "/seconds/run")?);
        found = bytes_read(&search, 1)?;
        for run in [&ranks, &search] {
            peaks.push(number(run, "/peak_memory_bytes")?);
        }
    }
    remove(&graph)?;
    let iteration =
        Figure::new(format!("PageRank, iteration, {within}"), Unit::Seconds, iterations);
    let search =
        Figure::new(format!("breadth-first search, whole run, {within}"), Unit::Seconds, searches);
    let peak = Figure::new("peak memory of all of these", Unit::Bytes, peaks);
    Ok(vec![
        lab.with_targets(rate, |figure| figure.at_least(Of::Value, 20e6, Some(30e6))),
        lab.with_targets(iteration, |figure| figure.at_most(Of::Value, 2.0, None))
            .note(format!("{read} read in each iteration")),
        lab.with_targets(search, |figure| figure.at_most(Of::Value, 6.0, None))
            .note(format!("{found} read")),
        peak.at_most(Of::Value, MEMORY as f64, None),
    ])
}

fn bytes_read(run: &Value, iterations: u64) -> Result<String> {
    Ok(units::bytes(number(run, "/bytes_read")? / iterations as f64))
}
