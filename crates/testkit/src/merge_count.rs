//! The yardstick for triangles: merges adjacency lists in plain compressed sparse rows, in memory.
//!
//! It works like `tc` of the GAP benchmark suite (arXiv:1508.03619): it renumbers vertices by
//! descending degree, keeps each vertex's neighbours of lower numbers, and merges the lists of both
//! ends of each remaining edge. All of this is timed, as in GAP. It counts all triangles, not those
//! at each vertex. It takes 8 bytes for each end of an edge while it builds, then 4, and 2 more for
//! lists.

use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use tegula_generators::Generator;

use crate::plain_rows::{Ends, PlainRows};

/// The simple undirected graph of a graph's edges, in compressed sparse rows.
pub struct MergeCount {
    offsets: Vec<usize>,
    neighbours: Vec<u32>,
    pool: ThreadPool,
}

impl MergeCount {
    /// Builds the rows of a graph with fewer than 2^32 vertices: without loops, and with each
    /// neighbour once.
    ///
    /// # Panics
    /// If there are more vertices, or threads cannot be started.
    pub fn new(generator: &dyn Generator, threads: usize) -> MergeCount {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build().expect("threads start");
        let rows = pool.install(|| PlainRows::new(generator, Ends::Both, |_| 0));
        let (mut offsets, mut neighbours) = (vec![0], Vec::with_capacity(rows.edges.len()));
        for (vertex, bounds) in rows.offsets.windows(2).enumerate() {
            let mut last = vertex as u32;
            for &neighbour in &rows.edges[bounds[0]..bounds[1]] {
                let neighbour = neighbour as u32;
                if neighbour != last && neighbour != vertex as u32 {
                    neighbours.push(neighbour);
                    last = neighbour;
                }
            }
            offsets.push(neighbours.len());
        }
        MergeCount { offsets, neighbours, pool }
    }

    /// Returns the number of edges between two different vertices.
    pub fn edge_count(&self) -> usize {
        self.neighbours.len() / 2
    }

    /// Counts all triangles.
    pub fn triangles(&self) -> u64 {
        self.pool.install(|| {
            let lists = self.lists();
            let of =
                |vertex: usize| &lists.targets[lists.offsets[vertex]..lists.offsets[vertex + 1]];
            let at = |vertex: usize| -> u64 {
                let own = of(vertex);
                own.iter().map(|&other| in_both(own, of(other as usize))).sum()
            };
            (0..lists.offsets.len() - 1).into_par_iter().with_min_len(64).map(at).sum()
        })
    }

    /// Returns, for each vertex by its place in the order of descending degree, its neighbours with
    /// lower places, ascending.
    fn lists(&self) -> Lists {
        let degree =
            |vertex: u32| self.offsets[vertex as usize + 1] - self.offsets[vertex as usize];
        let vertex_count = self.offsets.len() - 1;
        let mut order: Vec<u32> = (0..vertex_count as u32).collect();
        order.par_sort_unstable_by_key(|&vertex| (usize::MAX - degree(vertex), vertex));
        let mut places = vec![0; vertex_count];
        for (place, &vertex) in (0..).zip(&order) {
            places[vertex as usize] = place;
        }
        let lower = |place: u32| {
            let vertex = order[place as usize] as usize;
            let own = &self.neighbours[self.offsets[vertex]..self.offsets[vertex + 1]];
            own.iter().map(|&other| places[other as usize]).filter(move |&other| other < place)
        };
        let counts: Vec<usize> =
            (0..vertex_count as u32).into_par_iter().map(|place| lower(place).count()).collect();
        let mut offsets = vec![0];
        offsets.extend(counts.iter().scan(0, |end, count| {
            *end += count;
            Some(*end)
        }));
        let mut targets = vec![0; offsets[vertex_count]];
        let mut rest = &mut targets[..];
        let mut lists = Vec::with_capacity(vertex_count);
        for (place, count) in (0..).zip(counts) {
            let (list, others) = rest.split_at_mut(count);
            lists.push((place, list));
            rest = others;
        }
        lists.into_par_iter().for_each(|(place, list)| {
            list.iter_mut().zip(lower(place)).for_each(|(slot, other)| *slot = other);
            list.sort_unstable();
        });
        Lists { offsets, targets }
    }
}

struct Lists {
    offsets: Vec<usize>,
    targets: Vec<u32>,
}

/// Counts the common members of two ascending lists. Takes about one step per member.
fn in_both(one: &[u32], other: &[u32]) -> u64 {
    let (mut at, mut at_other, mut count) = (0, 0, 0);
    while at < one.len() && at_other < other.len() {
        let (here, there) = (one[at], other[at_other]);
        count += u64::from(here == there);
        at += usize::from(here <= there);
        at_other += usize::from(there <= here);
    }
    count
}
