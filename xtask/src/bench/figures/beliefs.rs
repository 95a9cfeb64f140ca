//! Belief propagation with two states, in memory and from disk.

use std::fs;

use super::budget::memory_for;
use crate::bench::figure::{Figure, Of, Unit, median};
use crate::bench::graphs::{Model, Recipe};
use crate::bench::lab::{DISK_MEMORY, Lab, text};
use crate::tegula::command::{number, numbers};
use crate::tegula::{Result, units};

/// Iterations of a run, unless beliefs converge earlier; a sample is the median of their times.
const ITERATIONS: &str = "10";
/// A vertex and its neighbour are alike.
const POTENTIAL: &str = "3 2\n2 3\n";

/// Measures iterations on a skewed graph with one known vertex.
pub fn all(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    let graph = lab.make(Recipe::new(Model::Rmat(lab.settings.scale)))?;
    let [potential, priors] = ["potential.txt", "priors.txt"].map(|name| lab.scratch.join(name));
    fs::write(&potential, POTENTIAL)?;
    fs::write(&priors, format!("{} 1 1\n", graph.source))?;
    let (potential, priors) = (text(&potential)?, text(&priors)?);
    let options = ["--potential", potential, "--priors", priors, "--iterations", ITERATIONS];
    let scarce = memory_for(lab, "belief-propagation", &graph, &options, DISK_MEMORY)?;
    let mut figures = Vec::new();
    for memory in [None, Some(scarce)] {
        let (mut times, mut bytes) = (Vec::new(), Vec::new());
        for _ in 0..lab.settings.rounds {
            let run = lab.run("belief-propagation", &graph.graph, memory, &options)?;
            let seconds = numbers(&run, "/iteration_seconds")?;
            bytes.push(number(&run, "/bytes_read")? / seconds.len() as f64);
            times.push(median(&seconds));
        }
        let place = match memory {
            None => "in memory".to_owned(),
            Some(memory) => format!("from disk within {}", units::bytes(memory as f64)),
        };
        let rate = units::decimal(graph.edges as f64 / median(&times));
        let note = format!("{rate} edges/s, {} read in each", units::bytes(median(&bytes)));
        let title = format!("iteration, {}, {place}", graph.title);
        let figure = Figure::new(title, Unit::Seconds, times).note(note);
        figures.push(lab.with_targets(figure, |figure| figure.at_most(Of::Value, 1.0, None)));
    }
    Ok(figures)
}
