//! Random walks, as node2vec uses them to learn features of vertices.
//!
//! A walk follows edges at random, each with a probability proportional to its weight. It ends
//! after its length, or at a vertex without an edge onwards. With `p` and `q` a step depends on the
//! one before (Grover, Leskovec, *node2vec: Scalable Feature Learning for Networks*, KDD 2016). For
//! a step from `v` to `x` after a step from `t` to `v`, the weight is multiplied by `1/p` if `x` is
//! `t`, by 1 if there is an edge from `t` to `x`, and by `1/q` otherwise.
//!
//! All walks take a step together, so a row is read once for all walks at its vertex. Several
//! workers read rows in disk order. A step that depends on the one before is drawn by weight alone,
//! and accepted with the probability that corrects for that (Yang, Zhang, Chen, Ma, Bai, Chen,
//! *KnightKing: A Fast Distributed Graph Random Walk Engine*, SOSP 2019). The row of `t` is read
//! only where it decides the acceptance. Every draw follows from the seed, the walk and the step,
//! so walks do not depend on the threads. Walks are kept in memory: 4 bytes for each vertex of a
//! walk, and 144 for each walk; 4 bytes a vertex where the vertices have an order, and the index of
//! the rows.

mod answer;
mod steps;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::num::NonZeroU64;
use tegula_engine::traverse::{Directions, RowsWanted, estimate_rows};
use tegula_engine::{Estimate, Graph, RunOptions, ShortId, VertexId};

use crate::algorithm::{
    Algorithm, Bias, Column, Description, Edges, Family, Found, SideFiles, Weights, Work,
};
use crate::error::Result;
use crate::shared::id_order::with_order_streamed;
use crate::shared::samples::Sample;
use crate::shared::vertex_list::VertexList;
use crate::side_table::{self, TableSource, Tables};

use answer::Walks;
pub use steps::{Trajectories, run};

/// Options of the walks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct RandomWalksOptions {
    /// Number of steps of a walk.
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", default_value_t = Self::LENGTH))]
    pub length: u32,
    /// Number of walks from each vertex.
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", default_value_t = Self::WALKS))]
    pub walks: NonZeroU64,
    /// The greater P is, the less likely is a step back.
    #[cfg_attr(feature = "clap", arg(long, value_name = "P", default_value_t = Self::NEUTRAL))]
    pub p: Bias,
    /// The greater Q is, the less likely is a step to a vertex that has no edge from the vertex
    /// before.
    #[cfg_attr(feature = "clap", arg(long, value_name = "Q", default_value_t = Self::NEUTRAL))]
    pub q: Bias,
    /// Seed of the random walks.
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", default_value_t))]
    pub seed: u64,
    /// The vertices where walks begin: a table with an id in each row [default: every vertex].
    /// Tables are read as inputs are: text, also as .gz and .zst, Parquet, `-`.
    #[cfg_attr(feature = "clap", arg(long, value_name = "FILE"))]
    pub sources: Option<TableSource>,
}

impl RandomWalksOptions {
    const LENGTH: u32 = 80;
    const WALKS: NonZeroU64 = NonZeroU64::new(10).unwrap();
    const NEUTRAL: Bias = Bias::new(1.0);

    /// The vertices where walks begin: those of a file in its order, or all by ascending original
    /// id.
    fn sources(
        &self,
        graph: &Graph,
        files: &VertexList,
        options: &RunOptions<'_>,
    ) -> Result<Vec<ShortId>> {
        match &self.sources {
            Some(_) => Ok(files.vertices.iter().copied().map(VertexId::short).collect()),
            None => Ok(Sample::draw(graph, None, 0, &options.cancel)?.vertices),
        }
    }

    /// Bytes held beside the rows.
    fn size(&self, graph: &Graph, files: &VertexList) -> Result<u64> {
        let sources = match self.sources {
            Some(_) => files.vertices.len() as u64,
            None => graph.vertex_count(),
        };
        let all = Sample::size(graph, None);
        let copied = size_of::<ShortId>() as u64 * sources;
        Ok(all + copied + files.size() + steps::size(graph, sources, self)?)
    }
}

impl Default for RandomWalksOptions {
    fn default() -> RandomWalksOptions {
        RandomWalksOptions {
            length: Self::LENGTH,
            walks: Self::WALKS,
            p: Self::NEUTRAL,
            q: Self::NEUTRAL,
            seed: 0,
            sources: None,
        }
    }
}

impl Algorithm for RandomWalksOptions {
    const NAME: &'static str = "random-walks";
    const DESCRIPTION: Description = Description {
        family: Family::Similarity,
        summary: "Random walks from each vertex, or from some; with p and q those of node2vec",
        columns: &[
            Column::integer("walk", "the number of the walk, from 0"),
            Column::integer("step", "the number of the step, from 0"),
            Column::id("vertex", "the vertex after that step"),
        ],
        memory: "4 bytes for each vertex of a walk, 144 for each walk, and rows",
        source: Some("Grover, Leskovec, node2vec, KDD 2016; Yang et al., KnightKing, SOSP 2019"),
        example: r#"{"length": 10}"#,
    };
    const WEIGHTS: Weights = Weights::Used;
    const TABLES: &'static [&'static str] = &["sources"];
    type Files = VertexList;

    fn edges(&self) -> Edges {
        Edges::Rows(Directions::Forward)
    }

    fn read_files(&self, tables: &mut Tables<'_>) -> Result<VertexList> {
        Ok(VertexList::read_any("sources", self.sources.as_ref(), tables)?)
    }

    fn estimate(&self, graph: &Graph, files: &VertexList, threads: usize) -> Result<Estimate> {
        let workers = threads as u64 * steps::worker_size(graph)?;
        let held = self.size(graph, files)? + workers;
        let estimate = estimate_rows(graph, RowsWanted::forward(graph.is_weighted()), held);
        let estimate = with_order_streamed(estimate, graph)?;
        Ok(side_table::with_reading(estimate, files.reading_size))
    }

    fn why_in_memory(&self) -> &'static str {
        "all walks are kept until they have ended"
    }

    fn work(&self, graph: &Graph, files: &VertexList) -> Result<Work> {
        let sources = match self.sources {
            Some(_) => files.vertices.len() as u64,
            None => graph.vertex_count(),
        };
        // Each step reads the row of a vertex.
        let steps = f64::from(self.length) * self.walks.get() as f64 * sources as f64;
        let vertices = graph.vertex_count().max(1) as f64;
        Ok(Work::of(Self::NAME, graph, steps / vertices))
    }

    fn run(&self, graph: &Graph, files: VertexList, options: &RunOptions<'_>) -> Result<Found> {
        let workers = options.threads as u64 * steps::worker_size(graph)?;
        let held = self.size(graph, &files)? + workers;
        let sources = self.sources(graph, &files, options)?;
        let found = run(graph, &sources, self, held, options)?;
        let statistics = found.statistics.clone();
        Ok(Found::new(Walks::new(found, graph, options)?, statistics))
    }
}
