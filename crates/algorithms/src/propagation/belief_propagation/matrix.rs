//! The text of a potential that all edges have: a matrix.

use std::path::Path;

use tegula_machine::threads::Cancel;
use tegula_store::{At, Result};
use tegula_tables::read::{bad_at, bad_file};
use tegula_tables::read_text;

use super::potential::{Potential, STATES_MAX};

/// The most characters of a potential.
const TEXT_SIZE_MAX: u64 = 32 * (STATES_MAX * STATES_MAX) as u64;

/// Reads a symmetric matrix: a row of weights in each line, between blanks, tabs, commas or
/// semicolons. Ignores text after `#`.
///
/// # Errors
/// [`Error::BadInput`](tegula_store::Error::BadInput) for text that is no such matrix.
pub fn read_potential(path: &Path, cancel: &Cancel) -> Result<(usize, Potential)> {
    let whole_bad = |detail: &str| bad_file(path, detail);
    let text = read_text(path, TEXT_SIZE_MAX, cancel)?;
    let text = text.ok_or_else(|| whole_bad("the text is too long to be a potential"))?;
    let (mut rows, mut states) = (Vec::new(), 0);
    for (number, line) in (1..).zip(text.lines()) {
        let line_bad = |detail| bad_at(path, At::Line(number), detail);
        let mut row = Vec::new();
        let weights = line.split('#').next().unwrap_or_default();
        let separators = |c: char| c.is_whitespace() || matches!(c, ',' | ';');
        for word in weights.split(separators).filter(|word| !word.is_empty()) {
            let weight =
                word.parse::<f64>().map_err(|_| line_bad(format!("`{word}` is not a number")))?;
            row.push(weight);
        }
        if row.is_empty() {
            continue;
        }
        if rows.is_empty() {
            states = row.len();
        }
        if row.len() != states || !(2..=STATES_MAX).contains(&states) {
            let detail = format!(
                "a potential has as many rows as columns, 2 to {STATES_MAX}; this row has {}",
                row.len()
            );
            return Err(line_bad(detail));
        }
        rows.extend(row);
    }
    if states == 0 || rows.len() != states * states {
        return Err(whole_bad("a potential has as many rows as columns, and at least 2"));
    }
    let potential = Potential::new(states, rows).ok_or_else(|| {
        whole_bad("weights must be finite and at least 0, and one must be above 0")
    })?;
    if !potential.is_symmetric() {
        let detail = "the potential is not symmetric, but edges have no direction here";
        return Err(whole_bad(detail));
    }
    Ok((states, potential))
}
