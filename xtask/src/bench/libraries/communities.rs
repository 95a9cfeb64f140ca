//! How good the communities of tegula and of libraries are, and how long they take.
//!
//! igraph judges all of them.

use std::path::Path;

use serde_json::Value;

use super::library::{LONG_SECONDS, Library, seconds_of};
use super::subject::{Subject, whole_run};
use crate::bench::figure::{Figure, Of, Ratio, Unit};
use crate::bench::lab::{Lab, text};
use crate::tegula::command::number;
use crate::tegula::scratch::remove;
use crate::tegula::{Result, units};

/// Rounds on a graph with known communities, of which there are many.
const LFR_ROUNDS_MAX: usize = 3;
/// How far our modularity may be from the one that igraph finds for the same communities.
const TOLERANCE: f64 = 1e-6;

/// A method of tegula, and one of a library.
struct Pair {
    title: &'static str,
    algorithm: &'static str,
    options: &'static [&'static str],
    library: &'static str,
    /// What the library is asked for, without seed and file.
    request: &'static str,
    their_title: &'static str,
    /// The least modularity and NMI beside the library's.
    quality: Option<f64>,
    /// The longest time beside the library's, and a better one.
    time: Option<(f64, f64)>,
    /// Whether it is measured on graphs with known communities.
    is_for_lfr: bool,
}

const PAIRS: [Pair; 5] = [
    Pair {
        title: "leiden",
        algorithm: "leiden",
        options: &[],
        library: "igraph",
        request: "leiden 2",
        their_title: "leiden, 2 iterations",
        quality: Some(1.0),
        time: Some((1.0, 0.5)),
        is_for_lfr: true,
    },
    Pair {
        title: "leiden until stable",
        algorithm: "leiden",
        options: &["--iterations", "0"],
        library: "igraph",
        request: "leiden 0",
        their_title: "leiden until stable",
        // igraph's differ by more than this from seed to seed.
        quality: Some(0.999),
        time: Some((1.0, 0.1)),
        is_for_lfr: false,
    },
    Pair {
        title: "louvain",
        algorithm: "louvain",
        options: &[],
        library: "networkit",
        request: "louvain",
        their_title: "PLM",
        quality: Some(1.0),
        time: Some((1.0, 0.5)),
        is_for_lfr: true,
    },
    Pair {
        title: "louvain",
        algorithm: "louvain",
        options: &[],
        library: "igraph",
        request: "louvain",
        their_title: "louvain",
        quality: None,
        time: None,
        is_for_lfr: false,
    },
    Pair {
        title: "label-propagation",
        algorithm: "label-propagation",
        options: &[],
        library: "networkit",
        request: "label-propagation",
        their_title: "PLP",
        quality: Some(1.0),
        time: Some((2.0, 1.0)),
        is_for_lfr: true,
    },
];

/// What the seeds of one method gave.
#[derive(Default)]
struct Tried {
    seconds: Vec<f64>,
    modularity: Vec<f64>,
    /// How much the communities tell about the true ones, where these are known.
    nmi: Vec<f64>,
}

/// Measures every pair on a graph of the data folder.
pub fn of_data(lab: &mut Lab<'_>, name: &str) -> Result<Vec<Figure>> {
    match Subject::of_data(lab, name)? {
        Some(subject) => measure(lab, subject),
        None => Ok(Vec::new()),
    }
}

/// Measures pairs on an LFR graph, whose vertices have `mixing` percent of their edges to other
/// communities.
pub fn of_lfr(lab: &mut Lab<'_>, mixing: u32) -> Result<Vec<Figure>> {
    let subject = Subject::lfr(lab, mixing)?;
    let [vertices, edges] = [subject.graph.vertices, subject.graph.edges / 2].map(units::count);
    lab.remarks.push(format!("An LFR graph of {vertices} vertices and {edges} edges."));
    measure(lab, subject)
}

fn measure(lab: &mut Lab<'_>, subject: Subject) -> Result<Vec<Figure>> {
    let mut igraph = Library::start(lab, "igraph", &subject)?;
    let mut networkit = Library::start(lab, "networkit", &subject)?;
    let mut figures = Vec::new();
    for pair in PAIRS.iter().filter(|pair| pair.is_for_lfr || subject.truth.is_none()) {
        let other = (pair.library == networkit.name).then_some(&mut networkit);
        // A method that fails does not stop the others.
        match pair.measure(lab, &subject, &mut igraph, other) {
            Ok(found) => figures.extend(found),
            Err(error) => {
                let error = error.to_string();
                let first = error.lines().next().unwrap_or_default();
                lab.leave_out(&format!("{}: {first}", pair.title));
            }
        }
    }
    lab.remarks.extend([igraph.about(), networkit.about()]);
    subject.discard()?;
    Ok(figures)
}

impl Pair {
    /// Measures both methods in turn, each with a seed of its own in each round. The library is
    /// igraph, which judges the answers, unless there is an `other`.
    fn measure(
        &self,
        lab: &Lab<'_>,
        subject: &Subject,
        igraph: &mut Library,
        mut other: Option<&mut Library>,
    ) -> Result<Vec<Figure>> {
        let file = lab.scratch.join("answer.npy");
        let answer = text(&file)?;
        let (mut ours, mut theirs) = (Tried::default(), Tried::default());
        let rounds_max = if subject.truth.is_some() { LFR_ROUNDS_MAX } else { usize::MAX };
        for seed in 0..lab.settings.rounds.min(rounds_max) {
            let seed = seed.to_string();
            let output = ["--seed", &seed, "-o", answer, "--force"];
            let options = [self.options, &output].concat();
            let (seconds, run) = whole_run(lab, self.algorithm, &subject.simple, &options)?;
            let modularity =
                ours.add(seconds, &judged(igraph, answer, subject.truth.as_deref())?)?;
            check(&run, modularity)?;
            if theirs.seconds.last().is_some_and(|&last| last > LONG_SECONDS) {
                continue;
            }
            let request = format!("{} {seed} {answer}", self.request);
            let found = match &mut other {
                Some(other) => other.ask(&request)?,
                None => igraph.ask(&request)?,
            };
            let judged = judged(igraph, answer, subject.truth.as_deref())?;
            theirs.add(seconds_of(&found)?, &judged)?;
        }
        remove(&file)?;
        let library = other.map_or(&igraph.title, |other| &other.title);
        Ok(self.figures(&format!("{}, {library}", self.their_title), ours, theirs))
    }

    fn figures(&self, beside: &str, ours: Tried, theirs: Tried) -> Vec<Figure> {
        let qualities =
            [("modularity", ours.modularity, theirs.modularity), ("NMI", ours.nmi, theirs.nmi)];
        let measured = qualities.into_iter().filter(|(_, ours, _)| !ours.is_empty());
        let quality = measured.map(|(what, ours, theirs)| {
            let figure = Figure::new(format!("{}, {what}", self.title), Unit::Quality, ours)
                .compared_with(beside, theirs, Ratio::TimesAsLarge);
            match self.quality {
                Some(least) => figure.at_least(Of::Ratio, least, None),
                None => figure,
            }
        });
        let time = Figure::new(format!("{}, time", self.title), Unit::Seconds, ours.seconds)
            .compared_with(beside, theirs.seconds, Ratio::TimesAsLong);
        let time = match self.time {
            Some((most, better)) => time.at_most(Of::Ratio, most, Some(better)),
            None => time,
        };
        quality.chain([time]).collect()
    }
}

impl Tried {
    /// Adds the time of a run and what igraph finds of its answer; returns the modularity.
    fn add(&mut self, seconds: f64, judged: &Value) -> Result<f64> {
        let modularity = number(judged, "/modularity")?;
        self.seconds.push(seconds);
        self.modularity.push(rounded(modularity));
        self.nmi.extend(number(judged, "/nmi").ok().map(rounded));
        Ok(modularity)
    }
}

/// Rounds a quality to the digits that tables show, so that it is compared by these.
fn rounded(quality: f64) -> f64 {
    (quality * 1e4).round() / 1e4
}

/// Returns what igraph says of the communities in a file, be they tegula's or a library's.
fn judged(igraph: &mut Library, answer: &str, truth: Option<&Path>) -> Result<Value> {
    let truth = truth.map(text).transpose()?.unwrap_or_default();
    igraph.ask(&format!("judge {answer} {truth}"))
}

/// Checks the modularity that a run of tegula says that it has found, if it says one.
fn check(run: &Value, judged: f64) -> Result<()> {
    match number(run, "/summary/modularity") {
        Ok(said) if (said - judged).abs() > TOLERANCE => {
            Err(format!("the modularity is {judged}, the summary says {said}").into())
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn qualities_are_rows_of_their_own() {
        let tried = |value: f64, nmi: Vec<f64>| Tried {
            seconds: vec![value],
            modularity: vec![value],
            nmi,
        };
        let figures = PAIRS[0].figures("igraph", tried(0.4, vec![0.9]), tried(0.5, vec![0.8]));
        let titles: Vec<&str> = figures.iter().map(|figure| &*figure.title).collect();
        assert_eq!(titles, ["leiden, modularity", "leiden, NMI", "leiden, time"]);
        let ratios = figures.iter().filter_map(|figure| figure.beside.as_ref());
        let ratios: Vec<f64> = ratios.map(|beside| beside.ratios.median).collect();
        assert_eq!(ratios, [0.8, 1.125, 0.8]);
        assert_eq!(PAIRS[0].figures("", tried(0.4, vec![]), tried(0.5, vec![])).len(), 2);
    }

    #[test]
    fn a_summary_must_say_what_igraph_finds() {
        let run = json!({"summary": {"modularity": 0.5}});
        assert!(check(&run, 0.5).is_ok());
        assert!(check(&run, 0.501).is_err());
        assert!(check(&json!({"summary": {}}), 0.5).is_ok());
    }
}
