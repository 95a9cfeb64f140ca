//! Shortest paths from a source, or from the nearest of several. The distance of a vertex is the
//! smallest sum of weights along a path to it.
//!
//! `distance[v] = min over edges (u, v) of distance[u] + weight(u, v)`, and 0 at a source. Vertices
//! beyond a cutoff count as unreached. Two methods give the same bits:
//!
//! * **delta-stepping** (the default): each vertex whose distance has become smaller sends it along
//!   its edges, plus the weight of the edge. Each target keeps the smallest distance that it
//!   receives. Distances are cut into buckets of width delta, and while rows are sought the
//!   vertices of the nearest bucket come first (Meyer, Sanders, *Journal of Algorithms* 2003). A
//!   scan of tiles takes all of them at once (Bellman-Ford). It ends when no distance changes. It
//!   uses all threads. Memory: 16 bytes a vertex, up to 12 more with rows.
//! * **Dijkstra** (*Numerische Mathematik* 1959) visits each vertex once, by ascending distance,
//!   from a heap whose top tells which rows to read ahead. It needs rows, looks at every edge once,
//!   and uses one thread. It is for graphs on which few vertices can be processed at once. Memory:
//!   33 bytes a vertex, and the index of the rows.
//!
//! If all weights are equal and above 0, or there are none, a distance is a number of hops times
//! the weight. Then [`SsspOptions`] runs [`Bfs`], unless parents, targets, delta, checkpoints or
//! Dijkstra are wanted, or several searches run as one.
//!
//! Distances are sums of `f64`, added from the source onwards. Addition is monotone, so the
//! smallest sum does not depend on the order of the work: every method, executor, number of threads
//! and delta finds the same bits. The definition is that of LDBC Graphalytics.
//!
//! Against the edges of a directed graph, or both ways, either method follows rows and keeps arrays
//! in memory.
//!
//! With parents, delta-stepping keeps the parent of each vertex on a shortest path: 8 bytes a
//! vertex more, or 16 in a graph of at least 2^32 vertices. [`TreeNode`] says which of several
//! parents it keeps. Paths to targets take 16 bytes a vertex more.

mod answer;
mod config;
mod delta_stepping;
mod dijkstra;
mod distances;
mod tree;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tegula_engine::traverse::{Directions, RowsWanted, estimate_rows};
use tegula_engine::{Estimate, Graph, RunOptions, States, Value, VertexNumber};

use crate::algorithm::{
    Abilities, Algorithm, Checkpointing, Column, Description, EdgeDirection, Edges, Family, Found,
    Fusing, HasSmallerRun, Iterations, LANES, LessMemory, Member, NotNegative, Positive, Weights,
    Work, estimate_lanes, field_names, members, options_of,
};
use crate::error::{Error, Hint, Result, Setting, SettingValue};
use crate::paths::bfs::Bfs;
use crate::paths::path_options::PathOptions;
use crate::paths::path_table::Paths;
use crate::paths::search_files::SearchFiles;
use crate::paths::search_options::SearchOptions;
use crate::shared::sources::Sources;
use crate::side_table::Tables;

use answer::FoundDistances;
pub use config::{Method, SsspConfig};
pub use delta_stepping::Sssp;
pub use distances::Distances;
pub use tree::{SsspTree, TreeNode};

/// A sum of at most this many equal `f32` weights is exact as `f64`: a weight has 24 bits, a sum 53.
const EXACT_HOPS: u64 = 1 << 29;

/// Options of the search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct SsspOptions {
    /// Where the search starts, and which edges it follows.
    #[cfg_attr(feature = "clap", command(flatten))]
    #[serde(flatten)]
    pub search: SearchOptions,
    /// What the search reports about paths.
    #[cfg_attr(feature = "clap", command(flatten))]
    #[serde(flatten)]
    pub paths: PathOptions,
    /// The greatest distance to go. Vertices beyond it are not reached.
    #[cfg_attr(feature = "clap", arg(long, value_name = "DISTANCE"))]
    #[serde(default)]
    pub cutoff: Option<NotNegative>,
    /// How distances are found. The distances are the same for all methods.
    #[serde(default)]
    #[cfg_attr(feature = "clap", arg(long, value_enum, default_value_t))]
    pub method: Method,
    /// Width of the buckets of delta-stepping, which works on the nearest bucket first [default:
    /// from the weights, degrees and memory]. Distances do not depend on it.
    #[cfg_attr(feature = "clap", arg(long, value_name = "WIDTH"))]
    pub delta: Option<Positive>,
}

/// Finds the distance of every vertex from a source, or from the nearest of several, in memory. In
/// an unweighted graph every edge has weight 1.
///
/// # Errors
/// [`Error::NegativeWeight`] when an edge that was followed has a weight below 0 or NaN.
pub fn run(
    graph: &Graph,
    sources: impl Into<Sources>,
    config: SsspConfig,
    options: &RunOptions<'_>,
) -> Result<Distances> {
    let options = &options.with_result_in_memory();
    let found = run_anywhere(graph, sources.into(), config, options)?;
    let Distances { distances, delta, statistics } = found;
    Ok(Distances { distances: distances.into_vec()?, delta, statistics })
}

/// The same, with the distances on disk where they do not fit in memory.
fn run_anywhere(
    graph: &Graph,
    sources: Sources,
    config: SsspConfig,
    options: &RunOptions<'_>,
) -> Result<Distances<States<f64>>> {
    match config.method {
        Method::DeltaStepping => {
            delta_stepping::run(graph, sources, config, Sssp::has_negative, options)
        }
        Method::Dijkstra => {
            let found = dijkstra::run(graph, &sources, config, options)?;
            let distances = States::from(found.distances);
            Ok(Distances { distances, delta: found.delta, statistics: found.statistics })
        }
    }
}

/// Memory that a run of Dijkstra's algorithm along edges in these directions needs.
pub fn estimate_dijkstra(graph: &Graph, directions: Directions) -> Estimate {
    let wanted = RowsWanted { directions, has_weights: graph.is_weighted() };
    estimate_rows(graph, wanted, dijkstra::size(graph))
}

/// Estimates searches that run as one.
fn estimate_fused(members: &[Member<'_, SsspOptions>], graph: &Graph, threads: usize) -> Estimate {
    let estimate = estimate_lanes::<Sssp>(graph, members.len(), threads);
    members.iter().fold(estimate, |estimate, (_, files)| files.add_to(estimate, 0))
}

/// Runs searches as one.
fn run_fused(
    members: &[Member<'_, SsspOptions>],
    graph: &Graph,
    options: &RunOptions<'_>,
) -> Result<Vec<Result<Found>>> {
    let searches = members.iter().map(|(one, files)| {
        let sources = files.find_sources(&one.search, graph)?;
        Ok((sources, one.config()))
    });
    let found = delta_stepping::run_lanes(graph, searches.collect::<Result<_>>()?, options)?;
    let answer = |((one, _), found): (&Member<'_, SsspOptions>, Result<_>)| {
        let mut found: Distances<States<f64>> = found?;
        // A run of its own would count hops and have no buckets. Whether runs are fused must not
        // change their answers.
        found.delta = found.delta.filter(|_| one.hop_weight(graph).is_none());
        let statistics = found.statistics.clone();
        Ok(Found::new(FoundDistances::new(found, false, graph, options)?, statistics))
    };
    Ok(members.iter().zip(found).map(answer).collect())
}

impl SsspOptions {
    /// Whether it scans tiles for distances alone. Along rows, searches one by one look at fewer
    /// edges.
    fn is_by_tiles(&self, graph: &Graph) -> bool {
        self.method == Method::DeltaStepping
            && self.search.direction == EdgeDirection::Out
            && !self.paths.keeps_parents()
            && graph.manifest().rows.is_none()
    }

    /// The weight of every edge, if numbers of hops times that weight are the distances to the bit,
    /// and nothing else is wanted.
    fn hop_weight(&self, graph: &Graph) -> Option<f64> {
        let wants_distances = self.method == Method::DeltaStepping
            && self.delta.is_none()
            && !self.paths.keeps_parents();
        let weight = match graph.is_weighted() {
            true if graph.vertex_count() > EXACT_HOPS => None,
            true => graph.equal_weight().filter(|&weight| weight > 0.0),
            false => Some(1.0),
        };
        weight.filter(|_| wants_distances).map(f64::from)
    }

    /// Finds distances where every edge has this weight.
    fn count_hops(
        &self,
        weight: f64,
        graph: &Graph,
        files: &SearchFiles,
        options: &RunOptions<'_>,
    ) -> Result<Found> {
        let cutoff = self.cutoff.map_or(u32::MAX, |cutoff| hops_within(cutoff.get(), weight));
        let program = Bfs::<()>::new(files.find_sources(&self.search, graph)?)
            .with_cutoff(cutoff)
            .following(self.search.direction.into());
        let outcome = tegula_engine::run_anywhere(graph, program, options)?;
        let (distances, statistics) = (outcome.states, outcome.statistics);
        let found = Distances { distances, delta: None, statistics: statistics.clone() };
        let found = FoundDistances::new(found, false, graph, options)?.times(weight);
        Ok(Found::new(found, statistics))
    }

    fn config(&self) -> SsspConfig {
        SsspConfig {
            method: self.method,
            delta: self.delta.map(Positive::get),
            cutoff: self.cutoff.map(NotNegative::get),
            direction: self.search.direction,
        }
    }

    fn find_tree<N: VertexNumber + Value>(
        &self,
        graph: &Graph,
        files: SearchFiles,
        options: &RunOptions<'_>,
    ) -> Result<Found> {
        let options = &self.paths.run_options(graph, options);
        let sources = files.find_sources(&self.search, graph)?;
        let has_negative = SsspTree::<N>::has_negative;
        let found = delta_stepping::run(graph, sources, self.config(), has_negative, options)?;
        let statistics = found.statistics.clone();
        if self.paths.targets.is_some() {
            let steps = found.distances.into_vec()?;
            let paths = Paths::new(steps, files.targets.vertices, graph, options)?;
            return Ok(Found::new(paths, statistics));
        }
        Ok(Found::new(FoundDistances::new(found, true, graph, options)?, statistics))
    }
}

impl Algorithm for SsspOptions {
    const NAME: &'static str = "sssp";
    const DESCRIPTION: Description = Description {
        family: Family::Paths,
        summary: "Shortest paths: the smallest sum of weights from a source to each vertex. \
            Without weights every edge counts 1",
        columns: &PathOptions::columns(Column::number(
            "distance",
            "the sum of weights from the source; null where there is no path",
        )),
        memory: "16 bytes a vertex; 32 with parents; 20 more with paths to targets; 33 and rows by \
            Dijkstra's method",
        source: Some(
            "Meyer, Sanders, Delta-stepping, Journal of Algorithms 49, 2003; Dijkstra, \
            Numerische Mathematik 1, 1959",
        ),
        example: r#"{"source": "1"}"#,
    };
    const WEIGHTS: Weights = Weights::Used;
    const TABLES: &'static [&'static str] = SearchFiles::TABLES;
    const ABILITIES: Abilities<Self> = Abilities::NONE.has_smaller_run();
    const FUSING: Option<Fusing> = Some(Fusing {
        widths: LANES,
        can_fuse: |a, b, graph| {
            [a, b].map(options_of::<SsspOptions>).iter().all(|one| one.is_by_tiles(graph))
        },
        further_passes: |_| 0.0,
        estimate: |all, graph, threads| Ok(estimate_fused(&members(all), graph, threads)),
        run: |all, graph, options| run_fused(&members(all), graph, options),
        open: None,
    });
    type Files = SearchFiles;

    fn option_names() -> Vec<&'static str> {
        let own: &[_] = &["cutoff", "method", "delta"];
        [field_names::<SearchOptions>(), field_names::<PathOptions>(), own].concat()
    }

    fn check(&self) -> Result<()> {
        self.search.check(Self::NAME)?;
        self.paths.check(Self::NAME)?;
        let of_buckets = [
            (self.delta.is_some(), "delta"),
            (self.paths.parents, "parents"),
            (self.paths.targets.is_some(), "targets"),
        ];
        let idle = of_buckets.into_iter().find(|(is_given, _)| *is_given);
        match (self.method, idle) {
            (Method::Dijkstra, Some((_, option))) => {
                let value = SettingValue::OneOf(&["delta-stepping"]);
                Err(Error::IdleOption { option, of: Setting { option: "method", value } })
            }
            _ => Ok(()),
        }
    }

    fn edges(&self) -> Edges {
        let directions = self.search.direction.into();
        match self.method {
            Method::DeltaStepping => Edges::Either {
                directions,
                rows_size: match self.paths.keeps_parents() {
                    true => tegula_engine::rows_size::<SsspTree>,
                    false => tegula_engine::rows_size::<Sssp>,
                },
            },
            Method::Dijkstra => Edges::Rows(directions),
        }
    }

    fn read_files(&self, tables: &mut Tables<'_>) -> Result<SearchFiles> {
        SearchFiles::read(&self.search, &self.paths, tables)
    }

    fn check_input(&self, graph: &Graph) -> Result<()> {
        self.search.check_input(graph)
    }

    fn estimate(&self, graph: &Graph, files: &SearchFiles, threads: usize) -> Result<Estimate> {
        let directions = self.search.direction.into();
        let of_program = match (self.paths.keeps_parents(), graph.has_short_ids()) {
            (false, _) => tegula_engine::estimate_following::<Sssp>,
            (true, true) => tegula_engine::estimate_following::<SsspTree>,
            (true, false) => tegula_engine::estimate_following::<SsspTree<u64>>,
        };
        let estimate = match self.method {
            Method::DeltaStepping => of_program(graph, directions, threads),
            Method::Dijkstra => estimate_dijkstra(graph, directions),
        };
        self.paths.add_to::<TreeNode>(estimate, files, graph)
    }

    fn checkpointing(&self) -> Checkpointing {
        match self.method {
            Method::DeltaStepping if self.paths.keeps_parents() => Checkpointing::of::<SsspTree>(),
            Method::DeltaStepping => Checkpointing::of::<Sssp>(),
            Method::Dijkstra => Checkpointing::Refused { why: "its queue is not kept" },
        }
    }

    fn work(&self, graph: &Graph, _files: &SearchFiles) -> Result<Work> {
        let kind = match self.method {
            Method::DeltaStepping => Self::NAME,
            Method::Dijkstra => "sssp, dijkstra",
        };
        let work = Work::of_rounds(kind, graph, Iterations::Unknown);
        Ok(if self.method == Method::Dijkstra { work.by_one_thread() } else { work })
    }

    fn run(&self, graph: &Graph, files: SearchFiles, options: &RunOptions<'_>) -> Result<Found> {
        if let Some(weight) = self.hop_weight(graph)
            && options.checkpoints.is_none()
        {
            return self.count_hops(weight, graph, &files, options);
        }
        match (self.paths.keeps_parents(), graph.has_short_ids()) {
            (true, true) => return self.find_tree::<u32>(graph, files, options),
            (true, false) => return self.find_tree::<u64>(graph, files, options),
            (false, _) => {}
        }
        let sources = files.find_sources(&self.search, graph)?;
        let found = run_anywhere(graph, sources, self.config(), options)?;
        let statistics = found.statistics.clone();
        Ok(Found::new(FoundDistances::new(found, false, graph, options)?, statistics))
    }
}

impl HasSmallerRun for SsspOptions {
    fn less_memory(
        &self,
        graph: &Graph,
        files: &SearchFiles,
        threads: usize,
    ) -> Result<Option<LessMemory>> {
        // Delta-stepping needs less only if it can scan with its arrays on disk.
        let can_scan = Directions::from(self.search.direction).can_scan(graph);
        if self.method == Method::DeltaStepping || !can_scan {
            return Ok(None);
        }
        let estimate = tegula_engine::estimate_anywhere::<Sssp>(graph, threads);
        let needed = files.add_to(estimate, 0).needed();
        let value = SettingValue::OneOf(&["delta-stepping"]);
        let hint = Hint::set([Setting { option: "method", value }]);
        Ok(Some(LessMemory { needed, hint }))
    }
}

/// Returns the greatest number of hops whose weights add up to at most `cutoff`.
fn hops_within(cutoff: f64, weight: f64) -> u32 {
    // The cast rounds down, and makes a quotient above `u32::MAX` that number. Rounding may have
    // lifted the quotient to the next integer; one hop less is right then.
    let hops = (cutoff / weight) as u32;
    if f64::from(hops) * weight > cutoff { hops - 1 } else { hops }
}
