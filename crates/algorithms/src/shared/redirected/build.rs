//! Builds the redirected graph.

use std::fs;

use tegula_comm::Tag;
use tegula_engine::traverse::Directions;
use tegula_engine::{Graph, RUN_OVERHEAD, RunOptions, of_comm};
use tegula_import::input::{Format, IdKind, InputOptions, Vertices};
use tegula_import::{Combine, ImportConfig, Tuning, import};
use tegula_machine::disk::{Directory, Pool, Unfinished};
use tegula_store::graph::{VertexOrder, contents, file_names};

use super::Redirection;
use super::pairs::write_pairs;
use crate::error::Result;

/// Bytes of the code of this process beyond what an import counts as its own.
const CODE_BESIDE_IMPORT: u64 = 8 << 20;
/// Bytes of the code of the import, which stay in memory during the run: 4.4 MB of a build with
/// debug assertions. The rest is for what its allocations leave behind, which varies by some MB.
pub(super) const CODE_OF_IMPORT: u64 = 12 << 20;
/// Beyond 2^32 vertices, an import may need up to 960 MiB.
const IMPORT_MEMORY_WIDE: u64 = 960 << 20;
const MOVED: Tag = Tag(104);

/// Bytes that it took to build a graph.
pub(crate) struct Moved {
    pub read: u64,
    pub written: u64,
}

impl Moved {
    /// Returns the bytes of all ranks, as statistics tell them.
    fn on_all_ranks(self, options: &RunOptions<'_>) -> Result<Moved> {
        let Some(comm) = options.ranks else { return Ok(self) };
        let told = [self.read, self.written].map(u64::to_le_bytes).concat();
        let all = comm.all_gather(told, MOVED, &options.cancel).map_err(of_comm)?;
        let mut sum = Moved { read: 0, written: 0 };
        for (rank, told) in all.iter().enumerate() {
            let ([read, written], []) = told.as_chunks() else {
                let detail = format!("it sent {} bytes for two numbers", told.len());
                return Err(tegula_store::Error::RankFailed { rank, detail }.into());
            };
            sum.read = sum.read.saturating_add(u64::from_le_bytes(*read));
            sum.written = sum.written.saturating_add(u64::from_le_bytes(*written));
        }
        Ok(sum)
    }
}

/// Returns the least bytes to build a graph, beside the bytes that every process takes.
pub(super) fn building_min(graph: &Graph) -> u64 {
    let import = match graph.has_short_ids() {
        true => ImportConfig::MEMORY_MIN,
        false => IMPORT_MEMORY_WIDE,
    };
    import.saturating_sub(lent_to_import(0))
}

/// Returns the budget of an import that gets `lent` bytes beside the bytes that every process
/// takes.
fn lent_to_import(lent: u64) -> u64 {
    RUN_OVERHEAD - CODE_BESIDE_IMPORT + lent
}

impl Redirection {
    /// Returns the bytes of files beside the new graph, while it is built: the pairs in the file,
    /// and each new edge on its way to the tiles. A rank counts its mean share of the edges.
    pub(super) fn building_files(self, graph: &Graph) -> u64 {
        let number = if graph.has_short_ids() { size_of::<u32>() } else { size_of::<u64>() };
        let arcs = self.arcs(graph);
        let pairs = if self.adds_other_direction(graph) { graph.edge_count() } else { arcs };
        let ranks = graph.partition().filter(|_| graph.is_for_ranks()).map_or(1, |all| all.ranks());
        2 * number as u64 * (pairs + arcs).div_ceil(ranks as u64)
    }

    /// Builds the new graph within `lent` bytes of memory, beside the bytes that every process
    /// takes. Its files are in `folder`, and have no names any more.
    ///
    /// # Errors
    /// Errors of reading and writing; cancellation; the failure of another rank.
    pub fn build(
        self,
        graph: &Graph,
        folder: &Directory,
        lent: u64,
        options: &RunOptions<'_>,
    ) -> Result<(Graph, Moved)> {
        let place = folder.path().join(file_names::OWN_GRAPH);
        let hidden = Unfinished::private_folder(&place, contents::remove)?;
        let (pairs, built) = (hidden.path().join("pairs"), hidden.path().join("graph"));
        write_pairs(graph, self.directions, &pairs, options)?;
        // Only the statistics need the length.
        let pair_bytes = fs::metadata(&pairs).map_or(0, |file| file.len());
        // Tiles of the first graph are not needed any more.
        graph.reader().pool().trim();
        let format = if graph.has_short_ids() { Format::Pairs32 } else { Format::Pairs64 };
        let config = ImportConfig {
            input: InputOptions { format, ids: IdKind::Integer, ..InputOptions::default() },
            undirected: self.adds_other_direction(graph),
            drop_loops: self.drops_loops,
            drop_duplicates: self.drops_duplicates.then_some(Combine::Min),
            allow_empty: true,
            vertices: Some(Vertices::Count(graph.vertex_count())),
            order: Some(VertexOrder::Given),
            // New batches lie within batches of the first graph, so they and the rounding of sums
            // are the same on any number of ranks.
            batches: Some(graph.batches().to_vec()),
            memory: lent_to_import(lent),
            threads: options.threads,
            tuning: Tuning { grid: graph.grid(), ..Tuning::default() },
            ..ImportConfig::default()
        };
        let inputs = std::slice::from_ref(&pairs);
        let report = import(inputs, &built, &config, options.progress, &options.cancel)?;
        fs::remove_file(&pairs).map_err(tegula_engine::Error::io("remove", &pairs))?;
        // The new graph is read within the lent memory.
        let reader = graph.reader().with_pool(Pool::new(RUN_OVERHEAD + lent));
        let mut opened = Graph::open(&built, &reader, graph.caching())?;
        if let Some(partition) = graph.partition().filter(|_| options.ranks.is_some()) {
            let is_undirected = self.directions == Directions::Both;
            opened = opened.beside_shard(partition, is_undirected)?;
        }
        let written = report.files.iter().map(|file| file.bytes).sum::<u64>();
        // The pairs are read to count degrees, and again for the tiles.
        let read = graph.tile_bytes() + 2 * pair_bytes;
        let own = Moved { read, written: pair_bytes + written };
        Ok((opened, own.on_all_ranks(options)?))
    }

    /// Whether the import adds the other direction of each pair. On ranks, a pair travels to the
    /// rank of its target, so each direction is a pair of its own.
    fn adds_other_direction(self, graph: &Graph) -> bool {
        self.directions == Directions::Both && !graph.manifest().undirected && !graph.is_for_ranks()
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use tegula_comm::{Comm, Threads};

    use super::*;

    /// Returns what rank 0 finds beside a rank that sends these bytes.
    fn moved_with_rank(told: Vec<u8>) -> Result<Moved> {
        let ranks = Threads::ranks(2);
        thread::scope(|scope| {
            scope.spawn(|| ranks[1].all_gather(told, MOVED, &Default::default()).unwrap());
            let options = RunOptions { ranks: Some(&ranks[0]), ..RunOptions::default() };
            Moved { read: 1, written: 2 }.on_all_ranks(&options)
        })
    }

    #[test]
    fn bytes_of_all_ranks_are_added_and_damaged_ones_refused() {
        let moved = moved_with_rank([3, u64::MAX].map(u64::to_le_bytes).concat()).ok().unwrap();
        assert_eq!((moved.read, moved.written), (4, u64::MAX));
        for size in [0, 7, 8, 15, 17, 24] {
            let error = moved_with_rank(vec![1; size]).err().unwrap().to_string();
            assert!(error.contains("rank 1") && error.contains("for two numbers"), "{error}");
        }
    }
}
