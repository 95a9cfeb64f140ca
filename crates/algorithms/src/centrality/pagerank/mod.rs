//! PageRank (Page, Brin, Motwani, Winograd 1999), as LDBC Graphalytics defines it.
//!
//! The rank of a vertex is the probability that a random surfer stands on it. With probability `d`
//! (the damping), the surfer follows a random edge. Else, or where there is no edge to follow, the
//! surfer jumps to a random vertex:
//!
//! ```text
//!  r'(v) = (1 - d) / V  +  d * sum over edges u -> v of r(u) / out_degree(u)
//!                       +  d / V * sum over u without out-edges of r(u)
//! ```
//!
//! It starts from `r = 1/V`. Every iteration reads every edge once. It stops after a fixed number
//! of iterations, or when the L1 distance between two successive ranks is at most a tolerance. It
//! also stops after a maximum of iterations; [`PageRank::has_converged`] says whether it has
//! reached the tolerance.
//!
//! *Weighted*, the surfer follows an edge in proportion to its weight: `r(u) / out_degree(u)`
//! becomes `r(u) * weight(u, v) / W(u)`, where `W(u)` is the sum of the weights of all edges from
//! `u`. Weights are finite numbers of at least 0. If all edges of a vertex weigh 0, there is none
//! to follow. The sums are found before the first iteration, by one scan of all edges, or by
//! several if memory is short. They are exact until they are rounded to 24 binary digits. In a
//! graph without weights, all edges weigh the same.
//!
//! *Personalized*, all jumps lead to seeds, in proportion to their weights, including the jumps
//! from vertices without out-edges: `1 / V` becomes `weight(v) / sum of weights` in both terms.
//!
//! Ranks and messages are `f32`. Sums are `f64`, except for short ones (`tegula_engine`,
//! `accumulators`). Compared with double precision, the relative error of every rank stays within
//! 1e-5, as long as the rank is a normal `f32` (1.2e-38). Memory: 12 bytes a vertex, 16 with seeds.
//! Weighted, messages are `f64`, so that no weights round them to 0 or to infinity; this takes 4
//! bytes a vertex more.
//!
//! # Rounding and convergence
//!
//! The residual of a vertex is `R(v) = r'(v) - r(v)`. A step of length `s` towards the residuals
//! shrinks their sum over all vertices by `(1 - d) s`. A rank that is rounded to the nearest `f32`
//! may go beyond `r'`. Once residuals are as small as roundings, some ranks swing between two
//! numbers for ever, in a star and in any graph with only even cycles. So small steps are rounded
//! towards the rank before. They never go beyond, and end as far as the roundings of messages
//! allow.

mod answer;
mod out_weights;
mod program;
mod seeds;
mod weighted;

use std::sync::mpsc::Sender;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tegula_engine::{
    Cancel, Estimate, Graph, LaneOutcome, Outcome, Program, RunOptions, States, StatesWriter,
};

use crate::algorithm::{
    Algorithm, Checkpointing, Column, Description, Edges, Entrance, Family, Found, Fusing,
    Iterations, LANES, Member, MemberOutcome, NotNegative, OpenFusing, Probability, SideFiles,
    Weights, Work, early_results_size, estimate_joining, estimate_lanes, members, options_of,
    run_lanes, run_open_lanes,
};
use crate::error::{Error, Result};
use crate::side_table::{self, TableSource, Tables};

use answer::ranks;
use out_weights::OutWeights;
pub use program::{PageRank, Stop, Sums};
use seeds::Seeds;
pub use weighted::{OutWeight, WeightedPageRank, WeightedRank};

/// Options of PageRank.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct PageRankOptions {
    /// Probability of following an edge, from 0 to below 1.
    #[cfg_attr(feature = "clap", arg(long, value_name = "D", default_value_t = Self::DAMPING))]
    pub damping: Probability,
    /// Run exactly N iterations.
    #[cfg_attr(feature = "clap", arg(long, value_name = "N"))]
    #[cfg_attr(feature = "clap", arg(conflicts_with_all = ["tolerance", "max_iterations"]))]
    pub iterations: Option<u64>,
    /// Stop when the ranks change by no more than this in an iteration (L1). If they never do,
    /// there is a warning.
    #[cfg_attr(feature = "clap", arg(long, value_name = "T", default_value_t = Self::TOLERANCE))]
    pub tolerance: NotNegative,
    /// The most iterations towards the tolerance.
    #[cfg_attr(feature = "clap", arg(long, value_name = "N"))]
    #[cfg_attr(feature = "clap", arg(default_value_t = Stop::ITERATIONS_MAX))]
    pub max_iterations: u64,
    /// Jump to the vertices of this table only. Each row has an id and, if it is not 1, a weight.
    /// Tables are read like inputs: text, also as .gz and .zst, Parquet, `-`. A header may name
    /// `vertex` and `weight` or `rank`, so the ranks of another run will do.
    #[cfg_attr(feature = "clap", arg(long, value_name = "FILE"))]
    pub personalize: Option<TableSource>,
    /// Follow edges in proportion to their weights, all of at least 0.
    #[cfg_attr(feature = "clap", arg(long))]
    pub weighted: bool,
}

/// Runs PageRank by the weights of the edges, which the graph must have. The states are the ranks.
///
/// # Errors
/// [`NegativeWeight`](crate::Error::NegativeWeight) if a weight is not a finite number of at least
/// 0.
pub fn run_weighted(
    graph: &Graph,
    walk: PageRank,
    options: &RunOptions<'_>,
) -> Result<Outcome<PageRank, States<f32>>> {
    let estimate = estimate_weighted(graph, options.threads);
    let estimate = with_bytes(estimate, walk.size());
    let found = OutWeights::find(graph, walk, &estimate, options)?;
    // The first states already lie where `find` has decided, so the run must agree.
    let options = &RunOptions { arrays: found.arrays, ..options.clone() };
    let outcome = tegula_engine::run_anywhere(graph, found.start, options)?;
    let mut statistics = outcome.statistics;
    statistics.add(found.statistics);
    let states = ranks_of(outcome.states, graph, &options.cancel)?;
    Ok(Outcome { states, program: outcome.program.into_walk(), statistics })
}

/// Returns the ranks alone, in memory or on disk like the states.
fn ranks_of(states: States<WeightedRank>, graph: &Graph, cancel: &Cancel) -> Result<States<f32>> {
    let Some(mut writer) = StatesWriter::next_to(&states, graph)? else {
        let ranks: Vec<f32> = states.into_vec()?.into_iter().map(|state| state.rank).collect();
        return Ok(ranks.into());
    };
    states.for_each_chunk(|_, states| {
        cancel.check()?;
        writer.write_each(states.iter().map(|state| state.rank))
    })?;
    Ok(writer.finish()?)
}

fn estimate_weighted(graph: &Graph, threads: usize) -> Estimate {
    let estimate = tegula_engine::estimate_anywhere::<WeightedPageRank>(graph, threads);
    // In a small graph, the sums take more than the arrays, which come after them.
    let sums = out_weights::sums_size_min(graph);
    let vertex_bytes = estimate.vertex_bytes.max(out_weights::states_size(graph) + sums);
    let on_disk = estimate.on_disk.map(|arrays| {
        let missing = sums.saturating_sub(arrays.least().bytes);
        arrays.with_bytes(out_weights::reading_size(graph) + missing)
    });
    Estimate { vertex_bytes, on_disk, ..estimate }
}

/// Returns an estimate with `bytes` more that stay in memory.
fn with_bytes(estimate: Estimate, bytes: u64) -> Estimate {
    let vertex_bytes = estimate.vertex_bytes + bytes;
    let on_disk = estimate.on_disk.map(|arrays| arrays.with_bytes(bytes));
    Estimate { vertex_bytes, on_disk, ..estimate }
}

/// Returns the bytes for reading seeds. Seeds become sums in double precision, and sums become
/// shares, before anything else is held.
fn reading_size(seeds: &Seeds, graph: &Graph) -> u64 {
    seeds.reading_size.max(seeds.size() + 3 * PageRank::seeds_size(graph.vertex_count()))
}

/// Estimates unweighted runs as one. Seeds of all members are held to the end.
fn estimate_fused(
    members: &[Member<'_, PageRankOptions>],
    graph: &Graph,
    threads: usize,
) -> Estimate {
    let shares = PageRank::seeds_size(graph.vertex_count());
    let personal = members.iter().filter(|(options, _)| options.personalize.is_some());
    let (held, reading) = personal.fold((0, 0), |(held, reading), (_, seeds)| {
        (held + shares + seeds.size(), reading.max(reading_size(seeds, graph)))
    });
    let estimate = estimate_lanes::<PageRank>(graph, members.len(), threads);
    side_table::with_reading(with_bytes(estimate, held), reading)
}

/// Runs unweighted members as one.
fn run_fused(
    members: &[Member<'_, PageRankOptions>],
    graph: &Graph,
    options: &RunOptions<'_>,
) -> Result<Vec<Result<Found>>> {
    let walks = members.iter().map(|(options, seeds)| options.walk(seeds, graph));
    let outcomes = run_lanes(graph, walks.collect::<Result<_>>()?, options)?;
    let found = |outcome| found(outcome, graph, &options.cancel);
    Ok(outcomes.into_iter().map(found).collect())
}

/// Runs unweighted members as one that others may join.
fn run_open(
    members: &[Member<'_, PageRankOptions>],
    graph: &Graph,
    options: &RunOptions<'_>,
    entrance: &Entrance,
    outcomes: Sender<(usize, MemberOutcome)>,
) -> Result<()> {
    let walks = members.iter().map(|(options, seeds)| options.walk(seeds, graph));
    let end = move |number, outcome: LaneOutcome<PageRank>| {
        let found = |graph: &Graph, cancel: &Cancel| found(outcome.into_outcome(), graph, cancel);
        // A receiver that has gone needs nothing.
        drop(outcomes.send((number, MemberOutcome::new(found))));
    };
    run_open_lanes(graph, walks.collect::<Result<_>>()?, options, entrance, end)
}

/// Joins an unweighted run.
fn join(
    (joiner, seeds): Member<'_, PageRankOptions>,
    graph: &Graph,
    options: &RunOptions<'_>,
    entrance: &Entrance,
) -> Result<Option<Found>> {
    let walk = joiner.walk(seeds, graph)?;
    let outcome = entrance.lanes().join(graph, walk, options)?;
    outcome.map(|outcome| found(outcome, graph, &options.cancel)).transpose()
}

/// Estimates a member that joins. It holds its seeds to the end.
fn estimate_to_join((joiner, seeds): Member<'_, PageRankOptions>, graph: &Graph) -> Estimate {
    if joiner.personalize.is_none() {
        return estimate_joining::<PageRank>(graph, 0);
    }
    let held = PageRank::seeds_size(graph.vertex_count()) + seeds.size();
    let estimate = estimate_joining::<PageRank>(graph, held);
    side_table::with_reading(estimate, reading_size(seeds, graph))
}

/// Makes the result of a run.
fn found(
    Outcome { states, program, statistics }: Outcome<PageRank, States<f32>>,
    graph: &Graph,
    cancel: &Cancel,
) -> Result<Found> {
    Ok(Found::new(ranks(states, &program, graph, cancel)?, statistics))
}

impl PageRankOptions {
    const DAMPING: Probability = Probability::new(PageRank::DAMPING);
    const TOLERANCE: NotNegative = NotNegative::new(Stop::TOLERANCE);

    fn is_weighted(&self, graph: &Graph) -> bool {
        self.weighted && graph.is_weighted()
    }

    fn walk(&self, seeds: &Seeds, graph: &Graph) -> Result<PageRank> {
        let (stop, vertex_count) = (self.stop(), graph.vertex_count());
        let walk = match self.personalize {
            None => PageRank::new(stop, vertex_count),
            Some(_) => PageRank::personalized(stop, vertex_count, seeds.as_slice())?,
        };
        Ok(walk.with_damping(self.damping.get()))
    }

    fn stop(&self) -> Stop {
        match self.iterations {
            Some(iterations) => Stop::Iterations(iterations),
            None => Stop::Tolerance {
                tolerance: self.tolerance.get(),
                iterations_max: self.max_iterations,
            },
        }
    }
}

impl Default for PageRankOptions {
    fn default() -> PageRankOptions {
        PageRankOptions {
            damping: Self::DAMPING,
            iterations: None,
            tolerance: Self::TOLERANCE,
            max_iterations: Stop::ITERATIONS_MAX,
            personalize: None,
            weighted: false,
        }
    }
}

impl Algorithm for PageRankOptions {
    const NAME: &'static str = "pagerank";
    const DESCRIPTION: Description = Description {
        family: Family::Centrality,
        summary: "PageRank: how likely a random walk stands on each vertex",
        columns: &[
            Column::VERTEX,
            Column::number(
                "rank",
                "the probability that the random walk stands there; all ranks sum to 1",
            ),
        ],
        memory: "12 bytes a vertex; 16 personalized; 4 more weighted",
        source: Some(
            "Page, Brin, Motwani, Winograd, The PageRank Citation Ranking, 1999, as LDBC \
                Graphalytics defines it (Iosup et al., VLDB 2016)",
        ),
        example: "{}",
    };
    const WEIGHTS: Weights = Weights::Ignored {
        instead: "all edges of a vertex are equally likely, unless the option `weighted` makes their probability \
                  proportional to their weight",
    };
    const TABLES: &'static [&'static str] = &["personalize"];
    const FUSING: Option<Fusing> = Some(Fusing {
        widths: LANES,
        can_fuse: |a, b, graph| {
            let both = [a, b].map(options_of::<PageRankOptions>);
            both.iter().all(|one| !one.is_weighted(graph))
        },
        further_passes: |_| 0.0,
        estimate: |all, graph, threads| Ok(estimate_fused(&members(all), graph, threads)),
        run: |all, graph, options| run_fused(&members(all), graph, options),
        open: Some(OpenFusing {
            entrance: Entrance::to_lanes::<PageRank>,
            early_results_size: early_results_size::<PageRank>,
            estimate_joining: |joiner, graph| estimate_to_join(joiner.of(), graph),
            run: |all, graph, options, entrance, outcomes| {
                run_open(&members(all), graph, options, entrance, outcomes)
            },
            join: |joiner, graph, options, entrance| join(joiner.of(), graph, options, entrance),
        }),
    });
    type Files = Seeds;

    fn check(&self) -> Result<()> {
        // An option that was given its default cannot be told from one that was not given. It
        // passes, which does no harm: nothing else was asked for.
        let default = PageRankOptions::default();
        let limits = [
            (self.tolerance.get() != default.tolerance.get(), "tolerance"),
            (self.max_iterations != default.max_iterations, "max_iterations"),
        ];
        match limits.into_iter().find(|(is_other, _)| *is_other) {
            Some((_, option)) if self.iterations.is_some() => {
                let detail = format!("`{option}` has no effect with `iterations`");
                Err(Error::BadOptions { algorithm: Self::NAME, detail })
            }
            Some(_) | None => Ok(()),
        }
    }

    fn weights(&self) -> Weights {
        if self.weighted { Weights::Used } else { Self::WEIGHTS }
    }

    fn edges(&self) -> Edges {
        Edges::Tiles { why: "pagerank adds up all edges in a fixed order", instead: None }
    }

    fn iterations(&self) -> Iterations {
        self.iterations.map_or(Iterations::AtMost(self.max_iterations), Iterations::Exactly)
    }

    fn read_files(&self, tables: &mut Tables<'_>) -> Result<Seeds> {
        match &self.personalize {
            Some(path) => Ok(Seeds::read("personalize", path, tables)?),
            None => Ok(Seeds::default()),
        }
    }

    fn estimate(&self, graph: &Graph, seeds: &Seeds, threads: usize) -> Result<Estimate> {
        let estimate = match self.is_weighted(graph) {
            true => estimate_weighted(graph, threads),
            false => tegula_engine::estimate_anywhere::<PageRank>(graph, threads),
        };
        if self.personalize.is_none() {
            return Ok(estimate);
        }
        let shares = PageRank::seeds_size(graph.vertex_count());
        Ok(side_table::with_reading(with_bytes(estimate, shares), reading_size(seeds, graph)))
    }

    fn checkpointing(&self) -> Checkpointing {
        match self.weighted {
            true => Checkpointing::of::<WeightedPageRank>(),
            false => Checkpointing::of::<PageRank>(),
        }
    }

    fn work(&self, graph: &Graph, _seeds: &Seeds) -> Result<Work> {
        let kind = if self.is_weighted(graph) { "pagerank, weighted" } else { Self::NAME };
        Ok(Work::of_rounds(kind, graph, Algorithm::iterations(self)))
    }

    fn run(&self, graph: &Graph, seeds: Seeds, options: &RunOptions<'_>) -> Result<Found> {
        let walk = self.walk(&seeds, graph)?;
        // The walk has its own shares by now, and the estimate counts the seeds only up to here.
        drop(seeds);
        let outcome = match self.is_weighted(graph) {
            true => run_weighted(graph, walk, options)?,
            false => tegula_engine::run_anywhere(graph, walk, options)?,
        };
        found(outcome, graph, &options.cancel)
    }
}
