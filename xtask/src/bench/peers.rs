//! Other libraries from PyPI, each in turn with `tegula` on the same graph.
//!
//! A library is quoted only if it has loaded the given graph and finds the same answers.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::figure::{Figure, Of, Ratio, Unit, median};
use super::lab::{Lab, Prepared, text};
use crate::tegula::command::{Worker, number, numbers, vertex, whole};
use crate::tegula::scratch::remove;
use crate::tegula::{Result, units};

/// Rounds of whole runs: some take the libraries minutes.
const ROUNDS_MAX: usize = 3;
/// Iterations of a PageRank run.
const ITERATIONS: u64 = 10;
/// Vertices from which paths are counted.
const SAMPLES: u64 = 16;
/// How much less the modularity of our communities may be than that of a library.
const MODULARITY_TOLERANCE: f64 = 0.01;
/// How far the sum of a library's ranks may be from 1.
const SUM_TOLERANCE: f64 = 1e-3;

const WHAT_IS_TIMED: &str = "The libraries hold their graph in memory before the time begins; a whole run of \
    tegula reads it from the page cache first. \
    Quoted are those with the same vertices and edges, first rank, vertices reached and components.";

/// A library, and the graph it is measured on.
struct Peer {
    name: &'static str,
    title: &'static str,
    /// The scale of its graph is lower by this, so that it is loaded and measured in minutes.
    steps: u32,
    /// Memory that it needs to load the graph, per edge; found by trial.
    bytes_per_edge: u64,
    /// Whether its PageRank runs a given number of iterations, or converges in its own way.
    has_iterations: bool,
}

const PEERS: [Peer; 4] = [
    Peer {
        name: "graphblas",
        title: "SuiteSparse:GraphBLAS",
        steps: 2,
        bytes_per_edge: 72,
        has_iterations: true,
    },
    Peer { name: "scipy", title: "SciPy", steps: 2, bytes_per_edge: 40, has_iterations: true },
    Peer {
        name: "networkit",
        title: "NetworKit",
        steps: 2,
        bytes_per_edge: 96,
        has_iterations: true,
    },
    Peer { name: "igraph", title: "igraph", steps: 4, bytes_per_edge: 240, has_iterations: false },
];

/// Measures every library.
pub fn all(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    let python = environment(lab, "requirements")?;
    let mut figures = Vec::new();
    lab.remarks.push(WHAT_IS_TIMED.to_owned());
    for peer in PEERS {
        let wanted = lab.settings.scale - peer.steps;
        let scale = scale_that_fits(&peer, wanted);
        if scale < wanted {
            let text =
                format!("{}: R-MAT {scale}, since {wanted} would not fit memory.", peer.title);
            lab.remarks.push(text);
        }
        let graph = lab.rmat(scale)?;
        // A library that fails does not stop the others.
        match measure(lab, &python, &peer, &graph) {
            Ok(found) => figures.extend(found),
            Err(error) => lab.remarks.push(format!("{} is left out: {error}.", peer.title)),
        }
    }
    Ok(figures)
}

/// Returns a Python with the libraries of `bench/NAME.txt`; it is made anew when that file changes.
pub fn environment(lab: &Lab<'_>, name: &str) -> Result<PathBuf> {
    let folder = lab.root.join(format!("bench/.venv-{name}"));
    let (python, installed) = (folder.join("bin/python"), folder.join("installed.txt"));
    let requirements = lab.root.join(format!("bench/{name}.txt"));
    let required = fs::read(&requirements)?;
    if fs::read(&installed).is_ok_and(|installed| installed == required) {
        return Ok(python);
    }
    remove(&folder)?;
    finish(Command::new("python3").args(["-m", "venv"]).arg(&folder))?;
    let install =
        ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement"];
    finish(Command::new(&python).args(install).arg(&requirements))?;
    fs::write(&installed, required)?;
    Ok(python)
}

/// Runs a program.
///
/// # Errors
/// Where it fails.
pub fn finish(command: &mut Command) -> Result<()> {
    let status = command.stdin(Stdio::null()).status()?;
    if !status.success() {
        return Err(format!("{} failed", command.get_program().to_string_lossy()).into());
    }
    Ok(())
}

/// Returns the largest scale, in steps of 2, whose graph the library can load into free memory.
fn scale_that_fits(peer: &Peer, wanted: u32) -> u32 {
    let memory = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let free = memory.lines().find_map(|line| {
        let kibibytes = line.strip_prefix("MemAvailable:")?.trim().strip_suffix("kB")?;
        kibibytes.trim().parse::<u64>().ok()
    });
    let fits =
        |scale: u32| free.is_none_or(|kib| (peer.bytes_per_edge * 16) << scale <= kib * 1024);
    (0..=wanted).rev().step_by(2).find(|&scale| fits(scale)).unwrap_or(0)
}

/// A library that holds a graph.
struct Loaded<'a> {
    peer: &'a Peer,
    graph: &'a Prepared,
    worker: Worker,
    title: String,
    /// Vertices without an edge, which the library has and `tegula` does not.
    isolated: u64,
}

/// Starts a library, which loads a generated graph; returns it and what it says of the graph.
///
/// # Errors
/// Where it fails, or has another graph in the end.
pub fn load(lab: &Lab<'_>, python: &Path, name: &str, graph: &Prepared) -> Result<(Worker, Value)> {
    let found = start(lab, python, name, &graph.pairs, 1 << graph.scale, &[])?;
    check_counts(&found.1, graph)?;
    Ok(found)
}

/// Starts a library, which loads pairs of ids below `vertices`; returns it and what it says of its
/// graph.
pub fn start(
    lab: &Lab<'_>,
    python: &Path,
    name: &str,
    pairs: &Path,
    vertices: u64,
    options: &[&str],
) -> Result<(Worker, Value)> {
    let mut command = Command::new(python);
    command.arg(lab.root.join("bench/peers.py"));
    command.args([name, text(pairs)?, &vertices.to_string()]).args(options);
    let mut worker = Worker::start(&mut command)?;
    let about = worker.answer()?;
    Ok((worker, about))
}

fn measure(lab: &Lab<'_>, python: &Path, peer: &Peer, graph: &Prepared) -> Result<Vec<Figure>> {
    let (worker, about) = load(lab, python, peer.name, graph)?;
    let word = |path: &str| about.pointer(path).and_then(Value::as_str).unwrap_or_default();
    let title = format!("{} {}", peer.title, word("/version"));
    let isolated = whole(&about, "/vertices")? - graph.vertices;
    let (edges, threads) = (whole(&about, "/edges")?, whole(&about, "/threads")?);
    let load = units::seconds(number(&about, "/load_seconds")?);
    let threads = if threads == 1 { "1 thread".to_owned() } else { format!("{threads} threads") };
    let mut loaded = Loaded { peer, graph, worker, title, isolated };
    let mut figures = vec![loaded.pagerank(lab)?];
    let first = figures.remove(0).note(format!(
        "{}: {} edges in memory, loaded in {load}, {threads}",
        loaded.title,
        units::count(edges)
    ));
    figures.push(first);
    let algorithms = about.pointer("/algorithms").and_then(Value::as_array);
    let has = |name: &str| algorithms.is_some_and(|list| list.iter().any(|other| other == name));
    if has("bfs") {
        figures.push(loaded.bfs(lab)?);
    }
    if has("wcc") {
        figures.push(loaded.wcc(lab)?);
    }
    if has("kcore") {
        figures.push(loaded.scc(lab)?);
        figures.extend(loaded.of_simple_graph(lab)?);
    }
    Ok(figures)
}

/// Checks that the library has the given graph.
fn check_counts(about: &Value, graph: &Prepared) -> Result<()> {
    let (vertices, edges) = (whole(about, "/vertices_with_edges")?, whole(about, "/edges")?);
    let merges = about.pointer("/merges_duplicates").and_then(Value::as_bool).unwrap_or(false);
    // In an R-MAT graph nearly all edges are distinct; small ones have more duplicates.
    let is_right = if merges {
        edges <= graph.edges && edges * 4 >= graph.edges * 3
    } else {
        edges == graph.edges
    };
    if vertices != graph.vertices || !is_right {
        let expected = format!("{} and {}", graph.vertices, graph.edges);
        return Err(format!("it has {vertices} vertices and {edges} edges, not {expected}").into());
    }
    Ok(())
}

/// Checks that the ranks of a library sum to 1, and that the vertex `first` has the greatest.
pub fn check_ranks(answer: &Value, first: &str) -> Result<()> {
    let (sum, top) = (number(answer, "/sum")?, vertex(answer, "/top")?);
    if (sum - 1.0).abs() > SUM_TOLERANCE || top != first {
        return Err(format!("its ranks sum to {sum}, the first is {top} and not {first}").into());
    }
    Ok(())
}

impl Loaded<'_> {
    /// Puts the times of a library beside ours.
    fn figure(&self, what: &str, ours: Vec<f64>, theirs: Vec<f64>) -> Figure {
        let title = format!("{what}, R-MAT {}, in memory", self.graph.scale);
        Figure::new(title, Unit::Seconds, ours).compared_with(
            &self.title,
            theirs,
            Ratio::TimesAsFast,
        )
    }

    fn pagerank(&mut self, lab: &Lab<'_>) -> Result<Figure> {
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..lab.settings.rounds {
            let answer = self.worker.ask(&format!("pagerank {ITERATIONS}"))?;
            check_ranks(&answer, &self.graph.hub)?;
            if self.peer.has_iterations {
                theirs.push(median(&numbers(&answer, "/iteration_seconds")?));
                let run = lab.pagerank(&self.graph.graph, ITERATIONS, None)?;
                ours.push(median(&numbers(&run, "/iteration_seconds")?));
            } else {
                theirs.push(number(&answer, "/seconds")?);
                let run = lab.run("pagerank", &self.graph.graph, None, &[])?;
                ours.push(number(&run, "/seconds/run")?);
            }
        }
        let has_iterations = self.peer.has_iterations;
        let what = if has_iterations { "PageRank iteration" } else { "PageRank to convergence" };
        Ok(self.figure(what, ours, theirs))
    }

    fn bfs(&mut self, lab: &Lab<'_>) -> Result<Figure> {
        let hub = self.graph.hub.clone();
        let ours = |run: &Value| whole(run, "/summary/reached");
        let theirs = |answer: &Value| whole(answer, "/reached");
        let request = format!("bfs {hub}");
        self.whole_runs(lab, "bfs", &["--source", &hub], &request, (&ours, &theirs))
    }

    fn wcc(&mut self, lab: &Lab<'_>) -> Result<Figure> {
        let isolated = self.isolated;
        let ours = move |run: &Value| Ok(whole(run, "/summary/components")? + isolated);
        let theirs = |answer: &Value| whole(answer, "/components");
        self.whole_runs(lab, "wcc", &[], "wcc", (&ours, &theirs))
    }

    fn scc(&mut self, lab: &Lab<'_>) -> Result<Figure> {
        let isolated = self.isolated;
        let ours = move |run: &Value| Ok(whole(run, "/summary/components")? + isolated);
        let theirs = |answer: &Value| whole(answer, "/components");
        self.whole_runs(lab, "scc", &[], "scc", (&ours, &theirs))
    }

    /// Measures what needs the simple undirected graph.
    fn of_simple_graph(&mut self, lab: &Lab<'_>) -> Result<[Figure; 3]> {
        let graph = lab.scratch.join("simple.tegula");
        let import = ["import", text(&self.graph.pairs)?, "-o", text(&graph)?, "--undirected"];
        let simple = ["--drop-duplicates", "--drop-loops", "--layouts", "tiles,rows"];
        lab.tegula.json(&[&import[..], &simple].concat())?;
        let same = |path: &'static str| {
            move |run: &Value, answer: &Value| -> Result<()> {
                let our = whole(run, &format!("/summary/{path}"))?;
                let their = whole(answer, &format!("/{path}"))?;
                is_same(path, our, their)
            }
        };
        let as_good = |run: &Value, answer: &Value| -> Result<()> {
            let our = number(run, "/summary/modularity")?;
            let their = number(answer, "/modularity")?;
            if our < their - MODULARITY_TOLERANCE {
                return Err(format!("its modularity is {their}, ours {our}").into());
            }
            Ok(())
        };
        let samples = SAMPLES.to_string();
        let request = format!("betweenness {SAMPLES}");
        let figures = [
            self.compared(lab, "kcore", &graph, &[], "kcore", &same("degeneracy"))?,
            self.compared(lab, "louvain", &graph, &[], "louvain", &as_good)?,
            self.compared(
                lab,
                "betweenness",
                &graph,
                &["--samples", &samples],
                &request,
                &same("sources"),
            )?,
        ];
        remove(&graph)?;
        Ok(figures.map(|figure| lab.with_targets(figure, |f| f.at_least(Of::Ratio, 1.0, None))))
    }

    /// Measures whole runs in turn; both must find the same number.
    fn whole_runs(
        &mut self,
        lab: &Lab<'_>,
        algorithm: &str,
        options: &[&str],
        request: &str,
        (our_count, their_count): (&CountIn<'_>, &CountIn<'_>),
    ) -> Result<Figure> {
        let graph = self.graph.graph.clone();
        self.compared(lab, algorithm, &graph, options, request, &|run, answer| {
            is_same(algorithm, our_count(run)?, their_count(answer)?)
        })
    }

    /// Measures whole runs on a graph in turn; `check` compares their answers.
    fn compared(
        &mut self,
        lab: &Lab<'_>,
        algorithm: &str,
        graph: &Path,
        options: &[&str],
        request: &str,
        check: &dyn Fn(&Value, &Value) -> Result<()>,
    ) -> Result<Figure> {
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..lab.settings.rounds.min(ROUNDS_MAX) {
            let run = lab.run(algorithm, graph, None, options)?;
            let answer = self.worker.ask(request)?;
            check(&run, &answer)?;
            ours.push(number(&run, "/seconds/run")?);
            theirs.push(number(&answer, "/seconds")?);
        }
        Ok(self.figure(&format!("{algorithm}, whole run"), ours, theirs))
    }
}

fn is_same(what: &str, our: u64, their: u64) -> Result<()> {
    if our != their {
        return Err(format!("its {what} finds {their}, ours {our}").into());
    }
    Ok(())
}

/// Finds the number in an answer that is compared.
type CountIn<'a> = dyn Fn(&Value) -> Result<u64> + 'a;
