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
/// Sources with the worst ratios, which are measured a second time: the machine may have slowed a run.
const WORST: usize = 3;
/// The choice may take this many times as long as the better executor, and a better value.
const WORSE_MAX: (f64, f64) = (1.2, 1.1);
/// Executors of graphs with few levels, and with many.
const BOTH: &[&str] = &["scan", "seek"];
const SEEK: &[&str] = &["seek"];
const WITHOUT_SCAN: &str = "Scan is not measured: it makes a pass for each level.";

/// Runs from one source: of the choice, and of each executor.
#[derive(Debug)]
struct Searched {
    source: String,
    reached: u64,
    auto: Vec<f64>,
    pure: Vec<(&'static str, Vec<f64>)>,
}

/// Measures a uniform graph.
pub fn uniform(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    generated(lab, Recipe::new(Model::Uniform(lab.settings.scale)), BOTH)
}

/// Measures an R-MAT graph with its directions.
pub fn rmat(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    generated(lab, Recipe::new(Model::Rmat(lab.settings.scale)), BOTH)
}

/// Measures an R-MAT graph without directions.
pub fn rmat_undirected(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    generated(lab, Recipe::new(Model::Rmat(lab.settings.scale)).undirected(), BOTH)
}

/// Measures a square grid. Like the other graphs, it has about 2^scale vertices.
pub fn grid(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    generated(lab, Recipe::new(Model::Grid(1 << (lab.settings.scale / 2))).undirected(), SEEK)
}

/// Measures a path. It has a sixteenth of the vertices, because it has a level for each.
pub fn path(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    generated(lab, Recipe::new(Model::Path(1 << (lab.settings.scale - 4))).undirected(), SEEK)
}

/// Measures a web graph.
pub fn web(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    of_data(lab, "cnr-2000", &[], BOTH)
}

/// Measures a road network.
pub fn roads(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    of_data(lab, "USA-road-FLA", &["--undirected"], SEEK)
}

fn generated(lab: &mut Lab<'_>, recipe: Recipe, pure: &[&'static str]) -> Result<Vec<Figure>> {
    let graph = lab.make(recipe)?;
    let figures = warm_and_cold(lab, &graph, pure)?;
    lab.discard(|made| made.title == graph.title)?;
    Ok(figures)
}

fn of_data(
    lab: &mut Lab<'_>,
    name: &str,
    options: &[&str],
    pure: &[&'static str],
) -> Result<Vec<Figure>> {
    let Some(edges) = edge_list(lab, name) else { return Ok(Vec::new()) };
    let graph = lab.with_rows(name, &edges, options)?;
    let figures = warm_and_cold(lab, &graph, pure)?;
    remove(&graph.graph)?;
    Ok(figures)
}

/// Measures a graph in the page cache, and then on a cold disk within little memory.
fn warm_and_cold(lab: &mut Lab<'_>, graph: &Made, pure: &[&'static str]) -> Result<Vec<Figure>> {
    if pure == SEEK {
        lab.remarks.push(WITHOUT_SCAN.to_owned());
    }
    let runs = lab.settings.rounds.min(ROUNDS_MAX);
    lab.remarks.push(format!(
        "Each round has another source. Each executor runs {runs}× from it, and {}× from the {WORST} \
            worst sources.",
        2 * runs
    ));
    let components = lab.run("wcc", &graph.graph, None, &[])?;
    let largest = vertex(&components, "/summary/top/0/component")?;
    let mut sources = sources(lab, &graph.graph, &largest)?;
    sources.truncate(SOURCES);
    let mut figures = Vec::new();
    for memory in [None, Some(DISK_MEMORY)] {
        figures.extend(compared(lab, graph, &sources, pure, memory)?);
    }
    Ok(figures)
}

/// Measures the choice beside the better executor, from all sources and from the worst of them.
fn compared(
    lab: &Lab<'_>,
    graph: &Made,
    sources: &[String],
    pure: &[&'static str],
    memory: Option<u64>,
) -> Result<[Figure; 2]> {
    let mut searched = Vec::new();
    for source in sources {
        let none = pure.iter().map(|&executor| (executor, Vec::new())).collect();
        let source = source.clone();
        let mut one = Searched { source, reached: 0, auto: Vec::new(), pure: none };
        one.measure(lab, graph, memory)?;
        searched.push(one);
    }
    let medians = |times: fn(&Searched) -> &[f64]| -> Vec<f64> {
        searched.iter().map(|searched| median(times(searched))).collect()
    };
    let (auto, better) = (medians(|it| &it.auto), medians(|it| it.better().1));
    let place = if memory.is_some() { "from disk" } else { "in memory" };
    let title = |what: &str| format!("{place}, {what}");
    let all = title(&format!("{} sources", searched.len()));
    let all = Figure::new(all, Unit::Seconds, auto).compared_with(
        pure.join(" or "),
        better,
        Ratio::TimesAsLong,
    );
    searched.sort_by(|one, other| other.ratio().total_cmp(&one.ratio()));
    searched.truncate(WORST);
    for one in &mut searched {
        one.measure(lab, graph, memory)?;
    }
    let worst = searched.into_iter().max_by(|one, other| one.ratio().total_cmp(&other.ratio()));
    let worst = worst.ok_or("there is no source")?;
    let reached = units::count(worst.reached);
    let (executor, times) = worst.better();
    let times = times.to_vec();
    let worst = Figure::new(title("the worst source"), Unit::Seconds, worst.auto)
        .compared_with(executor, times, Ratio::TimesAsLong)
        .note(format!("from {}, {reached} vertices reached", worst.source));
    let (most, better) = WORSE_MAX;
    Ok([all, lab.with_targets(worst, |figure| figure.at_most(Of::Ratio, most, Some(better)))])
}

/// Returns the seconds of a run with the opening of the graph.
fn seconds_of(run: &Value) -> Result<f64> {
    Ok(number(run, "/seconds/open")? + number(run, "/seconds/run")?)
}

impl Searched {
    /// Adds runs of the choice and of each executor, in turn.
    fn measure(&mut self, lab: &Lab<'_>, graph: &Made, memory: Option<u64>) -> Result<()> {
        let Searched { source, reached, auto, pure } = self;
        let search = |executor: &str| -> Result<Value> {
            lab.run("bfs", &graph.graph, memory, &["--source", source, "--executor", executor])
        };
        for _ in 0..lab.settings.rounds.min(ROUNDS_MAX) {
            let run = search("auto")?;
            *reached = whole(&run, "/summary/reached")?;
            auto.push(seconds_of(&run)?);
            for (executor, times) in &mut *pure {
                let run = search(executor)?;
                if whole(&run, "/summary/reached")? != *reached {
                    return Err(format!("{executor} and auto differ from {source}").into());
                }
                times.push(seconds_of(&run)?);
            }
        }
        Ok(())
    }

    /// The better executor, and its times.
    fn better(&self) -> (&'static str, &[f64]) {
        let medians = |one: &(_, Vec<f64>), other: &(_, Vec<f64>)| {
            median(&one.1).total_cmp(&median(&other.1))
        };
        let better = self.pure.iter().min_by(|one, other| medians(one, other));
        let (executor, times) = better.expect("there is an executor");
        (executor, times)
    }

    /// How many times as long as the better executor the choice takes.
    fn ratio(&self) -> f64 {
        median(&self.auto) / median(self.better().1)
    }
}
