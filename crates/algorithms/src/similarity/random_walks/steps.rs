//! The steps of all walks together.

use std::sync::Mutex;
use std::time::Instant;

use tegula_engine::traverse::{self, Listed, RowsJob, RowsWanted};
use tegula_engine::{
    Error, Graph, IterationTimes, ProgressUnit, Row, RunOptions, RunStatistics, ShortId,
};
use tegula_machine::threads::lock;

use super::RandomWalksOptions;
use crate::error::{Result, negative_weight};
use crate::shared::original_ids::IdPositions;
use crate::shared::random;

/// No vertex: the walk has ended.
pub(super) const NONE: ShortId = ShortId(u32::MAX);
/// Number of walks that one worker serves at a time.
const PIECE: usize = 1 << 12;
/// Number of draws after which a step is drawn exactly, from its biased weights. Only a `p` or `q`
/// that rejects most draws leads there.
const ATTEMPTS_MAX: u64 = 32;

/// The vertices of all walks.
#[derive(Debug, Clone)]
pub struct Trajectories {
    /// For each walk its vertices in order, padded with [none](ShortId) after its end.
    pub vertices: Vec<ShortId>,
    /// Number of vertices of a walk that has not ended early.
    pub length: usize,
    /// Statistics of the run; an iteration is a step.
    pub statistics: RunStatistics,
}

/// A walk that is about to take a step.
#[derive(Debug, Clone, Copy)]
struct Walker {
    walk: u64,
    /// Its vertex, or the one before it while [`Steps::decide`] asks about that.
    at: ShortId,
    /// The proposed next vertex.
    next: ShortId,
    /// Whether it can go nowhere else.
    is_forced: bool,
}

/// Walks from each of the sources, in a run that holds `held` bytes.
///
/// # Errors
/// [`NegativeWeight`](crate::Error::NegativeWeight) when an edge that was looked at has a weight
/// below 0 or NaN.
pub fn run(
    graph: &Graph,
    sources: &[ShortId],
    wanted: &RandomWalksOptions,
    held: u64,
    options: &RunOptions<'_>,
) -> Result<Trajectories> {
    let rows = RowsWanted::forward(graph.is_weighted());
    traverse::run(graph, rows, held, options, |job| {
        let length = wanted.length as usize + 1;
        let walks = sources.len() * wanted.walks.get() as usize;
        let mut vertices = vec![NONE; walks * length];
        for (walk, path) in vertices.chunks_mut(length).enumerate() {
            path[0] = sources[walk / wanted.walks.get() as usize];
        }
        let steps = Steps { job, graph, wanted, is_ascending: job.rows().is_ascending() };
        let (mut times, mut taken) = (IterationTimes::default(), 0);
        options.progress.begin("walking", Some(wanted.length.into()), ProgressUnit::Iterations);
        for step in 1..length {
            let started = Instant::now();
            let walked = steps.take(&mut vertices, length, step)?;
            taken += walked;
            times.push(started.elapsed());
            options.progress.advance(1);
            if walked == 0 {
                break;
            }
        }
        options.progress.end();
        Ok(Trajectories { vertices, length, statistics: job.statistics(times, taken) })
    })
}

/// The maximum number of vertices of all walks: more than any memory holds, and so small that sizes
/// do not overflow.
const VISITS_MAX: u64 = 1 << 48;

/// Bytes held by walks from `sources` sources.
///
/// # Errors
/// [`Error::Limit`](tegula_machine::Error::Limit) for more walks than any memory holds.
pub(super) fn size(graph: &Graph, sources: u64, wanted: &RandomWalksOptions) -> Result<u64> {
    let walks = sources.saturating_mul(wanted.walks.get());
    let visits = walks.saturating_mul(u64::from(wanted.length) + 1);
    if visits > VISITS_MAX {
        let what = "the number of vertices of all walks";
        return Err(Error::limit(what, visits, VISITS_MAX).into());
    }
    // The walkers that wait, that step and that are in doubt, in lists that grow by doubling.
    let walkers = walks * 6 * size_of::<Walker>() as u64;
    Ok(4 * visits + walkers + IdPositions::size(graph)?)
}

/// Bytes held by a worker: a row, with sums of weights.
pub(super) fn worker_size(graph: &Graph) -> Result<u64> {
    Ok(2 * (8 + 8) * traverse::edges_of_a_vertex_max(graph)?)
}

/// What all steps have in common.
struct Steps<'s> {
    job: &'s RowsJob<'s>,
    graph: &'s Graph,
    wanted: &'s RandomWalksOptions,
    is_ascending: bool,
}

/// The targets of a vertex, ascending, and the prefix sums of their weights.
#[derive(Default)]
struct Targets {
    edges: Vec<(u32, f32)>,
    sums: Vec<f64>,
}

impl Targets {
    /// Takes the targets of a row. Returns whether all weights are at least 0.
    fn fill(&mut self, row: &Row<'_>, is_ascending: bool) -> tegula_engine::Result<bool> {
        self.edges.clear();
        let mut edge = 0;
        row.for_each(|target| {
            self.edges.push((target.0, row.weight(edge)));
            edge += 1;
        })?;
        // Draws must not depend on how rows are held.
        if !is_ascending {
            self.edges.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        }
        self.sums.clear();
        let mut sum = 0.0;
        self.sums.extend(self.edges.iter().map(|edge| {
            sum += f64::from(edge.1);
            sum
        }));
        Ok(self.edges.iter().all(|edge| edge.1 >= 0.0))
    }

    /// Draws a target with a probability proportional to its weight; `fraction` is random in
    /// `0..1`. Returns `None` if all weights are 0.
    fn draw(&self, fraction: f64) -> Option<ShortId> {
        let all = *self.sums.last()?;
        let place = self.sums.partition_point(|&sum| sum <= fraction * all);
        // Rounding may lead beyond the last target of positive weight.
        let place = place.min(self.sums.partition_point(|&sum| sum < all));
        (all > 0.0).then(|| ShortId(self.edges[place].0))
    }

    /// Whether all edges lead to one vertex.
    fn is_one(&self) -> bool {
        self.edges.first().map(|edge| edge.0) == self.edges.last().map(|edge| edge.0)
    }

    /// Multiplies the weight of each target by a factor.
    fn multiply(&mut self, factor: impl Fn(ShortId) -> f64) {
        let mut sum = 0.0;
        for (edge, sum_here) in self.edges.iter().zip(&mut self.sums) {
            sum += f64::from(edge.1) * factor(ShortId(edge.0));
            *sum_here = sum;
        }
    }

    fn contains(&self, target: ShortId) -> bool {
        self.edges.binary_search_by_key(&target.0, |edge| edge.0).is_ok()
    }
}

impl Steps<'_> {
    /// Lets every walk that has not ended take a step. Returns the number of steps taken.
    fn take(&self, vertices: &mut [ShortId], length: usize, step: usize) -> Result<u64> {
        let at = |walk: usize| vertices[walk * length + step - 1];
        let walker =
            |walk: usize| Walker { walk: walk as u64, at: at(walk), next: NONE, is_forced: false };
        let walks = (0..vertices.len() / length).filter(|&walk| at(walk) != NONE);
        let mut waiting: Vec<Walker> = walks.map(walker).collect();
        let mut taken = 0;
        for attempt in 0.. {
            if waiting.is_empty() {
                break;
            }
            self.propose(&mut waiting, step, attempt)?;
            // Without an edge onwards a walk ends.
            waiting.retain(|walker| walker.next != NONE);
            let before = |walker: &Walker| match step {
                1 => None,
                _ => Some(vertices[walker.walk as usize * length + step - 2]),
            };
            let (accepted, left) = match attempt {
                ATTEMPTS_MAX => (self.draw_exactly(waiting, before, step)?, Vec::new()),
                _ => self.decide(waiting, before, step, attempt)?,
            };
            taken += accepted.len() as u64;
            for walker in accepted {
                vertices[walker.walk as usize * length + step] = walker.next;
            }
            waiting = left;
        }
        Ok(taken)
    }

    /// A random number in `0..1` for a walk; `purpose` is 0 or 1.
    fn fraction(&self, walk: u64, step: usize, attempt: u64, purpose: u64) -> f64 {
        let seed = random::number(random::number(self.wanted.seed, walk), step as u64);
        let number = random::number(seed, 2 * attempt + purpose);
        // An `f64` holds 53 bits, so the fraction is exact, and below 1.
        (number >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Draws a next vertex for each walk, by weights alone.
    fn propose(&self, waiting: &mut [Walker], step: usize, attempt: u64) -> Result<()> {
        waiting.sort_unstable_by_key(|walker| (walker.at, walker.walk));
        self.serve(waiting, |walkers, targets| {
            for walker in walkers {
                let fraction = self.fraction(walker.walk, step, attempt, 0);
                walker.next = targets.draw(fraction).unwrap_or(NONE);
                walker.is_forced = targets.is_one();
            }
        })
    }

    /// Splits walks into those that take the proposed step and those that must draw again.
    fn decide(
        &self,
        waiting: Vec<Walker>,
        before: impl Fn(&Walker) -> Option<ShortId>,
        step: usize,
        attempt: u64,
    ) -> Result<(Vec<Walker>, Vec<Walker>)> {
        let (back, onwards) = (1.0 / self.wanted.p.get(), 1.0 / self.wanted.q.get());
        let most = back.max(onwards).max(1.0);
        let (mut accepted, mut left, mut doubtful) = (Vec::new(), Vec::new(), Vec::new());
        for walker in waiting {
            let Some(before) = before(&walker).filter(|_| !walker.is_forced) else {
                accepted.push(walker);
                continue;
            };
            let bound = self.fraction(walker.walk, step, attempt, 1) * most;
            let (least, greatest) = match walker.next == before {
                true => (back, back),
                false => (onwards.min(1.0), onwards.max(1.0)),
            };
            match bound {
                bound if bound < least => accepted.push(walker),
                bound if bound >= greatest => left.push(walker),
                // It depends on whether there is an edge from the vertex before.
                _ => doubtful.push((walker, before)),
            }
        }
        // The rows of the vertices before are read here, so `at` is the vertex before.
        let was = |&(walker, before): &(Walker, ShortId)| Walker { at: before, ..walker };
        let mut asking: Vec<Walker> = doubtful.iter().map(was).collect();
        asking.sort_unstable_by_key(|walker| (walker.at, walker.walk));
        self.serve(&mut asking, |walkers, targets| {
            for walker in walkers {
                let factor = if targets.contains(walker.next) { 1.0 } else { onwards };
                // The same number as above: walkers do not keep it.
                let bound = self.fraction(walker.walk, step, attempt, 1) * most;
                if bound >= factor {
                    walker.next = NONE;
                }
            }
        })?;
        // Sorts both by walk, so that they match.
        doubtful.sort_unstable_by_key(|(walker, _)| walker.walk);
        asking.sort_unstable_by_key(|walker| walker.walk);
        for ((walker, _), asked) in doubtful.into_iter().zip(asking) {
            if asked.next == NONE { left.push(walker) } else { accepted.push(walker) }
        }
        Ok((accepted, left))
    }

    /// Draws the next vertex of each walk from its weights after the step before.
    fn draw_exactly(
        &self,
        waiting: Vec<Walker>,
        before: impl Fn(&Walker) -> Option<ShortId>,
        step: usize,
    ) -> Result<Vec<Walker>> {
        let (back, onwards) = (1.0 / self.wanted.p.get(), 1.0 / self.wanted.q.get());
        let stepping: Vec<Mutex<(Walker, Option<ShortId>)>> =
            waiting.into_iter().map(|walker| Mutex::new((walker, before(&walker)))).collect();
        self.job.for_each(stepping.len(), |index| {
            let mut stepping = lock(&stepping[index]);
            let (walker, Some(before)) = *stepping else { return Ok(()) };
            let rows = [before, walker.at];
            let mut traversal = self.job.traversal(Listed::new(&rows));
            let [mut of_before, mut targets] = [Targets::default(), Targets::default()];
            for targets in [&mut of_before, &mut targets] {
                if let Some((row, _)) = traversal.next_row()? {
                    targets.fill(&row, self.is_ascending)?;
                }
            }
            targets.multiply(|target| match target {
                target if target == before => back,
                target if of_before.contains(target) => 1.0,
                _ => onwards,
            });
            // The last proposal has used up the number with the purpose 0.
            let fraction = self.fraction(walker.walk, step, ATTEMPTS_MAX, 1);
            stepping.0.next = targets.draw(fraction).unwrap_or(walker.next);
            Ok::<(), Error>(())
        })?;
        let walker = |stepping: Mutex<(Walker, _)>| stepping.into_inner().map(|both| both.0);
        Ok(stepping.into_iter().filter_map(|stepping| walker(stepping).ok()).collect())
    }

    /// Calls `visit` with the walkers at each vertex and its targets, in pieces that several
    /// workers take. The walkers are sorted by vertex.
    fn serve(
        &self,
        walkers: &mut [Walker],
        visit: impl Fn(&mut [Walker], &Targets) + Sync,
    ) -> Result<()> {
        let mut pieces = Vec::new();
        let mut rest = walkers;
        while !rest.is_empty() {
            let mut end = PIECE.min(rest.len());
            // All walkers at a vertex go into one piece, so that its row is read once.
            end += rest[end..].iter().take_while(|walker| walker.at == rest[end - 1].at).count();
            let (piece, others) = rest.split_at_mut(end);
            pieces.push(Mutex::new(piece));
            rest = others;
        }
        let is_negative = Mutex::new(false);
        self.job.for_each(pieces.len(), |index| {
            let mut piece = lock(&pieces[index]);
            let mut vertices: Vec<ShortId> = piece.iter().map(|walker| walker.at).collect();
            vertices.dedup();
            let mut traversal = self.job.traversal(Listed::new(&vertices));
            let mut targets = Targets::default();
            for walkers in piece.chunk_by_mut(|a, b| a.at == b.at) {
                let Some((row, _)) = traversal.next_row()? else { break };
                if !targets.fill(&row, self.is_ascending)? {
                    *lock(&is_negative) = true;
                }
                visit(walkers, &targets);
            }
            Ok::<(), Error>(())
        })?;
        match is_negative.into_inner().unwrap_or_default() {
            true => Err(negative_weight(self.graph, "random walks")),
            false => Ok(()),
        }
    }
}
