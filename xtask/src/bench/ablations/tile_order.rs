//! The order of the tiles of a batch: along a Hilbert curve, by source first, by target first.

use std::path::{Path, PathBuf};

use super::comparison::{ROUNDS_MAX, beside_first, in_turn};
use crate::bench::figure::{Figure, Ratio, Unit, median};
use crate::bench::lab::{Lab, text};
use crate::bench::perf;
use crate::tegula::Result;
use crate::tegula::command::{number, numbers};
use crate::tegula::scratch::remove;

const ORDERS: [&str; 3] = ["hilbert", "source", "target"];
const TITLES: [&str; 3] = ["Hilbert curve", "source first", "target first"];
const ITERATIONS: u64 = 10;
/// The event's name for `perf`: loads that miss the last-level cache.
const MISSES: &str = "LLC-load-misses";

/// Measures PageRank in every order, in memory and from disk (MOSAIC, Tables 7 and 9).
pub fn all(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    let graph = lab.rmat(lab.settings.scale)?;
    let memory = lab.disk_memory(&graph)?;
    let (mut graphs, mut tiles, mut bytes) = (Vec::<PathBuf>::new(), Vec::new(), Vec::new());
    for order in ORDERS {
        let ordered = lab.scratch.join(&format!("{order}-tiles.tegula"));
        let import = ["import", text(&graph.pairs)?, "-o", text(&ordered)?, "--tile-order", order];
        let report = lab.tegula.json(&import)?;
        bytes.push(vec![number(&report, "/bytes_per_edge/tiles")?]);
        tiles.push(vec![number(&lab.tegula.json(&["info", text(&ordered)?])?, "/tiles")?]);
        graphs.push(ordered);
    }
    let name = format!("R-MAT {}", graph.scale);
    let mut figures = Vec::new();
    for (place, memory) in [("in memory", None), ("from disk", Some(memory))] {
        let samples = in_turn(lab.settings.rounds, &graphs, |graph| {
            Ok(median(&numbers(&lab.pagerank(graph, ITERATIONS, memory)?, "/iteration_seconds")?))
        })?;
        let subject = format!("PageRank iteration, {name}, {place}");
        let times = beside_first(&subject, &TITLES, &samples, Unit::Seconds, Ratio::TimesAsLong);
        figures.extend(times);
    }
    figures.extend(misses(lab, &name, &graphs)?);
    let subject = format!("tiles, {name}");
    let (unit, ratio) = (Unit::Count, Ratio::TimesAsLarge);
    figures.extend(beside_first(&subject, &TITLES, &tiles, unit, ratio));
    figures.extend(beside_first(&name, &TITLES, &bytes, Unit::BytesPerEdge, ratio));
    graphs.iter().try_for_each(|graph| remove(graph))?;
    Ok(figures)
}

/// Measures last-level cache misses of whole runs in memory, where the processor counts them for
/// us.
fn misses(lab: &mut Lab<'_>, name: &str, graphs: &[PathBuf]) -> Result<Vec<Figure>> {
    if !perf::counts(MISSES) {
        lab.remarks.push(format!(
            "Misses of the last cache are not shown: `perf stat` does not count {MISSES} here."
        ));
        return Ok(Vec::new());
    }
    let iterations = ITERATIONS.to_string();
    let count = |graph: &Path| {
        let run = ["run", "pagerank", text(graph)?, "--iterations", &iterations];
        perf::count(MISSES, lab.tegula.path(), &run)
    };
    let samples = in_turn(lab.settings.rounds.min(ROUNDS_MAX), graphs, |graph| count(graph))?;
    let subject = format!("misses of the last cache, {ITERATIONS} iterations, {name}");
    Ok(beside_first(&subject, &TITLES, &samples, Unit::Count, Ratio::TimesAsLarge))
}
