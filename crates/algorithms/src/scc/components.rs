//! Finds the components.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Instant;

use tegula_engine::traverse::{self, RowsJob, RowsWanted, Sequential, VertexSet};
use tegula_engine::{Graph, IterationTimes, RunOptions, RunStatistics, ShortId, Unit};
use tegula_store::rows::{Direction, Row};

use crate::error::Result;

/// The components.
#[derive(Debug, Clone)]
pub struct StrongComponents {
    /// For each dense id the smallest of its component.
    pub roots: Vec<u32>,
    /// What the run did; an iteration is a search for components, or what is trimmed off behind it.
    pub statistics: RunStatistics,
}

/// No vertex.
const NONE: u32 = u32::MAX;

/// Finds the components.
///
/// # Errors
/// Those of [`traverse::run`] and of reading.
pub fn run(graph: &Graph, options: &RunOptions<'_>) -> Result<StrongComponents> {
    traverse::run(graph, RowsWanted::NEIGHBOURS, size(graph), options, |job| {
        find(graph, job, options)
    })
}

/// Bytes that a run holds beside the rows: roots, numbers, edges that are left in either direction, who is left, what
/// was found, and two frontiers.
pub(super) fn size(graph: &Graph) -> u64 {
    32 * graph.vertex_count() + VertexSet::size(graph.vertex_count())
}

fn find(graph: &Graph, job: &RowsJob<'_>, options: &RunOptions<'_>) -> Result<StrongComponents> {
    let count = graph.short_vertex_count()?;
    let atomics = |values: Vec<u32>| values.into_iter().map(AtomicU32::new).collect::<Vec<_>>();
    let mut search = Search {
        job,
        options,
        roots: atomics(vec![NONE; count as usize]),
        numbers: atomics(vec![0; count as usize]),
        edges_from: atomics(graph.out_degrees()?),
        edges_to: atomics(graph.in_degrees()?),
        edges: AtomicU64::new(0),
        times: IterationTimes::default(),
    };
    options.progress.begin("finding components", Some(count.into()), Unit::Vertices);
    search.pass_over_loops()?;
    search.trim_all(count)?;
    if let Some(pivot) = search.pivot() {
        let found = search.timed(|search| search.component_of(pivot))?;
        search.timed(|search| search.trim(&found))?;
    }
    loop {
        let is_left = |vertex: &ShortId| search.root(*vertex) == NONE;
        let left: Vec<ShortId> = (0..count).map(ShortId).filter(is_left).collect();
        if left.is_empty() {
            break;
        }
        let found = search.timed(|search| search.components_among(left))?;
        search.timed(|search| search.trim(&found))?;
    }
    options.progress.end();
    let statistics = job.statistics(search.times, search.edges.into_inner());
    Ok(StrongComponents { roots: smallest(search.roots, search.numbers), statistics })
}

/// The smallest of each component, for each vertex, in the place of any. `first` is used up.
fn smallest(roots: Vec<AtomicU32>, first: Vec<AtomicU32>) -> Vec<u32> {
    let mut first: Vec<u32> = first.into_iter().map(AtomicU32::into_inner).collect();
    first.fill(NONE);
    let named = roots.into_iter().zip(0..).map(|(root, vertex)| {
        let first = &mut first[root.into_inner() as usize];
        *first = vertex.min(*first);
        *first
    });
    named.collect()
}

/// A number that no other id has, drawn at random: every step can be undone.
fn number(vertex: ShortId) -> u32 {
    // `lowbias32` of Chris Wellons' search for good hash functions of 32 bits.
    let mut x = vertex.0;
    x = (x ^ (x >> 16)).wrapping_mul(0x7feb_352d);
    x = (x ^ (x >> 15)).wrapping_mul(0x846c_a68b);
    x ^ (x >> 16)
}

/// What the workers share.
struct Search<'s, 'o> {
    job: &'s RowsJob<'s>,
    options: &'s RunOptions<'o>,
    /// A vertex of the component of each; none where that is not found yet.
    roots: Vec<AtomicU32>,
    /// The greatest number that reaches a vertex, as far as that is known.
    numbers: Vec<AtomicU32>,
    /// Edges to vertices whose component is not found yet, loops not among them; and those from such.
    edges_from: Vec<AtomicU32>,
    edges_to: Vec<AtomicU32>,
    edges: AtomicU64,
    times: IterationTimes,
}

impl Search<'_, '_> {
    fn timed<T>(&mut self, work: impl FnOnce(&Self) -> Result<T>) -> Result<T> {
        let started = Instant::now();
        let done = work(self)?;
        self.times.push(started.elapsed());
        Ok(done)
    }

    fn root(&self, vertex: ShortId) -> u32 {
        self.roots[vertex.index()].load(Ordering::Relaxed)
    }

    /// Says that a vertex is of the component of another; false where that is known, or another one.
    fn claim(&self, vertex: ShortId, root: u32) -> bool {
        let slot = &self.roots[vertex.index()];
        slot.load(Ordering::Relaxed) == NONE
            && slot.compare_exchange(NONE, root, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    fn number_of(&self, vertex: ShortId) -> u32 {
        self.numbers[vertex.index()].load(Ordering::Relaxed)
    }

    /// Follows a frontier, and counts the edges.
    fn follow(
        &self,
        frontier: &[ShortId],
        direction: Direction,
        see: impl Fn(ShortId, ShortId, &mut Vec<ShortId>) + Sync,
    ) -> Result<Vec<ShortId>> {
        let next = self.job.follow(frontier, direction, |row: &Row<'_>, next| {
            let mut edges = 0;
            row.for_each(|target| {
                edges += 1;
                see(row.source(), target, next);
            })?;
            self.edges.fetch_add(edges, Ordering::Relaxed);
            Ok(())
        })?;
        Ok(next)
    }

    /// Takes loops from the edges of all vertices.
    fn pass_over_loops(&mut self) -> Result<()> {
        self.timed(|search| {
            search.job.for_each_range(|_, ids| {
                let mut traversal = search.job.traversal(Sequential::new(ids));
                while let Some((row, _)) = traversal.next_row()? {
                    let (source, mut loops) = (row.source(), 0);
                    row.for_each(|target| loops += u32::from(target == source))?;
                    search.edges_from[source.index()].fetch_sub(loops, Ordering::Relaxed);
                    search.edges_to[source.index()].fetch_sub(loops, Ordering::Relaxed);
                }
                Ok(())
            })?;
            Ok(())
        })
    }

    /// Trims off all that have no edge of a direction.
    fn trim_all(&mut self, count: u32) -> Result<()> {
        self.timed(|search| {
            let has_none = |edges: &[AtomicU32], vertex: ShortId| {
                edges[vertex.index()].load(Ordering::Relaxed) == 0
            };
            let is_alone = |vertex: &ShortId| {
                has_none(&search.edges_from, *vertex) || has_none(&search.edges_to, *vertex)
            };
            let alone: Vec<ShortId> = (0..count).map(ShortId).filter(is_alone).collect();
            alone.iter().for_each(|&vertex| {
                search.claim(vertex, vertex.0);
            });
            search.trim(&alone)
        })
    }

    /// Takes the edges of vertices whose component is found from those that are left, and trims off who has none of a
    /// direction then.
    fn trim(&self, found: &[ShortId]) -> Result<()> {
        let mut frontier = found.to_vec();
        while !frontier.is_empty() {
            self.options.progress.advance(frontier.len() as u64);
            let take =
                |edges: &[AtomicU32], source: ShortId, target: ShortId, next: &mut Vec<ShortId>| {
                    if target != source
                        && self.root(target) == NONE
                        && edges[target.index()].fetch_sub(1, Ordering::Relaxed) == 1
                        && self.claim(target, target.0)
                    {
                        next.push(target);
                    }
                };
            let mut next = self.follow(&frontier, Direction::Forward, |source, target, next| {
                take(&self.edges_to, source, target, next);
            })?;
            next.extend(self.follow(&frontier, Direction::Reverse, |source, target, next| {
                take(&self.edges_from, source, target, next);
            })?);
            next.sort_unstable();
            frontier = next;
        }
        Ok(())
    }

    /// The vertex with most edges of both directions; none where all components are found.
    fn pivot(&self) -> Option<ShortId> {
        let edges = |edges: &[AtomicU32], vertex: ShortId| {
            u64::from(edges[vertex.index()].load(Ordering::Relaxed))
        };
        let ids = (0..self.roots.len() as u32).map(ShortId);
        ids.filter(|&vertex| self.root(vertex) == NONE)
            .max_by_key(|&vertex| edges(&self.edges_from, vertex) * edges(&self.edges_to, vertex))
    }

    /// Finds the component of a vertex; returns its vertices.
    fn component_of(&self, pivot: ShortId) -> Result<Vec<ShortId>> {
        const REACHED: u32 = 1;
        self.numbers[pivot.index()].store(REACHED, Ordering::Relaxed);
        let mut frontier = vec![pivot];
        while !frontier.is_empty() {
            frontier = self.follow(&frontier, Direction::Forward, |_, target, next| {
                if self.root(target) == NONE
                    && self.number_of(target) != REACHED
                    && self.numbers[target.index()].swap(REACHED, Ordering::Relaxed) != REACHED
                {
                    next.push(target);
                }
            })?;
        }
        self.claim(pivot, pivot.0);
        self.claim_backwards(vec![pivot], |_, source| self.number_of(source) == REACHED)
    }

    /// Claims what leads to vertices of components, where `is_of` their component; returns all of these.
    fn claim_backwards(
        &self,
        roots: Vec<ShortId>,
        is_of: impl Fn(ShortId, ShortId) -> bool + Sync,
    ) -> Result<Vec<ShortId>> {
        let mut found = roots.clone();
        let mut frontier = roots;
        while !frontier.is_empty() {
            frontier = self.follow(&frontier, Direction::Reverse, |vertex, source, next| {
                if self.root(source) == NONE
                    && is_of(vertex, source)
                    && self.claim(source, self.root(vertex))
                {
                    next.push(source);
                }
            })?;
            found.extend_from_slice(&frontier);
        }
        found.sort_unstable();
        Ok(found)
    }

    /// Finds components among the vertices that are left; returns the vertices of these.
    fn components_among(&self, left: Vec<ShortId>) -> Result<Vec<ShortId>> {
        for &vertex in &left {
            self.numbers[vertex.index()].store(number(vertex), Ordering::Relaxed);
        }
        let waiting = VertexSet::new(self.roots.len() as u32);
        let mut frontier = left.clone();
        while !frontier.is_empty() {
            let next = self.follow(&frontier, Direction::Forward, |source, target, next| {
                if self.root(target) == NONE {
                    let number = self.number_of(source);
                    if self.numbers[target.index()].fetch_max(number, Ordering::Relaxed) < number
                        && waiting.insert(target)
                    {
                        next.push(target);
                    }
                }
            })?;
            next.iter().for_each(|&vertex| waiting.remove(vertex));
            frontier = next;
        }
        let keeps_its_own = |vertex: &ShortId| self.number_of(*vertex) == number(*vertex);
        let roots: Vec<ShortId> = left.into_iter().filter(keeps_its_own).collect();
        roots.iter().for_each(|&root| {
            self.claim(root, root.0);
        });
        self.claim_backwards(roots, |vertex, source| {
            self.number_of(vertex) == self.number_of(source)
        })
    }
}
