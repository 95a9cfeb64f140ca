//! Several runs of one algorithm as one.
//!
//! A run in [lanes](tegula_engine::Lanes) visits an edge for all of them at once. This takes longer
//! than a visit for one, but less than a visit for each. An algorithm that can do so has a
//! [`Fusing`]; its answers are those of the runs alone.

use tegula_engine::{Estimate, Graph, Lanes, Outcome, Program, RunOptions, States};

use super::interface::{Algorithm, Found};
use super::work::Work;
use crate::error::Result;

/// How several runs of an algorithm become one.
pub struct Fusing<A: Algorithm> {
    /// The numbers of lanes that a run may have, the least first.
    pub widths: &'static [Width],
    /// Returns whether two runs with these options can be fused on a graph.
    pub can_fuse: fn(&A, &A, &Graph) -> bool,
    /// Returns how many passes over all edges follow the run in lanes, in visits of a run alone.
    pub further_passes: fn(&[Member<'_, A>]) -> f64,
    /// Estimates the memory of a fused run, including the files of its members.
    pub estimate: fn(&[Member<'_, A>], &Graph, usize) -> Result<Estimate>,
    /// Runs all members as one; returns what each finds, or what is wrong with it alone.
    pub run: fn(&[Member<'_, A>], &Graph, &RunOptions<'_>) -> Result<Vec<Result<Found>>>,
}

/// A member of a fused run: its options and its files.
pub type Member<'m, A> = (&'m A, &'m <A as Algorithm>::Files);

/// A number of lanes, and what a visit to an edge costs with it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Width {
    /// The most members.
    pub lanes: usize,
    /// The time of a visit to an edge, in visits of a run alone.
    pub edge_cost: f64,
}

impl Width {
    /// Returns the least width with at least `members` lanes.
    pub(super) fn of(widths: &[Width], members: usize) -> Option<Width> {
        widths.iter().find(|width| members <= width.lanes).copied()
    }

    /// Returns the work of a fused run whose members have this work alone.
    pub(super) fn work(self, alone: &[Work]) -> Option<Work> {
        let (&first, others) = alone.split_first()?;
        let longest = others.iter().fold(first, |longest, work| Work {
            rounds: longest.rounds.max(work.rounds),
            edges: longest.edges.max(work.edges),
            vertices: longest.vertices + work.vertices,
            ..longest
        });
        Some(Work { edges: longest.edges * self.edge_cost, ..longest })
    }
}

/// Runs of vertex programs: 4 lanes or 16. With more widths the crate would take longer to compile.
/// The costs are about those of PageRank on R-MAT 22, see `bench/JOBS.md`.
pub(crate) const LANES: &[Width] =
    &[Width { lanes: FEW, edge_cost: 2.2 }, Width { lanes: MANY, edge_cost: 5.5 }];
const FEW: usize = 4;
const MANY: usize = 16;

/// Estimates the memory of a run of `count` lanes, whose arrays lie in memory.
pub(crate) fn estimate_lanes<P: Program + Clone>(
    graph: &Graph,
    count: usize,
    threads: usize,
) -> Estimate {
    match count {
        0..=FEW => tegula_engine::estimate::<Lanes<P, FEW>>(graph, threads),
        _ => tegula_engine::estimate::<Lanes<P, MANY>>(graph, threads),
    }
}

/// Runs programs in lanes, with the arrays in memory.
pub(crate) fn run_lanes<P: Program + Clone>(
    graph: &Graph,
    programs: Vec<P>,
    options: &RunOptions<'_>,
) -> Result<Vec<Outcome<P, States<P::State>>>> {
    let options = &options.with_result_in_memory();
    Ok(match programs.len() {
        0..=FEW => tegula_engine::run_lanes::<P, FEW>(graph, programs, options)?,
        _ => tegula_engine::run_lanes::<P, MANY>(graph, programs, options)?,
    })
}
