//! Writes the files of a row layout, chunk by chunk.

use std::io::Write;

use tegula_machine::disk::{BLOCK_LOG2, BlockFileSummary, BlockFileWriter, Directory};
use zerocopy::IntoBytes;

use super::direction::RowFiles;
use super::encoding::RowCode;
use super::index::{ChunkRecord, ChunkRows, PARAMETERS_SIZE, RowMeasure};
use crate::graph::FileEntry;
use crate::{Error, Result};

/// log2 of the bytes that are read and checked together: a page, since rows are looked up one by
/// one.
pub(super) const PAGE_LOG2: u32 = 12;

/// A chunk ready to be written.
#[derive(Debug)]
pub(super) struct EncodedChunk {
    pub source_first: u32,
    pub rows: ChunkRows,
    pub code: RowCode,
    /// The bits of its rows, one behind the other.
    pub bytes: Vec<u8>,
    /// Weights in the order of the edges in their rows; empty in an unweighted graph.
    pub weights: Vec<f32>,
}

/// The files of a row layout while they are written.
pub(super) struct RowsWriter {
    data: PagedFile,
    weights: Option<PagedFile>,
    folder: Directory,
    names: RowFiles,
    records: Vec<ChunkRecord>,
    words: Vec<u64>,
    edges: u64,
    has_pieces: bool,
}

/// The result of a [`RowsWriter`].
pub(super) struct WrittenRows {
    pub chunks: u64,
    /// Whether some row is in several pieces.
    pub has_pieces: bool,
    pub files: Vec<FileEntry>,
}

struct PagedFile {
    writer: BlockFileWriter,
    len: u64,
}

impl PagedFile {
    fn create(folder: &Directory, name: &str) -> Result<PagedFile> {
        Ok(PagedFile { writer: BlockFileWriter::create_in(folder, name, PAGE_LOG2)?, len: 0 })
    }

    fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.len += bytes.len() as u64;
        write(&mut self.writer, bytes)
    }

    fn finish(self, name: &str) -> Result<FileEntry> {
        Ok(entry(name, self.writer.finish()?))
    }
}

fn write(writer: &mut BlockFileWriter, bytes: &[u8]) -> Result<()> {
    writer.write_all(bytes).map_err(|error| Error::io("write", writer.path())(error))
}

fn entry(name: &str, summary: BlockFileSummary) -> FileEntry {
    let checksum = Some(summary.footer_crc);
    FileEntry { name: name.to_owned(), bytes: summary.file_len, checksum }
}

impl RowsWriter {
    /// Creates the files in a folder that has none of them. The index stays in memory until the
    /// end; `index_size` is its expected size in bytes.
    pub fn create(
        folder: Directory,
        names: RowFiles,
        is_weighted: bool,
        index_size: u64,
    ) -> Result<RowsWriter> {
        let weights =
            if is_weighted { Some(PagedFile::create(&folder, names.weights)?) } else { None };
        Ok(RowsWriter {
            data: PagedFile::create(&folder, names.data)?,
            weights,
            folder,
            names,
            records: Vec::new(),
            words: Vec::with_capacity(index_size as usize / size_of::<u64>()),
            edges: 0,
            has_pieces: false,
        })
    }

    /// Appends a chunk. It begins where the one before ends, or is the next piece of the same row.
    pub fn append(&mut self, chunk: &EncodedChunk) -> Result<()> {
        let RowMeasure { bits: data_bits, edges: edge_count } =
            chunk.rows.ends.last().copied().unwrap_or_default();
        let word_first = self.words.len() as u64;
        let row_count = chunk.rows.write(self.weights.is_some(), &mut self.words);
        let mut parameters = [0; PARAMETERS_SIZE];
        let own = chunk.code.parameters();
        parameters[..own.len()].copy_from_slice(&own);
        self.records.push(ChunkRecord {
            source_first: chunk.source_first.into(),
            source_count: (chunk.rows.ends.len() as u32).into(),
            row_count: row_count.into(),
            loop_count: (chunk.rows.loops.len() as u32).into(),
            data_offset: self.data.len.into(),
            data_bits: data_bits.into(),
            edge_first: self.edges.into(),
            edge_count: edge_count.into(),
            word_first: word_first.into(),
            parameters,
        });
        self.edges += edge_count;
        self.has_pieces |= chunk.rows.target_first.is_some();
        self.data.append(&chunk.bytes)?;
        match &mut self.weights {
            Some(weights) => weights.append(chunk.weights.as_bytes()),
            None => Ok(()),
        }
    }

    /// Edges written so far.
    pub fn edge_count(&self) -> u64 {
        self.edges
    }

    /// Completes the files.
    pub fn finish(self) -> Result<WrittenRows> {
        let mut files = vec![self.data.finish(self.names.data)?];
        if let Some(weights) = self.weights {
            files.push(weights.finish(self.names.weights)?);
        }
        let name = self.names.index;
        let mut index = BlockFileWriter::create_in(&self.folder, name, BLOCK_LOG2)?;
        write(&mut index, self.records.as_bytes())?;
        write(&mut index, self.words.as_bytes())?;
        files.push(entry(name, index.finish()?));
        let chunks = self.records.len() as u64;
        Ok(WrittenRows { chunks, has_pieces: self.has_pieces, files })
    }
}
