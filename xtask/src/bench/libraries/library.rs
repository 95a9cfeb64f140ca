//! A library that holds a graph.

use serde_json::Value;

use super::subject::Subject;
use crate::bench::lab::Lab;
use crate::bench::peers::start;
use crate::tegula::Result;
use crate::tegula::command::{Worker, number, numbers, whole};

/// A call that takes longer than this is not repeated.
pub const LONG_SECONDS: f64 = 4.0;

/// A library, which answers requests of `bench/peers.py`.
pub struct Library {
    /// Its name there.
    pub name: &'static str,
    /// Its name and version.
    pub title: String,
    /// The threads of its calls.
    threads: u64,
    worker: Worker,
    algorithms: Vec<String>,
}

impl Library {
    /// Starts a library, which loads a graph.
    ///
    /// # Errors
    /// Where it fails, or has another graph in the end.
    pub fn start(lab: &Lab<'_>, name: &'static str, subject: &Subject) -> Result<Library> {
        let options: &[&str] = if subject.is_undirected { &["undirected"] } else { &[] };
        let vertices = subject.graph.vertices;
        let (mut worker, about) =
            start(lab, &subject.python, name, &subject.pairs, vertices, options)?;
        let simple = whole(&worker.ask("simple-edges")?, "/edges")?;
        let counts = [whole(&about, "/vertices_with_edges")?, whole(&about, "/edges")?, simple];
        // tegula counts both directions of an edge.
        let simple = subject.simple.edges / 2;
        let edges = if subject.is_undirected { simple } else { subject.graph.edges };
        let expected = [vertices, edges, simple];
        if counts != expected {
            let what = "vertices, edges and edges of the simple graph";
            return Err(format!("{name} has {counts:?} {what}, not {expected:?}").into());
        }
        let version = about.pointer("/version").and_then(Value::as_str).unwrap_or_default();
        let title = if name == "networkit" { "NetworKit" } else { name };
        let list = about.pointer("/algorithms").and_then(Value::as_array);
        let algorithms = list.into_iter().flatten().filter_map(Value::as_str);
        Ok(Library {
            name,
            title: format!("{title} {version}"),
            threads: whole(&about, "/threads")?,
            worker,
            algorithms: algorithms.map(str::to_owned).collect(),
        })
    }

    /// Says how many threads its calls have.
    pub fn about(&self) -> String {
        let threads = if self.threads == 1 { "thread" } else { "threads" };
        format!("{} has {} {threads}.", self.title, self.threads)
    }

    /// Whether it has an algorithm.
    pub fn has(&self, algorithm: &str) -> bool {
        self.algorithms.iter().any(|other| other == algorithm)
    }

    /// Asks for an answer.
    pub fn ask(&mut self, request: &str) -> Result<Value> {
        self.worker.ask(request)
    }
}

/// Returns the seconds of a call.
pub fn seconds_of(answer: &Value) -> Result<f64> {
    number(answer, "/seconds").or_else(|_| Ok(numbers(answer, "/iteration_seconds")?.iter().sum()))
}
