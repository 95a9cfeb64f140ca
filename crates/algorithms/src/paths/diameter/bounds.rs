//! Searches from the vertices farthest from the middle, then ever nearer ones.

use std::cmp::Reverse;
use std::time::Instant;

use tegula_engine::traverse::{self, RowsWanted};
use tegula_engine::{Graph, IterationTimes, ProgressUnit, RunOptions, RunStatistics, ShortId};
use tegula_store::rows::Direction;

use super::searches::{Searches, WIDTH};
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
        let mut fringe = Fringe {
            searches: Searches::new(job, count, directions),
            levels: vec![NONE; count as usize],
            bounds: Bounds {
                ends: Some((first, first)),
                lower: 0,
                upper: u32::MAX,
                vertices,
                searches: 0,
                statistics: RunStatistics::default(),
            },
            times: IterationTimes::default(),
        };
        fringe.search_inwards(first, searches_max, options)?;
        let statistics = fringe.searches.statistics(fringe.times);
        Ok(Bounds { statistics, ..fringe.bounds })
    })
}

/// Bytes held beside the rows: searches, levels, and the vertices of one level. Components are
/// found before.
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

/// Returns the first vertex halfway on a shortest path between two vertices `distance` hops apart,
/// from the distances to each.
fn halfway(from_one: &[u32], from_other: &[u32], distance: u32) -> ShortId {
    let half = distance / 2;
    let is_halfway =
        |&(_, (&one, &other)): &(u32, (&u32, &u32))| one == half && other == distance - half;
    let both = (0..).zip(from_one.iter().zip(from_other));
    both.filter(is_halfway).map(|(vertex, _)| ShortId(vertex)).next().unwrap_or(ShortId(0))
}

/// Level of a vertex that is not reached.
const NONE: u32 = u32::MAX;

/// Searches that narrow the bounds.
struct Fringe<'s> {
    searches: Searches<'s>,
    /// The distance of each vertex from the source of the last single search.
    levels: Vec<u32>,
    bounds: Bounds,
    times: IterationTimes,
}

impl Fringe<'_> {
    fn search_inwards(
        &mut self,
        first: ShortId,
        searches_max: u64,
        options: &RunOptions<'_>,
    ) -> Result<()> {
        options.progress.begin("searching", None, ProgressUnit::Vertices);
        self.narrow(first, searches_max, options)?;
        options.progress.end();
        Ok(())
    }

    /// Searches until the bounds meet or `searches_max` searches are made.
    fn narrow(
        &mut self,
        first: ShortId,
        searches_max: u64,
        options: &RunOptions<'_>,
    ) -> Result<()> {
        let has_ended = |fringe: &Self| fringe.bounds.searches >= searches_max;
        let one_end = self.search_from(first)?;
        if has_ended(self) {
            return Ok(());
        }
        let other_end = self.search_from(one_end)?;
        if has_ended(self) {
            return Ok(());
        }
        // The next search overwrites the levels.
        let from_one_end = self.levels.clone();
        self.search_from(other_end)?;
        if has_ended(self) {
            return Ok(());
        }
        let middle = halfway(&from_one_end, &self.levels, from_one_end[other_end.index()]);
        drop(from_one_end);
        let farthest = self.search_from(middle)?;
        let mut level = self.levels[farthest.index()];
        while self.bounds.lower < self.bounds.upper {
            let at_level: Vec<ShortId> = (0..)
                .map(ShortId)
                .zip(&self.levels)
                .filter(|&(_, &own)| own == level)
                .map(|(vertex, _)| vertex)
                .collect();
            for together in at_level.chunks(WIDTH) {
                if self.bounds.searches + together.len() as u64 > searches_max {
                    return Ok(());
                }
                options.progress.advance(together.len() as u64);
                self.search_together(together)?;
            }
            // At level 0 the bounds meet, so this never falls below 0.
            level -= 1;
            // All vertices left are at most `level` hops from the middle.
            let around = level.saturating_mul(2).max(self.bounds.lower);
            self.bounds.upper = self.bounds.upper.min(around);
        }
        Ok(())
    }

    /// Searches from a vertex. Returns the first of the farthest vertices.
    fn search_from(&mut self, source: ShortId) -> Result<ShortId> {
        let started = Instant::now();
        self.levels.fill(NONE);
        let (levels, mut farthest) = (&mut self.levels, (0, source));
        self.searches.run(&[source], |level, vertex, _| {
            levels[vertex.index()] = level;
            if level > farthest.0 {
                farthest = (level, vertex);
            }
        })?;
        self.bounds.searches += 1;
        self.times.push(started.elapsed());
        self.note(farthest.0, (source, farthest.1));
        self.bounds.upper = self.bounds.upper.min(farthest.0.saturating_mul(2));
        Ok(farthest.1)
    }

    /// Searches from up to 64 vertices for the distance of the farthest vertex from each.
    fn search_together(&mut self, sources: &[ShortId]) -> Result<()> {
        let started = Instant::now();
        // For each search, the first vertex of the last level that it has reached.
        let mut farthest = [(0, ShortId(0)); WIDTH];
        let mut last = (0, 0u64);
        self.searches.run(sources, |level, vertex, searches| {
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
        self.bounds.searches += sources.len() as u64;
        self.times.push(started.elapsed());
        for (&source, (distance, vertex)) in sources.iter().zip(farthest) {
            self.note(distance, (source, vertex));
        }
        Ok(())
    }

    /// Notes that two vertices are `distance` hops apart.
    fn note(&mut self, distance: u32, ends: (ShortId, ShortId)) {
        if distance > self.bounds.lower {
            (self.bounds.lower, self.bounds.ends) = (distance, Some(ends));
        }
    }
}
