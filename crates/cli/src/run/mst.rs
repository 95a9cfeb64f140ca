//! `tegula run mst`.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use arrow_array::Float32Array;
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use clap::Args;
use serde::Serialize;
use tegula_algorithms::mst::{self, ForestEdge};
use tegula_engine::{Estimate, Graph, RunOptions, RunStatistics};
use tegula_machine::threads::Cancel;

use super::top::{Name, TotalOrder};
use super::{Answer, CHUNK, Edges, Runnable, Weights, with_order_streamed};
use crate::errors::Result;
use crate::output::{GroupSize, RowWriter, Table, find_ids, id_type, write_arrays};
use crate::report::{self, Facts, Grid};

/// Options of `tegula run mst`.
#[derive(Debug, Args)]
pub struct MstArgs {}

impl Runnable for MstArgs {
    const NAME: &'static str = "mst";
    type Answer = Forest;
    type Files = ();
    const WEIGHTS: Weights = Weights::Used;

    fn edges(&self) -> Edges {
        Edges::Rows
    }

    fn estimate(&self, graph: &Graph, _files: &(), _threads: usize) -> Result<Estimate> {
        with_order_streamed(mst::estimate(graph)?, graph)
    }

    fn check_input(&self, graph: &Graph, _options: &RunOptions<'_>) -> Result<()> {
        Ok(mst::check(graph)?)
    }

    fn run(
        &self,
        graph: &Graph,
        _files: (),
        options: &RunOptions<'_>,
    ) -> Result<(Forest, RunStatistics)> {
        let found = mst::run(graph, options)?;
        let (weight, statistics) = (found.weight(), found.statistics);
        Ok((Forest { edges: found.edges, weight, memory: options.memory }, statistics))
    }
}

/// The forest.
pub struct Forest {
    edges: Vec<ForestEdge>,
    weight: f64,
    /// The budget.
    memory: u64,
}

/// What is said of the forest.
#[derive(Debug, Serialize)]
pub struct Summary {
    /// Edges in it.
    edges: u64,
    /// Its trees; a vertex without neighbours is one.
    trees: u64,
    /// The sum of all weights.
    weight: f64,
    /// The heaviest edges.
    top: Vec<Edge>,
}

/// An edge.
#[derive(Debug, Serialize)]
pub struct Edge {
    source: Name,
    target: Name,
    weight: f32,
}

/// A row for every edge, ascending by its ends.
impl Table for Forest {
    fn schema(&self, graph: &Graph) -> SchemaRef {
        let id = id_type(graph);
        Arc::new(Schema::new(vec![
            Field::new("source", id.clone(), false),
            Field::new("target", id, false),
            Field::new("weight", DataType::Float32, false),
        ]))
    }

    fn row_count(&self, _graph: &Graph) -> u64 {
        self.edges.len() as u64
    }

    fn write_rows(&self, graph: &Graph, out: &mut dyn RowWriter, cancel: &Cancel) -> Result<()> {
        let schema = self.schema(graph);
        // Two columns of ids are looked up.
        for edges in self.edges.chunks(GroupSize::within(self.memory).rows / 2) {
            if !out.wants_more() {
                break;
            }
            let sources: Vec<u32> = edges.iter().map(|edge| edge.source).collect();
            let targets: Vec<u32> = edges.iter().map(|edge| edge.target).collect();
            let weights: Float32Array = edges.iter().map(|edge| Some(edge.weight)).collect();
            let sources = find_ids(graph, &sources, cancel)?;
            let targets = find_ids(graph, &targets, cancel)?;
            write_arrays(&schema, vec![sources, targets, Arc::new(weights)], out)?;
        }
        Ok(())
    }
}

impl Answer for Forest {
    type Summary = Summary;

    fn summary(&self, graph: &Graph, top: usize, cancel: &Cancel) -> Result<Summary> {
        // The heaviest so far, the least of them on top: of equal ones the first by its ends stays.
        let mut heaviest = BinaryHeap::new();
        for chunk in self.edges.chunks(CHUNK) {
            cancel.check()?;
            for &ForestEdge { source, target, weight } in chunk {
                let key = (Reverse(TotalOrder(weight)), source, target);
                if heaviest.len() == top && heaviest.peek().is_none_or(|least| key >= *least) {
                    continue;
                }
                heaviest.push(key);
                if heaviest.len() > top {
                    heaviest.pop();
                }
            }
        }
        let ids = graph.original_ids()?;
        let name =
            |rank: u32| Ok::<Name, tegula_machine::Error>(ids.by_rank(rank as usize)?.into());
        let edge = |(Reverse(TotalOrder(weight)), source, target)| -> Result<Edge> {
            Ok(Edge { source: name(source)?, target: name(target)?, weight })
        };
        let edges = self.edges.len() as u64;
        Ok(Summary {
            edges,
            trees: u64::from(graph.vertex_count()).saturating_sub(edges),
            weight: self.weight,
            top: heaviest.into_sorted_vec().into_iter().map(edge).collect::<Result<_>>()?,
        })
    }

    fn facts(summary: &Summary, facts: &mut Facts) {
        facts.add("forest", report::counted(summary.edges, "edge", "edges"));
        facts.add("trees", report::count(summary.trees));
        facts.add("weight", report::number(summary.weight));
    }

    fn list(summary: &Summary) -> Grid {
        let mut grid = Grid::new(&["source", "target", "weight"]);
        for Edge { source, target, weight } in &summary.top {
            grid.add([source.to_string(), target.to_string(), weight.to_string()]);
        }
        grid
    }
}
