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
        let row = read_row(line).map_err(line_bad)?;
        if row.is_empty() {
            continue;
        }
        if rows.is_empty() {
            states = row.len();
        }
        if row.len() != states || !(2..=STATES_MAX).contains(&states) {
            let found = row.len();
            let detail = format!("{}; this row has {found}", as_many());
            return Err(line_bad(detail));
        }
        if rows.len() == states * states {
            return Err(line_bad(format!("{}; this row is one too many", as_many())));
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

/// Reads the weights in a line.
///
/// # Errors
/// What is wrong with it.
fn read_row(line: &str) -> Result<Vec<f64>, String> {
    let mut row = Vec::new();
    let weights = line.split('#').next().unwrap_or_default();
    let separators = |c: char| c.is_whitespace() || matches!(c, ',' | ';');
    for word in weights.split(separators).filter(|word| !word.is_empty()) {
        // A line may be as long as the text, and its weights take more memory.
        if row.len() == STATES_MAX {
            return Err(format!("{}; this row has more", as_many()));
        }
        row.push(word.parse::<f64>().map_err(|_| format!("`{word}` is not a number"))?);
    }
    Ok(row)
}

fn as_many() -> String {
    format!("a potential has as many rows as columns, 2 to {STATES_MAX}")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tegula_testkit::Scratch;

    use super::*;

    /// Returns the number of states of a potential, or what is wrong with it.
    fn read(text: &str) -> Result<usize, String> {
        let scratch = Scratch::new();
        let path = scratch.join("potential.txt");
        fs::write(&path, text).unwrap();
        let read = read_potential(&path, &Cancel::default()).map(|(states, _)| states);
        read.map_err(|error| error.to_string())
    }

    #[test]
    fn separators_comments_and_empty_lines_are_passed_over() {
        assert_eq!(read("# agree, differ\n\n2,1;\n 1\t2 # 3\n"), Ok(2));
    }

    #[test]
    fn a_text_is_refused_at_the_first_row_or_weight_too_many() {
        let long = format!("{}x\n", "1 ".repeat(STATES_MAX));
        for (text, place, words) in [
            ("1 2\n2 1\n0 x\n", "line 3", "`x` is not a number"),
            ("1 2\n2 1\n0 1\nx", "line 3", "this row is one too many"),
            (&long, "line 1", "this row has more"),
            ("1 2\n2\n", "line 2", "this row has 1"),
        ] {
            let detail = read(text).unwrap_err();
            assert!(detail.contains(place) && detail.contains(words), "{detail}");
        }
        assert!(read("1 2\n").unwrap_err().contains("as many rows as columns"));
    }
}
