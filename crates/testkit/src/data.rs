//! Finds and reads real graphs.
//!
//! Graphs whose licence allows it lie in `data/` of the repository, so their tests run on every
//! clone. Others lie in the folder in `TEGULA_DATA`. A test without its data is skipped and says
//! so: `let Some(path) = data::find("wiki-Vote.txt.zst") else { return };`

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::EdgeList;

/// Returns the folders with data, in search order: `data/` of the repository, then `TEGULA_DATA`,
/// by default `../shared/data` relative to the repository.
fn folders() -> [PathBuf; 2] {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let beside = root.join("../shared/data");
    let named = std::env::var_os("TEGULA_DATA").map_or(beside, PathBuf::from);
    [root.join("data"), named]
}

/// Returns the path of a file or folder of the data. If it is missing, says that a test is skipped
/// and returns `None`.
pub fn find(name: &str) -> Option<PathBuf> {
    let path = path_of(name);
    if path.is_none() {
        skip(&format!("{name} is missing; set TEGULA_DATA to the folder with the data"));
    }
    path
}

/// Returns the path of a file or folder of the data, if it exists.
pub(crate) fn path_of(name: &str) -> Option<PathBuf> {
    folders().into_iter().map(|folder| folder.join(name)).find(|path| path.exists())
}

/// Says on standard error that a test is skipped, and why.
#[expect(
    clippy::print_stderr,
    reason = "a test that silently does nothing would look like one that passed"
)]
pub fn skip(reason: &str) {
    eprintln!("SKIPPED: {reason}");
}

/// Reads the whole text of a file, and decompresses it if its name ends in `.zst`.
pub fn read_text(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let mut text = String::new();
    if path.extension().is_some_and(|ending| ending == "zst") {
        zstd::Decoder::new(file)?.read_to_string(&mut text)?;
    } else {
        file.read_to_string(&mut text)?;
    }
    Ok(text)
}

/// Reads lines of `source target` or `source target weight`; `#` begins a comment. Either all lines
/// have a weight, or none has.
pub fn read_edge_list(path: &Path) -> io::Result<EdgeList> {
    let mut graph = EdgeList::default();
    let mut weights = Vec::new();
    for_each_row(&read_text(path)?, |fields| {
        graph.edges.push((field(fields.next())?, field(fields.next())?));
        if let Some(weight) = fields.next() {
            weights.push(field(Some(weight))?);
        }
        Ok(())
    })?;
    match weights.len() {
        0 => {}
        count if count == graph.edges.len() => graph.weights = Some(weights),
        count => {
            return Err(invalid(format!("{count} of {} lines have a weight", graph.edges.len())));
        }
    }
    Ok(graph)
}

/// Calls `visit` with the fields of every line that is neither empty nor a comment.
pub(crate) fn for_each_row(
    text: &str,
    mut visit: impl FnMut(&mut dyn Iterator<Item = &str>) -> io::Result<()>,
) -> io::Result<()> {
    for (number, line) in text.lines().enumerate() {
        if !line.trim_start().is_empty() && !line.trim_start().starts_with('#') {
            visit(&mut line.split_ascii_whitespace())
                .map_err(|error| invalid(format!("line {}: {error}: {line:?}", number + 1)))?;
        }
    }
    Ok(())
}

/// Parses a field, which must exist.
pub(crate) fn field<T: FromStr>(text: Option<&str>) -> io::Result<T> {
    let text = text.ok_or_else(|| invalid("a field is missing".into()))?;
    text.parse().map_err(|_| invalid(format!("{text:?} is not a {}", std::any::type_name::<T>())))
}

fn invalid(message: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message)
}
