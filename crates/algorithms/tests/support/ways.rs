//! Any small graph, and ways to run; the answer must not depend on them.

use std::ops::RangeInclusive;
use std::path::Path;

use proptest::prelude::*;
use tegula_algorithms::{Error, Result};
use tegula_engine::{Estimate, Graph, RunOptions, open_graph};
use tegula_import::ImportConfig;
use tegula_machine::Error as MachineError;
use tegula_machine::disk::{Backend, Fault, FaultPlan};
use tegula_store::graph::VertexOrder;
use tegula_store::rows::{ChunkCut, RowEncoding};
use tegula_store::tiles::Grid;
use tegula_testkit::EdgeList;

use super::AMPLE;

/// Grids on which small graphs have one cell, many cells, a row of cells or a column of cells.
pub const GRIDS: [Grid; 5] = [
    Grid { segment_log2: 24, column_log2: 24 },
    Grid { segment_log2: 6, column_log2: 6 },
    Grid { segment_log2: 7, column_log2: 8 },
    Grid { segment_log2: 6, column_log2: 24 },
    Grid { segment_log2: 24, column_log2: 6 },
];

/// Row cuts with which rows of small graphs are in many pieces or in one.
pub const ROW_CUTS: [ChunkCut; 3] = [
    ChunkCut { edges_max: 5, window_log2: 2 },
    ChunkCut::STANDARD,
    ChunkCut { edges_max: 1, window_log2: 0 },
];

/// Settings to import in a vertex order, with rows; those of hubs are in several pieces.
pub fn with_rows(order: VertexOrder, undirected: bool) -> ImportConfig {
    let rows = Some(RowEncoding::default());
    let order = Some(order);
    let mut config = ImportConfig { order, undirected, rows, reverse: rows, ..Default::default() };
    config.tuning.row_cut = ChunkCut { edges_max: 1 << 10, window_log2: 6 };
    config
}

/// One way to run.
#[derive(Debug, Clone)]
pub struct Way {
    pub threads: usize,
    pub has_least_memory: bool,
    pub backend: Backend,
}

impl Way {
    /// A way with ample memory.
    pub fn ample(threads: usize) -> Way {
        Way { threads, has_least_memory: false, backend: Backend::Auto }
    }

    /// Opens the graph, and returns it with the options of a run that needs `needed`.
    pub fn open(
        &self,
        directory: &Path,
        needed: &Estimate,
    ) -> Result<(Graph, RunOptions<'static>)> {
        let memory = if self.has_least_memory { needed.needed() } else { AMPLE };
        let graph = open_graph(directory, memory, self.backend.clone())?;
        Ok((graph, RunOptions { memory, threads: self.threads, ..Default::default() }))
    }
}

/// Returns a backend without a disk that has the files of a graph directory.
pub fn in_memory(directory: &Path) -> Backend {
    let paths = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    Backend::Memory(paths.map(|path| (path.clone(), std::fs::read(path).unwrap())).collect())
}

/// Refuses an estimate above 64 MiB plus the given bytes a vertex, and 4 more for an order.
#[track_caller]
pub fn assert_modest(graph: &Graph, estimates: &[(u64, Estimate)]) {
    for (bytes, estimate) in estimates {
        let most = (bytes + 4) * graph.vertex_count() + (64 << 20);
        assert!(estimate.needed() < most, "{bytes}: {estimate:?}");
    }
}

/// Lets each read in turn fail. That is the error of the run, or the answer is still right.
#[track_caller]
pub fn fail_each_read<A: PartialEq>(run: impl Fn(&Way) -> Result<A>) {
    let expected = run(&Way::ample(2)).unwrap();
    let mut errors = 0;
    for nth in 1.. {
        let plan = FaultPlan::new().nth(nth, Fault::Errno(5));
        let backend = Backend::Auto.with_faults(&plan);
        let result = run(&Way { threads: 2, has_least_memory: true, backend });
        if plan.struck() == 0 {
            break;
        }
        match result {
            Err(Error::Run(error)) => {
                assert!(
                    matches!(error, tegula_engine::Error::Machine(MachineError::Io { .. })),
                    "read {nth}: {error}"
                );
                errors += 1;
            }
            // The page was read ahead and evicted before it was needed.
            Ok(answer) => assert!(answer == expected, "read {nth}"),
            Err(other) => panic!("{other:?}"),
        }
    }
    assert!(errors > 10, "only {errors} errors");
}

/// Edges between a number of vertices, up to `density` a vertex: uniform or skewed, with loops and
/// parallel edges.
pub fn edges(
    vertices: RangeInclusive<u32>,
    density: RangeInclusive<usize>,
) -> impl Strategy<Value = Vec<(u64, u64)>> {
    (vertices, 1..=4, density).prop_flat_map(|(vertices, skew, density)| {
        let end = (0.0..1.0f64)
            .prop_map(move |fraction| (fraction.powi(skew) * f64::from(vertices)) as u64);
        prop::collection::vec((end.clone(), end), 0..=density * vertices as usize)
    })
}

/// The same edges as graphs with gaps between their ids.
pub fn graphs(
    vertices: RangeInclusive<u32>,
    density: RangeInclusive<usize>,
) -> impl Strategy<Value = EdgeList> {
    let apart = |(source, target): (u64, u64)| (3 * source, 3 * target);
    edges(vertices, density)
        .prop_map(move |edges| EdgeList::new(edges.into_iter().map(apart).collect()))
}
