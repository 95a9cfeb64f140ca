//! Triangles: three vertices, each a neighbour of both others.
//!
//! They are counted in the simple undirected graph beneath the stored one: the direction of edges,
//! loops, and further edges between the same two vertices do not count.
//!
//! Vertices are ordered by ascending degree, and each keeps its later neighbours. In a graph of M
//! edges, these are at most `sqrt(2 M)`. A triangle is found once, at the first of its vertices:
//! the second is a later neighbour, and the third is a later neighbour of both (Schank, Wagner,
//! *Finding, Counting and Listing All Triangles in Large Graphs*, WEA 2005; Latapy, Theoretical
//! Computer Science 407, 2008). The later neighbours of the first vertex are marked. Then the list
//! of each of them is passed over and its marked entries are counted, so the inner loop has no
//! branch.
//!
//! If the lists do not fit the budget, they are made for a range of vertices at a time. For each
//! range, one pass over its rows fills the lists, and one over all rows looks for what closes a
//! triangle with them (Hu, Tao, Chung, *Massive Graph Triangulation*, SIGMOD 2013). This moves at
//! most the square of the edges divided by the memory, as the best possible method does. Memory: 28
//! bytes a vertex and 4 for each thread, the index of the rows, and 4 bytes an undirected edge if
//! there is room (at least a sixteenth). Where there is more room, all rows are decoded into plain
//! lists first.
//!
//! With `approximate` they are [estimated](mod@approximate) by min-hashes.

mod approximate;
mod count;
mod hashes;
mod order;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tegula_engine::traverse::Directions;
use tegula_engine::{Estimate, Graph, RunOptions};

use crate::algorithm::{
    Abilities, Algorithm, Column, Description, Edges, Family, Found, MakesLists, Weights, Work,
};
use crate::answer::{self, Facts, Figures, Scores, Values};
use crate::error::{Error, Result};
use crate::shared::id_order::with_order_streamed;

pub use approximate::Approximate;
pub use count::{Closing, Triangles, estimate, run};
pub(crate) use count::{lists_size_max, work};

/// Options of the count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct TrianglesOptions {
    /// Estimate them, which pays where an exact count takes long: with some hundred million edges,
    /// vertices of very high degree, or little memory. A small graph is counted exactly in less
    /// time.
    #[cfg_attr(feature = "clap", arg(long))]
    pub approximate: bool,
    /// The number of hashes, 1 to 1024 [default: 64]: four times the hashes halve the error. With
    /// fewer than 16 no error is reported, and fewer than 8 find too few triangles.
    #[cfg_attr(feature = "clap", arg(long, value_name = "K", requires = "approximate"))]
    pub hashes: Option<u32>,
    /// The seed from which the hashes are drawn.
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", default_value_t))]
    pub seed: u64,
}

impl TrianglesOptions {
    const HASHES: u32 = 64;
    /// The most hashes: a signature takes 2 KiB.
    const HASHES_MAX: u32 = 1024;

    /// Returns the number of hashes, if triangles are estimated.
    fn hashes(&self) -> Option<u32> {
        self.approximate.then(|| self.hashes.unwrap_or(Self::HASHES))
    }
}

/// Figures about all triangles.
#[derive(Debug, Clone, Serialize)]
struct TriangleFigures {
    /// The number of triangles.
    triangles: u64,
}

impl Figures for TriangleFigures {
    fn facts(&self) -> Facts {
        let mut facts = Facts::default();
        facts.add("triangles", answer::count(self.triangles));
        facts
    }
}

/// Figures about an estimate.
#[derive(Debug, Clone, Serialize)]
struct EstimateFigures {
    /// The estimated number of triangles.
    triangles: f64,
    /// The standard error of that number; unknown with few hashes.
    standard_error: Option<f64>,
    /// The number of hashes.
    hashes: u32,
}

impl Figures for EstimateFigures {
    fn facts(&self) -> Facts {
        let mut facts = Facts::default();
        facts.add("triangles", format!("about {}", answer::count(self.triangles.round() as u64)));
        if let Some(error) = self.standard_error {
            facts.add("standard error", standard_error(error, self.triangles));
        }
        facts.add("hashes", answer::count(self.hashes.into()));
        facts
    }
}

/// Writes a standard error, also as a share of the estimate.
fn standard_error(error: f64, estimate: f64) -> String {
    let relative = 100.0 * error / estimate.max(1.0);
    match error {
        // With few triangles, all groups may find the same number, which does not make it exact.
        0.0 => "unknown: all groups of hashes agree".to_owned(),
        ..0.1 => "below 0.1".to_owned(),
        ..10.0 => format!("{error:.1}, {relative:.1} %"),
        _ => format!("{}, {relative:.1} %", answer::count(error.round() as u64)),
    }
}

impl Algorithm for TrianglesOptions {
    const NAME: &'static str = "triangles";
    const DESCRIPTION: Description = Description {
        family: Family::Clustering,
        summary: "Triangles at each vertex and in all, of the simple undirected graph beneath the \
            stored one",
        columns: &[
            Column::VERTEX,
            Column::number(
                "triangles",
                "triangles with this corner; an estimate may have a fraction",
            ),
        ],
        memory: "28 bytes a vertex, 4 more for each thread, rows of both directions, and 4 bytes \
            an edge where the budget has room; estimated: 12 bytes a vertex, and 2 for each hash \
            where the budget has room",
        source: Some(
            "Latapy, Theoretical Computer Science 407, 2008; Hu, Tao, Chung, SIGMOD 2013; \
                estimated: minimum-wise hashes, Becchetti et al., KDD 2008",
        ),
        example: "{}",
    };
    const WEIGHTS: Weights = Weights::Irrelevant;
    const ABILITIES: Abilities<Self> = Abilities::NONE.makes_lists();
    type Files = ();

    fn check(&self) -> Result<()> {
        let detail = match self.hashes {
            Some(_) if !self.approximate => {
                "`hashes` has an effect only with `approximate`".to_owned()
            }
            Some(hashes) if !(1..=Self::HASHES_MAX).contains(&hashes) => {
                format!("`hashes` must be from 1 to {}, but is {hashes}", Self::HASHES_MAX)
            }
            Some(_) | None => return Ok(()),
        };
        Err(Error::BadOptions { algorithm: Self::NAME, detail })
    }

    fn edges(&self) -> Edges {
        Edges::Rows(Directions::Both)
    }

    fn estimate(&self, graph: &Graph, _files: &(), threads: usize) -> Result<Estimate> {
        let needed = match self.hashes() {
            Some(hashes) => approximate::estimate(graph, hashes, threads)?,
            None => estimate(graph, threads)?,
        };
        with_order_streamed(needed, graph)
    }

    fn work(&self, graph: &Graph, _files: &()) -> Result<Work> {
        match self.hashes() {
            Some(hashes) => Ok(Work::of("triangles, approximate", graph, f64::from(hashes))),
            None => work(Self::NAME, graph),
        }
    }

    fn run(&self, graph: &Graph, _files: (), options: &RunOptions<'_>) -> Result<Found> {
        if let Some(hashes) = self.hashes() {
            let found = approximate::run(graph, hashes, self.seed, options)?;
            let Approximate { total: triangles, standard_error, .. } = found;
            let figures = EstimateFigures { triangles, standard_error, hashes };
            let values = Values::of(found.triangles.into(), graph, &options.cancel)?;
            return Ok(Found::new(
                Scores { column: "triangles", values, figures },
                found.statistics,
            ));
        }
        let found = run(graph, Closing::Triangles, options)?;
        // A triangle is counted at each of its three corners.
        let figures = TriangleFigures { triangles: found.closed.iter().sum::<u64>() / 3 };
        let values = Values::of(found.closed.into(), graph, &options.cancel)?;
        Ok(Found::new(Scores { column: "triangles", values, figures }, found.statistics))
    }
}

impl MakesLists for TrianglesOptions {
    fn lists_size(&self, graph: &Graph) -> u64 {
        match self.hashes() {
            Some(hashes) => approximate::signatures_size_max(graph, hashes),
            None => lists_size_max(graph),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_standard_error_is_told_without_false_digits() {
        for (error, estimate, told) in [
            (0.0, 2.0, "unknown: all groups of hashes agree"),
            (0.01, 2.0, "below 0.1"),
            (0.32, 2.0, "0.3, 16.0 %"),
            (1234.4, 1e6, "1,234, 0.1 %"),
        ] {
            assert_eq!(standard_error(error, estimate), told);
        }
    }
}
