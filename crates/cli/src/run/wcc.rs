//! `tegula run wcc`.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use arrow_array::ArrayRef;
use arrow_schema::{DataType, Field};
use clap::{Args, ValueEnum};
use serde::Serialize;
use tegula_algorithms::wcc::{self, Method, SmallestId, WccConfig};
use tegula_engine::{Estimate, Graph, RunOptions, RunStatistics};
use tegula_machine::Error;
use tegula_machine::threads::Cancel;
use tegula_store::VertexId;

use super::top::Name;
use super::{Answer, CHUNK, Edges, Runnable, Weights, has_order, with_order_streamed};
use crate::errors::Result;
use crate::output::{Columns, GroupSize, find_ids};
use crate::report::{self, Facts, Grid};

/// Options of `tegula run wcc`.
#[derive(Debug, Args)]
pub struct WccArgs {
    /// How components are found.
    #[arg(long, value_enum, default_value_t = How::UnionFind)]
    method: How,
}

/// How components are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum How {
    /// One pass over the edges, at the most.
    UnionFind,
    /// Label propagation, for graphs that were imported as undirected.
    Propagation,
    /// One component after the other along rows, for graphs that were imported as undirected.
    Traversal,
}

impl WccArgs {
    fn config(&self) -> WccConfig {
        let method = match self.method {
            How::UnionFind => Method::UnionFind,
            How::Propagation => Method::Propagation,
            How::Traversal => Method::Traversal,
        };
        WccConfig { method }
    }
}

impl Runnable for WccArgs {
    const NAME: &'static str = "wcc";
    type Answer = Components;
    type Files = ();
    const WEIGHTS: Weights = Weights::Irrelevant;

    fn edges(&self) -> Edges {
        match self.method {
            How::UnionFind => Edges::Tiles {
                why: "union-find looks at each edge once",
                instead: "use --method propagation or traversal, or --executor scan or auto",
            },
            How::Propagation => Edges::Either { rows_size: tegula_engine::rows_size::<SmallestId> },
            How::Traversal => Edges::Rows,
        }
    }

    fn estimate(&self, graph: &Graph, _files: &(), threads: usize) -> Result<Estimate> {
        if self.method == How::Traversal {
            // Its queue is gone before components are named, and takes more.
            return with_order_streamed(wcc::estimate_traversal(graph), graph);
        }
        let estimate = tegula_engine::estimate::<SmallestId>(graph, threads);
        let vertex_bytes = match self.method {
            How::UnionFind => wcc::size(graph) + naming_size(graph),
            // Its messages are gone before components are named, and take more.
            _ => estimate.vertex_bytes,
        };
        with_order_streamed(Estimate { vertex_bytes, ..estimate }, graph)
    }

    fn check_input(&self, graph: &Graph, _options: &RunOptions<'_>) -> Result<()> {
        Ok(wcc::check(graph, self.config())?)
    }

    fn run(
        &self,
        graph: &Graph,
        _files: (),
        options: &RunOptions<'_>,
    ) -> Result<(Components, RunStatistics)> {
        let found = wcc::run(graph, self.config(), options)?;
        // Names need memory of their own, and no tiles.
        graph.reader().pool().trim();
        let ranks = smallest_ranks(graph, found.roots, &options.cancel)?;
        Ok((Components { ranks, memory: options.memory }, found.statistics))
    }
}

/// What was found.
pub struct Components {
    /// For each dense id the rank of the smallest original id in its component.
    ranks: Vec<u32>,
    /// The budget.
    memory: u64,
}

/// Bytes that [`smallest_ranks`] holds beside its result.
fn naming_size(graph: &Graph) -> u64 {
    if has_order(graph) { 2 * Bits::size(graph.vertex_count() as usize) } else { 0 }
}

/// From one vertex of each component to its smallest original id: by dense id the rank of that.
///
/// Visits vertices in the order of their original ids: the first of a component that comes along
/// names it. Works in place: the entry of a root holds the name once there is one, every other entry
/// the root until the end.
fn smallest_ranks(graph: &Graph, roots: Vec<VertexId>, cancel: &Cancel) -> Result<Vec<u32>> {
    let mut entries: Vec<u32> = roots.into_iter().map(|root| root.0).collect();
    if !has_order(graph) {
        // Dense ids are ranks, and each root is the smallest of its component.
        return Ok(entries);
    }
    let mut is_named_root = Bits::new(entries.len());
    // Vertices whose component is known to have a name. The first few ranks name the large components,
    // and from then on few look-ups go further than this.
    let mut is_named = Bits::new(entries.len());
    graph.original_ids()?.for_each_rank(|first, vertices| {
        cancel.check()?;
        for (vertex, rank) in vertices.iter().zip(first..) {
            let vertex = vertex.index();
            if is_named.get(vertex) {
                continue;
            }
            let root = entries[vertex] as usize;
            if !is_named.get(root) {
                is_named.set(root);
                is_named_root.set(root);
                entries[root] = rank;
            }
        }
        if first == 0 {
            for (word, entries) in is_named.0.iter_mut().zip(entries.chunks(64)) {
                cancel.check()?;
                // What the entry of a named root, which is no root, adds here is its own bit, which is
                // set already.
                for (bit, &root) in entries.iter().enumerate() {
                    *word |= u64::from(is_named_root.get(root as usize)) << bit;
                }
            }
        }
        Ok::<(), Error>(())
    })?;
    for first in (0..entries.len()).step_by(CHUNK) {
        cancel.check()?;
        for vertex in first..entries.len().min(first + CHUNK) {
            if !is_named_root.get(vertex) {
                entries[vertex] = entries[entries[vertex] as usize];
            }
        }
    }
    Ok(entries)
}

/// A bit for each vertex.
struct Bits(Vec<u64>);

impl Bits {
    fn new(count: usize) -> Bits {
        Bits(vec![0; count.div_ceil(64)])
    }

    /// Bytes for so many.
    fn size(count: usize) -> u64 {
        8 * count.div_ceil(64) as u64
    }

    fn get(&self, index: usize) -> bool {
        self.0[index / 64] >> (index % 64) & 1 == 1
    }

    fn set(&mut self, index: usize) {
        self.0[index / 64] |= 1 << (index % 64);
    }
}

impl Components {
    /// Visits every component: the rank of its smallest original id, and its number of vertices.
    /// Counts a range of names at a time, so that memory stays bounded.
    fn for_each_size(&self, cancel: &Cancel, mut visit: impl FnMut(u32, u32)) -> Result<()> {
        let range = (self.memory / 256).clamp(1 << 16, 1 << 28) as usize;
        for first in (0..self.ranks.len()).step_by(range) {
            let mut sizes = vec![0u32; range.min(self.ranks.len() - first)];
            for ranks in self.ranks.chunks(CHUNK) {
                cancel.check()?;
                for &rank in ranks {
                    if let Some(size) = sizes.get_mut((rank as usize).wrapping_sub(first)) {
                        *size += 1;
                    }
                }
            }
            for (sizes, first) in sizes.chunks(CHUNK).zip((first as u32..).step_by(CHUNK)) {
                cancel.check()?;
                let sizes = (first..).zip(sizes).filter(|&(_, &size)| size > 0);
                sizes.for_each(|(rank, &size)| visit(rank, size));
            }
        }
        Ok(())
    }
}

/// What is said of all components.
#[derive(Debug, Serialize)]
pub struct Summary {
    /// How many there are.
    components: u64,
    /// Vertices of the largest.
    largest: u64,
    /// The largest ones.
    top: Vec<Component>,
}

/// A component and its number of vertices.
#[derive(Debug, Serialize)]
pub struct Component {
    component: Name,
    vertices: u32,
}

impl Columns for Components {
    fn fields(&self, id: DataType) -> Vec<Field> {
        vec![Field::new("component", id, false)]
    }

    fn group_size(&self) -> GroupSize {
        GroupSize::within(self.memory)
    }

    fn arrays(
        &self,
        graph: &Graph,
        vertices: &[VertexId],
        cancel: &Cancel,
    ) -> Result<Vec<ArrayRef>> {
        let ranks: Vec<u32> = vertices.iter().map(|vertex| self.ranks[vertex.index()]).collect();
        Ok(vec![find_ids(graph, &ranks, cancel)?])
    }
}

impl Answer for Components {
    type Summary = Summary;

    fn summary(&self, graph: &Graph, top: usize, cancel: &Cancel) -> Result<Summary> {
        let (mut components, mut largest) = (0, 0);
        let mut heap = BinaryHeap::new();
        self.for_each_size(cancel, |rank, size| {
            components += 1;
            largest = largest.max(u64::from(size));
            heap.push(Reverse((size, Reverse(rank))));
            if heap.len() > top {
                heap.pop();
            }
        })?;
        let ids = graph.original_ids()?;
        let mut list = Vec::new();
        for Reverse((vertices, Reverse(rank))) in heap.into_sorted_vec() {
            list.push(Component { component: ids.by_rank(rank as usize)?.into(), vertices });
        }
        Ok(Summary { components, largest, top: list })
    }

    fn facts(summary: &Summary, facts: &mut Facts) {
        facts.add("components", report::count(summary.components));
        facts.add("largest", report::counted(summary.largest, "vertex", "vertices"));
    }

    fn list(summary: &Summary) -> Grid {
        let mut grid = Grid::new(&["component", "vertices"]);
        for Component { component, vertices } in &summary.top {
            grid.add([component.to_string(), vertices.to_string()]);
        }
        grid
    }
}
