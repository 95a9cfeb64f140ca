//! Orders in which the scheduler takes the parts of the graph.

use super::batch::{BatchCost, PartOrder, ROUNDS_MAX, Setup};
use super::subject::Subject;
use crate::bench::figure::{Figure, Ratio, Unit};
use crate::bench::lab::Lab;
use crate::tegula::Result;

/// Numbers of jobs of the mix.
const COUNTS: [usize; 3] = [4, 8, 16];
/// The time of GraphM by priority beside plain order, on its largest graph (Figure 18).
const PAPER: f64 = 0.725;

/// Measures jobs of the mix by priority, beside plain order.
pub fn all(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    let subject = Subject::rmat(lab)?;
    let mut figures = Vec::new();
    for count in COUNTS {
        let jobs = subject.mix(count);
        let setup = Setup::new(&subject.graph, subject.memory(lab, &jobs, count)?);
        let by = |order: PartOrder| Setup { part_order: Some(order), ..setup };
        let (mut priority, mut plain) = (Vec::new(), Vec::new());
        for _ in 0..lab.settings.rounds.min(ROUNDS_MAX) {
            priority.push(lab.batch(&by(PartOrder::Priority), &jobs)?);
            plain.push(lab.batch(&by(PartOrder::RoundRobin), &jobs)?);
        }
        let of = |costs: &[BatchCost], value: fn(&BatchCost) -> f64| {
            costs.iter().map(value).collect::<Vec<_>>()
        };
        let seconds = Figure::new(
            format!("{count} jobs, by priority"),
            Unit::Seconds,
            of(&priority, |cost| cost.seconds),
        )
        .compared_with("plain order", of(&plain, |cost| cost.seconds), Ratio::TimesAsLong)
        .note(format!("GraphM: {PAPER} times as long on Clueweb12 (Figure 18)"))
        .on_curve("time", count as f64, "jobs");
        let bytes = Figure::new(
            format!("{count} jobs, bytes read by priority"),
            Unit::Bytes,
            of(&priority, |cost| cost.bytes_read),
        )
        .compared_with("plain order", of(&plain, |cost| cost.bytes_read), Ratio::TimesAsLarge)
        .on_curve("bytes read", count as f64, "jobs");
        figures.extend([seconds, bytes]);
    }
    Ok(figures)
}
