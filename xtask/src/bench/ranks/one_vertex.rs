//! Iterations with one active vertex: a search along a path, in which ranks mostly agree.

use serde_json::Value;

use super::mpi::{Mpi, Share};
use crate::bench::figure::{Figure, Of, Ratio, Unit};
use crate::bench::lab::{Lab, text};
use crate::tegula::Result;
use crate::tegula::command::{number, whole};
use crate::tegula::scratch::remove;
use crate::tegula::units;

/// Vertices of the path. An iteration reads the whole tile that has the active vertex, so tiles are
/// small here: the time is that of the rest.
const VERTICES: u64 = 4096;
/// The grid of the path: bits of vertex numbers within a segment and a column. Each rank has half of
/// the targets.
const GRID: &str = "24,11";
/// Levels of the short search, which ends on the first rank, and of the long one.
const LEVELS: [u64; 2] = [96, 4032];
/// The most that an iteration may take.
const SECONDS_MAX: f64 = 100e-6;

/// Measures a search on two ranks in turn with one in one process.
pub fn all(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    let Some(mpi) = Mpi::find(lab)? else { return Ok(Vec::new()) };
    let [pairs, graph] = ["path.bin32", "path.tegula"].map(|name| lab.scratch.join(name));
    let count = VERTICES.to_string();
    lab.tegula.json(&["generate", "path", "--vertices", &count, "-o", text(&pairs)?])?;
    let import = ["import", text(&pairs)?, "-o", text(&graph)?];
    lab.tegula.json(&[&import[..], &["--order", "given", "--grid", GRID]].concat())?;
    remove(&pairs)?;
    let cut = lab.cut(&graph, 2)?;
    let share = Share { threads: 1, memory: None };
    let (mut ranks, mut process) = (Vec::new(), Vec::new());
    for _ in 0..lab.settings.rounds {
        ranks.push(difference(|options| mpi.run(lab, "bfs", &cut, share, options))?);
        process.push(difference(|options| {
            lab.run("bfs", &graph, None, &[options, &["--threads", "1"]].concat())
        })?);
    }
    cut.discard()?;
    remove(&graph)?;
    let [short, long] = LEVELS.map(units::count);
    let title = format!("iteration, path of {}, 2 ranks of one thread", units::count(VERTICES));
    let figure = Figure::new(title, Unit::Seconds, ranks)
        .compared_with("one process of one thread", process, Ratio::TimesAsLong)
        .note(format!(
            "searches of {short} and {long} levels, and the difference of their times divided by that of \
             their iterations"
        ));
    // The time does not depend on the scale.
    Ok(vec![figure.at_most(Of::Value, SECONDS_MAX, None)])
}

/// Returns the time of an iteration by two searches that end after different levels.
fn difference(search: impl Fn(&[&str]) -> Result<Value>) -> Result<f64> {
    let ended = |levels: u64| -> Result<[f64; 2]> {
        let levels = levels.to_string();
        let run = search(&["--source", "0", "--cutoff", &levels])?;
        Ok([number(&run, "/seconds/run")?, whole(&run, "/iterations")? as f64])
    };
    let [short, long] = LEVELS;
    let ([seconds_short, short], [seconds_long, long]) = (ended(short)?, ended(long)?);
    Ok((seconds_long - seconds_short) / (long - short))
}
