//! Searches whose sources lie close to each other, which need the same tiles at the same time.

use super::batch::{ROUNDS_MAX, Setup, sum};
use super::job_files::{MIX, searches};
use super::subject::Subject;
use crate::bench::figure::{Figure, Ratio, Unit, median};
use crate::bench::lab::Lab;
use crate::tegula::{Result, units};

/// How far sources lie from a hub, at most (GraphM's Figure 17).
const HOPS: [u64; 5] = [1, 2, 3, 4, 5];

/// Measures 16 searches, not fused, for each distance of their sources.
pub fn all(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    let subject = Subject::rmat(lab)?;
    let mut figures = Vec::new();
    for hops in HOPS {
        let jobs = searches(&subject.sources_near(lab, hops, MIX)?);
        let shared = Setup::new(&subject.graph, subject.memory(lab, &jobs, MIX)?);
        let alone = Setup { memory: subject.memory_alone(lab, &jobs)?, ..shared };
        let (mut together, mut each, mut read) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..lab.settings.rounds.min(ROUNDS_MAX) {
            let cost = lab.batch(&shared, &jobs)?;
            together.push(cost.seconds);
            read.push(cost.bytes_read);
            each.push(sum(lab.one_by_one(&alone, &jobs)?).seconds);
        }
        let title = format!("{} searches, sources within {hops} hops of a hub", jobs.len());
        let figure = Figure::new(title, Unit::Seconds, together)
            .compared_with("one after the other", each, Ratio::TimesAsFast)
            .note(format!("{} read", units::bytes(median(&read))))
            .on_curve("beside one after the other", hops as f64, "hops from a hub, at most");
        figures.push(figure);
    }
    Ok(figures)
}
