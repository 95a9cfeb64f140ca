//! Readers of a graph directory. The fuzzer's bytes are the content of a file; the checksums around
//! them are made right, for damage that they show goes no further.

use std::collections::HashMap;
use std::fs;
use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};

use serde_json::Value;
use tegula_import::{ImportConfig, import};
use tegula_machine::disk::{
    Backend, BlockFileWriter, Caching, OutputFile, Pool, Reader, Targets, crc32c,
};
use tegula_machine::threads::{Cancel, Silent, Workers};
use tegula_store::ShortId;
use tegula_store::graph::{Graph, TileEntry, VertexOrder};
use tegula_store::rows::{ChunkCut, Direction, RowBatch, RowEncoding, RowReader};
use tegula_store::tiles::Grid;
use tegula_store::{Error, Result};

use crate::scratch::folder;
use crate::{answer, choice, put};

/// Memory of a reader in bytes.
const MEMORY: u64 = 4 << 20;

/// Bytes of the cache of rows.
const CACHE: u64 = 1 << 20;

/// How a graph is made whose files are then replaced.
#[derive(Debug, Clone, Copy)]
pub struct Kind {
    pub weighted: bool,
    /// How the names of vertices begin; empty for integers.
    pub prefix: &'static str,
    pub order: VertexOrder,
    pub rows: RowEncoding,
    pub cut: ChunkCut,
    pub grid: Grid,
}

/// A graph with integer ids, a grid of one cell, and rows in one piece.
const PLAIN: Kind = Kind {
    weighted: false,
    prefix: "",
    order: VertexOrder::Given,
    rows: RowEncoding::Plain,
    cut: ChunkCut::STANDARD,
    grid: Grid { segment_log2: 24, column_log2: 22 },
};

/// So small that long rows have several pieces.
const FEW: ChunkCut = ChunkCut { edges_max: 17, window_log2: 3 };

/// So small that sources are listed.
const SMALL_GRID: Grid = Grid { segment_log2: 6, column_log2: 6 };

/// The graphs whose files are replaced.
pub const KINDS: [Kind; 8] = [
    PLAIN,
    Kind { rows: RowEncoding::Gap, weighted: true, ..PLAIN },
    Kind { rows: RowEncoding::Ceesor, ..PLAIN },
    Kind { rows: RowEncoding::Copy, ..PLAIN },
    Kind { rows: RowEncoding::Ceesor, weighted: true, cut: FEW, ..PLAIN },
    Kind { order: VertexOrder::Degree, grid: SMALL_GRID, ..PLAIN },
    Kind { order: VertexOrder::Dfs, prefix: "né ", ..PLAIN },
    Kind { grid: SMALL_GRID, weighted: true, prefix: "v", ..PLAIN },
];

/// A graph directory: the manifest lies in a file, all else in memory.
pub struct Directory {
    path: PathBuf,
    manifest: Value,
    /// The text of the manifest with its checksum.
    sealed: Vec<u8>,
    files: HashMap<PathBuf, Vec<u8>>,
    /// The manifest that lies in its file.
    written: Mutex<Vec<u8>>,
}

impl Directory {
    /// Makes the graph of a kind.
    pub fn new(number: usize) -> Directory {
        let kind = KINDS[number];
        Directory::make(&format!("graph-{number}"), &kind, &edges(&kind))
    }

    /// Makes a graph of these edges, which are separated by tabs.
    pub fn make(name: &str, kind: &Kind, edges: &str) -> Directory {
        let path = folder().join(format!("{name}.tegula"));
        let edges = put("edges.wel", edges.as_bytes());
        let mut config = ImportConfig {
            rows: Some(kind.rows),
            order: Some(kind.order),
            memory: ImportConfig::MEMORY_MIN,
            threads: 1,
            force: true,
            ..ImportConfig::default()
        };
        (config.tuning.grid, config.tuning.row_cut) = (kind.grid, kind.cut);
        config.input.weighted = kind.weighted;
        config.input.no_header = true;
        config.input.delimiter = Some("tab".parse().expect("a delimiter"));
        import(&[edges], &path, &config, &Silent, &Cancel::default()).expect("a graph");
        Directory::read(path)
    }

    /// Reads the files of a graph directory.
    pub fn read(path: PathBuf) -> Directory {
        let mut files = HashMap::new();
        for entry in fs::read_dir(&path).expect("a folder") {
            let file = entry.expect("a file").path();
            files.insert(file.clone(), fs::read(&file).expect("a readable file"));
        }
        let text = files.remove(&path.join("manifest.json")).expect("a manifest");
        let mut manifest: Value = serde_json::from_slice(&text).expect("JSON");
        manifest.as_object_mut().expect("an object").remove("crc32c");
        let sealed = seal(&manifest.to_string());
        Directory { path, manifest, sealed, files, written: Mutex::default() }
    }

    /// The manifest without its checksum.
    pub fn manifest(&self) -> Value {
        self.manifest.clone()
    }

    /// The path of the directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The content of a file: of a block file, its payload.
    pub fn content(&self, name: &str) -> Option<&[u8]> {
        let bytes = self.files.get(&self.path.join(name))?;
        let trailer = bytes.last_chunk::<32>()?;
        if !trailer.starts_with(b"TEGULABF") {
            return Some(bytes);
        }
        let length = u64::from_le_bytes(trailer[16..24].try_into().expect("eight bytes"));
        bytes.get(..length as usize)
    }

    /// The bytes of a file.
    pub fn sealed(&self, name: &str) -> &[u8] {
        &self.files[&self.path.join(name)]
    }

    /// Where the tiles lie in their file.
    pub fn tiles(&self) -> Vec<Range<usize>> {
        let manifest = self.manifest.to_string();
        let graph = self.open_with_manifest(manifest.as_bytes()).expect("a graph");
        let place =
            |tile: &TileEntry| tile.offset as usize..tile.offset as usize + tile.size as usize;
        graph.tiles().iter().map(place).collect()
    }

    /// Opens the graph with another payload in a block file.
    pub fn open_with(&self, name: &str, payload: &[u8]) -> Result<Graph> {
        self.open_with_each(&[(name, payload)])
    }

    /// Opens the graph with another content of files: of a block file, its payload.
    pub fn open_with_each(&self, contents: &[(&str, &[u8])]) -> Result<Graph> {
        let mut files = self.files.clone();
        let mut manifest = self.manifest.clone();
        let entries = manifest["files"].as_array_mut().expect("a list of files");
        for &(name, content) in contents {
            let entry = entries.iter_mut().find(|entry| entry["name"] == name);
            let entry = entry.expect("the graph has the file");
            let bytes = match entry["checksum"].is_null() {
                true => content.to_vec(),
                false => {
                    let (sealed, checksum) =
                        block_file(content, if is_paged(name) { 12 } else { 20 });
                    entry["checksum"] = checksum.into();
                    sealed
                }
            };
            entry["bytes"] = bytes.len().into();
            files.insert(self.path.join(name), bytes);
        }
        self.open(&seal(&manifest.to_string()), files)
    }

    /// Opens the graph with another text of its manifest, which lacks the checksum.
    pub fn open_with_manifest(&self, text: &[u8]) -> Result<Graph> {
        self.open(&seal_bytes(text), self.files.clone())
    }

    /// Opens the graph with a further file, for readers of files beside a graph.
    pub fn open_beside(&self, path: PathBuf, bytes: Vec<u8>) -> Result<Graph> {
        let mut files = self.files.clone();
        files.insert(path, bytes);
        self.open(&self.sealed, files)
    }

    /// Opens the graph for runs within a budget of `memory` bytes.
    pub fn open_for_runs(&self, memory: u64) -> Graph {
        self.open_within(memory, &self.sealed, self.files.clone()).expect("a graph")
    }

    fn open(&self, manifest: &[u8], files: HashMap<PathBuf, Vec<u8>>) -> Result<Graph> {
        self.open_within(MEMORY, manifest, files)
    }

    fn open_within(
        &self,
        memory: u64,
        manifest: &[u8],
        files: HashMap<PathBuf, Vec<u8>>,
    ) -> Result<Graph> {
        let mut written = self.written.lock().expect("no other input panicked");
        if *written != manifest {
            let place = self.path.join("manifest.json");
            fs::write(place, manifest).expect("a folder that is written to");
            *written = manifest.to_vec();
        }
        let reader = Reader::open(Backend::Memory(files), Pool::new(memory))?;
        Graph::open(&self.path, &reader, Caching::PageCache)
    }
}

/// The files that describe vertices.
pub const OF_VERTICES: &[&str] = &[
    "vertices.ids",
    "vertices.strings",
    "vertices.string-ends",
    "vertices.order",
    "degrees.out",
    "degrees.in",
];

/// The files of rows.
pub const OF_ROWS: &[&str] = &["rows.data", "rows.index", "rows.weights"];

/// The block file of tiles.
pub const OF_TILES: &[&str] = &["tiles.table"];

/// The graphs, made when they are first needed.
static GRAPHS: [OnceLock<Directory>; KINDS.len()] = [const { OnceLock::new() }; KINDS.len()];

/// The graph that a byte chooses by its lower three bits.
pub fn chosen(choice: u8) -> &'static Directory {
    let number = usize::from(choice) % GRAPHS.len();
    GRAPHS[number].get_or_init(|| Directory::new(number))
}

/// Reads a graph with another content of a file. The first byte chooses the graph and the file.
pub fn content(names: &[&str], data: &[u8]) {
    let Some((choice, payload)) = choice(data) else { return };
    let (directory, name) = (chosen(choice), names[usize::from(choice >> 3) % names.len()]);
    if directory.content(name).is_some()
        && let Some(graph) = answer(directory.open_with(name, payload))
    {
        read(&graph);
    }
}

/// Reads a graph with another manifest. The first byte chooses the graph.
pub fn manifest(data: &[u8]) {
    let Some((choice, text)) = choice(data) else { return };
    if let Some(graph) = answer(chosen(choice).open_with_manifest(text)) {
        read(&graph);
    }
}

/// The endings of inputs that are one file.
const ENDINGS: [&str; 11] =
    ["txt", "csv", "tsv", "mtx", "gr", "graph", "sg", "graphml", "gexf", "bin32", "bin64"];

/// Imports an input and reads the graph. The first byte chooses the format, the second the options.
pub fn import_any(data: &[u8]) {
    let Some((format, data)) = choice(data) else { return };
    let Some((options, bytes)) = choice(data) else { return };
    let ending = ENDINGS[usize::from(format) % ENDINGS.len()];
    let input = put(&format!("input.{ending}"), bytes);
    let is_set = |bit: u8| options >> bit & 1 == 1;
    let rows = RowEncoding::ALL[usize::from(options & 3)];
    let mut config = ImportConfig {
        undirected: is_set(2),
        drop_loops: is_set(3),
        allow_empty: true,
        rows: is_set(4).then_some(rows),
        memory: ImportConfig::MEMORY_MIN,
        threads: 1,
        force: true,
        ..ImportConfig::default()
    };
    config.tuning.grid = if is_set(5) { SMALL_GRID } else { Grid::default() };
    config.input.weighted = is_set(7);
    let output = folder().join("imported.tegula");
    let report = import(&[input], &output, &config, &Silent, &Cancel::default());
    if answer(report).is_none() {
        return;
    }
    let reader = Reader::open(Backend::Threads(NonZeroUsize::MIN), Pool::new(MEMORY));
    let reader = reader.expect("a reader");
    let graph = Graph::open(&output, &reader, Caching::PageCache).expect("a graph");
    graph.verify(&Silent, &Cancel::default()).expect("a sound graph");
    read(&graph);
}

/// The edges of a graph with alike rows, loops, repeated edges and a hub. Where the grid is small,
/// the graph has several cells.
fn edges(kind: &Kind) -> String {
    let mut text = String::new();
    let mut add = |source: u32, target: u32| {
        let weight = if kind.weighted { format!("\t{}", target % 5 + 1) } else { String::new() };
        let Kind { prefix, .. } = kind;
        let scale = if kind.grid == SMALL_GRID { 3 } else { 1 };
        let [source, target] = [source * scale, target * scale];
        text += &format!("{prefix}{source}\t{prefix}{target}{weight}\n");
    };
    let vertices = if kind.grid == SMALL_GRID { 70 } else { 30 };
    for source in 0..vertices {
        let first = source / 20 * 20;
        let alike = (0..5).map(|index| (first + 7 * index) % vertices);
        let own = [source, (source * source + 1) % vertices];
        alike.chain(own).for_each(|target| add(source, target));
    }
    (0..30).for_each(|target| add(3, target));
    text
}

/// Whether a file is read page by page.
fn is_paged(name: &str) -> bool {
    matches!(name, "rows.data" | "rows.weights")
}

/// Adds the checksum to the text of a JSON object.
fn seal(json: &str) -> Vec<u8> {
    seal_bytes(json.as_bytes())
}

/// Does what [`seal`] does for any bytes.
fn seal_bytes(text: &[u8]) -> Vec<u8> {
    let mut text = text.trim_ascii_end().strip_suffix(b"}").unwrap_or(text).to_vec();
    text.truncate(text.trim_ascii_end().len());
    let checksum = crc32c(&text);
    text.extend(format!(",\n  \"crc32c\": \"{checksum:08x}\"\n}}\n").into_bytes());
    text
}

/// Bytes of a file in memory.
struct Bytes(Vec<u8>);

impl Write for Bytes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl OutputFile for &mut Bytes {
    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A block file with this payload, and the checksum that stands for it.
pub fn block_file(payload: &[u8], block_log2: u32) -> (Vec<u8>, u32) {
    let mut bytes = Bytes(Vec::new());
    let mut writer = BlockFileWriter::new(&mut bytes, "in memory", block_log2);
    writer.write_all(payload).expect("memory takes it");
    let summary = writer.finish().expect("memory takes it");
    (bytes.0, summary.footer_crc)
}

/// Reads everything in a graph. What [`Graph::verify`] accepts, no other reader may refuse.
pub fn read(graph: &Graph) {
    let is_sound = answer(graph.verify(&Silent, &Cancel::default())).is_some();
    let rows = answer(read_rows(graph));
    let ids = answer(read_ids(graph));
    assert!(!is_sound || rows.is_some() && ids.is_some(), "a verified graph cannot be read");
}

/// Visits the rows one by one, in pieces, and all at once.
pub fn read_rows(graph: &Graph) -> Result<()> {
    let targets = Targets::default();
    let opened = RowReader::open(graph, Direction::Forward, true, CACHE, &targets)?;
    let Some(reader) = opened else { return Ok(()) };
    let vertices = graph.short_vertex_count()?;
    let mut batch = RowBatch::default();
    let mut worst = Ok(());
    let mut note = |result: Result<()>| {
        if result.is_err() {
            worst = result;
        }
    };
    let check = |target: ShortId| assert!(target.0 < vertices, "{target:?} of {vertices}");
    for vertex in (0..vertices.min(1 << 10)).map(ShortId) {
        assert_eq!(reader.get(&[vertex], &mut batch)?, 1);
        let row = reader.row(&batch, 0);
        note(row.for_each_weighted(|target, _| check(target)).map(drop));
    }
    for &source in reader.rows().long() {
        for piece in reader.rows().pieces(source) {
            let (targets, row) = (piece.targets(), reader.piece(&piece, &mut batch)?);
            assert!(targets.end.0 <= vertices, "{targets:?}");
            note(row.for_each(check));
        }
    }
    reader.prefetch_range(ShortId(0)..ShortId(vertices));
    note(Workers::scope(1, |workers| reader.unpack(workers, &Cancel::default())));
    worst
}

/// Reads the original ids and the degrees, from first to last and by look-up.
pub fn read_ids(graph: &Graph) -> Result<()> {
    let ids = graph.original_ids()?;
    let vertices = graph.vertex_count();
    let mut count = 0;
    let (mut first, mut last) = (None, None);
    ids.for_each_chunk(|chunk, dense| {
        assert_eq!(chunk.len(), dense.len());
        assert!(dense.iter().all(|dense| dense.0 < vertices));
        if first.is_none() {
            first = Some(chunk.get(0));
        }
        last = Some(chunk.get(chunk.len() - 1));
        count += chunk.len() as u64;
        Ok::<(), Error>(())
    })?;
    assert_eq!(count, vertices);
    for id in first.iter().chain(&last) {
        ids.find(id)?;
    }
    ids.find_all(&["", "7", "v7", "né 7"])?;
    ids.for_each_run(|run| {
        assert!(run.start <= run.end && run.end <= vertices);
        Ok::<(), Error>(())
    })?;
    ids.id_positions(&Cancel::default())?;
    graph.degree_max(Direction::Reverse)?;
    graph.out_degrees().map(drop)
}
