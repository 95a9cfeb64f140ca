//! Reads files with the coordinates of vertices.

use std::path::Path;

use tegula_engine::RUN_OVERHEAD;
use tegula_store::graph::OriginalIds;
use tegula_store::{Error, OriginalId, Result};
use tegula_tables::read::bad_file;
use tegula_tables::{Presence, ValueColumn};

use crate::algorithm::SideFiles;
use crate::side_table::{Missing, Row, RowVisitor, TableSource, Tables};

/// The coordinates of each vertex, by dense id.
#[derive(Debug)]
pub struct Coordinates {
    places: Vec<[f64; 2]>,
    /// Bytes that reading them takes.
    pub reading_size: u64,
}

impl Coordinates {
    /// Reads a row `id x y` for each vertex, or a DIMACS coordinates file (`v id x y`, and lines
    /// that begin with `c` or `p`). Unless the options say otherwise, rows of vertices that are not
    /// in the graph are skipped, as a file may cover a larger map.
    ///
    /// # Errors
    /// [`Error::BadInput`] for a row that contradicts an earlier one, or when a vertex has no row.
    pub fn read(
        option: &'static str,
        source: &TableSource,
        tables: &mut Tables<'_>,
    ) -> Result<Coordinates> {
        let (graph, memory) = (tables.graph, tables.run.memory);
        let size = size_of::<[f64; 2]>() as u64 * graph.vertex_count();
        let (what, needed) = ("reading the coordinates".to_owned(), RUN_OVERHEAD + size);
        // Checked here, because the array of all vertices is made before the first row.
        if needed > memory {
            return Err(Error::over_budget(what, needed, memory));
        }
        let places = vec![[f64::NAN; 2]; graph.vertex_count() as usize];
        let mut coordinates = Coordinates { places, reading_size: 0 };
        coordinates.reading_size = tables.read(option, source, &mut coordinates)?;
        check_all(source.name(), &graph.original_ids()?, &coordinates.places)?;
        Ok(coordinates)
    }

    /// The coordinates of all vertices.
    pub fn as_slice(&self) -> &[[f64; 2]] {
        &self.places
    }
}

impl SideFiles for Option<Coordinates> {
    fn size(&self) -> u64 {
        self.as_ref().map_or(0, RowVisitor::size)
    }
}

impl RowVisitor for Coordinates {
    const WHAT: &'static str = "the coordinates";
    const COLUMNS: &'static [ValueColumn] = &[
        ValueColumn {
            role: "x",
            names: &["x", "lon", "lng", "longitude"],
            is_number: true,
            presence: Presence::Required,
        },
        ValueColumn {
            role: "y",
            names: &["y", "lat", "latitude"],
            is_number: true,
            presence: Presence::Required,
        },
    ];
    const MAY_BE_DIMACS: bool = true;
    const MISSING: Missing = Missing::Skip;

    fn take(&mut self, row: &Row<'_>) -> Result<(), String> {
        let [Some(x), Some(y)] = row.values else { return Err("it has no x and y".to_owned()) };
        let place = [coordinate(x)?, coordinate(y)?];
        let known = &mut self.places[row.vertex.index()];
        if !known[0].is_nan() && *known != place {
            let [x, y] = known;
            return Err(format!("vertex `{}` already has the coordinates {x} {y}", row.id));
        }
        *known = place;
        Ok(())
    }

    fn size(&self) -> u64 {
        size_of_val(&*self.places) as u64
    }
}

/// Parses a number whose square and square root are as exact as floats are.
fn coordinate(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number == 0.0 || (1e-100..=1e100).contains(&number.abs()) => Ok(number),
        _ => Err(format!("`{text}` is not a valid coordinate")),
    }
}

/// Refuses a file without a row for every vertex.
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
            Err(bad_file(path, detail))
        }
    }
}

/// Why a walk over ids stops early.
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
    fn coordinates_are_numbers_whose_squares_are_exact_enough() {
        for (text, number) in [("1", 1.0), ("-25e-1", -2.5), ("0", 0.0), ("1e100", 1e100)] {
            assert_eq!(coordinate(text), Ok(number));
        }
        for text in ["x", "nan", "inf", "1e101", "1e-101", "", "1 2"] {
            assert!(coordinate(text).is_err(), "{text}");
        }
    }
}
