//! The yardstick for breadth-first search: direction-optimising (Beamer, Asanovic, Patterson,
//! *Direction-optimizing breadth-first search*, SC 2012) along plain compressed sparse rows, in
//! memory.
//!
//! It works like the implementation in the GAP benchmark suite (arXiv:1508.03619). Top-down, the
//! vertices of a level look for unvisited neighbours. Once the level has many edges, it goes
//! bottom-up: all unvisited vertices look for a neighbour in the level, which is a bit per vertex.
//! One thread handles a level with few vertices, because sharing it takes longer. It takes 4 bytes
//! per edge in each direction, and per vertex 8 of index and 4 of parents.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use tegula_generators::Generator;

use crate::plain_rows::{Ends, PlainRows};

/// Switches to bottom-up when the edges of a level exceed one in this number of the remaining
/// edges.
const TO_BOTTOM_UP: usize = 15;
/// Switches back when the vertices of a level are at most one in this number of all vertices.
const TO_TOP_DOWN: usize = 18;
/// Most vertices of a level that one thread handles alone.
const SHARE: usize = 1024;
/// The vertex is unvisited.
const NONE: u32 = u32::MAX;

/// A graph in compressed sparse rows, in both directions.
pub struct PlainBfs {
    out: Rows,
    /// `None` for an undirected graph, where both are the same.
    incoming: Option<Rows>,
    pool: ThreadPool,
}

struct Rows {
    offsets: Vec<usize>,
    targets: Vec<u32>,
}

impl Rows {
    fn new(generator: &dyn Generator, ends: Ends) -> Rows {
        let PlainRows { offsets, edges } = PlainRows::new(generator, ends, |_| 0);
        Rows { offsets, targets: edges.into_par_iter().map(|edge| edge as u32).collect() }
    }

    fn of(&self, vertex: u32) -> &[u32] {
        &self.targets[self.offsets[vertex as usize]..self.offsets[vertex as usize + 1]]
    }
}

impl PlainBfs {
    /// Builds the rows of a graph with fewer than 2^32 vertices, directed or undirected.
    ///
    /// # Panics
    /// If there are more vertices, or threads cannot be started.
    pub fn new(generator: &dyn Generator, is_undirected: bool, threads: usize) -> PlainBfs {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build().expect("threads start");
        let (out, incoming) = pool.install(|| match is_undirected {
            true => (Rows::new(generator, Ends::Both), None),
            false => {
                let incoming = Rows::new(generator, Ends::Targets);
                (Rows::new(generator, Ends::Sources), Some(incoming))
            }
        });
        PlainBfs { out, incoming, pool }
    }

    /// Returns the number of vertices, including those without an edge.
    pub fn vertex_count(&self) -> usize {
        self.out.offsets.len() - 1
    }

    /// Returns the number of edges, counting each direction.
    pub fn edge_count(&self) -> usize {
        self.out.targets.len()
    }

    /// Returns the number of vertices in each level, starting with the source's.
    ///
    /// # Panics
    /// If there is no such source.
    pub fn levels(&self, source: u32) -> Vec<usize> {
        self.pool.install(|| self.search(source))
    }

    fn search(&self, source: u32) -> Vec<usize> {
        let parents: Vec<AtomicU32> =
            (0..self.vertex_count()).into_par_iter().map(|_| AtomicU32::new(NONE)).collect();
        parents[source as usize].store(source, Relaxed);
        let (mut frontier, mut levels) = (vec![source], Vec::new());
        let mut edges_left = self.edge_count();
        while !frontier.is_empty() {
            let edges: usize = frontier.iter().map(|&vertex| self.out.of(vertex).len()).sum();
            edges_left = edges_left.saturating_sub(edges);
            if edges * TO_BOTTOM_UP > edges_left + edges && frontier.len() > SHARE {
                frontier = self.bottom_up(frontier, &parents, &mut levels);
            } else {
                levels.push(frontier.len());
                frontier = self.top_down(&frontier, &parents);
            }
        }
        levels
    }

    /// Takes one random read of 4 bytes per edge, and a write for each vertex found.
    fn top_down(&self, frontier: &[u32], parents: &[AtomicU32]) -> Vec<u32> {
        let look = |frontier: &[u32]| {
            let mut found = Vec::new();
            for &vertex in frontier {
                for &target in self.out.of(vertex) {
                    let parent = &parents[target as usize];
                    if parent.load(Relaxed) == NONE
                        && parent.compare_exchange(NONE, vertex, Relaxed, Relaxed).is_ok()
                    {
                        found.push(target);
                    }
                }
            }
            found
        };
        if frontier.len() <= SHARE {
            return look(frontier);
        }
        frontier.par_chunks(SHARE / 8).map(look).collect::<Vec<_>>().concat()
    }

    /// Goes bottom-up until a level has few vertices, and returns that level.
    fn bottom_up(
        &self,
        frontier: Vec<u32>,
        parents: &[AtomicU32],
        levels: &mut Vec<usize>,
    ) -> Vec<u32> {
        let incoming = self.incoming.as_ref().unwrap_or(&self.out);
        let mut active = vec![0u64; parents.len().div_ceil(64)];
        let mut count = frontier.len();
        for vertex in frontier {
            active[vertex as usize / 64] |= 1 << (vertex % 64);
        }
        let is_active =
            |active: &[u64], vertex: u32| active[vertex as usize / 64] >> (vertex % 64) & 1 == 1;
        loop {
            levels.push(count);
            let look = |word: usize| {
                let vertices = 64 * word..parents.len().min(64 * word + 64);
                let mut found = 0;
                for vertex in vertices {
                    if parents[vertex].load(Relaxed) != NONE {
                        continue;
                    }
                    let row = incoming.of(vertex as u32);
                    if let Some(&parent) = row.iter().find(|&&source| is_active(&active, source)) {
                        parents[vertex].store(parent, Relaxed);
                        found |= 1 << (vertex % 64);
                    }
                }
                found
            };
            let words = (0..active.len()).into_par_iter().with_min_len(16);
            let next: Vec<u64> = words.map(look).collect();
            count = next.iter().map(|word| word.count_ones() as usize).sum();
            active = next;
            if count <= parents.len() / TO_TOP_DOWN {
                break;
            }
        }
        let vertices = (0..parents.len() as u32).into_par_iter().with_min_len(1 << 12);
        vertices.filter(|&vertex| is_active(&active, vertex)).collect()
    }
}
