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
use tegula_engine::{EdgeWeight, Estimate, Graph, Outcome, RunOptions, States};

use crate::algorithm::{
    Algorithm, Checkpointing, Column, Description, Edges, Family, Found, Fusing, Iterations, LANES,
    Member, SideFiles, Weights, estimate_lanes, members, run_lanes,
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
    const FUSING: Option<Fusing> = Some(Fusing {
        widths: LANES,
        can_fuse: |_, _, _| true,
        further_passes: |_| 0.0,
        estimate: |all, graph, threads| Ok(estimate_fused(&members(all), graph, threads)),
        run: |all, graph, options| match graph.is_weighted() {
            true => multiply_all::<f32>(&members(all), graph, options),
            false => multiply_all::<()>(&members(all), graph, options),
        },
        open: None,
    });
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
        // The state is the same with and without weights.
        Checkpointing::of::<Spmv<f32>>()
    }

    fn run(&self, graph: &Graph, vector: Vector, options: &RunOptions<'_>) -> Result<Found> {
        match graph.is_weighted() {
            true => multiply(graph, self.program::<f32>(&vector), options),
            false => multiply(graph, self.program::<()>(&vector), options),
        }
    }
}

impl SpmvOptions {
    fn program<W>(&self, vector: &Vector) -> Spmv<W> {
        Spmv::new(self.vector.is_some().then(|| vector.values()), self.iterations)
    }
}

fn multiply<W: EdgeWeight>(
    graph: &Graph,
    program: Spmv<W>,
    options: &RunOptions<'_>,
) -> Result<Found> {
    found(tegula_engine::run_anywhere(graph, program, options)?, graph, options)
}

/// Multiplies all vectors in one run.
fn multiply_all<W: EdgeWeight>(
    members: &[Member<'_, SpmvOptions>],
    graph: &Graph,
    options: &RunOptions<'_>,
) -> Result<Vec<Result<Found>>> {
    let programs = members.iter().map(|(one, vector)| one.program::<W>(vector)).collect();
    let outcomes = run_lanes(graph, programs, options)?;
    Ok(outcomes.into_iter().map(|outcome| found(outcome, graph, options)).collect())
}

fn found<W: EdgeWeight>(
    Outcome { states, statistics, .. }: Outcome<Spmv<W>, States<f32>>,
    graph: &Graph,
    options: &RunOptions<'_>,
) -> Result<Found> {
    Ok(Found::new(product(states, graph, &options.cancel)?, statistics))
}

/// Estimates several multiplications as one run. Their vectors are held to its end.
fn estimate_fused(members: &[Member<'_, SpmvOptions>], graph: &Graph, threads: usize) -> Estimate {
    let estimate = match graph.is_weighted() {
        true => estimate_lanes::<Spmv<f32>>(graph, members.len(), threads),
        false => estimate_lanes::<Spmv<()>>(graph, members.len(), threads),
    };
    let held: u64 = members.iter().map(|(_, vector)| vector.size()).sum();
    let reading = members.iter().map(|(_, vector)| vector.reading_size).max();
    let estimate = Estimate { vertex_bytes: estimate.vertex_bytes + held, ..estimate };
    side_table::with_reading(estimate, reading.unwrap_or(0))
}
