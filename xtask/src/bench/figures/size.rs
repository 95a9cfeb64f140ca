//! Bytes per edge.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::bench::figure::{Figure, Of, Unit};
use crate::bench::lab::{self, Lab, Prepared};
use crate::tegula::command::{number, whole};
use crate::tegula::scratch::remove;
use crate::tegula::{Result, units};

/// Edge lists that have each edge of an undirected graph once.
pub const UNDIRECTED: [&str; 7] = [
    "USA-road-BAY",
    "USA-road-FLA",
    "cal.weighted",
    "com-dblp.ungraph",
    "ego-twitter-undirected",
    "email-Enron",
    "wave",
];
/// The ending of edge lists' file names.
const ENDING: &str = ".txt.zst";

/// Measures the main graph, and every edge list in `data/` or in the folder that `TEGULA_DATA`
/// names.
pub fn all(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    let rmat = lab.rmat(lab.settings.scale)?;
    let title = format!("R-MAT {}", rmat.scale);
    let figure = Figure::new(title, Unit::BytesPerEdge, vec![rmat.bytes_per_edge]);
    let figure = figure.note(format!("{} edges", units::count(rmat.edges)));
    let figure = lab.with_targets(figure, |figure| figure.at_most(Of::Value, 1.6, Some(1.45)));
    let mut figures = vec![figure, by_vertex(lab, &rmat)?];
    let files = edge_lists(lab);
    if !files.iter().any(|(name, _)| name == "cnr-2000") {
        lab.remarks
            .push("cnr-2000 is not there; TEGULA_DATA names the folder with more data.".into());
    }
    for (name, path) in files {
        let graph = lab.scratch.join("sized.tegula");
        let mut arguments = vec!["import", lab::text(&path)?, "-o", lab::text(&graph)?];
        if UNDIRECTED.contains(&name.as_str()) {
            arguments.push("--undirected");
        }
        let report = lab.tegula.json(&arguments)?;
        remove(&graph)?;
        figures.push(figure_of(&name, &report)?);
    }
    Ok(figures)
}

/// Measures the files by vertex: ids, order and degrees.
fn by_vertex(lab: &Lab<'_>, graph: &Prepared) -> Result<Figure> {
    let mut bytes = 0;
    for entry in fs::read_dir(&graph.graph)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with("vertices.") || name.starts_with("degrees.") {
            bytes += entry.metadata()?.len();
        }
    }
    let each = vec![bytes as f64 / graph.vertices as f64];
    let title = format!("R-MAT {}, files by vertex", graph.scale);
    let figure = Figure::new(title, Unit::BytesPerVertex, each);
    Ok(lab.with_targets(figure, |figure| figure.at_most(Of::Value, 5.0, Some(3.0))))
}

/// Returns the folders with graphs: the repository's, then that of `TEGULA_DATA`.
fn data_folders(lab: &Lab<'_>) -> [PathBuf; 2] {
    let named = std::env::var_os("TEGULA_DATA").map(PathBuf::from);
    [lab.root.join("data"), named.unwrap_or_else(|| lab.root.join("../shared/data"))]
}

/// Returns the path of a data file, if it exists.
pub fn data_file(lab: &Lab<'_>, name: &str) -> Option<PathBuf> {
    data_folders(lab).into_iter().map(|folder| folder.join(name)).find(|path| path.exists())
}

/// Returns names and paths, sorted by name; a file in the repository hides one of the same name
/// elsewhere.
pub fn edge_lists(lab: &Lab<'_>) -> Vec<(String, PathBuf)> {
    let mut found: Vec<(String, PathBuf)> = Vec::new();
    for folder in data_folders(lab) {
        // A missing folder has no edge lists.
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let file = entry.file_name().to_string_lossy().into_owned();
            if let Some(name) = file.strip_suffix(ENDING)
                && !found.iter().any(|(other, _)| other == name)
            {
                found.push((name.to_owned(), entry.path()));
            }
        }
    }
    found.sort();
    found
}

fn figure_of(name: &str, report: &Value) -> Result<Figure> {
    let bytes = number(report, "/bytes_per_edge/tiles")?;
    let edges = units::count(whole(report, "/edges")?);
    let order = report.pointer("/order").and_then(Value::as_str).unwrap_or("unknown");
    let figure = Figure::new(name, Unit::BytesPerEdge, vec![bytes]);
    let figure = figure.note(format!("{edges} edges, order: {order}"));
    Ok(match name {
        "cnr-2000" => figure.at_most(Of::Value, 1.2, Some(0.7)),
        _ => figure,
    })
}
