//! Files with a line for each vertex that an option is about: its id, and something else.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use tegula_engine::PROCESS_OVERHEAD;
use tegula_store::graph::Graph;
use tegula_store::{At, Error, Place, Result, VertexId};

/// Bytes that a line takes beside its text while it is read: its id, where that is and what follows,
/// what it takes to find it, and what is made of it.
const LINE_SIZE: u64 = 80;

/// Bytes of memory that [`read`] takes for so many bytes of text with so many ends of lines.
fn size_of(text: u64, line_ends: u64) -> u64 {
    text + LINE_SIZE * (line_ends + 1)
}

fn line_ends(text: &[u8]) -> u64 {
    text.iter().filter(|&&byte| byte == b'\n').count() as u64
}

/// Whether a path names a file, and no pipe, which can be read only once.
///
/// # Errors
/// Those of looking at it; that it is not there.
pub fn is_file(path: &Path) -> Result<bool> {
    Ok(fs::metadata(path).map_err(Error::io("read", path))?.is_file())
}

/// Bytes of memory that [`read`] takes for a file; 0 for a pipe.
///
/// # Errors
/// Those of reading.
pub fn size(path: &Path) -> Result<u64> {
    if !is_file(path)? {
        return Ok(0);
    }
    let mut file = BufReader::new(File::open(path).map_err(Error::io("read", path))?);
    let (mut text, mut ends) = (0, 0);
    loop {
        let part = file.fill_buf().map_err(Error::io("read", path))?;
        if part.is_empty() {
            return Ok(size_of(text, ends));
        }
        ends += line_ends(part);
        let length = part.len();
        text += length as u64;
        file.consume(length);
    }
}

/// A vertex that is named in a line, and what the line says of it.
#[derive(Debug, Clone, Copy)]
pub struct IdLine<T> {
    /// The number of the line, from 1.
    pub line: u64,
    /// The vertex.
    pub vertex: VertexId,
    /// The rest of the line.
    pub value: T,
}

/// Reads lines: an id and, after a blank, a tab or a comma, what `parse` understands, if there
/// is anything. Empty lines and those that begin with `#` or `%` are passed over. `what` are
/// the lines, in an error.
///
/// # Errors
/// Those of reading; [`Error::BadInput`] for what is no vertex or is not understood;
/// [`Error::OverBudget`] where `memory` does not hold them.
pub fn read<T: Copy>(
    path: &Path,
    graph: &Graph,
    memory: u64,
    what: &str,
    parse: impl Fn(Option<&str>) -> Result<T, String>,
) -> Result<Vec<IdLine<T>>> {
    let mut text = Vec::new();
    let file = File::open(path).map_err(Error::io("read", path))?;
    file.take(memory).read_to_end(&mut text).map_err(Error::io("read", path))?;
    let ends = line_ends(&text);
    let needed = size_of(text.len() as u64, ends) + PROCESS_OVERHEAD;
    if needed > memory {
        return Err(Error::OverBudget { what: what.to_owned(), needed, budget: memory });
    }
    let count = ends as usize + 1;
    let (mut ids, mut rest) = (Vec::with_capacity(count), Vec::with_capacity(count));
    for (number, line) in (1..).zip(text.split(|&byte| byte == b'\n')) {
        let at = At::Line(number);
        let Ok(line) = str::from_utf8(line) else {
            return Err(bad(path, at, "it is not UTF-8".to_owned()));
        };
        let line = line.trim();
        if line.is_empty() || line.starts_with(['#', '%']) {
            continue;
        }
        let (id, value) = match line.split_once([' ', '\t', ',']) {
            Some((id, value)) => (id, Some(value.trim())),
            None => (line, None),
        };
        ids.push(id);
        rest.push((number, parse(value).map_err(|detail| bad(path, at, detail))?));
    }
    let mut lines = Vec::with_capacity(ids.len());
    let found = graph.original_ids()?.find_all(&ids)?;
    for ((vertex, &(line, value)), id) in found.into_iter().zip(&rest).zip(&ids) {
        let Some(vertex) = vertex else {
            let detail = format!("{} has no vertex `{id}`", graph.directory().display());
            return Err(bad(path, At::Line(line), detail));
        };
        lines.push(IdLine { line, vertex, value });
    }
    Ok(lines)
}

/// The error for a file that does not say what it should.
pub fn bad(path: &Path, at: At, detail: String) -> Error {
    Error::BadInput { place: Place { file: path.to_owned(), at }, detail }
}
