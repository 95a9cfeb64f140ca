//! The manifest says what the graph is and names its files, each with length and checksum. It is
//! JSON, so that a person can read it. Its last field is the CRC-32C of all bytes before that
//! field.

use std::io::{self, Read, Write};
use std::path::Path;

use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};
use tegula_machine::Error as MachineError;
use tegula_machine::disk::{Directory, Unfinished, crc32c, durable};

use super::directory::open_directory;
use super::file_names;
use super::partition::Partition;
use crate::rows::{Direction, RowEncoding, RowFiles};
use crate::tiles::Grid;
use crate::{Error, Result};

/// The format version of a graph whose rows are all in one piece.
pub const FORMAT_VERSION: u32 = 8;

/// The format version if rows are in several pieces.
const FORMAT_VERSION_OF_PIECES: u32 = 9;

/// The format version of a shard, unless the whole graph has a later one.
pub(super) const FORMAT_VERSION_OF_PARTITIONS: u32 = 10;

/// The format version if all weights are equal.
const FORMAT_VERSION_OF_EQUAL_WEIGHTS: u32 = 11;

/// The latest format version. Readers accept all from [`FORMAT_VERSION`] on.
const FORMAT_VERSION_MAX: u32 = FORMAT_VERSION_OF_EQUAL_WEIGHTS;

/// Hexadecimal digits of the manifest's checksum.
const CHECKSUM_DIGITS: usize = 8;

/// Limits memory: a manifest is read whole before its checksum is known.
const MANIFEST_SIZE_MAX: u64 = 16 << 20;

/// The type of the original ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum IdType {
    /// Integers that happen to be `0..vertices`; no file stores them.
    Range,
    /// Unsigned 64-bit integers.
    Integer,
    /// Strings.
    String,
}

/// The vertex order, and why it was chosen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OrderChoice {
    /// `given`, `degree` or `dfs`.
    pub name: String,
    /// The reason in words.
    pub reason: String,
    /// Estimated bytes per edge in each order that was tried.
    pub estimates: Vec<(String, f64)>,
}

/// The layout `rows` or `reverse`, where a graph has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RowLayout {
    /// How neighbours are coded.
    pub encoding: RowEncoding,
    /// Number of chunks in the index.
    pub chunks: u64,
}

/// A file of the graph directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileEntry {
    /// Its name.
    pub name: String,
    /// Its length in bytes.
    pub bytes: u64,
    /// CRC-32C of a block file's footer, which covers the whole content. Absent for tiles and their
    /// weights, whose checksums are in the tile table.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checksum: Option<u32>,
}

/// What a graph directory holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Version of the format.
    pub format_version: u32,
    /// Number of vertices.
    pub vertices: u64,
    /// Number of stored arcs: two for an edge of an undirected input, one for its loop.
    pub edges: u64,
    /// Whether every edge of the input is stored in both directions.
    pub undirected: bool,
    /// Whether edges have an `f32` weight.
    pub weighted: bool,
    /// The weight of every edge, if all have the same one. Always absent in a shard.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub equal_weight: Option<f32>,
    /// Arcs whose source is their target.
    pub loops: u64,
    /// Arcs that repeat the source and target of another arc.
    pub duplicates: u64,
    /// The type of the original ids.
    pub ids: IdType,
    /// The vertex order.
    pub order: OrderChoice,
    /// The grid by which tiles are filed.
    pub grid: Grid,
    /// Number of batches in the tile table.
    pub batches: u64,
    /// Number of cells in the tile table. Every cell there has a tile.
    pub cells: u64,
    /// Number of tiles in the tile table.
    pub tiles: u64,
    /// The rows by source, if there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<RowLayout>,
    /// The rows by target, if there are any. Always absent in an undirected graph.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reverse: Option<RowLayout>,
    /// The graph of which this one is a shard, if it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partition: Option<Partition>,
    /// Every file except the manifest.
    pub files: Vec<FileEntry>,
}

/// The number of edges that `arcs` stored arcs represent: in an undirected graph an edge is two
/// arcs, a loop one.
pub fn edge_count(arcs: u64, loops: u64, undirected: bool) -> u64 {
    if undirected { (arcs + loops) / 2 } else { arcs }
}

impl Manifest {
    /// The entry of a file, if the graph has it.
    pub fn file(&self, name: &str) -> Option<&FileEntry> {
        self.files.iter().find(|file| file.name == name)
    }

    /// The files that a graph with this manifest must have. Those in
    /// [`OPTIONAL`](file_names::OPTIONAL) may exist besides.
    pub(super) fn file_names(&self) -> Vec<&'static str> {
        use file_names::{
            IDS, IN_DEGREES, OUT_DEGREES, SOURCES, STRING_ENDS, STRINGS, TILE_TABLE, TILES, WEIGHTS,
        };
        let mut names = vec![TILES, TILE_TABLE, OUT_DEGREES];
        names.extend((!self.undirected).then_some(IN_DEGREES));
        names.extend(self.weighted.then_some(WEIGHTS));
        names.extend(self.lists_sources().then_some(SOURCES));
        names.extend(self.partition.iter().flat_map(Partition::file_names));
        match self.ids {
            IdType::Range => {}
            IdType::Integer => names.push(IDS),
            IdType::String => names.extend([STRINGS, STRING_ENDS]),
        }
        for (direction, _) in self.row_layouts() {
            let RowFiles { data, index, weights } = direction.files();
            names.extend([data, index]);
            names.extend(self.weighted.then_some(weights));
        }
        names
    }

    /// Whether it names the files of such a graph, and no others. A name with a path could lead out
    /// of the directory.
    pub(super) fn has_known_files(&self) -> bool {
        let known = self.file_names();
        let is_known = |name| known.contains(&name) || file_names::OPTIONAL.contains(&name);
        let versions = [FORMAT_VERSION, FORMAT_VERSION_OF_PIECES, FORMAT_VERSION_OF_EQUAL_WEIGHTS];
        versions.contains(&self.format_version)
            && known.iter().all(|name| self.file(name).is_some())
            && self.files.iter().all(|file| is_known(file.name.as_str()))
    }

    /// Whether the graph [lists the sources](Grid::lists_sources) of each cell.
    pub fn lists_sources(&self) -> bool {
        self.grid.lists_sources(self.vertices)
    }

    /// The row layouts that the graph has.
    pub fn row_layouts(&self) -> impl Iterator<Item = (Direction, &RowLayout)> {
        let layouts = [(Direction::Forward, &self.rows), (Direction::Reverse, &self.reverse)];
        layouts.into_iter().filter_map(|(direction, layout)| Some((direction, layout.as_ref()?)))
    }

    /// The rows of a direction, if the graph has them.
    pub fn rows_of(&self, direction: Direction) -> Option<&RowLayout> {
        match self.stored(direction) {
            Direction::Forward => self.rows.as_ref(),
            Direction::Reverse => self.reverse.as_ref(),
        }
    }

    /// The direction whose files hold these rows. In an undirected graph both directions are the
    /// same.
    pub fn stored(&self, direction: Direction) -> Direction {
        if self.undirected { Direction::Forward } else { direction }
    }

    /// Whether rows may be in several pieces.
    pub(crate) fn may_cut_rows(&self) -> bool {
        self.format_version >= FORMAT_VERSION_OF_PIECES
    }

    /// The manifest of the same graph without rows.
    pub(crate) fn without_rows(&self) -> Manifest {
        let mut without = self.clone();
        for (direction, _) in self.row_layouts() {
            let files = direction.files();
            let names = [files.data, files.index, files.weights];
            without.files.retain(|file| !names.contains(&&*file.name));
        }
        (without.rows, without.reverse) = (None, None);
        // Rows in pieces are gone, and with them the need for a later version.
        without.format_version = FORMAT_VERSION;
        without.with_equal_weight(self.equal_weight)
    }

    /// Sets the weight of every edge; `None` if weights differ.
    pub fn with_equal_weight(mut self, weight: Option<f32>) -> Manifest {
        if weight.is_some() {
            self.format_version = self.format_version.max(FORMAT_VERSION_OF_EQUAL_WEIGHTS);
        }
        self.equal_weight = weight;
        self
    }

    /// Whether there may be such an `equal_weight`.
    pub(super) fn has_sound_weight(&self) -> bool {
        let is_possible = self.weighted
            && self.partition.is_none()
            && self.format_version >= FORMAT_VERSION_OF_EQUAL_WEIGHTS;
        self.equal_weight.is_none_or(|weight| is_possible && weight.is_finite())
    }

    /// Adds a row layout and its files. `has_pieces` says whether some row is in several pieces.
    pub(crate) fn with_rows(
        mut self,
        direction: Direction,
        layout: RowLayout,
        has_pieces: bool,
        files: Vec<FileEntry>,
    ) -> Manifest {
        if has_pieces {
            self.format_version = self.format_version.max(FORMAT_VERSION_OF_PIECES);
        }
        match self.stored(direction) {
            Direction::Forward => self.rows = Some(layout),
            Direction::Reverse => self.reverse = Some(layout),
        }
        self.files.extend(files);
        self
    }

    /// The file's text, which [`Manifest::read`] parses.
    fn to_text(&self) -> Result<String, serde_json::Error> {
        let json = serde_json::to_string_pretty(self)?;
        Ok(seal(json.strip_suffix("\n}").unwrap_or(&json)))
    }

    /// Writes the manifest into a graph directory in one step. The caller syncs the directory.
    pub(crate) fn replace(&self, directory: &Directory) -> Result<()> {
        let path = directory.join(file_names::MANIFEST);
        let failed = |error| Error::io("write", &path)(error);
        let text = self.to_text().map_err(|error| failed(io::Error::other(error)))?;
        let unfinished = Unfinished::file_in(directory, file_names::MANIFEST.as_ref())?;
        let mut file = unfinished.open_file().map_err(failed)?;
        file.write_all(text.as_bytes()).map_err(failed)?;
        // The content is on disk before the name leads to it, so a crash leaves the old manifest or
        // this one.
        durable::sync(file).map_err(failed)?;
        unfinished.take_place(true).map_err(failed)
    }

    /// Reads and checks the manifest of a graph directory.
    ///
    /// # Errors
    /// [`Error::NotAGraph`] where there is none,
    /// [`Error::UnsupportedVersion`](tegula_machine::Error::UnsupportedVersion) where it is older
    /// or newer, [`Error::Corrupt`](tegula_machine::Error::Corrupt) where it is damaged.
    pub fn read(directory: &Path) -> Result<Manifest> {
        Manifest::read_in(&open_directory(directory)?)
    }

    /// Does what [`Manifest::read`] does, in an open directory. Returns [`Error::Replaced`] if the
    /// directory has no manifest any more and its path leads elsewhere.
    pub(crate) fn read_in(directory: &Directory) -> Result<Manifest> {
        let path = directory.join(file_names::MANIFEST);
        let bytes = read_bytes(directory).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound if !directory.is_in_place() => {
                Error::replaced(directory.path())
            }
            io::ErrorKind::NotFound => {
                let detail = "it has no manifest.json";
                Error::NotAGraph { path: directory.path().to_owned(), detail: detail.to_owned() }
            }
            _ => Error::io("read", &path)(error),
        })?;
        let Some(bytes) = bytes else {
            let detail = "its manifest.json is far too large".to_owned();
            return Err(Error::NotAGraph { path: directory.path().to_owned(), detail });
        };
        parse(&bytes).map_err(|fault| match fault {
            Fault::Damaged(detail) => Error::corrupt(path, "its text", detail),
            Fault::OtherVersion(found) => MachineError::UnsupportedVersion {
                path: directory.path().to_owned(),
                found,
                supported: FORMAT_VERSION_MAX,
            }
            .into(),
        })
    }

    /// The files that a directory's manifest of any version names; `None` without a manifest whose
    /// checksum is right.
    pub(super) fn files_listed(directory: &Directory) -> Option<Vec<String>> {
        let bytes = read_bytes(directory).ok().flatten()?;
        let json = open_seal(std::str::from_utf8(&bytes).ok()?)?;
        let listing: Option<Listing> = serde_json::from_str(&json).ok();
        Some(
            listing
                .map_or_else(Vec::new, |it| it.files.into_iter().map(|file| file.name).collect()),
        )
    }
}

/// Reads the manifest; `None` if it is too large.
fn read_bytes(directory: &Directory) -> io::Result<Option<Vec<u8>>> {
    // Opening a FIFO of this name must not block.
    let file = directory.open_file(file_names::MANIFEST, OFlags::NONBLOCK)?;
    let mut bytes = Vec::new();
    // One byte more tells that a file is too large.
    file.take(MANIFEST_SIZE_MAX + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= MANIFEST_SIZE_MAX).then_some(bytes))
}

/// The part of a manifest that every version has, read before the rest.
#[derive(Deserialize)]
struct Version {
    format_version: u32,
}

/// The list of files in a manifest of any version.
#[derive(Deserialize)]
struct Listing {
    files: Vec<Listed>,
}

#[derive(Deserialize)]
struct Listed {
    name: String,
}

/// The text around the eight digits of the checksum, which covers all bytes before it. The digits
/// can be written in one way only, so any changed bit is noticed.
const SEAL: (&str, &str) = (",\n  \"crc32c\": \"", "\"\n}\n");

/// Appends the checksum to a text.
fn seal(text: &str) -> String {
    let (before, behind) = SEAL;
    format!("{text}{before}{:08x}{behind}", crc32c(text.as_bytes()))
}

/// Checks the checksum and returns the manifest's JSON object without it.
fn open_seal(text: &str) -> Option<String> {
    let (before, behind) = SEAL;
    let rest = text.strip_suffix(behind)?;
    let sealed = rest.get(..rest.len().checked_sub(CHECKSUM_DIGITS)?)?.strip_suffix(before)?;
    (seal(sealed) == text).then(|| format!("{sealed}\n}}"))
}

enum Fault {
    Damaged(String),
    OtherVersion(u32),
}

fn parse(bytes: &[u8]) -> Result<Manifest, Fault> {
    let damaged = |detail: &str| Fault::Damaged(detail.to_owned());
    let text = std::str::from_utf8(bytes).map_err(|_| damaged("it is not UTF-8"))?;
    let json = open_seal(text).ok_or_else(|| damaged("its checksum differs"))?;
    let version: Version =
        serde_json::from_str(&json).map_err(|error| Fault::Damaged(error.to_string()))?;
    // Looked at before the other fields, which another version may not have.
    if !(FORMAT_VERSION..=FORMAT_VERSION_MAX).contains(&version.format_version) {
        return Err(Fault::OtherVersion(version.format_version));
    }
    let manifest: Manifest =
        serde_json::from_str(&json).map_err(|error| Fault::Damaged(error.to_string()))?;
    if !manifest.has_sound_weight() {
        return Err(damaged("`equal_weight` is invalid"));
    }
    if manifest.undirected && manifest.reverse.is_some() {
        return Err(damaged("an undirected graph has its rows twice"));
    }
    if !manifest.grid.is_sound() || !manifest.grid.can_cut(manifest.vertices) {
        return Err(damaged("the sizes of its segments or columns are invalid"));
    }
    if manifest.partition.as_ref().is_some_and(|partition| !partition.is_sound(&manifest)) {
        return Err(damaged("its partition is invalid"));
    }
    Ok(manifest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest() -> Manifest {
        Manifest {
            format_version: FORMAT_VERSION,
            vertices: 3,
            edges: 4,
            undirected: false,
            weighted: false,
            equal_weight: None,
            loops: 1,
            duplicates: 0,
            ids: IdType::Range,
            order: OrderChoice {
                name: "given".into(),
                reason: "it was asked for: \"}\n".into(),
                estimates: vec![("given".into(), 1.25)],
            },
            grid: Grid::default(),
            batches: 1,
            cells: 1,
            tiles: 1,
            rows: None,
            reverse: None,
            partition: None,
            files: vec![FileEntry { name: file_names::TILES.into(), bytes: 9, checksum: Some(7) }],
        }
    }

    #[test]
    fn a_manifest_is_json_with_its_checksum_as_the_last_field() {
        let text = manifest().to_text().unwrap();
        assert!(parse(text.as_bytes()).is_ok_and(|found| found == manifest()));
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        let (covered, _) = text.split_once(",\n  \"crc32c\"").unwrap();
        assert_eq!(value["crc32c"], format!("{:08x}", crc32c(covered.as_bytes())));
        assert_eq!(value["vertices"], 3);
        let empty = Manifest { files: Vec::new(), ..manifest() };
        assert!(parse(empty.to_text().unwrap().as_bytes()).is_ok_and(|found| found == empty));
    }

    #[test]
    fn every_flipped_bit_and_every_cut_of_a_manifest_is_noticed() {
        let bytes = manifest().to_text().unwrap().into_bytes();
        for bit in 0..8 * bytes.len() {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(matches!(parse(&damaged), Err(Fault::Damaged(_))), "bit {bit}");
        }
        for length in 0..bytes.len() {
            assert!(matches!(parse(&bytes[..length]), Err(Fault::Damaged(_))), "{length} bytes");
        }
        assert!(parse(&[&bytes[..], b"\n"].concat()).is_err());
    }

    #[test]
    fn an_undirected_graph_has_its_rows_once() {
        let rows = Some(RowLayout { encoding: RowEncoding::Gap, chunks: 1 });
        let twice = Manifest { rows: rows.clone(), reverse: rows.clone(), ..manifest() };
        assert!(parse(twice.to_text().unwrap().as_bytes()).is_ok());
        let undirected = Manifest { undirected: true, ..twice };
        assert!(parse(undirected.to_text().unwrap().as_bytes()).is_err());
        let once = Manifest { reverse: None, ..undirected };
        assert!(parse(once.to_text().unwrap().as_bytes()).is_ok_and(|found| found == once));
        assert_eq!(once.rows_of(Direction::Reverse), rows.as_ref());
    }

    #[test]
    fn other_versions_are_told_apart_from_damage() {
        for version in [3, FORMAT_VERSION - 1, FORMAT_VERSION_MAX + 1] {
            let other = Manifest { format_version: version, ..manifest() };
            let found = parse(other.to_text().unwrap().as_bytes());
            assert!(matches!(found, Err(Fault::OtherVersion(found)) if found == version));
        }
    }

    #[test]
    fn a_grid_of_invalid_sizes_is_refused() {
        for (log2, is_sound) in [(5, false), (6, true), (24, true), (25, false), (64, false)] {
            for grid in [
                Grid { segment_log2: log2, ..Grid::default() },
                Grid { column_log2: log2, ..Grid::default() },
            ] {
                let text = Manifest { grid, ..manifest() }.to_text().unwrap();
                assert_eq!(parse(text.as_bytes()).is_ok(), is_sound, "{grid:?}");
            }
        }
    }
}
