//! Several searches as one run: their [distances], then the [parents] that are wanted.
//!
//! [distances]: super::distances

use std::sync::Arc;

use tegula_engine::traverse::Directions;
use tegula_engine::{Estimate, Graph, RunOptions, RunStatistics};

use super::BfsOptions;
use super::answer::Levels;
use super::distances::{self, Distances};
use super::parents::{self, Pass};
use super::program::{Parent, Reached};
use crate::algorithm::{Found, Fusing, Member, Width, members, options_of};
use crate::error::Result;
use crate::shared::id_order::with_order_streamed;
use crate::shared::together::{self, Together};

/// How searches become one run.
pub(super) const FUSING: Fusing = Fusing {
    widths: &[Width { lanes: together::WIDTH, edge_cost: 2.0 }],
    can_fuse: |a, b, graph| {
        let [a, b] = [a, b].map(options_of::<BfsOptions>);
        can_fuse(a, graph) && can_fuse(b, graph) && a.search.direction == b.search.direction
    },
    further_passes: |all| further_passes(&members(all)),
    estimate: |all, graph, threads| estimate(&members(all), graph, threads),
    run: |all, graph, options| run(&members(all), graph, options),
    open: None,
};

/// The time of a pass for parents, as a multiple of the time in which one search alone visits all
/// edges. It was measured on R-MAT 22, and is not fitted.
const PASS_COST: f64 = 32.0;

/// Returns whether a search wants no paths to targets, and may scan.
fn can_fuse(BfsOptions { search, paths, .. }: &BfsOptions, graph: &Graph) -> bool {
    paths.targets.is_none()
        && graph.has_short_ids()
        && Directions::from(search.direction).can_scan(graph)
}

/// Returns the searches that want parents, or those that do not.
fn searches(members: &[Member<'_, BfsOptions>], with_parents: bool) -> Vec<usize> {
    let wants = |&search: &usize| members[search].0.paths.parents == with_parents;
    (0..members.len()).filter(wants).collect()
}

fn further_passes(members: &[Member<'_, BfsOptions>]) -> f64 {
    let passes = searches(members, true).len().div_ceil(parents::WIDTH);
    passes as f64 * PASS_COST
}

fn estimate(members: &[Member<'_, BfsOptions>], graph: &Graph, threads: usize) -> Result<Estimate> {
    let estimate = tegula_engine::estimate::<Together<Distances>>(graph, threads);
    let with_parents = searches(members, true).len();
    let answer_bytes = with_parents * size_of::<Reached>()
        + (members.len() - with_parents) * size_of::<Reached<()>>();
    // The states of all searches are copied into answers before they are freed.
    let answers = answer_bytes as u64 * graph.vertex_count();
    let mut vertex_bytes = estimate.vertex_bytes + answers;
    if with_parents > 0 {
        let held = size_of::<Distances>() as u64 * graph.vertex_count() + answers;
        let pass = tegula_engine::estimate::<Pass>(graph, threads).vertex_bytes;
        vertex_bytes = vertex_bytes.max(pass + held);
    }
    let estimate = Estimate { vertex_bytes, ..estimate };
    let estimate = members.iter().fold(estimate, |sum, (_, files)| files.add_to(sum, 0));
    if with_parents > 0 { with_order_streamed(estimate, graph) } else { Ok(estimate) }
}

fn run(
    members: &[Member<'_, BfsOptions>],
    graph: &Graph,
    options: &RunOptions<'_>,
) -> Result<Vec<Result<Found>>> {
    let sources = members.iter().map(|(one, files)| {
        let sources = files.find_sources(&one.search, graph)?;
        Ok((sources, one.cutoff.unwrap_or(u32::MAX)))
    });
    let sources: Vec<_> = sources.collect::<Result<_>>()?;
    let directions =
        members.first().map_or(Directions::Forward, |(one, _)| one.search.direction.into());
    let program = Together::<Distances>::new(sources, directions);
    let run_options = &RunOptions { checkpoints: None, ..options.clone() };
    let outcome = tegula_engine::run(graph, program, run_options)?;
    let (reached, mut statistics) = (Arc::new(outcome.states), outcome.statistics);
    let levels = outcome.program.levels(statistics.iterations);
    let [without, with] = [false, true].map(|with_parents| searches(members, with_parents));
    let all = (&reached, directions);
    let with_parents = parents::find(all, &with, graph, run_options, &mut statistics)?;
    let distances = distances::distances(&reached, &without);
    drop(reached);
    let (mut with_parents, mut distances) = (with_parents.into_iter(), distances.into_iter());
    let found = members.iter().zip(levels).enumerate().map(|(search, ((wanted, _), levels))| {
        let statistics = statistics.of_lane(search, levels);
        match wanted.paths.parents {
            true => answer(with_parents.next(), (graph, options), statistics),
            false => answer(distances.next(), (graph, options), statistics),
        }
    });
    Ok(found.collect())
}

/// Makes the answer of a search from what it has reached.
fn answer<P: Parent>(
    reached: Option<Vec<Reached<P>>>,
    (graph, options): (&Graph, &RunOptions<'_>),
    statistics: RunStatistics,
) -> Result<Found> {
    let reached = reached.expect("there is one for each search");
    let has_parents = size_of::<P>() > 0;
    Ok(Found::new(Levels::new(reached.into(), has_parents, graph, options)?, statistics))
}
