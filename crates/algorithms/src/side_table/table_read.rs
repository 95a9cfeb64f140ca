//! What was read of a table.

use serde::Serialize;
use tegula_machine::disk::Crc32c;

use crate::answer::{count, counted};

/// The most ids that a warning lists of those that the graph lacks.
const MISSING_NAMED_MAX: usize = 5;

/// What was read of a table that an option names.
#[derive(Debug, Clone, Serialize)]
pub struct TableRead {
    /// The option.
    pub option: &'static str,
    /// Rows whose vertices the graph has.
    pub rows: u64,
    /// Rows that were skipped because the graph does not have their vertices.
    pub missing_rows: u64,
    /// The first ids that the graph does not have, each once.
    pub missing_first: Vec<String>,
    /// Whether the last row may be cut off, as it has no line feed.
    #[serde(skip)]
    pub(super) may_be_cut: bool,
    /// Warnings of columns that were taken although their names are not known.
    #[serde(skip)]
    guesses: Vec<String>,
    #[serde(skip)]
    checksum: Crc32c,
}

impl TableRead {
    /// Starts without rows.
    pub(super) fn new(option: &'static str, guesses: Vec<String>) -> TableRead {
        let missing_first = Vec::new();
        TableRead {
            option,
            rows: 0,
            missing_rows: 0,
            missing_first,
            may_be_cut: false,
            guesses,
            checksum: Crc32c::default(),
        }
    }

    /// Counts a row whose vertex the graph has.
    pub(super) fn add(&mut self, id: &str, values: &[Option<&str>]) {
        self.rows += 1;
        for cell in std::iter::once(Some(id)).chain(values.iter().copied()) {
            // The length separates a cell from the next one, and a missing cell from an empty one.
            let length = cell.map_or(u64::MAX, |text| text.len() as u64);
            self.checksum.add(&length.to_le_bytes());
            self.checksum.add(cell.unwrap_or_default().as_bytes());
        }
    }

    /// Counts a row whose id is not in the graph.
    pub(super) fn add_missing(&mut self, id: &str) {
        self.missing_rows += 1;
        let first = &mut self.missing_first;
        if first.len() < MISSING_NAMED_MAX && first.iter().all(|other| other != id) {
            first.push(id.to_owned());
        }
    }

    /// Describes the content, which is the rows that the run uses, whatever the file and its
    /// format.
    pub(crate) fn content(&self) -> String {
        let rows = counted(self.rows, "row", "rows");
        format!("({rows}, checksum {:08x})", self.checksum.get())
    }

    /// Lists the first ids that the graph does not have.
    pub(super) fn missing(&self) -> String {
        let names: Vec<String> = self.missing_first.iter().map(|id| format!("`{id}`")).collect();
        let more = if names.len() == MISSING_NAMED_MAX { ", .." } else { "" };
        format!("{}{more}", names.join(", "))
    }

    /// Warns of columns without known names, of skipped rows, of a table without rows, and of a last
    /// row that may be cut off.
    pub fn warnings(&self) -> impl Iterator<Item = String> {
        let cut = "the last row does not end with a line feed, but the lines before it do; the table \
                   may be cut off";
        let is_empty = self.rows + self.missing_rows == 0;
        let empty = is_empty.then(|| "the table has no rows".to_owned());
        let guesses = self.guesses.iter().cloned();
        guesses.chain(self.skipped()).chain(empty).chain(self.may_be_cut.then(|| cut.to_owned()))
    }

    fn skipped(&self) -> Option<String> {
        let all = self.rows + self.missing_rows;
        let all = counted(all, "row", "rows");
        let skipped = format!("{} of {all} were skipped", count(self.missing_rows));
        let ids = self.missing();
        (self.missing_rows > 0)
            .then(|| format!("{skipped}, as the graph does not have their vertices: {ids}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(rows: &[(&str, Option<&str>)]) -> String {
        let mut read = TableRead::new("sources", Vec::new());
        rows.iter().for_each(|(id, value)| read.add(id, &[*value, None]));
        read.content()
    }

    #[test]
    fn contents_differ_where_a_cell_differs() {
        let rows = [("ann", Some("1")), ("bob", None)];
        assert_eq!(content(&rows), content(&rows));
        for other in [
            &[("ann", Some("1"))][..],
            &[("ann", Some("1")), ("bob", Some(""))],
            &[("ann", Some("2")), ("bob", None)],
            &[("bob", None), ("ann", Some("1"))],
            &[("ann1", Some("")), ("bob", None)],
            &[("an", Some("n1")), ("bob", None)],
        ] {
            assert_ne!(content(other), content(&rows), "{other:?}");
        }
    }

    #[test]
    fn a_warning_counts_all_and_names_the_first() {
        let mut read = TableRead::new("sources", Vec::new());
        assert_eq!(read.skipped(), None);
        read.add("ann", &[]);
        read.add_missing("x");
        read.add_missing("x");
        let warning = read.skipped().expect("there are missing rows");
        assert!(warning.starts_with("2 of 3 rows were skipped"), "{warning}");
        assert!(warning.ends_with(": `x`"), "{warning}");
        (0..9).for_each(|id| read.add_missing(&id.to_string()));
        assert_eq!((read.missing_rows, read.missing_first.len()), (11, MISSING_NAMED_MAX));
        assert!(
            read.skipped().is_some_and(|warning| warning.ends_with("`x`, `0`, `1`, `2`, `3`, .."))
        );
    }
}
