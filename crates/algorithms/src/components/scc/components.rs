//! Finds the components.

use std::time::Instant;

use tegula_engine::traverse::{
    self, DepthFirst, Filter, Nested, RowsJob, RowsWanted, Sequential, VertexSet,
};
use tegula_engine::{Graph, ProgressUnit, RunOptions, RunStatistics, ShortId};
use tegula_store::rows::Direction;

use crate::error::Result;

/// The strongly connected components of a graph.
#[derive(Debug, Clone)]
pub struct StrongComponents {
    /// By dense id: the smallest dense id of the vertex's component.
    pub roots: Vec<u32>,
    /// Statistics of the run; the search is its only iteration.
    pub statistics: RunStatistics,
}

/// Finds the components.
///
/// One thread searches, and not in the order of the rows. So all threads decode the rows first, if
/// the budget has room.
pub fn run(graph: &Graph, options: &RunOptions<'_>) -> Result<StrongComponents> {
    let room = room(graph)?;
    let held = size(graph)?;
    traverse::run_rereading(graph, RowsWanted::forward(false), held, options, |job| {
        find(graph, job, room, options)
    })
}

/// Number of neighbours that the search stores.
fn room(graph: &Graph) -> Result<usize> {
    Ok(DepthFirst::room(graph.degree_max(Direction::Forward)?.into()))
}

/// Bytes held beside the rows: the order, the number of each vertex, the waiting vertices, and two
/// sets. The names of components reuse the memory of the order.
pub(super) fn size(graph: &Graph) -> Result<u64> {
    let count = graph.vertex_count();
    Ok(DepthFirst::size(count, room(graph)?) + 8 * count + 2 * VertexSet::size(count))
}

fn find(
    graph: &Graph,
    job: &RowsJob<'_>,
    room: usize,
    options: &RunOptions<'_>,
) -> Result<StrongComponents> {
    let started = Instant::now();
    let count = graph.short_vertex_count()?;
    let mut search = Search::new(count);
    let mut edges = 0;
    options.progress.begin("finding components", Some(graph.edge_count()), ProgressUnit::Edges);
    {
        let visited = VertexSet::new(count);
        options.progress.advance(search.trim(graph, &visited)?);
        let order = Nested {
            inner: DepthFirst::new(&visited, count, room),
            outer: Filter::new(Sequential::new(0..count), |vertex| !visited.contains(vertex)),
        };
        let mut traversal = job.traversal(order);
        while let Some((row, order)) = traversal.next_row()? {
            let (source, order) = (row.source(), &mut order.inner);
            search.leave_all(order);
            let is_new = order.enter(source);
            if is_new {
                search.enter(source);
            }
            let before = edges;
            row.for_each(|target| {
                // A row is read again where the search has forgotten neighbours.
                edges += u64::from(is_new);
                if !order.push(target) {
                    search.lower(source, target);
                }
            })?;
            options.progress.advance(edges - before);
        }
        search.leave_all(&mut traversal.order_mut().inner);
    }
    options.progress.end();
    let roots = search.smallest();
    Ok(StrongComponents { roots, statistics: job.statistics(started.elapsed().into(), edges) })
}

/// The state of the search.
struct Search {
    /// By dense id. A vertex of a finished component has the number of the component: [`u32::MAX`]
    /// for the first, one less for each further component. Any other vertex that was entered is
    /// open. Its number is at first its position among the open vertices, and later the least
    /// number that it is known to reach. So it is less than the number of any component.
    numbers: Vec<u32>,
    /// The open vertices that reach an earlier open one, and so are no roots of components.
    reach_back: VertexSet,
    /// The open vertices that the search has left.
    waiting: Vec<ShortId>,
    /// Number of open vertices.
    open: u32,
    /// The number of the next component.
    component: u32,
}

impl Search {
    fn new(count: u32) -> Search {
        Search {
            numbers: vec![0; count as usize],
            reach_back: VertexSet::new(count),
            waiting: Vec::with_capacity(count as usize),
            open: 0,
            component: u32::MAX,
        }
    }

    /// Trims the graph: closes each vertex without out-edges or without in-edges, which is a
    /// component of its own. Returns the number of their out-edges, which the search need not follow.
    /// Chunks without any edge are left to the search.
    fn trim(&mut self, graph: &Graph, visited: &VertexSet) -> Result<u64> {
        let mut edges = 0;
        graph.for_each_degrees(|first, out, into| {
            for (index, (&out, &into)) in (first as u32..).zip(out.iter().zip(into)) {
                if out == 0 || into == 0 {
                    edges += u64::from(out);
                    visited.insert(ShortId(index));
                    self.numbers[index as usize] = self.component;
                    self.component -= 1;
                }
            }
            Ok(())
        })?;
        Ok(edges)
    }

    fn enter(&mut self, vertex: ShortId) {
        self.numbers[vertex.index()] = self.open;
        self.open += 1;
    }

    /// Notes that a vertex reaches all that another vertex reaches.
    #[inline]
    fn lower(&mut self, vertex: ShortId, other: ShortId) {
        let number = self.numbers[other.index()];
        let own = &mut self.numbers[vertex.index()];
        if number < *own {
            *own = number;
            self.reach_back.insert(vertex);
        }
    }

    fn leave_all(&mut self, order: &mut DepthFirst<'_>) {
        while let Some(vertex) = order.leave() {
            if self.reach_back.contains(vertex) {
                self.waiting.push(vertex);
            } else {
                self.close(vertex);
            }
            if let Some(parent) = order.latest() {
                self.lower(parent, vertex);
            }
        }
    }

    /// Gives the component of a root its number.
    fn close(&mut self, root: ShortId) {
        let number = self.numbers[root.index()];
        let mut last = Some(root);
        while let Some(vertex) = last {
            self.numbers[vertex.index()] = self.component;
            self.open -= 1;
            last = self.waiting.pop_if(|vertex| self.numbers[vertex.index()] >= number);
        }
        self.component -= 1;
    }

    /// For each vertex the smallest vertex of its component.
    fn smallest(self) -> Vec<u32> {
        let mut first = vec![u32::MAX; (u32::MAX - self.component) as usize];
        let mut roots = self.numbers;
        for (vertex, root) in (0..).zip(&mut roots) {
            let first = &mut first[(u32::MAX - *root) as usize];
            *first = vertex.min(*first);
            *root = *first;
        }
        roots
    }
}
