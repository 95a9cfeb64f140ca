//! How many bytes ranks send each other if edges lead to random vertices.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use super::cut::Cut;
use super::traffic::MESSAGE_BYTES;
use crate::bench::lab::{Lab, text};
use crate::tegula::Result;
use crate::tegula::scratch::remove;

/// From this share of vertices with an edge into a rank on, a rank sends the messages of all.
const ALL_FROM: f64 = 0.5;
/// The column of out-degrees in the table of degrees.
const OUT_DEGREE: &str = "out_degree";

/// How many vertices have each out-degree.
#[derive(Debug, Default, PartialEq)]
pub struct OutDegrees(BTreeMap<u64, u64>);

impl OutDegrees {
    /// Counts the out-degrees of a graph.
    pub fn of(lab: &Lab<'_>, graph: &Path) -> Result<OutDegrees> {
        let table = lab.scratch.join("degrees.csv");
        lab.run("degree", graph, None, &["-o", text(&table)?, "--force"])?;
        let degrees = OutDegrees::read(BufReader::new(File::open(&table)?));
        remove(&table)?;
        degrees
    }

    fn read(table: impl BufRead) -> Result<OutDegrees> {
        let mut lines = table.lines();
        let header = lines.next().ok_or("a table of degrees without a header")??;
        let column = header.split(',').position(|name| name == OUT_DEGREE);
        let column = column.ok_or_else(|| format!("no column {OUT_DEGREE} in {header}"))?;
        let mut counts = BTreeMap::new();
        for line in lines {
            let line = line?;
            let degree = line.split(',').nth(column).and_then(|degree| degree.parse().ok());
            let degree = degree.ok_or_else(|| format!("no degree in {line}"))?;
            *counts.entry(degree).or_insert(0) += 1;
        }
        Ok(OutDegrees(counts))
    }

    /// Returns the expected share of vertices with an edge into a rank that has this share of all
    /// edges: a vertex of degree d has none with the probability (1 - share)^d.
    fn with_edge_into(&self, share: f64) -> f64 {
        let vertices: u64 = self.0.values().sum();
        let with_edge: f64 = self
            .0
            .iter()
            .map(|(&degree, &count)| count as f64 * (1.0 - (1.0 - share).powf(degree as f64)))
            .sum();
        with_edge / vertices.max(1) as f64
    }

    /// Returns the bytes that all ranks are expected to send in an iteration.
    pub fn bytes(&self, cut: &Cut) -> f64 {
        let into = |vertices: f64, edges: f64| {
            let share = self.with_edge_into(edges / cut.edges.max(1.0));
            let sent = if share > ALL_FROM { 1.0 } else { share };
            (cut.vertices - vertices) * sent * MESSAGE_BYTES
        };
        cut.shards.iter().map(|shard| into(shard.vertices, shard.edges)).sum()
    }
}

/// Returns the bytes that all ranks would send if each sent all its messages to each other one.
pub fn bytes_unfiltered(cut: &Cut) -> f64 {
    (cut.ranks() - 1) as f64 * cut.vertices * MESSAGE_BYTES
}

#[cfg(test)]
mod tests {
    use super::super::cut::Shard;
    use super::*;

    fn cut(ranks: usize) -> Cut {
        let (vertices, edges) = (1000.0, 2000.0);
        let shares = ranks as f64;
        let shard = Shard { vertices: vertices / shares, edges: edges / shares, tile_bytes: 0.0 };
        Cut { folder: "cut".into(), vertices, edges, shards: vec![shard; ranks] }
    }

    #[test]
    fn out_degrees_are_counted() {
        let table = "vertex,in_degree,out_degree\n7,0,2\n8,1,0\n9,1,2\n";
        let degrees = OutDegrees::read(table.as_bytes()).unwrap();
        assert_eq!(degrees, OutDegrees(BTreeMap::from([(0, 1), (2, 2)])));
        assert!(OutDegrees::read("vertex,degree\n7,0\n".as_bytes()).is_err());
        assert!(OutDegrees::read("vertex,out_degree\n7,x\n".as_bytes()).is_err());
    }

    #[test]
    fn vertices_with_an_edge_are_sent_if_they_are_few() {
        let degrees = OutDegrees(BTreeMap::from([(2, 1000)]));
        assert_eq!(degrees.with_edge_into(0.5), 0.75);
        // Three quarters of the vertices have an edge into each rank, so all are sent.
        assert_eq!(degrees.bytes(&cut(2)), bytes_unfiltered(&cut(2)));
        // 7 of 16 vertices have an edge into each rank, and 3 of 4 vertices are on another one.
        let expected = 4.0 * 750.0 * 4.0 * 7.0 / 16.0;
        assert!((degrees.bytes(&cut(4)) - expected).abs() < 1e-6, "{}", degrees.bytes(&cut(4)));
    }
}
