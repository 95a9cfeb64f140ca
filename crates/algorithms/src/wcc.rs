//! Weakly connected components: which vertices reach each other when directions are ignored.
//!
//! Two methods give the same partition:
//!
//! * **union-find** (the default) reads every edge once. Each vertex points at another of its
//!   component with a smaller dense id, or at itself; an edge links the roots of its two ends, the
//!   greater to the smaller, by compare-and-swap, so that any number of threads may work on it
//!   (Rem's algorithm as made concurrent by Patwary, Refsnes, Manne 2012, with the path halving of
//!   Tarjan and van Leeuwen 1984). Links only ever lead to smaller ids, so the root of a component is its
//!   smallest dense id, whatever the order of the edges. Memory: 4 bytes a vertex.
//! * **propagation** sends the smallest id seen so far along the edges until nothing changes. It
//!   reads only tiles with a source that changed, but it needs as many scans as the longest shortest
//!   path has edges, and both directions of every edge: it is for graphs that were imported as
//!   undirected. It is here because it exercises the executor like many other programs do. Memory:
//!   8 bytes a vertex.
//!
//! The definition is that of LDBC Graphalytics; which id names a component is left to the caller.

use std::sync::atomic::{AtomicU32, Ordering};

use tegula_engine::{Activity, ApplyTo, EdgeVisitor, Graph, Next, Program};
use tegula_engine::{RunOptions, RunStatistics, VertexId, visit_edges};

use crate::error::{Error, Result};

/// How components are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Method {
    /// One pass over the edges.
    #[default]
    UnionFind,
    /// Label propagation, for undirected graphs.
    Propagation,
}

/// What a run of WCC may choose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WccConfig {
    /// How components are found.
    pub method: Method,
}

/// The components of a graph.
#[derive(Debug, Clone)]
pub struct Components {
    /// For each dense id the smallest dense id of its component.
    pub roots: Vec<VertexId>,
    /// What the run did.
    pub statistics: RunStatistics,
}

impl Components {
    /// Number of components.
    pub fn count(&self) -> usize {
        self.roots.iter().enumerate().filter(|(vertex, root)| root.index() == *vertex).count()
    }

    /// Number of vertices of each component, by its root; 0 for vertices that are none.
    pub fn sizes(&self) -> Vec<u32> {
        let mut sizes = vec![0; self.roots.len()];
        self.roots.iter().for_each(|root| sizes[root.index()] += 1);
        sizes
    }
}

/// Finds the components.
///
/// # Errors
/// Those of [`tegula_engine::run`]; [`Error::OneDirection`] for propagation on a directed graph.
pub fn run(graph: &Graph, config: WccConfig, options: &RunOptions<'_>) -> Result<Components> {
    match config.method {
        Method::UnionFind => {
            let forest = Forest::new(graph.vertex_count());
            let statistics = visit_edges(graph, &forest, size(graph), options)?;
            Ok(Components { roots: forest.into_roots(), statistics })
        }
        Method::Propagation => {
            if !graph.manifest().undirected {
                let graph = graph.directory().to_owned();
                return Err(Error::OneDirection { method: "propagation", graph });
            }
            let outcome = tegula_engine::run(graph, SmallestId, options)?;
            let roots = outcome.states.into_iter().map(VertexId).collect();
            Ok(Components { roots, statistics: outcome.statistics })
        }
    }
}

/// Bytes that the union-find holds.
pub fn size(graph: &Graph) -> u64 {
    4 * u64::from(graph.vertex_count())
}

/// A concurrent union-find.
struct Forest {
    parents: Vec<AtomicU32>,
}

impl Forest {
    fn new(vertex_count: u32) -> Forest {
        Forest { parents: (0..vertex_count).map(AtomicU32::new).collect() }
    }

    #[inline(always)]
    fn parent(&self, vertex: u32) -> u32 {
        // Relaxed is enough: a stale parent is an ancestor all the same, and links are made by
        // compare-and-swap. Threads are joined before the roots are read.
        self.parents[vertex as usize].load(Ordering::Relaxed)
    }

    /// Links the trees of two vertices. Each step moves the end with the greater parent up.
    fn link(&self, mut a: u32, mut b: u32) {
        loop {
            let (parent_a, parent_b) = (self.parent(a), self.parent(b));
            if parent_a == parent_b {
                return;
            }
            // `high` is the end whose parent is greater: only it may be linked, to the smaller one.
            let (high, parent_high, parent_low) =
                if parent_a > parent_b { (a, parent_a, parent_b) } else { (b, parent_b, parent_a) };
            if high == parent_high {
                let root = &self.parents[high as usize];
                let link =
                    root.compare_exchange(high, parent_low, Ordering::Relaxed, Ordering::Relaxed);
                if link.is_ok() {
                    return;
                }
                continue;
            }
            // Halves the path on the way up.
            let grandparent = self.parent(parent_high);
            if grandparent < parent_high {
                let _ = self.parents[high as usize].compare_exchange(
                    parent_high,
                    grandparent,
                    Ordering::Relaxed,
                    Ordering::Relaxed,
                );
            }
            (a, b) = (parent_high, parent_low);
        }
    }

    fn into_roots(self) -> Vec<VertexId> {
        let mut roots: Vec<VertexId> = Vec::with_capacity(self.parents.len());
        for (vertex, parent) in self.parents.into_iter().enumerate() {
            let parent = parent.into_inner() as usize;
            // A parent is smaller, so its root is known already.
            let root = roots.get(parent).copied().unwrap_or(VertexId(vertex as u32));
            roots.push(root);
        }
        roots
    }
}

impl EdgeVisitor for Forest {
    #[inline(always)]
    fn visit(&self, source: VertexId, target: VertexId) {
        // After the first few tiles most ends point at the same root already.
        if self.parent(source.0) != self.parent(target.0) {
            self.link(source.0, target.0);
        }
    }
}

/// Label propagation: the smallest dense id in reach.
#[derive(Debug, Clone, Copy)]
pub struct SmallestId;

impl Program for SmallestId {
    type State = u32;
    type Message = u32;
    type Weight = ();
    type Aggregate = ();

    const APPLY_TO: ApplyTo = ApplyTo::Reached;
    const NEEDS_DEGREE: bool = false;

    fn init(&self, vertex: VertexId, _degree: u32, (): &mut ()) -> (u32, Activity) {
        (vertex.0, Activity::Active)
    }

    fn begin_iteration(&mut self, _iteration: u64, (): &()) -> Next {
        Next::Continue
    }

    #[inline(always)]
    fn signal(&self, _vertex: VertexId, label: &u32, _degree: u32) -> Option<u32> {
        Some(*label)
    }

    #[inline(always)]
    fn along(&self, message: u32, (): ()) -> u32 {
        message
    }

    #[inline(always)]
    fn identity(&self) -> u32 {
        u32::MAX
    }

    #[inline(always)]
    fn reduce(&self, a: u32, b: u32) -> u32 {
        a.min(b)
    }

    #[inline(always)]
    fn apply(
        &self,
        _vertex: VertexId,
        _degree: u32,
        label: &mut u32,
        reduced: u32,
        (): &mut (),
    ) -> Activity {
        let is_smaller = reduced < *label;
        *label = reduced.min(*label);
        Activity::when(is_smaller)
    }

    fn merge(&self, (): &mut (), (): ()) {}
}
