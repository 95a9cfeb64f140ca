//! Triangles: three vertices each of which is a neighbour of both others.
//!
//! They are those of the simple undirected graph beneath the stored one: the direction of edges, loops, and edges
//! beyond the first between two vertices do not count.
//!
//! Vertices are put in order by ascending degree, and each keeps its neighbours that come later: in a graph of M
//! edges `sqrt(2 M)` of them at the most. A triangle is found once, at the first of its vertices: another one is the
//! neighbour, the third a later neighbour of both (Schank, Wagner, *Finding, Counting and Listing All Triangles in
//! Large Graphs*, WEA 2005; Latapy, Theoretical Computer Science 407, 2008). The later neighbours of the first are
//! marked, and for each neighbour whose list is passed over every mark is counted where it lies, so that the inner
//! loop has no branch.
//!
//! Lists that do not fit the budget are taken in ranges of vertices, as many at a time as fit; for each range all rows
//! are passed over twice, to fill the lists and to look for what closes a triangle with them (Hu, Tao, Chung, *Massive
//! Graph Triangulation*, SIGMOD 2013): that moves the square of the edges over memory at the most, as the best
//! possible way does. Memory: 28 bytes a vertex and 4 for each thread, the index of the rows, and 4 bytes an
//! undirected edge where there are as many, a sixteenth of that at the least.

mod count;
mod order;

use serde::{Deserialize, Serialize};
use tegula_engine::traverse::Directions;
use tegula_engine::{Estimate, Graph, RunOptions};

use crate::algorithm::{Algorithm, Edges, Found, Weights};
use crate::answer::{self, Facts, Figures, Scores, Values};
use crate::error::Result;
use crate::original_ids::with_order_streamed;

pub use count::{Closing, Triangles, estimate, run};

/// Options of the count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct TrianglesOptions {}

/// What is said of all triangles.
#[derive(Debug, Clone, Serialize)]
struct TriangleFigures {
    /// How many there are.
    triangles: u64,
}

impl Figures for TriangleFigures {
    fn facts(&self) -> Facts {
        let mut facts = Facts::default();
        facts.add("triangles", answer::count(self.triangles));
        facts
    }
}

impl Algorithm for TrianglesOptions {
    const NAME: &'static str = "triangles";
    const SUMMARY: &'static str = "Triangles at each vertex and in all, of the simple undirected graph beneath the \
                                   stored one";
    const WEIGHTS: Weights = Weights::Irrelevant;
    type Files = ();

    fn edges(&self) -> Edges {
        Edges::Rows(Directions::Both)
    }

    fn estimate(&self, graph: &Graph, _files: &(), threads: usize) -> Result<Estimate> {
        with_order_streamed(estimate(graph, threads)?, graph)
    }

    fn run(&self, graph: &Graph, _files: (), options: &RunOptions<'_>) -> Result<Found> {
        let found = run(graph, Closing::Triangles, options)?;
        let figures = TriangleFigures { triangles: found.closed.iter().sum::<u64>() / 3 };
        let values = Values::of(found.closed.into(), graph, &options.cancel)?;
        Ok(Found::new(Scores { column: "triangles", values, figures }, found.statistics))
    }
}
