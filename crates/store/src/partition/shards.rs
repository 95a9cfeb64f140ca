//! The shards of a graph, as a source of its tiles.

use std::collections::BTreeMap;
use std::ops::{ControlFlow, Range};
use std::path::{Path, PathBuf};

use tegula_machine::threads::Cancel;

use crate::graph::{CheckedTiles, Graph, Manifest, TileEntry, is_directory, shard_name};
use crate::tiles::{Batch, Cell};
use crate::{Error, Result};

/// Returns the graph directories at a path: the path itself if it is one, or the shards of all
/// ranks if it is a partitioned graph.
///
/// # Errors
/// [`Error::NotAPartition`] where the path is neither.
pub fn shard_paths(path: &Path) -> Result<Vec<PathBuf>> {
    if is_directory(path) {
        return Ok(vec![path.to_owned()]);
    }
    let first = path.join(shard_name(0));
    if !is_directory(&first) {
        let detail = format!("it has no {}", shard_name(0));
        return Err(Error::not_a_partition(path, detail));
    }
    let ranks = Manifest::read(&first)?.partition.map_or(1, |partition| partition.ranks());
    Ok((0..ranks).map(|rank| path.join(shard_name(rank))).collect())
}

/// All shards of a graph by rank, or a whole graph alone.
#[derive(Clone, Copy)]
pub struct Shards<'g> {
    graphs: &'g [Graph],
    whole: &'g Manifest,
}

impl<'g> Shards<'g> {
    /// Takes a whole graph, or all shards of one in the order of their ranks.
    ///
    /// # Errors
    /// [`Error::NotAPartition`] where they are not the shards of one graph.
    pub fn of(graphs: &'g [Graph]) -> Result<Shards<'g>> {
        let first = graphs.first().expect("there is at least one shard");
        let Some(partition) = first.partition() else {
            return match graphs.len() {
                1 => Ok(Shards { graphs, whole: first.manifest() }),
                _ => Err(Error::not_a_partition(first.directory(), "it holds a whole graph")),
            };
        };
        for (rank, graph) in graphs.iter().enumerate() {
            let refused = |detail: String| Err(Error::not_a_partition(graph.directory(), detail));
            let Some(found) = graph.partition() else {
                return refused("it holds a whole graph".to_owned());
            };
            if found.whole != partition.whole {
                return refused("it is a shard of another graph than rank 0".to_owned());
            }
            if found.cuts != partition.cuts {
                return refused("it was cut at other vertices than rank 0".to_owned());
            }
            if found.rank as usize != rank {
                return refused(format!("it is rank {}, not {rank}", found.rank));
            }
        }
        if graphs.len() != partition.ranks() {
            let detail = format!("there are {} of {} shards", graphs.len(), partition.ranks());
            return Err(Error::not_a_partition(first.directory(), detail));
        }
        Ok(Shards { graphs, whole: &partition.whole })
    }

    /// Returns the manifest of the whole graph.
    pub fn whole(&self) -> &'g Manifest {
        self.whole
    }

    /// Returns a directory that has the files by vertex. Every shard has them.
    pub(super) fn first(&self) -> &'g Graph {
        &self.graphs[0]
    }

    /// Returns the batches of the whole graph.
    pub(super) fn batches(&self) -> &'g [Batch] {
        self.first().batches()
    }

    /// Returns the edges and targets of each batch.
    pub(super) fn batch_sizes(&self) -> Vec<(u64, u64)> {
        let vertex_count = self.whole.vertices;
        let targets = self.batches().iter().map(|batch| batch.targets(vertex_count));
        let mut sizes: Vec<_> = targets.map(|targets| (0, targets.end - targets.start)).collect();
        for graph in self.graphs {
            for tile in graph.tiles() {
                sizes[batch_of(graph, tile)].0 += u64::from(tile.summary.edge_count);
            }
        }
        sizes
    }

    /// Visits the tiles into some batches in the order of the whole graph. `visit` gets the shard,
    /// the cell, the batch, and the tiles of a read with the index of one of them.
    pub(super) fn for_each_tile(
        &self,
        batches: &Range<usize>,
        is_wanted: impl Fn(Cell) -> bool,
        cancel: &Cancel,
        mut visit: impl FnMut(&Graph, Cell, usize, &CheckedTiles, usize) -> Result<()>,
    ) -> Result<()> {
        let mut cells: BTreeMap<Cell, Vec<(&Graph, Range<usize>)>> = BTreeMap::new();
        for graph in self.graphs {
            for entry in graph.cells().iter().filter(|entry| is_wanted(entry.cell)) {
                // Shards ascend by targets, so the tiles of a cell come as in the whole graph.
                cells.entry(entry.cell).or_default().push((graph, entry.tiles.clone()));
            }
        }
        for (cell, pieces) in cells {
            for (graph, tiles) in pieces {
                let is_wanted = |tile: &TileEntry| batches.contains(&batch_of(graph, tile));
                let weighted = self.whole.weighted;
                graph.for_each_checked(tiles, is_wanted, weighted, cancel, |tiles, index| {
                    let batch = batch_of(graph, &graph.tiles()[index]);
                    visit(graph, cell, batch, tiles, index)?;
                    Ok::<_, Error>(ControlFlow::Continue(()))
                })?;
            }
        }
        Ok(())
    }
}

/// Returns the batch of a tile.
fn batch_of(graph: &Graph, tile: &TileEntry) -> usize {
    let target = graph.origin_of(tile).target + u64::from(tile.summary.target_first);
    // The first batch begins at 0, so there is one.
    graph.batches().partition_point(|batch| batch.target_first <= target) - 1
}
