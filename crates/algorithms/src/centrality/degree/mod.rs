//! Degrees: the number of stored edges that enter and leave each vertex.
//!
//! The graph directory stores them, so no edge is read. An undirected edge leaves and enters both
//! of its ends; duplicates count, and a loop counts once each way. Memory: 8 bytes a vertex.

mod answer;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tegula_engine::{Estimate, Graph, RunOptions, RunStatistics, overhead};

use crate::algorithm::{Algorithm, Column, Description, Edges, Family, Found, Weights};
use crate::error::Result;
use crate::shared::id_order::with_order_streamed;

use answer::Degrees;

/// Options of the degrees; there are none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct DegreeOptions {}

impl Algorithm for DegreeOptions {
    const NAME: &'static str = "degree";
    const DESCRIPTION: Description = Description {
        family: Family::Centrality,
        summary: "Degrees: how many edges enter and leave each vertex",
        columns: &[
            Column::VERTEX,
            Column::integer("in_degree", "edges that enter it"),
            Column::integer("out_degree", "edges that leave it"),
        ],
        memory: "8 bytes a vertex",
        source: None,
        example: "{}",
    };
    const WEIGHTS: Weights = Weights::Ignored { instead: "it counts edges" };
    type Files = ();

    fn edges(&self) -> Edges {
        Edges::None
    }

    fn estimate(&self, graph: &Graph, _files: &(), _threads: usize) -> Result<Estimate> {
        let estimate = Estimate {
            vertex_bytes: 8 * graph.vertex_count(),
            stream_bytes_min: 0,
            layout_bytes: 0,
            overhead_bytes: overhead(graph),
            message_bytes: 0,
            on_disk: None,
        };
        with_order_streamed(estimate, graph)
    }

    fn why_in_memory(&self) -> &'static str {
        "degrees are written in the order of the original ids"
    }

    fn run(&self, graph: &Graph, _files: (), options: &RunOptions<'_>) -> Result<Found> {
        options.cancel.check()?;
        graph.short_vertex_count()?;
        let _lease = graph.reader().pool().lease("the degrees", 8 * graph.vertex_count())?;
        let degrees = Degrees { into: graph.in_degrees()?, out: graph.out_degrees()? };
        Ok(Found::new(degrees, RunStatistics::default()))
    }
}
