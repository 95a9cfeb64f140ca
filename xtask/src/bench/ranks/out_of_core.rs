//! A graph whose arrays and tiles are on disk, on two ranks and on one machine with the memory of
//! both.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::cut::Cut;
use super::mpi::{Mpi, Share, bytes_read};
use crate::bench::figure::{Figure, Of, Ratio, Unit, median};
use crate::bench::figures::arrays::{self, ITERATIONS};
use crate::bench::lab::{Lab, SCALE, text};
use crate::bench::tracks::Tracks;
use crate::tegula::command::{numbers, vertex, whole};
use crate::tegula::scratch::remove;
use crate::tegula::{Result, units};

/// The graph has this many times more vertices (log2) than the main graph, unless `--vertices` says
/// how many, and this many edges a vertex.
const STEPS: u32 = 3;
const DEGREE: u64 = 4;
/// Targets are for this number of vertices (log2), and this budget of a rank, in MiB.
const VERTICES_LOG2: u32 = SCALE + STEPS;
const BUDGET: u64 = 256;
/// The undirected graph takes the most bytes on disk. An edge takes these in both directions, in the
/// tiles of the graph and of its shards. A vertex takes these in two tables, and in the arrays of
/// both ranks.
const ROOM_PER_EDGE: u64 = 32;
const ROOM_PER_VERTEX: u64 = 80;
const RANKS: usize = 2;
/// The most rounds of whole runs, which take long.
const ROUNDS_MAX: usize = 3;
/// How much longer ranks may take.
const LONGER: f64 = 1.5;
/// Bytes that are compared at once.
const CHUNK: usize = 1 << 20;
/// The plot of the bytes that ranks move in PageRank.
const PLOT: &str = "ranks-bytes";
const WHAT_IS_PLOTTED: &str = "The plot shows the last run of PageRank on ranks, as in Figure 5 of DFOGraph. A bar is an iteration, and \
    its height is the mean rate. The first bar includes what comes before the first iteration. In the last bar, ranks \
    gather the states of all vertices.";

/// Measures PageRank and a search.
pub fn directed(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    measured(lab, searches)
}

/// Measures components. It is a group of its own because figures are kept only when a group ends,
/// and each group takes a quarter of an hour or more.
pub fn undirected(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    measured(lab, components)
}

/// Measures where MPI is there and the disk has room for a graph. Leaves no large file behind, even
/// where it fails.
fn measured(
    lab: &mut Lab<'_>,
    measure: impl Fn(&mut Lab<'_>, &Mpi, u32) -> Result<Vec<Figure>>,
) -> Result<Vec<Figure>> {
    let Some(mpi) = Mpi::find(lab)? else { return Ok(Vec::new()) };
    let log2 = lab.settings.vertices_log2.unwrap_or(lab.settings.scale + STEPS);
    let room = ((DEGREE * ROOM_PER_EDGE) + ROOM_PER_VERTEX) << log2;
    let name = format!("a graph of 2^{log2} vertices with its shards, tables and arrays");
    lab.discard(|_| true)?;
    if !lab.has_room(room, &name)? {
        return Ok(Vec::new());
    }
    let figures = measure(lab, &mpi, log2);
    remove_files(lab)?;
    figures
}

fn searches(lab: &mut Lab<'_>, mpi: &Mpi, log2: u32) -> Result<Vec<Figure>> {
    let mut figures = Vec::new();
    let Some(subject) = Subject::make(lab, mpi, log2, &[])? else { return Ok(figures) };
    let source = vertex(&lab.pagerank(&subject.graph, 1, None)?, "/summary/top/0/vertex")?;
    let iterations = ITERATIONS.to_string();
    let ranks = Run {
        title: "PageRank iteration",
        algorithm: "pagerank",
        options: &["--iterations", &iterations],
        seconds: arrays::iteration,
        plot: Some(PLOT),
    };
    let search = Run {
        title: "BFS",
        algorithm: "bfs",
        options: &["--source", &source],
        seconds: all_iterations,
        plot: None,
    };
    if let Some(figure) = subject.measure(lab, &ranks)? {
        figures.push(figure);
        lab.remarks.push(WHAT_IS_PLOTTED.to_owned());
    }
    figures.extend(subject.measure(lab, &search)?);
    Ok(figures)
}

fn components(lab: &mut Lab<'_>, mpi: &Mpi, log2: u32) -> Result<Vec<Figure>> {
    let subject = Subject::make(lab, mpi, log2, &["--undirected"])?;
    let Some(subject) = subject else { return Ok(Vec::new()) };
    let components = Run {
        title: "WCC",
        algorithm: "wcc",
        options: &["--method", "propagation"],
        seconds: all_iterations,
        plot: None,
    };
    Ok(subject.measure(lab, &components)?.into_iter().collect())
}

/// Removes the graph, its shards and the tables.
fn remove_files(lab: &Lab<'_>) -> Result<()> {
    arrays::remove_files(lab)?;
    remove(&lab.cut_folder(RANKS))?;
    tables(lab).iter().try_for_each(|table| Ok(remove(table)?))
}

/// Returns the tables of both ways.
fn tables(lab: &Lab<'_>) -> [PathBuf; 2] {
    ["ranks.csv", "machine.csv"].map(|name| lab.scratch.join(name))
}

/// A graph, whole and cut.
struct Subject<'m> {
    mpi: &'m Mpi,
    graph: PathBuf,
    cut: Cut,
    name: String,
    /// Log2 of its vertices.
    log2: u32,
}

/// What runs on it.
struct Run<'r> {
    title: &'r str,
    algorithm: &'r str,
    options: &'r [&'r str],
    /// Returns the time that counts.
    seconds: fn(&Value) -> Result<f64>,
    /// The plot of the bytes that ranks move, if there is one.
    plot: Option<&'static str>,
}

/// The two ways to run it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Ranks,
    Machine,
}

const WAYS: [Way; 2] = [Way::Ranks, Way::Machine];

/// Samples of a way, in the order of measurement.
#[derive(Debug, Default)]
struct Samples {
    seconds: Vec<f64>,
    bytes_read: Vec<f64>,
}

impl<'m> Subject<'m> {
    /// Makes a graph of 2^`log2` vertices and cuts it. `None` where the disk has no room.
    fn make(
        lab: &mut Lab<'_>,
        mpi: &'m Mpi,
        log2: u32,
        options: &[&str],
    ) -> Result<Option<Subject<'m>>> {
        let made = arrays::uniform(lab, log2, DEGREE << log2, options)?;
        let Some((graph, name)) = made else { return Ok(None) };
        let cut = lab.cut(&graph, RANKS)?;
        Ok(Some(Subject { mpi, graph, cut, name, log2 }))
    }

    /// Measures both ways in turn. `None`, and a remark, where the command refuses one of them.
    fn measure(&self, lab: &mut Lab<'_>, run: &Run<'_>) -> Result<Option<Figure>> {
        let memory = self.memory(lab, run)?;
        let budget = units::bytes(memory as f64);
        let title = format!("{}, {}, {RANKS} ranks within {budget} each", run.title, self.name);
        let tables = tables(lab);
        // Tables are the same in every round, so they are written before the rounds only.
        for (way, table) in WAYS.into_iter().zip(&tables) {
            if let Err(refusal) = self.run(lab, run, way, memory, Some(table)) {
                tables.iter().try_for_each(|table| remove(table))?;
                lab.leave_out(&format!("{title}. The command says: {refusal}"));
                return Ok(None);
            }
        }
        let table_bytes = bytes_of_equal(&tables[0], &tables[1])?;
        tables.iter().try_for_each(|table| remove(table))?;
        let mut found = [Samples::default(), Samples::default()];
        let mut tracks = None;
        for _ in 0..lab.settings.rounds.min(ROUNDS_MAX) {
            for (way, samples) in WAYS.into_iter().zip(&mut found) {
                let report = self.run(lab, run, way, memory, None)?;
                samples.seconds.push((run.seconds)(&report)?);
                samples.bytes_read.push(bytes_read(&report)?);
                if let (Way::Ranks, Some(plot)) = (way, run.plot) {
                    tracks = Some(Tracks::of(&report, plot)?);
                }
            }
        }
        let [ranks, machine] = found;
        let [read, read_alone] = [ranks.bytes_read, machine.bytes_read].map(|it| median(&it));
        let [read, read_alone, table_bytes] =
            [read, read_alone, table_bytes as f64].map(units::bytes);
        let beside = format!("one machine within {}", units::bytes((RANKS as u64 * memory) as f64));
        let figure = Figure::new(title, Unit::Seconds, ranks.seconds)
            .compared_with(beside, machine.seconds, Ratio::TimesAsLong)
            .note(format!(
                "a run reads {read} on all ranks together and {read_alone} on one machine; both write \
                 the same table of {table_bytes}"
            ));
        let figure = Figure { tracks, ..figure };
        let has_target = self.log2 == VERTICES_LOG2;
        Ok(Some(if has_target { figure.at_most(Of::Ratio, LONGER, None) } else { figure }))
    }

    /// Runs one way within `memory` for each rank, or that of all ranks on one machine.
    fn run(
        &self,
        lab: &Lab<'_>,
        run: &Run<'_>,
        way: Way,
        memory: u64,
        table: Option<&Path>,
    ) -> Result<Value> {
        let mut options = run.options.to_vec();
        if let Some(table) = table {
            options.extend(["-o", text(table)?, "--force"]);
        }
        match way {
            Way::Ranks => {
                let share = Share { threads: 1, memory: Some(memory) };
                self.mpi.run(lab, run.algorithm, &self.cut, share, &options)
            }
            Way::Machine => {
                let threads = RANKS.to_string();
                options.extend(["--threads", &threads]);
                lab.run(run.algorithm, &self.graph, Some(RANKS as u64 * memory), &options)
            }
        }
    }

    /// Returns the budget of a rank, in proportion to the vertices. Small graphs get at least what
    /// one process needs, because the needs do not shrink with them.
    fn memory(&self, lab: &Lab<'_>, run: &Run<'_>) -> Result<u64> {
        let memory = ((BUDGET << 20) << self.log2) >> VERTICES_LOG2;
        if self.log2 >= VERTICES_LOG2 {
            return Ok(memory);
        }
        let options = [run.options, &["--estimate"]].concat();
        let estimate = lab.run(run.algorithm, &self.graph, None, &options)?;
        let needed = whole(&estimate, "/needed_bytes")?;
        Ok(memory.max(needed + needed / 16))
    }
}

/// Returns the time of all iterations of a run.
fn all_iterations(run: &Value) -> Result<f64> {
    Ok(numbers(run, "/iteration_seconds")?.iter().sum())
}

/// Returns the size of two files that have the same bytes.
///
/// # Errors
/// Where they differ.
fn bytes_of_equal(one: &Path, other: &Path) -> Result<u64> {
    let open = |path: &Path| File::open(path).map(|file| BufReader::with_capacity(CHUNK, file));
    let (mut one_file, mut other_file) = (open(one)?, open(other)?);
    let (mut chunk, mut other_chunk) = (Vec::new(), Vec::new());
    let mut bytes = 0;
    loop {
        for (file, chunk) in [(&mut one_file, &mut chunk), (&mut other_file, &mut other_chunk)] {
            chunk.clear();
            file.take(CHUNK as u64).read_to_end(chunk)?;
        }
        if chunk != other_chunk {
            return Err(format!("{} and {} differ", one.display(), other.display()).into());
        }
        if chunk.is_empty() {
            return Ok(bytes);
        }
        bytes += chunk.len() as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_files_are_told_from_others() {
        let folder = std::env::temp_dir().join(format!("tegula-equal-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = |name: &str, length: usize, last: u8| {
            let mut bytes = vec![7; length];
            bytes.push(last);
            std::fs::write(folder.join(name), bytes).unwrap();
            folder.join(name)
        };
        let one = file("one", CHUNK + 5, 1);
        assert_eq!(bytes_of_equal(&one, &file("same", CHUNK + 5, 1)).unwrap(), CHUNK as u64 + 6);
        assert!(bytes_of_equal(&one, &file("other", CHUNK + 5, 2)).is_err());
        assert!(bytes_of_equal(&one, &file("longer", CHUNK + 6, 7)).is_err());
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
