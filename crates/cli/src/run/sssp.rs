//! `tegula run sssp`.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array};
use arrow_schema::{DataType, Field};
use clap::{Args, ValueEnum};
use serde::Serialize;
use tegula_algorithms::sssp::{self, Method, Sssp, SsspConfig};
use tegula_engine::{Estimate, Graph, RunOptions, RunStatistics};
use tegula_machine::threads::Cancel;
use tegula_store::VertexId;

use super::top::{Name, greatest};
use super::{Answer, CHUNK, Edges, Runnable, Weights, find_vertex};
use crate::errors::{Failure, Result};
use crate::output::Columns;
use crate::report::{self, Facts, Grid};

/// Options of `tegula run sssp`.
#[derive(Debug, Args)]
pub struct SsspArgs {
    /// The vertex to start from, as the edge list names it.
    #[arg(long, value_name = "ID", allow_hyphen_values = true)]
    source: String,
    /// How distances are found. They do not depend on it.
    #[arg(long, value_enum, default_value_t = How::DeltaStepping)]
    method: How,
    /// Width of the buckets of delta-stepping, of which the nearest is worked on first [default: from the
    /// weights]. Distances do not depend on it.
    #[arg(long, value_name = "WIDTH", value_parser = width)]
    delta: Option<f64>,
}

/// How distances are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum How {
    /// By buckets, all vertices of one together, with all threads.
    DeltaStepping,
    /// Vertex by vertex along rows, each once, with one thread.
    Dijkstra,
}

/// A number above 0.
fn width(text: &str) -> std::result::Result<f64, String> {
    match text.parse::<f64>() {
        Ok(width) if width > 0.0 && width.is_finite() => Ok(width),
        _ => Err("it is no number above 0".to_owned()),
    }
}

impl Runnable for SsspArgs {
    const NAME: &'static str = "sssp";
    type Answer = Distances;
    type Files = ();
    const WEIGHTS: Weights = Weights::Used;

    fn check(&self) -> Result<()> {
        if self.method == How::Dijkstra && self.delta.is_some() {
            return Err(Failure::usage("--delta is for --method delta-stepping"));
        }
        Ok(())
    }

    fn edges(&self) -> Edges {
        match self.method {
            How::DeltaStepping => Edges::Either { rows_size: tegula_engine::rows_size::<Sssp> },
            How::Dijkstra => Edges::Rows,
        }
    }

    fn check_input(&self, graph: &Graph, _options: &RunOptions<'_>) -> Result<()> {
        find_vertex(graph, &self.source).map(drop)
    }

    fn estimate(&self, graph: &Graph, _files: &(), threads: usize) -> Result<Estimate> {
        if self.method == How::Dijkstra {
            return Ok(sssp::estimate_dijkstra(graph));
        }
        Ok(tegula_engine::estimate::<Sssp>(graph, threads))
    }

    fn run(
        &self,
        graph: &Graph,
        _files: (),
        options: &RunOptions<'_>,
    ) -> Result<(Distances, RunStatistics)> {
        let source = find_vertex(graph, &self.source)?;
        let method = match self.method {
            How::DeltaStepping => Method::DeltaStepping,
            How::Dijkstra => Method::Dijkstra,
        };
        let config = SsspConfig { method, delta: self.delta };
        let found = sssp::run(graph, source, config, options)?;
        Ok((Distances { distances: found.distances, delta: found.delta }, found.statistics))
    }
}

/// What the search found.
pub struct Distances {
    /// Infinite where there is no path.
    distances: Vec<f64>,
    delta: Option<f64>,
}

impl Distances {
    fn of(&self, vertex: VertexId) -> Option<f64> {
        Some(self.distances[vertex.index()]).filter(|distance| distance.is_finite())
    }
}

/// What is said of all distances.
#[derive(Debug, Serialize)]
pub struct Summary {
    /// Vertices that a path leads to, the source included.
    reached: u64,
    /// The greatest distance.
    distance_max: f64,
    /// The width of the buckets, where there were any.
    delta: Option<f64>,
    /// The vertices farthest away.
    farthest: Vec<Farthest>,
}

/// A vertex and its distance.
#[derive(Debug, Serialize)]
pub struct Farthest {
    vertex: Name,
    distance: f64,
}

impl Columns for Distances {
    fn fields(&self, _id: DataType) -> Vec<Field> {
        vec![Field::new("distance", DataType::Float64, true)]
    }

    fn arrays(
        &self,
        _graph: &Graph,
        vertices: &[VertexId],
        _cancel: &Cancel,
    ) -> Result<Vec<ArrayRef>> {
        let distances: Float64Array = vertices.iter().map(|&vertex| self.of(vertex)).collect();
        Ok(vec![Arc::new(distances)])
    }
}

impl Answer for Distances {
    type Summary = Summary;

    fn summary(&self, graph: &Graph, top: usize, cancel: &Cancel) -> Result<Summary> {
        let (mut reached, mut distance_max) = (0, 0f64);
        for chunk in self.distances.chunks(CHUNK) {
            cancel.check()?;
            for &distance in chunk.iter().filter(|distance| distance.is_finite()) {
                reached += 1;
                distance_max = distance_max.max(distance);
            }
        }
        // Floats of at least 0 are in the order of their bits.
        let key = |vertex: VertexId| self.of(vertex).map(f64::to_bits);
        let farthest = greatest(graph, top, key, cancel)?;
        let farthest = farthest
            .into_iter()
            .map(|(vertex, bits)| Farthest { vertex, distance: f64::from_bits(bits) });
        let farthest = farthest.collect();
        Ok(Summary { reached, distance_max, delta: self.delta, farthest })
    }

    fn facts(summary: &Summary, facts: &mut Facts) {
        facts.add("reached", report::counted(summary.reached, "vertex", "vertices"));
        facts.add("greatest distance", report::number(summary.distance_max));
    }

    fn list(summary: &Summary) -> Grid {
        let mut grid = Grid::new(&["vertex", "distance"]);
        for Farthest { vertex, distance } in &summary.farthest {
            grid.add([vertex.to_string(), report::number(*distance)]);
        }
        grid
    }
}
