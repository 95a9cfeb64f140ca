//! PageRank: in memory beside the yardstick, from disk beside the disk itself.

use std::process::Command;

use rustix::fs::statvfs;

use crate::bench::disk::read_sequentially;
use crate::bench::figure::{Figure, Of, Ratio, Unit, median};
use crate::bench::lab::{Lab, Prepared};
use crate::tegula::command::{Worker, cargo_build, number, numbers, whole};
use crate::tegula::scratch::remove;
use crate::tegula::{Result, target_folder, units};

/// Iterations of a run; a sample is the median of their times, so that the first one, which finds
/// nothing in memory, does not count.
const ITERATIONS: u64 = 10;
/// How much larger than the main graph the large one is.
const BIG_STEPS: u32 = 2;
/// Bytes of disk for each edge of the large graph: as raw pairs, sorted by target, and in tiles.
const BIG_ROOM_PER_EDGE: u64 = 24;

/// An iteration in memory, in turn with one along plain compressed columns.
pub fn in_memory(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    cargo_build(lab.root, &["--package", "tegula-testkit", "--example", "csc_pull"])?;
    let program = target_folder()?.join("release/examples/csc_pull");
    let graph = lab.rmat(lab.settings.scale)?;
    let arguments = [graph.scale.to_string(), "--on-request".to_owned()];
    let mut yardstick = Worker::start(Command::new(program).args(arguments))?;
    let about = yardstick.answer()?;
    let (vertices, edges) = (whole(&about, "/vertices")?, whole(&about, "/edges")?);
    if (vertices, edges) != (graph.vertices, graph.edges) {
        return Err(format!("the yardstick has {vertices} vertices and {edges} edges").into());
    }
    let (mut ours, mut plain) = (Vec::new(), Vec::new());
    for _ in 0..lab.settings.rounds {
        let run = lab.pagerank(&graph.graph, ITERATIONS, None)?;
        ours.push(median(&numbers(&run, "/iteration_seconds")?));
        let round = yardstick.ask(&ITERATIONS.to_string())?;
        plain.push(median(&numbers(&round, "/iteration_seconds")?));
    }
    let rate = units::decimal(edges as f64 / median(&ours));
    let title = format!("iteration, R-MAT {}, in memory", graph.scale);
    let figure = Figure::new(title, Unit::Seconds, ours)
        .beside("plain CSC pull", plain, Ratio::TimesAsFast)
        .note(format!("{rate} edges/s"));
    Ok(vec![lab.with_targets(figure, |figure| figure.at_least(Of::Ratio, 3.0, Some(4.5)))])
}

/// An iteration from disk, in turn with reading the same tiles in order.
pub fn from_disk(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    let graph = lab.rmat(lab.settings.scale)?;
    let memory = lab.disk_memory(&graph)?;
    let [iteration, peak] = cold(lab, &graph, memory)?;
    let iteration = lab.with_targets(iteration, |figure| {
        figure.at_most(Of::Ratio, 1.25, None).at_most(Of::Value, 0.40, Some(0.30))
    });
    Ok(vec![iteration, peak])
}

/// The same on a graph four times as large, within four times the memory.
pub fn big(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    let scale = lab.settings.scale + BIG_STEPS;
    if lab.settings.is_quick {
        lab.remarks.push(format!("R-MAT {scale} is left out of a quick run."));
        return Ok(Vec::new());
    }
    // Those with rows have been measured.
    lab.discard(|_| true)?;
    let room = BIG_ROOM_PER_EDGE * (16 << scale);
    let disk = statvfs(lab.scratch.path())?;
    let free = disk.f_bavail * disk.f_frsize;
    if free < room {
        let (room, free) = (units::bytes(room as f64), units::bytes(free as f64));
        lab.remarks.push(format!("R-MAT {scale} needs {room} of disk; {free} are free."));
        return Ok(Vec::new());
    }
    let graph = lab.rmat(scale)?;
    remove(&graph.pairs)?;
    let memory = lab.disk_memory(&graph)?;
    let [iteration, peak] = cold(lab, &graph, memory)?;
    lab.forget(scale)?;
    let iteration = lab.with_targets(iteration, |figure| figure.at_most(Of::Value, 1.3, Some(1.0)));
    Ok(vec![iteration, peak])
}

/// An iteration from a cold disk, and the most memory that was in use.
fn cold(lab: &Lab<'_>, graph: &Prepared, memory: u64) -> Result<[Figure; 2]> {
    let (mut ours, mut reads, mut peaks) = (Vec::new(), Vec::new(), Vec::new());
    let (mut bytes_read, mut is_direct) = (Vec::new(), true);
    for _ in 0..lab.settings.rounds {
        let run = lab.pagerank(&graph.graph, ITERATIONS, Some(memory))?;
        ours.push(median(&numbers(&run, "/iteration_seconds")?));
        peaks.push(number(&run, "/peak_memory_bytes")?);
        bytes_read.push(number(&run, "/bytes_read")? / ITERATIONS as f64);
        lab.cache.drop(&graph.graph)?;
        let read = read_sequentially(&graph.tiles())?;
        reads.push(read.seconds);
        is_direct &= read.is_direct;
    }
    let rate = units::decimal(graph.edges as f64 / median(&ours));
    let bytes = units::bytes(median(&bytes_read));
    let budget = units::bytes(memory as f64);
    let how = if is_direct {
        "tiles read in order"
    } else {
        "tiles read in order, through the page cache"
    };
    let title = format!("iteration, R-MAT {}, from disk within {budget}", graph.scale);
    let iteration = Figure::new(title, Unit::Seconds, ours)
        .beside(how, reads, Ratio::TimesAsLong)
        .note(format!("{rate} edges/s, {bytes} read in each iteration"));
    let peak = Figure::new("peak memory of these runs", Unit::Bytes, peaks);
    Ok([iteration, peak.at_most(Of::Value, memory as f64, None)])
}
