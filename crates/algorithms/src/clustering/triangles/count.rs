//! Counts triangles, or the edges that close them.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Instant;

use tegula_engine::traverse::{
    self, Neighbourhoods, RowsJob, RowsWanted, Sequential, estimate_rows,
};
use tegula_engine::{
    Error, Estimate, Graph, IterationTimes, ProgressUnit, RunOptions, RunStatistics, huge,
};

use tegula_machine::threads::Stash;

use super::order::{Later, List, Lists, Order};
use crate::algorithm::{Work, degree_sum};
use crate::error::Result;

/// What is counted at each vertex.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Closing {
    /// Its triangles.
    Triangles,
    /// The directed edges between its neighbours: one or two for each triangle.
    Edges,
}

/// The result of a count.
#[derive(Debug, Clone)]
pub struct Triangles {
    /// By dense id.
    pub closed: Vec<u64>,
    /// The number of neighbours, by dense id.
    pub neighbours: Vec<u32>,
    /// Statistics of the run.
    pub statistics: RunStatistics,
}

/// The most ranges into which lists are divided. Each range takes a pass over its own rows and
/// one over all rows.
const RANGES_MAX: u64 = 16;
/// The room for picked entries. `count` reads at most half of this number of entries at a time.
const PICKED_MAX: usize = 1024;
/// List entries between two checks for cancellation.
const ENTRIES_PER_CHECK: u64 = 1 << 22;

/// Counts triangles, or the edges that close them, at each vertex.
///
/// # Errors
/// [`Error::Limit`](tegula_machine::Error::Limit) beyond 2^31 vertices.
pub fn run(graph: &Graph, what: Closing, options: &RunOptions<'_>) -> Result<Triangles> {
    let lists_size = lists_size(graph, options)?;
    let held = size(graph, options.threads)? - lists_size_min(graph) + lists_size;
    traverse::run_rereading(graph, RowsWanted::NEIGHBOURS, held, options, |job| {
        count_all(graph, what, lists_size, job, options)
    })
}

/// Returns the work of counting, as `kind`. For each edge of a vertex, neighbours of greater degree
/// are looked through: at most the square root of all edges.
pub(crate) fn work(kind: &'static str, graph: &Graph) -> Result<Work> {
    let most = (graph.edge_count() as f64).sqrt();
    let edges = degree_sum(graph, |degree| degree * degree.min(most))?;
    Ok(Work::of_visits(kind, 1.0, edges, graph.vertex_count() as f64))
}

/// Estimates the memory that a run needs.
pub fn estimate(graph: &Graph, threads: usize) -> Result<Estimate> {
    Ok(estimate_rows(graph, RowsWanted::NEIGHBOURS, size(graph, threads)?))
}

/// Returns the bytes that a run holds beside the rows, with the least room for lists.
fn size(graph: &Graph, threads: usize) -> Result<u64> {
    let edges_max = traverse::edges_of_a_vertex_max(graph)?;
    // Marks; the list of a vertex, which grows by doubling; and the counts for it.
    let worker = 4 * graph.vertex_count()
        + Neighbourhoods::<Sequential>::size(edges_max)
        + 24 * list_max(graph);
    Ok(lists_size_min(graph) + 28 * graph.vertex_count() + threads as u64 * worker)
}

/// Returns the most later neighbours that a vertex can have. A later neighbour has no fewer stored
/// edges than the vertex, so with more of them the graph would have more edges than it has.
fn list_max(graph: &Graph) -> u64 {
    ends(graph).isqrt() + 1
}

/// Returns the number of ends of stored edges at which neighbours are looked for.
fn ends(graph: &Graph) -> u64 {
    if graph.manifest().undirected { graph.edge_count() } else { 2 * graph.edge_count() }
}

/// Returns the least bytes for lists.
fn lists_size_min(graph: &Graph) -> u64 {
    lists_size_max(graph) / RANGES_MAX + 4 * list_max(graph)
}

/// Returns the bytes for all lists. An edge with two ends is in one of them.
pub(crate) fn lists_size_max(graph: &Graph) -> u64 {
    2 * ends(graph)
}

/// Returns the bytes for lists: all that they need, or what the budget has left.
fn lists_size(graph: &Graph, options: &RunOptions<'_>) -> Result<u64> {
    let needed = estimate(graph, options.threads)?.needed()
        + traverse::long_rows_size(graph, RowsWanted::NEIGHBOURS, options.threads)?;
    let free = options.budget().saturating_sub(needed);
    let least = lists_size_min(graph);
    Ok((least + free).min(lists_size_max(graph).max(least)))
}

fn count_all(
    graph: &Graph,
    what: Closing,
    lists_size: u64,
    job: &RowsJob<'_>,
    options: &RunOptions<'_>,
) -> Result<Triangles> {
    let vertex_count = graph.short_vertex_count()?;
    if u64::from(vertex_count) > Later::VERTICES_MAX {
        let what = "vertices of a graph whose triangles are counted";
        let (found, limit) = (vertex_count.into(), Later::VERTICES_MAX);
        return Err(Error::limit(what, found, limit).into());
    }
    let mut counting = Counting {
        job,
        what,
        order: Order::of(graph, vertex_count)?,
        lengths: atomics(vertex_count),
        neighbours: atomics(vertex_count),
        closed: atomics(vertex_count),
        marks: Stash::default(),
        edges: AtomicU64::new(0),
    };
    let mut times = IterationTimes::default();
    options.progress.begin("counting", None, ProgressUnit::Edges);
    let started = Instant::now();
    job.for_each_range(|_, ids| counting.measure(ids, options))?;
    let lengths: Vec<u32> =
        std::mem::take(&mut counting.lengths).into_iter().map(AtomicU32::into_inner).collect();
    times.push(started.elapsed());
    let mut first = 0;
    while first < lengths.len() {
        let started = Instant::now();
        let end = first + fitting(&lengths[first..], lists_size / 4);
        let lists = Lists::of(first, &lengths[first..end]);
        job.for_each_range(|_, ids| counting.fill(ids, &lists, options))?;
        job.for_each_range(|_, ids| counting.close(ids, &lists, options))?;
        times.push(started.elapsed());
        first = end;
    }
    options.progress.end();
    Ok(Triangles {
        closed: counting.closed.into_iter().map(AtomicU64::into_inner).collect(),
        neighbours: counting.neighbours.into_iter().map(AtomicU32::into_inner).collect(),
        statistics: job.statistics(times, counting.edges.into_inner()),
    })
}

/// Returns the number of lists at the front that have at most `entries` entries in total, and at
/// least 1.
fn fitting(lengths: &[u32], entries: u64) -> usize {
    let mut left = entries;
    let fit = lengths.iter().take_while(|&&length| {
        let fits = u64::from(length) <= left;
        left = left.saturating_sub(length.into());
        fits
    });
    fit.count().max(1)
}

fn atomics<A: Default>(count: u32) -> Vec<A> {
    let mut values = huge::with_capacity(count as usize);
    values.resize_with(count as usize, A::default);
    values
}

/// What the workers share.
struct Counting<'c> {
    job: &'c RowsJob<'c>,
    what: Closing,
    order: Order,
    /// The number of later neighbours, by dense id.
    lengths: Vec<AtomicU32>,
    /// The number of neighbours, by dense id.
    neighbours: Vec<AtomicU32>,
    /// By dense id.
    closed: Vec<AtomicU64>,
    /// One for each worker, reused; each has an entry for every vertex.
    marks: Stash<Marks>,
    edges: AtomicU64,
}

impl Counting<'_> {
    /// Counts the neighbours, and the later neighbours, of each vertex in a range.
    fn measure(&self, ids: Range<u32>, options: &RunOptions<'_>) -> tegula_engine::Result<()> {
        self.for_each(ids, options, |vertex, neighbours| {
            let own = self.order.place(neighbours.vertex);
            let (mut count, mut later) = (0, 0);
            neighbours.for_each(|neighbour| {
                count += 1;
                later += u32::from(self.order.place(neighbour.id) > own);
            });
            self.neighbours[vertex].store(count, Ordering::Relaxed);
            self.lengths[vertex].store(later, Ordering::Relaxed);
            Ok(())
        })
    }

    /// Fills the lists of the vertices in a range that have one. Rows of others are not read.
    fn fill(
        &self,
        ids: Range<u32>,
        lists: &Lists,
        options: &RunOptions<'_>,
    ) -> tegula_engine::Result<()> {
        let Range { start, end } = *lists.ids();
        let ids = ids.start.max(start as u32)..ids.end.min(end as u32);
        if ids.is_empty() {
            return Ok(());
        }
        let mut later = Vec::new();
        self.for_each(ids, options, |vertex, neighbours| {
            self.order.later(neighbours, &mut later);
            lists.fill(vertex, &later);
            Ok(())
        })
    }

    /// Finds the triangles whose first vertex is in a range and whose second vertex has a list.
    fn close(
        &self,
        ids: Range<u32>,
        lists: &Lists,
        options: &RunOptions<'_>,
    ) -> tegula_engine::Result<()> {
        let marks = || Marks::new(self.closed.len());
        self.marks.with(marks, |marks| self.close_with(marks, ids, lists, options))
    }

    fn close_with(
        &self,
        marks: &mut Marks,
        ids: Range<u32>,
        lists: &Lists,
        options: &RunOptions<'_>,
    ) -> tegula_engine::Result<()> {
        let mut later = Vec::new();
        let mut since_check = 0;
        let cancel = &options.cancel;
        // With all lists in memory, no row is read again.
        if lists.ids().len() == self.closed.len() {
            for vertex in ids {
                let vertex = vertex as usize;
                later.clear();
                later.extend(lists.list(vertex).iter());
                self.close_from(vertex, &later, lists, marks, &mut since_check);
                if since_check >= ENTRIES_PER_CHECK {
                    cancel.check()?;
                    since_check = 0;
                }
            }
        } else {
            self.for_each(ids, options, |vertex, neighbours| {
                self.order.later(neighbours, &mut later);
                self.close_from(vertex, &later, lists, marks, &mut since_check);
                Ok(())
            })?;
        }
        Ok(())
    }

    fn close_from(
        &self,
        vertex: usize,
        later: &[Later],
        lists: &Lists,
        marks: &mut Marks,
        since_check: &mut u64,
    ) {
        // A triangle has two later neighbours at its first vertex.
        if later.len() < 2 {
            return;
        }
        marks.set(later);
        let mut own = 0;
        for (number, second) in (1..).zip(later) {
            if !lists.ids().contains(&second.index()) {
                continue;
            }
            let list = lists.list(second.index());
            *since_check += list.len() as u64;
            let (at_first, at_second) = match self.what {
                Closing::Triangles => marks.count(list),
                Closing::Edges => marks.count_edges(list, second.directions()),
            };
            own += at_first;
            marks.counts[number] += at_second;
        }
        if own > 0 {
            self.add(vertex, own);
        }
        marks.take(later, |third, count| self.add(third, count));
    }

    fn add(&self, vertex: usize, count: u64) {
        self.closed[vertex].fetch_add(count, Ordering::Relaxed);
    }

    /// Visits the neighbours of each vertex of a range.
    fn for_each(
        &self,
        ids: Range<u32>,
        options: &RunOptions<'_>,
        mut visit: impl FnMut(usize, &traverse::Neighbours<'_>) -> tegula_engine::Result<()>,
    ) -> tegula_engine::Result<()> {
        let mut neighbourhoods = Neighbourhoods::new(self.job, Sequential::new(ids));
        let mut edges = 0;
        while let Some(neighbours) = neighbourhoods.next_vertex()? {
            edges += neighbours.edge_count() as u64;
            visit(neighbours.vertex.index(), &neighbours)?;
        }
        options.progress.advance(edges);
        self.edges.fetch_add(edges, Ordering::Relaxed);
        Ok(())
    }
}

/// The later neighbours of a vertex, as marks.
struct Marks {
    /// By dense id: the number of a marked neighbour, counted from 1; 0 where there is no mark.
    numbers: Vec<u32>,
    /// For each number, the count so far.
    counts: Vec<u64>,
    /// For each number, in how many directions edges lead to the neighbour.
    directions: Vec<u32>,
    /// Marked entries of one or more lists: number and directions. Only `count_edges` sets the
    /// directions.
    picked: Box<[(u32, u32); PICKED_MAX]>,
    /// The number of picked entries that are not yet in `counts`. `count_edges` leaves it at 0.
    uncounted: usize,
}

impl Marks {
    fn new(vertex_count: usize) -> Marks {
        let mut numbers = huge::with_capacity(vertex_count);
        numbers.resize(vertex_count, 0);
        Marks {
            numbers,
            counts: Vec::new(),
            directions: Vec::new(),
            picked: Box::new([(0, 0); PICKED_MAX]),
            uncounted: 0,
        }
    }

    fn set(&mut self, later: &[Later]) {
        self.counts.clear();
        self.counts.resize(later.len() + 1, 0);
        self.directions.clear();
        self.directions.push(0);
        for (later, number) in later.iter().zip(1..) {
            self.numbers[later.index()] = number;
            self.directions.push(later.directions());
        }
    }

    /// Picks the marked entries of a list, to be counted each at its own number. They are in
    /// `counts` only after `count_picked`. Returns how many there are, twice: to add at the first
    /// vertex and at the second.
    fn count(&mut self, list: List<'_>) -> (u64, u64) {
        let mut marked = 0;
        // Marked entries are first picked, then counted. Without picking, most additions would go
        // to number 0, and each would wait for the one before. Picks of many short lists share one
        // counting loop: the processor mispredicts where a loop ends, so few long loops are faster.
        for block in list.blocks(PICKED_MAX / 2) {
            if self.uncounted > PICKED_MAX / 2 {
                self.count_picked();
            }
            let mut count = self.uncounted;
            for third in block {
                let number = self.numbers[third.index()];
                // The remainder changes no index, but tells the compiler that the index is within
                // bounds.
                self.picked[count % PICKED_MAX].0 = number;
                count += usize::from(number > 0);
            }
            marked += (count - self.uncounted) as u64;
            self.uncounted = count;
        }
        (marked, marked)
    }

    /// Adds the picked entries to `counts`.
    fn count_picked(&mut self) {
        let picked = &self.picked[..self.uncounted];
        picked.iter().for_each(|&(number, _)| self.counts[number as usize] += 1);
        self.uncounted = 0;
    }

    /// For each marked entry of `list`, adds `directions`, the number of edges between the first
    /// and the second vertex, to the entry's count. Returns two numbers: the edges from the second
    /// vertex to marked entries, to add at the first vertex; and the edges from the first vertex to
    /// them, to add at the second.
    fn count_edges(&mut self, list: List<'_>, directions: u32) -> (u64, u64) {
        let (mut for_first, mut for_second) = (0, 0);
        let picked = &mut self.picked;
        for block in list.blocks(PICKED_MAX) {
            let mut count = 0;
            for third in block {
                let number = self.numbers[third.index()];
                picked[count % PICKED_MAX] = (number, third.directions());
                count += usize::from(number > 0);
            }
            for &(number, of_third) in &picked[..count] {
                self.counts[number as usize] += u64::from(directions);
                for_first += u64::from(of_third);
                for_second += u64::from(self.directions[number as usize]);
            }
        }
        (for_first, for_second)
    }

    /// Removes the marks, and calls `tell` with each vertex that has a count, and the count.
    fn take(&mut self, later: &[Later], mut tell: impl FnMut(usize, u64)) {
        self.count_picked();
        for (later, &count) in later.iter().zip(&self.counts[1..]) {
            self.numbers[later.index()] = 0;
            if count > 0 {
                tell(later.index(), count);
            }
        }
    }
}
