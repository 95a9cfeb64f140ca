//! Files that say where vertices lie.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::ops::Range;
use std::path::Path;

use tegula_store::graph::{Graph, OriginalIds};
use tegula_store::{At, Cancel, Error, OriginalId, Result};

use super::id_lines::bad;

/// Bytes of a line, at the most.
const LINE_MAX: u64 = 1 << 16;
/// Bytes that a line takes until its vertex is found, its id apart.
const LINE_SIZE: u64 = 96;
/// Bytes of an id for which a block has room.
const ID_SIZE: u64 = 16;

/// Lines whose vertices are looked up together: each time all ids of the graph are read.
fn lines_per_block(vertex_count: u32) -> u64 {
    u64::from(vertex_count / 8).max(1 << 12)
}

/// Bytes of memory that [`read`] takes, its result included.
pub fn size(vertex_count: u32) -> u64 {
    let block = lines_per_block(vertex_count) * (LINE_SIZE + ID_SIZE) + 3 * LINE_MAX;
    u64::from(vertex_count) * size_of::<[f64; 2]>() as u64 + block
}

/// Reads where each vertex lies, by dense id: lines of `id x y`, with blanks, tabs or commas between, or of
/// a DIMACS coordinates file (`v id x y`, and those that begin with `c` or `p`). Empty lines and those that
/// begin with `#` or `%` are passed over, and so are vertices that the graph does not have.
///
/// # Errors
/// Those of reading; [`Error::BadInput`] for a line that is not understood, that says something else than
/// one before, or when a vertex is left out; cancellation.
pub fn read(path: &Path, graph: &Graph, cancel: &Cancel) -> Result<Vec<[f64; 2]>> {
    let ids = graph.original_ids()?;
    let mut file = BufReader::new(File::open(path).map_err(Error::io("read", path))?);
    let mut places = vec![[f64::NAN; 2]; graph.vertex_count() as usize];
    let lines_max = lines_per_block(graph.vertex_count()) as usize;
    let (mut number, mut line) = (0, Vec::new());
    let mut block = Block::default();
    loop {
        line.clear();
        let read = file.by_ref().take(LINE_MAX).read_until(b'\n', &mut line);
        let is_end = read.map_err(Error::io("read", path))? == 0;
        number += 1;
        if !is_end {
            block.add(number, &line, &ids).map_err(|detail| bad(path, At::Line(number), detail))?;
        }
        let is_full =
            block.lines.len() == lines_max || block.ids.len() as u64 >= ID_SIZE * lines_max as u64;
        if is_end || is_full {
            cancel.check()?;
            block.place(&ids, &mut places, path)?;
        }
        if is_end {
            break;
        }
    }
    check_all(path, &ids, &places)?;
    Ok(places)
}

/// Lines whose vertices are to be looked up.
#[derive(Default)]
struct Block {
    /// The ids in them, one behind the other.
    ids: String,
    /// The number of each line, where its id is, and the place.
    lines: Vec<(u64, Range<usize>, [f64; 2])>,
}

impl Block {
    /// Adds a line, if it says anything.
    fn add(&mut self, number: u64, line: &[u8], ids: &OriginalIds) -> Result<(), String> {
        if line.len() as u64 == LINE_MAX {
            return Err(format!("it has more than {LINE_MAX} bytes"));
        }
        let line = str::from_utf8(line).map_err(|_| "it is not UTF-8".to_owned())?;
        let Some((id, place)) = parse(line)? else { return Ok(()) };
        if !ids.are_strings() && id.parse::<u64>().is_err() {
            return Err(format!("`{id}` is no vertex of a graph whose ids are integers"));
        }
        let start = self.ids.len();
        self.ids.push_str(id);
        self.lines.push((number, start..self.ids.len(), place));
        Ok(())
    }

    /// Looks the vertices up, notes where they lie, and is empty then.
    fn place(&mut self, ids: &OriginalIds, places: &mut [[f64; 2]], path: &Path) -> Result<()> {
        let names: Vec<&str> = self.lines.iter().map(|line| &self.ids[line.1.clone()]).collect();
        let found = ids.find_all(&names)?;
        for ((vertex, name), (number, _, place)) in found.into_iter().zip(names).zip(&self.lines) {
            let Some(vertex) = vertex else { continue };
            let known = &mut places[vertex.index()];
            if !known[0].is_nan() && known != place {
                let [x, y] = known;
                let detail = format!("vertex `{name}` was at {x} {y} before");
                return Err(bad(path, At::Line(*number), detail));
            }
            *known = *place;
        }
        self.ids.clear();
        self.lines.clear();
        Ok(())
    }
}

/// The id and the place in a line, if it says anything.
fn parse(line: &str) -> Result<Option<(&str, [f64; 2])>, String> {
    let line = line.trim();
    if line.is_empty() || line.starts_with(['#', '%']) {
        return Ok(None);
    }
    let mut fields = [""; 5];
    let mut count = 0;
    for field in line.split([' ', '\t', ',']).filter(|field| !field.is_empty()) {
        if let Some(free) = fields.get_mut(count) {
            *free = field;
        }
        count += 1;
    }
    match (fields, count) {
        (["v", id, x, y, _], 4) => Ok(Some((id, [coordinate(x)?, coordinate(y)?]))),
        (["p", "aux", "sp", "co", _], 5) => Ok(None),
        (["c", x, y, ..], _) if count != 3 || coordinate(x).and(coordinate(y)).is_err() => Ok(None),
        ([id, x, y, ..], 3) => Ok(Some((id, [coordinate(x)?, coordinate(y)?]))),
        _ => Err("a line has the form `id x y` or `v id x y`".to_owned()),
    }
}

/// A number whose squares and roots are as exact as floats are.
fn coordinate(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number == 0.0 || (1e-100..=1e100).contains(&number.abs()) => Ok(number),
        _ => Err(format!("`{text}` is no coordinate")),
    }
}

/// Refuses a file that leaves a vertex out.
fn check_all(path: &Path, ids: &OriginalIds, places: &[[f64; 2]]) -> Result<()> {
    let Some(missing) = places.iter().position(|place| place[0].is_nan()) else { return Ok(()) };
    let walk = ids.for_each_chunk(|ids, vertices| {
        match vertices.iter().position(|vertex| vertex.index() == missing) {
            None => Ok(()),
            Some(index) => Err(End::Found(ids.get(index))),
        }
    });
    match walk {
        Ok(()) => Ok(()),
        Err(End::Failed(error)) => Err(error),
        Err(End::Found(name)) => {
            let detail = format!("it does not say where vertex `{name}` lies");
            Err(bad(path, At::File, detail))
        }
    }
}

/// Why a walk over ids ends before its end.
enum End {
    Found(OriginalId),
    Failed(Error),
}

impl From<Error> for End {
    fn from(error: Error) -> End {
        End::Failed(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_where_a_vertex_lies_or_nothing() {
        for line in ["7 1 -2.5", " 7\t1,-2.5 \r\n", "v 7 1 -2.5", "7, 1e0, -25e-1"] {
            assert_eq!(parse(line), Ok(Some(("7", [1.0, -2.5]))), "{line}");
        }
        assert_eq!(parse("c 0 2"), Ok(Some(("c", [0.0, 2.0]))));
        for line in ["", "\n", "# 1 2 3", "%", "c", "c of 7", "c 1 2 3 4 5", "p aux sp co 264346"] {
            assert_eq!(parse(line), Ok(None), "{line}");
        }
        for line in ["7", "7 1", "7 1 2 3", "7 1 x", "7 nan 1", "7 1 inf", "7 1e101 0"] {
            assert!(parse(line).is_err(), "{line}");
        }
    }
}
