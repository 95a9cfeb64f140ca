//! PageRank on two ranks, beside two libraries with two threads: NetworKit, and GraphX of Apache
//! Spark.

use serde_json::Value;

use super::cut::Cut;
use super::mpi::{Mpi, Share};
use crate::bench::figure::{Figure, Of, Ratio, Unit};
use crate::bench::lab::{Lab, Prepared};
use crate::bench::peers::{check_ranks, environment, load};
use crate::tegula::command::{first_line, number, numbers, vertex};
use crate::tegula::{Result, units};

/// The scale of the graph is lower by this than that of the main graph.
const STEPS: u32 = 4;
const RANKS: usize = 2;
const ITERATIONS: u64 = 20;
/// How much faster ranks are to be.
const TIMES_AS_FAST: f64 = 20.0;
const WHAT_IS_TIMED: &str = "A library holds its graph in memory before the time begins, and the time ends when it holds \
    the ranks of all vertices. A run of tegula begins with open shards, and reads the tiles from the page cache. \
    NetworKit takes all threads of the machine. The time in which GraphX loads its graph includes the start of Java, and \
    writing the graph as text.";

/// A library.
struct Peer {
    /// Its name in `bench/peers.py`.
    name: &'static str,
    title: &'static str,
    /// What it needs, a file in `bench` without its ending.
    requirements: &'static str,
    /// The program without which it does not run.
    program: Option<&'static str>,
    rounds_max: usize,
}

const PEERS: [Peer; 2] = [
    Peer {
        name: "networkit",
        title: "NetworKit",
        requirements: "requirements",
        program: None,
        rounds_max: usize::MAX,
    },
    Peer {
        name: "graphx",
        title: "GraphX of Apache Spark",
        requirements: "requirements-spark",
        program: Some("java"),
        rounds_max: 3,
    },
];

/// Measures tegula in turn with each library.
pub fn all(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    let Some(mpi) = Mpi::find(lab)? else { return Ok(Vec::new()) };
    let graph = lab.rmat(lab.settings.scale - STEPS)?;
    let cut = lab.cut(&graph.graph, RANKS)?;
    let mut figures = Vec::new();
    for peer in &PEERS {
        if let Some(program) = peer.program
            && first_line(program, &["-version"], lab.root).is_none()
        {
            lab.leave_out(&format!("{} needs `{program}` on the PATH.", peer.title));
            continue;
        }
        // A library that fails does not stop the other.
        match peer.measure(lab, &mpi, &graph, &cut) {
            Ok(figure) => figures.push(figure),
            Err(error) => lab.leave_out(&format!("{}: {error}.", peer.title)),
        }
    }
    cut.discard()?;
    lab.remarks.push(WHAT_IS_TIMED.to_owned());
    Ok(figures)
}

impl Peer {
    fn measure(&self, lab: &Lab<'_>, mpi: &Mpi, graph: &Prepared, cut: &Cut) -> Result<Figure> {
        let python = environment(lab, self.requirements)?;
        let (mut worker, about) = load(lab, &python, self.name, graph)?;
        let iterations = ITERATIONS.to_string();
        let share = Share { threads: 1, memory: None };
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..lab.settings.rounds.min(self.rounds_max) {
            let run = mpi.run(lab, "pagerank", cut, share, &["--iterations", &iterations])?;
            ours.push(number(&run, "/seconds/run")?);
            let answer = worker.ask(&format!("pagerank {iterations}"))?;
            theirs.push(numbers(&answer, "/iteration_seconds")?.iter().sum());
            check_ranks(&answer, &vertex(&run, "/summary/top/0/vertex")?)?;
        }
        let version = about.pointer("/version").and_then(Value::as_str).unwrap_or_default();
        let (title, load) = (self.title, units::seconds(number(&about, "/load_seconds")?));
        let ranks = format!("{RANKS} ranks of one thread");
        let name = format!("PageRank, {iterations} iterations, R-MAT {}, {ranks}", graph.scale);
        let figure = Figure::new(name, Unit::Seconds, ours)
            .compared_with(format!("{title} {version}"), theirs, Ratio::TimesAsFast)
            .note(format!("{title} {version} loads its graph in {load}"));
        Ok(lab.with_targets(figure, |figure| figure.at_least(Of::Ratio, TIMES_AS_FAST, None)))
    }
}
