//! Breadth-first search: how many hops each vertex is from a source, along the edges.
//!
//! An iteration is a level. Each vertex of the frontier sends its own id; a vertex that was not
//! reached before takes the smallest id that it is sent as its parent and the number of the level as
//! its distance. It reads the tiles that hold a source in the frontier and a target that was not
//! reached; or, where the graph has rows and that is quicker, the rows of the frontier; or, in an
//! undirected graph or one with rows by target, the beginnings of those of what was not reached, which is the
//! choice of directions of Beamer, Asanovic, Patterson (SC 2012). It stops when the frontier is empty. Memory:
//! 8 bytes a vertex, up to 8 more with rows, and 4 for parents; 8 in a graph of 2^32 vertices and more.
//!
//! Distances are those of LDBC Graphalytics; parents are the smallest possible ones in the vertex
//! order of the graph directory, so they too are the same on every machine.

mod answer;
mod program;

use serde::{Deserialize, Serialize};
use tegula_engine::{Arrays, Estimate, Graph, RunOptions};

use crate::algorithm::{Algorithm, Checkpointing, Edges, Found, Weights};
use crate::error::Result;
use crate::original_ids::{find_vertex, has_order, with_order_streamed};

use answer::Levels;
pub use program::{Bfs, Parent, Reached};

/// Options of the search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct BfsOptions {
    /// The vertex to start from, as the edge list names it.
    #[cfg_attr(feature = "clap", arg(long, value_name = "ID", allow_hyphen_values = true))]
    pub source: String,
    /// Also find the vertex before each on a shortest path.
    #[serde(default)]
    #[cfg_attr(feature = "clap", arg(long))]
    pub parents: bool,
}

impl BfsOptions {
    /// Whether naming the parents takes the rank of every vertex, in the memory that the arrays of the run had.
    fn names_by_rank(&self, graph: &Graph) -> bool {
        self.parents && has_order(graph)
    }

    fn search<P: Parent>(&self, graph: &Graph, options: &RunOptions<'_>) -> Result<Found> {
        let source = find_vertex(graph, &self.source)?;
        let arrays = if self.names_by_rank(graph) { Arrays::InMemory } else { options.arrays };
        let options = &RunOptions { arrays, ..options.clone() };
        let outcome = tegula_engine::run_anywhere(graph, Bfs::<P>::new(source), options)?;
        let levels = Levels::new(outcome.states, self.parents, graph, options)?;
        Ok(Found::new(levels, outcome.statistics))
    }
}

impl Algorithm for BfsOptions {
    const NAME: &'static str = "bfs";
    const SUMMARY: &'static str = "Breadth-first search: hops from a source to each vertex";
    const WEIGHTS: Weights = Weights::Irrelevant;
    type Files = ();

    fn edges(&self) -> Edges {
        Edges::Either {
            rows_size: match self.parents {
                true => tegula_engine::rows_size::<Bfs>,
                false => tegula_engine::rows_size::<Bfs<()>>,
            },
        }
    }

    fn check_input(&self, graph: &Graph) -> Result<()> {
        find_vertex(graph, &self.source).map(drop)
    }

    fn estimate(&self, graph: &Graph, _files: &(), threads: usize) -> Result<Estimate> {
        let estimate = match (self.parents, graph.has_short_ids()) {
            (false, _) => tegula_engine::estimate_anywhere::<Bfs<()>>,
            (true, true) => tegula_engine::estimate_anywhere::<Bfs>,
            (true, false) => tegula_engine::estimate_anywhere::<Bfs<u64>>,
        };
        let estimate = estimate(graph, threads);
        match self.names_by_rank(graph) {
            true => with_order_streamed(Estimate { on_disk: None, ..estimate }, graph),
            false => Ok(estimate),
        }
    }

    fn checkpointing(&self) -> Checkpointing {
        match self.parents {
            true => Checkpointing::of::<Bfs>(),
            false => Checkpointing::of::<Bfs<()>>(),
        }
    }

    fn run(&self, graph: &Graph, _files: (), options: &RunOptions<'_>) -> Result<Found> {
        match (self.parents, graph.has_short_ids()) {
            (false, _) => self.search::<()>(graph, options),
            (true, true) => self.search::<u32>(graph, options),
            (true, false) => self.search::<u64>(graph, options),
        }
    }
}
