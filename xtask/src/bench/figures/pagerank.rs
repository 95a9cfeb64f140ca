//! PageRank: in memory beside the yardstick, from disk beside the disk itself.

use std::path::Path;

use crate::bench::disk::read_sequentially;
use crate::bench::examples::Example;
use crate::bench::figure::{Figure, Of, Ratio, Unit, median};
use crate::bench::lab::{Lab, Prepared, SCALE, text};
use crate::tegula::command::{number, numbers, whole};
use crate::tegula::scratch::remove;
use crate::tegula::{Result, units};

/// Iterations of a run. A sample is the median of their times, so the first one, which finds
/// nothing in memory, does not count.
const ITERATIONS: u64 = 10;
/// The memory of a run from disk that holds little more than its arrays, as a fraction: 200 of 512
/// MiB.
const SCARCE: (u64, u64) = (200, 512);
/// The scale of the large graph is higher by this than that of the main graph.
const BIG_STEPS: u32 = 2;
/// Disk bytes per edge of the large graph: as raw pairs, sorted by target, and in tiles.
const BIG_ROOM_PER_EDGE: u64 = 24;

/// Measures an iteration in memory, in turn with one along plain compressed columns: on a skewed
/// graph, and on one with neither skew nor locality.
pub fn in_memory(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    let scale = lab.settings.scale;
    let graph = lab.rmat(scale)?;
    let skewed = beside_plain(lab, "rmat", &graph.graph, graph.edges, format!("R-MAT {scale}"))?;
    let sizes = [1u64 << scale, 16 << scale].map(|size| size.to_string());
    let pairs = lab.scratch.join("uniform.bin32");
    let graph = lab.scratch.join("uniform.tegula");
    lab.tegula.json(&[
        "generate",
        "erdos-renyi",
        "--vertices",
        &sizes[0],
        "--edges",
        &sizes[1],
        "-o",
        text(&pairs)?,
    ])?;
    let report = lab.tegula.json(&["import", text(&pairs)?, "-o", text(&graph)?])?;
    let edges = whole(&report, "/edges")?;
    remove(&pairs)?;
    let title = format!("uniform random, 2^{scale} vertices");
    let uniform = beside_plain(lab, "uniform", &graph, edges, title)?;
    remove(&graph)?;
    Ok(vec![
        lab.with_targets(skewed, |figure| figure.at_least(Of::Ratio, 6.0, Some(8.0))),
        lab.with_targets(uniform, |figure| figure.at_least(Of::Ratio, 2.5, Some(3.5))),
    ])
}

fn beside_plain(
    lab: &Lab<'_>,
    model: &str,
    graph: &Path,
    edges: u64,
    title: String,
) -> Result<Figure> {
    let scale = lab.settings.scale.to_string();
    let example = Example::build(lab.root, "csc_pull")?;
    let mut yardstick = example.start(&[model, &scale, "--on-request"])?;
    let edges_plain = whole(&yardstick.answer()?, "/edges")?;
    if edges_plain != edges {
        return Err(format!("the yardstick has {edges_plain} edges, not {edges}").into());
    }
    let (mut ours, mut plain) = (Vec::new(), Vec::new());
    for _ in 0..lab.settings.rounds {
        let run = lab.pagerank(graph, ITERATIONS, None)?;
        ours.push(median(&numbers(&run, "/iteration_seconds")?));
        let round = yardstick.ask(&ITERATIONS.to_string())?;
        plain.push(median(&numbers(&round, "/iteration_seconds")?));
    }
    let rate = units::decimal(edges as f64 / median(&ours));
    Ok(Figure::new(format!("iteration, {title}, in memory"), Unit::Seconds, ours)
        .compared_with("plain CSC pull", plain, Ratio::TimesAsFast)
        .note(format!("{rate} edges/s")))
}

/// Measures an iteration from disk, in turn with reading the same tiles in order.
pub fn from_disk(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    let graph = lab.rmat(lab.settings.scale)?;
    let memory = lab.disk_memory(&graph)?;
    let [iteration, peak] = cold(lab, &graph, memory, Reading::AllTiles)?;
    let iteration = lab.with_targets(iteration, |figure| {
        figure.at_most(Of::Ratio, 1.25, None).at_most(Of::Value, 0.40, Some(0.30))
    });
    let (part, whole) = SCARCE;
    // Small graphs need nearly all memory that they get.
    let scarce = if graph.scale >= SCALE { memory / whole * part } else { memory };
    let [scarce, scarce_peak] = cold(lab, &graph, scarce, Reading::SameBytes)?;
    let scarce = lab.with_targets(scarce, |figure| figure.at_most(Of::Ratio, 1.05, None));
    Ok(vec![iteration, peak, scarce, scarce_peak])
}

/// Measures the same on a graph four times as large, within four times the memory.
pub fn big(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    let scale = lab.settings.scale + BIG_STEPS;
    if lab.settings.is_quick {
        lab.remarks.push(format!("R-MAT {scale} is left out of a quick run."));
        return Ok(Vec::new());
    }
    // The graphs with rows have been measured by now.
    lab.discard(|_| true)?;
    if !lab.has_room(BIG_ROOM_PER_EDGE * (16 << scale), &format!("R-MAT {scale}"))? {
        return Ok(Vec::new());
    }
    let graph = lab.rmat(scale)?;
    remove(&graph.pairs)?;
    let memory = lab.disk_memory(&graph)?;
    let [iteration, peak] = cold(lab, &graph, memory, Reading::AllTiles)?;
    lab.forget(scale)?;
    let iteration = lab.with_targets(iteration, |figure| figure.at_most(Of::Value, 1.3, Some(1.0)));
    Ok(vec![iteration, peak])
}

/// The read that an iteration from disk is compared with.
#[derive(Clone, Copy, PartialEq)]
enum Reading {
    /// Reading every tile, although some may stay in memory.
    AllTiles,
    /// Reading as many bytes as an iteration read.
    SameBytes,
}

/// Measures an iteration from a cold disk, and its peak memory.
fn cold(lab: &Lab<'_>, graph: &Prepared, memory: u64, reading: Reading) -> Result<[Figure; 2]> {
    let (mut ours, mut reads, mut peaks) = (Vec::new(), Vec::new(), Vec::new());
    let (mut bytes_read, mut is_direct) = (Vec::new(), true);
    for _ in 0..lab.settings.rounds {
        let run = lab.pagerank(&graph.graph, ITERATIONS, Some(memory))?;
        ours.push(median(&numbers(&run, "/iteration_seconds")?));
        peaks.push(number(&run, "/peak_memory_bytes")?);
        let bytes = number(&run, "/bytes_read")? / ITERATIONS as f64;
        bytes_read.push(bytes);
        lab.cache.drop(&graph.graph)?;
        let read = read_sequentially(&graph.tiles())?;
        let part = if reading == Reading::SameBytes { bytes / read.bytes as f64 } else { 1.0 };
        reads.push(part * read.seconds);
        is_direct &= read.is_direct;
    }
    let rate = units::decimal(graph.edges as f64 / median(&ours));
    let bytes = units::bytes(median(&bytes_read));
    let budget = units::bytes(memory as f64);
    let what = if reading == Reading::SameBytes { "the same bytes" } else { "tiles" };
    let past = if is_direct { "" } else { ", through the page cache" };
    let how = format!("{what} read in order{past}");
    let title = format!("iteration, R-MAT {}, from disk within {budget}", graph.scale);
    let iteration = Figure::new(title, Unit::Seconds, ours)
        .compared_with(how, reads, Ratio::TimesAsLong)
        .note(format!("{rate} edges/s, {bytes} read in each iteration"));
    let peak = Figure::new("peak memory of these runs", Unit::Bytes, peaks);
    Ok([iteration, peak.at_most(Of::Value, memory as f64, None)])
}
