//! The vertices that a personalized run prefers.

use std::path::Path;

use tegula_store::graph::Graph;
use tegula_store::{At, Result, VertexId};

use super::id_lines;

/// Reads a line for each seed: its id and its weight, if that is not to be 1.
///
/// # Errors
/// Those of [`id_lines::read`]; [`tegula_store::Error::BadInput`] where no weight is above 0.
pub fn read(path: &Path, graph: &Graph, memory: u64) -> Result<Vec<(VertexId, f64)>> {
    let weight = |text: Option<&str>| match text.unwrap_or("1").parse::<f64>() {
        Ok(weight) if weight.is_finite() && weight >= 0.0 => Ok(weight),
        _ => Err(format!("`{}` is no weight of at least 0", text.unwrap_or_default())),
    };
    let lines = id_lines::read(path, graph, memory, "the seeds", weight)?;
    if lines.iter().all(|line| line.value == 0.0) {
        let detail = "no vertex in it has a weight above 0".to_owned();
        return Err(id_lines::bad(path, At::File, detail));
    }
    Ok(lines.into_iter().map(|line| (line.vertex, line.value)).collect())
}
