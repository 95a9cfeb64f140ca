//! Finds the fields of an edge in one line, with the message for each fault.

use std::ops::Range;

use tegula_store::{Diagnostic, Hint};
use tegula_tables::read::text::{Field, Fields, Separator, quote_between_blanks};

use super::super::columns::Columns;
use crate::settings::{DELIMITER, WEIGHTED};

/// The columns of an edge.
pub(super) struct EdgeFields {
    pub source: Field,
    pub target: Field,
    pub weight: Option<Field>,
    /// Whether a column after the first `width` is not empty. Unknown where blanks separate.
    pub has_further_columns: bool,
}

impl EdgeFields {
    /// Finds them in a line that is neither blank nor a comment and has at least `width` columns.
    pub fn of(
        block: &[u8],
        line: Range<usize>,
        separator: Separator,
        columns: Columns,
        width: usize,
    ) -> Result<EdgeFields, Diagnostic> {
        let (mut source, mut target, mut weight) = (Field::default(), Field::default(), None);
        let mut fields = Fields::of(block, line, separator);
        for index in 0..=columns.last() {
            let Some(field) = fields.next_field()? else {
                return Err(too_few(index, separator, columns, width));
            };
            if index == columns.source {
                source = field.clone();
            }
            if index == columns.target {
                target = field.clone();
            }
            if columns.weight == Some(index) {
                weight = Some(field);
            }
        }
        let mut found = columns.last() + 1;
        // Further columns are checked too: a quote left open there would continue on the next line.
        let mut has_further_columns = false;
        while separator != Separator::Blanks || found < width {
            let Some(field) = fields.next_field()? else { break };
            has_further_columns |= found >= width && !field.place.is_empty();
            found += 1;
        }
        if found < width {
            return Err(too_few(found, separator, columns, width));
        }
        for (role, field) in [("source", &source), ("target", &target)] {
            if field.place.is_empty() {
                return Err(format!("the {role} is empty").into());
            }
            if separator == Separator::Blanks && field.opens_quote(block) {
                return Err(quote_between_blanks(role, field.bytes(block)).into());
            }
        }
        Ok(EdgeFields { source, target, weight, has_further_columns })
    }
}

/// The error for a line that has `found` columns instead of at least `width`.
fn too_few(found: usize, separator: Separator, columns: Columns, width: usize) -> Diagnostic {
    let between = separator.plural();
    let hint = match columns.weight {
        _ if found > columns.last() => None,
        Some(weight) if found <= weight => {
            Some(Hint::leave_out(WEIGHTED.option).detail("if there are no weights"))
        }
        _ if found == 1 => Some(Hint::set([DELIMITER]).detail("if something else separates them")),
        Some(_) | None => None,
    };
    let message = format!("expected {width} columns separated by {between}, found {found}");
    Diagnostic::from(message).hint(hint)
}
