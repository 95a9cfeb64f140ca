//! Runs of tegula beside calls of libraries that hold the graph.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::library::{LONG_SECONDS, Library, seconds_of};
use super::subject::{Subject, whole_run};
use crate::bench::figure::{Figure, Of, Ratio, Unit, median};
use crate::bench::lab::{Lab, text};
use crate::bench::random::Random;
use crate::tegula::command::{number, vertex};
use crate::tegula::scratch::remove;
use crate::tegula::{Result, units};

/// How much lower than `--scale` the scale of the R-MAT graph is.
const RMAT_STEPS: u32 = 2;
/// Iterations of PageRank.
const ITERATIONS: &str = "20";
/// The vertices from which paths are counted, and their seed.
const SOURCES: usize = 16;
const SEED: u64 = 16;
/// A search may take this many times as long as the better library, or these seconds more.
const SEARCH: (f64, f64) = (1.5, 0.010);
/// How far numbers may be from each other, relatively: sums have different orders.
const TOLERANCE: f64 = 1e-9;
/// How far a sum of ranks may be from 1.
const SUM_TOLERANCE: f64 = 1e-3;

/// What the time is to be beside the better library.
#[derive(Clone, Copy)]
enum Reach {
    /// [`SEARCH`].
    Search,
    /// This many times as long, and a better value.
    Times(f64, Option<f64>),
}

/// Which time of tegula stands beside a call.
#[derive(Clone, Copy)]
enum Time {
    /// From the start of the process to its end.
    Process,
    /// The run on a graph that is open.
    Run,
}

/// How answers are compared.
#[derive(Clone, Copy)]
enum Check {
    /// Numbers are equal; these are their places in our answer and in the library's.
    Numbers(&'static [(&'static str, &'static str)]),
    /// The first vertex of the library is among our first ones: igraph iterates to convergence.
    Ranks,
    /// Other groups say how good communities are.
    Communities,
}

/// An algorithm to measure.
struct Line<'a> {
    algorithm: &'static str,
    /// What the title says beside the algorithm.
    detail: Option<String>,
    options: Vec<&'a str>,
    /// What follows the name of the algorithm in the request to libraries.
    arguments: String,
    reach: Reach,
    check: Check,
    time: Time,
}

/// Measures every algorithm on a graph of the data folder.
pub fn all(lab: &mut Lab<'_>, name: &str) -> Result<Vec<Figure>> {
    let Some(subject) = Subject::of_data(lab, name)? else { return Ok(Vec::new()) };
    of_subject(lab, subject, &["igraph", "networkit"], |line| Some(line))
}

/// Measures exact betweenness on a small graph of the data folder.
pub fn exact_betweenness(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    let Some(subject) = Subject::of_data(lab, "wiki-Vote")? else { return Ok(Vec::new()) };
    of_subject(lab, subject, &["igraph", "networkit"], from_all_vertices)
}

/// Returns the line of betweenness with all vertices as sources; `None` for other lines.
fn from_all_vertices(line: Line<'_>) -> Option<Line<'_>> {
    (line.algorithm == "betweenness").then(|| Line {
        detail: Some("exact".to_owned()),
        options: Vec::new(),
        arguments: "0".to_owned(),
        ..line
    })
}

/// Measures what the group `peers` of `make bench` lacks on its R-MAT graph, without start and
/// opening.
pub fn of_rmat(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    let subject = Subject::rmat(lab, lab.settings.scale - RMAT_STEPS)?;
    lab.remarks
        .push("The time of tegula is that of the run, without start and opening.".to_owned());
    lab.remarks.push("igraph is left out: it needs 240 bytes an edge.".to_owned());
    of_subject(lab, subject, &["networkit"], of_open_graph)
}

/// Returns a line that is timed by its run alone; `None` for lines that are not measured.
fn of_open_graph(line: Line<'_>) -> Option<Line<'_>> {
    let (reach, time) = (Reach::Times(1.0, Some(0.5)), Time::Run);
    matches!(line.algorithm, "triangles" | "diameter").then_some(Line { reach, time, ..line })
}

/// Measures those lines for which `adapt` returns one.
fn of_subject(
    lab: &mut Lab<'_>,
    subject: Subject,
    names: &[&'static str],
    adapt: fn(Line<'_>) -> Option<Line<'_>>,
) -> Result<Vec<Figure>> {
    let mut libraries = Vec::new();
    for &name in names {
        libraries.push(Library::start(lab, name, &subject)?);
    }
    let hub = vertex(&lab.pagerank(&subject.graph.graph, 2, None)?, "/summary/top/0/vertex")?;
    let sources = lab.scratch.join("sources.txt");
    let mut random = Random::new(SEED);
    let drawn = (0..SOURCES).map(|_| format!("{}\n", random.below(subject.graph.vertices)));
    fs::write(&sources, drawn.collect::<String>())?;
    let mut figures = Vec::new();
    lab.remarks.push(about(&subject));
    for line in lines(&subject, &hub, &sources)?.into_iter().filter_map(adapt) {
        if line.algorithm == "bfs" {
            lab.remarks.push(format!("bfs begins at {hub}."));
        }
        // An algorithm that fails does not stop the others.
        match line.measure(lab, &subject, &mut libraries) {
            Ok(figure) => figures.push(figure),
            Err(error) => lab.leave_out(&format!("{}: {error}.", line.algorithm)),
        }
    }
    remove(&sources)?;
    lab.remarks.extend(libraries.iter().map(Library::about));
    subject.discard()?;
    Ok(figures)
}

fn about(subject: &Subject) -> String {
    let [edges, simple] = [&subject.graph, &subject.simple].map(|made| units::count(made.edges));
    let directed = if subject.is_undirected {
        "undirected; each edge counts in both directions".to_owned()
    } else {
        format!("directed; {simple} of the simple undirected graph")
    };
    let vertices = units::count(subject.graph.vertices);
    format!("{vertices} vertices, {edges} edges, {directed}.")
}

fn lines<'a>(subject: &Subject, hub: &'a str, sources: &'a Path) -> Result<Vec<Line<'a>>> {
    use Check::{Communities, Numbers, Ranks};
    use Reach::{Search, Times};
    let sources = text(sources)?;
    let line = |algorithm, options: &[&'a str], arguments: &str, reach, check| Line {
        algorithm,
        detail: match algorithm {
            "pagerank" => Some(format!("{ITERATIONS} iterations")),
            "betweenness" => Some(format!("{SOURCES} sources")),
            _ => None,
        },
        options: options.to_vec(),
        arguments: arguments.to_owned(),
        reach,
        check,
        time: Time::Process,
    };
    let components = Numbers(&[("/summary/components", "/components")]);
    let bfs = Numbers(&[("/summary/reached", "/reached"), ("/summary/depth", "/depth")]);
    // NetworKit draws its own sources, so only their number is the same.
    let betweenness =
        Numbers(&[("/summary/sources", "/sources"), ("/summary/top/0/centrality", "/centrality")]);
    let mut lines = vec![
        line("pagerank", &["--iterations", ITERATIONS], ITERATIONS, Times(1.0, None), Ranks),
        line("bfs", &["--source", hub], hub, Search, bfs),
        line("wcc", &[], "", Search, components),
    ];
    if !subject.is_undirected {
        lines.push(line("scc", &[], "", Search, components));
    }
    lines.extend([
        line("kcore", &[], "", Search, Numbers(&[("/summary/degeneracy", "/degeneracy")])),
        line("triangles", &[], "", Search, Numbers(&[("/summary/triangles", "/triangles")])),
        line("bridges", &[], "", Search, Numbers(&[("/summary/bridges", "/bridges")])),
        line("diameter", &[], "", Search, Numbers(&[("/summary/upper", "/diameter")])),
        line(
            "betweenness",
            &["--sources", sources],
            &format!("{SOURCES} {sources}"),
            Times(1.0, Some(0.5)),
            betweenness,
        ),
        line("label-propagation", &[], "", Times(2.0, Some(1.0)), Communities),
        line("louvain", &[], "", Times(1.0, Some(0.5)), Communities),
    ]);
    Ok(lines)
}

impl Line<'_> {
    /// Measures runs in turn with the libraries that have the algorithm. A library that fails
    /// or finds something else is left out.
    fn measure(
        &self,
        lab: &mut Lab<'_>,
        subject: &Subject,
        libraries: &mut [Library],
    ) -> Result<Figure> {
        let is_directed = matches!(self.algorithm, "pagerank" | "bfs" | "wcc" | "scc");
        let graph = if is_directed { &subject.graph } else { &subject.simple };
        let mut ours = Vec::new();
        let measured = libraries.iter_mut().filter(|library| library.has(self.algorithm));
        let mut theirs: Vec<(&mut Library, Vec<f64>)> =
            measured.map(|library| (library, Vec::new())).collect();
        for _ in 0..lab.settings.rounds {
            let (seconds, run) = whole_run(lab, self.algorithm, graph, &self.options)?;
            ours.push(match self.time {
                Time::Process => seconds,
                Time::Run => number(&run, "/seconds/run")?,
            });
            theirs.retain_mut(|(library, times)| {
                if times.last().is_some_and(|&last| last > LONG_SECONDS) {
                    return true;
                }
                let called = self.call(library, &run);
                if let Err(error) = &called {
                    let what = format!("{} of {}", self.algorithm, library.title);
                    lab.leave_out(&format!("{what}: {error}."));
                }
                times.extend(called.as_ref().ok());
                called.is_ok()
            });
        }
        let titled = theirs.into_iter().map(|(library, times)| (library.title.clone(), times));
        Ok(self.figure(ours, titled.collect()))
    }

    /// Returns the seconds of a call, whose answer must be the one of our run.
    fn call(&self, library: &mut Library, run: &Value) -> Result<f64> {
        let answer = library.ask(&format!("{} {}", self.algorithm, self.arguments))?;
        self.check(run, &answer)?;
        seconds_of(&answer)
    }

    /// Puts the better library beside our times, and the other one into a note.
    fn figure(&self, ours: Vec<f64>, mut theirs: Vec<(String, Vec<f64>)>) -> Figure {
        theirs.sort_by(|one, other| median(&one.1).total_cmp(&median(&other.1)));
        let title = match &self.detail {
            Some(detail) => format!("{}, {detail}", self.algorithm),
            None => self.algorithm.to_owned(),
        };
        let figure = Figure::new(title, Unit::Seconds, ours);
        let mut theirs = theirs.into_iter();
        let Some((better, times)) = theirs.next() else { return figure };
        let best = median(&times);
        let figure = figure.compared_with(better, times, Ratio::TimesAsLong);
        let figure = theirs.fold(figure, |figure, (title, times)| {
            figure.note(format!("{title}: {}", units::seconds(median(&times))))
        });
        let (share, more) = SEARCH;
        match self.reach {
            Reach::Search if best * share < best + more => {
                figure.at_most(Of::Value, best + more, Some(best))
            }
            Reach::Search => figure.at_most(Of::Ratio, share, Some(1.0)),
            Reach::Times(most, better) => figure.at_most(Of::Ratio, most, better),
        }
    }

    /// Compares our answer with the one of a library.
    fn check(&self, run: &Value, answer: &Value) -> Result<()> {
        match self.check {
            Check::Communities => Ok(()),
            Check::Numbers(places) => same_numbers(places, run, answer),
            Check::Ranks => {
                let (sum, first) = (number(answer, "/sum")?, vertex(answer, "/top")?);
                let top = run.pointer("/summary/top").and_then(Value::as_array);
                let ours = top.into_iter().flatten().map(|entry| vertex(entry, "/vertex"));
                let is_known = ours.flatten().any(|vertex| vertex == first);
                if (sum - 1.0).abs() > SUM_TOLERANCE || !is_known {
                    return Err(format!("ranks sum to {sum}, {first} is not among ours").into());
                }
                Ok(())
            }
        }
    }
}

/// Compares those numbers that the library gives, of which there is at least one.
fn same_numbers(places: &[(&str, &str)], run: &Value, answer: &Value) -> Result<()> {
    let mut compared = 0;
    for (ours, theirs) in places {
        if answer.pointer(theirs).is_none() {
            continue;
        }
        let (our, their) = (number(run, ours)?, number(answer, theirs)?);
        if (our - their).abs() > TOLERANCE * our.abs() {
            return Err(format!("{theirs} is {their}, ours {our}").into());
        }
        compared += 1;
    }
    if compared == 0 {
        return Err(format!("nothing to compare in {answer}").into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn line(reach: Reach) -> Line<'static> {
        let (options, arguments) = (Vec::new(), String::new());
        let (check, time) = (Check::Communities, Time::Process);
        let (algorithm, detail) = ("wcc", None);
        Line { algorithm, detail, options, arguments, reach, check, time }
    }

    #[test]
    fn the_better_library_stands_beside_a_run() {
        let theirs = vec![("slow".to_owned(), vec![9.0]), ("fast".to_owned(), vec![2.0, 2.0])];
        let figure = line(Reach::Search).figure(vec![2.8, 2.8], theirs);
        assert_eq!(figure.beside.as_ref().unwrap().title, "fast");
        assert_eq!(figure.notes, ["slow: 9.00 s"]);
        assert_eq!((figure.targets[0].of, figure.targets[0].at), (Of::Ratio, 1.5));
        let quick = vec![("fast".to_owned(), vec![0.002])];
        let figure = line(Reach::Search).figure(vec![0.011], quick);
        assert_eq!((figure.targets[0].of, figure.targets[0].at), (Of::Value, 0.012));
        assert!(line(Reach::Search).figure(vec![1.0], Vec::new()).beside.is_none());
    }

    #[test]
    fn answers_that_differ_are_refused() {
        let run = json!({"summary": {"a": 3, "b": 4.0}});
        let places = [("/summary/a", "/a"), ("/summary/b", "/b")];
        assert!(same_numbers(&places, &run, &json!({"a": 3, "b": 4})).is_ok());
        assert!(same_numbers(&places, &run, &json!({"a": 3})).is_ok());
        assert!(same_numbers(&places, &run, &json!({"a": 3, "b": 5})).is_err());
        assert!(same_numbers(&places, &run, &json!({"c": 3})).is_err());
    }

    #[test]
    fn the_first_vertex_of_a_library_is_among_ours() {
        let line = Line { check: Check::Ranks, ..line(Reach::Search) };
        let run = json!({"summary": {"top": [{"vertex": 7}, {"vertex": 9}]}});
        assert!(line.check(&run, &json!({"sum": 1.0, "top": 9})).is_ok());
        assert!(line.check(&run, &json!({"sum": 1.0, "top": 8})).is_err());
        assert!(line.check(&run, &json!({"sum": 2.0, "top": 9})).is_err());
    }
}
