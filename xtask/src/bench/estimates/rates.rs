//! `cargo xtask fit-rates`: runs every algorithm on graphs of several kinds and two sizes, and
//! writes the rates that best predict their times and peaks.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::cases::{self, Case, STEPS_DOWN, Subject};
use super::fit::{Observed, fit};
use super::observed::{LONG_SECONDS, Peak, Time, passes_of, peak_of, scarce, time_of};
use crate::bench::lab::{Lab, SCALE, Settings};
use crate::outcome::Outcome;
use crate::tegula::Result;
use crate::tegula::arguments::Arguments;
use crate::tegula::command::number;

const USAGE: &str = "usage: cargo xtask fit-rates [--scale S] [--only KIND]..";
/// Runs per case; the median counts.
const ROUNDS: usize = 3;
/// The kind of work that runs do first where they find no rows.
const BUILDING_ROWS: &str = "building rows";
/// The kind of work that runs do last where their answer is a graph.
const WRITING_GRAPH: &str = "writing a graph";
/// The scale of the small graphs is lower by this.
const STEPS_SMALLER: u32 = 4;
/// The file that the estimate reads.
const RATES: &str = "crates/algorithms/src/algorithm/rates.json";

/// A rate, as the estimate reads it from the file.
#[derive(Debug, Serialize, Deserialize)]
struct Rate {
    kind: String,
    edge_seconds: f64,
    byte_seconds: f64,
    vertex_seconds: f64,
    round_seconds: f64,
    rounds: f64,
    passes: f64,
    fixed_bytes: f64,
    arrays_held: f64,
    layout_held: f64,
}

/// The observations of a kind of work.
#[derive(Default)]
struct Seen {
    times: Vec<Time>,
    peaks: Vec<Peak>,
    rounds: Vec<f64>,
    /// Whether graphs are small by now: these are observed for times and peaks alone.
    is_of_small: bool,
    /// Passes on the first graph, whose layout is the largest.
    passes: Option<f64>,
}

/// Fits the rates and writes them. With `--only`, the other rates stay as they are.
pub fn fit_rates(root: &Path, arguments: &[String]) -> Outcome {
    let mut arguments = Arguments::new(arguments, USAGE);
    let (mut scale, mut only) = (SCALE - STEPS_DOWN, Vec::new());
    while let Some(option) = arguments.next() {
        match option {
            "--scale" => scale = arguments.value("--scale")?,
            "--only" => only.push(arguments.value::<String>("--only")?),
            _ => return arguments.unknown(option),
        }
    }
    let settings = Settings {
        scale: scale + STEPS_DOWN,
        rounds: ROUNDS,
        is_quick: false,
        vertices_log2: None,
    };
    let lab = Lab::open(root, settings)?;
    let is_wanted = |kind: &str| only.is_empty() || only.iter().any(|only| only == kind);
    let mut seen: BTreeMap<&'static str, Seen> = BTreeMap::new();
    for scale in [scale, scale.saturating_sub(STEPS_SMALLER)] {
        for subject in Subject::all(&lab, scale)? {
            if is_wanted(BUILDING_ROWS) {
                seen.entry(BUILDING_ROWS).or_default().times.push(subject.rows);
            }
            if is_wanted(WRITING_GRAPH) {
                seen.entry(WRITING_GRAPH).or_default().times.push(subject.written(&lab)?);
            }
            let cases = cases::of(&lab, &subject)?;
            for case in cases.into_iter().filter(|case| is_wanted(case.kind)) {
                println!("{}, {}", case.kind, subject.title);
                observe(&lab, &subject, &case, seen.entry(case.kind).or_default())?;
            }
            subject.discard()?;
        }
        seen.values_mut().for_each(|seen| seen.is_of_small = true);
    }
    let path = root.join(RATES);
    let mut rates: Vec<Rate> = seen.into_iter().map(|(kind, seen)| seen.rate(kind)).collect();
    if !only.is_empty() {
        let earlier: Vec<Rate> = serde_json::from_slice(&fs::read(&path)?)?;
        rates.extend(earlier.into_iter().filter(|rate| !is_wanted(&rate.kind)));
        rates.sort_by(|one, other| one.kind.cmp(&other.kind));
    }
    let json = serde_json::to_string_pretty(&rates)? + "\n";
    fs::write(path, json)?;
    println!("written to {RATES}");
    Ok(())
}

/// Runs a case: in memory, from disk with little memory, and until nothing changes.
fn observe(lab: &Lab<'_>, subject: &Subject, case: &Case, seen: &mut Seen) -> Result<()> {
    let estimate = case.estimate(lab, subject)?;
    let (mut times, mut peaks) = (Vec::new(), Vec::new());
    for _ in 0..lab.settings.rounds {
        let run = case.run(lab, subject)?;
        times.push(time_of(&estimate, case.share_done(&estimate, &run)?, &run)?);
        peaks.push(peak_of(&estimate, &run)?);
        if number(&run, "/seconds/run")? > LONG_SECONDS {
            break;
        }
    }
    seen.times.push(middle(times));
    seen.peaks.push(middle(peaks));
    if seen.is_of_small {
        return Ok(());
    }
    if let Some(run) = case.run_until_stable(lab, subject)? {
        seen.rounds.push(number(&run, "/iterations")?);
    }
    let layout = number(&estimate, "/layout_bytes")?;
    if layout > 0.0 && seen.passes.is_none() {
        let run = case.run_within(lab, subject, scarce(&estimate)?)?;
        seen.passes = Some(passes_of(&estimate, case.share_done(&estimate, &run)?, &run)?);
    }
    Ok(())
}

impl Seen {
    fn rate(&self, kind: &str) -> Rate {
        let [edge_seconds, byte_seconds, vertex_seconds, round_seconds] =
            fit(&self.times).map(rounded);
        // Without observations, assume that everything is held.
        let held = if self.peaks.is_empty() { [0.0, 1.0, 1.0] } else { fit(&self.peaks) };
        let [fixed_bytes, arrays_held, layout_held] = held.map(rounded);
        Rate {
            kind: kind.to_owned(),
            edge_seconds,
            byte_seconds,
            vertex_seconds,
            round_seconds,
            rounds: usual(&self.rounds),
            passes: self.passes.map_or(1.0, rounded),
            fixed_bytes,
            arrays_held,
            layout_held,
        }
    }
}

/// Returns the observation with the middle value.
fn middle<const N: usize>(mut observed: Vec<Observed<N>>) -> Observed<N> {
    observed.sort_by(|one, other| one.value.total_cmp(&other.value));
    observed.swap_remove(observed.len() / 2)
}

/// Returns the lower median: graphs with very many levels are unusual.
fn usual(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len().saturating_sub(1) / 2).map_or(1.0, |&value| rounded(value))
}

/// Rounds to three digits: more would be noise.
fn rounded(value: f64) -> f64 {
    format!("{value:.2e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_with_three_digits_and_the_lower_middle_counts() {
        assert_eq!(rounded(1.23456e-9).to_string(), "0.00000000123");
        assert_eq!(usual(&[600.0, 3.0, 6.0, 650.0]), 6.0);
        assert_eq!((usual(&[5.0]), usual(&[])), (5.0, 1.0));
    }
}
