//! Writes a graph directory: tiles as they come, then the tables, then the manifest. The caller
//! provides a directory with a hidden name and renames it after [`GraphWriter::finish`].

use std::fs::File;
use std::io::{self, BufWriter, Seek, Write};
use std::path::{Path, PathBuf};

use tegula_machine::disk::{BlockFileSummary, BlockFileWriter, Directory, crc32c, durable};
use zerocopy::IntoBytes;

use super::equal_weight::EqualWeight;
use super::file_names;
use super::manifest::{FileEntry, Manifest};
use super::records::{BatchRecord, CellRecord, TileRecord};
use crate::tiles::{Batch, Cell, EncodedTile, Grid, SourceSet, Tile, WindowSources, is_listed};
use crate::{Error, Result};

/// Writes the tiles and tables of one graph directory.
#[derive(Debug)]
pub struct GraphWriter {
    directory: PathBuf,
    tiles: TileFile,
    weights: Option<TileFile>,
    equal_weight: EqualWeight,
    sources: Option<SourceWriter>,
    batches: Vec<BatchRecord>,
    /// The last cell, which still gets tiles.
    cell: Option<CellRecord>,
    cells: RecordFile,
    tile_records: RecordFile,
    files: Vec<FileEntry>,
}

/// Lists the sources of each cell.
#[derive(Debug)]
struct SourceWriter {
    file: TileFile,
    grid: Grid,
    vertex_count: u64,
    /// The sources of the last cell.
    set: SourceSet,
}

impl SourceWriter {
    /// Writes the list of a cell's sources, after the sources of all its edges were added.
    fn finish_cell(&mut self, cell: &mut CellRecord) -> Result<()> {
        let count = self.set.len();
        cell.source_count = count.into();
        cell.sources_offset = self.file.length.into();
        let sources = self.grid.source_count(cell.segment.get(), self.vertex_count);
        if !is_listed(count, sources) {
            self.set.clear();
            return Ok(());
        }
        let list = self.set.take_list(sources);
        cell.sources_size = (list.len() as u32).into();
        cell.sources_checksum = crc32c(&list).into();
        self.file.append(&list).map(drop)
    }
}

/// Records that wait for the table, in a file without a name. There may be as many as edges.
#[derive(Debug)]
struct RecordFile {
    path: PathBuf,
    output: BufWriter<File>,
    count: u64,
}

impl RecordFile {
    fn create(directory: &Path) -> Result<RecordFile> {
        let file = tempfile::tempfile_in(directory);
        let file = file.map_err(Error::io("create a file in", directory))?;
        let output = BufWriter::with_capacity(1 << 16, file);
        Ok(RecordFile { path: directory.to_owned(), output, count: 0 })
    }

    fn push(&mut self, record: &[u8]) -> Result<()> {
        self.count += 1;
        self.output.write_all(record).map_err(Error::io("write to a file in", &self.path))
    }

    fn copy_to(&mut self, out: &mut impl Write) -> io::Result<()> {
        // Rewinding writes what is still in the buffer.
        self.output.rewind()?;
        io::copy(self.output.get_mut(), out).map(drop)
    }
}

/// A file to which tiles, their weights or lists of sources are appended.
#[derive(Debug)]
struct TileFile {
    path: PathBuf,
    output: BufWriter<File>,
    length: u64,
}

impl TileFile {
    fn create(path: PathBuf) -> Result<TileFile> {
        let file = durable::create_file(&path).map_err(Error::io("create", &path))?;
        Ok(TileFile { output: BufWriter::with_capacity(1 << 20, file), path, length: 0 })
    }

    /// Appends bytes and returns their offset.
    fn append(&mut self, bytes: &[u8]) -> Result<u64> {
        let offset = self.length;
        self.output.write_all(bytes).map_err(Error::io("write", &self.path))?;
        self.length += bytes.len() as u64;
        Ok(offset)
    }

    fn finish(self) -> Result<FileEntry> {
        let file = self
            .output
            .into_inner()
            .map_err(|error| Error::io("write", &self.path)(error.into_error()))?;
        durable::sync(file).map_err(Error::io("sync", &self.path))?;
        Ok(FileEntry { name: file_name(&self.path), bytes: self.length, checksum: None })
    }
}

fn file_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

impl GraphWriter {
    /// Begins a graph of `vertex_count` vertices in an existing, empty directory.
    pub fn create(
        directory: &Path,
        weighted: bool,
        vertex_count: u64,
        grid: Grid,
        batches: impl Iterator<Item = Batch>,
    ) -> Result<GraphWriter> {
        let record = |batch: Batch| BatchRecord {
            target_first: batch.target_first.into(),
            log2: batch.log2.into(),
            reserved: 0.into(),
            edge_count: 0.into(),
        };
        let weights = if weighted {
            Some(TileFile::create(directory.join(file_names::WEIGHTS))?)
        } else {
            None
        };
        let sources = match grid.lists_sources(vertex_count) {
            true => Some(SourceWriter {
                file: TileFile::create(directory.join(file_names::SOURCES))?,
                grid,
                vertex_count,
                set: SourceSet::new(1 << grid.segment_log2),
            }),
            false => None,
        };
        Ok(GraphWriter {
            directory: directory.to_owned(),
            tiles: TileFile::create(directory.join(file_names::TILES))?,
            weights,
            equal_weight: EqualWeight::default(),
            sources,
            batches: batches.map(record).collect(),
            cell: None,
            cells: RecordFile::create(directory)?,
            tile_records: RecordFile::create(directory)?,
            files: Vec::new(),
        })
    }

    /// Whether tiles come with the sources of their edges.
    pub fn lists_sources(&self) -> bool {
        self.sources.is_some()
    }

    /// Appends the tiles of some edges of a window, with their sources if the graph
    /// [lists them](GraphWriter::lists_sources). Ids count from the origin of `cell`, and `batch`
    /// is the number of the batch. Cells come in order, and so do the batches of a cell.
    ///
    /// # Panics
    /// When there is no such batch, and when the graph lists sources and they are not given.
    pub fn append(
        &mut self,
        cell: Cell,
        batch: usize,
        tiles: &[EncodedTile],
        sources: Option<&WindowSources>,
    ) -> Result<()> {
        tiles.iter().try_for_each(|tile| self.append_tile(cell, batch, tile))?;
        if let Some(writer) = &mut self.sources {
            writer.set.add(sources.expect("a graph that lists sources gets them with the tiles"));
        }
        Ok(())
    }

    /// Appends a copy of a tile from another graph with the same grid.
    ///
    /// # Errors
    /// What is wrong with the tile, beside failed writes.
    ///
    /// # Panics
    /// When there is no such batch.
    pub(crate) fn append_copy(
        &mut self,
        cell: Cell,
        batch: usize,
        tile: &EncodedTile,
        source_limit: u32,
    ) -> Result<Result<(), String>> {
        self.append_tile(cell, batch, tile)?;
        let Some(writer) = &mut self.sources else { return Ok(Ok(())) };
        let listed = Tile::parse(&tile.bytes).and_then(|view| {
            view.for_each_edge(&tile.summary, source_limit, |_, source, _| {
                writer.set.insert(source);
            })
        });
        Ok(listed.map(drop))
    }

    fn append_tile(&mut self, cell: Cell, batch: usize, tile: &EncodedTile) -> Result<()> {
        let edges = u64::from(tile.summary.edge_count);
        self.batches[batch].edge_count += edges;
        debug_assert!(
            self.cell.is_none_or(
                |last| (last.column.get(), last.segment.get()) <= (cell.column, cell.segment)
            ),
            "cells come in order"
        );
        let (column, segment) = (cell.column.into(), cell.segment.into());
        match &mut self.cell {
            Some(last) if (last.column, last.segment) == (column, segment) => {
                last.tile_count += 1;
                last.edge_count += edges;
            }
            _ => {
                self.finish_cell()?;
                self.cell = Some(CellRecord {
                    column,
                    segment,
                    tile_count: 1.into(),
                    edge_count: edges.into(),
                    ..CellRecord::default()
                });
            }
        }
        self.equal_weight.add_tile(&tile.weights, tile.summary.edge_count as usize);
        let weights = tile.weights.as_bytes();
        let weights_offset = match &mut self.weights {
            Some(file) => file.append(weights)?,
            None => 0,
        };
        let summary = &tile.summary;
        let record = TileRecord {
            offset: self.tiles.append(&tile.bytes)?.into(),
            weights_offset: weights_offset.into(),
            source_mask: summary.source_mask.into(),
            size: (tile.bytes.len() as u32).into(),
            checksum: crc32c(&tile.bytes).into(),
            weights_checksum: crc32c(weights).into(),
            weight_count: (tile.weights.len() as u32).into(),
            edge_count: summary.edge_count.into(),
            source_first: summary.source_first.into(),
            source_last: summary.source_last.into(),
            target_first: summary.target_first.into(),
            target_last: summary.target_last.into(),
            reserved: 0.into(),
        };
        self.tile_records.push(record.as_bytes())
    }

    /// Completes the last cell.
    fn finish_cell(&mut self) -> Result<()> {
        let Some(mut cell) = self.cell.take() else { return Ok(()) };
        if let Some(sources) = &mut self.sources {
            sources.finish_cell(&mut cell)?;
        }
        self.cells.push(cell.as_bytes())
    }

    /// Edges written so far.
    pub fn edge_count(&self) -> u64 {
        self.batches.iter().map(|batch| batch.edge_count.get()).sum()
    }

    /// The weight of every edge written so far; `None` if there is no edge or some weights differ.
    pub fn equal_weight(&self) -> Option<f32> {
        self.equal_weight.get()
    }

    /// Bytes of tiles written so far, without weights.
    pub fn tile_bytes(&self) -> u64 {
        self.tiles.length
    }

    /// Adds a block file to the manifest. It must be in the directory already.
    pub fn add_block_file(&mut self, name: &str, summary: BlockFileSummary) {
        let checksum = Some(summary.footer_crc);
        self.files.push(FileEntry { name: name.to_owned(), bytes: summary.file_len, checksum });
    }

    /// Writes the table of batches, cells and tiles.
    fn write_table(&mut self) -> Result<()> {
        let path = self.directory.join(file_names::TILE_TABLE);
        let mut writer = BlockFileWriter::create(&path)?;
        let written = writer.write_all(self.batches.as_bytes());
        let written = written.and_then(|()| self.cells.copy_to(&mut writer));
        let written = written.and_then(|()| self.tile_records.copy_to(&mut writer));
        written.map_err(Error::io("write", &path))?;
        self.add_block_file(file_names::TILE_TABLE, writer.finish()?);
        Ok(())
    }

    /// Writes the table and, last, the manifest. Fills in the manifest's files and its counts of
    /// edges, batches, cells and tiles. Everything is synced to disk when it returns.
    pub fn finish(mut self, mut manifest: Manifest) -> Result<Manifest> {
        self.finish_cell()?;
        manifest.edges = self.edge_count();
        manifest.batches = self.batches.len() as u64;
        manifest.cells = self.cells.count;
        manifest.tiles = self.tile_records.count;
        self.write_table()?;
        let mut files = vec![self.tiles.finish()?];
        if let Some(weights) = self.weights {
            files.push(weights.finish()?);
        }
        if let Some(sources) = self.sources {
            files.push(sources.file.finish()?);
        }
        files.append(&mut self.files);
        manifest.files = files;
        let failed = || Error::io("sync", &self.directory);
        let directory = Directory::open(&self.directory).map_err(failed())?;
        manifest.replace(&directory)?;
        directory.sync().map_err(failed())?;
        Ok(manifest)
    }
}
