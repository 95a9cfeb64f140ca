//! Graphs that tegula and the libraries hold in the same numbers.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use serde_json::Value;

use crate::bench::figures::rows::edge_list;
use crate::bench::figures::size::UNDIRECTED;
use crate::bench::graphs::Made;
use crate::bench::lab::{Lab, SCALE, text};
use crate::bench::peers::{environment, finish};
use crate::tegula::Result;
use crate::tegula::scratch::remove;

/// The vertices of a graph with known communities where others have [`SCALE`], and at least.
const LFR_VERTICES: u64 = 100_000;
const LFR_VERTICES_MIN: u64 = 1000;
/// The seed of graphs with known communities.
const LFR_SEED: &str = "1";
/// What makes the simple undirected graph.
const SIMPLE: [&str; 3] = ["--undirected", "--drop-duplicates", "--drop-loops"];

/// A graph whose vertices are numbered from 0 on, each with an edge.
pub struct Subject {
    /// The Python of the libraries.
    pub python: PathBuf,
    /// Pairs of 32-bit ids.
    pub pairs: PathBuf,
    /// Whether the graph is simple and undirected, so that [`Subject::simple`] is the same graph.
    pub is_undirected: bool,
    /// The graph with its directions.
    pub graph: Made,
    /// The graph without directions, loops and duplicates.
    pub simple: Made,
    /// The true communities by vertex, where they are known.
    pub truth: Option<PathBuf>,
}

impl Subject {
    /// Makes a graph of the data folder. Without its data there is a remark.
    pub fn of_data(lab: &mut Lab<'_>, name: &str) -> Result<Option<Subject>> {
        let Some(edges) = edge_list(lab, name) else { return Ok(None) };
        let python = environment(lab, "requirements")?;
        let is_undirected = UNDIRECTED.contains(&name);
        let [given, wide] = ["given.tegula", "given.bin64"].map(|file| lab.scratch.join(file));
        let mut import = vec!["import", text(&edges)?, "-o", text(&given)?, "--force"];
        import.extend(["--order", "given", "--layouts", "tiles"]);
        import.extend(is_undirected.then_some("--undirected"));
        lab.tegula.json(&import)?;
        lab.tegula.json(&["export", text(&given)?, "-o", text(&wide)?, "--force"])?;
        remove(&given)?;
        Subject::compacted(lab, python, name, &wide, is_undirected).map(Some)
    }

    /// Draws an R-MAT graph of a scale, with its directions.
    pub fn rmat(lab: &mut Lab<'_>, scale: u32) -> Result<Subject> {
        let python = environment(lab, "requirements")?;
        let wide = lab.scratch.join("given.bin64");
        lab.generate(scale, &wide)?;
        Subject::compacted(lab, python, &format!("R-MAT {scale}"), &wide, false)
    }

    /// Makes a subject of a file of 64-bit pairs: numbers its vertices from 0 on, and removes the
    /// file.
    fn compacted(
        lab: &Lab<'_>,
        python: PathBuf,
        title: &str,
        wide: &Path,
        is_undirected: bool,
    ) -> Result<Subject> {
        let pairs = lab.scratch.join("given.bin32");
        let script = lab.root.join("bench/graphs.py");
        finish(Command::new(&python).arg(script).arg("compact").args([wide, &pairs]))?;
        remove(wide)?;
        Subject::new(lab, python, title, pairs, is_undirected)
    }

    /// Draws an LFR graph, whose vertices have `mixing` percent of their edges to other communities.
    pub fn lfr(lab: &mut Lab<'_>, mixing: u32) -> Result<Subject> {
        let python = environment(lab, "requirements")?;
        let vertices = (LFR_VERTICES << lab.settings.scale) >> SCALE;
        let numbers = [vertices.max(LFR_VERTICES_MIN), mixing.into()].map(|n| n.to_string());
        let [pairs, truth] = ["lfr.bin32", "truth.npy"].map(|file| lab.scratch.join(file));
        let mut command = Command::new(&python);
        command.arg(lab.root.join("bench/graphs.py")).arg("lfr").args(numbers).arg(LFR_SEED);
        finish(command.args([&pairs, &truth]))?;
        let subject = Subject::new(lab, python, "LFR", pairs, true)?;
        Ok(Subject { truth: Some(truth), ..subject })
    }

    fn new(
        lab: &Lab<'_>,
        python: PathBuf,
        title: &str,
        pairs: PathBuf,
        is_undirected: bool,
    ) -> Result<Subject> {
        let simple = lab.with_rows(&format!("{title}, simple"), &pairs, &SIMPLE)?;
        let graph = if is_undirected { simple.clone() } else { lab.with_rows(title, &pairs, &[])? };
        Ok(Subject { python, pairs, is_undirected, graph, simple, truth: None })
    }

    /// Removes its files.
    pub fn discard(self) -> Result<()> {
        for path in [Some(self.pairs), Some(self.graph.graph), Some(self.simple.graph), self.truth]
        {
            path.map_or(Ok(()), |path| remove(&path))?;
        }
        Ok(())
    }
}

/// Runs an algorithm in memory; returns the seconds of the whole process, and what it prints.
pub fn whole_run(
    lab: &Lab<'_>,
    algorithm: &str,
    graph: &Made,
    options: &[&str],
) -> Result<(f64, Value)> {
    let started = Instant::now();
    let run = lab.run(algorithm, &graph.graph, None, options)?;
    Ok((started.elapsed().as_secs_f64(), run))
}
