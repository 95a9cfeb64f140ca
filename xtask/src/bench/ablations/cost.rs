//! COST: one thread of tegula against one thread that loops over a list of edges (McSherry et al.,
//! HotOS 2015).

use std::path::Path;

use super::comparison::ROUNDS_MAX;
use crate::bench::examples::Example;
use crate::bench::figure::{Figure, Of, Ratio, Unit, median};
use crate::bench::lab::{Lab, Prepared, text};
use crate::tegula::Result;
use crate::tegula::command::{Worker, number, numbers, whole};
use crate::tegula::scratch::remove;

const ITERATIONS: u64 = 10;
const ONE: [&str; 2] = ["--threads", "1"];
pub const LIST: &str = "one thread along a list of edges in Hilbert order";
/// Ranks that are added up one by one in single precision may differ from tegula's by this share.
const RANKS_DIFFER_MAX: f64 = 1e-3;

/// PageRank and weakly connected components, in memory and from disk.
pub fn all(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    let graph = lab.rmat(lab.settings.scale)?;
    let memory = lab.disk_memory(&graph)?;
    let list = lab.scratch.join("hilbert.bin32");
    let mut worker = start(lab, &graph, &list)?;
    let mut figures = Vec::new();
    for (place, memory) in [("memory", None), ("disk", Some(memory))] {
        figures.push(pagerank(lab, &graph, &mut worker, place, memory)?);
        figures.push(components(lab, &graph, &mut worker, place, memory)?);
    }
    drop(worker);
    remove(&list)?;
    lab.remarks
        .push("Paper (GraM): it takes 4 and 18 cores to be as fast as one thread.".to_owned());
    let wanted = |figure: Figure| figure.at_least(Of::Ratio, 1.0, None);
    Ok(figures.into_iter().map(|figure| lab.with_targets(figure, wanted)).collect())
}

/// Starts the loop over the edges of an R-MAT graph, which it also writes to the file `list`.
pub fn start(lab: &Lab<'_>, graph: &Prepared, list: &Path) -> Result<Worker> {
    let example = Example::build(lab.root, "hilbert_loop")?;
    let mut worker = example.start(&[&graph.scale.to_string(), text(list)?])?;
    let vertices = whole(&worker.answer()?, "/vertices")?;
    if vertices != graph.vertices {
        return Err(format!("the list has {vertices} vertices, not {}", graph.vertices).into());
    }
    Ok(worker)
}

fn pagerank(
    lab: &Lab<'_>,
    graph: &Prepared,
    worker: &mut Worker,
    place: &str,
    memory: Option<u64>,
) -> Result<Figure> {
    let iterations = ITERATIONS.to_string();
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..lab.settings.rounds.min(ROUNDS_MAX) {
        let options = [&["--iterations", &iterations], &ONE[..]].concat();
        let run = lab.run("pagerank", &graph.graph, memory, &options)?;
        ours.push(median(&numbers(&run, "/iteration_seconds")?));
        let round = worker.ask(&format!("{place} pagerank {iterations}"))?;
        theirs.push(median(&numbers(&round, "/iteration_seconds")?));
        check_ranks(number(&run, "/summary/top/0/rank")?, number(&round, "/greatest")?)?;
    }
    let title = format!("PageRank iteration, R-MAT {}, 1 thread, {}", graph.scale, from(place));
    Ok(Figure::new(title, Unit::Seconds, ours).compared_with(LIST, theirs, Ratio::TimesAsFast))
}

fn components(
    lab: &Lab<'_>,
    graph: &Prepared,
    worker: &mut Worker,
    place: &str,
    memory: Option<u64>,
) -> Result<Figure> {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..lab.settings.rounds.min(ROUNDS_MAX) {
        let run = lab.run("wcc", &graph.graph, memory, &ONE)?;
        ours.push(number(&run, "/seconds/run")?);
        let round = worker.ask(&format!("{place} wcc 1"))?;
        theirs.push(number(&round, "/seconds")?);
        let (own, found) = (whole(&run, "/summary/components")?, whole(&round, "/components")?);
        if own != found {
            return Err(format!("the list has {found} components, tegula {own}").into());
        }
    }
    let title = format!("components, R-MAT {}, 1 thread, {}", graph.scale, from(place));
    Ok(Figure::new(title, Unit::Seconds, ours).compared_with(LIST, theirs, Ratio::TimesAsFast))
}

fn from(place: &str) -> &'static str {
    if place == "disk" { "from disk" } else { "in memory" }
}

/// Checks that the yardstick has the same greatest rank, which is the longest sum.
pub fn check_ranks(own: f64, found: f64) -> Result<()> {
    if (own - found).abs() <= RANKS_DIFFER_MAX * own {
        return Ok(());
    }
    Err(format!("the greatest rank is {found} by the yardstick, {own} by tegula").into())
}
