//! Arrays over vertices on disk, with less memory than the arrays take. The graphs are uniform
//! random ones, where all vertices have edges, and R-MAT, where most vertices have few or none.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::bench::disk::read_sequentially;
use crate::bench::examples::Example;
use crate::bench::figure::{Figure, Of, Ratio, Unit, median};
use crate::bench::lab::{Lab, SCALE, text};
use crate::tegula::command::{number, numbers, vertex, whole};
use crate::tegula::scratch::remove;
use crate::tegula::{Result, units};

/// Log2 of how many times more vertices the graph has than others of the scale, and its edges per
/// vertex.
pub const VERTICES: (u32, u64) = (2, 4);
/// Disk bytes per edge: as raw pairs, sorted, and in tiles.
const ROOM_PER_EDGE: u64 = 24;
/// Iterations of PageRank. The first one, which finds nothing in memory, does not count.
pub const ITERATIONS: u64 = 3;
/// The most rounds of figures without targets, which take long, and of whole runs, which take
/// longer.
pub const ROUNDS_MAX: usize = 3;
const WHOLE_ROUNDS: usize = 2;
/// Rounds of runs that the kernel pages, which take long, and the bytes that they are given beyond
/// their arrays.
const MAPPED_ROUNDS: usize = 2;
const MAPPED_ROOM: u64 = 64 << 20;
/// Budgets in MiB at the scale of targets; the targets are for the first one. They range from the
/// least with which the arrays get by to twice all arrays and tiles.
const BUDGETS: [u64; 10] = [256, 192, 320, 400, 512, 640, 768, 1024, 1536, 3072];

/// Measures PageRank and a search within several budgets, and with arrays on disk where memory
/// suffices, each in turn with the same run in memory.
pub fn on_disk(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    let (steps, degree) = VERTICES;
    let log2 = lab.settings.scale + steps;
    let Some((graph, name)) = uniform(lab, log2, degree << log2, &[])? else {
        return Ok(Vec::new());
    };
    let ranks = lab.pagerank(&graph, 1, None)?;
    let source = vertex(&ranks, "/summary/top/0/vertex")?;
    let mut figures = Vec::new();
    for (index, mebibytes) in BUDGETS.into_iter().enumerate() {
        figures.extend(pagerank(lab, &graph, &name, scaled(lab, mebibytes), index == 0)?);
    }
    figures.push(forced(lab, &graph, &name)?);
    figures.push(beside_mapped(lab, &graph, &name, scaled(lab, BUDGETS[0]))?);
    let least = scaled(lab, BUDGETS[0]);
    figures.push(whole_run(lab, "bfs", &graph, &name, &["--source", &source], least)?);
    remove(&graph)?;
    let both_ways = uniform(lab, log2, degree << log2, &["--undirected"])?;
    if let Some((graph, name)) = both_ways {
        let options = ["--method", "propagation"];
        figures.push(whole_run(lab, "wcc", &graph, &name, &options, least)?);
        remove(&graph)?;
    }
    Ok(figures)
}

/// Budgets in MiB for R-MAT; the search gets the first one.
const RMAT_BUDGETS: [u64; 3] = [256, 320, 512];

/// Measures the same on an R-MAT graph with the same number of edges.
pub fn rmat(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    let (steps, degree) = VERTICES;
    let log2 = lab.settings.scale + steps;
    let (scale, factor) = (log2.to_string(), degree.to_string());
    let model = ["rmat", "--scale", &scale, "--edge-factor", &factor];
    let Some(graph) = imported(lab, &model, degree << log2, log2, &[])? else {
        return Ok(Vec::new());
    };
    let name = format!("R-MAT {log2} x {degree}");
    let ranks = lab.pagerank(&graph, 1, None)?;
    let source = vertex(&ranks, "/summary/top/0/vertex")?;
    let mut figures = Vec::new();
    for mebibytes in RMAT_BUDGETS {
        figures.extend(pagerank(lab, &graph, &name, scaled(lab, mebibytes), false)?);
    }
    let least = scaled(lab, RMAT_BUDGETS[0]);
    figures.push(whole_run(lab, "bfs", &graph, &name, &["--source", &source], least)?);
    remove(&graph)?;
    Ok(figures)
}

/// The scale of the larger graph is this much above the usual one. It has one edge a vertex.
const BIG_STEPS: u32 = 6;
/// Its budget at the scale of targets, in MiB.
const BIG_BUDGET: u64 = 512;

/// Measures PageRank and a search on a graph whose arrays exceed the memory of usual machines. Each
/// runs once, as it takes long.
pub fn big(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    let log2 = lab.settings.scale + BIG_STEPS;
    let Some((graph, name)) = uniform(lab, log2, 1 << log2, &[])? else {
        return Ok(Vec::new());
    };
    let memory = scaled(lab, BIG_BUDGET);
    let budget = units::bytes(memory as f64);
    let run = lab.pagerank(&graph, 2, Some(memory))?;
    let source = vertex(&run, "/summary/top/0/vertex")?;
    let moved = (number(&run, "/bytes_read")? + number(&run, "/bytes_written")?) / 2.0;
    let title = format!("PageRank iteration, {name}, within {budget}");
    let ranks = Figure::new(title, Unit::Seconds, vec![iteration(&run)?])
        .note(format!("{} read and written an iteration", units::bytes(moved)));
    let run = lab.run("bfs", &graph, Some(memory), &["--source", &source])?;
    let took = numbers(&run, "/iteration_seconds")?.iter().sum();
    let (levels, reached) = (whole(&run, "/iterations")?, whole(&run, "/summary/reached")?);
    let moved = number(&run, "/bytes_read")? + number(&run, "/bytes_written")?;
    let search = Figure::new(format!("BFS, {name}, within {budget}"), Unit::Seconds, vec![took])
        .note(format!(
            "{levels} iterations reach {reached} vertices; {} read and written",
            units::bytes(moved)
        ));
    remove(&graph)?;
    Ok(vec![ranks, search])
}

/// Returns the bytes of a budget of `mebibytes` MiB at the scale of targets.
fn scaled(lab: &Lab<'_>, mebibytes: u64) -> u64 {
    ((mebibytes << 20) << lab.settings.scale) >> SCALE
}

/// Makes a uniform random graph of 2^`log2` vertices, imported with `options`; returns it and its
/// name. All other graphs are removed first. `None` where the disk has no room.
pub fn uniform(
    lab: &mut Lab<'_>,
    log2: u32,
    edges: u64,
    options: &[&str],
) -> Result<Option<(PathBuf, String)>> {
    let (vertices, wanted) = ((1u64 << log2).to_string(), edges.to_string());
    let model = ["erdos-renyi", "--vertices", &vertices, "--edges", &wanted];
    let Some(graph) = imported(lab, &model, edges, log2, options)? else { return Ok(None) };
    let arcs = number(&lab.tegula.json(&["info", text(&graph)?])?, "/edges")?;
    Ok(Some((graph, format!("uniform random 2^{log2} x {}", units::decimal(arcs)))))
}

/// Makes a generated graph with `edges` edges. All other graphs are removed first. `None` where the
/// disk has no room.
fn imported(
    lab: &mut Lab<'_>,
    model: &[&str],
    edges: u64,
    log2: u32,
    options: &[&str],
) -> Result<Option<PathBuf>> {
    lab.discard(|_| true)?;
    let name = format!("a graph of 2^{log2} vertices and {} edges", units::decimal(edges as f64));
    if !lab.has_room(ROOM_PER_EDGE * edges, &name)? {
        return Ok(None);
    }
    let [pairs, graph] = files(lab);
    lab.tegula.json(&[&["generate"], model, &["-o", text(&pairs)?]].concat())?;
    let import = ["import", text(&pairs)?, "-o", text(&graph)?];
    lab.tegula.json(&[&import[..], options].concat())?;
    remove(&pairs)?;
    Ok(Some(graph))
}

/// Removes the graph that was made last, even where making it has failed.
pub fn remove_files(lab: &Lab<'_>) -> Result<()> {
    files(lab).iter().try_for_each(|file| Ok(remove(file)?))
}

/// Returns the pairs of a graph and its directory.
fn files(lab: &Lab<'_>) -> [PathBuf; 2] {
    ["arrays.bin32", "arrays.tegula"].map(|name| lab.scratch.join(name))
}

/// Returns the median of all iterations but the first.
pub fn iteration(run: &Value) -> Result<f64> {
    Ok(median(&numbers(run, "/iteration_seconds")?[1..]))
}

/// Measures an iteration within a budget beside one in memory, and with `has_targets` also beside
/// reading the same number of bytes from disk.
fn pagerank(
    lab: &Lab<'_>,
    graph: &Path,
    name: &str,
    memory: u64,
    has_targets: bool,
) -> Result<Vec<Figure>> {
    let (mut within, mut in_memory, mut disk, mut moved) = (vec![], vec![], vec![], vec![]);
    let rounds = lab.settings.rounds.min(if has_targets { usize::MAX } else { ROUNDS_MAX });
    for _ in 0..rounds {
        let run = lab.pagerank(graph, ITERATIONS, Some(memory))?;
        within.push(iteration(&run)?);
        let bytes = number(&run, "/bytes_read")? + number(&run, "/bytes_written")?;
        moved.push(bytes / ITERATIONS as f64);
        let tiles = read_sequentially(&graph.join("tiles.data"))?;
        disk.push(bytes / ITERATIONS as f64 * tiles.seconds / tiles.bytes as f64);
        in_memory.push(iteration(&lab.pagerank(graph, ITERATIONS, None)?)?);
    }
    let budget = units::bytes(memory as f64);
    let bytes = units::bytes(median(&moved));
    let title = format!("PageRank iteration, {name}, within {budget}");
    let figure = Figure::new(&title, Unit::Seconds, within.clone())
        .with_budget(memory)
        .compared_with("in memory", in_memory, Ratio::TimesAsLong)
        .note(format!("{bytes} read and written an iteration"));
    if !has_targets {
        return Ok(vec![figure]);
    }
    let beside_disk = Figure::new(title, Unit::Seconds, within).compared_with(
        "the same bytes read in order",
        disk,
        Ratio::TimesAsLong,
    );
    Ok(vec![
        lab.with_targets(figure, |figure| figure.at_most(Of::Ratio, 4.0, None)),
        lab.with_targets(beside_disk, |figure| figure.at_most(Of::Ratio, 1.3, None)),
    ])
}

/// Measures an iteration with arrays on disk that the page cache holds.
fn forced(lab: &Lab<'_>, graph: &Path, name: &str) -> Result<Figure> {
    let (mut on_disk, mut in_memory) = (Vec::new(), Vec::new());
    let iterations = ITERATIONS.to_string();
    for _ in 0..lab.settings.rounds {
        let options = ["--iterations", &iterations, "--arrays", "disk"];
        on_disk.push(iteration(&lab.run("pagerank", graph, None, &options)?)?);
        in_memory.push(iteration(&lab.pagerank(graph, ITERATIONS, None)?)?);
    }
    let title = format!("PageRank iteration, {name}, arrays in files of the page cache");
    let figure = Figure::new(title, Unit::Seconds, on_disk).compared_with(
        "in memory",
        in_memory,
        Ratio::TimesAsLong,
    );
    Ok(lab.with_targets(figure, |figure| figure.at_most(Of::Ratio, 1.2, None)))
}

/// Measures an iteration within a budget, in turn with one whose arrays are mapped files that the
/// kernel pages within the same budget.
fn beside_mapped(lab: &Lab<'_>, graph: &Path, name: &str, memory: u64) -> Result<Figure> {
    let example = Example::build(lab.root, "mapped_arrays")?;
    let estimate = lab.tegula.json(&["run", "pagerank", text(graph)?, "--estimate"])?;
    let needed = (whole(&estimate, "/vertex_bytes")? + MAPPED_ROOM).to_string();
    let (limit, folder) = (memory.to_string(), text(lab.scratch.path())?);
    let (mut within, mut mapped) = (Vec::new(), Vec::new());
    for _ in 0..MAPPED_ROUNDS {
        within.push(iteration(&lab.pagerank(graph, ITERATIONS, Some(memory))?)?);
        lab.cache.drop(graph)?;
        let run = example.run(&[text(graph)?, folder, "2", &needed, &limit])?;
        mapped.push(iteration(&run)?);
    }
    let budget = units::bytes(memory as f64);
    let title = format!("PageRank iteration, {name}, within {budget}");
    let beside = "arrays in mapped files, paged by the kernel";
    let figure =
        Figure::new(title, Unit::Seconds, within).compared_with(beside, mapped, Ratio::TimesAsFast);
    Ok(lab.with_targets(figure, |figure| figure.at_least(Of::Ratio, 10.0, None)))
}

/// Measures a whole run within a budget, in turn with one in memory.
fn whole_run(
    lab: &Lab<'_>,
    algorithm: &str,
    graph: &Path,
    name: &str,
    options: &[&str],
    memory: u64,
) -> Result<Figure> {
    let (mut within, mut in_memory) = (Vec::new(), Vec::new());
    let mut iterations = 0;
    for _ in 0..WHOLE_ROUNDS {
        let run = lab.run(algorithm, graph, Some(memory), options)?;
        iterations = whole(&run, "/iterations")?;
        within.push(numbers(&run, "/iteration_seconds")?.iter().sum());
        let run = lab.run(algorithm, graph, None, options)?;
        in_memory.push(numbers(&run, "/iteration_seconds")?.iter().sum());
    }
    let budget = units::bytes(memory as f64);
    let title = format!("{}, {name}, within {budget}", algorithm.to_uppercase());
    let figure = Figure::new(title, Unit::Seconds, within)
        .compared_with("in memory", in_memory, Ratio::TimesAsLong)
        .note(format!("{iterations} iterations"));
    Ok(lab.with_targets(figure, |figure| figure.at_most(Of::Ratio, 4.0, None)))
}
