//! What `--estimate` says of time and memory, against what then happens; and the fit of the rates that it says it from.

mod cases;
mod fit;
mod observed;
mod rates;

use super::figure::{Figure, Of, Ratio, Unit, median};
use super::lab::Lab;
use crate::tegula::Result;
use crate::tegula::command::number;
use cases::{Case, STEPS_DOWN, Subject};

pub use rates::fit_rates;

/// Rounds, each with an estimate and a run of every algorithm.
const ROUNDS_MAX: usize = 3;
/// How far the time of a run may be from its estimate, either way.
const TIMES_OFF: f64 = 1.4;

/// Every algorithm on graphs of several kinds.
pub fn all(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    let scale = lab.settings.scale - STEPS_DOWN;
    let mut figures = Vec::new();
    for subject in Subject::all(lab, scale)? {
        for case in cases::of(lab, &subject)? {
            figures.push(compared(lab, &subject, &case)?);
        }
        subject.discard()?;
    }
    Ok(figures)
}

/// The time of a run with its files in the page cache, beside what was estimated.
fn compared(lab: &Lab<'_>, subject: &Subject, case: &Case) -> Result<Figure> {
    let (mut took, mut estimated, mut peaks) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..lab.settings.rounds.min(ROUNDS_MAX) {
        estimated.push(number(&case.estimate(lab, subject)?, "/seconds")?);
        let run = case.run(lab, subject)?;
        took.push(number(&run, "/seconds/run")?);
        peaks.push(number(&run, "/peak_memory_bytes")?);
    }
    let title = format!("{}, {}", case.kind, subject.title);
    let figure = Figure::new(title, Unit::Seconds, took)
        .beside("estimated", estimated, Ratio::TimesAsLong)
        .note(format!("at the peak {}", crate::tegula::units::bytes(median(&peaks))));
    let figure = lab.with_targets(figure, |figure| {
        figure.at_most(Of::Ratio, TIMES_OFF, None).at_least(Of::Ratio, 1.0 / TIMES_OFF, None)
    });
    Ok(figure)
}
