//! From tiles to rows: every edge once more, by source, or in the layout `reverse` by target.
//!
//! The sources are cut into chunks and these into groups, as large as the memory of a worker allows.
//! For each group a worker reads the tiles that hold a source of it, puts their edges into place by a
//! counting sort, sorts the short rows and encodes them. A tile has few sources, so most tiles are read
//! for one group or two, and nothing goes through the disk a second time. It has many targets, so for rows by target
//! a tile is read for each group that is cut from its batch. How a graph is cut into
//! chunks depends on the graph alone: the files are the same for every budget and number of workers.

use std::collections::VecDeque;
use std::io;
use std::ops::Range;

use tegula_machine::disk::{self, IfTaken, Temporary};
use tegula_machine::threads::{Cancel, Progress, Unit, Workers, map_in_order};
use tegula_machine::{Error, Result};

use super::bits::BitWriter;
use super::direction::{Direction, RowFiles};
use super::encoding::{RowEncoder, RowEncoding};
use super::index::{CHUNK_EDGES_MAX, CHUNK_LOG2_MAX, ChunkRows, RowMeasure};
use super::opened::Rows;
use super::writer::{EncodedChunk, RowsWriter};
use crate::graph::{Graph, Manifest, RowLayout, TileEntry, contents, file_names};
use crate::tiles::{EdgeWeight, Tile};

/// How the layout is built.
#[derive(Debug, Clone, Copy)]
pub struct RowsConfig {
    /// Which end of an edge its row belongs to.
    pub direction: Direction,
    /// How neighbours are coded.
    pub encoding: RowEncoding,
    /// Bytes that the work may take, the table of tiles and what tiles are read into included.
    pub memory: u64,
    /// Workers at the most: fewer where the memory does not hold the longest row for each.
    pub threads: usize,
}

impl RowsConfig {
    /// Bytes of [`memory`](Self::memory) that always suffice for a graph. Streams the degrees.
    ///
    /// # Errors
    /// Those of reading.
    pub fn memory_min(graph: &Graph, direction: Direction) -> Result<u64> {
        let degree_max = u64::from(graph.degree_max(direction)?);
        let edges = degree_max.max(CHUNK_EDGES_MAX.min(graph.edge_count()));
        let sources = graph.vertex_count().min(1 << CHUNK_LOG2_MAX);
        let size = if graph.is_weighted() { group_size::<f32> } else { group_size::<()> };
        Ok(held_size(graph) + size(edges, sources, degree_max))
    }
}

/// Bytes that a build holds whatever it works at: degrees, the table of tiles, the index.
fn held_size(graph: &Graph) -> u64 {
    let degrees = 4 * graph.vertex_count();
    degrees + size_of_val(graph.tiles()) as u64 + Rows::size_expected(graph)
}

/// Bytes of frames that a worker has on their way and at work.
const FRAMES_SIZE: u64 = READS_AHEAD as u64 * 2 * READ_SIZE;

/// Bytes that a worker takes for a group of which no row has more than `row_max` edges.
fn group_size<W>(edges: u64, sources: u64, row_max: u64) -> u64 {
    // Edges in their places; their weights and their bits once more as they are encoded.
    let edge_size = (size_of::<(u32, W)>() + size_of::<W>() + 2) as u64;
    // What sorts a row, or puts it and its codes by, has 12 bytes for each edge at the most.
    let row_size = row_max * 12;
    // Chunks are encoded one by one.
    let chunk_edges = edges.min(CHUNK_EDGES_MAX.max(row_max));
    let encoder_size = RowEncoder::size_max(chunk_edges, sources.min(1 << CHUNK_LOG2_MAX));
    edges * edge_size + row_size + encoder_size + sources * 28 + FRAMES_SIZE
}

/// Bytes of tiles that are read at a time.
const READ_SIZE: u64 = 1 << 20;
/// Reads on their way to a worker.
const READS_AHEAD: usize = 4;
/// Groups for each worker, where memory asks for no more: enough that none waits long for the others.
const GROUPS_PER_WORKER: u64 = 4;

/// Builds the layout and makes it part of the graph: from then on its manifest names it. Waits while
/// another process builds it; nothing is left to do then. No other directory is touched, whatever takes the
/// place of this one meanwhile.
///
/// # Errors
/// Those of reading and writing; [`Error::OverBudget`] where the memory does not hold the edges of one
/// vertex; [`Error::Replaced`] where another graph has taken the place of this one, and this one is gone.
/// After an error the graph is as it was.
pub fn build(
    graph: &Graph,
    config: &RowsConfig,
    progress: &dyn Progress,
    cancel: &Cancel,
) -> Result<Manifest> {
    let directory = graph.opened_directory();
    add(graph, config, progress, cancel).map_err(|error| match error {
        Error::Io { source, .. }
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
    // The manifest is what a build replaces: two at once would mix their files.
    let _locked = disk::wait_for_lock(directory, file_names::MANIFEST, cancel)?;
    let found = Manifest::read_in(directory)?;
    if found.rows_of(config.direction).is_some() {
        return Ok(found);
    }
    let files = found.stored(config.direction).files();
    let folder = Temporary::folder_in(directory, files.data.as_ref(), contents::remove)?;
    let manifest = write(graph, &folder, config, progress, cancel)?;
    commit(graph, folder, files, &manifest)?;
    Ok(manifest)
}

/// Writes the files of the layout into a folder; returns the manifest of the graph with them.
pub(super) fn write(
    graph: &Graph,
    folder: &Temporary,
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
    folder: &Temporary,
    config: &RowsConfig,
    progress: &dyn Progress,
    cancel: &Cancel,
) -> Result<Manifest> {
    let direction = graph.manifest().stored(config.direction);
    let vertex_count = graph.short_vertex_count()?;
    let degrees = graph.degrees(direction)?;
    let chunks = plan_chunks(&degrees);
    let index_size = Rows::size_expected(graph);
    let Groups { workers, groups } = plan_groups::<W>(&chunks, &degrees, config, held_size(graph))?;
    // What the plan gives to edges, frames must not take.
    let pool = graph.reader().pool();
    let edges_size = pool.frames_max().saturating_sub(workers as u64 * FRAMES_SIZE);
    let task = task(direction);
    let _lease = pool.lease(task, edges_size)?;
    let folder = folder.open_folder()?;
    let mut writer = RowsWriter::create(folder, direction.files(), W::IS_WEIGHTED, index_size)?;
    progress.begin(task, Some(graph.edge_count()), Unit::Edges);
    let end = gathered_end(graph, direction, &chunks, &groups);
    let make = |group: usize| {
        let chunks = &chunks[groups[group].clone()];
        let group = Group::<W>::gather(graph, end, &degrees, chunks, cancel)?;
        Ok(group.encode(config, chunks, vertex_count))
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
    let (chunks, files) = writer.finish()?;
    let layout = RowLayout { encoding: config.encoding, chunks };
    Ok(graph.manifest().clone().with_rows(direction, layout, files))
}

/// What is done, in words.
fn task(direction: Direction) -> &'static str {
    match direction {
        Direction::Forward => "building rows",
        Direction::Reverse => "building reverse rows",
    }
}

/// Moves the files to their places, then the manifest that names them.
fn commit(graph: &Graph, folder: Temporary, files: RowFiles, manifest: &Manifest) -> Result<()> {
    let directory = graph.opened_directory();
    if Manifest::read_in(directory)? != *graph.manifest() {
        return Err(Error::replaced(directory.path()));
    }
    let names = [files.data, files.weights, files.index];
    let names = names.into_iter().filter(|name| manifest.file(name).is_some());
    let built = folder.open_folder()?;
    // What has such a name already is no part of the graph: its manifest names no such rows.
    let moved = names.clone().try_for_each(|name| {
        let renamed = built.rename(name.as_ref(), (directory, name.as_ref()), IfTaken::Replace);
        renamed.map_err(|error| Error::io("write", directory.join(name))(error.into()))
    });
    drop(folder);
    let sync = || directory.sync().map_err(Error::io("sync", directory.path()));
    let replaced = moved.and_then(|()| sync()).and_then(|()| manifest.replace(directory));
    if replaced.is_err() {
        names.for_each(|name| drop(directory.remove_file(name)));
    }
    replaced?;
    sync()
}

/// Cuts all sources into aligned chunks by their degrees alone.
fn plan_chunks(degrees: &[u32]) -> Vec<Range<u32>> {
    let mut chunks = Vec::new();
    for first in (0..degrees.len()).step_by(1 << CHUNK_LOG2_MAX) {
        halve(degrees, first, CHUNK_LOG2_MAX, &mut chunks);
    }
    chunks
}

fn halve(degrees: &[u32], first: usize, log2: u32, chunks: &mut Vec<Range<u32>>) {
    if first >= degrees.len() {
        return;
    }
    let end = (first + (1 << log2)).min(degrees.len());
    let sources = first as u32..end as u32;
    if log2 == 0 || edges_of(degrees, &sources) <= CHUNK_EDGES_MAX {
        chunks.push(sources);
        return;
    }
    halve(degrees, first, log2 - 1, chunks);
    halve(degrees, first + (1 << (log2 - 1)), log2 - 1, chunks);
}

fn edges_of(degrees: &[u32], sources: &Range<u32>) -> u64 {
    let degrees = &degrees[sources.start as usize..sources.end as usize];
    degrees.iter().map(|&degree| u64::from(degree)).sum()
}

/// How the work is divided.
struct Groups {
    workers: usize,
    /// Chunks that a worker holds at a time.
    groups: Vec<Range<usize>>,
}

/// Groups the chunks, where `held` bytes are taken by other things.
fn plan_groups<W: EdgeWeight>(
    chunks: &[Range<u32>],
    degrees: &[u32],
    config: &RowsConfig,
    held: u64,
) -> Result<Groups> {
    let sizes: Vec<(u64, u64)> =
        chunks.iter().map(|chunk| (edges_of(degrees, chunk), chunk.len() as u64)).collect();
    let row_max = degrees.iter().max().copied().unwrap_or(0).into();
    let size = |(edges, sources)| group_size::<W>(edges, sources, row_max);
    let largest = sizes.iter().copied().map(size).max().unwrap_or(FRAMES_SIZE);
    let memory = config.memory.saturating_sub(held);
    if largest > memory {
        let task = task(config.direction);
        let what = format!("{task}, the longest of which has {row_max} edges,");
        return Err(Error::OverBudget { what, needed: held + largest, budget: config.memory });
    }
    let workers = (config.threads.max(1) as u64).min(memory / largest);
    let share = memory / workers;
    let all: u64 = sizes.iter().map(|&(edges, _)| edges).sum();
    let edges_wanted = (all / (workers * GROUPS_PER_WORKER)).max(CHUNK_EDGES_MAX);
    let mut groups: Vec<Range<usize>> = Vec::new();
    let (mut edges, mut sources) = (0, 0);
    for (index, &(edges_here, sources_here)) in sizes.iter().enumerate() {
        (edges, sources) = (edges + edges_here, sources + sources_here);
        match groups.last_mut() {
            Some(group) if edges <= edges_wanted && size((edges, sources)) <= share => {
                group.end += 1;
            }
            _ => {
                groups.push(index..index + 1);
                (edges, sources) = (edges_here, sources_here);
            }
        }
    }
    Ok(Groups { workers: workers as usize, groups })
}

/// Which end of an edge decides on the row that it is gathered for. In an undirected graph both lead to the same rows:
/// targets to fewer places at a time, as tiles are ordered by them, sources mostly to fewer tiles where groups
/// are small.
fn gathered_end(
    graph: &Graph,
    direction: Direction,
    chunks: &[Range<u32>],
    groups: &[Range<usize>],
) -> Direction {
    if !graph.manifest().undirected {
        return direction;
    }
    let visits = |end: Direction| -> u64 {
        let visited = |group: &Range<usize>| -> u64 {
            let sources = chunks[group.start].start..chunks[group.end - 1].end;
            let has_some = |tile: &&TileEntry| {
                end.may_hold_any(&tile.summary, graph.origin_of(tile), &sources)
            };
            let tiles = graph.tiles().iter().filter(has_some);
            tiles.map(|tile| u64::from(tile.summary.edge_count)).sum()
        };
        groups.iter().map(visited).sum()
    };
    let [by_source, by_target] = Direction::ALL.map(visits);
    if by_target <= by_source { Direction::Reverse } else { Direction::Forward }
}

/// The edges of a group, by the end that has the row.
struct Group<W> {
    end: Direction,
    sources: Range<u32>,
    /// Where the row of each source begins; one more for the end.
    starts: Vec<usize>,
    edges: Vec<(u32, W)>,
}

impl<W: EdgeWeight> Group<W> {
    fn gather(
        graph: &Graph,
        end: Direction,
        degrees: &[u32],
        chunks: &[Range<u32>],
        cancel: &Cancel,
    ) -> Result<Group<W>> {
        let first = chunks.first().map_or(0, |chunk| chunk.start);
        let last = chunks.last().map_or(0, |chunk| chunk.end);
        let mut starts = Vec::with_capacity((last - first) as usize + 1);
        let mut next = 0;
        starts.push(0);
        starts.extend(degrees[first as usize..last as usize].iter().map(|&degree| {
            next += degree as usize;
            next
        }));
        let edges = vec![(0, W::default()); next];
        let mut group = Group { end, sources: first..last, starts, edges };
        let mut places = group.starts.clone();
        for_each_tile(graph, end, &(first..last), cancel, &mut |index, tile, weights| {
            group.place(graph, index, tile, weights, &mut places)
        })?;
        if places[..places.len() - 1] != group.starts[1..] {
            let detail = "there are fewer edges than its degrees say".to_owned();
            return Err(Error::Corrupt {
                path: graph.directory().into(),
                part: "its tiles".into(),
                detail,
            });
        }
        Ok(group)
    }

    /// Puts the edges of a tile that belong to the group into place.
    fn place(
        &mut self,
        graph: &Graph,
        index: usize,
        tile: Tile<'_>,
        weights: &[f32],
        places: &mut [usize],
    ) -> Result<(), String> {
        let mut is_sound = true;
        graph.for_each_edge(index, tile, |entry, source, target| {
            let (source, target) = self.end.ends(source as u32, target as u32);
            if !self.sources.contains(&source) {
                return;
            }
            let local = (source - self.sources.start) as usize;
            let place = places[local];
            if place == self.starts[local + 1] || u64::from(target) >= graph.vertex_count() {
                is_sound = false;
                return;
            }
            let weight = weights.get(entry).map(|&weight| W::from_f32(weight));
            self.edges[place] = (target, weight.unwrap_or_default());
            places[local] += 1;
        })?;
        if is_sound { Ok(()) } else { Err("its edges do not fit the degrees".to_owned()) }
    }

    /// Brings the rows into their stored order and encodes them.
    fn encode(
        mut self,
        config: &RowsConfig,
        chunks: &[Range<u32>],
        limit: u32,
    ) -> Vec<EncodedChunk> {
        for (source, bounds) in self.sources.clone().zip(self.starts.windows(2)) {
            config.encoding.sort(source, &mut self.edges[bounds[0]..bounds[1]]);
        }
        chunks.iter().map(|chunk| self.encode_chunk(config.encoding, chunk, limit)).collect()
    }

    fn encode_chunk(&self, encoding: RowEncoding, chunk: &Range<u32>, limit: u32) -> EncodedChunk {
        let is_told = |source: u32, target: u32| source != target || encoding.holds_loops();
        let arcs = chunk.clone().flat_map(|source| {
            let targets = self.row(source).iter().map(move |edge| (source, edge.0));
            targets.filter(move |&(source, target)| is_told(source, target))
        });
        let mut encoder = RowEncoder::new(encoding, limit, arcs);
        let mut rows = ChunkRows::default();
        let mut bits = BitWriter::default();
        let mut targets = Vec::new();
        let mut edge_count = 0;
        for (local, source) in chunk.clone().enumerate() {
            let row = self.row(source);
            let told = row.iter().map(|edge| edge.0).filter(|&target| is_told(source, target));
            targets.clear();
            targets.extend(told);
            encoder.encode(source, &targets, &mut bits);
            let loops = row.iter().filter(|edge| !is_told(source, edge.0)).count();
            rows.loops.extend(std::iter::repeat_n(local as u16, loops));
            edge_count += row.len() as u64;
            rows.ends.push(RowMeasure { bits: bits.len(), edges: edge_count });
        }
        let mut weights = Vec::new();
        if W::IS_WEIGHTED {
            let edges = chunk.clone().flat_map(|source| self.row(source));
            weights.extend(edges.map(|edge| edge.1.to_f32()));
        }
        let (code, bytes) = (encoder.into_code(), bits.into_bytes());
        EncodedChunk { source_first: chunk.start, rows, code, bytes, weights }
    }

    fn row(&self, source: u32) -> &[(u32, W)] {
        let local = (source - self.sources.start) as usize;
        &self.edges[self.starts[local]..self.starts[local + 1]]
    }
}

/// Shows the tiles that may hold one of some sources, with their weights.
fn for_each_tile(
    graph: &Graph,
    direction: Direction,
    sources: &Range<u32>,
    cancel: &Cancel,
    visit: &mut dyn FnMut(usize, Tile<'_>, &[f32]) -> Result<(), String>,
) -> Result<()> {
    let mut runs = runs_of_tiles(graph, direction, sources).into_iter();
    let mut on_their_way = VecDeque::new();
    loop {
        cancel.check()?;
        while on_their_way.len() < READS_AHEAD
            && let Some(run) = runs.next()
        {
            on_their_way.push_back(graph.read_tiles(run, true));
        }
        let Some(read) = on_their_way.pop_front() else { return Ok(()) };
        let tiles = read.wait()?;
        for index in tiles.range() {
            let (tile, weights) = tiles.get(graph, index);
            visit(index, tile, weights).map_err(|detail| graph.damaged_tile(index, detail))?;
        }
    }
}

/// Ranges of tiles to be read together.
fn runs_of_tiles(graph: &Graph, direction: Direction, sources: &Range<u32>) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    let mut size = 0;
    for (index, tile) in graph.tiles().iter().enumerate() {
        if !direction.may_hold_any(&tile.summary, graph.origin_of(tile), sources) {
            continue;
        }
        let tile_size = u64::from(tile.size) + 4 * u64::from(tile.weight_count);
        size += tile_size;
        match runs.last_mut() {
            Some(run) if run.end == index && size <= READ_SIZE => run.end += 1,
            _ => {
                runs.push(index..index + 1);
                size = tile_size;
            }
        }
    }
    runs
}
