//! Compares the time and memory that `--estimate` says with those of runs, and fits the rates
//! behind it.

mod cases;
mod fit;
mod observed;
mod rates;

use super::figure::{Figure, Of, Ratio, Unit, median};
use super::lab::Lab;
use crate::tegula::Result;
use crate::tegula::command::number;
use crate::tegula::units;
use cases::{Case, STEPS_DOWN, Subject};
use observed::LONG_SECONDS;

pub use rates::fit_rates;

/// Rounds, each with an estimate and a run of every case.
const ROUNDS_MAX: usize = 3;
/// The time of a run may be this many times longer or shorter than its estimate.
const TIMES_OFF: f64 = 1.4;
/// The largest relative error of the estimated peak.
const PEAK_OFF: f64 = 0.15;

/// Measures every algorithm on graphs of several kinds.
pub fn all(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    let scale = lab.settings.scale - STEPS_DOWN;
    let (mut figures, mut right_peaks) = (Vec::new(), 0);
    for subject in Subject::all(lab, scale)? {
        for case in cases::of(lab, &subject)? {
            let (figure, is_peak_right) = compared(lab, &subject, &case)?;
            figures.push(figure);
            right_peaks += usize::from(is_peak_right);
        }
        subject.discard()?;
    }
    lab.remarks.push(format!(
        "{right_peaks} of {} peaks are within {:.0} % of what was estimated.",
        figures.len(),
        100.0 * PEAK_OFF
    ));
    Ok(figures)
}

/// Returns the time of a run with its files in the page cache beside its estimate, and whether the
/// estimate of its peak was right.
fn compared(lab: &Lab<'_>, subject: &Subject, case: &Case) -> Result<(Figure, bool)> {
    let (mut took, mut estimated) = (Vec::new(), Vec::new());
    let (mut peaks, mut peaks_estimated) = (Vec::new(), Vec::new());
    for _ in 0..lab.settings.rounds.min(ROUNDS_MAX) {
        let estimate = case.estimate(lab, subject)?;
        estimated.push(number(&estimate, "/seconds")?);
        peaks_estimated.push(number(&estimate, "/peak_memory_bytes")?);
        let run = case.run(lab, subject)?;
        took.push(number(&run, "/seconds/run")?);
        peaks.push(number(&run, "/peak_memory_bytes")?);
        if took.last() > Some(&LONG_SECONDS) {
            break;
        }
    }
    let title = format!("{}, {}", case.kind, subject.title);
    let (peak, peak_estimated) = (median(&peaks), median(&peaks_estimated));
    let of_estimate = peak / peak_estimated;
    let figure = Figure::new(title, Unit::Seconds, took)
        .compared_with("estimated", estimated, Ratio::TimesAsLong)
        .note(format!("peak {}, {of_estimate:.2}× its estimate", units::bytes(peak)));
    let figure = lab.with_targets(figure, |figure| {
        figure.at_most(Of::Ratio, TIMES_OFF, None).at_least(Of::Ratio, 1.0 / TIMES_OFF, None)
    });
    Ok((figure, (of_estimate - 1.0).abs() <= PEAK_OFF))
}
