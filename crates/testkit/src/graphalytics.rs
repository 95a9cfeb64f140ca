//! Files of LDBC Graphalytics: a graph as `.v` and `.e`, and reference outputs of `vertex value`
//! lines.

use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::data::{self, field, for_each_row, read_edge_list, read_text};
use crate::{EdgeList, Table};

/// The distance of a vertex that breadth-first search does not reach.
pub const UNREACHED: u64 = i64::MAX as u64;

/// Returns the graph of `STEM.v` and `STEM.e` in the data folder (or the same with `.zst`), for
/// example `graphalytics/example-directed`. An undirected graph has both directions of its edges.
///
/// Returns `None`, with a notice, if it is missing.
///
/// # Panics
/// If it cannot be read.
pub fn graph(stem: &str, directed: bool) -> Option<EdgeList> {
    let (vertices, edges) = (find(&format!("{stem}.v"))?, find(&format!("{stem}.e"))?);
    let graph = read_graph(&vertices, &edges).unwrap_or_else(|error| panic!("{stem}: {error}"));
    Some(if directed { graph } else { graph.undirected() })
}

/// Returns a reference output from the data folder, for example `p2p-Gnutella31/p2p-31-BFS` (or the
/// same with `.zst`).
///
/// Returns `None`, with a notice, if it is missing.
///
/// # Panics
/// If it cannot be read.
pub fn reference<T: FromStr>(file: &str) -> Option<Table<T>> {
    Some(read_table(&find(file)?).unwrap_or_else(|error| panic!("{file}: {error}")))
}

/// Reads a graph: the edges as they are listed, and all vertices of the `.v` file as
/// [`isolated`](EdgeList::isolated) ones.
pub fn read_graph(vertices: &Path, edges: &Path) -> io::Result<EdgeList> {
    let mut graph = read_edge_list(edges)?;
    for_each_row(&read_text(vertices)?, |fields| {
        graph.isolated.push(field(fields.next())?);
        Ok(())
    })?;
    Ok(graph)
}

/// Reads lines of `vertex value` in any order into a table.
pub fn read_table<T: FromStr>(path: &Path) -> io::Result<Table<T>> {
    let mut table = Table::new();
    for_each_row(&read_text(path)?, |fields| {
        table.push((field(fields.next())?, field(fields.next())?));
        Ok(())
    })?;
    table.sort_by_key(|&(vertex, _)| vertex);
    Ok(table)
}

fn find(file: &str) -> Option<PathBuf> {
    // Only the second look says that a test is skipped.
    data::path_of(&format!("{file}.zst")).or_else(|| data::find(file))
}
