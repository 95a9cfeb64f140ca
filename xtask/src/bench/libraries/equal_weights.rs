//! Shortest paths whose edges all weigh the same, beside a search of the same graph.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::Path;

use serde_json::Value;

use super::subject::whole_run;
use crate::bench::figure::{Figure, Of, Ratio, Unit};
use crate::bench::figures::rows::edge_list;
use crate::bench::graphs::Made;
use crate::bench::lab::{Lab, text};
use crate::tegula::Result;
use crate::tegula::command::{number, vertex};
use crate::tegula::scratch::remove;

/// The scale of the R-MAT graph is lower by this than that of other groups: its edges are text.
const STEPS: u32 = 4;
/// Shortest paths may take this many times as long as a search.
const LONGER_MAX: f64 = 1.3;

/// Measures an R-MAT graph and two graphs of the data folder, each without weights and with weights
/// that are all 1.
pub fn all(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    let mut figures = Vec::new();
    let list = lab.scratch.join("list.el");
    let scale = lab.settings.scale.saturating_sub(STEPS);
    lab.generate(scale, &list)?;
    figures.extend(of_list(lab, &format!("R-MAT {scale}, undirected"), &list)?);
    for name in ["com-dblp.ungraph", "USA-road-FLA"] {
        let Some(edges) = edge_list(lab, name) else { continue };
        let given = lab.scratch.join("given.tegula");
        let import = ["import", text(&edges)?, "-o", text(&given)?, "--undirected"];
        lab.tegula.json(&import)?;
        lab.tegula.json(&["export", text(&given)?, "-o", text(&list)?, "--force"])?;
        remove(&given)?;
        figures.extend(of_list(lab, name, &list)?);
    }
    remove(&list)?;
    Ok(figures)
}

/// Measures the undirected graph of an edge list without weights.
fn of_list(lab: &Lab<'_>, title: &str, list: &Path) -> Result<[Figure; 2]> {
    let ones = lab.scratch.join("ones.wel");
    let mut writer = BufWriter::new(File::create(&ones)?);
    add_ones(BufReader::new(File::open(list)?), &mut writer)?;
    writer.flush()?;
    let plain = lab.with_rows(title, list, &["--undirected"])?;
    let title = format!("{title}, weights of 1");
    let weighted = lab.with_rows(&title, &ones, &["--undirected", "--weighted"])?;
    remove(&ones)?;
    let figures = [compared(lab, &plain)?, compared(lab, &weighted)?];
    remove(&plain.graph)?;
    remove(&weighted.graph)?;
    Ok(figures)
}

/// Writes each edge with a weight of 1.
fn add_ones(list: impl BufRead, weighted: &mut impl Write) -> io::Result<()> {
    list.lines().try_for_each(|edge| writeln!(weighted, "{} 1", edge?))
}

/// Measures whole runs in turn; both must reach the same vertices.
fn compared(lab: &Lab<'_>, graph: &Made) -> Result<Figure> {
    let hub = vertex(&lab.pagerank(&graph.graph, 2, None)?, "/summary/top/0/vertex")?;
    let options = ["--source", hub.as_str()];
    let (mut paths, mut searches) = (Vec::new(), Vec::new());
    for _ in 0..lab.settings.rounds {
        let (seconds, path) = whole_run(lab, "sssp", graph, &options)?;
        paths.push(seconds);
        let (seconds, search) = whole_run(lab, "bfs", graph, &options)?;
        searches.push(seconds);
        agree(&path, &search)?;
    }
    Ok(Figure::new(format!("sssp, {}", graph.title), Unit::Seconds, paths)
        .compared_with("bfs", searches, Ratio::TimesAsLong)
        .at_most(Of::Ratio, LONGER_MAX, None))
}

/// Checks that paths and a search reach the same number of vertices and the same distance.
fn agree(path: &Value, search: &Value) -> Result<()> {
    for (ours, theirs) in
        [("/summary/reached", "/summary/reached"), ("/summary/distance_max", "/summary/depth")]
    {
        let (found, expected) = (number(path, ours)?, number(search, theirs)?);
        if found != expected {
            return Err(format!("sssp has {ours} {found}, bfs {expected}").into());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_edge_gets_a_weight() {
        let mut weighted = Vec::new();
        add_ones("1 2\n3 4\n".as_bytes(), &mut weighted).unwrap();
        assert_eq!(weighted, b"1 2 1\n3 4 1\n");
    }

    #[test]
    fn paths_are_as_long_as_those_of_a_search() {
        let path = |most: f64| json!({"summary": {"reached": 3, "distance_max": most}});
        let search = json!({"summary": {"reached": 3, "depth": 2}});
        assert!(agree(&path(2.0), &search).is_ok());
        assert!(agree(&path(3.0), &search).is_err());
    }
}
