//! Imports a graph and runs algorithms on it.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::check;
use super::graphs::{Graph, Known, Origin};
use crate::tegula::Result;
use crate::tegula::command::{Tegula, number, vertex, whole};
use crate::tegula::page_cache::PageCache;
use crate::tegula::scratch::Scratch;

/// The budget of runs in memory, ample for all graphs here.
const MEMORY_AMPLE: u64 = 2 << 30;
/// Runs, of which the quickest is shown. In memory, one more run before them warms the caches.
const REPEATS: usize = 3;
/// How often too small a budget is raised.
const RAISES_MAX: usize = 12;
const ITERATIONS: &str = "10";
/// More levels than any graph of the demo has.
const LEVELS_MAX: &str = "100000";
/// Vertices in a ranking.
const TOP: usize = 5;

/// The place of the demo: the command and its files.
pub struct Stage<'a> {
    pub root: &'a Path,
    pub tegula: Tegula,
    pub scratch: Scratch,
    pub cache: PageCache,
}

/// All measurements of a graph.
#[derive(Debug, Clone)]
pub struct Measured {
    pub vertices: u64,
    pub edges: u64,
    /// Bytes per edge in tiles, and in rows if the graph has them.
    pub bytes_per_edge: f64,
    pub row_bytes_per_edge: Option<f64>,
    pub order: String,
    pub order_reason: String,
    pub import_seconds: f64,
    /// The number of vertices with an out-degree of 0, of 1, of 2 to 3, ..
    pub degree_bins: Vec<u64>,
    pub degree_max: u64,
    /// The smallest budget, which the runs from disk had.
    pub budget: u64,
    pub pagerank: Pair,
    pub bfs: Pair,
    pub wcc: Pair,
    pub top: Vec<(String, f64)>,
    pub source: String,
    pub reached: u64,
    /// The number of vertices 0, 1, 2, .. hops away from the source.
    pub levels: Vec<u64>,
    pub components: u64,
    pub largest: u64,
}

/// The runs of an algorithm in memory and from disk.
#[derive(Debug, Clone, Copy)]
pub struct Pair {
    pub memory: Run,
    pub disk: Run,
}

/// The figures of a run.
#[derive(Debug, Clone, Copy)]
pub struct Run {
    pub iterations: u64,
    pub seconds: f64,
    pub edges: f64,
    pub bytes_read: f64,
    pub peak_bytes: f64,
}

impl Run {
    fn of(answer: &Value) -> Result<Run> {
        Ok(Run {
            iterations: whole(answer, "/iterations")?,
            seconds: number(answer, "/seconds/run")?,
            edges: number(answer, "/edges_processed")?,
            bytes_read: number(answer, "/bytes_read")?,
            peak_bytes: number(answer, "/peak_memory_bytes")?,
        })
    }

    /// Returns the edges per second.
    pub fn rate(&self) -> f64 {
        self.edges / self.seconds.max(f64::MIN_POSITIVE)
    }
}

/// An algorithm with its options.
type Request<'a> = (&'a str, Vec<&'a str>);

impl Stage<'_> {
    /// Imports a graph and runs everything on it; passes each step to `status` before it begins.
    pub fn measure(&self, graph: &Graph, status: &dyn Fn(&str)) -> Result<Measured> {
        let (input, options) = self.edge_list(graph, status)?;
        status("importing");
        let directory = self.scratch.join(&format!("{}.tegula", graph.name.replace(' ', "-")));
        let mut arguments = vec!["import", text(&input)?, "-o", text(&directory)?];
        arguments.extend(options);
        let import = self.tegula.json(&arguments)?;
        let info = self.tegula.json(&["info", text(&directory)?])?;
        status("running PageRank");
        let pagerank = ("pagerank", vec!["--iterations", ITERATIONS, "--top", "5"]);
        let ranks = self.run_warm(&directory, &pagerank)?;
        let source = match graph.source {
            Some(source) => source.to_owned(),
            None => vertex(&ranks, "/summary/top/0/vertex")?,
        };
        status("running breadth-first search");
        let bfs = ("bfs", vec!["--source", source.as_str(), "--top", LEVELS_MAX]);
        let levels = self.run_warm(&directory, &bfs)?;
        status("finding components");
        let wcc = ("wcc", vec![]);
        let components = self.run_warm(&directory, &wcc)?;
        status("doing it all again from disk");
        let requests = [pagerank, bfs, wcc];
        let (budget, cold) = self.run_from_disk(&directory, &requests)?;
        let warm = [ranks, levels, components];
        for ((algorithm, _), (warm, cold)) in requests.iter().zip(warm.iter().zip(&cold)) {
            let same = warm["summary"] == cold["summary"];
            check(same, || format!("{algorithm}: memory and disk give different answers"))?;
        }
        let measured = sum_up(&import, &info, (&warm, &cold), (source.clone(), budget))?;
        if let Some(known) = &graph.known {
            check_known(&measured, known)?;
        }
        Ok(measured)
    }

    /// Returns the edge list of a graph, and the options of its import.
    fn edge_list(
        &self,
        graph: &Graph,
        status: &dyn Fn(&str),
    ) -> Result<(PathBuf, Vec<&'static str>)> {
        match graph.origin {
            Origin::File { name, options } => {
                Ok((self.root.join("data").join(name), options.to_vec()))
            }
            Origin::Rmat { scale } => {
                status("generating");
                let path = self.scratch.join("rmat.bin32");
                let scale = scale.to_string();
                self.tegula.json(&["generate", "rmat", "--scale", &scale, "-o", text(&path)?])?;
                Ok((path, Vec::new()))
            }
        }
    }

    /// Returns the quickest of several runs in memory, with the files of the graph in the page
    /// cache.
    fn run_warm(&self, graph: &Path, request: &Request<'_>) -> Result<Value> {
        self.run(graph, request, MEMORY_AMPLE)?;
        let runs = (0..REPEATS).map(|_| self.run(graph, request, MEMORY_AMPLE));
        quickest(runs.collect::<Result<_>>()?)
    }

    fn run(&self, graph: &Path, request: &Request<'_>, memory: u64) -> Result<Value> {
        let found = self.run_within(graph, request, memory)?;
        found.ok_or_else(|| format!("{} does not fit {memory} bytes", request.0).into())
    }

    fn run_within(
        &self,
        graph: &Path,
        request: &Request<'_>,
        memory: u64,
    ) -> Result<Option<Value>> {
        let memory = memory.to_string();
        let mut arguments = vec!["run", request.0, text(graph)?, "--memory", &memory];
        arguments.extend(&request.1);
        self.tegula.json_within_budget(&arguments)
    }

    /// Returns the quickest of several runs within a budget with a cold page cache; `None` where
    /// the budget is too small.
    fn run_cold(&self, graph: &Path, request: &Request<'_>, memory: u64) -> Result<Option<Value>> {
        let mut answers = Vec::new();
        for _ in 0..REPEATS {
            self.cache.drop(graph)?;
            match self.run_within(graph, request, memory)? {
                Some(answer) => answers.push(answer),
                None => return Ok(None),
            }
        }
        quickest(answers).map(Some)
    }

    /// Runs everything within the smallest possible budget, with a cold page cache.
    fn run_from_disk(
        &self,
        graph: &Path,
        requests: &[Request<'_>; 3],
    ) -> Result<(u64, [Value; 3])> {
        let mut budget = 0;
        for (algorithm, options) in requests {
            let options = [options.as_slice(), &["--estimate"]].concat();
            let estimate = self.run(graph, &(algorithm, options), MEMORY_AMPLE)?;
            budget = budget.max(whole(&estimate, "/needed_bytes")?);
        }
        for _ in 0..RAISES_MAX {
            let mut answers = Vec::new();
            for request in requests {
                answers.extend(self.run_cold(graph, request, budget)?);
            }
            if let Ok(answers) = answers.try_into() {
                return Ok((budget, answers));
            }
            budget += budget / 10;
        }
        Err(format!("even {budget} bytes are not enough").into())
    }
}

/// Returns the answer of the quickest run.
fn quickest(answers: Vec<Value>) -> Result<Value> {
    let mut timed = Vec::new();
    for answer in answers {
        timed.push((number(&answer, "/seconds/run")?, answer));
    }
    let least = timed.into_iter().min_by(|(one, _), (other, _)| one.total_cmp(other));
    Ok(least.ok_or("no run was timed")?.1)
}

fn sum_up(
    import: &Value,
    info: &Value,
    (warm, cold): (&[Value; 3], &[Value; 3]),
    (source, budget): (String, u64),
) -> Result<Measured> {
    let word = |path: &str| {
        let found = import.pointer(path).and_then(Value::as_str);
        found.unwrap_or_default().to_owned()
    };
    let pair = |index: usize| -> Result<Pair> {
        Ok(Pair { memory: Run::of(&warm[index])?, disk: Run::of(&cold[index])? })
    };
    let [ranks, levels, components] = warm;
    let top = (0..TOP).map(|place| {
        let rank = number(ranks, &format!("/summary/top/{place}/rank"))?;
        Ok((vertex(ranks, &format!("/summary/top/{place}/vertex"))?, rank))
    });
    Ok(Measured {
        vertices: whole(import, "/vertices")?,
        edges: whole(import, "/edges")?,
        bytes_per_edge: number(import, "/bytes_per_edge/tiles")?,
        row_bytes_per_edge: number(import, "/bytes_per_edge/rows").ok(),
        order: word("/order"),
        order_reason: word("/order_choice/reason"),
        import_seconds: number(import, "/seconds")?,
        degree_bins: counts(info, "/out_degree/log2_bins")?,
        degree_max: whole(info, "/out_degree/max")?,
        budget,
        pagerank: pair(0)?,
        bfs: pair(1)?,
        wcc: pair(2)?,
        top: top.collect::<Result<_>>()?,
        source,
        reached: whole(levels, "/summary/reached")?,
        levels: counts(levels, "/summary/levels")?,
        components: whole(components, "/summary/components")?,
        largest: whole(components, "/summary/largest")?,
    })
}

/// Checks that the answers are the known ones.
fn check_known(measured: &Measured, known: &Known) -> Result<()> {
    let top = measured.top.iter().map(|(vertex, _)| vertex.as_str());
    check(top.take(known.top.len()).eq(known.top), || "the ranking is wrong".into())?;
    let depth = measured.levels.len() as u64 - 1;
    let found = (measured.reached, depth, measured.components, measured.largest);
    let expected = (known.reached, known.depth, known.components, known.largest);
    check(found == expected, || format!("found {found:?}, expected {expected:?}"))
}

fn counts(answer: &Value, path: &str) -> Result<Vec<u64>> {
    let list = answer.pointer(path).and_then(Value::as_array);
    let list = list.and_then(|list| list.iter().map(Value::as_u64).collect());
    let found: Option<Vec<u64>> = list;
    found
        .filter(|list| !list.is_empty())
        .ok_or_else(|| format!("the answer has no counts at {path}").into())
}

fn text(path: &Path) -> Result<&str> {
    path.to_str().ok_or_else(|| format!("{} is not UTF-8", path.display()).into())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_quickest_run_is_shown() {
        let runs = [0.5, 0.2, 0.3].map(|seconds| json!({ "seconds": { "run": seconds } }));
        assert_eq!(quickest(runs.to_vec()).unwrap(), runs[1]);
        assert!(quickest(Vec::new()).is_err());
        assert!(quickest(vec![json!({})]).is_err());
    }
}
