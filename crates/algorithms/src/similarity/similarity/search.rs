//! Computes similarities.

use std::collections::BinaryHeap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use tegula_engine::traverse::{
    self, Held, Listed, Neighbourhoods, Neighbours, RowsJob, RowsWanted, Sequential,
};
use tegula_engine::{Graph, ProgressUnit, RunOptions, RunStatistics, ShortId, VertexId};
use tegula_machine::memory::ALLOCATION_SIZE;
use tegula_machine::threads::{Stash, lock, unlocked};

use super::Measure;
use crate::answer::TotalOrder;
use crate::error::Result;
use crate::shared::original_ids::{IdPositions, ShortIdPosition};

/// Two vertices and their similarity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SimilarPair {
    /// The source, or the first of a given pair.
    pub u: ShortId,
    /// The other vertex.
    pub v: ShortId,
    /// The similarity, at least 0.
    pub similarity: f64,
}

/// Number of pairs that a worker takes at a time.
const PAIRS_AT_A_TIME: usize = 1024;

/// Computes the similarity of each pair, in the order of `pairs`. The run holds `held` beside the
/// rows.
pub fn of_pairs(
    graph: &Graph,
    pairs: &[[VertexId; 2]],
    measure: Measure,
    held: Held,
    options: &RunOptions<'_>,
) -> Result<(Vec<SimilarPair>, RunStatistics)> {
    run(graph, measure, held, options, |search| {
        // Sorts pairs by their first vertex, so that its row is read once.
        let mut order: Vec<usize> = (0..pairs.len()).collect();
        order.sort_unstable_by_key(|&index| pairs[index]);
        let chunks: Vec<&[usize]> = order.chunks(PAIRS_AT_A_TIME).collect();
        let found = Mutex::new(vec![0.0; pairs.len()]);
        options.progress.begin("comparing", Some(pairs.len() as u64), ProgressUnit::Vertices);
        search.job.for_each(chunks.len(), |index| {
            for same in chunks[index].chunk_by(|&one, &other| pairs[one][0] == pairs[other][0]) {
                let similarities = search.compare(pairs, same)?;
                let mut found = lock(&found);
                same.iter().zip(similarities).for_each(|(&pair, value)| found[pair] = value);
            }
            options.progress.advance(chunks[index].len() as u64);
            Ok(())
        })?;
        options.progress.end();
        // The memory of the result is counted in its place.
        drop(order);
        let all = pairs.iter().zip(unlocked(found));
        Ok(all
            .map(|([u, v], similarity)| SimilarPair { u: u.short(), v: v.short(), similarity })
            .collect())
    })
}

/// Finds the vertices most similar to each source: at most `top`, by descending similarity, then by
/// original id. Vertices without a common neighbour are left out.
pub fn most_similar(
    graph: &Graph,
    sources: &[VertexId],
    top: usize,
    measure: Measure,
    held: Held,
    options: &RunOptions<'_>,
) -> Result<(Vec<SimilarPair>, RunStatistics)> {
    run(graph, measure, held, options, |search| {
        let id_positions = IdPositions::read(graph, &options.cancel)?;
        let found: Vec<Mutex<Vec<SimilarPair>>> =
            sources.iter().map(|_| Mutex::default()).collect();
        let spare = Stash::default();
        options.progress.begin("comparing", Some(sources.len() as u64), ProgressUnit::Vertices);
        search.job.for_each(sources.len(), |index| {
            let source = sources[index].short();
            *lock(&found[index]) = spare.with(
                || Common::new(search.degrees.len()),
                |common| search.nearest(source, top, &id_positions, common),
            )?;
            options.progress.advance(1);
            Ok(())
        })?;
        options.progress.end();
        Ok(found.into_iter().flat_map(unlocked).collect())
    })
}

/// Returns what a run holds beside the rows and its files. It looks at `pairs` given pairs, or finds
/// up to `of_each` pairs for each of `sources` sources.
pub(super) fn size(
    graph: &Graph,
    pairs: u64,
    (sources, of_each): (u64, u64),
    threads: usize,
) -> Result<Held> {
    let (vertices, edges_max) = (graph.vertex_count(), traverse::edges_of_a_vertex_max(graph)?);
    // The worth in common, the vertices that have any, and the neighbours of two vertices at a
    // time.
    let worker = (8 + 8 + 4) * vertices + 3 * Neighbourhoods::<Sequential>::size(edges_max);
    // The list of a source is a heap first, whose memory doubles. Then all lists become one.
    let pair = size_of::<SimilarPair>() as u64;
    let list = size_of::<Mutex<Vec<SimilarPair>>>() as u64 + ALLOCATION_SIZE;
    let heap = (of_each + 1).next_power_of_two().max(4);
    let found = 24 * pairs + sources * (list + pair * (heap + of_each));
    let own = 4 * vertices + threads as u64 * worker + found;
    Ok(Held::with_id_positions(graph, own)?)
}

/// Counts the neighbours of all vertices, then calls `find`.
fn run<T: Send>(
    graph: &Graph,
    measure: Measure,
    held: Held,
    options: &RunOptions<'_>,
    find: impl FnOnce(&Search<'_>) -> Result<T> + Send,
) -> Result<(T, RunStatistics)> {
    traverse::run(graph, RowsWanted::NEIGHBOURS, held, options, |job| {
        let started = Instant::now();
        let degrees = count_neighbours(graph, job)?;
        let search = Search { job, measure, degrees, edges: AtomicU64::new(0) };
        let found = find(&search)?;
        let edges = graph.edge_count() + search.edges.into_inner();
        Ok((found, job.statistics(started.elapsed().into(), edges)))
    })
}

/// The number of neighbours of each vertex.
fn count_neighbours(graph: &Graph, job: &RowsJob<'_>) -> Result<Vec<u32>> {
    let mut degrees = vec![0; graph.short_vertex_count()? as usize];
    job.for_each_range_of(&mut degrees, |range, ids| {
        let first = ids.start;
        let mut all = Neighbourhoods::new(job, Sequential::new(ids));
        while let Some(neighbours) = all.next_vertex()? {
            let degree = &mut range[(neighbours.vertex.0 - first) as usize];
            neighbours.for_each(|_| *degree += 1);
        }
        Ok(())
    })?;
    Ok(degrees)
}

/// What a search shares between its workers.
struct Search<'s> {
    job: &'s RowsJob<'s>,
    measure: Measure,
    /// The number of neighbours of each vertex.
    degrees: Vec<u32>,
    /// Number of edges looked at.
    edges: AtomicU64,
}

impl Search<'_> {
    /// The worth of a common neighbour.
    fn worth(&self, neighbour: ShortId) -> f64 {
        match (self.measure, self.degrees[neighbour.index()]) {
            (Measure::Jaccard | Measure::Overlap, _) => 1.0,
            // A neighbour of degree 1 is common only to a vertex and itself.
            (Measure::AdamicAdar, 0 | 1) => 0.0,
            (Measure::AdamicAdar, degree) => 1.0 / f64::from(degree).ln(),
        }
    }

    /// The similarity of two vertices whose common neighbours have the worth `common`.
    fn similarity(&self, u: ShortId, v: ShortId, common: f64) -> f64 {
        let [u, v] = [u, v].map(|vertex| f64::from(self.degrees[vertex.index()]));
        let of = match self.measure {
            Measure::Jaccard => u + v - common,
            Measure::Overlap => u.min(v),
            Measure::AdamicAdar => 1.0,
        };
        if of == 0.0 { 0.0 } else { common / of }
    }

    /// The neighbours of a vertex, ascending.
    fn neighbours(&self, vertex: ShortId) -> tegula_engine::Result<Vec<ShortId>> {
        let mut all = Neighbourhoods::new(self.job, Listed::new(std::slice::from_ref(&vertex)));
        let mut found = Vec::new();
        while let Some(neighbours) = all.next_vertex()? {
            neighbours.for_each(|neighbour| found.push(neighbour.id));
            self.saw(&neighbours);
        }
        Ok(found)
    }

    fn saw(&self, neighbours: &Neighbours<'_>) {
        self.edges.fetch_add(neighbours.edge_count() as u64, Ordering::Relaxed);
    }

    /// The similarities of pairs that have the same first vertex, with ascending second vertices.
    fn compare(&self, pairs: &[[VertexId; 2]], same: &[usize]) -> tegula_engine::Result<Vec<f64>> {
        let u = pairs[same[0]][0].short();
        let mut others: Vec<ShortId> = same.iter().map(|&pair| pairs[pair][1].short()).collect();
        let wanted = others.clone();
        others.dedup();
        let own = self.neighbours(u)?;
        let mut all = Neighbourhoods::new(self.job, Listed::new(&others));
        let mut similarities = Vec::with_capacity(same.len());
        while let Some(neighbours) = all.next_vertex()? {
            let v = neighbours.vertex;
            let (mut left, mut common) = (own.as_slice(), 0.0);
            neighbours.for_each(|neighbour| {
                left = &left[left.partition_point(|&other| other < neighbour.id)..];
                if left.first() == Some(&neighbour.id) {
                    common += self.worth(neighbour.id);
                }
            });
            self.saw(&neighbours);
            // A pair may be given more than once.
            let times =
                wanted[similarities.len()..].iter().take_while(|&&other| other == v).count();
            let similarity = self.similarity(u, v, common);
            similarities.extend(std::iter::repeat_n(similarity, times));
        }
        Ok(similarities)
    }

    /// Finds the vertices most similar to a source.
    fn nearest(
        &self,
        source: ShortId,
        top: usize,
        id_positions: &IdPositions,
        common: &mut Common,
    ) -> tegula_engine::Result<Vec<SimilarPair>> {
        let between = self.neighbours(source)?;
        let mut all = Neighbourhoods::new(self.job, Listed::new(&between));
        while let Some(neighbours) = all.next_vertex()? {
            let worth = self.worth(neighbours.vertex);
            neighbours.for_each(|neighbour| common.add(neighbour.id, worth));
            self.saw(&neighbours);
        }
        // The least similar vertex is on top, of equal ones the one with the greatest original id.
        let mut best: BinaryHeap<(std::cmp::Reverse<TotalOrder<f64>>, ShortIdPosition, ShortId)> =
            BinaryHeap::new();
        common.drain(|vertex, worth| {
            if vertex != source && worth > 0.0 {
                let similarity = TotalOrder(self.similarity(source, vertex, worth));
                best.push((std::cmp::Reverse(similarity), id_positions.of(vertex), vertex));
                if best.len() > top {
                    best.pop();
                }
            }
        });
        let best = best.into_sorted_vec().into_iter();
        Ok(best
            .map(|(std::cmp::Reverse(TotalOrder(similarity)), _, v)| SimilarPair {
                u: source,
                v,
                similarity,
            })
            .collect())
    }
}

/// The worth of the neighbours that vertices have in common with a source.
struct Common {
    worth: Vec<f64>,
    /// The vertices that have any.
    seen: Vec<ShortId>,
    is_seen: Vec<bool>,
}

impl Common {
    fn new(vertex_count: usize) -> Common {
        Common {
            worth: vec![0.0; vertex_count],
            seen: Vec::with_capacity(vertex_count),
            is_seen: vec![false; vertex_count],
        }
    }

    fn add(&mut self, vertex: ShortId, worth: f64) {
        if !std::mem::replace(&mut self.is_seen[vertex.index()], true) {
            self.seen.push(vertex);
        }
        self.worth[vertex.index()] += worth;
    }

    /// Visits all vertices seen, and resets.
    fn drain(&mut self, mut visit: impl FnMut(ShortId, f64)) {
        for vertex in self.seen.drain(..) {
            self.is_seen[vertex.index()] = false;
            visit(vertex, std::mem::take(&mut self.worth[vertex.index()]));
        }
    }
}
