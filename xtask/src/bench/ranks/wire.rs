//! The bytes that ranks send each other, filtered and not.

use std::path::Path;

use super::expected::{OutDegrees, bytes_unfiltered};
use super::traffic::Traffic;
use crate::bench::figure::{Figure, Ratio, Unit};
use crate::bench::figures::arrays;
use crate::bench::figures::rows::edge_list;
use crate::bench::lab::{Lab, text};
use crate::tegula::scratch::remove;
use crate::tegula::{Result, units};

const RANKS: [usize; 4] = [2, 4, 8, 16];
/// Edges a vertex of the uniform graph, as in the graph whose arrays are on disk. With 16, more than
/// half of the vertices have an edge into each of 16 ranks, and nothing is filtered.
const UNIFORM_DEGREE: u64 = 4;
/// The grid of cnr-2000: bits of vertex numbers within a segment and a column. With the usual one,
/// its vertices make two batches, and only two ranks have edges.
const CNR_GRID: &str = "24,12";
const AXIS: &str = "ranks";
const WHAT: &str = "Bytes of an iteration of PageRank, with those by which ranks agree. *All messages to all ranks* is \
    arithmetic: (ranks - 1) x vertices x 4 bytes. *Expected* is arithmetic from the out-degrees: the number of \
    sources that have an edge into a rank if edges lead to random vertices, or all sources where that is more than half \
    of them, x 4 bytes.";

/// Counts the bytes for R-MAT.
pub fn rmat(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    let graph = lab.rmat(lab.settings.scale)?;
    measure(lab, &graph.graph, &format!("R-MAT {}", graph.scale))
}

/// Counts the bytes for a graph whose edges are all equally likely.
pub fn uniform(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    let log2 = lab.settings.scale;
    let made = arrays::uniform(lab, log2, UNIFORM_DEGREE << log2, &[])?;
    let Some((graph, name)) = made else { return Ok(Vec::new()) };
    let figures = measure(lab, &graph, &name)?;
    remove(&graph)?;
    Ok(figures)
}

/// Counts the bytes for a crawl of websites, whose edges are mostly near.
pub fn cnr(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    let Some(edges) = edge_list(lab, "cnr-2000") else {
        lab.leave_out("cnr-2000 is not in the folder that TEGULA_DATA names.");
        return Ok(Vec::new());
    };
    let graph = lab.scratch.join("cnr-2000-directed.tegula");
    lab.tegula.json(&["import", text(&edges)?, "-o", text(&graph)?, "--grid", CNR_GRID])?;
    let figures = measure(lab, &graph, "cnr-2000")?;
    lab.remarks.push(format!(
        "Imported with `--grid {CNR_GRID}`, so that a batch has at most 4,096 targets. With the usual batches, \
         only two ranks would have edges."
    ));
    remove(&graph)?;
    Ok(figures)
}

fn measure(lab: &mut Lab<'_>, graph: &Path, name: &str) -> Result<Vec<Figure>> {
    let degrees = OutDegrees::of(lab, graph)?;
    let mut figures = Vec::new();
    for ranks in RANKS {
        let cut = lab.cut(graph, ranks)?;
        let traffic = Traffic::count(lab, &cut)?;
        let figure = |beside: &str, curve: &str, bytes: f64| {
            Figure::new(format!("{name}, {ranks} ranks"), Unit::Bytes, vec![traffic.sent])
                .compared_with(beside, vec![bytes], Ratio::TimesAsLarge)
                .on_curve(curve, ranks as f64, AXIS)
        };
        let unfiltered = bytes_unfiltered(&cut);
        figures.push(
            figure("all messages to all ranks", "beside all messages to all ranks", unfiltered)
                .note(format!(
                    "{} more, once, to tell which sources have edges and to gather the answer; {}",
                    units::bytes(traffic.once),
                    cut.unevenness()
                )),
        );
        let expected = degrees.bytes(&cut);
        // Nothing is expected where one rank has all vertices.
        if expected > 0.0 {
            figures.push(figure("expected", "beside what is expected", expected));
        }
        cut.discard()?;
    }
    lab.remarks.push(WHAT.to_owned());
    Ok(figures)
}
