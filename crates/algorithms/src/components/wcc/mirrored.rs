//! Programs that go both ways along the edges of a directed graph.
//!
//! A program sends messages along stored edges only. So a directed graph is *mirrored*: it is
//! imported once more, with both directions of every edge. The new graph has the same dense ids, so
//! the states of a program on it are states of the vertices of the directed graph.
//!
//! ```text
//!  tiles --read once--> pairs of dense ids --import--> both directions --run--> states
//!                           (a file)                     (a graph)
//! ```
//!
//! All files lie where arrays on disk lie. The file of the pairs takes 8 bytes an edge, and the
//! import 16 more (twice as much beyond 2^32 vertices). The new graph takes somewhat more than
//! twice the bytes of the tiles. The pairs are removed when they are imported. The names of the new
//! graph are removed when it is open, so it vanishes however the run ends. Weights are left out,
//! and so are loops: they lead to no other vertex.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::ops::ControlFlow;
use std::path::Path;

use tegula_engine::{
    Arrays, Estimate, Executor, Graph, Outcome, Program, RUN_OVERHEAD, RunOptions, States, Unit,
    estimate_anywhere, estimate_both_directions, run_anywhere, spill_folder, with_memory,
};
use tegula_import::input::{Format, IdKind, InputOptions, Vertices};
use tegula_import::{ImportConfig, Tuning, import};
use tegula_machine::disk::{Directory, Pool, Temporary, check_room};
use tegula_store::graph::{VertexOrder, contents, file_names};
use zerocopy::IntoBytes;
use zerocopy::little_endian::{U32, U64};

use crate::error::Result;

/// Bytes of the code of this process beyond what an import counts as its own.
const CODE_BESIDE_IMPORT: u64 = 8 << 20;
/// Bytes of the code of the import, which stay in memory during the run: 4.4 MB of a build with debug
/// assertions, and what its allocations leave behind.
const CODE_OF_IMPORT: u64 = 8 << 20;
/// Bytes of the buffer before the file of pairs.
const BUFFER_SIZE: usize = 1 << 20;
/// Beyond 2^32 vertices, an import may need up to 960 MiB.
const IMPORT_MEMORY_WIDE: u64 = 960 << 20;
/// How many ends of an edge lie on disk at a time: those of the pair that is read, and those of two
/// pairs on their way to the tiles.
const ENDS_ON_DISK: u64 = 6;

/// Returns whether a program that goes both ways needs another graph.
pub(super) fn is_needed(graph: &Graph) -> bool {
    !graph.manifest().undirected && graph.edge_count() > 0
}

/// Estimates what [`run_both_ways`] needs.
pub(super) fn estimate<P: Program>(graph: &Graph, threads: usize) -> Estimate {
    match is_needed(graph) {
        true => {
            let memory = import_memory_min(graph).saturating_sub(lent_to_import(0));
            let files = building_files(graph);
            let estimate = estimate_both_directions::<P>(graph, threads, memory, files);
            Estimate {
                vertex_bytes: estimate.vertex_bytes + CODE_OF_IMPORT,
                on_disk: estimate.on_disk.map(|arrays| arrays.with_bytes(CODE_OF_IMPORT)),
                ..estimate
            }
        }
        false => estimate_anywhere::<P>(graph, threads),
    }
}

/// Runs a program along both directions of every edge, with its arrays on disk if memory has no
/// room for them. Its edges come from tiles.
///
/// # Errors
/// [`OverBudget`](tegula_machine::Error::OverBudget) before anything is read;
/// [`Io`](tegula_machine::Error::Io), of kind [`StorageFull`](std::io::ErrorKind::StorageFull) before
/// the work if the disk has too little room; cancellation.
pub(super) fn run_both_ways<P: Program>(
    graph: &Graph,
    program: P,
    options: &RunOptions<'_>,
) -> Result<Outcome<P, States<P::State>>> {
    if !is_needed(graph) {
        return Ok(run_anywhere(graph, program, options)?);
    }
    let held = program.size();
    let estimate = estimate::<P>(graph, options.threads);
    let least = least_bytes(&estimate, options.arrays);
    with_memory(graph, least + held, options, |lent| {
        let folder = spill_folder(graph, options.spill_directory)?;
        check_files(graph, &folder, &estimate, lent - held)?;
        let (mirrored, moved) = mirror(graph, &folder, lent - held - CODE_OF_IMPORT, options)?;
        let options = RunOptions {
            memory: RUN_OVERHEAD + lent - CODE_OF_IMPORT,
            executor: Executor::Scan,
            rows: None,
            reverse: None,
            scheduler: None,
            reserve: None,
            spill_directory: Some(folder.path()),
            ..options.clone()
        };
        let mut outcome = run_anywhere(&mirrored, program, &options)?;
        outcome.statistics.bytes_read += moved.read;
        outcome.statistics.bytes_written += moved.written;
        Ok(outcome)
    })
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

/// Checks before the work that the disk of a folder has room for all files of a run.
///
/// # Errors
/// [`Io`](tegula_machine::Error::Io) of kind [`StorageFull`](std::io::ErrorKind::StorageFull), which
/// says how much is needed.
fn check_files(graph: &Graph, folder: &Directory, estimate: &Estimate, lent: u64) -> Result<()> {
    match &estimate.on_disk {
        Some(arrays) if lent < estimate.vertex_bytes => {
            let plan = arrays.plan(lent, true).unwrap_or_else(|| arrays.least());
            Ok(arrays.check_room(graph, &plan, Some(folder.path()))?)
        }
        Some(_) | None => Ok(check_room(folder, building_files(graph))?),
    }
}

/// Bytes that it took to mirror a graph.
struct Moved {
    read: u64,
    written: u64,
}

/// Builds the mirrored graph within `lent` bytes of memory, beside those of every process. Its
/// files are in `folder`, and have no names any more.
///
/// # Errors
/// Errors of reading and writing; cancellation.
fn mirror(
    graph: &Graph,
    folder: &Directory,
    lent: u64,
    options: &RunOptions<'_>,
) -> Result<(Graph, Moved)> {
    let place = folder.path().join(file_names::OWN_GRAPH);
    let hidden = Temporary::private_folder(&place, contents::remove)?;
    let (pairs, mirrored) = (hidden.path().join("pairs"), hidden.path().join("graph"));
    write_pairs(graph, &pairs, options)?;
    let pair_bytes = fs::metadata(&pairs).map_or(0, |file| file.len());
    // Tiles of the directed graph are not needed any more.
    graph.reader().pool().trim();
    let format = if graph.has_short_ids() { Format::Pairs32 } else { Format::Pairs64 };
    let config = ImportConfig {
        input: InputOptions { format, ids: IdKind::Integer, ..InputOptions::default() },
        undirected: true,
        drop_loops: true,
        allow_empty: true,
        vertices: Some(Vertices::Count(graph.vertex_count())),
        order: Some(VertexOrder::Given),
        memory: lent_to_import(lent),
        threads: options.threads,
        tuning: Tuning { grid: graph.grid(), ..Tuning::default() },
        ..ImportConfig::default()
    };
    let report = import(
        std::slice::from_ref(&pairs),
        &mirrored,
        &config,
        options.progress,
        &options.cancel,
    )?;
    fs::remove_file(&pairs).map_err(tegula_engine::Error::io("remove", &pairs))?;
    let pool = Pool::new(RUN_OVERHEAD + lent);
    let opened = Graph::open(&mirrored, &graph.reader().with_pool(pool), graph.caching())?;
    let written = report.files.iter().map(|file| file.bytes).sum::<u64>();
    // The pairs are read to count degrees, and again for the tiles.
    let read = graph.tile_bytes() + 2 * pair_bytes;
    Ok((opened, Moved { read, written: pair_bytes + written }))
}

/// Writes all edges as pairs of dense ids.
fn write_pairs(graph: &Graph, path: &Path, options: &RunOptions<'_>) -> Result<()> {
    let failed = || tegula_engine::Error::io("write", path);
    let file = File::create_new(path).map_err(failed())?;
    let mut out = BufWriter::with_capacity(BUFFER_SIZE, file);
    let is_short = graph.has_short_ids();
    options.progress.begin("mirroring edges", Some(graph.edge_count()), Unit::Edges);
    graph.for_each_tile(
        |_| true,
        false,
        &options.cancel,
        |index, tile, _| {
            let mut written = Ok(());
            let visit = |_, source: u64, target: u64| {
                if written.is_ok() {
                    let pair = [source, target];
                    written = match is_short {
                        true => out.write_all(pair.map(|end| U32::new(end as u32)).as_bytes()),
                        false => out.write_all(pair.map(U64::new).as_bytes()),
                    };
                }
            };
            let visited = graph.for_each_edge(index, tile, visit);
            visited.map_err(|detail| graph.damaged_tile(index, detail))?;
            written.map_err(failed())?;
            options.progress.advance(u64::from(graph.tiles()[index].summary.edge_count));
            Ok::<_, tegula_engine::Error>(ControlFlow::Continue(()))
        },
    )?;
    out.into_inner().map_err(|error| failed()(error.into_error()))?;
    options.progress.end();
    Ok(())
}

/// Returns the budget of an import that gets `lent` bytes beside those of every process.
fn lent_to_import(lent: u64) -> u64 {
    RUN_OVERHEAD - CODE_BESIDE_IMPORT + lent
}

/// Returns the least budget of the import.
fn import_memory_min(graph: &Graph) -> u64 {
    if graph.has_short_ids() { ImportConfig::MEMORY_MIN } else { IMPORT_MEMORY_WIDE }
}

/// Returns the most bytes of the files beside the new graph, while it is built.
fn building_files(graph: &Graph) -> u64 {
    let number = if graph.has_short_ids() { size_of::<u32>() } else { size_of::<u64>() };
    ENDS_ON_DISK * number as u64 * graph.edge_count()
}
