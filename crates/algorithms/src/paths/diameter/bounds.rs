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

/// Finds the diameter, or bounds of it if `searches_max` searches do not suffice; at least one is
/// made.
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

/// Bytes held beside the rows: searches, distances, and two bounds of each eccentricity. Components
/// are found before.
pub(super) fn size(graph: &Graph) -> u64 {
    Searches::size(graph.vertex_count()) + (4 + 4 + 4) * graph.vertex_count()
}

/// Returns the vertex with the most edges in the largest component, and the size of that component;
/// `None` in a graph without vertices.
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
/// The number of pairs whose first search may start from any vertex with unequal bounds. In later
/// pairs it starts from a vertex that may be an end, and so rules out at least that vertex.
const PAIRS_ANYWHERE: usize = 6;
/// If a pair of searches rules out fewer vertices than this, 64 searches run together. They take
/// about six times as long as one search (wave, in memory), and rule out 64 vertices if 64 are left.
const RULED_OUT_MIN: u64 = 16;

/// Searches, and the bounds of eccentricities that follow from them. A search from a vertex of
/// eccentricity `e` tells that a vertex at distance `d` from it has an eccentricity of at most
/// `d + e`, and of at least `d` and `e - d`.
struct Narrowing<'n> {
    searches: Searches<'n>,
    searches_max: u64,
    options: &'n RunOptions<'n>,
    /// The distance of each vertex from the source of the last single search.
    distances: Vec<AtomicU32>,
    /// The lower bound of each eccentricity. Outside of the component, both bounds are 0.
    least: Vec<u32>,
    /// The upper bound of each eccentricity. Where it exceeds the lower bound of the diameter, the
    /// vertex may be an end of a greater distance.
    most: Vec<u32>,
    /// The number of vertices that may be an end of a greater distance.
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
            distances: (0..count).map(|_| AtomicU32::new(UNREACHED)).collect(),
            least: vec![0; count],
            most: vec![u32::MAX; count],
            left: count as u64,
            bounds,
            times: IterationTimes::default(),
        }
    }

    /// Searches until no vertex is left, or until `searches_max` searches are made.
    fn narrow(&mut self, first: ShortId) -> Result<()> {
        let mut end = self.search_from(first)?;
        for _ in 1..SWEEPS {
            if self.has_ended() {
                return Ok(());
            }
            if self.is_known(end) {
                break;
            }
            end = self.search_from(end)?;
        }
        for pair in 0.. {
            let before = self.left;
            for middle in [true, false] {
                if self.has_ended() {
                    return Ok(());
                }
                let source =
                    if middle { self.middle(pair < PAIRS_ANYWHERE) } else { self.outermost() };
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

    /// Whether the eccentricity of a vertex is known.
    fn is_known(&self, vertex: ShortId) -> bool {
        self.least[vertex.index()] == self.most[vertex.index()]
    }

    /// Whether a vertex may be an end of a greater distance than the greatest one found.
    fn may_be_end(&self, vertex: usize) -> bool {
        self.most[vertex] > self.bounds.lower
    }

    /// Returns the first vertex of those with the least lower bound: of all whose eccentricity is
    /// not known, or only of those that may be an end.
    fn middle(&self, anywhere: bool) -> ShortId {
        let all = 0..self.least.len();
        let is_candidate = |&vertex: &usize| match anywhere {
            true => self.least[vertex] < self.most[vertex],
            false => self.may_be_end(vertex),
        };
        let middle = all.filter(is_candidate).min_by_key(|&vertex| self.least[vertex]);
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
        let (eccentricity, farthest) = self.searches.run_alone(source, &mut self.distances)?;
        self.raise_lower(eccentricity, (source, farthest));
        let both = self.least.iter_mut().zip(&mut self.most);
        for ((least, most), distance) in both.zip(&mut self.distances) {
            match *distance.get_mut() {
                UNREACHED => (*least, *most) = (0, 0),
                distance => {
                    *least = distance.max(eccentricity - distance).max(*least);
                    *most = distance.saturating_add(eccentricity).min(*most);
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
        let (mut last_level, mut seen_in_level) = (0, 0u64);
        self.searches.run_together(&sources, |level, vertex, bits| {
            if level != last_level {
                (last_level, seen_in_level) = (level, 0);
            }
            let mut new = bits & !seen_in_level;
            seen_in_level |= bits;
            while new != 0 {
                farthest[new.trailing_zeros() as usize] = (level, vertex);
                new &= new - 1;
            }
        })?;
        for (&source, (eccentricity, vertex)) in sources.iter().zip(farthest) {
            self.raise_lower(eccentricity, (source, vertex));
            self.least[source.index()] = eccentricity;
            self.most[source.index()] = eccentricity;
        }
        self.end_searches(sources.len() as u64, started);
        Ok(())
    }

    /// Returns up to `count` of the vertices that may be ends, by descending upper bound, then by
    /// ascending id.
    fn outermost_of(&self, count: usize) -> Vec<ShortId> {
        // On top is the vertex to drop: the last of those with the least upper bound.
        let mut taken = BinaryHeap::with_capacity(count + 1);
        for vertex in (0..self.most.len()).filter(|&vertex| self.may_be_end(vertex)) {
            taken.push((Reverse(self.most[vertex]), vertex));
            if taken.len() > count {
                taken.pop();
            }
        }
        let sorted = taken.into_sorted_vec();
        sorted.into_iter().map(|(_, vertex)| ShortId(vertex as u32)).collect()
    }

    /// Raises the lower bound of the diameter if `ends`, which are `distance` hops apart, exceed it.
    fn raise_lower(&mut self, distance: u32, ends: (ShortId, ShortId)) {
        if distance > self.bounds.lower {
            (self.bounds.lower, self.bounds.ends) = (distance, Some(ends));
        }
    }

    /// Counts `count` searches, and updates the upper bound and the number of vertices left.
    fn end_searches(&mut self, count: u64, started: Instant) {
        self.bounds.searches += count;
        self.options.progress.advance(count);
        let lower = self.bounds.lower;
        self.bounds.upper = self.most.iter().copied().fold(lower, u32::max);
        self.left = self.most.iter().filter(|&&most| most > lower).count() as u64;
        self.times.push(started.elapsed());
    }
}
