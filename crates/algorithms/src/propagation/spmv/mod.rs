//! Multiplication of the transposed adjacency matrix by a vector: `y = A'x`.
//!
//! ```text
//!  y(v) = sum over edges u -> v of weight(u, v) * x(u)
//! ```
//!
//! Without weights every edge counts 1. Each further iteration multiplies the product of the one
//! before. With a vector of ones and no weights, `k` iterations give the number of walks of `k`
//! edges that end at a vertex. Every iteration reads every edge once. It is the kernel by which
//! systems are compared (MOSAIC: Maass et al., EuroSys 2017, section 6).
//!
//! Values and messages are `f32`; sums are `f64`, except short ones (`tegula_engine`,
//! `accumulators`). If nothing is negative, each of `k` iterations adds a relative error of about
//! 1e-7. A value beyond the range of `f32` becomes infinite, and there is a warning. Memory: 12
//! bytes a vertex, 16 with a given vector.

mod answer;
mod program;
mod vector;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tegula_engine::{EdgeWeight, Estimate, Graph, RunOptions};

use crate::algorithm::{
    Algorithm, Checkpointing, Column, Description, Edges, Family, Found, Iterations, SideFiles,
    Weights,
};
use crate::error::Result;
use crate::side_table::{self, TableSource, Tables};

use answer::product;
pub use program::Spmv;
use vector::Vector;

/// Options of a multiplication.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct SpmvOptions {
    /// The vector, as a table: each row has an id and a value [default: all values are 1]. Vertices
    /// that are not in the table have the value 0. Several values of one vertex are added up.
    #[cfg_attr(feature = "clap", arg(long, value_name = "FILE"))]
    pub vector: Option<TableSource>,
    /// The number of multiplications.
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", default_value_t = Self::ITERATIONS))]
    pub iterations: u64,
}

impl SpmvOptions {
    const ITERATIONS: u64 = 1;
}

impl Default for SpmvOptions {
    fn default() -> SpmvOptions {
        SpmvOptions { vector: None, iterations: Self::ITERATIONS }
    }
}

impl Algorithm for SpmvOptions {
    const NAME: &'static str = "spmv";
    const DESCRIPTION: Description = Description {
        family: Family::Propagation,
        summary: "Sparse matrix-vector product: sums of values times weights along edges. Without \
            weights every edge counts 1",
        columns: &[Column::VERTEX, Column::number("value", "the element of the product")],
        memory: "12 bytes a vertex; 16 with a vector",
        source: Some("the kernel of Maass et al., MOSAIC, EuroSys 2017, section 6"),
        example: "{}",
    };
    const WEIGHTS: Weights = Weights::Used;
    const TABLES: &'static [&'static str] = &["vector"];
    type Files = Vector;

    fn edges(&self) -> Edges {
        Edges::Tiles { why: "spmv adds up all edges in a fixed order", instead: None }
    }

    fn iterations(&self) -> Iterations {
        Iterations::Exactly(self.iterations)
    }

    fn read_files(&self, tables: &mut Tables<'_>) -> Result<Vector> {
        match &self.vector {
            Some(path) => Ok(Vector::read("vector", path, tables)?),
            None => Ok(Vector::default()),
        }
    }

    fn estimate(&self, graph: &Graph, vector: &Vector, threads: usize) -> Result<Estimate> {
        let estimate = match graph.is_weighted() {
            true => tegula_engine::estimate_anywhere::<Spmv<f32>>(graph, threads),
            false => tegula_engine::estimate_anywhere::<Spmv<()>>(graph, threads),
        };
        if self.vector.is_none() {
            return Ok(estimate);
        }
        let values = vector.size();
        let vertex_bytes = estimate.vertex_bytes + values;
        let on_disk = estimate.on_disk.map(|arrays| arrays.with_bytes(values));
        let estimate = Estimate { vertex_bytes, on_disk, ..estimate };
        Ok(side_table::with_reading(estimate, vector.reading_size))
    }

    fn checkpointing(&self) -> Checkpointing {
        Checkpointing::of::<Spmv<f32>>()
    }

    fn run(&self, graph: &Graph, vector: Vector, options: &RunOptions<'_>) -> Result<Found> {
        let vector = self.vector.is_some().then(|| vector.into_values());
        match graph.is_weighted() {
            true => multiply::<f32>(graph, vector, self.iterations, options),
            false => multiply::<()>(graph, vector, self.iterations, options),
        }
    }
}

fn multiply<W: EdgeWeight>(
    graph: &Graph,
    vector: Option<Vec<f32>>,
    iterations: u64,
    options: &RunOptions<'_>,
) -> Result<Found> {
    let outcome = tegula_engine::run_anywhere(graph, Spmv::<W>::new(vector, iterations), options)?;
    let product = product(outcome.states, graph, &options.cancel)?;
    Ok(Found::new(product, outcome.statistics))
}
