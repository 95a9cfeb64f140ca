//! Rows on a terminal.

use std::fs::File;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use tegula_store::Error;
use tegula_tables::{RowSink, RowWriter, TAB, TextRows};

use crate::errors::{Failure, Result};
use crate::{escape, report, stdout};

/// Lines on a terminal.
pub struct TextTerminal {
    rows: TextRows<'static>,
    out: File,
    /// Rows that may still be shown.
    left: usize,
}

impl TextTerminal {
    /// Shows all rows.
    pub fn whole(separator: u8, schema: &SchemaRef) -> Result<TextTerminal> {
        TextTerminal::new(separator, schema, |exact| exact, usize::MAX)
    }

    /// Shows at most `rows_max` rows, with computed numbers rounded.
    pub fn preview(schema: &SchemaRef, rows_max: usize) -> Result<TextTerminal> {
        TextTerminal::new(TAB, schema, report::rounded, rows_max)
    }

    fn new(
        separator: u8,
        schema: &SchemaRef,
        round: fn(f64) -> f64,
        left: usize,
    ) -> Result<TextTerminal> {
        let rows = TextRows::new(separator, schema, None).shown(round, escape::line);
        Ok(TextTerminal { rows, out: stdout::open().map_err(Failure::stdout)?, left })
    }
}

impl RowSink for TextTerminal {
    fn write(&mut self, rows: &RecordBatch) -> tegula_store::Result<()> {
        let shown = rows.num_rows().min(self.left);
        self.left -= shown;
        self.rows.append(&rows.slice(0, shown))?;
        self.rows.flush_to(&mut self.out).map_err(Error::io("write to", stdout::NAME))
    }

    fn wants_more(&self) -> bool {
        self.left > 0
    }
}

impl RowWriter for TextTerminal {
    fn finish(mut self: Box<Self>) -> tegula_tables::Result<u64> {
        self.rows.flush_to(&mut self.out).map_err(Error::io("write to", stdout::NAME))?;
        Ok(0)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::Float64Array;
    use arrow_schema::{DataType, Field, Schema};

    use super::*;

    #[test]
    fn a_preview_has_rounded_numbers() {
        let length = Field::new("length", DataType::Float64, false);
        let schema = Arc::new(Schema::new(vec![length]));
        let numbers = Arc::new(Float64Array::from(vec![0.1 + 0.2]));
        let rows = RecordBatch::try_new(Arc::clone(&schema), vec![numbers]).unwrap();
        let (mut text, mut terminal) = (Vec::new(), TextTerminal::preview(&schema, 2).unwrap());
        terminal.rows.append(&rows).unwrap();
        terminal.rows.flush_to(&mut text).unwrap();
        assert_eq!(text, b"length\n0.3\n");
    }
}
