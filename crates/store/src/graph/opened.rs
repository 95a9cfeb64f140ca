//! An opened graph directory.

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use tegula_machine::Error as MachineError;
use tegula_machine::disk::{BlockFile, Caching, Directory, FileHandle, Reader, Request};
use zerocopy::FromBytes;

use super::cells::CellEntry;
use super::directory::open_directory;
use super::file_names;
use super::manifest::{FileEntry, Manifest};
use super::partition::Partition;
use super::records::{
    BATCH_RECORD_SIZE, BatchRecord, CELL_RECORD_SIZE, CellRecord, TILE_RECORD_SIZE, TileRecord,
};
use super::table::{FileSizes, Records, Table, TileEntry};
use super::vertices::SharedIdPositions;
use crate::ids::{SHORT_COUNT_MAX, VERTEX_COUNT_MAX};
use crate::packed::{Array, Coding};
use crate::tiles::{Batch, Cell, Grid, Origin, Tile};
use crate::{Error, Result};

/// A graph, opened for reading. Opening checks all lengths and counts against each other; reading a
/// tile checks the tile.
///
/// All files are opened at once, so a graph that is replaced can still be read as it was.
pub struct Graph {
    directory: Directory,
    manifest: Manifest,
    reader: Reader,
    caching: Caching,
    files: BTreeMap<String, FileHandle>,
    tiles: FileHandle,
    weights: Option<FileHandle>,
    sources: Option<FileHandle>,
    table: Table,
    id_positions: Arc<SharedIdPositions>,
    is_for_ranks: bool,
}

impl Graph {
    /// Opens a graph directory through `reader`. `caching` says whether its files may stay in the
    /// page cache.
    ///
    /// # Errors
    /// [`Error::NotAGraph`],
    /// [`Error::UnsupportedVersion`](tegula_machine::Error::UnsupportedVersion);
    /// [`Error::Corrupt`](tegula_machine::Error::Corrupt) when a file is missing, has another
    /// length or does not fit the others; [`Error::Replaced`] when another graph takes the place of
    /// this one meanwhile.
    pub fn open(directory: &Path, reader: &Reader, caching: Caching) -> Result<Graph> {
        Graph::open_in(&Graph::open_directory(directory)?, reader, caching)
    }

    /// Opens a directory that should hold a graph.
    ///
    /// # Errors
    /// [`Error::NotAGraph`] where there is none.
    pub fn open_directory(path: &Path) -> Result<Directory> {
        open_directory(path)
    }

    /// Does what [`Graph::open`] does, in an open directory.
    pub fn open_in(directory: &Directory, reader: &Reader, caching: Caching) -> Result<Graph> {
        let manifest = Manifest::read_in(directory)?;
        if manifest.vertices > VERTEX_COUNT_MAX {
            let (found, limit) = (manifest.vertices, VERTEX_COUNT_MAX);
            return Err(Error::limit("vertices", found, limit));
        }
        let files = open_files(directory, directory, &manifest.files, reader, caching)?;
        let handle = |name: &str| files.get(name).cloned().ok_or_else(|| unnamed(directory, name));
        let tiles = handle(file_names::TILES)?;
        let weights = manifest.weighted.then(|| handle(file_names::WEIGHTS)).transpose()?;
        let sources = manifest.lists_sources().then(|| handle(file_names::SOURCES)).transpose()?;
        let mut graph = Graph {
            directory: directory.clone(),
            manifest,
            reader: reader.clone(),
            caching,
            files,
            tiles,
            weights,
            sources,
            table: Table::default(),
            id_positions: Arc::default(),
            is_for_ranks: false,
        };
        graph.check_names()?;
        // A file of another graph is found now, and not when it is first read.
        for file in &graph.manifest.files {
            if file.checksum.is_some() {
                graph.block_file(&file.name)?;
            }
        }
        graph.table = graph.read_table()?;
        graph.check_partition()?;
        Ok(graph)
    }

    /// Checks that cuts lie between batches, and that a shard has only edges into its own targets.
    fn check_partition(&self) -> Result<()> {
        let Some(partition) = self.partition() else { return Ok(()) };
        let is_first = |cut: &u64| {
            let first = self.batches().binary_search_by_key(cut, |batch| batch.target_first);
            *cut == self.vertex_count() || first.is_ok()
        };
        let own = partition.vertices();
        let is_own = |tile: &TileEntry| {
            own.contains(&(self.origin_of(tile).target + u64::from(tile.summary.target_first)))
        };
        if partition.cuts.iter().all(is_first) && self.tiles().iter().all(is_own) {
            return Ok(());
        }
        Err(damaged_manifest(&self.directory, "its partition does not fit its tiles".to_owned()))
    }

    /// Turns a shard into the view of the whole graph that a run on ranks needs: it has the counts
    /// of edges and the degrees of the whole graph, and the tiles of the shard.
    ///
    /// # Errors
    /// [`Error::NotAPartition`] where the directory holds a whole graph.
    pub fn for_ranks(mut self) -> Result<Graph> {
        let Some(partition) = &self.manifest.partition else {
            return Err(Error::not_a_partition(self.directory(), "it holds a whole graph"));
        };
        let whole = &partition.whole;
        (self.manifest.edges, self.manifest.undirected) = (whole.edges, whole.undirected);
        (self.manifest.loops, self.manifest.duplicates) = (whole.loops, whole.duplicates);
        self.manifest.equal_weight = whole.equal_weight;
        self.is_for_ranks = true;
        Ok(self)
    }

    /// Makes such a view of a graph that was built beside a shard, and has in-edges of the targets
    /// of that rank only. Its degrees count its own edges.
    ///
    /// # Errors
    /// [`Error::Corrupt`](tegula_machine::Error::Corrupt) where it has other batches than the
    /// shard, or other edges.
    pub fn beside_shard(mut self, partition: &Partition, is_undirected: bool) -> Result<Graph> {
        self.manifest.partition = Some(partition.clone());
        self.manifest.undirected = is_undirected;
        self.is_for_ranks = true;
        self.check_partition()?;
        Ok(self)
    }

    /// Whether this is a shard, seen as the whole graph.
    pub fn is_for_ranks(&self) -> bool {
        self.is_for_ranks
    }

    /// The vertices whose states a run keeps here: on ranks, the vertices of this rank; else all.
    pub fn own_vertices(&self) -> Range<u64> {
        match self.partition() {
            Some(partition) if self.is_for_ranks => partition.vertices(),
            _ => 0..self.vertex_count(),
        }
    }

    /// The partition of which this directory holds a shard, if it does.
    pub fn partition(&self) -> Option<&Partition> {
        self.manifest.partition.as_ref()
    }

    /// Checks that the manifest names the files of such a graph, each once, and no others.
    fn check_names(&self) -> Result<()> {
        let manifest = &self.manifest;
        let needed = manifest.file_names();
        if let Some(missing) = needed.iter().find(|name| manifest.file(name).is_none()) {
            return Err(unnamed(&self.directory, missing));
        }
        let is_expected =
            |name: &str| needed.contains(&name) || file_names::OPTIONAL.contains(&name);
        let other = manifest.files.iter().find(|file| !is_expected(&file.name));
        let detail = match other {
            Some(file) => {
                format!("it names {}, which does not belong to this kind of graph", file.name)
            }
            None if self.files.len() < manifest.files.len() => "it names a file twice".to_owned(),
            None => return Ok(()),
        };
        Err(damaged_manifest(&self.directory, detail))
    }

    /// Adds the files in `folder` that `manifest` names after the present ones.
    ///
    /// # Errors
    /// [`Error::Replaced`] when the manifest belongs to another graph.
    pub(crate) fn add_files(&mut self, folder: &Directory, manifest: Manifest) -> Result<()> {
        let (own, added) =
            // The manifest of another graph may name fewer files.
            manifest.files.split_at(self.manifest.files.len().min(manifest.files.len()));
        if *own != self.manifest.files {
            return Err(Error::replaced(self.directory.path()));
        }
        let files = open_files(&self.directory, folder, added, &self.reader, self.caching)?;
        self.files.extend(files);
        self.manifest = manifest;
        self.check_names()
    }

    /// The path of the directory.
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// The directory that was opened, even if its path leads elsewhere by now.
    pub fn opened_directory(&self) -> &Directory {
        &self.directory
    }

    /// The manifest.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The id positions, where they are in use.
    pub(super) fn shared_id_positions(&self) -> &Arc<SharedIdPositions> {
        &self.id_positions
    }

    /// Number of vertices.
    pub fn vertex_count(&self) -> u64 {
        self.manifest.vertices
    }

    /// Whether ids are [short](crate::ShortId).
    pub fn has_short_ids(&self) -> bool {
        self.vertex_count() <= SHORT_COUNT_MAX
    }

    /// Number of vertices, for arrays indexed by [short](crate::ShortId) ids.
    ///
    /// # Errors
    /// [`Error::Limit`](tegula_machine::Error::Limit) when there are more vertices than short ids.
    pub fn short_vertex_count(&self) -> Result<u32> {
        let found = self.vertex_count();
        let limit = SHORT_COUNT_MAX;
        let what = "vertices of a graph whose arrays lie in memory";
        u32::try_from(found).map_err(|_| Error::limit(what, found, limit))
    }

    /// Number of stored arcs.
    pub fn edge_count(&self) -> u64 {
        self.manifest.edges
    }

    /// Whether edges carry weights.
    pub fn is_weighted(&self) -> bool {
        self.manifest.weighted
    }

    /// The weight of every edge, if the edges are weighted and all have the same weight.
    pub fn equal_weight(&self) -> Option<f32> {
        self.manifest.equal_weight
    }

    /// Whether its files may stay in the page cache.
    pub fn caching(&self) -> Caching {
        self.caching
    }

    /// The reader of its files.
    pub fn reader(&self) -> &Reader {
        &self.reader
    }

    /// The batches, by ascending targets. Together they cover every target once.
    pub fn batches(&self) -> &[Batch] {
        &self.table.batches
    }

    /// The grid by which tiles are filed.
    pub fn grid(&self) -> Grid {
        self.manifest.grid
    }

    /// The cell of a tile.
    pub fn cell_of(&self, tile: &TileEntry) -> Cell {
        self.cells()[tile.cell as usize].cell
    }

    /// What the ids of a tile count from.
    #[inline]
    pub fn origin_of(&self, tile: &TileEntry) -> Origin {
        self.grid().origin(self.cell_of(tile))
    }

    /// Visits every edge of a tile by its dense ids: `visit(entry, source, target)`, where `entry`
    /// is the position of its weight. Every source is a vertex, and every target lies in the tile's
    /// window. Returns the number of entries. Not for hot loops.
    ///
    /// # Errors
    /// An invalid strip. Some edges may have been visited before.
    pub fn for_each_edge(
        &self,
        index: usize,
        tile: Tile<'_>,
        mut visit: impl FnMut(usize, u64, u64),
    ) -> Result<usize, String> {
        let entry = &self.tiles()[index];
        let origin = self.origin_of(entry);
        let sources = self.grid().source_count(self.cell_of(entry).segment, self.vertex_count());
        tile.for_each_edge(&entry.summary, sources, |entry, source, target| {
            visit(entry, origin.source + u64::from(source), origin.target + u64::from(target));
        })
    }

    /// The tiles of a batch, as ranges of [`Graph::tiles`]: one range per segment with edges into
    /// the batch, by ascending segment.
    pub fn batch_tiles(&self, batch: usize) -> impl Iterator<Item = Range<usize>> {
        self.table.batch_tiles(batch)
    }

    /// Number of such ranges in all batches.
    pub fn tile_runs(&self) -> usize {
        self.table.run_count()
    }

    /// The table of tiles, in the order of the file.
    pub fn tiles(&self) -> &[TileEntry] {
        &self.table.entries
    }

    /// The cells that have a tile, in the order of the file.
    pub fn cells(&self) -> &[CellEntry] {
        &self.table.cells
    }

    /// The file with the lists of sources, if the graph has several segments.
    pub(super) fn sources_file(&self) -> Option<&FileHandle> {
        self.sources.as_ref()
    }

    /// Bytes of the tiles and their table.
    pub fn tile_bytes(&self) -> u64 {
        let bytes = |name| self.manifest.file(name).map_or(0, |file| file.bytes);
        bytes(file_names::TILES) + bytes(file_names::TILE_TABLE)
    }

    /// Returns the request for the bytes of consecutive tiles. In these bytes, tile `i` begins at
    /// `tiles()[i].offset - tiles()[range.start].offset`.
    pub(super) fn tiles_request(&self, range: Range<usize>) -> Request<'_> {
        let entries = &self.tiles()[range];
        let offset = entries.first().map_or(0, |entry| entry.offset);
        let end = entries.last().map_or(0, |entry| entry.offset + u64::from(entry.size));
        Request { file: &self.tiles, offset, len: (end - offset) as usize }
    }

    /// Returns the request for the weights of consecutive tiles, if the graph has any.
    pub(super) fn weights_request(&self, range: Range<usize>) -> Option<Request<'_>> {
        let file = self.weights.as_ref()?;
        let entries = &self.tiles()[range];
        let offset = entries.first().map_or(0, |entry| entry.weights_offset);
        let end = entries.last().map_or(0, |e| e.weights_offset + 4 * u64::from(e.weight_count));
        Some(Request { file, offset, len: (end - offset) as usize })
    }

    /// Opens an array that has one number per vertex.
    pub(super) fn array<C: Coding>(&self, name: &str) -> Result<Array<C>> {
        Array::open(self.block_file(name)?, self.vertex_count() as usize)
    }

    /// Opens a block file and checks it against the checksum in the manifest.
    pub(crate) fn block_file(&self, name: &str) -> Result<BlockFile> {
        let named = self.manifest.file(name).zip(self.files.get(name));
        let (entry, file) = named.ok_or_else(|| unnamed(&self.directory, name))?;
        let file = BlockFile::of(&self.reader, file.clone())?;
        if Some(file.summary().footer_crc) != entry.checksum {
            let (path, detail) = (file.path().to_owned(), "it belongs to another graph".to_owned());
            return Err(Error::corrupt(path, "footer", detail));
        }
        Ok(file)
    }

    fn read_table(&self) -> Result<Table> {
        let file = self.block_file(file_names::TILE_TABLE)?;
        let damaged = |detail: String| {
            Error::corrupt(self.directory.join(file_names::TILE_TABLE), "its records", detail)
        };
        let Manifest { batches, cells, tiles, .. } = self.manifest;
        let parts =
            [(batches, BATCH_RECORD_SIZE), (cells, CELL_RECORD_SIZE), (tiles, TILE_RECORD_SIZE)];
        // The counts come from a file, so that neither products nor sums may wrap around.
        let mut size = Some(0u64);
        for (count, record_size) in parts {
            let part = count.checked_mul(record_size as u64);
            size = size.zip(part).and_then(|(before, part)| before.checked_add(part));
        }
        if size != Some(file.len()) {
            let len = file.len();
            let detail = format!("{len} bytes for {batches} batches, {cells} cells, {tiles} tiles");
            return Err(damaged(detail));
        }
        let bytes = file.read_range(0, file.len() as usize)?;
        let (batch_part, rest) = bytes.split_at(batches as usize * BATCH_RECORD_SIZE);
        let (cell_part, tile_part) = rest.split_at(cells as usize * CELL_RECORD_SIZE);
        let records = Records {
            batches: <[BatchRecord]>::ref_from_bytes(batch_part)
                .map_err(|e| damaged(e.to_string()))?,
            cells: <[CellRecord]>::ref_from_bytes(cell_part).map_err(|e| damaged(e.to_string()))?,
            tiles: <[TileRecord]>::ref_from_bytes(tile_part).map_err(|e| damaged(e.to_string()))?,
        };
        let length = |file: &Option<FileHandle>| file.as_ref().map_or(0, FileHandle::len);
        let sizes = FileSizes {
            tiles: self.tiles.len(),
            weights: length(&self.weights),
            sources: length(&self.sources),
        };
        Table::check(&records, &self.manifest, sizes).map_err(damaged)
    }
}

/// Opens files that a manifest names. They lie in `folder`, which is the graph's directory or holds
/// files to be added.
fn open_files(
    directory: &Directory,
    folder: &Directory,
    entries: &[FileEntry],
    reader: &Reader,
    caching: Caching,
) -> Result<BTreeMap<String, FileHandle>> {
    let mut files = BTreeMap::new();
    for entry in entries {
        // A name with a path could lead out of the directory.
        if !file_names::all().any(|known| known == entry.name) {
            let detail = format!("it names {}, which does not belong to any graph", entry.name);
            return Err(damaged_manifest(directory, detail));
        }
        let file = reader
            .open_file_in(folder, &entry.name, caching)
            .map_err(|error| missing_file(error.into(), directory, &entry.name))?;
        check_length(file.path(), entry, file.len())?;
        files.insert(entry.name.clone(), file);
    }
    Ok(files)
}

fn damaged_manifest(directory: &Directory, detail: String) -> Error {
    let path = directory.join(file_names::MANIFEST);
    Error::corrupt(path, "files", detail)
}

fn unnamed(directory: &Directory, name: &str) -> Error {
    damaged_manifest(directory, format!("it does not name {name}"))
}

/// Returns the error for a file that cannot be opened. If the file does not exist, the graph was
/// replaced or is damaged.
fn missing_file(error: Error, directory: &Directory, name: &str) -> Error {
    match error {
        Error::Machine(MachineError::Io { source, .. })
            if source.kind() == io::ErrorKind::NotFound =>
        {
            if !directory.is_in_place() {
                return Error::replaced(directory.path());
            }
            Error::corrupt(directory.path(), name, "the file is missing")
        }
        other => other,
    }
}

fn check_length(path: &Path, entry: &FileEntry, length: u64) -> Result<()> {
    if length == entry.bytes {
        return Ok(());
    }
    let detail = format!("it has {length} bytes, not {}", entry.bytes);
    Err(Error::corrupt(path, "its length", detail))
}
