//! How many edges one worker processes at a time: a part of a batch, a whole batch, or a
//! small part.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use super::comparison::{beside_first, in_turn};
use crate::bench::figure::{Figure, Ratio, Unit, median};
use crate::bench::lab::{Lab, text};
use crate::tegula::Result;
use crate::tegula::command::numbers;
use crate::tegula::scratch::remove;

/// Edges of a part: the default, more than any batch has, and a tenth of the default.
const EDGES: [&str; 3] = ["4194304", "1152921504606846976", "419430"];
const TITLES: [&str; 3] = ["parts of 2^22 edges", "a part a batch", "ten times as many parts"];
const ITERATIONS: &str = "10";
/// The star has 2 to this power times as many vertices as the main graph.
const STAR_STEPS: u32 = 2;

/// Measures PageRank on R-MAT, which has many batches, and SpMV on a star, whose edges are all in
/// one batch.
pub fn all(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    let graph = lab.rmat(lab.settings.scale)?;
    let name = format!("PageRank iteration, R-MAT {}", graph.scale);
    let mut figures = measure(lab, &name, "pagerank", &graph.graph)?;
    let (pairs, star) = (lab.scratch.join("star.bin32"), lab.scratch.join("star.tegula"));
    let log2 = graph.scale + STAR_STEPS;
    write_star(&pairs, 1 << log2)?;
    lab.tegula.json(&["import", text(&pairs)?, "-o", text(&star)?])?;
    remove(&pairs)?;
    let name = format!("SpMV iteration, star of 2^{log2} vertices");
    figures.extend(measure(lab, &name, "spmv", &star)?);
    remove(&star)?;
    lab.remarks.push(
        "Paper (MOSAIC): without splitting its work up an iteration takes 2.5 times as long, with ten times as many \
         parts 1.6 times."
            .to_owned(),
    );
    Ok(figures)
}

fn measure(lab: &Lab<'_>, name: &str, algorithm: &str, graph: &Path) -> Result<Vec<Figure>> {
    let samples = in_turn(lab.settings.rounds, &EDGES, |edges| {
        let options = ["--iterations", ITERATIONS, "--threads", "2", "--part-edges", edges];
        Ok(median(&numbers(&lab.run(algorithm, graph, None, &options)?, "/iteration_seconds")?))
    })?;
    Ok(beside_first(name, &TITLES, &samples, Unit::Seconds, Ratio::TimesAsLong))
}

/// Writes the edges of a star as raw pairs: from every other vertex to the first.
fn write_star(path: &Path, vertices: u32) -> Result<()> {
    let mut out = BufWriter::with_capacity(1 << 20, File::create(path)?);
    for leaf in 1..vertices {
        out.write_all(&leaf.to_le_bytes())?;
        out.write_all(&0u32.to_le_bytes())?;
    }
    Ok(out.flush()?)
}
