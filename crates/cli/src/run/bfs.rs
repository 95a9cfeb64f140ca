//! `tegula run bfs`.

use std::sync::Arc;

use arrow_array::{ArrayRef, UInt32Array};
use arrow_schema::{DataType, Field};
use clap::Args;
use serde::Serialize;
use tegula_algorithms::bfs::{Bfs, Reached};
use tegula_engine::{Estimate, Graph, RunOptions, RunStatistics};
use tegula_machine::threads::Cancel;
use tegula_store::VertexId;

use super::{Answer, CHUNK, Edges, Runnable, Weights, find_vertex, with_order_streamed};
use crate::errors::Result;
use crate::output::{Columns, GroupSize, NO_RANK, find_ids};
use crate::report::{self, Facts, Grid};

/// Options of `tegula run bfs`.
#[derive(Debug, Args)]
pub struct BfsArgs {
    /// The vertex to start from, as the edge list names it.
    #[arg(long, value_name = "ID", allow_hyphen_values = true)]
    source: String,
    /// Also find the vertex before each on a shortest path.
    #[arg(long)]
    parents: bool,
}

impl Runnable for BfsArgs {
    const NAME: &'static str = "bfs";
    type Answer = Levels;
    type Files = ();
    const WEIGHTS: Weights = Weights::Irrelevant;

    fn edges(&self) -> Edges {
        Edges::Either { rows_size: tegula_engine::rows_size::<Bfs> }
    }

    fn check_input(&self, graph: &Graph, _options: &RunOptions<'_>) -> Result<()> {
        find_vertex(graph, &self.source).map(drop)
    }

    fn estimate(&self, graph: &Graph, _files: &(), threads: usize) -> Result<Estimate> {
        let estimate = tegula_engine::estimate::<Bfs>(graph, threads);
        if self.parents { with_order_streamed(estimate, graph) } else { Ok(estimate) }
    }

    fn run(
        &self,
        graph: &Graph,
        _files: (),
        options: &RunOptions<'_>,
    ) -> Result<(Levels, RunStatistics)> {
        let source = find_vertex(graph, &self.source)?;
        let outcome = Bfs::run(graph, source, options)?;
        // Parents need memory of their own, and no tiles.
        graph.reader().pool().trim();
        let parents = self.parents.then(|| Parents::new(graph, options)).transpose()?;
        Ok((Levels { reached: outcome.states, parents }, outcome.statistics))
    }
}

/// What the search found.
pub struct Levels {
    reached: Vec<Reached>,
    parents: Option<Parents>,
}

/// What it takes to name the parents.
struct Parents {
    /// The rank of each dense id among the original ones; none where they are the same.
    rank_of: Option<Vec<u32>>,
    group_size: GroupSize,
}

impl Parents {
    /// 4 bytes a vertex, which the run has given back.
    fn new(graph: &Graph, options: &RunOptions<'_>) -> Result<Parents> {
        let group_size = GroupSize::within(options.memory);
        let rank_of = graph.original_ids()?.ranks(&options.cancel)?;
        Ok(Parents { rank_of, group_size })
    }

    fn rank(&self, parent: Option<VertexId>) -> u32 {
        match (parent, &self.rank_of) {
            (None, _) => NO_RANK,
            (Some(parent), None) => parent.0,
            (Some(parent), Some(rank_of)) => rank_of[parent.index()],
        }
    }
}

/// What is said of the whole search.
#[derive(Debug, Serialize)]
pub struct Summary {
    /// Vertices that there is a path to, the source included.
    reached: u64,
    /// The greatest distance.
    depth: u32,
    /// How many vertices each of the first levels has.
    levels: Vec<u64>,
}

impl Columns for Levels {
    fn fields(&self, id: DataType) -> Vec<Field> {
        let mut fields = vec![Field::new("distance", DataType::UInt32, true)];
        fields.extend(self.parents.as_ref().map(|_| Field::new("parent", id, true)));
        fields
    }

    fn group_size(&self) -> GroupSize {
        self.parents.as_ref().map_or(GroupSize::LEAST, |parents| parents.group_size)
    }

    fn arrays(
        &self,
        graph: &Graph,
        vertices: &[VertexId],
        cancel: &Cancel,
    ) -> Result<Vec<ArrayRef>> {
        let reached = || vertices.iter().map(|vertex| &self.reached[vertex.index()]);
        let distances: UInt32Array = reached().map(Reached::distance).collect();
        let mut arrays: Vec<ArrayRef> = vec![Arc::new(distances)];
        if let Some(parents) = &self.parents {
            let ranks: Vec<u32> = reached().map(|reached| parents.rank(reached.parent())).collect();
            arrays.push(find_ids(graph, &ranks, cancel)?);
        }
        Ok(arrays)
    }
}

impl Answer for Levels {
    type Summary = Summary;

    fn summary(&self, _graph: &Graph, top: usize, cancel: &Cancel) -> Result<Summary> {
        let (mut reached, mut depth) = (0, 0);
        for chunk in self.reached.chunks(CHUNK) {
            cancel.check()?;
            for distance in chunk.iter().filter_map(Reached::distance) {
                reached += 1;
                depth = depth.max(distance);
            }
        }
        let mut levels = vec![0; top.min(depth as usize + 1)];
        for chunk in self.reached.chunks(CHUNK) {
            cancel.check()?;
            for distance in chunk.iter().filter_map(Reached::distance) {
                if let Some(level) = levels.get_mut(distance as usize) {
                    *level += 1;
                }
            }
        }
        Ok(Summary { reached, depth, levels })
    }

    fn facts(summary: &Summary, facts: &mut Facts) {
        facts.add("reached", report::counted(summary.reached, "vertex", "vertices"));
        facts.add("depth", report::count(u64::from(summary.depth)));
    }

    fn list(summary: &Summary) -> Grid {
        let mut grid = Grid::new(&["distance", "vertices"]);
        for (distance, vertices) in summary.levels.iter().enumerate() {
            grid.add([distance.to_string(), vertices.to_string()]);
        }
        grid
    }
}
