//! The vertices that a personalized run prefers.

use std::fs;
use std::path::Path;

use tegula_store::graph::Graph;
use tegula_store::{At, Error, OriginalId, Place, Result, VertexId};

/// Reads a line for each seed: its id and, after a blank, a tab or a comma, its weight, if that is
/// not to be 1. Empty lines and those that begin with `#` or `%` are passed over.
///
/// # Errors
/// Those of reading; [`Error::BadInput`] for what is no vertex or no weight.
pub fn read(path: &Path, graph: &Graph) -> Result<Vec<(VertexId, f64)>> {
    let text = fs::read(path).map_err(Error::io("read", path))?;
    let bad = |at: At, detail: String| {
        Err(Error::BadInput { place: Place { file: path.to_owned(), at }, detail })
    };
    let (mut ids, mut rest) = (Vec::new(), Vec::new());
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
        ids.push(OriginalId::String(id.to_owned()));
        rest.push((At::Line(number), weight));
    }
    if rest.iter().all(|&(_, weight)| weight == 0.0) {
        return bad(At::File, "no vertex in it has a weight above 0".to_owned());
    }
    let mut seeds = Vec::with_capacity(ids.len());
    let found = graph.original_ids()?.find_all(&ids)?;
    for ((vertex, (at, weight)), id) in found.into_iter().zip(rest).zip(&ids) {
        match vertex {
            Some(vertex) => seeds.push((vertex, weight)),
            None => {
                return bad(at, format!("{} has no vertex `{id}`", graph.directory().display()));
            }
        }
    }
    Ok(seeds)
}
