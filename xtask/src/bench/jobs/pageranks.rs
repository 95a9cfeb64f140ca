//! PageRanks with different dampings, as one program.

use super::batch::{ROUNDS_MAX, Setup, sum};
use super::job_files::{Job, loading, pageranks};
use super::subject::Subject;
use crate::bench::figure::{Figure, Of, Ratio, Unit};
use crate::bench::lab::Lab;
use crate::tegula::Result;

/// The numbers of PageRanks, and how far ahead GraphM is (its Figure 19).
const COUNTS: [(usize, f64); 4] = [(2, 1.79), (4, 3.04), (8, 4.92), (16, 5.94)];
/// How far ahead 16 PageRanks in memory are to be.
const IN_MEMORY: f64 = 4.0;

/// Measures them from disk and in memory.
pub fn all(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    let subject = Subject::rmat(lab)?;
    let mut figures = Vec::new();
    for (count, paper) in COUNTS {
        figures.push(from_disk(lab, &subject, count, paper)?);
    }
    for (count, _) in COUNTS {
        figures.push(in_memory(lab, &subject, count)?);
    }
    Ok(figures)
}

fn from_disk(lab: &Lab<'_>, subject: &Subject, count: usize, paper: f64) -> Result<Figure> {
    let jobs = pageranks(count);
    let memory = subject.memory(lab, &jobs, count)?;
    let fused = Setup::new(&subject.graph, memory).jobs_max(count).fused();
    let alone = Setup::new(&subject.graph, subject.memory_alone(lab, &jobs)?);
    let (mut together, mut each) = (Vec::new(), Vec::new());
    for _ in 0..lab.settings.rounds.min(ROUNDS_MAX) {
        together.push(lab.batch(&fused, &jobs)?.seconds);
        each.push(sum(lab.one_by_one(&alone, &jobs)?).seconds);
    }
    Ok(Figure::new(format!("{count} PageRanks, fused, from disk"), Unit::Seconds, together)
        .compared_with("one after the other", each, Ratio::TimesAsFast)
        .note(format!("GraphM: {paper} times as fast as one after the other (Figure 19)"))
        .on_curve("from disk", count as f64, "PageRanks")
        .at_least(Of::Ratio, paper, None))
}

fn in_memory(lab: &Lab<'_>, subject: &Subject, count: usize) -> Result<Figure> {
    let jobs = pageranks(count);
    let all: Vec<Job> = std::iter::once(loading()).chain(jobs.clone()).collect();
    let fused = Setup::new(&subject.graph, subject.memory_with_tiles(lab, &jobs, count)?);
    let fused = fused.jobs_max(count).fused();
    let each = Setup::new(&subject.graph, subject.memory_with_tiles(lab, &all, 1)?).jobs_max(1);
    let (mut together, mut one_by_one) = (Vec::new(), Vec::new());
    for _ in 0..lab.settings.rounds.min(ROUNDS_MAX) {
        together.push(lab.batch(&fused, &jobs)?.seconds);
        one_by_one.push(lab.batch(&each, &jobs)?.seconds);
    }
    let figure =
        Figure::new(format!("{count} PageRanks, fused, in memory"), Unit::Seconds, together)
            .compared_with("one after the other", one_by_one, Ratio::TimesAsFast)
            .on_curve("in memory", count as f64, "PageRanks");
    let is_last = count == COUNTS[COUNTS.len() - 1].0;
    Ok(if is_last { figure.at_least(Of::Ratio, IN_MEMORY, None) } else { figure })
}
