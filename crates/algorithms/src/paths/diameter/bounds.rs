//! Searches that narrow the bounds of the diameter.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::AtomicU32;
use std::time::Instant;

use tegula_engine::traverse::{self, RowsWanted};
use tegula_engine::{Graph, IterationTimes, ProgressUnit, RunOptions, RunStatistics, ShortId};
use tegula_store::rows::Direction;

use super::searches::{Searches, UNREACHED, WIDTH};
use crate::components::wcc::{self, Method};
use crate::error::Result;

/// Bounds of the diameter.
#[derive(Debug, Clone)]
pub struct Bounds {
    /// Two vertices that are `lower` hops apart; `None` in a graph without vertices.
    pub ends: Option<(ShortId, ShortId)>,
    /// Lower bound of the diameter.
    pub lower: u32,
    /// Upper bound of the diameter.
    pub upper: u32,
    /// Number of vertices of the largest component.
    pub vertices: u64,
    /// Number of searches.
    pub searches: u64,
    /// Statistics of the run; an iteration is up to 64 searches.
    pub statistics: RunStatistics,
}

/// Finds the diameter, or bounds from at most `searches_max` searches; at least one is made.
pub fn run(graph: &Graph, searches_max: u64, options: &RunOptions<'_>) -> Result<Bounds> {
    let Some((first, vertices)) = hub(graph, options)? else {
        let statistics = RunStatistics::default();
        return Ok(Bounds { ends: None, lower: 0, upper: 0, vertices: 0, searches: 0, statistics });
    };
    let directions: &[Direction] = match graph.manifest().undirected {
        true => &[Direction::Forward],
        false => &Direction::ALL,
    };
    traverse::run_rereading(graph, RowsWanted::NEIGHBOURS, size(graph), options, |job| {
        let count = graph.short_vertex_count()?;
        let bounds = Bounds {
            ends: Some((first, first)),
            lower: 0,
            upper: u32::MAX,
            vertices,
            searches: 0,
            statistics: RunStatistics::default(),
        };
        let searches = Searches::new(job, count, directions);
        let mut narrowing = Narrowing::new(searches, bounds, searches_max, options);
        options.progress.begin("searching", None, ProgressUnit::Vertices);
        narrowing.narrow(first)?;
        options.progress.end();
        let statistics = narrowing.searches.statistics(narrowing.times);
        Ok(Bounds { statistics, ..narrowing.bounds })
    })
}

/// Bytes held beside the rows: searches, levels, and two bounds. Components are found before.
pub(super) fn size(graph: &Graph) -> u64 {
    Searches::size(graph.vertex_count()) + (4 + 4 + 4) * graph.vertex_count()
}

/// The vertex of the largest component with the most edges, and the size of that component; `None`
/// without vertices.
fn hub(graph: &Graph, options: &RunOptions<'_>) -> Result<Option<(ShortId, u64)>> {
    let components = wcc::run(graph, Method::default(), options)?;
    let sizes = components.sizes();
    let largest = (0..).map(ShortId).zip(sizes).max_by_key(|&(root, size)| (size, Reverse(root)));
    let Some((largest, size)) = largest else { return Ok(None) };
    let mut most = (0, largest);
    graph.for_each_degrees(|first, out, into| {
        for ((out, into), vertex) in out.iter().zip(into).zip(first as u32..) {
            let edges = u64::from(*out) + u64::from(*into);
            if components.roots[vertex as usize] == largest && edges > most.0 {
                most = (edges, ShortId(vertex));
            }
        }
        Ok(())
    })?;
    Ok(Some((most.1, size.into())))
}

/// The number of first searches, each from the farthest vertex of the one before.
const SWEEPS: usize = 3;
/// The number of first searches from the middle that may begin at any vertex. Later ones begin at a
/// vertex that may still be an end of the diameter, so they rule out at least that one.
const ANYWHERE: usize = 6;
/// After a pair of searches that rules out fewer vertices, 64 search together. That takes about
/// eight times as long as one, and rules out at least 64.
const RULED_OUT_MIN: u64 = 16;

/// Searches, and what they tell of the distance from each vertex to the farthest one, its
/// eccentricity. A vertex at distance `d` from the source of a search of `e` levels has at most
/// `d + e`, and at least both `d` and `e - d`.
struct Narrowing<'n> {
    searches: Searches<'n>,
    searches_max: u64,
    options: &'n RunOptions<'n>,
    /// The distance of each vertex from the source of the last single search.
    levels: Vec<AtomicU32>,
    /// The lower bound of each eccentricity. Outside of the component, both bounds are 0.
    least: Vec<u32>,
    /// The upper bound of each eccentricity. Where it is more than the lower bound of the diameter,
    /// the vertex may be an end of a longer path.
    most: Vec<u32>,
    /// The number of vertices that may be an end of a longer path.
    left: u64,
    bounds: Bounds,
    times: IterationTimes,
}

impl<'n> Narrowing<'n> {
    fn new(
        searches: Searches<'n>,
        bounds: Bounds,
        searches_max: u64,
        options: &'n RunOptions<'n>,
    ) -> Narrowing<'n> {
        let count = searches.vertex_count();
        Narrowing {
            searches,
            searches_max,
            options,
            levels: (0..count).map(|_| AtomicU32::new(UNREACHED)).collect(),
            least: vec![0; count],
            most: vec![u32::MAX; count],
            left: count as u64,
            bounds,
            times: IterationTimes::default(),
        }
    }

    /// Searches until the bounds meet or no search is left.
    fn narrow(&mut self, first: ShortId) -> Result<()> {
        let mut end = first;
        for _ in 0..SWEEPS {
            if self.has_ended() {
                return Ok(());
            }
            end = self.search_from(end)?;
        }
        for pair in 0.. {
            let before = self.left;
            for middle in [true, false] {
                if self.has_ended() {
                    return Ok(());
                }
                let source = if middle { self.middle(pair < ANYWHERE) } else { self.outermost() };
                self.search_from(source)?;
            }
            if before - self.left < RULED_OUT_MIN && !self.has_ended() {
                self.search_together()?;
            }
        }
        Ok(())
    }

    fn has_ended(&self) -> bool {
        self.left == 0 || self.bounds.searches >= self.searches_max
    }

    /// Whether a vertex may be an end of a longer path than the longest one found.
    fn may_be_end(&self, vertex: usize) -> bool {
        self.most[vertex] > self.bounds.lower
    }

    /// Returns the first vertex of those with the least lower bound: of all whose eccentricity is
    /// not known, or only of those that may be an end.
    fn middle(&self, anywhere: bool) -> ShortId {
        let all = 0..self.least.len();
        let is_open = |&vertex: &usize| match anywhere {
            true => self.least[vertex] < self.most[vertex],
            false => self.may_be_end(vertex),
        };
        let middle = all.filter(is_open).min_by_key(|&vertex| self.least[vertex]);
        ShortId(middle.unwrap_or_default() as u32)
    }

    /// Returns the first vertex of those with the greatest upper bound.
    fn outermost(&self) -> ShortId {
        let all = 0..self.most.len();
        let outermost = all.max_by_key(|&vertex| (self.most[vertex], Reverse(vertex)));
        ShortId(outermost.unwrap_or_default() as u32)
    }

    /// Searches from a vertex. Returns the first of the farthest vertices.
    fn search_from(&mut self, source: ShortId) -> Result<ShortId> {
        let started = Instant::now();
        let (eccentricity, farthest) = self.searches.run_alone(source, &mut self.levels)?;
        self.note(eccentricity, (source, farthest));
        let bounds = self.least.iter_mut().zip(&mut self.most);
        for ((least, most), level) in bounds.zip(&mut self.levels) {
            match *level.get_mut() {
                UNREACHED => (*least, *most) = (0, 0),
                level => {
                    *least = level.max(eccentricity - level).max(*least);
                    *most = level.saturating_add(eccentricity).min(*most);
                }
            }
        }
        self.end_searches(1, started);
        Ok(farthest)
    }

    /// Searches from up to 64 of the vertices with the greatest upper bounds.
    fn search_together(&mut self) -> Result<()> {
        let started = Instant::now();
        let count = (self.searches_max - self.bounds.searches).min(WIDTH as u64) as usize;
        let sources = self.outermost_of(count);
        // For each search, the first vertex of the last level that it has reached.
        let mut farthest = [(0, ShortId(0)); WIDTH];
        let mut last = (0, 0u64);
        self.searches.run_together(&sources, |level, vertex, searches| {
            if level != last.0 {
                last = (level, 0);
            }
            let mut new = searches & !last.1;
            last.1 |= searches;
            while new != 0 {
                farthest[new.trailing_zeros() as usize] = (level, vertex);
                new &= new - 1;
            }
        })?;
        for (&source, (eccentricity, vertex)) in sources.iter().zip(farthest) {
            self.note(eccentricity, (source, vertex));
            self.least[source.index()] = eccentricity;
            self.most[source.index()] = eccentricity;
        }
        self.end_searches(sources.len() as u64, started);
        Ok(())
    }

    /// Returns the first `count` of the vertices that may be ends, by descending upper bound.
    fn outermost_of(&self, count: usize) -> Vec<ShortId> {
        // A heap in which the least one that is taken comes first.
        let mut taken = BinaryHeap::with_capacity(count + 1);
        for vertex in (0..self.most.len()).filter(|&vertex| self.may_be_end(vertex)) {
            taken.push((Reverse(self.most[vertex]), vertex));
            if taken.len() > count {
                taken.pop();
            }
        }
        taken.into_iter().map(|(_, vertex)| ShortId(vertex as u32)).collect()
    }

    /// Notes that the farthest vertex from one end is the other, `distance` hops away.
    fn note(&mut self, distance: u32, ends: (ShortId, ShortId)) {
        if distance > self.bounds.lower {
            (self.bounds.lower, self.bounds.ends) = (distance, Some(ends));
        }
    }

    /// Updates the bounds of the diameter after `count` searches.
    fn end_searches(&mut self, count: u64, started: Instant) {
        self.bounds.searches += count;
        self.options.progress.advance(count);
        let lower = self.bounds.lower;
        self.bounds.upper = self.most.iter().copied().fold(lower, u32::max);
        self.left = self.most.iter().filter(|&&most| most > lower).count() as u64;
        self.times.push(started.elapsed());
    }
}
