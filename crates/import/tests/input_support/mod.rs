//! Helpers that the tests of the input readers share.
#![allow(dead_code, reason = "each test binary uses a part of it")]

use std::path::Path;
use std::sync::Mutex;

use tegula_import::input::{ColumnChoice, EdgeChunk, Ends, Input, InputOptions};
use tegula_machine::threads::{Cancel, Silent};
use tegula_store::Result;
use tempfile::TempDir;

/// Source, target and weight, as text so that all kinds of ids compare.
pub type Edge = (String, String, Option<f32>);

pub fn edges_of(chunk: EdgeChunk<'_>) -> Vec<Edge> {
    let ends: Vec<(String, String)> = match chunk.ends {
        Ends::Pairs32(pairs) => pairs.iter().map(|[s, t]| (s.to_string(), t.to_string())).collect(),
        Ends::Pairs64(pairs) => pairs.iter().map(|[s, t]| (s.to_string(), t.to_string())).collect(),
        Ends::Strings { sources, targets } => {
            let text = |bytes: &[u8]| std::str::from_utf8(bytes).expect("ids are UTF-8").to_owned();
            sources.iter().zip(targets.iter()).map(|(s, t)| (text(s), text(t))).collect()
        }
    };
    let weight = |index| chunk.weights.map(|weights| weights[index]);
    ends.into_iter().enumerate().map(|(index, (s, t))| (s, t, weight(index))).collect()
}

/// Returns all edges, sorted, since the readers give them in any order.
pub fn read(input: &Input) -> Result<Vec<Edge>> {
    let edges = Mutex::new(Vec::new());
    input.read(&Silent, &Cancel::default(), &|chunk| {
        edges.lock().expect("no sink panics").extend(edges_of(chunk));
        Ok(())
    })?;
    Ok(sorted(edges.into_inner().expect("no sink panics")))
}

pub fn sorted(mut edges: Vec<Edge>) -> Vec<Edge> {
    edges.sort_by(|a, b| {
        (&a.0, &a.1).cmp(&(&b.0, &b.1)).then(a.2.partial_cmp(&b.2).expect("weights are finite"))
    });
    edges
}

pub fn import(path: &Path, options: &InputOptions) -> Result<Vec<Edge>> {
    read(&Input::resolve(&[path.to_owned()], options)?)
}

pub fn folder() -> TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

/// The choice of a column by its name.
pub fn named(name: &str) -> Option<ColumnChoice> {
    Some(ColumnChoice::Name(name.to_owned()))
}
