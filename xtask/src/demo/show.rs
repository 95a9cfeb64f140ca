//! All texts that the demo prints.

use std::path::Path;
use std::time::Duration;

use super::chart::{lying, upright, used_width};
use super::graphs::Graph;
use super::measure::{Measured, Pair, Run};
use super::paint::Paint;
use crate::tegula::page_cache::PageCache;
use crate::tegula::units::{bytes, count, decimal, seconds, three_digits};

/// The width of a line in characters.
const WIDTH: usize = 80;
/// The width of a chart in characters, and its height in lines.
const CHART_WIDTH: usize = 34;
const CHART_HEIGHT: usize = 4;
/// The gap between two charts in characters.
const GAP: usize = 6;
/// The width of bars in rankings, in characters.
const BAR_WIDTH: usize = 24;
/// The width of bars in the last table.
const SMALL_BAR_WIDTH: usize = 5;
/// A run that reads all edges once reads at most `READ_ONCE_MAX` times their bytes.
const READ_ONCE_MAX: f64 = 1.1;

/// The mark of runs that read all edges once.
const ONCE: char = '*';

/// Says what the demo shows.
pub fn introduction(paint: &Paint, cache: PageCache) -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let cores = if cores == 1 { "1 core".to_owned() } else { format!("{cores} cores") };
    let title = paint.bold("tegula: graph algorithms over graphs larger than memory");
    let how = format!(
        "Four graphs on {cores}. Each algorithm runs in memory, with the graph in the page\n\
         cache, and from disk within the smallest budget it accepts, with the page cache\n\
         {} before each run. Times of runs are the best of three.",
        match cache {
            PageCache::All => "emptied",
            PageCache::Files => "asked to forget the graph",
        }
    );
    format!("\n{title}\n{}", paint.dim(&how))
}

/// The line above a graph.
pub fn heading(paint: &Paint, graph: &Graph) -> String {
    let line = "━".repeat(WIDTH.saturating_sub(graph.name.chars().count() + 4));
    format!("\n{} {} {}", paint.dim("━━"), paint.heading(&graph.name), paint.dim(&line))
}

/// Returns everything about a graph.
pub fn graph(paint: &Paint, graph: &Graph, measured: &Measured) -> String {
    let mut lines = vec![format!("   {}", graph.about)];
    let rows = measured.row_bytes_per_edge;
    let rows = rows.map_or_else(String::new, |bytes| format!(" + {bytes:.2}"));
    lines.push(format!(
        "   {} vertices, {} edges of {} bytes; import {}, {}/s",
        paint.bold(&count(measured.vertices)),
        paint.bold(&count(measured.edges)),
        paint.bold(&format!("{:.2}{rows}", measured.bytes_per_edge)),
        seconds(measured.import_seconds),
        decimal(measured.edges as f64 / measured.import_seconds),
    ));
    let order = format!("   order: {} ({})", measured.order, measured.order_reason);
    lines.push(paint.dim(&order));
    lines.push(String::new());
    lines.extend(charts(paint, graph, measured));
    lines.push(String::new());
    lines.extend(runs(paint, measured));
    lines.push(String::new());
    lines.extend(ranking(paint, measured));
    lines.push(verdict(paint, graph, measured));
    lines.join("\n")
}

/// Draws degrees on the left, distances on the right.
fn charts(paint: &Paint, graph: &Graph, measured: &Measured) -> Vec<String> {
    // A few vertices have most of the edges: only logarithms show both ends.
    let degrees: Vec<f64> =
        measured.degree_bins.iter().map(|&vertices| (1.0 + vertices as f64).log2()).collect();
    let levels: Vec<f64> = measured.levels.iter().map(|&vertices| vertices as f64).collect();
    let degree = if graph.is_undirected() { "degree" } else { "out-degree" };
    let left = format!("vertices by {degree} (log, log)");
    let right = format!("vertices by hops from {}", measured.source);
    let gap = " ".repeat(GAP);
    let mut lines = vec![format!("   {left:<CHART_WIDTH$}{gap}{right}")];
    let [left, right] = [&degrees, &levels].map(|v| upright(v, CHART_WIDTH, CHART_HEIGHT));
    for (left, right) in left.iter().zip(&right) {
        let right = right.trim_end();
        lines.push(format!("   {}{gap}{}", paint.bar(left), paint.other_bar(right)));
    }
    let depth = measured.levels.len() - 1;
    let left = axis("0", &count(measured.degree_max), used_width(degrees.len(), CHART_WIDTH));
    let right = axis("0", &count(depth as u64), used_width(levels.len(), CHART_WIDTH));
    lines.push(paint.dim(&format!("   {left:<CHART_WIDTH$}{gap}{right}")));
    lines
}

/// Labels the first and the last bar of a chart.
fn axis(first: &str, last: &str, width: usize) -> String {
    let between = width.saturating_sub(first.len() + last.len() + 1).max(1);
    format!("{first}{}{last}", " ".repeat(between))
}

/// Returns the table of the runs, in memory and from disk.
fn runs(paint: &Paint, measured: &Measured) -> Vec<String> {
    let head = format!(
        "   {:<19}{:>19}{:>19}{:>11}{:>9}",
        "time, and edges/s", "in memory", "from disk ", "read ", "peak"
    );
    let mut lines = vec![paint.dim(&head)];
    let iterations = measured.pagerank.memory.iterations;
    for (name, pair) in [
        (format!("PageRank, {iterations} passes"), &measured.pagerank),
        ("hops from a vertex".to_owned(), &measured.bfs),
        ("components".to_owned(), &measured.wcc),
    ] {
        let Pair { memory, disk } = pair;
        // A run may also read both layouts once; it gets no mark.
        let stored = measured.bytes_per_edge.max(measured.row_bytes_per_edge.unwrap_or(0.0));
        let stored = stored * measured.edges as f64;
        let is_read_once = disk.iterations > 1 && disk.bytes_read <= READ_ONCE_MAX * stored;
        let mark = if is_read_once { ONCE } else { ' ' };
        lines.push(format!(
            "   {name:<19}{:>19}{:>18}{mark}{:>10}{mark}{:>9}",
            time_and_rate(memory),
            time_and_rate(disk),
            bytes(disk.bytes_read),
            bytes(disk.peak_bytes),
        ));
    }
    let mut notes = format!("   from disk: within {}", bytes(measured.budget as f64));
    if lines.iter().any(|line| line.contains(ONCE)) {
        notes += &format!("; {ONCE} read once, as even that holds all edges");
    }
    lines.push(paint.dim(&notes));
    lines
}

fn time_and_rate(run: &Run) -> String {
    format!("{} {:>7}/s", seconds(run.seconds), decimal(run.rate()))
}

/// Returns the vertices with the greatest ranks.
fn ranking(paint: &Paint, measured: &Measured) -> Vec<String> {
    let most = measured.top.first().map_or(0.0, |&(_, rank)| rank);
    let widest = measured.top.iter().map(|(vertex, _)| vertex.len()).max().unwrap_or(0);
    let lines = measured.top.iter().enumerate().map(|(place, (vertex, rank))| {
        let title = if place == 0 { "greatest PageRank" } else { "" };
        let bar = paint.bar(&lying(*rank, most, BAR_WIDTH));
        format!("   {title:<26}{vertex:>widest$}  {bar}  {rank:.3e}")
    });
    lines.collect()
}

/// Says what was found, and what was checked.
fn verdict(paint: &Paint, graph: &Graph, measured: &Measured) -> String {
    let components = match measured.components {
        1 => "1 component".to_owned(),
        number => format!("{} components (largest {})", count(number), count(measured.largest)),
    };
    let hops = count(measured.levels.len() as u64 - 1);
    let reached = format!("{} vertices within {hops} hops", count(measured.reached));
    let checked = match graph.known {
        Some(_) => "as is known of it, and the same from memory and disk",
        None => "the same from memory and disk",
    };
    format!(
        "\n   {components}\n   {reached} of {}\n   {} {checked}",
        measured.source,
        paint.good("✓")
    )
}

/// Returns a table that compares all graphs.
pub fn comparison(paint: &Paint, all: &[(Graph, Measured)]) -> String {
    let title = "PageRank side by side, in edges per second";
    let line = "━".repeat(WIDTH.saturating_sub(title.len() + 4));
    let head = format!(
        "   {:<13}{:>12}{:>12}{:>7}{:>10} {:<5}{:>10}",
        "", "edges", "bytes/edge", "order", "in memory", "", "from disk"
    );
    let title = format!("\n{} {} {}", paint.dim("━━"), paint.heading(title), paint.dim(&line));
    let mut lines = vec![title, paint.dim(&head)];
    let rates = |measured: &Measured| {
        let Pair { memory, disk } = measured.pagerank;
        [memory.rate(), disk.rate()]
    };
    let most = all.iter().flat_map(|(_, measured)| rates(measured)).fold(0.0, f64::max);
    for (graph, measured) in all {
        let [memory, disk] = rates(measured);
        lines.push(format!(
            "   {:<13}{:>12}{:>12.2}{:>7}{:>10} {}{:>10} {}",
            graph.name,
            count(measured.edges),
            measured.bytes_per_edge,
            measured.order,
            decimal(memory),
            paint.bar(&lying(memory, most, SMALL_BAR_WIDTH)),
            decimal(disk),
            paint.other_bar(lying(disk, most, SMALL_BAR_WIDTH).trim_end()),
        ));
    }
    lines.join("\n")
}

/// Says how long it took, and what to do next.
pub fn ending(paint: &Paint, elapsed: Duration, command: &Path, kept: Option<&Path>) -> String {
    let time = three_digits(elapsed.as_secs_f64());
    let graphs = match kept {
        Some(folder) => format!("The graphs are in {}.", folder.display()),
        None => "They are gone again; cargo xtask demo --keep keeps them.".to_owned(),
    };
    let steps = [
        ("import a graph of your own", "tegula import EDGES.txt.zst -o my.tegula"),
        ("look at it", "tegula info my.tegula"),
        ("rank its vertices", "tegula run pagerank my.tegula --top 20"),
        ("write the ranks to a file", "tegula run pagerank my.tegula -o ranks.parquet"),
        ("ask what a run would need", "tegula run wcc my.tegula --estimate"),
        ("use little memory", "tegula run wcc my.tegula --memory 256MiB --top 5"),
        ("make 268 million edges", "tegula generate rmat --scale 24 -o big.bin32"),
        ("measure this machine", "make bench"),
    ];
    let mut lines = vec![format!("\n{} in {time} s. {graphs}\n", paint.bold("Done"))];
    let folder = command.parent().unwrap_or(command);
    let here = if folder.is_absolute() { "" } else { "$PWD/" };
    let folder = folder.display();
    lines.push(paint.bold("Get the command on the PATH"));
    lines.push(format!("   {}\n", paint.heading(&format!("export PATH=\"{here}{folder}:$PATH\""))));
    lines.push(paint.bold("What to try next"));
    for (what, call) in steps {
        lines.push(format!("   {what:<28}{}", paint.heading(call)));
    }
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::super::graphs::graphs;
    use super::*;

    fn measured() -> Measured {
        let run =
            Run { iterations: 10, seconds: 0.2, edges: 4e7, bytes_read: 4e6, peak_bytes: 5e7 };
        let pair = Pair { memory: run, disk: run };
        Measured {
            vertices: 1_000_000,
            edges: 16_777_216,
            bytes_per_edge: 1.5,
            row_bytes_per_edge: None,
            order: "degree".into(),
            order_reason: "1.49 bytes/edge in a sample, 1.88 as given".into(),
            import_seconds: 1.5,
            degree_bins: vec![100, 2000, 10, 0, 1],
            degree_max: 12,
            budget: 64 << 20,
            pagerank: pair,
            bfs: pair,
            wcc: pair,
            top: vec![("123456".into(), 0.5), ("7".into(), 1e-6)],
            source: "123456".into(),
            reached: 1_000_000,
            levels: vec![1; 1000],
            components: 1000,
            largest: 900_000,
        }
    }

    #[test]
    fn lines_fit_a_terminal_and_carry_no_colours_unless_wanted() {
        let paint = Paint::new(false);
        for shown in graphs(20) {
            let mut text = heading(&paint, &shown) + "\n" + &graph(&paint, &shown, &measured());
            text += &comparison(&paint, &[(shown, measured())]);
            let command = Path::new("target/release/tegula");
            text += &ending(&paint, Duration::from_secs(5), command, None);
            assert!(!text.contains('\u{1b}'));
            for line in text.lines() {
                assert!(line.chars().count() <= WIDTH, "{line}");
            }
        }
        let coloured = graph(&Paint::new(true), &graphs(20)[0], &measured());
        assert!(coloured.contains('\u{1b}'));
    }

    #[test]
    fn runs_that_read_all_edges_once_are_marked() {
        let paint = Paint::new(false);
        let text = |measured: &Measured| runs(&paint, measured).join("\n");
        let mut measured = measured();
        assert!(text(&measured).contains("3.81 MiB*"), "{}", text(&measured));
        assert!(text(&measured).contains("* read once"), "{}", text(&measured));
        for pair in [&mut measured.pagerank, &mut measured.bfs, &mut measured.wcc] {
            pair.disk.bytes_read = 4e8;
        }
        assert!(!text(&measured).contains(ONCE), "{}", text(&measured));
    }

    #[test]
    fn charts_stand_side_by_side() {
        let lines = charts(&Paint::new(false), &graphs(20)[0], &measured());
        assert_eq!(lines.len(), CHART_HEIGHT + 2);
        let starts =
            lines[1..=CHART_HEIGHT].iter().map(|line| line.chars().nth(3 + CHART_WIDTH + GAP));
        assert!(
            starts.into_iter().all(|first| first.is_some_and(|bar| "▇█".contains(bar))),
            "{lines:#?}"
        );
    }
}
