//! A graph whose arrays and tiles are on disk, on two ranks and on one machine with the memory of
//! both.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::cut::Cut;
use super::mpi::{Mpi, Share, bytes_read};
use crate::bench::figure::{Figure, Of, Ratio, Unit, median};
use crate::bench::figures::arrays::{self, ITERATIONS, scaled};
use crate::bench::lab::{Lab, SCALE, text};
use crate::tegula::command::{numbers, vertex, whole};
use crate::tegula::scratch::remove;
use crate::tegula::{Result, units};

/// The graph has this many times more vertices (log2) than the main graph, and this many edges a
/// vertex.
const STEPS: u32 = 3;
const DEGREE: u64 = 4;
/// The budget of a rank in MiB, at the scale of targets.
const BUDGET: u64 = 256;
const RANKS: usize = 2;
/// The most rounds of whole runs, which take long.
const ROUNDS_MAX: usize = 3;
/// How much longer ranks may take.
const LONGER: f64 = 1.5;
/// Bytes that are compared at once.
const CHUNK: usize = 1 << 20;

/// Measures PageRank, a search and components.
pub fn all(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    let Some(mpi) = Mpi::find(lab)? else { return Ok(Vec::new()) };
    let log2 = lab.settings.scale + STEPS;
    let mut figures = Vec::new();
    let made = arrays::uniform(lab, log2, DEGREE << log2, &[])?;
    let Some((graph, name)) = made else { return Ok(Vec::new()) };
    let source = vertex(&lab.pagerank(&graph, 1, None)?, "/summary/top/0/vertex")?;
    let iterations = ITERATIONS.to_string();
    let subject = Subject { mpi: &mpi, cut: lab.cut(&graph, RANKS)?, graph, name };
    let ranks = Run {
        title: "PageRank iteration",
        algorithm: "pagerank",
        options: &["--iterations", &iterations],
        seconds: arrays::iteration,
    };
    let search = Run {
        title: "BFS",
        algorithm: "bfs",
        options: &["--source", &source],
        seconds: all_iterations,
    };
    figures.extend(subject.measure(lab, &ranks)?);
    figures.extend(subject.measure(lab, &search)?);
    subject.discard()?;
    let made = arrays::uniform(lab, log2, DEGREE << log2, &["--undirected"])?;
    let Some((graph, name)) = made else { return Ok(figures) };
    let subject = Subject { mpi: &mpi, cut: lab.cut(&graph, RANKS)?, graph, name };
    let components = Run {
        title: "WCC",
        algorithm: "wcc",
        options: &["--method", "propagation"],
        seconds: all_iterations,
    };
    figures.extend(subject.measure(lab, &components)?);
    subject.discard()?;
    Ok(figures)
}

/// A graph, whole and cut.
struct Subject<'m> {
    mpi: &'m Mpi,
    graph: PathBuf,
    cut: Cut,
    name: String,
}

/// What runs on it.
struct Run<'r> {
    title: &'r str,
    algorithm: &'r str,
    options: &'r [&'r str],
    /// Returns the time that counts.
    seconds: fn(&Value) -> Result<f64>,
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

impl Subject<'_> {
    /// Measures both ways in turn. `None`, and a remark, where the command refuses one of them.
    fn measure(&self, lab: &mut Lab<'_>, run: &Run<'_>) -> Result<Option<Figure>> {
        let memory = self.memory(lab, run)?;
        let budget = units::bytes(memory as f64);
        let title = format!("{}, {}, {RANKS} ranks within {budget} each", run.title, self.name);
        let tables = ["ranks.csv", "machine.csv"].map(|name| lab.scratch.join(name));
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
        for _ in 0..lab.settings.rounds.min(ROUNDS_MAX) {
            for (way, samples) in WAYS.into_iter().zip(&mut found) {
                let report = self.run(lab, run, way, memory, None)?;
                samples.seconds.push((run.seconds)(&report)?);
                samples.bytes_read.push(bytes_read(&report)?);
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
        let wanted = |figure: Figure| figure.at_most(Of::Ratio, LONGER, None);
        Ok(Some(lab.with_targets(figure, wanted)))
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

    /// Returns the budget of a rank. Small graphs get at least what one process needs, because the
    /// needs do not shrink with them.
    fn memory(&self, lab: &Lab<'_>, run: &Run<'_>) -> Result<u64> {
        let memory = scaled(lab, BUDGET);
        if lab.settings.scale >= SCALE {
            return Ok(memory);
        }
        let options = [run.options, &["--estimate"]].concat();
        let estimate = lab.run(run.algorithm, &self.graph, None, &options)?;
        let needed = whole(&estimate, "/needed_bytes")?;
        Ok(memory.max(needed + needed / 16))
    }

    fn discard(self) -> Result<()> {
        remove(&self.graph)?;
        self.cut.discard()
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
