//! Options that choose what a search reports about paths.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tegula_engine::{Arrays, Estimate, Graph, RunOptions};

use crate::algorithm::Column;
use crate::error::{Error, Result};
use crate::paths::path_table::{Paths, Step};
use crate::paths::search_files::SearchFiles;
use crate::shared::id_order::{has_order, with_order_streamed};
use crate::side_table::TableSource;

/// What a search reports about paths.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct PathOptions {
    /// Also find the vertex before each vertex on a shortest path.
    #[serde(default)]
    #[cfg_attr(feature = "clap", arg(long))]
    pub parents: bool,
    /// Output the shortest paths to these vertices only: a table with an id in each row. The nearest
    /// target comes first. A target without a path has no row.
    #[cfg_attr(feature = "clap", arg(long, value_name = "FILE", conflicts_with = "parents"))]
    #[serde(default)]
    pub targets: Option<TableSource>,
}

impl PathOptions {
    /// The columns of the answer; `distance` is the column of distances.
    pub const fn columns(distance: Column) -> [Column; 6] {
        let parent = "the vertex before it on a shortest path; for a source, the source itself; \
                      null where there is no path";
        [
            Column::VERTEX.when("without `targets`"),
            Column::id("target", "the end of the path").when("with `targets`"),
            Column::integer("position", "the place on the path, from 0").when("with `targets`"),
            Column::id("vertex", "the vertex at that place").when("with `targets`"),
            distance,
            Column::id("parent", parent).when("with `parents`"),
        ]
    }

    /// Refuses `parents` together with `targets`: a table of paths has no column for parents.
    pub fn check(&self, algorithm: &'static str) -> Result<()> {
        if self.parents && self.targets.is_some() {
            let detail = "give either `parents` or `targets`".to_owned();
            return Err(Error::BadOptions { algorithm, detail });
        }
        Ok(())
    }

    /// Returns whether the search keeps the parent of each vertex.
    pub fn keeps_parents(&self) -> bool {
        self.parents || self.targets.is_some()
    }

    /// Returns whether the states must stay in memory. With `parents`, the id positions take the
    /// memory that the arrays of the run had. With `targets`, states are looked up at random.
    fn stays_in_memory(&self, graph: &Graph) -> bool {
        self.targets.is_some() || self.parents && has_order(graph)
    }

    /// Returns the options of the run, with arrays in memory if the states must stay there.
    pub fn run_options<'o>(&self, graph: &Graph, options: &RunOptions<'o>) -> RunOptions<'o> {
        let arrays = if self.stays_in_memory(graph) { Arrays::InMemory } else { options.arrays };
        RunOptions { arrays, ..options.clone() }
    }

    /// Adds to the estimate of a search what its tables and its answer need.
    pub fn add_to<S: Step>(
        &self,
        estimate: Estimate,
        files: &SearchFiles,
        graph: &Graph,
    ) -> Result<Estimate> {
        let held = if self.targets.is_some() { Paths::<S>::size(graph)? } else { 0 };
        let estimate = files.add_to(estimate, held);
        match self.stays_in_memory(graph) {
            true => with_order_streamed(Estimate { on_disk: None, ..estimate }, graph),
            false => Ok(estimate),
        }
    }
}
