//! How many bytes of tiles all jobs process before they go on to the tiles after them.

use super::batch::{ROUNDS_MAX, Setup};
use super::job_files::MIX;
use super::subject::Subject;
use crate::bench::figure::{Figure, Ratio, Unit};
use crate::bench::lab::Lab;
use crate::tegula::{Result, units};

/// Bytes of a stretch.
const SIZES: [u64; 6] = [64 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20, 64 << 20];

/// Measures the mix in memory by the size of a stretch, beside the size that Formula 1 gives.
pub fn all(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    let subject = Subject::rmat(lab)?;
    let jobs = subject.mix(MIX);
    let usual = Setup::new(&subject.graph, subject.memory_with_tiles(lab, &jobs, MIX)?);
    let mut samples = SIZES.map(|size| (size, Vec::new()));
    let mut of_usual = Vec::new();
    for _ in 0..lab.settings.rounds.min(ROUNDS_MAX) {
        of_usual.push(lab.batch(&usual, &jobs)?.seconds);
        for (size, seconds) in &mut samples {
            let setup = Setup { stretch_size: Some(*size), ..usual };
            seconds.push(lab.batch(&setup, &jobs)?.seconds);
        }
    }
    let figure = |(size, seconds): (u64, Vec<f64>)| {
        let title = format!("{MIX} jobs, a stretch of {}", units::bytes(size as f64));
        Figure::new(title, Unit::Seconds, seconds)
            .compared_with("the size by Formula 1", of_usual.clone(), Ratio::TimesAsLong)
            .on_curve("time", size as f64 / f64::from(1 << 20), "MiB of tiles in a stretch")
    };
    Ok(samples.into_iter().map(figure).collect())
}
