//! The objects that `--json` prints. Field names are fixed: scripts rely on them.

mod ranks;

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Serialize, Serializer};
use tegula_algorithms::algorithm;
use tegula_algorithms::answer::Summary;
use tegula_algorithms::side_table::TableRead;
use tegula_machine::disk::DeviceProfile;
use tegula_store::graph::{FileEntry, IdType, OrderChoice, file_names};
use tegula_store::rows::{Direction, RowFiles};

pub use ranks::Rank;

/// A time span as seconds.
#[derive(Debug, Clone, Copy, Default)]
pub struct Seconds(pub Duration);

impl Serialize for Seconds {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.0.as_secs_f64())
    }
}

/// `tegula export`.
#[derive(Debug, Serialize)]
pub struct Export<'a> {
    pub schema: &'static str,
    /// What was written: edges, degrees or neighbours.
    pub content: &'static str,
    /// Vertices of the graph, or those whose neighbours were written.
    pub vertices: u64,
    /// The number of edges, where edges were written; an undirected edge counts once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edges: Option<u64>,
    pub rows: u64,
    pub output: String,
    pub bytes: u64,
    pub seconds: Seconds,
    pub peak_memory_bytes: u64,
    /// Where the result falls short of what may have been expected; also on standard error.
    pub warnings: Vec<String>,
    /// Tables read for the options.
    pub tables: &'a [TableRead],
}

/// `tegula run`.
#[derive(Serialize)]
pub struct Run<'a> {
    pub schema: &'static str,
    pub algorithm: &'static str,
    pub vertices: u64,
    pub edges: u64,
    pub iterations: u64,
    /// Iterations before the checkpoint that the run resumed from.
    pub iterations_before: u64,
    pub seconds: RunSeconds,
    pub iteration_seconds: Vec<Seconds>,
    /// How the edges of each iteration were reached: scan, seek or pull.
    pub processes: Vec<&'static str>,
    /// Predicted seconds of each iteration, uncorrected; null where a scan was the only way.
    pub predicted_seconds: Vec<Option<f64>>,
    pub scan_seconds: ScanSeconds,
    pub edges_processed: u64,
    pub tiles_skipped: u64,
    pub bytes_read: u64,
    pub bytes_written: u64,
    pub peak_memory_bytes: u64,
    pub memory_bytes: u64,
    pub threads: usize,
    /// The ranks of a run on a partitioned graph.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ranks: Vec<Rank>,
    pub output: Option<String>,
    /// Where the result falls short of what may have been expected; also on standard error.
    pub warnings: Vec<String>,
    /// Tables read for the options.
    pub tables: &'a [TableRead],
    pub summary: &'a dyn Summary,
}

/// Seconds of the scans of a run, over all workers.
#[derive(Debug, Serialize)]
pub struct ScanSeconds {
    /// Tiles were processed.
    pub working: Seconds,
    /// Workers waited for tiles, for all jobs that share them.
    pub waiting: Seconds,
}

/// A job of `tegula run --batch` that has ended well.
#[derive(Serialize)]
pub struct Job<'a> {
    pub name: &'a str,
    /// From its arrival until it had its memory.
    pub queued_seconds: Seconds,
    /// The names of the jobs that ran as one with it.
    pub fused_with: &'a [&'a str],
    #[serde(flatten)]
    pub run: Run<'a>,
}

/// A job of `tegula run --batch` that has failed.
#[derive(Serialize)]
pub struct FailedJob<'a> {
    pub name: &'a str,
    #[serde(flatten)]
    pub failed: Failed,
}

/// `tegula run --batch`.
#[derive(Debug, Serialize)]
pub struct Batch {
    pub schema: &'static str,
    pub jobs: usize,
    pub failed: usize,
    pub seconds: Seconds,
    /// Bytes read of the graph.
    pub bytes_read: u64,
    /// Bytes of tiles that separate runs would have read besides.
    pub bytes_saved: u64,
    pub peak_memory_bytes: u64,
}

/// `tegula run --batch --estimate`.
#[derive(Debug, Serialize)]
pub struct BatchEstimate<'a> {
    pub schema: &'static str,
    pub jobs: Vec<JobEstimate<'a>>,
    /// Jobs that fit the budget.
    pub fitting: usize,
    /// Peak of the whole process, about.
    pub peak_memory_bytes: u64,
    /// About when the last run ends, counted from the start, if runs follow each other; null if the
    /// time of one is not known.
    pub seconds: Option<Seconds>,
    pub memory_bytes: u64,
}

/// What a job of a batch needs.
#[derive(Debug, Serialize)]
pub struct JobEstimate<'a> {
    pub name: &'a str,
    pub algorithm: &'static str,
    pub needed_bytes: u64,
    /// About; null where it cannot be estimated.
    pub seconds: Option<Seconds>,
    pub fits: bool,
    /// The jobs that run as one with it.
    pub fused_with: &'a [&'a str],
}

/// Seconds of each part of a run.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct RunSeconds {
    pub open: Seconds,
    pub run: Seconds,
    pub write: Seconds,
}

/// `tegula run --estimate`.
#[derive(Debug, Serialize)]
pub struct Estimate {
    pub schema: &'static str,
    pub algorithm: &'static str,
    pub vertices: u64,
    pub edges: u64,
    pub vertex_bytes: u64,
    pub stream_bytes_min: u64,
    pub overhead_bytes: u64,
    pub needed_bytes: u64,
    /// What iterations read: tiles or rows.
    pub layout: &'static str,
    pub layout_bytes: u64,
    /// Null where arrays are in memory.
    pub arrays_on_disk: Option<ArraysOnDisk>,
    /// Why the files of arrays cannot be made; null where no reason is known.
    pub disk_refuses: Option<String>,
    /// Why arrays must be in memory; null where they may lie on disk.
    pub why_in_memory: Option<&'static str>,
    /// Bytes that each iteration but the first reads and writes, about.
    pub iteration_bytes: u64,
    /// Bytes that all iterations read and write, about.
    pub moved_bytes: u64,
    /// Bytes of lists that save time, held in addition where the budget has room.
    pub lists_bytes: u64,
    /// Bytes of the process when it began: its code, and the tables of the graph.
    pub resident_bytes: u64,
    /// Peak of the whole process, about.
    pub peak_memory_bytes: u64,
    /// About; null where it cannot be estimated. Includes rows that are built first.
    pub seconds: Option<Seconds>,
    pub work: Work,
    pub memory_bytes: u64,
    pub fits: bool,
    pub layout_fits: bool,
}

/// The work from which the time of a run is estimated.
#[derive(Debug, Serialize)]
pub struct Work {
    pub kind: &'static str,
    pub rounds: f64,
    pub edges: f64,
    pub vertices: f64,
    /// Edges of a graph that is built first.
    pub built_edges: f64,
    /// Bytes of an edge in the tiles.
    pub edge_bytes: f64,
    /// Threads that share the work.
    pub threads: usize,
}

impl Work {
    /// Returns the work within `memory` bytes as the algorithm counts it, shared by `threads`
    /// threads at most.
    pub fn of(needs: &algorithm::Needs, memory: u64, threads: usize) -> Work {
        let work = needs.work_within(memory);
        let algorithm::Work { kind, rounds, edges, vertices, built_edges, threads_max: _ } = *work;
        let (edge_bytes, threads) = (needs.edge_bytes, work.threads(threads));
        Work { kind, rounds, edges, vertices, built_edges, edge_bytes, threads }
    }
}

impl ArraysOnDisk {
    /// Returns how the arrays of a run lie on disk within a budget; `None` if they are in memory.
    pub fn of(estimate: &tegula_engine::Estimate, memory: u64) -> Option<ArraysOnDisk> {
        let (arrays, plan) = estimate.plan_on_disk(memory)?;
        Some(ArraysOnDisk {
            held_bytes: plan.bytes,
            file_bytes: arrays.file_size(&plan),
            column_groups: plan.groups,
            columns_in_group: plan.columns,
        })
    }
}

/// How the arrays of a run lie on disk.
#[derive(Debug, Serialize)]
pub struct ArraysOnDisk {
    /// Bytes of memory.
    pub held_bytes: u64,
    pub file_bytes: u64,
    /// Groups into which the columns are divided.
    pub column_groups: u32,
    pub columns_in_group: u32,
}

/// `tegula import`.
#[derive(Debug, Serialize)]
pub struct Import {
    pub schema: &'static str,
    pub vertices: u64,
    pub edges: u64,
    pub bytes: u64,
    pub bytes_per_edge: BTreeMap<&'static str, f64>,
    pub seconds: Seconds,
    pub stage_seconds: BTreeMap<&'static str, f64>,
    pub peak_memory_bytes: u64,
    pub order: String,
    pub order_choice: OrderChoice,
    pub ids: IdType,
    pub undirected: bool,
    /// The share of the listed edges that appear in both directions; null where the graph is
    /// directed.
    pub both_ways_share: Option<f64>,
    pub loops: u64,
    pub duplicates: u64,
    pub dropped_loops: u64,
    pub dropped_duplicates: u64,
    pub skipped_rows: u64,
    /// The shards, where the graph was cut at once; else null.
    pub ranks: Option<Vec<Shard>>,
    pub warnings: Vec<String>,
}

/// `tegula completions`.
#[derive(Debug, Serialize)]
pub struct Completions<'a> {
    pub schema: &'static str,
    pub shell: String,
    pub script: &'a str,
}

/// `tegula info`.
#[derive(Debug, Serialize)]
pub struct Info<'a> {
    pub schema: &'static str,
    pub format_version: u32,
    pub vertices: u64,
    pub edges: u64,
    pub undirected: bool,
    pub weighted: bool,
    pub ids: IdType,
    pub loops: u64,
    pub duplicates: u64,
    pub bytes: u64,
    pub bytes_per_edge: BTreeMap<&'static str, f64>,
    pub order: &'a str,
    pub order_choice: &'a OrderChoice,
    pub batches: u64,
    pub tiles: u64,
    pub out_degree: &'a Degrees,
    pub in_degree: &'a Degrees,
    pub isolated: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shard: Option<ShardOf>,
    pub snapshots: u64,
    pub files: BTreeMap<&'a str, u64>,
}

/// Which shard of a partitioned graph a directory is.
#[derive(Debug, Serialize)]
pub struct ShardOf {
    pub rank: u32,
    pub ranks: usize,
    /// Vertices whose edges it holds.
    pub vertices: u64,
    pub whole_edges: u64,
}

/// The degrees of all vertices in one direction.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Degrees {
    pub min: u32,
    pub mean: f64,
    pub max: u32,
    /// Bin 0 counts degree 0, bin `i` the degrees in `2^(i-1)..2^i`.
    pub log2_bins: Vec<u64>,
}

/// `tegula verify`.
#[derive(Debug, Serialize)]
pub struct Verify {
    pub schema: &'static str,
    pub files: u64,
    pub bytes: u64,
    pub tiles: u64,
    pub edges: u64,
    pub seconds: Seconds,
    pub peak_memory_bytes: u64,
}

/// `tegula partition`.
#[derive(Debug, Serialize)]
pub struct Partition {
    pub schema: &'static str,
    pub vertices: u64,
    pub edges: u64,
    /// In the order of the ranks.
    pub ranks: Vec<Shard>,
    pub seconds: Seconds,
    pub peak_memory_bytes: u64,
}

/// A rank's shard of a graph.
#[derive(Debug, Serialize)]
pub struct Shard {
    pub vertices: u64,
    pub edges: u64,
    /// Bytes of the directory, links included.
    pub bytes: u64,
}

/// `tegula gather`.
#[derive(Debug, Serialize)]
pub struct Gather {
    pub schema: &'static str,
    pub vertices: u64,
    pub edges: u64,
    pub bytes: u64,
    pub seconds: Seconds,
    pub peak_memory_bytes: u64,
}

/// `tegula generate`.
#[derive(Debug, Serialize)]
pub struct Generate {
    pub schema: &'static str,
    pub generator: &'static str,
    pub vertices: u64,
    pub edges: u64,
    pub bytes: u64,
    pub seconds: Seconds,
    pub peak_memory_bytes: u64,
    pub warnings: Vec<String>,
}

/// `tegula probe`.
#[derive(Debug, Serialize)]
pub struct Probe<'a> {
    pub schema: &'static str,
    #[serde(flatten)]
    pub profile: &'a DeviceProfile,
    pub seconds: Seconds,
    /// The file that remembers the targets.
    pub remembered: Option<String>,
}

/// Any command that failed.
#[derive(Debug, Serialize)]
pub struct Failed {
    pub schema: &'static str,
    pub kind: &'static str,
    pub message: String,
    /// What to do instead, where that is not part of the message.
    pub hint: Option<String>,
    pub exit_code: u8,
}

/// Bytes per edge of each layout.
pub fn bytes_per_edge(files: &[FileEntry], edges: u64) -> BTreeMap<&'static str, f64> {
    let of_rows = |direction: Direction| {
        let RowFiles { data, index, .. } = direction.files();
        (direction.layout(), [data, index])
    };
    let [rows, reverse] = Direction::ALL.map(of_rows);
    let tiles = [file_names::TILES, file_names::TILE_TABLE, file_names::SOURCES];
    let layouts = [("tiles", &tiles[..]), (rows.0, &rows.1[..]), (reverse.0, &reverse.1[..])];
    let of_layout = |names: &[&str]| {
        let own = files.iter().filter(|file| names.contains(&file.name.as_str()));
        let bytes: u64 = own.map(|file| file.bytes).sum();
        bytes as f64 / edges.max(1) as f64
    };
    let is_there = |names: &[&str]| files.iter().any(|file| names.contains(&file.name.as_str()));
    let there = layouts.into_iter().filter(|(_, names)| is_there(names));
    there.map(|(layout, names)| (layout, of_layout(names))).collect()
}

/// Returns the peak memory of this process in bytes; 0 where the system does not tell.
pub fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kibibytes = line.and_then(|rest| rest.trim().strip_suffix("kB"));
    kibibytes.and_then(|number| number.trim().parse().ok()).map_or(0, |kib: u64| kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peak_is_at_least_the_memory_just_used() {
        let used = vec![1u8; 8 << 20];
        assert!(peak_memory() > used.iter().map(|&byte| u64::from(byte)).sum());
    }
}
