//! Breadth-first search: the number of hops from a source, or from the nearest of several, to each
//! vertex, along the edges, against them or both ways.
//!
//! An iteration is a level. Each vertex of the frontier sends its own id. A vertex that is not yet
//! reached takes the smallest id that it receives as its parent, and the number of the level as its
//! distance. An iteration reads one of three things, whichever is quicker:
//!
//! * the tiles with a source in the frontier and a target that is not yet reached;
//! * the rows of the frontier, if the graph has rows;
//! * in an undirected graph or one with rows by target, the beginnings of the rows of unreached
//!   vertices. This is the choice of directions of Beamer, Asanovic, Patterson (SC 2012).
//!
//! It stops when the frontier is empty, when all vertices are reached, or after the level of the
//! cutoff. Memory: 8 bytes a vertex, up to 8 more with rows, and 4 for parents, or 8 in a graph of
//! at least 2^32 vertices. Paths to targets take 16 bytes a vertex more.
//!
//! Against the edges of a directed graph, or both ways, it follows rows in every iteration and
//! keeps its arrays in memory.
//!
//! Distances are those of LDBC Graphalytics. A parent is the smallest possible one in the vertex
//! order of the graph directory, so parents too are the same on every machine.

mod answer;
mod distances;
mod fused;
mod parents;
mod program;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tegula_engine::{Estimate, Graph, RunOptions, VertexId};

use crate::algorithm::{
    Algorithm, Checkpointing, Column, Description, Edges, Family, Found, Fusing, Weights,
    field_names,
};
use crate::error::Result;
use crate::paths::path_options::PathOptions;
use crate::paths::path_table::{Paths, Step};
use crate::paths::search_files::SearchFiles;
use crate::paths::search_options::SearchOptions;
use crate::side_table::Tables;

use answer::Levels;
pub use program::{Bfs, Parent, Reached};

/// Options of the search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct BfsOptions {
    /// Where the search starts, and which edges it follows.
    #[cfg_attr(feature = "clap", command(flatten))]
    #[serde(flatten)]
    pub search: SearchOptions,
    /// What the search reports about paths.
    #[cfg_attr(feature = "clap", command(flatten))]
    #[serde(flatten)]
    pub paths: PathOptions,
    /// The greatest number of hops to go. Vertices beyond it are not reached.
    #[cfg_attr(feature = "clap", arg(long, value_name = "HOPS"))]
    #[serde(default)]
    pub cutoff: Option<u32>,
}

impl BfsOptions {
    fn run_with<P: Parent>(
        &self,
        graph: &Graph,
        files: SearchFiles,
        options: &RunOptions<'_>,
    ) -> Result<Found> {
        let options = &self.paths.run_options(graph, options);
        let sources = files.find_sources(&self.search, graph)?;
        let program = Bfs::<P>::new(sources)
            .with_cutoff(self.cutoff.unwrap_or(u32::MAX))
            .following(self.search.direction.into());
        let outcome = tegula_engine::run_anywhere(graph, program, options)?;
        if self.paths.targets.is_some() {
            let reached = outcome.states.into_vec()?;
            let paths = Paths::new(reached, files.targets.vertices, graph, options)?;
            return Ok(Found::new(paths, outcome.statistics));
        }
        let levels = Levels::new(outcome.states, self.paths.parents, graph, options)?;
        Ok(Found::new(levels, outcome.statistics))
    }
}

impl Algorithm for BfsOptions {
    const NAME: &'static str = "bfs";
    const DESCRIPTION: Description = Description {
        family: Family::Paths,
        summary: "Breadth-first search: hops from a source to each vertex",
        columns: &PathOptions::columns(Column::integer(
            "distance",
            "hops from the source; null where there is no path",
        )),
        memory: "12 bytes a vertex; 16 with parents; 20 more with paths to targets",
        source: Some(
            "Beamer, Asanovic, Patterson, Direction-Optimizing Breadth-First Search, SC \
            2012; distances as LDBC Graphalytics defines them",
        ),
        example: r#"{"source": "1"}"#,
    };
    const WEIGHTS: Weights = Weights::Irrelevant;
    const TABLES: &'static [&'static str] = SearchFiles::TABLES;
    const FUSING: Option<Fusing> = Some(fused::FUSING);
    type Files = SearchFiles;

    fn option_names() -> Vec<&'static str> {
        [field_names::<SearchOptions>(), field_names::<PathOptions>(), &["cutoff"]].concat()
    }

    fn check(&self) -> Result<()> {
        self.search.check(Self::NAME)?;
        self.paths.check(Self::NAME)
    }

    fn edges(&self) -> Edges {
        Edges::Either {
            directions: self.search.direction.into(),
            rows_size: match self.paths.keeps_parents() {
                true => tegula_engine::rows_size::<Bfs>,
                false => tegula_engine::rows_size::<Bfs<()>>,
            },
        }
    }

    fn read_files(&self, tables: &mut Tables<'_>) -> Result<SearchFiles> {
        SearchFiles::read(&self.search, &self.paths, tables)
    }

    fn check_input(&self, graph: &Graph) -> Result<()> {
        self.search.check_input(graph)
    }

    fn estimate(&self, graph: &Graph, files: &SearchFiles, threads: usize) -> Result<Estimate> {
        let estimate = match (self.paths.keeps_parents(), graph.has_short_ids()) {
            (false, _) => tegula_engine::estimate_following::<Bfs<()>>,
            (true, true) => tegula_engine::estimate_following::<Bfs>,
            (true, false) => tegula_engine::estimate_following::<Bfs<u64>>,
        };
        let estimate = estimate(graph, self.search.direction.into(), threads);
        self.paths.add_to::<Reached>(estimate, files, graph)
    }

    fn checkpointing(&self) -> Checkpointing {
        match self.paths.keeps_parents() {
            true => Checkpointing::of::<Bfs>(),
            false => Checkpointing::of::<Bfs<()>>(),
        }
    }

    fn run(&self, graph: &Graph, files: SearchFiles, options: &RunOptions<'_>) -> Result<Found> {
        match (self.paths.keeps_parents(), graph.has_short_ids()) {
            (false, _) => self.run_with::<()>(graph, files, options),
            (true, true) => self.run_with::<u32>(graph, files, options),
            (true, false) => self.run_with::<u64>(graph, files, options),
        }
    }
}

impl<P: Parent> Step for Reached<P> {
    type Distance = u32;

    fn distance(&self) -> Option<u32> {
        self.distance()
    }

    fn parent(&self) -> Option<VertexId> {
        self.parent()
    }
}
