//! How rows are read from disk: by which backend, with how many reads in flight, and with or
//! without run-ahead.

use super::comparison::{ROUNDS_MAX, in_turn};
use crate::bench::examples::Example;
use crate::bench::figure::{Figure, Ratio, Unit, median};
use crate::bench::graphs::{Model, Recipe};
use crate::bench::lab::{Lab, text};
use crate::tegula::command::{number, whole};
use crate::tegula::{Result, units};

/// Reads in flight.
const DEPTHS: [&str; 4] = ["1", "8", "32", "64"];
/// The scale of graphs for whole traversals is lower by this: without run-ahead they take long.
const STEPS_DOWN: u32 = 4;
/// Cache sizes in percent of the rows.
const CACHES: [&str; 3] = ["5", "20", "50"];

/// Measures a search along rows on disk, through io_uring and through threads that read one page
/// each.
pub fn backends(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    let graph = lab.make(Recipe::new(Model::Rmat(lab.settings.scale - STEPS_DOWN)))?;
    let options = ["--source", &graph.source, "--executor", "seek"];
    let estimate = lab.run("bfs", &graph.graph, None, &[&options[..], &["--estimate"]].concat())?;
    let memory = whole(&estimate, "/needed_bytes")? + whole(&estimate, "/layout_bytes")? / 10;
    let mut figures = Vec::new();
    for depth in DEPTHS {
        let rounds = lab.settings.rounds.min(ROUNDS_MAX);
        let mut samples = in_turn(rounds, &["uring", "threads"], |io| {
            let how = ["--io", io, "--reads-in-flight", depth];
            let options = [&options[..], &how].concat();
            number(&lab.run("bfs", &graph.graph, Some(memory), &options)?, "/seconds/run")
        })?;
        let threads = samples.pop().unwrap_or_default();
        let title = format!("bfs, {}, io_uring, {depth} reads in flight", graph.title);
        let uring = Figure::new(title, Unit::Seconds, samples.pop().unwrap_or_default());
        figures.push(
            uring
                .compared_with("pread in as many threads", threads, Ratio::TimesAsFast)
                .on_curve_of_values("io_uring", depth.parse()?, "reads in flight"),
        );
    }
    Ok(figures)
}

/// Measures whole traversals of rows on disk by one thread (CEESOR + RASP, Table 4 and Figures 10
/// to 13).
pub fn run_ahead(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    let program = Example::build(lab.root, "traverse")?;
    let scale = lab.settings.scale - STEPS_DOWN;
    let graphs = [
        lab.make(Recipe::new(Model::Rmat(scale)).undirected().weighted())?,
        lab.make(Recipe::new(Model::Grid(1 << (scale / 2))).undirected().weighted())?,
    ];
    let mut figures = Vec::new();
    for graph in &graphs {
        for (kind, cache) in ["bfs", "dijkstra"].iter().flat_map(|k| CACHES.map(|c| (*k, c))) {
            let arguments = [text(&graph.graph)?, kind, &graph.source, cache, "0", "0"];
            let (mut note, mut bytes) = (String::new(), Vec::new());
            let rounds = lab.settings.rounds.min(ROUNDS_MAX);
            let variants: [&[&str]; 2] = [&[], &["--without-run-ahead"]];
            let mut samples = in_turn(rounds, &variants, |variant| {
                lab.cache.drop(&graph.graph)?;
                let done = program.run(&[&arguments[..], variant].concat())?;
                let seconds = number(&done, "/seconds")?;
                if variant.is_empty() {
                    bytes.push(number(&done, "/bytes_read")? / seconds);
                    note = format!("hit rate {:.4}", number(&done, "/hit_rate")?);
                }
                Ok(seconds)
            })?;
            let without = samples.pop().unwrap_or_default();
            let curve = format!("{kind}, {}", graph.title);
            let title = format!("{curve}, cache of {cache} %");
            let rate = units::decimal(median(&bytes));
            let with = Figure::new(title, Unit::Seconds, samples.pop().unwrap_or_default())
                .compared_with("without run-ahead", without, Ratio::TimesAsFast)
                .on_curve_of_values(&curve, cache.parse()?, "cache in % of the rows")
                .note(format!("{rate}B/s with run-ahead, {note}"));
            figures.push(with);
        }
    }
    Ok(figures)
}
