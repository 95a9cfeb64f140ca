//! One thread or two where all edges leave one vertex or enter it.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use super::comparison::{ROUNDS_MAX, in_turn};
use crate::bench::figure::{Figure, Of, Ratio, Unit};
use crate::bench::lab::Lab;
use crate::tegula::Result;
use crate::tegula::command::numbers;
use crate::tegula::scratch::remove;

/// The wanted speed of two threads relative to one.
const TIMES_AS_FAST: f64 = 1.7;
const RANKS: &[&str] = &["pagerank", "--iterations", "10", "--executor", "scan"];

/// A star, and the runs on it.
struct Star {
    edges: &'static str,
    edge: fn(u32) -> [u32; 2],
    import: &'static [&'static str],
    runs: &'static [(&'static str, &'static [&'static str])],
}

/// Searches follow rows, and so do components in both directions.
const STARS: [Star; 3] = [
    Star {
        edges: "leave one vertex",
        edge: |leaf| [0, leaf],
        import: &[],
        runs: &[
            ("along tiles", RANKS),
            ("along rows", &["bfs", "--source", "0", "--executor", "seek"]),
        ],
    },
    Star {
        edges: "enter one vertex",
        edge: |leaf| [leaf, 0],
        import: &[],
        runs: &[("along tiles", RANKS)],
    },
    Star {
        edges: "do both",
        edge: |leaf| [0, leaf],
        import: &["--undirected"],
        runs: &[("along rows", &["wcc", "--method", "propagation", "--executor", "seek"])],
    },
];

/// Measures each run on its star.
pub fn all(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    let scale = lab.settings.scale;
    let rounds = lab.settings.rounds.min(ROUNDS_MAX);
    let mut figures = Vec::new();
    for star in STARS {
        let edges = lab.scratch.join("star.bin32");
        write_pairs(&edges, (1..=1u32 << scale).map(star.edge))?;
        let graph = lab.with_rows("star", &edges, star.import)?.graph;
        remove(&edges)?;
        for (place, run) in star.runs {
            let (algorithm, options) = (run[0], &run[1..]);
            let mut samples = in_turn(rounds, &["2", "1"], |threads| {
                let options = [options, &["--threads", threads]].concat();
                let run = lab.run(algorithm, &graph, None, &options)?;
                Ok(numbers(&run, "/iteration_seconds")?.iter().sum())
            })?;
            let (one, two) = (samples.pop().unwrap_or_default(), samples.pop().unwrap_or_default());
            let title =
                format!("{algorithm}, 2^{scale} edges that {}, {place}, two threads", star.edges);
            let figure = Figure::new(title, Unit::Seconds, two);
            let figure = figure.compared_with("one thread", one, Ratio::TimesAsFast);
            figures.push(
                lab.with_targets(figure, |figure| figure.at_least(Of::Ratio, TIMES_AS_FAST, None)),
            );
        }
        remove(&graph)?;
    }
    Ok(figures)
}

/// Writes pairs of 4-byte ids.
fn write_pairs(path: &Path, pairs: impl Iterator<Item = [u32; 2]>) -> Result<()> {
    let mut out = BufWriter::new(File::create(path)?);
    for pair in pairs {
        for id in pair {
            out.write_all(&id.to_le_bytes())?;
        }
    }
    Ok(out.flush()?)
}
