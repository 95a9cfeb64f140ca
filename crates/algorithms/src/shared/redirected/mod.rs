//! Builds graphs with the edges of another graph in the other direction, or in both.
//!
//! A program sends messages along stored edges only. One that has to go against them runs on a
//! graph that is built first. The new graph has the same dense ids, so the states of a program on
//! it are states of the vertices of the first one.
//!
//! ```text
//!  tiles --read once--> pairs of dense ids --import--> other directions --run--> states
//!                       (a file)                       (a graph)
//! ```
//!
//! On ranks, each one builds the shard of its own targets: a pair goes to the rank of its target.
//!
//! All files lie where arrays on disk lie. While the graph is built, a pair takes 8 bytes, and so
//! does each new edge on its way to the tiles (twice as much beyond 2^32 vertices). The pairs are
//! removed when they are imported. The names of the new graph are removed when it is open, so it
//! vanishes however the run ends. Weights are left out.

mod build;
mod pairs;

use tegula_engine::traverse::Directions;
use tegula_engine::{
    Arrays, Estimate, Executor, Graph, Outcome, Program, RUN_OVERHEAD, Redirected, RunOptions,
    Start, States, Tuning, estimate_anywhere, estimate_redirected, overhead, run_anywhere,
    spill_folder, tiles_size_expected, usual_part_edges, with_memory,
};
use tegula_machine::disk::{Directory, check_room};

use crate::error::Result;
use build::{CODE_OF_IMPORT, Moved, building_min};

/// Which edges a new graph has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Redirection {
    /// `Reverse` or `Both`.
    pub directions: Directions,
    /// Whether edges from a vertex to itself are left out.
    pub drops_loops: bool,
    /// Whether only one of several edges between the same ends is kept.
    pub drops_duplicates: bool,
}

impl Redirection {
    /// Each edge in the other direction.
    pub const REVERSED: Redirection = Redirection {
        directions: Directions::Reverse,
        drops_loops: false,
        drops_duplicates: false,
    };
    /// Both directions of each edge that leads to another vertex.
    pub const MIRRORED: Redirection =
        Redirection { directions: Directions::Both, drops_loops: true, drops_duplicates: false };
    /// The neighbours of each vertex, each once.
    pub const NEIGHBOURS: Redirection = Redirection { drops_duplicates: true, ..Self::MIRRORED };

    /// Returns whether a graph has other edges than these. Loops matter only if duplicates do.
    pub fn is_needed(self, graph: &Graph) -> bool {
        let manifest = graph.manifest();
        let has_others = self.drops_duplicates && manifest.duplicates + manifest.loops > 0;
        graph.edge_count() > 0 && (!manifest.undirected || has_others)
    }

    /// Returns the most edges of the new graph.
    pub fn arcs(self, graph: &Graph) -> u64 {
        let is_doubled = self.directions == Directions::Both && !graph.manifest().undirected;
        if is_doubled { 2 * graph.edge_count() } else { graph.edge_count() }
    }

    /// Estimates what [`run`](Redirection::run) needs.
    pub fn estimate<P: Program>(self, graph: &Graph, threads: usize) -> Estimate {
        if !self.is_needed(graph) {
            return estimate_anywhere::<P>(graph, threads);
        }
        let wanted = Redirected {
            arcs: self.arcs(graph),
            building_min: building_min(graph),
            building_files: self.building_files(graph),
        };
        let estimate = estimate_redirected::<P>(graph, threads, wanted);
        Estimate {
            vertex_bytes: estimate.vertex_bytes + CODE_OF_IMPORT,
            on_disk: estimate.on_disk.map(|arrays| arrays.with_bytes(CODE_OF_IMPORT)),
            ..estimate
        }
    }

    /// Runs a program along these edges, with its arrays on disk if memory has no room for them.
    /// Its edges come from tiles.
    ///
    /// # Errors
    /// [`OverBudget`](tegula_machine::Error::OverBudget) before anything is read;
    /// [`Io`](tegula_machine::Error::Io), of kind [`StorageFull`](std::io::ErrorKind::StorageFull)
    /// before the work if the disk has too little room; cancellation; the failure of another rank.
    pub fn run<P: Program>(
        self,
        graph: &Graph,
        program: P,
        options: &RunOptions<'_>,
    ) -> Result<Outcome<P, States<P::State>>> {
        if !self.is_needed(graph) {
            return Ok(run_anywhere(graph, program, options)?);
        }
        let held = program.size();
        let estimate = self.estimate::<P>(graph, options.threads);
        let least = least_bytes(&estimate, options.arrays);
        with_memory(graph, least + held, options, |lent| {
            let folder = spill_folder(graph, options.spill_directory)?;
            self.check_files(graph, &folder, &estimate, lent - held)?;
            let lent = lent - CODE_OF_IMPORT;
            let (redirected, moved) = self.build(graph, &folder, lent - held, options)?;
            let options = self.options_within(lent, graph, options, &folder);
            let mut outcome = run_anywhere(&redirected, program, &options)?;
            outcome.statistics.bytes_read += moved.read;
            outcome.statistics.bytes_written += moved.written;
            Ok(outcome)
        })
    }

    /// Returns the bytes of files of a run with its arrays in memory.
    fn files_in_memory_run(self, graph: &Graph) -> u64 {
        self.building_files(graph) + tiles_size_expected(graph, self.arcs(graph))
    }

    /// Checks before the work that the disk of a folder has room for all files of a run.
    ///
    /// # Errors
    /// [`Io`](tegula_machine::Error::Io) of kind
    /// [`StorageFull`](std::io::ErrorKind::StorageFull), which says how much is needed.
    fn check_files(
        self,
        graph: &Graph,
        folder: &Directory,
        estimate: &Estimate,
        lent: u64,
    ) -> Result<()> {
        match &estimate.on_disk {
            Some(arrays) if lent < estimate.vertex_bytes => {
                let plan = arrays.plan(lent, true).unwrap_or_else(|| arrays.least());
                Ok(arrays.check_room(graph, &plan, Some(folder.path()))?)
            }
            Some(_) | None => Ok(check_room(folder, self.files_in_memory_run(graph))?),
        }
    }

    /// Builds the graph with these edges, for several [runs](Redirection::run_on).
    pub fn build_for_passes(
        self,
        graph: &Graph,
        options: &RunOptions<'_>,
    ) -> Result<(Graph, Moved)> {
        with_memory(graph, building_min(graph) + CODE_OF_IMPORT, options, |lent| {
            let folder = spill_folder(graph, options.spill_directory)?;
            check_room(&folder, self.files_in_memory_run(graph))?;
            self.build(graph, &folder, lent - CODE_OF_IMPORT, options)
        })
    }

    /// Runs a program on the graph that was built with these edges.
    pub fn run_on<P: Program>(
        self,
        graph: &Graph,
        redirected: &Graph,
        start: Start<P>,
        options: &RunOptions<'_>,
    ) -> Result<Outcome<P, States<P::State>>> {
        let estimate = self.estimate::<P>(graph, options.threads);
        let least = least_bytes(&estimate, options.arrays);
        // Tiles of the first graph give way.
        graph.reader().pool().trim();
        let outcome = with_memory(graph, least, options, |lent| {
            let folder = spill_folder(graph, options.spill_directory)?;
            let lent = lent - CODE_OF_IMPORT;
            let options = self.options_within(lent, graph, options, &folder);
            Ok(run_anywhere(redirected, start, &options)?)
        });
        // Between passes, only its tables are counted.
        redirected.reader().pool().trim();
        outcome
    }

    /// Returns the options of a run on the new graph, which no other job uses, within `lent` bytes
    /// beside the bytes that every process takes.
    fn options_within<'o>(
        self,
        lent: u64,
        graph: &Graph,
        options: &RunOptions<'o>,
        folder: &'o Directory,
    ) -> RunOptions<'o> {
        // A rank knows only its own edges of the new graph, but those of the whole first graph.
        // With parts that follow from these, sums of floats are those of one machine.
        let part_edges = options.tuning.part_edges.or(Some(usual_part_edges(self.arcs(graph))));
        RunOptions {
            memory: RUN_OVERHEAD + lent,
            executor: Executor::Scan,
            // The settings of rows and the scheduler are for the first graph.
            rows: None,
            reverse: None,
            scheduler: None,
            reserve: None,
            spill_directory: Some(folder.path()),
            tuning: Tuning { part_edges, ..options.tuning },
            ..options.clone()
        }
    }
}

/// Returns the bytes that a graph built for passes takes while it is not used: its tables, and the
/// code that built it.
pub(crate) fn size_beside(redirected: &Graph) -> u64 {
    overhead(redirected) - RUN_OVERHEAD + CODE_OF_IMPORT
}

/// Returns the least bytes to lend to a run with such an estimate.
fn least_bytes(estimate: &Estimate, arrays: Arrays) -> u64 {
    let on_disk = estimate.on_disk.as_ref().map(|arrays| arrays.least().bytes);
    match (arrays, on_disk) {
        (Arrays::InMemory, _) | (_, None) => estimate.vertex_bytes,
        (Arrays::OnDisk, Some(on_disk)) => on_disk,
        (Arrays::Auto, Some(_)) => {
            estimate.needed() - estimate.stream_bytes_min - estimate.overhead_bytes
        }
    }
}
