//! How a graph is imported.

use std::path::PathBuf;

use tegula_machine::memory;
use tegula_store::graph::VertexOrder;
use tegula_store::rows::{ChunkCut, RowEncoding};
use tegula_store::tiles::{BATCH_EDGES_MAX, Batch, Grid, TileOrder};

use crate::combine::Combine;
use crate::import_run::ImportRun;
use crate::input::{InputOptions, Vertices};

/// How a graph is imported.
#[derive(Debug, Clone)]
pub struct ImportConfig {
    /// How the input is read, and whether edges have weights. Its `threads`, `memory` and `cancel`
    /// are ignored: the import sets its own.
    pub input: InputOptions,
    /// Whether each edge is stored in both directions (a loop once).
    pub undirected: bool,
    /// How the weights of edges with the same ends are combined, if only one of them is stored;
    /// `None` stores all.
    pub drop_duplicates: Option<Combine>,
    /// Whether edges from a vertex to itself are left out.
    pub drop_loops: bool,
    /// Whether inputs without any edge become a graph. By default they are refused.
    pub allow_empty: bool,
    /// How neighbours are coded in the layout `rows`, if it is built.
    pub rows: Option<RowEncoding>,
    /// The same for the layout `reverse` (rows by target). In an undirected graph, this builds the
    /// layout `rows`.
    pub reverse: Option<RowEncoding>,
    /// Which vertices there are, with or without an edge, besides those that inputs declare. If
    /// neither this nor an input declares any, the vertices are those with an edge.
    pub vertices: Option<Vertices>,
    /// The vertex order. By default it is the one estimated to take the fewest bytes; an order
    /// other than the given one has to save 3 %.
    pub order: Option<VertexOrder>,
    /// Batches of another graph with the same vertices and grid, if each new batch must lie in one
    /// of them. By default, batches follow from the in-degrees alone.
    pub batches: Option<Vec<Batch>>,
    /// Bytes that the process may use: at least 64 MiB, and more beyond 2^32 vertices (960 MiB for
    /// 2^40).
    pub memory: u64,
    /// Number of workers.
    pub threads: usize,
    /// Whether a graph that exists is replaced.
    pub force: bool,
    /// Where temporary files go; by default beside the graph.
    pub spill_directory: Option<PathBuf>,
    /// Choices that only tests and benchmarks make.
    #[doc(hidden)]
    pub tuning: Tuning,
}

/// Choices that the import makes well by itself, for tests, whose graphs are small, and for
/// benchmarks. The graph depends on all of them.
#[derive(Debug, Clone, Copy)]
pub struct Tuning {
    /// How the tiles are filed.
    pub grid: Grid,
    /// The order of the tiles in a batch. Sums of floats depend on it.
    pub tile_order: TileOrder,
    /// How rows are cut into chunks, and the longest rows into pieces.
    pub row_cut: ChunkCut,
    /// A batch of targets with more edges is halved. Sums of floats depend on it.
    pub batch_edges: u64,
}

impl Default for Tuning {
    fn default() -> Tuning {
        Tuning {
            grid: Grid::default(),
            tile_order: TileOrder::default(),
            row_cut: ChunkCut::STANDARD,
            batch_edges: BATCH_EDGES_MAX,
        }
    }
}

impl ImportConfig {
    /// The least memory for an import of up to 2^32 vertices.
    pub const MEMORY_MIN: u64 = ImportRun::MEMORY_MIN;

    pub(crate) fn has_rows(&self) -> bool {
        self.rows.is_some() || self.reverse.is_some()
    }
}

impl Default for ImportConfig {
    fn default() -> ImportConfig {
        ImportConfig {
            input: InputOptions::default(),
            undirected: false,
            drop_duplicates: None,
            drop_loops: false,
            allow_empty: false,
            rows: None,
            reverse: None,
            vertices: None,
            order: None,
            batches: None,
            memory: memory::default_memory(),
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            force: false,
            spill_directory: None,
            tuning: Tuning::default(),
        }
    }
}
