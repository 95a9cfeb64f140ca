//! `tegula run astar`.

use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::{Float64Array, UInt64Array};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use clap::Args;
use serde::Serialize;
use tegula_algorithms::astar::{self, AstarConfig, ShortestPath};
use tegula_engine::{Estimate, Graph, RunOptions, RunStatistics};
use tegula_machine::threads::Cancel;

use super::coordinates::Coordinates;
use super::top::Name;
use super::{Answer, Edges, Runnable, Weights, find_vertex, side_table, with_order_streamed};
use crate::errors::Result;
use crate::output::{GroupSize, RowWriter, Table, find_ids, id_type, write_arrays};
use crate::report::{self, Facts, Grid};

/// Options of `tegula run astar`.
#[derive(Debug, Args)]
pub struct AstarArgs {
    /// The vertex to start from, as the edge list names it.
    #[arg(long, value_name = "ID", allow_hyphen_values = true)]
    source: String,
    /// The vertex to reach.
    #[arg(long, value_name = "ID", allow_hyphen_values = true)]
    target: String,
    /// A table with a row for every vertex, its id, x and y, or a DIMACS coordinates file (.co): the search
    /// heads for the target along the straight line. The path does not depend on it. Tables are read as
    /// inputs are: text, also as .gz and .zst, Parquet, `-`. A header may name `vertex`, `x` and `y`, or
    /// `lon` and `lat`.
    #[arg(long, value_name = "FILE")]
    coordinates: Option<PathBuf>,
    /// What a straight line is multiplied by to be no longer than any path [default: the most that will do,
    /// found in a pass over all edges]. More than that is refused when the search comes by an edge that is
    /// too short for it; as long as it does not, the path may be a detour.
    #[arg(long, value_name = "FACTOR", value_parser = scale, requires = "coordinates")]
    heuristic_scale: Option<f64>,
}

/// A number of at least 0.
fn scale(text: &str) -> std::result::Result<f64, String> {
    match text.parse::<f64>() {
        Ok(scale) if scale >= 0.0 && scale.is_finite() => Ok(scale),
        _ => Err("it is no number of at least 0".to_owned()),
    }
}

impl Runnable for AstarArgs {
    const NAME: &'static str = "astar";
    type Answer = Path;
    type Files = Option<Coordinates>;
    const WEIGHTS: Weights = Weights::Used;

    fn edges(&self) -> Edges {
        Edges::Rows
    }

    fn check_input(&self, graph: &Graph, _options: &RunOptions<'_>) -> Result<()> {
        find_vertex(graph, &self.source)?;
        find_vertex(graph, &self.target).map(drop)
    }

    fn read_files(&self, graph: &Graph, options: &RunOptions<'_>) -> Result<Option<Coordinates>> {
        let Some(path) = &self.coordinates else { return Ok(None) };
        Ok(Some(Coordinates::read(path, graph, options)?))
    }

    fn estimate(
        &self,
        graph: &Graph,
        coordinates: &Option<Coordinates>,
        _threads: usize,
    ) -> Result<Estimate> {
        let estimate = astar::estimate(graph, coordinates.is_some())?;
        let reading = coordinates.as_ref().map_or(0, |coordinates| coordinates.reading_size);
        with_order_streamed(side_table::with_reading(estimate, reading), graph)
    }

    fn run(
        &self,
        graph: &Graph,
        coordinates: Option<Coordinates>,
        options: &RunOptions<'_>,
    ) -> Result<(Path, RunStatistics)> {
        let source = find_vertex(graph, &self.source)?;
        let target = find_vertex(graph, &self.target)?;
        let places = coordinates.as_ref().map(Coordinates::as_slice);
        let config = AstarConfig { coordinates: places, heuristic_scale: self.heuristic_scale };
        let found = astar::run(graph, source, target, &config, options)?;
        let statistics = found.statistics.clone();
        Ok((Path { found, memory: options.memory }, statistics))
    }
}

/// The path.
pub struct Path {
    found: ShortestPath,
    /// The budget.
    memory: u64,
}

/// What is said of the path.
#[derive(Debug, Serialize)]
pub struct Summary {
    /// Its length; none where there is no path.
    length: Option<f64>,
    /// Edges on it; none where there is no path.
    edges: Option<u64>,
    /// Vertices whose edges were looked at.
    expanded: u64,
    /// What straight lines were multiplied by; 0 without coordinates.
    heuristic_scale: f64,
    /// The first vertices on it.
    top: Vec<Stop>,
}

/// A vertex on the path.
#[derive(Debug, Serialize)]
pub struct Stop {
    position: u64,
    vertex: Name,
    distance: f64,
}

/// A row for every vertex on the path, from the source to the target.
impl Table for Path {
    fn schema(&self, graph: &Graph) -> SchemaRef {
        Arc::new(Schema::new(vec![
            Field::new("position", DataType::UInt64, false),
            Field::new("vertex", id_type(graph), false),
            Field::new("distance", DataType::Float64, false),
        ]))
    }

    fn row_count(&self, _graph: &Graph) -> u64 {
        self.found.steps.len() as u64
    }

    fn write_rows(&self, graph: &Graph, out: &mut dyn RowWriter, cancel: &Cancel) -> Result<()> {
        let schema = self.schema(graph);
        let mut positions = 0..self.row_count(graph);
        for steps in self.found.steps.chunks(GroupSize::within(self.memory).rows) {
            if !out.wants_more() {
                break;
            }
            let ranks: Vec<u32> = steps.iter().map(|step| step.rank).collect();
            let vertices = find_ids(graph, &ranks, cancel)?;
            let positions: UInt64Array = positions.by_ref().take(steps.len()).map(Some).collect();
            let distances: Float64Array = steps.iter().map(|step| Some(step.distance)).collect();
            write_arrays(&schema, vec![Arc::new(positions), vertices, Arc::new(distances)], out)?;
        }
        Ok(())
    }
}

impl Answer for Path {
    type Summary = Summary;

    fn summary(&self, graph: &Graph, top: usize, _cancel: &Cancel) -> Result<Summary> {
        let ids = graph.original_ids()?;
        let ShortestPath { steps, expanded, heuristic_scale, .. } = &self.found;
        let stops = (0..).zip(steps).take(top).map(|(position, step)| {
            let vertex = ids.by_rank(step.rank as usize)?.into();
            Ok(Stop { position, vertex, distance: step.distance })
        });
        Ok(Summary {
            length: steps.last().map(|step| step.distance),
            edges: (steps.len() as u64).checked_sub(1),
            expanded: *expanded,
            heuristic_scale: *heuristic_scale,
            top: stops.collect::<Result<_>>()?,
        })
    }

    fn facts(summary: &Summary, facts: &mut Facts) {
        match (summary.length, summary.edges) {
            (Some(length), Some(edges)) => {
                let edges = report::counted(edges, "edge", "edges");
                facts.add("path", format!("{edges}, length {}", report::number(length)));
            }
            _ => facts.add("path", "there is none"),
        }
        facts.add("expanded", report::counted(summary.expanded, "vertex", "vertices"));
        if summary.heuristic_scale > 0.0 {
            facts.add("heuristic scale", report::number(summary.heuristic_scale));
        }
    }

    fn list(summary: &Summary) -> Grid {
        let mut grid = Grid::new(&["position", "vertex", "distance"]);
        for Stop { position, vertex, distance } in &summary.top {
            grid.add([position.to_string(), vertex.to_string(), report::number(*distance)]);
        }
        grid
    }
}
