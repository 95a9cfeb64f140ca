//! Every algorithm, with options, on graphs of several kinds.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::observed::{Time, threads, time};
use crate::bench::lab::{Lab, text};
use crate::tegula::Result;
use crate::tegula::command::number;
use crate::tegula::scratch::remove;

/// A graph and its properties.
pub struct Subject {
    pub title: String,
    pub graph: PathBuf,
    /// The time of building its rows.
    pub rows: Time,
    vertices: f64,
    edges: f64,
    /// Bytes of an edge in the tiles.
    edge_bytes: f64,
    /// The first vertices of the graph, by their ids.
    ids: Vec<u64>,
    is_undirected: bool,
}

/// How a graph is generated and imported.
struct Model {
    title: &'static str,
    words: fn(u32) -> Vec<String>,
    is_undirected: bool,
}

/// The scale of these graphs is lower by this than that of the main graph.
pub const STEPS_DOWN: u32 = 4;

/// The number of vertices in the files that some algorithms read.
const TOLD: usize = 64;

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

/// A skewed graph, a graph of communities without skew, and one with neither but many levels. The
/// last one has the edges of the third in one direction, so that it has no cycle.
const MODELS: [Model; 4] = [
    Model {
        title: "R-MAT",
        words: |scale| words(&["rmat", "--scale", &scale.to_string()]),
        is_undirected: true,
    },
    Model {
        title: "Watts-Strogatz",
        words: |scale| words(&["watts-strogatz", "--vertices", &(1u64 << scale).to_string()]),
        is_undirected: true,
    },
    Model { title: "grid", words: grid, is_undirected: true },
    Model { title: "grid, one way", words: grid, is_undirected: false },
];

fn grid(scale: u32) -> Vec<String> {
    let width = (1u64 << (scale / 2)).to_string();
    words(&["grid", "--width", &width, "--height", &width])
}

impl Subject {
    /// Generates and imports all graphs, with rows.
    pub fn all(lab: &Lab<'_>, scale: u32) -> Result<Vec<Subject>> {
        MODELS.iter().map(|model| Subject::make(lab, model, scale)).collect()
    }

    fn make(lab: &Lab<'_>, model: &Model, scale: u32) -> Result<Subject> {
        let edges = lab.scratch.join("estimated.wel");
        let mut generate = words(&["generate"]);
        generate.extend((model.words)(scale));
        generate.extend(words(&["--weighted", "-o", text(&edges)?]));
        lab.tegula.json(&generate)?;
        let ids = first_ids(&edges)?;
        let title = format!("{} {scale}", model.title);
        let graph = lab.scratch.join(&format!("estimated-{}.tegula", title.replace(' ', "-")));
        let mut import = vec!["import", text(&edges)?, "-o", text(&graph)?, "--weighted"];
        // A run that finds no rows builds them in this encoding.
        import.extend(["--layouts", "tiles,rows,reverse", "--row-encoding", "gap"]);
        import.extend(model.is_undirected.then_some("--undirected"));
        let report = lab.tegula.json(&import)?;
        remove(&edges)?;
        // An undirected graph's rows are their own reverse.
        let built = if model.is_undirected { 1.0 } else { 2.0 };
        let [edges, vertices] = [number(&report, "/edges")?, number(&report, "/vertices")?];
        let thread_seconds = number(&report, "/stage_seconds/rows")? * threads();
        let estimate = lab.run("degree", &graph, None, &["--estimate"])?;
        let edge_bytes = number(&estimate, "/work/edge_bytes")?;
        let rows = time((built * edges, edge_bytes, built * vertices), built, thread_seconds);
        let is_undirected = model.is_undirected;
        Ok(Subject { title, graph, rows, vertices, edges, edge_bytes, ids, is_undirected })
    }

    /// Returns the time of writing its first vertex's component, nearly the whole graph, as a
    /// graph.
    pub fn written(&self, lab: &Lab<'_>) -> Result<Time> {
        let written = lab.scratch.join("written.tegula");
        let first = self.ids.first().copied().unwrap_or_default().to_string();
        let options = ["--component", &first, "-o", text(&written)?];
        let run = lab.run("subgraph", &self.graph, None, &options)?;
        remove(&written)?;
        let thread_seconds = number(&run, "/seconds/write")? * threads();
        Ok(time((self.edges, self.edge_bytes, self.vertices), 1.0, thread_seconds))
    }

    /// Removes the graph.
    pub fn discard(&self) -> Result<()> {
        Ok(remove(&self.graph)?)
    }
}

/// Returns the ids of the first sources of a text.
fn first_ids(edges: &Path) -> Result<Vec<u64>> {
    use std::io::BufRead;
    let mut ids = Vec::new();
    for line in std::io::BufReader::new(fs::File::open(edges)?).lines() {
        let line = line?;
        ids.extend(line.split_whitespace().next().and_then(|id| id.parse::<u64>().ok()));
        ids.dedup();
        if ids.len() == TOLD {
            break;
        }
    }
    Ok(ids)
}

/// An algorithm with options.
pub struct Case {
    /// The kind of its work.
    pub kind: &'static str,
    pub algorithm: &'static str,
    pub options: Vec<String>,
    /// Options with which it runs until nothing changes, if it can.
    pub until_stable: Option<Vec<String>>,
}

impl Case {
    fn new(kind: &'static str, options: &[&str]) -> Case {
        // The name is followed by words.
        let algorithm = kind.split([' ', ',']).next().unwrap_or(kind);
        Case { kind, algorithm, options: words(options), until_stable: None }
    }

    /// A case that makes a fixed number of rounds with the options `rounds`, and stops when nothing
    /// changes with `until_stable`.
    fn in_rounds(kind: &'static str, rounds: &[&str], until_stable: &[&str]) -> Case {
        Case { until_stable: Some(words(until_stable)), ..Case::new(kind, rounds) }
    }

    /// Returns the share of the given rounds that a run has made: it ends early where nothing
    /// changes any more.
    pub fn share_done(&self, estimate: &Value, run: &Value) -> Result<f64> {
        if self.until_stable.is_none() {
            return Ok(1.0);
        }
        Ok((number(run, "/iterations")? / number(estimate, "/work/rounds")?).min(1.0))
    }

    /// Returns the estimate of the run.
    pub fn estimate(&self, lab: &Lab<'_>, subject: &Subject) -> Result<Value> {
        self.with(lab, subject, None, &["--estimate"])
    }

    /// Runs it, with everything in memory.
    pub fn run(&self, lab: &Lab<'_>, subject: &Subject) -> Result<Value> {
        self.with(lab, subject, None, &[])
    }

    /// Runs it until nothing changes, if it can.
    pub fn run_until_stable(&self, lab: &Lab<'_>, subject: &Subject) -> Result<Option<Value>> {
        let Some(options) = &self.until_stable else { return Ok(None) };
        let options: Vec<&str> = options.iter().map(String::as_str).collect();
        Ok(Some(lab.run(self.algorithm, &subject.graph, None, &options)?))
    }

    /// Runs it from disk within a budget.
    pub fn run_within(&self, lab: &Lab<'_>, subject: &Subject, memory: u64) -> Result<Value> {
        self.with(lab, subject, Some(memory), &[])
    }

    fn with(
        &self,
        lab: &Lab<'_>,
        subject: &Subject,
        memory: Option<u64>,
        more: &[&str],
    ) -> Result<Value> {
        let mut options: Vec<&str> = self.options.iter().map(String::as_str).collect();
        options.extend(more);
        lab.run(self.algorithm, &subject.graph, memory, &options)
    }
}

/// Files for options.
struct Files {
    vertices: String,
    pairs: String,
    sets: String,
    potential: String,
    potential_of_three: String,
}

impl Files {
    fn write(lab: &Lab<'_>, subject: &Subject) -> Result<Files> {
        let mut lines = [const { String::new() }; 3];
        for (index, id) in subject.ids.iter().enumerate() {
            writeln!(lines[0], "{id}")?;
            writeln!(lines[1], "{id} {}", subject.ids[(7 * index + 1) % subject.ids.len()])?;
            writeln!(lines[2], "{id} {}", index % 4)?;
        }
        let [vertices, pairs, sets] = &lines;
        let written = |name: &str, content: &str| -> Result<String> {
            let path = lab.scratch.join(name);
            fs::write(&path, content)?;
            Ok(text(&path)?.to_owned())
        };
        Ok(Files {
            vertices: written("vertices.txt", vertices)?,
            pairs: written("pairs.txt", pairs)?,
            sets: written("sets.txt", sets)?,
            potential: written("potential.txt", "3 1\n1 2\n")?,
            potential_of_three: written("potential-3.txt", "3 1 1\n1 2 1\n1 1 2\n")?,
        })
    }
}

/// Returns a case for every algorithm that suits the graph.
pub fn of(lab: &Lab<'_>, subject: &Subject) -> Result<Vec<Case>> {
    let files = Files::write(lab, subject)?;
    let source = subject.ids.first().copied().unwrap_or_default().to_string();
    let target = subject.ids.last().copied().unwrap_or_default().to_string();
    let from = ["--source", source.as_str()];
    let ten = ["--iterations", "10"];
    let stop_after_ten = ["--tolerance", "0", "--max-iterations", "10"];
    let mut cases = vec![
        Case::in_rounds("pagerank", &ten, &[]),
        Case::in_rounds(
            "pagerank, weighted",
            &["--weighted", "--iterations", "10"],
            &["--weighted"],
        ),
        Case::new("spmv", &ten),
        Case::in_rounds("eigenvector", &stop_after_ten, &[]),
        Case::in_rounds("katz", &stop_after_ten, &[]),
        Case::in_rounds("hits", &stop_after_ten, &[]),
        Case::new("bfs", &from),
        Case::new("wcc", &[]),
        Case::new("degree", &[]),
        Case::new("scc", &[]),
        Case::new("kcore", &[]),
        Case::new("k-hop", &[&from[..], &["--hops", "3"]].concat()),
        Case::new("cdlp", &ten),
        Case::new("lcc", &[]),
        Case::new("triangles", &[]),
        Case::new("triangles, approximate", &["--approximate", "--hashes", "8"]),
        Case::in_rounds("label-propagation", &["--max-iterations", "5"], &[]),
        Case::new("similarity", &["--sources", &files.vertices]),
        Case::new("similarity of pairs", &["--pairs", &files.pairs]),
        Case::new("conductance", &["--sets", &files.sets]),
        Case::new("conductance, weighted", &["--weighted", "--sets", &files.sets]),
        Case::new("random-walks", &["--length", "20", "--walks", "2"]),
        Case::new("sssp", &from),
        Case::new("sssp, dijkstra", &[&from[..], &["--method", "dijkstra"]].concat()),
        Case::new("astar", &[&from[..], &["--target", &target]].concat()),
        Case::new("closeness", &["--samples", "64"]),
        Case::new("harmonic", &["--samples", "64"]),
        Case::new("betweenness", &["--samples", "4"]),
        Case::new("betweenness, weighted", &["--weighted", "--samples", "2"]),
        Case::new("subgraph", &["--vertices", &files.vertices]),
        Case::new("subgraph of a component", &["--component", &source]),
        Case::new("diameter", &["--max-searches", "64"]),
        Case::new("bridges", &[]),
        Case::new("louvain", &[]),
        Case::new("leiden", &[]),
    ];
    if subject.is_undirected {
        cases.extend([
            Case::new("wcc, propagation", &["--method", "propagation"]),
            Case::new("wcc, traversal", &["--method", "traversal"]),
            Case::new("mis", &[]),
            Case::new("mst", &[]),
        ]);
        let rounds = ["--tolerance", "0", "--iterations", "5"];
        for (kind, potential) in [
            ("belief-propagation", &files.potential),
            ("belief-propagation of any states", &files.potential_of_three),
        ] {
            let potential = ["--potential", potential];
            let told = [&potential[..], &rounds].concat();
            cases.push(Case::in_rounds(kind, &told, &potential));
        }
    } else {
        cases.push(Case::new("topological-order", &[]));
    }
    Ok(cases)
}
