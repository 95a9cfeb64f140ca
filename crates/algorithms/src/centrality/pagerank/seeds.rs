//! The vertices to which a personalized run jumps.

use tegula_store::{Result, VertexId};
use tegula_tables::read::bad_file;
use tegula_tables::{Presence, ValueColumn};

use crate::algorithm::SideFiles;
use crate::error::is_weight;
use crate::side_table::{Row, RowVisitor, TableSource, Tables};

/// The seeds and their weights, in the order of the file.
#[derive(Debug, Default)]
pub struct Seeds {
    weights: Vec<(VertexId, f64)>,
    /// Bytes for reading them.
    pub reading_size: u64,
}

impl Seeds {
    /// Reads a seed from each row: its id and, if it is not 1, its weight.
    ///
    /// # Errors
    /// [`tegula_store::Error::BadInput`] if no weight is above 0, and for a table that
    /// [`Tables::read`] refuses.
    pub fn read(
        option: &'static str,
        source: &TableSource,
        tables: &mut Tables<'_>,
    ) -> Result<Seeds> {
        let mut seeds = Seeds::default();
        seeds.reading_size = tables.read(option, source, &mut seeds)?;
        // The program would refuse them too, but it does not know the table.
        if seeds.weights.iter().all(|&(_, weight)| weight == 0.0) {
            let detail = "no vertex in it has a weight above 0";
            return Err(bad_file(source.name(), detail));
        }
        Ok(seeds)
    }

    /// Returns all seeds and their weights.
    pub fn as_slice(&self) -> &[(VertexId, f64)] {
        &self.weights
    }
}

impl SideFiles for Seeds {
    fn size(&self) -> u64 {
        size_of_val(&*self.weights) as u64
    }
}

impl RowVisitor for Seeds {
    const WHAT: &'static str = "the seeds";
    const COLUMNS: &'static [ValueColumn] = &[ValueColumn {
        role: "weight",
        names: &["weight", "w", "rank"],
        is_number: true,
        presence: Presence::Optional,
    }];

    fn take(&mut self, row: &Row<'_>) -> Result<(), String> {
        let text = row.values[0].unwrap_or("1");
        match text.parse::<f64>() {
            Ok(weight) if is_weight(weight) => {
                self.weights.push((row.vertex, weight));
                Ok(())
            }
            _ => Err(format!("`{text}` is no weight of at least 0")),
        }
    }

    fn size(&self) -> u64 {
        SideFiles::size(self)
    }
}
