//! Breadth-first searches from one vertex, or from many at once.
//!
//! Up to 64 searches share one pass over the rows of a level: each vertex has a bit for each search
//! that has reached it (Then et al., *The More the Merrier: Efficient Multi-Source Graph
//! Traversal*, VLDB 2014). Most searches reach most vertices within a few levels, so 64 of them
//! read little more than one. The level in which a search reaches a vertex depends on the graph
//! alone. Memory: 32 bytes a vertex.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use tegula_engine::traverse::{Filter, RowsJob, Sequential};
use tegula_engine::{IterationTimes, Result, Row, RunStatistics, ShortId};
use tegula_store::rows::Direction;

/// Searches that run together.
pub(super) const WIDTH: usize = 64;
/// A level with at least one vertex in `DENSE_SHARE` is followed in a pass over all vertices.
const DENSE_SHARE: usize = 16;

/// The distance of a vertex that is not reached.
pub(super) const UNREACHED: u32 = u32::MAX;

/// Searches along edges from up to [`WIDTH`] vertices at a time.
pub(super) struct Searches<'s> {
    job: &'s RowsJob<'s>,
    /// The directions in which they follow edges.
    directions: &'s [Direction],
    /// For each vertex, the searches that have reached it.
    seen: Vec<u64>,
    /// For each vertex, the searches that reach it in this level.
    reached: Vec<AtomicU64>,
    /// For each vertex, the searches that reach it in the next level.
    next: Vec<AtomicU64>,
    /// The vertices of this level, ascending.
    frontier: Vec<ShortId>,
    edges: AtomicU64,
}

impl<'s> Searches<'s> {
    /// Makes the room for searches. None has begun.
    pub(super) fn new(
        job: &'s RowsJob<'s>,
        vertex_count: u32,
        directions: &'s [Direction],
    ) -> Searches<'s> {
        let bits = || (0..vertex_count).map(|_| AtomicU64::new(0)).collect();
        Searches {
            job,
            directions,
            seen: vec![0; vertex_count as usize],
            reached: bits(),
            next: bits(),
            frontier: Vec::new(),
            edges: AtomicU64::new(0),
        }
    }

    /// Returns the bytes that they hold: three arrays of bits, and two frontiers.
    pub(super) fn size(vertex_count: u64) -> u64 {
        32 * vertex_count
    }

    /// Returns the number of vertices of the graph.
    pub(super) fn vertex_count(&self) -> usize {
        self.seen.len()
    }

    /// Returns the statistics of all searches, which took these times.
    pub(super) fn statistics(self, times: IterationTimes) -> RunStatistics {
        self.job.statistics(times, self.edges.into_inner())
    }

    /// Searches from one vertex. Puts the distance of each vertex into `distances`. Returns the
    /// greatest distance, and the first vertex at that distance.
    pub(super) fn run_alone(
        &self,
        source: ShortId,
        distances: &mut [AtomicU32],
    ) -> Result<(u32, ShortId)> {
        distances.iter_mut().for_each(|distance| *distance.get_mut() = UNREACHED);
        *distances[source.index()].get_mut() = 0;
        let distances = &*distances;
        let mut frontier = vec![source];
        let mut level = 0;
        loop {
            let found = self.job.follow(&frontier, self.directions, |row, found| {
                let mut edges = 0;
                row.for_each(|target| {
                    edges += 1;
                    let own = &distances[target.index()];
                    // Most vertices are reached already, and then a load is enough. The worker that
                    // reaches a vertex lists it.
                    if own.load(Ordering::Relaxed) == UNREACHED
                        && own.swap(level + 1, Ordering::Relaxed) == UNREACHED
                    {
                        found.push(target);
                    }
                })?;
                self.edges.fetch_add(edges, Ordering::Relaxed);
                Ok(())
            })?;
            if found.is_empty() {
                return Ok((level, frontier[0]));
            }
            frontier = found;
            level += 1;
        }
    }

    /// Searches from each of the sources, up to [`WIDTH`] different ones. Calls `visit` for each
    /// vertex that is reached, by ascending level: with the level, the vertex, and a bit for each
    /// source whose search reaches it there.
    pub(super) fn run_together(
        &mut self,
        sources: &[ShortId],
        mut visit: impl FnMut(u32, ShortId, u64),
    ) -> Result<()> {
        self.seen.fill(0);
        for (bit, &source) in sources.iter().enumerate() {
            self.next[source.index()].fetch_or(1 << bit, Ordering::Relaxed);
        }
        let mut begun = sources.to_vec();
        begun.sort_unstable();
        begun.dedup();
        self.arrive(Some(begun), |vertex, bits| visit(0, vertex, bits));
        for level in 1.. {
            if self.frontier.is_empty() {
                break;
            }
            let found = match self.frontier.len() < self.seen.len() / DENSE_SHARE {
                true => Some(self.follow_list()?),
                false => self.follow_all().map(|()| None)?,
            };
            self.arrive(found, |vertex, bits| visit(level, vertex, bits));
        }
        Ok(())
    }

    /// Follows the vertices of the level, and returns the vertices of the next one.
    fn follow_list(&self) -> Result<Vec<ShortId>> {
        self.job.follow(&self.frontier, self.directions, |row, found| {
            self.follow_row(row, |target| found.push(target))
        })
    }

    /// Follows the vertices of the level in a pass over all vertices.
    fn follow_all(&self) -> Result<()> {
        self.job.for_each_range(|_, ids| {
            let is_reached = |vertex: ShortId| self.bits_of(vertex) != 0;
            for &direction in self.directions {
                let order = Filter::new(Sequential::new(ids.clone()), is_reached);
                let mut traversal = self.job.traversal_of(direction, order);
                while let Some((row, _)) = traversal.next_row()? {
                    self.follow_row(&row, |_| ())?;
                }
            }
            Ok(())
        })
    }

    fn bits_of(&self, vertex: ShortId) -> u64 {
        self.reached[vertex.index()].load(Ordering::Relaxed)
    }

    /// Follows the row of a vertex for the searches that reach it in this level.
    #[inline]
    fn follow_row(&self, row: &Row<'_>, mut found: impl FnMut(ShortId)) -> Result<()> {
        let bits = self.bits_of(row.source());
        let mut edges = 0;
        row.for_each(|target| {
            edges += 1;
            let next = &self.next[target.index()];
            // Most bits are set already, and then a load is enough. The worker that sets the first
            // bit of a target lists it.
            let new = bits & !self.seen[target.index()] & !next.load(Ordering::Relaxed);
            if new != 0 && next.fetch_or(new, Ordering::Relaxed) == 0 {
                found(target);
            }
        })?;
        self.edges.fetch_add(edges, Ordering::Relaxed);
        Ok(())
    }

    /// Makes the next level the current one. `found` holds its vertices; if it is `None`, they are
    /// looked for.
    fn arrive(&mut self, found: Option<Vec<ShortId>>, mut visit: impl FnMut(ShortId, u64)) {
        // `reached` becomes `next` below, and `next` must be clear.
        for vertex in &self.frontier {
            *self.reached[vertex.index()].get_mut() = 0;
        }
        std::mem::swap(&mut self.reached, &mut self.next);
        self.frontier = found.unwrap_or_else(|| {
            let all = self.reached.iter_mut().zip((0..).map(ShortId));
            let is_reached = |(bits, vertex): (&mut AtomicU64, ShortId)| {
                (*bits.get_mut() != 0).then_some(vertex)
            };
            all.filter_map(is_reached).collect()
        });
        for &vertex in &self.frontier {
            let bits = *self.reached[vertex.index()].get_mut();
            self.seen[vertex.index()] |= bits;
            visit(vertex, bits);
        }
    }
}
