//! Text for people: figures with units, aligned tables, histograms.

use std::path::Path;
use std::time::Duration;

use comfy_table::{CellAlignment, Table, presets};
use tegula_algorithms::answer::List;
use tegula_machine::Bytes;
use tegula_store::graph::{IdType, Manifest, edge_count};
use tegula_tables::{TAB, quoted_cell};

use crate::escape;

pub use tegula_algorithms::answer::{count, counted, rounded};

/// The width of a histogram's longest bar in characters.
const BAR_WIDTH: usize = 40;

/// Returns a path in one line, with controls escaped.
pub fn path(path: &Path) -> String {
    escape::line(&path.display().to_string()).into_owned()
}

/// The number of edges of a graph. An edge of an undirected graph is stored as two arcs, a loop as
/// one.
#[derive(Debug, Clone, Copy)]
pub struct EdgeCount {
    /// Stored edges.
    pub arcs: u64,
    /// Arcs that are loops.
    pub loops: u64,
    /// Whether the graph is undirected.
    pub undirected: bool,
}

/// A noun in singular and plural.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnitName {
    pub one: &'static str,
    pub many: &'static str,
}

impl EdgeCount {
    /// Takes the counts of a graph.
    pub fn of(manifest: &Manifest) -> EdgeCount {
        let Manifest { edges: arcs, loops, undirected, .. } = *manifest;
        EdgeCount { arcs, loops, undirected }
    }

    /// Returns the noun for a stored edge. Figures of a run or an import count stored edges.
    pub fn stored_unit(self) -> UnitName {
        match self.undirected {
            true => UnitName { one: "arc", many: "arcs" },
            false => UnitName { one: "edge", many: "edges" },
        }
    }

    /// Returns the name for stored edges that repeat others.
    pub fn duplicates(self) -> &'static str {
        if self.undirected { "duplicate arcs" } else { "duplicates" }
    }

    /// Returns the number of edges.
    pub fn edges(self) -> u64 {
        edge_count(self.arcs, self.loops, self.undirected)
    }

    /// Returns the number and kind of the edges: `4 (undirected, stored as 7 arcs, unweighted)`.
    pub fn with_kind(self, weighted: bool) -> String {
        let direction = match self.undirected {
            true => format!("undirected, stored as {}", counted(self.arcs, "arc", "arcs")),
            false => "directed".to_owned(),
        };
        let weights = if weighted { "weighted" } else { "unweighted" };
        format!("{} ({direction}, {weights})", count(self.edges()))
    }

    /// Returns the number of edges with `noun`, and of arcs where it differs: `4 edges (7 arcs)`.
    pub fn with_arcs(self, noun: &str) -> String {
        let edges = self.edges();
        let arcs = counted(self.arcs, "arc", "arcs");
        let arcs = if self.arcs == edges { String::new() } else { format!(" ({arcs})") };
        format!("{}{noun}{arcs}", count(edges))
    }
}

/// Describes the kind of ids.
pub fn ids(ids: IdType) -> &'static str {
    match ids {
        IdType::Range => "integers from 0, without gaps",
        IdType::Integer => "integers",
        IdType::String => "strings",
    }
}

/// Formats bytes with a binary unit.
pub fn bytes(number: u64) -> String {
    Bytes(number).to_string()
}

/// Formats a time span: `3.20 s`, `2 min 5 s`.
pub fn time(span: Duration) -> String {
    let seconds = span.as_secs_f64();
    match span.as_secs() {
        0 if seconds < 0.1 => format!("{:.1} ms", seconds * 1e3),
        0..100 => format!("{seconds:.2} s"),
        whole @ 100..6000 => format!("{} min {} s", whole / 60, whole % 60),
        whole => format!("{} h {} min", whole / 3600, whole / 60 % 60),
    }
}

/// Formats a rate with a decimal unit: `131 M edges/s`.
pub fn rate(number: u64, unit: &str, span: Duration) -> String {
    // A step may take no time that the clock can tell.
    per_second(number as f64 / span.as_secs_f64().max(1e-9), unit)
}

/// Formats a known rate in the same way.
pub fn per_second(per_second: f64, unit: &str) -> String {
    let (value, prefix) = match per_second {
        ..1e3 => (per_second, ""),
        ..1e6 => (per_second / 1e3, "k "),
        ..1e9 => (per_second / 1e6, "M "),
        _ => (per_second / 1e9, "G "),
    };
    let digits = if value < 10.0 { 2 } else { usize::from(value < 100.0) };
    format!("{value:.digits$} {prefix}{unit}/s")
}

/// Formats a number with a decimal prefix, one decimal and its noun: `26.3 M edges`. A whole number
/// below 1,000 has no decimal.
pub fn short_count(number: f64, unit: &str) -> String {
    let (value, prefix) = match number {
        ..1e3 if number.fract() == 0.0 => return format!("{number:.0} {unit}"),
        ..1e3 => (number, ""),
        ..1e6 => (number / 1e3, "k "),
        ..1e9 => (number / 1e6, "M "),
        _ => (number / 1e9, "G "),
    };
    format!("{value:.1} {prefix}{unit}")
}

/// Formats a rate of bytes with a binary unit: `2.1 GiB/s`.
pub fn byte_rate(number: u64, span: Duration) -> String {
    format!("{}/s", bytes((number as f64 / span.as_secs_f64().max(1e-9)) as u64))
}

/// Formats a share of a whole: `12.5 %`.
pub fn percent(part: u64, whole: u64) -> String {
    format!("{:.1} %", 100.0 * part as f64 / whole.max(1) as f64)
}

/// Names and values below a title.
#[derive(Debug, Default)]
pub struct Facts(Vec<(String, String)>);

impl Facts {
    /// Adds a line.
    pub fn add(&mut self, name: impl Into<String>, value: impl Into<String>) {
        // A value may hold the name of a file, which anybody may have chosen.
        let value = escape::line(&value.into()).into_owned();
        self.0.push((name.into(), value));
    }

    /// Returns the lines, with values aligned.
    pub fn to_text(&self) -> String {
        let mut table = plain_table();
        for (name, value) in &self.0 {
            table.add_row([format!("  {name}"), value.clone()]);
        }
        table.trim_fmt()
    }
}

/// Formats a list for people: columns aligned to the right.
pub fn aligned(list: &List) -> String {
    let mut table = plain_table();
    table.set_header(&list.header);
    table.add_rows(list.rows.iter().map(|cells| cells.iter().map(|cell| escape::line(cell))));
    table.column_iter_mut().for_each(|c| c.set_cell_alignment(CellAlignment::Right));
    table.trim_fmt()
}

/// Formats a list for programs: tabs between cells, as in a file.
pub fn tab_separated(list: &List) -> String {
    let line = |cells: &[&str]| {
        let cells: Vec<_> = cells.iter().map(|cell| quoted_cell(cell, TAB)).collect();
        cells.join("\t")
    };
    let rows = list.rows.iter();
    let rows = rows.map(|cells| line(&cells.iter().map(String::as_str).collect::<Vec<_>>()));
    std::iter::once(line(&list.header)).chain(rows).collect::<Vec<_>>().join("\n")
}

fn plain_table() -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table
}

/// The number of bins of a histogram of magnitudes.
pub const LOG2_BINS: usize = u32::BITS as usize + 1;

/// Returns the bin of a number: bin 0 has the zeros, bin `i` the numbers in `2^(i-1)..2^i`.
pub fn log2_bin(number: u32) -> usize {
    (u32::BITS - number.leading_zeros()) as usize
}

/// Draws a bar for each bin; the fullest bin has the longest.
pub fn histogram(bins: &[u64]) -> String {
    let most = bins.iter().copied().max().unwrap_or(0).max(1);
    let mut table = plain_table();
    for (bin, &number) in bins.iter().enumerate() {
        table.add_row([bin_name(bin), count(number), bar(number, most)]);
    }
    for column in table.column_iter_mut().take(2) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table.trim_fmt()
}

/// Points with a name, a figure and a bar each; chosen ones are marked.
#[derive(Debug, Default)]
pub struct Curve(Vec<(String, String, u64, bool)>);

impl Curve {
    /// Adds a point: its name, its figure in words and as a number.
    pub fn add(&mut self, name: impl Into<String>, figure: String, number: u64, is_chosen: bool) {
        self.0.push((name.into(), figure, number, is_chosen));
    }

    /// Returns the points, one per line.
    pub fn to_text(&self) -> String {
        let most = self.0.iter().map(|point| point.2).max().unwrap_or(0).max(1);
        let mut table = plain_table();
        for (name, figure, number, is_chosen) in &self.0 {
            let mark = if *is_chosen { " <" } else { "" };
            let bar = bar(*number, most) + mark;
            table.add_row([format!("  {name}"), figure.clone(), bar]);
        }
        for column in table.column_iter_mut().take(2) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        table.trim_fmt()
    }
}

fn bin_name(bin: usize) -> String {
    match bin {
        0 | 1 => bin.to_string(),
        _ => format!("{}-{}", count(1 << (bin - 1)), count((1 << bin) - 1)),
    }
}

/// Draws a bar in eighths of a character, at least one eighth for a number above 0.
fn bar(number: u64, most: u64) -> String {
    const PARTS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (number as f64 / most as f64 * (8 * BAR_WIDTH) as f64).round() as usize;
    let eighths = if number > 0 { eighths.max(1) } else { 0 };
    "█".repeat(eighths / 8) + PARTS[eighths % 8]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_and_shares_are_easily_read() {
        let seconds = Duration::from_secs_f64;
        let spans = [0.0123, 3.2, 125.0, 7320.0].map(|span| time(seconds(span)));
        assert_eq!(spans, ["12.3 ms", "3.20 s", "2 min 5 s", "2 h 2 min"]);
        assert_eq!(rate(262_000_000, "edges", seconds(2.0)), "131 M edges/s");
        assert_eq!(rate(5, "edges", seconds(2.0)), "2.50 edges/s");
        assert_eq!(percent(1, 8), "12.5 %");
    }

    #[test]
    fn an_edge_that_leads_both_ways_is_one_edge_and_two_arcs() {
        let words =
            |arcs, loops, undirected| EdgeCount { arcs, loops, undirected }.with_arcs(" edges");
        assert_eq!(words(7, 1, false), "7 edges");
        assert_eq!(words(2000, 0, true), "1,000 edges (2,000 arcs)");
        assert_eq!(words(7, 1, true), "4 edges (7 arcs)");
        assert_eq!(words(2, 2, true), "2 edges");
    }

    #[test]
    fn bins_are_powers_of_two() {
        assert_eq!([0, 1, 2, 3, 4, 7, 8].map(log2_bin), [0, 1, 2, 2, 3, 3, 4]);
        assert_eq!(log2_bin(u32::MAX), LOG2_BINS - 1);
        let text = histogram(&[1, 0, 800]);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].ends_with('▏') && lines[1].ends_with('0'), "{text}");
        assert!(lines[2].contains("2-3") && lines[2].ends_with(&"█".repeat(BAR_WIDTH)), "{text}");
    }

    #[test]
    fn the_chosen_point_of_a_curve_is_marked() {
        let mut curve = Curve::default();
        curve.add("1", "10".into(), 10, false);
        curve.add("16", "100".into(), 100, true);
        let text = curve.to_text();
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].ends_with("████") && lines[0].starts_with("    1 "), "{text}");
        assert!(lines[1].ends_with("█ <"), "{text}");
    }

    #[test]
    fn tables_come_aligned_and_with_tabs() {
        let mut list = List::new(["vertex", "rank"]);
        list.add([&7, &0.25]);
        assert_eq!(tab_separated(&list), "vertex\trank\n7\t0.25");
        let mut strange = List::new(["vertex"]);
        strange.add([&"a\tb\u{1b}\n"]);
        assert_eq!(tab_separated(&strange), "vertex\n\"a\tb\u{1b}\n\"");
        assert!(aligned(&strange).contains("a\\tb\\u{1b}\\n"), "{}", aligned(&strange));
        assert!(aligned(&list).lines().nth(1).is_some_and(|line| line.contains("     7")));
        let mut facts = Facts::default();
        facts.add("time", "1 s");
        facts.add("memory", "2 MiB");
        let text = facts.to_text();
        let starts: Vec<_> = text.lines().map(|line| line.find(['1', '2'])).collect();
        assert_eq!(starts[0], starts[1], "{text}");
    }
}
