//! An opened graph directory.

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::path::Path;

use tegula_machine::disk::{BlockFile, Caching, Directory, FileHandle, Reader, Request, crc32c};
use tegula_machine::{Error, Result};
use zerocopy::FromBytes;

use super::cells::CellEntry;
use super::directory::open_directory;
use super::file_names;
use super::manifest::{FileEntry, Manifest};
use super::records::{
    BATCH_RECORD_SIZE, BatchRecord, CELL_RECORD_SIZE, CellRecord, TILE_RECORD_SIZE, TileRecord,
};
use super::table::{FileSizes, Records, Table, TileEntry};
use crate::ids::{SHORT_COUNT_MAX, VERTEX_COUNT_MAX};
use crate::packed::{Array, Coding};
use crate::tiles::{Batch, Cell, Grid, Origin, Tile};

/// A graph, opened for reading. All lengths and counts were checked against each other; the tiles
/// themselves are checked when they are read.
///
/// All files are opened at once: a graph that is replaced by another one goes on to be read as it was.
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
}

impl Graph {
    /// Opens a graph directory through a reading door. `caching` says whether its files may be kept
    /// in the page cache.
    ///
    /// # Errors
    /// [`Error::NotAGraph`], [`Error::UnsupportedVersion`], [`Error::Corrupt`] when a file is
    /// missing, has another length or does not fit the others, [`Error::Replaced`] where another graph
    /// takes its place just then, and those of reading.
    pub fn open(directory: &Path, reader: &Reader, caching: Caching) -> Result<Graph> {
        Graph::open_in(&Graph::open_directory(directory)?, reader, caching)
    }

    /// Opens a directory that is said to hold a graph.
    ///
    /// # Errors
    /// [`Error::NotAGraph`] where there is none; those of opening it.
    pub fn open_directory(path: &Path) -> Result<Directory> {
        open_directory(path)
    }

    /// The same of a directory that is open.
    ///
    /// # Errors
    /// Those of [`Graph::open`].
    pub fn open_in(directory: &Directory, reader: &Reader, caching: Caching) -> Result<Graph> {
        let manifest = Manifest::read_in(directory)?;
        if manifest.vertices > VERTEX_COUNT_MAX {
            let (found, limit) = (manifest.vertices, VERTEX_COUNT_MAX);
            return Err(Error::Limit { what: "vertices", found, limit });
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
        };
        graph.check_names()?;
        for file in &graph.manifest.files {
            if file.checksum.is_some() {
                graph.block_file(&file.name)?;
            }
        }
        graph.table = graph.read_table()?;
        Ok(graph)
    }

    /// That the manifest names the files of such a graph, each once, and no others.
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
            Some(file) => format!("it names {}, of which such a graph has none", file.name),
            None if self.files.len() < manifest.files.len() => "it names a file twice".to_owned(),
            None => return Ok(()),
        };
        Err(damaged_manifest(&self.directory, detail))
    }

    /// Has further files from then on, which lie in `folder` and are named by the `manifest` behind its own.
    ///
    /// # Errors
    /// [`Error::Replaced`] where the manifest is that of another graph; those of opening them.
    pub(crate) fn add_files(&mut self, folder: &Directory, manifest: Manifest) -> Result<()> {
        let (own, added) =
            manifest.files.split_at(self.manifest.files.len().min(manifest.files.len()));
        if *own != self.manifest.files {
            return Err(Error::replaced(self.directory.path()));
        }
        let files = open_files(&self.directory, folder, added, &self.reader, self.caching)?;
        self.files.extend(files);
        self.manifest = manifest;
        self.check_names()
    }

    /// The directory.
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// The directory, held open: it is the one that was opened, whatever its path leads to by now.
    pub fn opened_directory(&self) -> &Directory {
        &self.directory
    }

    /// What the manifest says.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Number of vertices.
    pub fn vertex_count(&self) -> u64 {
        self.manifest.vertices
    }

    /// Whether ids are [short](crate::ShortId).
    pub fn has_short_ids(&self) -> bool {
        self.vertex_count() <= SHORT_COUNT_MAX
    }

    /// The number of vertices of a graph whose ids are [short](crate::ShortId), for what keeps lists of them.
    ///
    /// # Errors
    /// [`Error::Limit`] where there are more vertices.
    pub fn short_vertex_count(&self) -> Result<u32> {
        let found = self.vertex_count();
        let limit = SHORT_COUNT_MAX;
        let what = "vertices of a graph whose arrays lie in memory";
        u32::try_from(found).map_err(|_| Error::Limit { what, found, limit })
    }

    /// Number of stored arcs.
    pub fn edge_count(&self) -> u64 {
        self.manifest.edges
    }

    /// Whether edges carry weights.
    pub fn is_weighted(&self) -> bool {
        self.manifest.weighted
    }

    /// Where its bytes may stay besides what is read.
    pub fn caching(&self) -> Caching {
        self.caching
    }

    /// The door through which the graph is read.
    pub fn reader(&self) -> &Reader {
        &self.reader
    }

    /// The batches, by ascending targets. Together they cover every target once.
    pub fn batches(&self) -> &[Batch] {
        &self.table.batches
    }

    /// How the tiles are filed.
    pub fn grid(&self) -> Grid {
        self.manifest.grid
    }

    /// The cell in which a tile lies.
    pub fn cell_of(&self, tile: &TileEntry) -> Cell {
        self.cells()[tile.cell as usize].cell
    }

    /// What the ids of a tile count from.
    #[inline]
    pub fn origin_of(&self, tile: &TileEntry) -> Origin {
        self.grid().origin(self.cell_of(tile))
    }

    /// Visits every edge of a tile, by the dense ids of its ends: `visit(entry, source, target)`, where the entry tells
    /// the place of its weight. Sources are vertices; targets lie in the window that the table tells. Returns the
    /// number of entries. For what is not hot.
    ///
    /// # Errors
    /// Those of [`Tile::strips`]; edges may have been visited before.
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

    /// The tiles of a batch, as ranges of [`Graph::tiles`]: one for each segment from which there are any, by
    /// ascending segment.
    pub fn batch_tiles(&self, batch: usize) -> impl Iterator<Item = Range<usize>> {
        self.table.batch_tiles(batch)
    }

    /// How many such ranges all batches have.
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

    /// The file of the lists of sources, where a graph has several segments.
    pub(super) fn sources_file(&self) -> Option<&FileHandle> {
        self.sources.as_ref()
    }

    /// Bytes of the tiles and their table.
    pub fn tile_bytes(&self) -> u64 {
        let bytes = |name| self.manifest.file(name).map_or(0, |file| file.bytes);
        bytes(file_names::TILES) + bytes(file_names::TILE_TABLE)
    }

    /// The request for the bytes of consecutive tiles; the bytes of tile `i` within them begin at
    /// `tiles()[i].offset - tiles()[range.start].offset`.
    pub(super) fn tiles_request(&self, range: Range<usize>) -> Request<'_> {
        let entries = &self.tiles()[range];
        let offset = entries.first().map_or(0, |entry| entry.offset);
        let end = entries.last().map_or(0, |entry| entry.offset + u64::from(entry.size));
        Request { file: &self.tiles, offset, len: (end - offset) as usize }
    }

    /// The request for the weights of consecutive tiles, if the graph has any.
    pub(super) fn weights_request(&self, range: Range<usize>) -> Option<Request<'_>> {
        let file = self.weights.as_ref()?;
        let entries = &self.tiles()[range];
        let offset = entries.first().map_or(0, |entry| entry.weights_offset);
        let end = entries.last().map_or(0, |e| e.weights_offset + 4 * u64::from(e.weight_count));
        Some(Request { file, offset, len: (end - offset) as usize })
    }

    /// Checks the bytes of a tile against its checksum.
    ///
    /// # Errors
    /// [`Error::Corrupt`], naming the tile.
    pub(super) fn check_tile(&self, index: usize, bytes: &[u8]) -> Result<()> {
        if crc32c(bytes) == self.tiles()[index].checksum {
            return Ok(());
        }
        Err(self.damaged_tile(index, "its checksum differs".into()))
    }

    /// Checks the weights of a tile against their checksum.
    ///
    /// # Errors
    /// [`Error::Corrupt`], naming the tile.
    pub(super) fn check_weights(&self, index: usize, bytes: &[u8]) -> Result<()> {
        if crc32c(bytes) == self.tiles()[index].weights_checksum {
            return Ok(());
        }
        let path = self.directory.join(file_names::WEIGHTS);
        let detail = "its checksum differs".to_owned();
        Err(Error::Corrupt { path, part: format!("the weights of tile {index}"), detail })
    }

    /// The error for a tile whose content makes no sense.
    pub fn damaged_tile(&self, index: usize, detail: String) -> Error {
        let path = self.directory.join(file_names::TILES);
        Error::Corrupt { path, part: format!("tile {index}"), detail }
    }

    /// An array with a number for each vertex.
    pub(super) fn array<C: Coding>(&self, name: &str) -> Result<Array<C>> {
        Array::open(self.block_file(name)?, self.vertex_count() as usize)
    }

    /// A block file of the graph, checked to be the one that the manifest means.
    pub(crate) fn block_file(&self, name: &str) -> Result<BlockFile> {
        let named = self.manifest.file(name).zip(self.files.get(name));
        let (entry, file) = named.ok_or_else(|| unnamed(&self.directory, name))?;
        let file = BlockFile::of(&self.reader, file.clone())?;
        if Some(file.summary().footer_crc) != entry.checksum {
            let (path, detail) = (file.path().to_owned(), "it belongs to another graph".to_owned());
            return Err(Error::Corrupt { path, part: "footer".into(), detail });
        }
        Ok(file)
    }

    fn read_table(&self) -> Result<Table> {
        let file = self.block_file(file_names::TILE_TABLE)?;
        let damaged = |detail: String| Error::Corrupt {
            path: self.directory.join(file_names::TILE_TABLE),
            part: "its records".into(),
            detail,
        };
        let Manifest { batches, cells, tiles, .. } = self.manifest;
        let parts =
            [(batches, BATCH_RECORD_SIZE), (cells, CELL_RECORD_SIZE), (tiles, TILE_RECORD_SIZE)];
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

/// Opens files that a manifest names. They lie in `folder`, which is the directory of the graph or holds
/// what was added to it.
fn open_files(
    directory: &Directory,
    folder: &Directory,
    entries: &[FileEntry],
    reader: &Reader,
    caching: Caching,
) -> Result<BTreeMap<String, FileHandle>> {
    let mut files = BTreeMap::new();
    for entry in entries {
        // What the manifest names is looked for in the directory and nowhere else.
        if !file_names::all().any(|known| known == entry.name) {
            let detail = format!("it names {}, which no graph has", entry.name);
            return Err(damaged_manifest(directory, detail));
        }
        let file = reader
            .open_file_in(folder, &entry.name, caching)
            .map_err(|error| missing_file(error, directory, &entry.name))?;
        check_length(file.path(), entry, file.len())?;
        files.insert(entry.name.clone(), file);
    }
    Ok(files)
}

fn damaged_manifest(directory: &Directory, detail: String) -> Error {
    let path = directory.join(file_names::MANIFEST);
    Error::Corrupt { path, part: "files".into(), detail }
}

fn unnamed(directory: &Directory, name: &str) -> Error {
    damaged_manifest(directory, format!("it does not name {name}"))
}

/// The error for a file that cannot be opened: where it is not there, it went with the graph, or the graph
/// is damaged.
fn missing_file(error: Error, directory: &Directory, name: &str) -> Error {
    match error {
        Error::Io { source, .. } if source.kind() == io::ErrorKind::NotFound => {
            if !directory.is_in_place() {
                return Error::replaced(directory.path());
            }
            Error::Corrupt {
                path: directory.path().to_owned(),
                part: name.to_owned(),
                detail: "the file is missing".into(),
            }
        }
        other => other,
    }
}

fn check_length(path: &Path, entry: &FileEntry, length: u64) -> Result<()> {
    if length == entry.bytes {
        return Ok(());
    }
    let detail = format!("it has {length} bytes, not {}", entry.bytes);
    Err(Error::Corrupt { path: path.to_owned(), part: "its length".into(), detail })
}
