//! Searches from many sources, as one program.

use super::batch::{ROUNDS_MAX, Setup};
use super::job_files::{Job, loading, searches};
use super::subject::Subject;
use crate::bench::figure::{Figure, Of, Ratio, Unit, median};
use crate::bench::lab::Lab;
use crate::tegula::{Result, units};

/// Searches that run alone, for comparison.
const SINGLE: usize = 8;
/// The time of a search beside a single one that is to be reached.
const SHARE: f64 = 1.0 / 20.0;

/// Measures the time of a search among many, beside the time of a single one.
pub fn all(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    let subject = Subject::rmat(lab)?;
    let many = searches(&subject.sources);
    let few = searches(&subject.sources[..SINGLE.min(subject.sources.len())]);
    let few: Vec<Job> = std::iter::once(loading()).chain(few).collect();
    let memory = subject.memory_with_tiles(lab, &many, many.len())?;
    let fused = Setup::new(&subject.graph, memory).jobs_max(many.len()).fused();
    let single = Setup { is_fused: false, ..fused }.jobs_max(1);
    let (mut each, mut alone) = (Vec::new(), Vec::new());
    for _ in 0..lab.settings.rounds.min(ROUNDS_MAX) {
        // Tables are written one after the other, which is no part of a search.
        let cost = lab.batch(&fused, &many)?;
        let ends = cost.jobs.iter().map(|job| job.queued + job.run);
        each.push(ends.fold(0.0, f64::max) / many.len() as f64);
        let cost = lab.batch(&single, &few)?;
        alone.push(median(&cost.jobs.iter().skip(1).map(|job| job.run).collect::<Vec<_>>()));
    }
    let title = format!("one of {} searches, fused, {}", many.len(), subject.title);
    let figure = Figure::new(title, Unit::Seconds, each)
        .compared_with("a single one, tiles in memory", alone, Ratio::TimesAsLong)
        .note(format!(
            "until the last one has ended, with the reading of the tiles, without tables; {} of memory",
            units::bytes(memory as f64),
        ));
    Ok(vec![figure.at_most(Of::Ratio, SHARE, None)])
}
