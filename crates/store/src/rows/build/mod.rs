//! Builds rows from tiles: every edge once more, by source, or in the layout `reverse` by target.
//!
//! The sources are cut into chunks; a long row has several. Chunks are joined to groups as large as
//! the memory of a worker allows. For each group, a worker reads the tiles with a source in it,
//! moves their edges into place by a counting sort, sorts the short rows and encodes them.
//!
//! A tile has few sources, so most tiles are read for one or two groups, and no intermediate data
//! go to the disk. A tile has many targets, so for rows by target it is read for each group cut
//! from its batch. The chunks depend on the graph alone: the files are the same for every budget
//! and number of workers.

mod chunks;
mod config;
mod gather;
mod groups;
mod size;

use std::io;

use tegula_machine::Error as MachineError;
use tegula_machine::disk::{self, Unfinished};
use tegula_machine::threads::{Cancel, Progress, ProgressUnit, Workers, map_in_order};

use super::opened::Rows;
use super::writer::{EncodedChunk, RowsWriter, WrittenRows};
use crate::commit::commit_rows;
use crate::graph::{Graph, Manifest, RowLayout, contents, file_names};
use crate::tiles::EdgeWeight;
use crate::{Error, Result};
use chunks::plan_chunks;
pub use config::RowsConfig;
use config::task;
use gather::Group;
use groups::{Groups, gathered_end, plan_groups};
use size::{FRAMES_SIZE, held_size};

/// Builds a row layout and adds it to the graph's manifest. Waits while another process builds it;
/// nothing is left to do then. Touches only the directory that was opened, even if another takes
/// its place.
///
/// # Errors
/// [`Error::OverBudget`](tegula_machine::Error::OverBudget) where the memory does not hold a chunk,
/// or a piece of a row. [`Error::Replaced`] where another graph has taken the place of this one,
/// and this one is gone. After an error the graph is unchanged, unless the last sync failed: then a
/// loss of power may take the new rows away.
pub fn build(
    graph: &Graph,
    config: &RowsConfig,
    progress: &dyn Progress,
    cancel: &Cancel,
) -> Result<Manifest> {
    let directory = graph.opened_directory();
    add(graph, config, progress, cancel).map_err(|error| match error {
        Error::Machine(MachineError::Io { source, .. })
            if source.kind() == io::ErrorKind::NotFound && !directory.is_in_place() =>
        {
            Error::replaced(directory.path())
        }
        error => error,
    })
}

fn add(
    graph: &Graph,
    config: &RowsConfig,
    progress: &dyn Progress,
    cancel: &Cancel,
) -> Result<Manifest> {
    let directory = graph.opened_directory();
    // Two builds would mix their files, so the manifest, which a build replaces, is locked.
    let _locked = disk::wait_for_lock(directory, file_names::MANIFEST, cancel)?;
    // Read under the lock: another process may have built the rows meanwhile.
    let found = Manifest::read_in(directory)?;
    if found.rows_of(config.direction).is_some() {
        return Ok(found);
    }
    let files = found.stored(config.direction).files();
    let folder = Unfinished::folder_in(directory, files.data.as_ref(), contents::remove)?;
    let manifest = write(graph, &folder, config, progress, cancel)?;
    commit_rows(graph, folder, files, &manifest)?;
    Ok(manifest)
}

/// Writes the files of the layout into a folder. Returns the manifest with them.
pub(super) fn write(
    graph: &Graph,
    folder: &Unfinished,
    config: &RowsConfig,
    progress: &dyn Progress,
    cancel: &Cancel,
) -> Result<Manifest> {
    if graph.is_weighted() {
        write_weighted::<f32>(graph, folder, config, progress, cancel)
    } else {
        write_weighted::<()>(graph, folder, config, progress, cancel)
    }
}

fn write_weighted<W: EdgeWeight>(
    graph: &Graph,
    folder: &Unfinished,
    config: &RowsConfig,
    progress: &dyn Progress,
    cancel: &Cancel,
) -> Result<Manifest> {
    let direction = graph.manifest().stored(config.direction);
    let vertex_count = graph.short_vertex_count()?;
    let degrees = graph.degrees(direction)?;
    let held = held_size(graph);
    // Leases memory from the pool, so that frames do not take what the plan gives to edges or
    // counters.
    let pool = graph.reader().pool();
    let lease = |readers: usize| {
        let frames = readers as u64 * FRAMES_SIZE;
        pool.lease(task(direction), pool.frames_max().saturating_sub(frames))
    };
    // One worker counts edges, before there are groups.
    let counting = lease(1)?;
    let memory = config.memory.saturating_sub(held + FRAMES_SIZE);
    let chunks = plan_chunks(graph, direction, &degrees, config.cut, memory, cancel)?;
    drop(counting);
    let index_size = Rows::size_expected(graph);
    let Groups { workers, groups } = plan_groups::<W>(&chunks, &degrees, config, held)?;
    let _edges = lease(workers)?;
    let folder = folder.open_folder()?;
    let mut writer = RowsWriter::create(folder, direction.files(), W::IS_WEIGHTED, index_size)?;
    progress.begin(task(direction), Some(graph.edge_count()), ProgressUnit::Edges);
    let end = gathered_end(graph, direction, &chunks, &groups);
    let make = |group: usize| {
        let chunks = &chunks[groups[group].clone()];
        let group = Group::<W>::gather(graph, end, &degrees, chunks, cancel)?;
        Ok(group.encode(config.encoding, chunks, vertex_count))
    };
    let mut take = |_, encoded: Vec<EncodedChunk>| {
        encoded.iter().try_for_each(|chunk| {
            progress.advance(chunk.rows.ends.last().map_or(0, |end| end.edges));
            writer.append(chunk)
        })
    };
    Workers::scope(workers, |threads| {
        map_in_order(threads, workers, groups.len(), cancel, &make, &mut take)
    })?;
    progress.end();
    debug_assert_eq!(writer.edge_count(), graph.edge_count());
    let WrittenRows { chunks, has_pieces, files } = writer.finish()?;
    let layout = RowLayout { encoding: config.encoding, chunks };
    Ok(graph.manifest().clone().with_rows(direction, layout, has_pieces, files))
}
