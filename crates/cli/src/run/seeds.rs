//! The vertices that a personalized run prefers.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use tegula_engine::PROCESS_OVERHEAD;
use tegula_store::graph::Graph;
use tegula_store::{At, Error, Place, Result, VertexId};

/// Bytes that a line takes beside its text while seeds are read: its id, where that is and its weight,
/// what it takes to find it, and the seed.
const LINE_SIZE: u64 = 80;

/// Bytes of memory that [`read`] takes for so many bytes of text with so many ends of lines.
fn size_of(text: u64, line_ends: u64) -> u64 {
    text + LINE_SIZE * (line_ends + 1)
}

fn line_ends(text: &[u8]) -> u64 {
    text.iter().filter(|&&byte| byte == b'\n').count() as u64
}

/// Bytes of memory that [`read`] takes for a file; 0 for a pipe, which can be read only once.
///
/// # Errors
/// Those of reading.
pub fn size(path: &Path) -> Result<u64> {
    if !fs::metadata(path).map_err(Error::io("read", path))?.is_file() {
        return Ok(0);
    }
    let mut file = BufReader::new(File::open(path).map_err(Error::io("read", path))?);
    let (mut text, mut ends) = (0, 0);
    loop {
        let part = file.fill_buf().map_err(Error::io("read", path))?;
        if part.is_empty() {
            return Ok(size_of(text, ends));
        }
        ends += line_ends(part);
        let length = part.len();
        text += length as u64;
        file.consume(length);
    }
}

/// Reads a line for each seed: its id and, after a blank, a tab or a comma, its weight, if that is
/// not to be 1. Empty lines and those that begin with `#` or `%` are passed over.
///
/// # Errors
/// Those of reading; [`Error::BadInput`] for what is no vertex or no weight; [`Error::OverBudget`]
/// where `memory` does not hold them.
pub fn read(path: &Path, graph: &Graph, memory: u64) -> Result<Vec<(VertexId, f64)>> {
    let mut text = Vec::new();
    let file = File::open(path).map_err(Error::io("read", path))?;
    file.take(memory).read_to_end(&mut text).map_err(Error::io("read", path))?;
    let ends = line_ends(&text);
    let needed = size_of(text.len() as u64, ends) + PROCESS_OVERHEAD;
    if needed > memory {
        return Err(Error::OverBudget { what: "the seeds".to_owned(), needed, budget: memory });
    }
    let bad = |at: At, detail: String| {
        Err(Error::BadInput { place: Place { file: path.to_owned(), at }, detail })
    };
    let lines = ends as usize + 1;
    let (mut ids, mut rest) = (Vec::with_capacity(lines), Vec::with_capacity(lines));
    for (number, line) in (1..).zip(text.split(|&byte| byte == b'\n')) {
        let Ok(line) = str::from_utf8(line) else {
            return bad(At::Line(number), "it is not UTF-8".to_owned());
        };
        let line = line.trim();
        if line.is_empty() || line.starts_with(['#', '%']) {
            continue;
        }
        let (id, weight) = line.split_once([' ', '\t', ',']).unwrap_or((line, "1"));
        let weight = match weight.trim().parse::<f64>() {
            Ok(weight) if weight.is_finite() && weight >= 0.0 => weight,
            _ => return bad(At::Line(number), format!("`{weight}` is no weight of at least 0")),
        };
        ids.push(id);
        rest.push((number, weight));
    }
    if rest.iter().all(|&(_, weight)| weight == 0.0) {
        return bad(At::File, "no vertex in it has a weight above 0".to_owned());
    }
    let mut seeds = Vec::with_capacity(ids.len());
    let found = graph.original_ids()?.find_all(&ids)?;
    for ((vertex, &(number, weight)), id) in found.into_iter().zip(&rest).zip(&ids) {
        let Some(vertex) = vertex else {
            let detail = format!("{} has no vertex `{id}`", graph.directory().display());
            return bad(At::Line(number), detail);
        };
        seeds.push((vertex, weight));
    }
    Ok(seeds)
}
