//! Writes graph directories from the tiles of others.

use std::fs;
use std::io;
use std::ops::Range;
use std::path::Path;

use tegula_machine::disk::{BlockFileSummary, durable};
use tegula_machine::threads::{Cancel, Progress, ProgressUnit};

use super::cut::{Balance, cut};
use super::degrees::{write_in_degrees, write_out_degrees};
use super::shards::Shards;
use crate::commit::UnfinishedGraph;
use crate::graph::{Graph, GraphWriter, Manifest, Partition, file_names, shard_name};
use crate::rows::{ChunkCut, RowsConfig, build as build_rows};
use crate::tiles::EncodedTile;
use crate::{Error, Result};

/// Partitions a graph among ranks: writes `rank-0.tegula` and so on into a folder. There is a rank
/// for each of the `shares`, which are at least one and positive; only their ratios count. Rows are
/// left out. Besides the tables of a shard, it takes at most `memory` bytes for degrees.
///
/// # Errors
/// [`Error::Limit`](tegula_machine::Error::Limit) for more vertices than short ids. Failed reads
/// and writes; cancellation. The folder has all shards or does not exist.
pub fn split(
    shards: Shards<'_>,
    (shares, balance): (&[f64], Balance),
    output: UnfinishedGraph,
    memory: u64,
    progress: &dyn Progress,
    cancel: &Cancel,
) -> Result<Vec<Manifest>> {
    let whole = shards.whole();
    // Ranks know vertices by short ids.
    shards.first().short_vertex_count()?;
    let ranges = cut(&shards.batch_sizes(), shares, balance);
    let batches = shards.batches();
    let first_of = |batch: usize| batches.get(batch).map_or(whole.vertices, |it| it.target_first);
    let cuts = ranges.iter().map(|range| first_of(range.start));
    let cuts: Vec<u64> = cuts.chain([whole.vertices]).collect();
    progress.begin("partitioning", Some(whole.edges), ProgressUnit::Edges);
    let mut manifests = Vec::with_capacity(ranges.len());
    for (rank, range) in ranges.into_iter().enumerate() {
        let directory = output.path().join(shard_name(rank));
        durable::create_folders(&directory).map_err(Error::io("create", &directory))?;
        let mut writer = copy_tiles(shards, &range, &directory, progress, cancel)?;
        let to = (&*directory, &mut writer);
        let counts = write_out_degrees(shards, &range, to, memory, cancel)?;
        write_in_degrees(shards, cuts[rank]..cuts[rank + 1], (&directory, &mut writer))?;
        link_vertex_files(shards, &directory, &mut writer, Role::Shard)?;
        let partition =
            Partition { rank: rank as u32, cuts: cuts.clone(), whole: Box::new(whole.clone()) };
        manifests.push(writer.finish(whole.of_shard(
            partition,
            counts.loops,
            counts.duplicates,
        ))?);
    }
    progress.end();
    output.commit()?;
    Ok(manifests)
}

/// What a graph may take of the machine while it is put together.
#[derive(Debug, Clone, Copy)]
pub struct Gathering {
    /// Bytes for building rows.
    pub memory: u64,
    /// Workers that build rows.
    pub threads: usize,
}

/// Puts a partitioned graph together again: the same bytes as before it was partitioned. If that
/// graph had rows, they are built anew, which gives the same bytes in the same version of tegula.
///
/// # Errors
/// Failed reads and writes; [`Error::NotAPartition`] where the result differs from the graph that
/// was partitioned; cancellation. The directory is whole or does not exist.
pub fn gather(
    shards: Shards<'_>,
    output: UnfinishedGraph,
    gathering: Gathering,
    progress: &dyn Progress,
    cancel: &Cancel,
) -> Result<Manifest> {
    let whole = shards.whole();
    progress.begin("gathering", Some(whole.edges), ProgressUnit::Edges);
    let all = 0..shards.batches().len();
    let mut writer = copy_tiles(shards, &all, output.path(), progress, cancel)?;
    link_vertex_files(shards, output.path(), &mut writer, Role::Whole)?;
    // A whole graph of an earlier version has no `equal_weight`, so the gathered one gets none.
    let equal_weight = whole.equal_weight.and(writer.equal_weight());
    let manifest = whole.without_rows().with_equal_weight(equal_weight);
    let mut manifest = writer.finish(manifest)?;
    progress.end();
    for (direction, layout) in whole.row_layouts() {
        let first = shards.first();
        // Opened anew each time: building the layout before has changed the manifest.
        let graph = Graph::open(output.path(), first.reader(), first.caching())?;
        let config = RowsConfig {
            direction,
            encoding: layout.encoding,
            memory: gathering.memory,
            threads: gathering.threads,
            cut: ChunkCut::STANDARD,
        };
        manifest = build_rows(&graph, &config, progress, cancel)?;
    }
    // Rows are compared apart, since another version of tegula may code them differently.
    if manifest.without_rows() != whole.without_rows() {
        let detail = "its shards hold other edges than the graph that was partitioned";
        return Err(Error::not_a_partition(shards.first().directory(), detail));
    }
    if manifest != *whole {
        tracing::warn!("the rows were built anew, and differ from those of the whole graph");
    }
    output.commit()?;
    Ok(manifest)
}

/// Copies the tiles into some batches.
fn copy_tiles(
    shards: Shards<'_>,
    batches: &Range<usize>,
    directory: &Path,
    progress: &dyn Progress,
    cancel: &Cancel,
) -> Result<GraphWriter> {
    let Manifest { weighted, vertices, grid, .. } = *shards.whole();
    let all = shards.batches().iter().copied();
    let mut writer = GraphWriter::create(directory, weighted, vertices, grid, all)?;
    shards.for_each_tile(
        batches,
        |_| true,
        cancel,
        |graph, cell, batch, tiles, index| {
            let entry = &graph.tiles()[index];
            let copy = EncodedTile {
                bytes: tiles.bytes(graph, index).to_vec(),
                weights: tiles.get(graph, index).1.to_vec(),
                summary: entry.summary,
            };
            let sources = grid.source_count(cell.segment, vertices);
            let appended = writer.append_copy(cell, batch, &copy, sources)?;
            appended.map_err(|detail| graph.damaged_tile(index, detail))?;
            progress.advance(u64::from(entry.summary.edge_count));
            Ok(())
        },
    )?;
    Ok(writer)
}

/// Whether a directory is to be a shard or the whole graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Shard,
    Whole,
}

/// Gives a directory the files by vertex, which are the same in all shards. On one disk they are
/// links to the same bytes.
fn link_vertex_files(
    shards: Shards<'_>,
    directory: &Path,
    writer: &mut GraphWriter,
    role: Role,
) -> Result<()> {
    use file_names::{IN_DEGREES, OUT_DEGREES, TILE_TABLE, WHOLE_IN_DEGREES, WHOLE_OUT_DEGREES};
    let graph = shards.first();
    let is_shard = graph.partition().is_some();
    for file in &shards.whole().without_rows().files {
        let whole = match &*file.name {
            OUT_DEGREES => Some(WHOLE_OUT_DEGREES),
            IN_DEGREES => Some(WHOLE_IN_DEGREES),
            _ => None,
        };
        // Of the files with a checksum, only the tile table is not by vertex.
        let Some(footer_crc) = file.checksum.filter(|_| file.name != TILE_TABLE) else { continue };
        let from = whole.filter(|_| is_shard).unwrap_or(&file.name);
        let to = whole.filter(|_| role == Role::Shard).unwrap_or(&file.name);
        link(graph, from, &directory.join(to))?;
        // A manifest does not tell the length of the payload.
        let summary = BlockFileSummary { payload_len: 0, file_len: file.bytes, footer_crc };
        writer.add_block_file(to, summary);
    }
    Ok(())
}

/// Makes `to` a link to a file of a graph, or a copy where the disk is another one.
fn link(graph: &Graph, name: &str, to: &Path) -> Result<()> {
    let from = graph.directory().join(name);
    let linked = durable::named(|| fs::hard_link(&from, to));
    if linked.is_ok() {
        return Ok(());
    }
    let failed = || Error::io("write", to);
    let mut source = graph
        .opened_directory()
        .open_file(name, rustix::fs::OFlags::empty())
        .map_err(Error::io("read", &from))?;
    let mut copy = durable::create_file(to).map_err(failed())?;
    io::copy(&mut source, &mut copy).map_err(failed())?;
    durable::sync(copy).map_err(failed())
}
