//! Opening graphs for runs.

use std::path::Path;

use tegula_machine::disk::{Backend, Caching, Directory, Pool, Reader};
use tegula_store::Result;
use tegula_store::graph::Graph;

/// Opens a graph directory for runs within a budget of `memory` bytes. A graph of at most half the
/// budget may stay in the page cache for the next run; a larger one is read past it.
pub fn open_graph(directory: &Path, memory: u64, backend: Backend) -> Result<Graph> {
    open_graph_in(&Graph::open_directory(directory)?, memory, backend)
}

/// Does the same for a directory that is already open.
pub fn open_graph_in(directory: &Directory, memory: u64, backend: Backend) -> Result<Graph> {
    let reader = Reader::open(backend, Pool::new(memory))?;
    let fits = directory.bytes() <= memory / 2;
    let caching = if fits { Caching::PageCache } else { Caching::Direct };
    Graph::open_in(directory, &reader, caching)
}
