//! What the centralities share that follow from the distances to each vertex.

use std::num::NonZeroU64;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tegula_engine::traverse::{self, RowsWanted, estimate_rows};
use tegula_engine::{Estimate, Graph, RunOptions, ShortId};
use tegula_store::rows::Direction;

use crate::algorithm::{Found, Work};
use crate::answer::{Scores, Values};
use crate::error::Result;
use crate::shared::id_order::with_order_streamed;
use crate::shared::samples::{self, Sample, Sources};
use crate::shared::searches::{self, Searches};

/// Options of a centrality by distances.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct DistanceOptions {
    /// Estimate from K vertices drawn at random [default: exact, from all].
    #[cfg_attr(feature = "clap", arg(long, value_name = "K"))]
    pub samples: Option<NonZeroU64>,
    /// Seed of the random samples.
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", default_value_t))]
    pub seed: u64,
}

impl DistanceOptions {
    /// Estimates the memory that a run needs, which keeps a `D` for each vertex.
    pub(super) fn estimate<D>(&self, graph: &Graph) -> Result<Estimate> {
        let held = self.size::<D>(graph);
        with_order_streamed(estimate_rows(graph, RowsWanted::forward(false), held), graph)
    }

    /// Bytes held beside the rows.
    fn size<D>(&self, graph: &Graph) -> u64 {
        let distances = size_of::<D>() as u64 * graph.vertex_count();
        Sample::size(graph, self.samples) + Searches::size(graph.vertex_count()) + distances
    }

    /// Returns the work of a run, as `kind`.
    pub(super) fn work(&self, kind: &'static str, graph: &Graph) -> Work {
        searches::work(kind, graph, samples::count(graph, self.samples))
    }

    /// Searches from the sampled vertices. When searches reach another vertex, `add` gets the `D`
    /// of that vertex, its distance, and a bit for each of these searches. `centrality` gets the
    /// `D` of a vertex in the end, and the number of other vertices that were searched from.
    pub(super) fn run<D: Copy + Default + Send>(
        &self,
        graph: &Graph,
        options: &RunOptions<'_>,
        mut add: impl FnMut(&mut D, u32, u64) + Send,
        centrality: impl Fn(D, usize) -> f64,
    ) -> Result<Found> {
        let sample = Sample::draw(graph, self.samples, self.seed, &options.cancel)?;
        let mut distances = vec![D::default(); graph.vertex_count() as usize];
        let wanted = RowsWanted::forward(false);
        let statistics = traverse::run(graph, wanted, self.size::<D>(graph), options, |job| {
            let searches = Searches::new(job, graph.short_vertex_count()?, &[Direction::Forward]);
            searches.run_all(&sample.vertices, options, |level, vertex, searches| {
                if level > 0 {
                    add(&mut distances[vertex.index()], level, searches);
                }
            })
        })?;
        let distances = distances.into_iter().zip((0..).map(ShortId));
        let centralities: Vec<f64> = distances
            .map(|(distances, vertex)| centrality(distances, sample.others(vertex)))
            .collect();
        let figures = Sources::of(graph, self.samples);
        let values = Values::of(centralities.into(), graph, &options.cancel)?;
        Ok(Found::new(Scores { column: "centrality", values, figures }, statistics))
    }
}
