//! Algorithms that follow edges: connected components and breadth-first search.

use serde_json::Value;

use super::rows::edge_list;
use super::targets::{LONG, SKEWED};
use crate::bench::disk::read_sequentially;
use crate::bench::examples::Example;
use crate::bench::figure::{Figure, Of, Ratio, Unit, median};
use crate::bench::graphs::{Made, Model, Recipe};
use crate::bench::lab::{DISK_MEMORY, Lab, text};
use crate::tegula::command::{Worker, number, numbers, whole};
use crate::tegula::{Result, units};

/// Iterations of the PageRank runs with which components are compared.
const PAGERANK_ITERATIONS: u64 = 5;

/// A road network of 1.07 million vertices.
const ROADS: &str = "USA-road-FLA";

/// Measures connected components from disk, in turn with an iteration of PageRank from disk.
pub fn wcc(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    let graph = lab.rmat(lab.settings.scale)?;
    let memory = lab.disk_memory(&graph)?;
    let (mut ours, mut iterations, mut scans) = (Vec::new(), Vec::new(), Vec::new());
    let mut peaks = Vec::new();
    for _ in 0..lab.settings.rounds {
        let run = lab.run("wcc", &graph.graph, Some(memory), &[])?;
        ours.push(number(&run, "/seconds/run")?);
        scans.push(numbers(&run, "/iteration_seconds")?.iter().sum());
        peaks.push(number(&run, "/peak_memory_bytes")?);
        let run = lab.pagerank(&graph.graph, PAGERANK_ITERATIONS, Some(memory))?;
        iterations.push(median(&numbers(&run, "/iteration_seconds")?));
    }
    let budget = units::bytes(memory as f64);
    let scan = units::seconds(median(&scans));
    let title = format!("whole run, R-MAT {}, from disk within {budget}", graph.scale);
    let figure = Figure::new(title, Unit::Seconds, ours)
        .compared_with("one PageRank iteration from disk", iterations, Ratio::TimesAsLong)
        .note(format!("{scan} for the scan of edges, the rest for naming components"));
    let figure = lab.with_targets(figure, |figure| figure.at_most(Of::Ratio, 1.3, None));
    let peak = Figure::new("peak memory of these runs", Unit::Bytes, peaks);
    Ok(vec![figure, peak.at_most(Of::Value, memory as f64, None)])
}

/// Measures breadth-first search from a hub, in memory and from disk.
pub fn bfs(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    let graph = lab.rmat(lab.settings.scale)?;
    let memory = lab.disk_memory(&graph)?;
    let (mut warm, mut cold, mut peaks) = (Vec::new(), Vec::new(), Vec::new());
    let mut found = String::new();
    for _ in 0..lab.settings.rounds {
        let options = ["--source", graph.hub.as_str()];
        let run = lab.run("bfs", &graph.graph, None, &options)?;
        warm.push(number(&run, "/seconds/run")?);
        let reached = units::count(whole(&run, "/summary/reached")?);
        let depth = whole(&run, "/summary/depth")?;
        found = format!("from {}: {reached} vertices in {depth} hops", graph.hub);
        let run = lab.run("bfs", &graph.graph, Some(memory), &options)?;
        cold.push(number(&run, "/seconds/run")?);
        peaks.push(number(&run, "/peak_memory_bytes")?);
    }
    let scale = graph.scale;
    let warm = Figure::new(format!("whole run, R-MAT {scale}, in memory"), Unit::Seconds, warm);
    let warm = warm.note(found).note("loading the tiles is part of it");
    let budget = units::bytes(memory as f64);
    let title = format!("whole run, R-MAT {scale}, from disk within {budget}");
    let cold = Figure::new(title, Unit::Seconds, cold);
    let peak = Figure::new("peak memory of the runs from disk", Unit::Bytes, peaks);
    let mut figures = vec![
        lab.with_targets(warm, |figure| figure.at_most(Of::Value, 1.0, None)),
        lab.with_targets(cold, |figure| figure.at_most(Of::Value, 2.0, None)),
        peak.at_most(Of::Value, memory as f64, None),
    ];
    figures.push(bfs_by_rows(lab)?);
    figures.extend(bfs_open(lab)?);
    Ok(figures)
}

/// Measures a search that may follow rows, from a cold disk, in turn with reading the rows in
/// order.
fn bfs_by_rows(lab: &mut Lab<'_>) -> Result<Figure> {
    let graph = lab.make(Recipe::new(Model::Rmat(lab.settings.scale)))?;
    let (mut ours, mut reads, mut processes) = (Vec::new(), Vec::new(), String::new());
    for _ in 0..lab.settings.rounds {
        let options = ["--source", graph.source.as_str()];
        let run = lab.run("bfs", &graph.graph, Some(DISK_MEMORY), &options)?;
        ours.push(number(&run, "/seconds/run")?);
        processes = names(&run);
        lab.cache.drop(&graph.graph)?;
        reads.push(read_sequentially(&graph.rows())?.seconds);
    }
    let budget = units::bytes(DISK_MEMORY as f64);
    let title = format!("tiles and rows, {}, from disk within {budget}", graph.title);
    let figure = Figure::new(title, Unit::Seconds, ours)
        .compared_with("rows read in order", reads, Ratio::TimesAsLong)
        .note(processes);
    Ok(lab.with_targets(figure, |figure| figure.at_most(Of::Ratio, 1.5, None)))
}

/// Measures searches of graphs whose rows are open and unpacked, in turn with the plain search of
/// the yardstick.
fn bfs_open(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    let ours = Example::build(lab.root, "open_rows")?;
    let plain = Example::build(lab.root, "plain_bfs")?;
    let scale = lab.settings.scale;
    let side = 1u64 << (scale / 2);
    let mut figures = Vec::new();
    let models = [
        (Recipe::new(Model::Rmat(scale)).undirected(), "rmat", scale.to_string(), SKEWED),
        (Recipe::new(Model::Rmat(scale)), "rmat", scale.to_string(), SKEWED),
        (Recipe::new(Model::Grid(side)).undirected(), "grid", side.to_string(), LONG),
    ];
    for (recipe, model, size, target) in models {
        let graph = lab.make(recipe)?;
        let directions = if recipe.is_undirected { "undirected" } else { "directed" };
        let mut ours = ours.start(&["bfs", text(&graph.graph)?, &graph.source])?;
        let mut plain = plain.start(&[model, &size, directions, &graph.source])?;
        figures.push(open_beside_plain(lab, &graph, &mut ours, &mut plain, target)?);
        drop((ours, plain));
        // Other groups use the directed graph.
        if recipe.is_undirected {
            lab.discard(|made| made.title == graph.title)?;
        }
    }
    if let Some(edges) = edge_list(lab, ROADS) {
        let graph = lab.with_rows(ROADS, &edges, &["--undirected"])?;
        let graph = Made { source: "1".to_owned(), ..graph };
        let mut ours = ours.start(&["bfs", text(&graph.graph)?, &graph.source])?;
        let mut plain = plain.start(&["list", text(&edges)?, "undirected", &graph.source])?;
        figures.push(open_beside_plain(lab, &graph, &mut ours, &mut plain, LONG)?);
    }
    Ok(figures)
}

/// Measures two workers in turn, which hold a graph and search it on request.
fn open_beside_plain(
    lab: &Lab<'_>,
    graph: &Made,
    ours: &mut Worker,
    plain: &mut Worker,
    (most, better): (f64, f64),
) -> Result<Figure> {
    ours.answer()?;
    let edges = whole(&plain.answer()?, "/edges")?;
    if edges != graph.edges {
        return Err(format!("the yardstick has {edges} edges, not {}", graph.edges).into());
    }
    let (mut times, mut plain_times, mut processes) = (Vec::new(), Vec::new(), String::new());
    for _ in 0..lab.settings.rounds {
        let found = ours.ask("")?;
        let expected = plain.ask("")?;
        for fact in ["/reached", "/distance_sum"] {
            if number(&found, fact)? != number(&expected, fact)? {
                return Err(format!("the searches differ: {found}, {expected}").into());
            }
        }
        times.push(number(&found, "/seconds")?);
        plain_times.push(number(&expected, "/seconds")?);
        processes = runs_of(&names(&found));
    }
    let title = format!("rows open, {}, in memory", graph.title);
    let figure = Figure::new(title, Unit::Seconds, times)
        .compared_with("plain direction-optimising search", plain_times, Ratio::TimesAsLong)
        .note(processes);
    Ok(lab.with_targets(figure, |figure| figure.at_most(Of::Ratio, most, Some(better))))
}

/// Replaces each run of equal names by its length and the name.
fn runs_of(names: &str) -> String {
    let names: Vec<&str> = names.split(", ").collect();
    let runs = names.chunk_by(|one, other| one == other).map(|run| match run {
        [name] => (*name).to_owned(),
        run => format!("{} {}", run.len(), run[0]),
    });
    runs.collect::<Vec<_>>().join(", ")
}

/// Returns the process of each iteration.
fn names(run: &Value) -> String {
    let list = run.pointer("/processes").and_then(Value::as_array);
    let names = list.into_iter().flatten().filter_map(Value::as_str);
    names.collect::<Vec<_>>().join(", ")
}
