//! A search that chooses between scanning tiles and seeking rows, beside the better of both, from
//! random sources.

use serde_json::Value;

use crate::bench::figure::{Figure, Of, Ratio, Unit, median};
use crate::bench::figures::rows::edge_list;
use crate::bench::graphs::{Made, Model, Recipe};
use crate::bench::jobs::subject::sources;
use crate::bench::lab::{DISK_MEMORY, Lab};
use crate::tegula::command::{number, vertex, whole};
use crate::tegula::scratch::remove;
use crate::tegula::{Result, units};

/// Sources for each graph.
const SOURCES: usize = 20;
/// Runs of each executor from a source: there are many sources.
const ROUNDS_MAX: usize = 3;
/// The choice may take this many times as long as the better executor, and a better value.
const WORSE_MAX: (f64, f64) = (1.2, 1.1);
/// Executors of graphs with few levels, and with many.
const BOTH: &[&str] = &["scan", "seek"];
const SEEK: &[&str] = &["seek"];
const WITHOUT_SCAN: &str = "Roads, grid and path are measured without scan, which takes as many passes as there are levels.";

/// Runs from one source: the choice, and the better executor.
#[derive(Debug, Clone)]
struct Searched {
    source: String,
    reached: u64,
    auto: Vec<f64>,
    better: Vec<f64>,
    executor: &'static str,
}

/// Measures graphs in the page cache.
pub fn in_memory(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    all(lab, None)
}

/// Measures graphs on a cold disk, within little memory.
pub fn from_disk(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    all(lab, Some(DISK_MEMORY))
}

fn all(lab: &mut Lab<'_>, memory: Option<u64>) -> Result<Vec<Figure>> {
    let scale = lab.settings.scale;
    let (side, length) = (1 << (scale / 2), 1 << (scale - 4));
    let recipes = [
        (Recipe::new(Model::Uniform(scale)), BOTH),
        (Recipe::new(Model::Rmat(scale)), BOTH),
        (Recipe::new(Model::Rmat(scale)).undirected(), BOTH),
        (Recipe::new(Model::Grid(side)).undirected(), SEEK),
        (Recipe::new(Model::Path(length)).undirected(), SEEK),
    ];
    let mut figures = Vec::new();
    for (recipe, pure) in recipes {
        let graph = lab.make(recipe)?;
        figures.extend(compared(lab, &graph, pure, memory)?);
        lab.discard(|made| made.title == graph.title)?;
    }
    for (name, options, pure) in
        [("cnr-2000", &[][..], BOTH), ("USA-road-FLA", &["--undirected"][..], SEEK)]
    {
        let Some(edges) = edge_list(lab, name) else { continue };
        let graph = lab.with_rows(name, &edges, options)?;
        figures.extend(compared(lab, &graph, pure, memory)?);
        remove(&graph.graph)?;
    }
    lab.remarks.push(WITHOUT_SCAN.to_owned());
    Ok(figures)
}

/// Measures the choice beside the better executor, from all sources and from the worst of them.
fn compared(
    lab: &Lab<'_>,
    graph: &Made,
    pure: &[&'static str],
    memory: Option<u64>,
) -> Result<[Figure; 2]> {
    let components = lab.run("wcc", &graph.graph, None, &[])?;
    let largest = vertex(&components, "/summary/top/0/component")?;
    let mut searched = Vec::new();
    for source in sources(lab, &graph.graph, &largest)?.into_iter().take(SOURCES) {
        searched.push(from_source(lab, graph, source, pure, memory)?);
    }
    let worst = searched.iter().max_by(|one, other| one.ratio().total_cmp(&other.ratio()));
    let worst = worst.ok_or("there is no source")?.clone();
    let medians = |times: fn(&Searched) -> &[f64]| -> Vec<f64> {
        searched.iter().map(|searched| median(times(searched))).collect()
    };
    let (auto, better) = (medians(|it| &it.auto), medians(|it| &it.better));
    let title = format!("{}, {} sources", graph.title, searched.len());
    let all = Figure::new(title, Unit::Seconds, auto).compared_with(
        pure.join(" or "),
        better,
        Ratio::TimesAsLong,
    );
    let reached = units::count(worst.reached);
    let worst =
        Figure::new(format!("{}, the worst source", graph.title), Unit::Seconds, worst.auto)
            .compared_with(worst.executor, worst.better, Ratio::TimesAsLong)
            .note(format!("from {}, {reached} vertices reached", worst.source));
    let (most, better) = WORSE_MAX;
    Ok([all, lab.with_targets(worst, |figure| figure.at_most(Of::Ratio, most, Some(better)))])
}

/// Measures each executor in turn from one source.
fn from_source(
    lab: &Lab<'_>,
    graph: &Made,
    source: String,
    pure: &[&'static str],
    memory: Option<u64>,
) -> Result<Searched> {
    let search = |executor: &str| -> Result<Value> {
        lab.run("bfs", &graph.graph, memory, &["--source", &source, "--executor", executor])
    };
    let mut auto = Vec::new();
    let mut others = vec![Vec::new(); pure.len()];
    let mut reached = 0;
    for _ in 0..lab.settings.rounds.min(ROUNDS_MAX) {
        let run = search("auto")?;
        reached = whole(&run, "/summary/reached")?;
        auto.push(seconds_of(&run)?);
        for (executor, times) in pure.iter().zip(&mut others) {
            let run = search(executor)?;
            if whole(&run, "/summary/reached")? != reached {
                return Err(format!("{executor} and auto differ from {source}").into());
            }
            times.push(seconds_of(&run)?);
        }
    }
    let all = pure.iter().copied().zip(others);
    let better = all.min_by(|one, other| median(&one.1).total_cmp(&median(&other.1)));
    let (executor, better) = better.ok_or("there is no executor")?;
    Ok(Searched { source, reached, auto, better, executor })
}

/// Returns the seconds of a run with the opening of the graph.
fn seconds_of(run: &Value) -> Result<f64> {
    Ok(number(run, "/seconds/open")? + number(run, "/seconds/run")?)
}

impl Searched {
    /// How many times as long as the better executor the choice takes.
    fn ratio(&self) -> f64 {
        median(&self.auto) / median(&self.better)
    }
}
