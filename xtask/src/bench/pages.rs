//! Figures as Markdown pages.
//!
//! The main page begins with one row for each group. A group of many figures has a page of its own.

use super::figure::{Figure, Verdict};
use super::lab::SCALE;
use super::report::{HEADER, cells, properties, remarks};
use super::results::{Measured, Results};
use super::{curves, tracks};

/// The most figures of a group that stand on the main page.
const FIGURES_MAX: usize = 20;

/// A page of figures.
#[derive(Debug, PartialEq, Eq)]
pub struct Page {
    /// Its name in the folder of the figures.
    pub name: String,
    /// Its text in Markdown.
    pub text: String,
}

/// Returns the main page `name`, which begins with `introduction`, and the pages of long groups.
pub fn pages(name: &str, introduction: &str, results: &Results) -> Vec<Page> {
    let mut main = format!("{introduction}\n{}", overview(&results.groups));
    let mut long = Vec::new();
    for group in &results.groups {
        main += &format!("\n## {}\n\n", group.title);
        if group.figures.len() <= FIGURES_MAX {
            main += &content(group);
        } else {
            main += &format!("{}\n\n", origin(group));
            main += &format!("{}: [all of them]({}).\n", counts(group), page_name(group));
            let text = format!(
                "# {}\n\nThe words and machines are those of [{name}]({name}).\n\n{}",
                group.title,
                content(group)
            );
            long.push(Page { name: page_name(group), text });
        }
    }
    main += &machines(results);
    let mut pages = vec![Page { name: name.to_owned(), text: main }];
    pages.extend(long);
    pages
}

/// Returns the file name of a group's plot.
pub fn plot_name(group: &Measured) -> String {
    format!("{}.svg", group.name)
}

fn page_name(group: &Measured) -> String {
    format!("{}.md", group.name)
}

/// Returns one row for each group: its first figure, and how many of its targets are reached.
fn overview(groups: &[Measured]) -> String {
    let mut text = "## At a glance\n\nThe first figure of each group.\n\n".to_owned();
    text += "| group | figure | median | beside | ratio | targets reached |\n";
    text += "| --- | --- | --: | --- | --: | --: |\n";
    for group in groups {
        let Some(first) = group.figures.first() else { continue };
        let [title, median, _, beside, ratio, ..] = cells(first);
        let group_title = format!("[{}](#{})", group.title, anchor(&group.title));
        let row = [group_title, title, median, beside, ratio, reached(&group.figures)];
        text += &format!("| {} |\n", row.join(" | "));
    }
    text
}

/// Says how many of the figures with a target reached it.
fn reached(figures: &[Figure]) -> String {
    let verdicts = || figures.iter().filter_map(|figure| figure.verdict);
    match verdicts().count() {
        0 => String::new(),
        all => format!("{} of {all}", verdicts().filter(|it| *it != Verdict::Missed).count()),
    }
}

fn counts(group: &Measured) -> String {
    let targets = match reached(&group.figures) {
        reached if reached.is_empty() => String::new(),
        reached => format!(", {reached} targets reached"),
    };
    format!("{} figures{targets}", group.figures.len())
}

/// Says where, when and how a group was measured. Figures that take minutes have fewer rounds than
/// others, so their samples are counted.
fn origin(group: &Measured) -> String {
    let Measured { date, commit, scale, load, .. } = group;
    let machine = letter(group.machine);
    let rounds = group.figures.iter().map(|figure| figure.samples.all.len()).max();
    let rounds = match rounds.unwrap_or(group.rounds) {
        1 => "1 round".to_owned(),
        rounds => format!("{rounds} rounds"),
    };
    let scale = if *scale == SCALE { String::new() } else { format!("scale {scale}, ") };
    format!(
        "{date}, machine {machine}, commit {commit}, {scale}{rounds}, load before the run {load:.2}."
    )
}

/// Returns the table of a group with its plot and remarks.
fn content(group: &Measured) -> String {
    let mut text = format!("{}\n", origin(group));
    if !group.figures.is_empty() {
        text += "\n";
        text += &row(&HEADER.map(str::to_owned));
        text += &row(&["---", "--:", "--:", "---", "--:", "---", "---"].map(str::to_owned));
        group.figures.iter().for_each(|figure| text += &row(&cells(figure)));
    }
    if curves::is_drawn(group) {
        text += &format!("\n![{}]({})\n", group.title, plot_name(group));
    }
    for (tracks, title) in tracks::of_group(group) {
        text += &format!("\n![Bytes of each rank, {title}]({})\n", tracks.plot_name());
    }
    let remarks = remarks(group);
    if !remarks.is_empty() {
        text += "\n";
    }
    remarks.iter().for_each(|line| text += &format!("* {line}\n"));
    text
}

fn machines(results: &Results) -> String {
    let mut text = String::new();
    for (place, machine) in results.machines.iter().enumerate() {
        text += &format!("\n## Machine {}\n\n| | |\n| --- | --- |\n", letter(place));
        for (name, value) in properties(machine) {
            text += &format!("| {name} | {value} |\n");
        }
    }
    text
}

/// Returns the name of the machine with index `place`: A, B, ...
fn letter(place: usize) -> char {
    char::from(b'A' + (place % 26) as u8)
}

/// Returns the anchor of a heading.
fn anchor(title: &str) -> String {
    let kept = title.chars().filter(|&it| it.is_alphanumeric() || " -_".contains(it));
    kept.map(|it| if it == ' ' { '-' } else { it.to_ascii_lowercase() }).collect()
}

fn row(cells: &[String; 7]) -> String {
    format!("| {} |\n", cells.join(" | "))
}

/// The beginning of the page of figures.
pub const FIGURES_INTRODUCTION: &str = "\
# Measured

Written by `make bench` (`cargo xtask bench`) from `results.json`, which has every sample.

A figure is the median of its rounds, with the least and the greatest. What stands beside a figure was measured in turn
with it, round by round, and the ratio is taken in each round. *In memory* is a process that starts, reads the tiles once
and holds them. *Rows open* is a process that holds the rows already, as a service would. *From disk* is a process with a
small budget (`--memory`) and a cold page cache. A sample of an iteration is the median of the iterations of a run.
Targets are for R-MAT of scale 24 (Graph500's parameters, scrambled ids, 16 edges per vertex); *stretch* is a second,
harder target.
";

/// The beginning of the page of choices.
pub const ABLATIONS_INTRODUCTION: &str = "\
# Choices, measured

Written by `make bench-ablations` (`cargo xtask bench-ablations`) from `ablations.json`, which has every sample.

Each table compares a choice of tegula with its alternatives, measured in turn, round by round. The ratio is taken in each
round. A figure is the median of its rounds, with the least and the greatest. *Paper* is what the authors report of the
same choice, on their machines and graphs. [RESULTS.md](RESULTS.md) explains the words.
";

/// The beginning of the page of jobs.
pub const JOBS_INTRODUCTION: &str = "\
# Many jobs on one graph, measured

Written by `make bench-jobs` (`cargo xtask bench-jobs`) from `jobs.json`, which has every sample.

*GraphM* is what its authors report (Zhao et al., SC 2019), on their machines and graphs. *Shared* is one process with all
jobs (`tegula run --batch --no-fuse`); *fused*, like jobs are one program in it. *One after the other* is a process for
each job, each with a cold disk; *processes at once* are all of these at the same time. *The mix* is the paper's:
components by propagation with a random number of iterations, PageRank with a damping of 0.1 to 0.85, shortest paths and
searches from random sources. *From disk* is a budget of all vertex arrays and a quarter of the tiles. Times are those of
whole processes, with tables. *C* is what a job computes alone, with all tiles in memory; *R* is what reading takes that
it does alone, at the rate of the disk. Without fusing, sharing cannot gain more than
`max(N*R, N*C) / max(R, N*C)`, where the last R is that of the job that reads most. Targets are for R-MAT of scale 24; a
group of another scale names it. A figure is the median of its rounds; what stands beside it was measured in turn.
[RESULTS.md](RESULTS.md) explains more.
";

/// The beginning of the page of ranks.
pub const RANKS_INTRODUCTION: &str = "\
# Runs on ranks, measured

Written by `make bench-ranks` (`cargo xtask bench-ranks`) from `ranks.json`, which has every sample.

All ranks run on one machine: they share its processors, its memory and its disk. No figure comes from several machines.
A *rank* is a process of `tegula-mpi` under `mpirun`, with a shard that `tegula partition` has cut. *One process* is
`tegula` on the whole graph, with as many threads as all ranks have together. Bytes between ranks are counted on ranks that
are threads (`tegula run --ranks`), which send the same bytes. What is arithmetic, a model or a simulated link says so below
its table. *From disk* is a small budget (`--memory`, of each rank) and an empty page cache at the start of each run. A
sample of an iteration is the median of the iterations of a run. A figure is the median of its rounds; what stands beside
it was measured in turn, round by round, and the ratio is taken in each round. Targets are for R-MAT of scale 24.
*DFOGraph* is what its authors report (Yu et al., PPoPP 2021), on their machines and graphs.
[CLUSTER.md](../docs/CLUSTER.md) says how to run on ranks, and [RESULTS.md](RESULTS.md) explains the words.
";

/// The beginning of the page of libraries.
pub const PEERS_INTRODUCTION: &str = "\
# Beside the libraries people have today, measured

Written by `make bench-peers` (`cargo xtask bench-peers`) from `peers.json`, which has every sample.

A figure of tegula is the time of a whole process, `tegula run`: it starts, opens the graph, runs and prints a summary.
The graph with its rows was imported before, and lies in the page cache. A figure of a library is the time of the call
alone, in a process that holds the graph in the library's own form. Both are measured in turn, round by round, and the
ratio is taken in each round; a call of more than 4 seconds is measured once. Beside a figure stands the library with
the smaller median; a line below the table has the other one. Versions are those of `bench/requirements.txt`.

*pagerank*, *bfs*, *wcc* and *scc* are of the graph with its directions, the others of the simple undirected graph.
igraph's PageRank iterates to convergence. A call counts only if it finds the same: vertices reached and the greatest
distance, components, the greatest core number, triangles, bridges, the diameter, the greatest centrality (NetworKit
draws its own sources), and a first rank that is among our ten. A search may take 1.5 times as long as the better
library, or 10 ms more, whichever is more. *betweenness, exact* is from all vertices. On the R-MAT graph the time of
tegula is that of the run alone, and may be that of NetworKit; `RESULTS.md` has the other algorithms on such a graph.

*Communities* are found with another seed in each round. igraph computes the modularity of all of them, and the NMI
with the true communities of LFR graphs (100,000 vertices; degrees of 20 on average and up to 50; 20 to 100 vertices in
a community). The time of tegula includes writing them to a file. Qualities are compared by the four digits that stand
in the table. *leiden* makes 3 iterations, its default; igraph's default is 2. *Until stable* iterates until nothing
changes.

*The choice of executors* is a breadth-first search with the default, `--executor auto`, beside the better of `scan` and
`seek` at each of 20 random sources; a time is the median of up to 3 runs and includes opening the graph. *In memory* is
with the graph in the page cache, *from disk* with an empty one and within 512 MiB. The ratio of all sources is their
median with the least and the greatest. The three sources with the worst ratios are measured a second time, because
the machine may have slowed a run; a row of its own has the worst of them with all of its runs.
";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::figure::{Of, Unit};

    fn group(name: &str, figures: usize) -> Measured {
        let figure = |at: usize| {
            let figure = Figure::new(format!("{name} {at}"), Unit::Seconds, vec![0.1 * at as f64]);
            figure.at_most(Of::Value, 0.25, None)
        };
        Measured {
            title: format!("The {name}, all"),
            remarks: vec![format!("a remark on {name}")],
            ..Measured::sample(name, (1..=figures).map(figure).collect())
        }
    }

    #[test]
    fn a_group_on_a_smaller_graph_names_its_scale() {
        let full = Measured { rounds: 5, ..group("full", 3) };
        assert!(origin(&full).contains("commit 0123456, 1 round, load"), "{}", origin(&full));
        let seconds = Figure::new("a", Unit::Seconds, vec![1.0, 2.0, 3.0]);
        let small = Measured { scale: 22, figures: vec![seconds], ..full };
        assert!(origin(&small).contains("commit 0123456, scale 22, 3 rounds, load"));
    }

    #[test]
    fn a_long_group_has_a_page_of_its_own() {
        let mut results = Results::new();
        results.groups = vec![group("short", 3), group("long", FIGURES_MAX + 1)];
        let pages = pages("RESULTS.md", "# Measured\n", &results);
        let names: Vec<&str> = pages.iter().map(|page| &*page.name).collect();
        assert_eq!(names, ["RESULTS.md", "long.md"]);
        let main = &pages[0].text;
        assert!(
            main.contains("| [The short, all](#the-short-all) | short 1 | 100 ms |  |  | 2 of 3 |")
        );
        assert!(main.contains("| short 3 | 300 ms |") && main.contains("* a remark on short"));
        assert!(main.contains("21 figures, 2 of 21 targets reached: [all of them](long.md)."));
        assert!(!main.contains("| long 2 |") && !main.contains("a remark on long"));
        assert!(pages[1].text.contains("| long 21 | 2.10 s |"));
        assert!(pages[1].text.contains("* a remark on long"));
    }
}
