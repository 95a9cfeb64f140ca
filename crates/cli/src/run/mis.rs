//! `tegula run mis`.

use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray};
use arrow_schema::{DataType, Field};
use clap::Args;
use serde::Serialize;
use tegula_algorithms::mis::{self, MisConfig};
use tegula_engine::{Estimate, Graph, RunOptions, RunStatistics};
use tegula_machine::threads::Cancel;
use tegula_store::VertexId;

use super::top::{Name, greatest};
use super::{Answer, CHUNK, Edges, Runnable, Weights, with_order_streamed};
use crate::errors::Result;
use crate::output::Columns;
use crate::report::{self, Facts, Grid};

/// Options of `tegula run mis`.
#[derive(Debug, Args)]
pub struct MisArgs {
    /// What the priorities of the vertices are drawn from: another seed, another set.
    #[arg(long, value_name = "SEED", default_value_t = MisConfig::SEED)]
    seed: u64,
}

impl Runnable for MisArgs {
    const NAME: &'static str = "mis";
    type Answer = Members;
    type Files = ();
    const WEIGHTS: Weights = Weights::Irrelevant;

    fn edges(&self) -> Edges {
        Edges::Rows
    }

    fn estimate(&self, graph: &Graph, _files: &(), _threads: usize) -> Result<Estimate> {
        with_order_streamed(mis::estimate(graph)?, graph)
    }

    fn check_input(&self, graph: &Graph, _options: &RunOptions<'_>) -> Result<()> {
        Ok(mis::check(graph)?)
    }

    fn run(
        &self,
        graph: &Graph,
        _files: (),
        options: &RunOptions<'_>,
    ) -> Result<(Members, RunStatistics)> {
        let found = mis::run(graph, MisConfig { seed: self.seed }, options)?;
        Ok((Members(found.members), found.statistics))
    }
}

/// For each dense id whether it is in the set.
pub struct Members(Vec<bool>);

/// What is said of the set.
#[derive(Debug, Serialize)]
pub struct Summary {
    /// Vertices in it.
    size: u64,
    /// The first of them.
    top: Vec<Name>,
}

impl Columns for Members {
    fn fields(&self, _id: DataType) -> Vec<Field> {
        vec![Field::new("in_set", DataType::Boolean, false)]
    }

    fn arrays(
        &self,
        _graph: &Graph,
        vertices: &[VertexId],
        _cancel: &Cancel,
    ) -> Result<Vec<ArrayRef>> {
        let members = vertices.iter().map(|vertex| Some(self.0[vertex.index()]));
        Ok(vec![Arc::new(members.collect::<BooleanArray>())])
    }
}

impl Answer for Members {
    type Summary = Summary;

    fn summary(&self, graph: &Graph, top: usize, cancel: &Cancel) -> Result<Summary> {
        let mut size = 0;
        for chunk in self.0.chunks(CHUNK) {
            cancel.check()?;
            size += chunk.iter().filter(|&&is_in| is_in).count() as u64;
        }
        let first = greatest(graph, top, |vertex| self.0[vertex.index()].then_some(()), cancel)?;
        Ok(Summary { size, top: first.into_iter().map(|(name, ())| name).collect() })
    }

    fn facts(summary: &Summary, facts: &mut Facts) {
        facts.add("in the set", report::counted(summary.size, "vertex", "vertices"));
    }

    fn list(summary: &Summary) -> Grid {
        let mut grid = Grid::new(&["vertex"]);
        summary.top.iter().for_each(|name| grid.add([name.to_string()]));
        grid
    }
}
