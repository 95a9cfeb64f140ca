//! One thread or two where all edges leave one vertex, or enter it.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use super::{ROUNDS_MAX, in_turn};
use crate::bench::figure::{Figure, Of, Ratio, Unit};
use crate::bench::lab::Lab;
use crate::tegula::Result;
use crate::tegula::command::numbers;
use crate::tegula::scratch::remove;

const ITERATIONS: &str = "10";
/// How many times as fast two threads are to be.
const TIMES_AS_FAST: f64 = 1.7;

/// PageRank along tiles and along rows.
pub fn all(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    let leaves = 1u32 << lab.settings.scale;
    let rounds = lab.settings.rounds.min(ROUNDS_MAX);
    let mut figures = Vec::new();
    let stars: [(&str, fn(u32) -> [u32; 2]); 2] =
        [("leave", |leaf| [0, leaf]), ("enter", |leaf| [leaf, 0])];
    for (what, edge) in stars {
        let edges = lab.scratch.join("star.bin32");
        write_pairs(&edges, (1..=leaves).map(edge))?;
        let star = lab.with_rows(&format!("star whose edges {what}"), &edges, &[])?;
        remove(&edges)?;
        for (place, executor) in [("along tiles", "scan"), ("along rows", "seek")] {
            let mut samples = in_turn(rounds, &["2", "1"], |threads| {
                let options = ["--iterations", ITERATIONS, "--executor", executor];
                let options = [&options[..], &["--threads", threads]].concat();
                let run = lab.run("pagerank", &star.graph, None, &options)?;
                Ok(numbers(&run, "/iteration_seconds")?.iter().sum())
            })?;
            let (one, two) = (samples.pop().unwrap_or_default(), samples.pop().unwrap_or_default());
            let title = format!(
                "pagerank, 2^{} edges that {what} one vertex, {place}, two threads",
                lab.settings.scale
            );
            let figure = Figure::new(title, Unit::Seconds, two);
            let figure = figure.beside("one thread", one, Ratio::TimesAsFast);
            figures.push(
                lab.with_targets(figure, |figure| figure.at_least(Of::Ratio, TIMES_AS_FAST, None)),
            );
        }
        remove(&star.graph)?;
    }
    Ok(figures)
}

/// Pairs of ids of four bytes.
fn write_pairs(path: &Path, pairs: impl Iterator<Item = [u32; 2]>) -> Result<()> {
    let mut out = BufWriter::new(File::create(path)?);
    for pair in pairs {
        for id in pair {
            out.write_all(&id.to_le_bytes())?;
        }
    }
    Ok(out.flush()?)
}
