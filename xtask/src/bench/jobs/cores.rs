//! The mix by the number of threads.

use super::batch::{ROUNDS_MAX, Setup, sum};
use super::job_files::MIX;
use super::subject::Subject;
use crate::bench::figure::{Figure, Ratio, Unit};
use crate::bench::lab::Lab;
use crate::tegula::Result;

/// Measures 1, 2, 4, .. threads, beside jobs one after the other (GraphM's Figure 20), and beside
/// one thread.
pub fn all(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    let subject = Subject::rmat(lab)?;
    let jobs = subject.mix(MIX);
    let cores = std::thread::available_parallelism()?.get();
    let counts: Vec<usize> = std::iter::successors(Some(1), |count| Some(2 * count))
        .take_while(|it| *it <= cores)
        .collect();
    let shared = Setup::new(&subject.graph, subject.memory(lab, &jobs, MIX)?);
    let alone = Setup { memory: subject.memory_alone(lab, &jobs)?, ..shared };
    let mut samples = vec![(Vec::new(), Vec::new()); counts.len()];
    for _ in 0..lab.settings.rounds.min(ROUNDS_MAX) {
        for (&count, (together, each)) in counts.iter().zip(&mut samples) {
            let threads = Some(count);
            together.push(lab.batch(&Setup { threads, ..shared }, &jobs)?.seconds);
            each.push(sum(lab.one_by_one(&Setup { threads, ..alone }, &jobs)?).seconds);
        }
    }
    let mut figures = Vec::new();
    let single = samples[0].0.clone();
    for (count, (together, each)) in counts.into_iter().zip(samples) {
        let title = format!("{MIX} jobs, shared, threads: {count}");
        let figure = Figure::new(title, Unit::Seconds, together);
        let beside = |figure: Figure, other: &str, samples: Vec<f64>| {
            figure.compared_with(other, samples, Ratio::TimesAsFast).on_curve(
                &format!("beside {other}"),
                count as f64,
                "threads",
            )
        };
        figures.push(beside(figure.clone(), "one after the other", each));
        figures.push(beside(figure, "one thread", single.clone()));
    }
    Ok(figures)
}
