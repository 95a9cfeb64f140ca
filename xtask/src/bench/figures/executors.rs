//! Tiles or rows: what it is worth to choose in each iteration.

use super::rows::edge_list;
use crate::bench::figure::{Figure, Of, Ratio, Unit, median};
use crate::bench::graphs::{Made, Model, Recipe};
use crate::bench::lab::{DISK_MEMORY, Lab};
use crate::tegula::command::number;
use crate::tegula::{Result, units};

/// The choice may take this many times as long as the better executor.
const WORSE_MAX: f64 = 1.10;
/// The vertex of cnr-2000 with the most edges; it reaches all others.
pub const CNR_SOURCE: &str = "217849";
/// A scan for each level of a long path or a large grid takes hours. It is measured on a grid with
/// this many times fewer levels, and on a path with the square of that.
const FEWER_LEVELS: u64 = 8;

/// Measures a breadth-first search with each executor, in turn.
pub fn all(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    let scale = lab.settings.scale;
    let mut figures = Vec::new();
    let rmat = lab.make(Recipe::new(Model::Rmat(scale)))?;
    figures.extend(compared(lab, &rmat, &["scan", "seek"])?);
    if let Some(edges) = edge_list(lab, "cnr-2000") {
        let cnr = lab.with_rows("cnr-2000", &edges, &[])?;
        let cnr = Made { source: CNR_SOURCE.to_owned(), ..cnr };
        figures.extend(compared(lab, &cnr, &["scan", "seek"])?);
    }
    let (side, length) = (1 << (scale / 2), 1 << (scale - 4));
    let long = [
        (Model::Grid(side), Model::Grid(side / FEWER_LEVELS)),
        (Model::Path(length), Model::Path((length / (FEWER_LEVELS * FEWER_LEVELS)).max(2))),
    ];
    for (model, small) in long {
        let graph = lab.make(Recipe::new(model).undirected())?;
        figures.extend(compared(lab, &graph, &["seek"])?);
        hopeless(lab, small, &graph)?;
        lab.discard(|made| made.title == graph.title)?;
    }
    Ok(figures)
}

/// Measures the choice beside the better pure executor, in memory and from disk.
fn compared(lab: &Lab<'_>, graph: &Made, pure: &[&str]) -> Result<Vec<Figure>> {
    let mut figures = Vec::new();
    for (place, memory) in [("memory", None), ("disk", Some(DISK_MEMORY))] {
        // From here on the page cache holds the graph, until it is dropped.
        seconds(lab, graph, "auto", None)?;
        let mut auto = Vec::new();
        let mut others: Vec<Vec<f64>> = vec![Vec::new(); pure.len()];
        for _ in 0..lab.settings.rounds {
            auto.push(seconds(lab, graph, "auto", memory)?);
            for (executor, times) in pure.iter().zip(&mut others) {
                times.push(seconds(lab, graph, executor, memory)?);
            }
        }
        let mut by_time: Vec<(&str, Vec<f64>)> = pure.iter().copied().zip(others).collect();
        by_time.sort_by(|one, other| median(&one.1).total_cmp(&median(&other.1)));
        let worse: Vec<String> = by_time
            .split_off(1)
            .iter()
            .map(|(name, times)| format!("{name} {}", units::seconds(median(times))))
            .collect();
        let title = format!("BFS, {}, from {place}", graph.title);
        let mut figure = Figure::new(title, Unit::Seconds, auto);
        if let Some((better, times)) = by_time.pop() {
            figure = figure.compared_with(better, times, Ratio::TimesAsLong);
        }
        if !worse.is_empty() {
            figure = figure.note(worse.join(", "));
        }
        figures.push(lab.with_targets(figure, |figure| figure.at_most(Of::Ratio, WORSE_MAX, None)));
    }
    Ok(figures)
}

/// Adds a remark with the time of a scan of every level, on a graph where it still ends.
fn hopeless(lab: &mut Lab<'_>, small: Model, instead_of: &Made) -> Result<()> {
    let graph = lab.make(Recipe::new(small).undirected())?;
    let run = lab.run("bfs", &graph.graph, None, &["--source", "0", "--executor", "scan"])?;
    let scan = units::seconds(number(&run, "/seconds/run")?);
    let level = units::seconds(number(&run, "/seconds/run")? / number(&run, "/iterations")?);
    let seek = units::seconds(seconds(lab, &graph, "seek", None)?);
    lab.remarks.push(format!(
        "{}: scan is left out, since it takes as many passes as there are levels; a {} takes it \
         {scan} from memory ({level} a level), seek {seek}.",
        instead_of.title, graph.title
    ));
    lab.discard(|made| made.title == graph.title)
}

fn seconds(lab: &Lab<'_>, graph: &Made, executor: &str, memory: Option<u64>) -> Result<f64> {
    let options = ["--source", graph.source.as_str(), "--executor", executor];
    number(&lab.run("bfs", &graph.graph, memory, &options)?, "/seconds/run")
}
