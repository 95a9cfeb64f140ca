//! The manifest: what the graph is and which files it consists of, with the length and checksum of
//! each. It is JSON, so that a person can read it, followed by one line with its own CRC-32C.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::file_names;
use crate::error::{Error, Result};
use crate::read::crc32c;
use crate::rows::RowEncoding;
use crate::temporary::Temporary;

/// The version of the format that this crate writes, and the newest that it reads.
pub const FORMAT_VERSION: u32 = 2;

/// A manifest is read whole before its checksum is known, so its size is bounded.
const MANIFEST_SIZE_MAX: u64 = 16 << 20;

/// What kind of ids the input had.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum IdType {
    /// Integers that happen to be `0..vertices`: nothing is stored.
    Range,
    /// Unsigned 64-bit integers.
    Integer,
    /// Strings.
    String,
}

/// Which vertex order was taken, and why.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OrderChoice {
    /// `given`, `degree` or `dfs`.
    pub name: String,
    /// In words.
    pub reason: String,
    /// Estimated bytes per edge of each order that was weighed.
    pub estimates: Vec<(String, f64)>,
}

/// The layout `rows`, where a graph has it.
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
    /// CRC-32C that stands for its content: of the footer of a block file; absent for the tiles and
    /// their weights, whose checksums are in the tile table.
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
    /// Number of stored arcs: an edge of an undirected input is two, its loop one.
    pub edges: u64,
    /// Whether every edge of the input was stored in both directions.
    pub undirected: bool,
    /// Whether edges carry an `f32`.
    pub weighted: bool,
    /// Arcs whose source is their target.
    pub loops: u64,
    /// Arcs that repeat another one's source and target.
    pub duplicates: u64,
    /// What the original ids are.
    pub ids: IdType,
    /// The vertex order.
    pub order: OrderChoice,
    /// Number of batches in the tile table.
    pub batches: u64,
    /// Number of tiles in the tile table.
    pub tiles: u64,
    /// The rows, if there are any; since version 2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<RowLayout>,
    /// Every file but the manifest.
    pub files: Vec<FileEntry>,
}

/// The part of a manifest that every version has, read before the rest.
#[derive(Deserialize)]
struct Version {
    format_version: u32,
}

impl Manifest {
    /// The entry of a file, if the graph has it.
    pub fn file(&self, name: &str) -> Option<&FileEntry> {
        self.files.iter().find(|file| file.name == name)
    }

    /// The text that [`Manifest::read`] reads.
    fn to_text(&self) -> Result<String, serde_json::Error> {
        let json = serde_json::to_string_pretty(self)?;
        let checksum = crc32c(json.as_bytes());
        Ok(format!("{json}\ncrc32c {checksum:08x}\n"))
    }

    /// Writes the manifest into a graph directory in one step; syncing the directory is left to the
    /// caller.
    pub(crate) fn replace(&self, directory: &Path) -> Result<()> {
        let path = directory.join(file_names::MANIFEST);
        let failed = |error| Error::io("write", &path)(error);
        let text = self.to_text().map_err(|error| failed(io::Error::other(error)))?;
        let unfinished = Temporary::file(&path)?;
        let mut file = File::create(unfinished.path()).map_err(failed)?;
        file.write_all(text.as_bytes()).map_err(failed)?;
        file.sync_all().map_err(failed)?;
        unfinished.at_once(|| fs::rename(unfinished.path(), &path)).map_err(failed)
    }

    /// Reads and checks the manifest of a graph directory.
    ///
    /// # Errors
    /// [`Error::NotAGraph`] where there is none, [`Error::UnsupportedVersion`] where it is newer,
    /// [`Error::Corrupt`] where it is damaged.
    pub fn read(directory: &Path) -> Result<Manifest> {
        let path = directory.join(file_names::MANIFEST);
        let not_a_graph = |detail: &str| Error::NotAGraph {
            path: directory.to_owned(),
            detail: detail.to_owned(),
        };
        match fs::metadata(&path) {
            Ok(metadata) if metadata.len() <= MANIFEST_SIZE_MAX => {}
            Ok(_) => return Err(not_a_graph("its manifest.json is far too large")),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(not_a_graph(if directory.exists() {
                    "it has no manifest.json; make a graph with `tegula import`"
                } else {
                    "it does not exist; make a graph with `tegula import`"
                }));
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => {
                return Err(not_a_graph("it is a file, not a folder"));
            }
            Err(error) => return Err(Error::io("read", &path)(error)),
        }
        let bytes = fs::read(&path).map_err(Error::io("read", &path))?;
        parse(&bytes).map_err(|fault| match fault {
            Fault::Damaged(detail) => Error::Corrupt { path, part: "its text".into(), detail },
            Fault::Newer(found) => Error::UnsupportedVersion {
                path: directory.to_owned(),
                found,
                supported: FORMAT_VERSION,
            },
        })
    }
}

enum Fault {
    Damaged(String),
    Newer(u32),
}

fn parse(bytes: &[u8]) -> Result<Manifest, Fault> {
    let damaged = |detail: &str| Fault::Damaged(detail.to_owned());
    let text = std::str::from_utf8(bytes).map_err(|_| damaged("it is not UTF-8"))?;
    let line = text.strip_suffix('\n').ok_or_else(|| damaged("its last line is cut off"))?;
    let (json, line) = line.rsplit_once('\n').ok_or_else(|| damaged("it has no checksum"))?;
    if line != format!("crc32c {:08x}", crc32c(json.as_bytes())) {
        return Err(damaged("its checksum differs"));
    }
    let version: Version =
        serde_json::from_str(json).map_err(|error| Fault::Damaged(error.to_string()))?;
    if version.format_version > FORMAT_VERSION {
        return Err(Fault::Newer(version.format_version));
    }
    serde_json::from_str(json).map_err(|error| Fault::Damaged(error.to_string()))
}
