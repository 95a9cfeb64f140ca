//! Figures as rows of cells, and as aligned tables on the terminal.

use super::figure::{Figure, Of, Target, Unit, Verdict};
use super::machine::Machine;
use super::results::Measured;
use crate::tegula::units;

/// The columns of a table of figures.
pub const HEADER: [&str; 7] = ["figure", "median", "min … max", "beside", "ratio", "target", ""];

/// Formats a group as an aligned table with its remarks.
pub fn terminal(group: &Measured) -> String {
    let mut rows = vec![HEADER.map(str::to_owned)];
    rows.extend(group.figures.iter().map(cells));
    let mut text = if group.figures.is_empty() { String::new() } else { aligned(&rows) };
    for line in remarks(group) {
        text += &format!("  {line}\n");
    }
    text
}

/// Returns the properties of a machine, each with its name.
pub fn properties(machine: &Machine) -> Vec<(&'static str, String)> {
    let disk = machine.disk_bytes_per_second.map_or_else(
        || "not measured".to_owned(),
        |rate| {
            format!("{}B/s, reading a tile file in order past the page cache", units::decimal(rate))
        },
    );
    vec![
        ("CPU", machine.cpu.clone()),
        ("cores", machine.cores.to_string()),
        ("caches", machine.caches.clone()),
        ("vectors", machine.vectors.clone()),
        ("memory", units::bytes(machine.memory_bytes as f64)),
        ("disk", disk),
        ("page cache", machine.page_cache.clone()),
        ("kernel", machine.kernel.clone()),
        ("compiler", machine.rustc.clone()),
    ]
}

/// Formats the properties of a machine as lines.
pub fn machine_lines(about: &Machine) -> String {
    properties(about).iter().map(|(name, value)| format!("  {name:<18}{value}\n")).collect()
}

/// Returns the lines below a table.
pub fn remarks(group: &Measured) -> Vec<String> {
    let mut lines = Vec::new();
    for figure in &group.figures {
        if !has_note_in_row(figure) {
            lines.extend(figure.notes.iter().map(|note| format!("{}: {note}", figure.title)));
        }
    }
    lines.extend(group.remarks.iter().cloned());
    lines.extend(group.failure.iter().map(|failure| format!("FAILED: {failure}")));
    lines
}

/// Sizes have nothing beside them, so their row has room for notes on the graph.
fn has_note_in_row(figure: &Figure) -> bool {
    figure.unit == Unit::BytesPerEdge && figure.beside.is_none()
}

/// Returns the row of a figure, one cell for each column of [`HEADER`].
pub fn cells(figure: &Figure) -> [String; 7] {
    let unit = figure.unit;
    let samples = &figure.samples;
    let range = match samples.all.len() {
        ..2 => String::new(),
        _ => format!("{} … {}", unit.show(samples.min), unit.show(samples.max)),
    };
    let (beside, ratio) = match &figure.beside {
        None if has_note_in_row(figure) => (figure.notes.join(", "), String::new()),
        None => (String::new(), String::new()),
        Some(beside) => {
            let word = beside.ratio.words();
            let [median, min, max] =
                [beside.ratios.median, beside.ratios.min, beside.ratios.max].map(times);
            let time = unit.show(beside.samples.median);
            (format!("{}: {time}", beside.title), format!("{median} {word} ({min} … {max})"))
        }
    };
    let targets: Vec<String> =
        figure.targets.iter().map(|target| target_text(figure, target)).collect();
    let verdict = match figure.verdict {
        None => "",
        Some(Verdict::Missed) => "✗ missed",
        Some(Verdict::Reached) => "✓ reached",
        Some(Verdict::Stretch) => "★ stretch",
    };
    let [median, title] = [unit.show(samples.median), figure.title.clone()];
    [title, median, range, beside, ratio, targets.join(", "), verdict.to_owned()]
}

fn times(ratio: f64) -> String {
    // A library that finds one community has a modularity of nearly 0.
    if ratio < 1e6 { format!("{}×", units::three_digits(ratio)) } else { "over 10^6×".to_owned() }
}

fn target_text(figure: &Figure, target: &Target) -> String {
    let show = |value: f64| match target.of {
        Of::Value => figure.unit.show(value),
        Of::Ratio => times(value),
    };
    let sign = if target.is_minimum { "≥" } else { "≤" };
    let stretch = target.stretch.map(|stretch| format!(" (stretch {})", show(stretch)));
    format!("{sign} {}{}", show(target.at), stretch.unwrap_or_default())
}

/// Formats rows as aligned columns, figures to the right.
fn aligned(rows: &[[String; 7]]) -> String {
    let width =
        |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: [usize; 7] = std::array::from_fn(width);
    let mut text = String::new();
    for row in rows {
        let mut line = String::from(" ");
        for (column, (cell, &width)) in row.iter().zip(&widths).enumerate() {
            if width == 0 {
                continue;
            }
            match column {
                1 | 2 | 4 => line += &format!(" {cell:>width$} "),
                _ => line += &format!(" {cell:<width$} "),
            }
        }
        text += line.trim_end();
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::figure::Ratio;

    fn group() -> Measured {
        let figure = Figure::new("iteration", Unit::Seconds, vec![0.2, 0.1, 0.3]);
        let figure = figure.compared_with("plain", vec![0.8, 0.4, 1.2], Ratio::TimesAsFast);
        let figure = figure.at_least(Of::Ratio, 3.0, Some(4.5)).note("a note");
        Measured {
            name: "a".into(),
            title: "A".into(),
            date: "2026-01-01".into(),
            commit: "0123456".into(),
            machine: 0,
            scale: 24,
            rounds: 3,
            load: 0.1,
            figures: vec![figure, Figure::new("size", Unit::BytesPerEdge, vec![1.5])],
            remarks: vec!["a remark".into()],
            failure: None,
        }
    }

    #[test]
    fn a_row_has_the_median_range_ratio_and_target() {
        let [first, second] = [0, 1].map(|index| cells(&group().figures[index]));
        let expected = [
            "iteration",
            "200 ms",
            "100 ms … 300 ms",
            "plain: 800 ms",
            "4.00× as fast (4.00× … 4.00×)",
            "≥ 3.00× (stretch 4.50×)",
            "✓ reached",
        ];
        assert_eq!(first, expected);
        assert_eq!(second, ["size", "1.50 bytes", "", "", "", "", ""]);
    }

    #[test]
    fn tables_are_aligned_and_remarks_follow() {
        let text = terminal(&group());
        let lines: Vec<&str> = text.lines().collect();
        let end = |line: &str, word: &str| {
            line.find(word).map(|at| line[..at].chars().count() + word.len())
        };
        assert_eq!(end(lines[0], "median"), end(lines[1], "200 ms"));
        assert_eq!(lines[3..], ["  iteration: a note", "  a remark"]);
    }
}
