//! Memory of a vertex program.

use tegula_store::graph::Graph;
use tegula_store::rows::{Direction, RowReader};

use super::arrays_on_disk::ArraysOnDisk;
use super::batch_sizes::BatchSizes;
use super::estimate::Estimate;
use super::overhead::overhead;
use super::ranks::ranks_size;
use super::rows::estimate_rows;
use crate::options::Messages;
use crate::parts::Parts;
use crate::process::seek::Seek;
use crate::program::{Accumulator, Message, Program, has_weights};
use crate::superstep::accumulators::Accumulators;
use crate::superstep::active_set::ActiveSet;
use crate::tile_source::TileSource;
use crate::traverse::{Directions, RowsWanted};

/// Estimates what a program needs on a graph, without running it. Bytes that the program itself
/// holds come on top.
pub fn estimate<P: Program>(graph: &Graph, threads: usize) -> Estimate {
    let has_weights = has_weights::<P>(graph);
    let parts = Parts::cut(graph, None);
    Estimate {
        vertex_bytes: arrays_size::<P>(graph, &parts, threads),
        stream_bytes_min: TileSource::size_min(&parts, threads, has_weights),
        layout_bytes: graph.tile_bytes(),
        overhead_bytes: overhead(graph),
        message_bytes: size_of::<Message<P>>() as u64,
        on_disk: None,
    }
}

/// Estimates the same if the arrays may lie on disk, as with
/// [`run_anywhere`](crate::run_anywhere).
pub fn estimate_anywhere<P: Program>(graph: &Graph, threads: usize) -> Estimate {
    let parts = Parts::cut(graph, None);
    let on_disk = Some(ArraysOnDisk::of::<P>(graph, &parts, threads, Messages::Auto));
    Estimate { on_disk, ..estimate::<P>(graph, threads) }
}

/// Returns the least bytes beyond the [estimate](crate::estimate()) for a program that also follows
/// rows by source.
pub fn rows_size<P: Program>(graph: &Graph, threads: usize) -> u64 {
    let rows = RowReader::size_min(graph, Direction::Forward, has_weights::<P>(graph));
    seek_size::<P>(graph, Directions::Forward, threads) + rows
}

/// Returns the bytes for following rows in `directions`, beside the rows and the arrays.
pub fn seek_size<P: Program>(graph: &Graph, directions: Directions, threads: usize) -> u64 {
    Seek::<P>::size(graph.vertex_count(), directions.layouts(graph).len(), threads)
}

/// Estimates what a program that follows edges in `directions` needs. If it may scan, this is
/// [`estimate_anywhere`]; if not, the arrays are in memory and only rows are read.
pub fn estimate_following<P: Program>(
    graph: &Graph,
    directions: Directions,
    threads: usize,
) -> Estimate {
    if directions.can_scan(graph) {
        return estimate_anywhere::<P>(graph, threads);
    }
    let arrays = estimate::<P>(graph, threads).vertex_bytes;
    let wanted = RowsWanted { directions, has_weights: has_weights::<P>(graph) };
    estimate_rows(graph, wanted, arrays + seek_size::<P>(graph, directions, threads))
}

/// Returns the bytes of the arrays over all vertices, of the scratch memory of the workers, and of
/// what ranks need to talk to each other.
pub fn arrays_size<P: Program>(graph: &Graph, parts: &Parts, threads: usize) -> u64 {
    arrays_size_of::<P>(graph, &BatchSizes::of::<P>(graph, parts), threads)
}

/// Returns the same for a graph with the given batches.
pub(super) fn arrays_size_of<P: Program>(
    graph: &Graph,
    batches: &BatchSizes,
    threads: usize,
) -> u64 {
    let vertices = graph.vertex_count();
    let degree = if P::NEEDS_DEGREE { 4 } else { 0 };
    let per_vertex = (size_of::<P::State>() + size_of::<Message<P>>() + degree) as u64;
    let scratch = Accumulators::<P>::size(batches.widest);
    // Parts of one batch wait for each other and keep their reductions meanwhile.
    let waiting = batches.waiting_targets * size_of::<Accumulator<P>>() as u64;
    let sets = if P::SETTLING.is_possible() { 4 } else { 3 };
    let ranks = ranks_size(graph, size_of::<P::State>());
    let workers = (scratch + waiting) * threads as u64;
    vertices * per_vertex + sets * ActiveSet::size(vertices) + workers + ranks
}
