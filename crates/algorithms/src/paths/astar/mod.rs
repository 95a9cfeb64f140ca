//! A shortest path between two vertices.
//!
//! A* (Hart, Nilsson, Raphael, *IEEE Transactions on Systems Science and Cybernetics* 4, 1968)
//! visits vertices by ascending `distance so far + heuristic`. The heuristic is at most the
//! distance left to the target. Where vertices have coordinates it is the length of the straight
//! line to the target, times a scale. Unless the scale is given, it is the largest with which no
//! edge is shorter than its straight line, found in one pass over all rows. Without coordinates the
//! heuristic is 0, and this is Dijkstra's algorithm (*Numerische Mathematik* 1959). The search
//! reads the rows of the vertices that it visits, reads ahead those at the top of its heap, and
//! stops when no waiting vertex can be part of a shortest path.
//!
//! Distances are sums of `f64` from the source onwards, the same bits as those of
//! [`sssp`](crate::paths::sssp). Rounding may make the heuristic slightly too large. So the search
//! goes on beyond the distance of the target by the most that rounding may add up to, and visits a
//! vertex again when its distance becomes smaller.
//!
//! Of several shortest paths it finds one that does not depend on the coordinates, the vertex order
//! or the order of the search. The label of a vertex is (distance, edges since the distance last
//! grew). A label is never greater for a shorter path, and grows with every edge. Among the edges
//! that give a vertex its smallest label, the parent with the smallest original id wins. So an edge
//! that adds nothing to the distance is taken only where there is no other way, and as few of them
//! in a row as possible.
//!
//! Memory: 53 bytes a vertex, 16 more with coordinates, 4 more where the vertices have an order,
//! and the index of the rows. The search uses one thread, the pass for the scale all.

mod answer;
mod coordinates;
mod search;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tegula_engine::traverse::Directions;
use tegula_engine::{Estimate, Graph, RunOptions};

use crate::algorithm::{
    Algorithm, Column, Description, Edges, Factor, Family, Found, Iterations, Weights, Work,
};
use crate::error::{Error, Result, Setting, SettingValue};
use crate::shared::find_vertex::find_vertex;
use crate::shared::id_order::with_order_streamed;
use crate::side_table::{self, TableSource, Tables};

use answer::Path;
use coordinates::Coordinates;
pub use search::{AstarConfig, ShortestPath, Step, estimate, run};

/// Options of the search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct AstarOptions {
    /// The vertex to start from, as the edge list names it.
    #[cfg_attr(feature = "clap", arg(long, value_name = "ID", allow_hyphen_values = true))]
    #[schemars(extend("format" = "vertex"))]
    pub source: String,
    /// The vertex to reach.
    #[cfg_attr(feature = "clap", arg(long, value_name = "ID", allow_hyphen_values = true))]
    #[schemars(extend("format" = "vertex"))]
    pub target: String,
    /// A table with a row for every vertex, its id, x and y, or a DIMACS coordinates file (.co).
    /// The search then heads for the target along the straight line; the path does not depend on
    /// it. Tables are read as inputs are: text, also as .gz and .zst, Parquet, `-`. A header may
    /// name `vertex`, `x` and `y`, or `lon` and `lat`.
    #[cfg_attr(feature = "clap", arg(long, value_name = "FILE"))]
    pub coordinates: Option<TableSource>,
    /// The factor that makes a straight line no longer than any path [default: the greatest such
    /// factor, found in a pass over all edges]. A greater factor is an error when the search meets
    /// an edge that is too short for it; if it meets none, the path may be a detour.
    #[cfg_attr(feature = "clap", arg(long, value_name = "FACTOR", requires = "coordinates"))]
    pub heuristic_scale: Option<Factor>,
}

impl Algorithm for AstarOptions {
    const NAME: &'static str = "astar";
    const DESCRIPTION: Description = Description {
        family: Family::Paths,
        summary: "A shortest path between two vertices. Without weights every edge counts 1",
        columns: &[
            Column::integer("position", "the place on the path, from 0"),
            Column::VERTEX,
            Column::number("distance", "the sum of weights from the source"),
        ],
        memory: "53 to 73 bytes a vertex, and rows",
        source: Some(
            "Hart, Nilsson, Raphael, IEEE Transactions on Systems Science and Cybernetics 4, 1968",
        ),
        example: r#"{"source": "1", "target": "2"}"#,
    };
    const WEIGHTS: Weights = Weights::Used;
    const TABLES: &'static [&'static str] = &["coordinates"];
    type Files = Option<Coordinates>;

    fn check(&self) -> Result<()> {
        if self.heuristic_scale.is_some() && self.coordinates.is_none() {
            let of = Setting { option: "coordinates", value: SettingValue::Any };
            return Err(Error::IdleOption { option: "heuristic_scale", of });
        }
        Ok(())
    }

    fn edges(&self) -> Edges {
        Edges::Rows(Directions::Forward)
    }

    fn check_input(&self, graph: &Graph) -> Result<()> {
        find_vertex(graph, &self.source)?;
        find_vertex(graph, &self.target).map(drop)
    }

    fn read_files(&self, tables: &mut Tables<'_>) -> Result<Option<Coordinates>> {
        let Some(path) = &self.coordinates else { return Ok(None) };
        Ok(Some(Coordinates::read("coordinates", path, tables)?))
    }

    fn estimate(
        &self,
        graph: &Graph,
        coordinates: &Option<Coordinates>,
        _threads: usize,
    ) -> Result<Estimate> {
        let estimate = estimate(graph, coordinates.is_some())?;
        let reading = coordinates.as_ref().map_or(0, |coordinates| coordinates.reading_size);
        with_order_streamed(side_table::with_reading(estimate, reading), graph)
    }

    fn why_in_memory(&self) -> &'static str {
        "distances and parents are looked up in any order"
    }

    fn work(&self, graph: &Graph, _files: &Self::Files) -> Result<Work> {
        Ok(Work::of_rounds(Self::NAME, graph, Iterations::Unknown).by_one_thread())
    }

    fn run(
        &self,
        graph: &Graph,
        coordinates: Option<Coordinates>,
        options: &RunOptions<'_>,
    ) -> Result<Found> {
        let source = find_vertex(graph, &self.source)?;
        let target = find_vertex(graph, &self.target)?;
        let places = coordinates.as_ref().map(Coordinates::as_slice);
        let heuristic_scale = self.heuristic_scale.map(Factor::get);
        let config = AstarConfig { coordinates: places, heuristic_scale };
        let found = run(graph, source, target, &config, options)?;
        let statistics = found.statistics.clone();
        Ok(Found::new(Path { found, memory: options.memory }, statistics))
    }
}
