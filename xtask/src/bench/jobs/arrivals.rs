//! Jobs that arrive over time.

use std::f64::consts::TAU;

use super::batch::{BatchCost, ROUNDS_MAX, Setup};
use super::job_files::{Job, MIX, arriving};
use super::subject::{SEED, Subject};
use crate::bench::figure::{Figure, Ratio, Unit, median};
use crate::bench::lab::Lab;
use crate::bench::random::Random;
use crate::tegula::{Result, units};

/// Jobs that arrive in the time that a job takes alone (GraphM's Figure 16).
const RATES: [f64; 4] = [2.0, 4.0, 8.0, 16.0];
/// Jobs of the trace.
const TRACE: usize = 64;
/// The mean number of jobs at once in the trace (GraphM's Figure 15), where a job takes as long as
/// alone. Its greatest number is about twice that.
const AT_ONCE: f64 = 16.0;
/// The most jobs at once for which the batch has memory.
const AT_ONCE_MAX: usize = 32;

/// Measures jobs that arrive as a Poisson process.
pub fn poisson(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    let subject = Subject::rmat(lab)?;
    let jobs = subject.mix(MIX);
    let ways = Ways::new(lab, &subject, &jobs, MIX)?;
    let mut figures = Vec::new();
    for rate in RATES {
        let times = poisson_times(MIX, ways.alone / rate, &mut Random::new(SEED));
        let found = ways.measure(lab, &arriving(jobs.clone(), &times))?;
        figures.extend(found.figures(&format!("lambda {rate}"), Some(rate)));
    }
    lab.remarks.push(ways.describe("Lambda is the number of jobs that arrive in that time."));
    Ok(figures)
}

/// Measures jobs whose rate of arrival rises and falls once.
pub fn trace(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    let subject = Subject::rmat(lab)?;
    let jobs = subject.mix(TRACE);
    let ways = Ways::new(lab, &subject, &jobs, AT_ONCE_MAX)?;
    let times = trace_times(&mut Random::new(SEED));
    let (mean, most) = at_once(&times);
    let mut figures = over_time(&times);
    let times: Vec<f64> = times.iter().map(|time| time * ways.alone).collect();
    let found = ways.measure(lab, &arriving(jobs, &times))?;
    lab.remarks.push(ways.describe(&format!(
        "The trace is generated: if all jobs took that long, there would be {mean:.1} jobs at once, \
         and {most} at most. The paper's has 16 and more than 30.",
    )));
    figures.splice(0..0, found.figures("a trace", None));
    Ok(figures)
}

/// Returns the jobs at once over time, if each takes a time of 1, as points of a curve.
fn over_time(times: &[f64]) -> Vec<Figure> {
    let figure = |half: usize| {
        let time = half as f64 / 2.0;
        let title = format!("jobs at once in the trace, after {time} times a job");
        Figure::new(title, Unit::Count, vec![running(times, time) as f64]).on_curve(
            "jobs at once",
            time,
            "time, in times of a job alone",
        )
    };
    (1..=2 * TRACE / AT_ONCE as usize).map(figure).collect()
}

/// Returns the times of arrivals with a mean distance of `gap`; the first one is 0.
fn poisson_times(count: usize, gap: f64, random: &mut Random) -> Vec<f64> {
    let mut time = 0.0;
    let next = |_| {
        let arrival = time;
        time += random.exponential(gap);
        arrival
    };
    (0..count).map(next).collect()
}

/// Returns the times of arrivals whose rate follows a sine from 0 to twice the mean and back. The
/// unit is the time that a job takes alone.
fn trace_times(random: &mut Random) -> Vec<f64> {
    let period = TRACE as f64 / AT_ONCE;
    let mut times = Vec::new();
    let mut time = 0.0;
    while times.len() < TRACE {
        // Draws at the greatest rate, and keeps a share of what it has drawn.
        time += random.exponential(1.0 / (2.0 * AT_ONCE));
        let share = (1.0 - (TAU * time / period).cos()) / 2.0;
        if random.fraction() < share {
            times.push(time);
        }
    }
    times
}

/// Returns the mean and the greatest number of jobs at once, if each takes a time of 1.
fn at_once(times: &[f64]) -> (f64, usize) {
    let most = times.iter().map(|&time| running(times, time)).max().unwrap_or(0);
    let span = times.last().copied().unwrap_or(0.0) - times.first().copied().unwrap_or(0.0);
    // The last job ends a time of 1 after its arrival.
    (times.len() as f64 / (span + 1.0), most)
}

/// Returns how many jobs have arrived less than a time of 1 ago.
fn running(times: &[f64], now: f64) -> usize {
    times.iter().filter(|&&time| time <= now && now < time + 1.0).count()
}

/// The ways to run jobs that arrive.
struct Ways<'s> {
    shared: Setup<'s>,
    one: Setup<'s>,
    processes: Setup<'s>,
    /// The mean seconds of a job alone.
    alone: f64,
}

/// What the ways took, in each round.
#[derive(Default)]
struct Found {
    shared: Vec<Served>,
    one_by_one: Vec<Served>,
    processes: Vec<Served>,
}

/// How long jobs took that arrived over time.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Served {
    /// Until the last job has ended.
    total: f64,
    /// From the arrival of a job to its end, on average.
    mean: f64,
}

impl<'s> Ways<'s> {
    fn new(lab: &Lab<'_>, subject: &'s Subject, jobs: &[Job], at_once: usize) -> Result<Ways<'s>> {
        let setup = Setup::new(&subject.graph, 0);
        let shared = subject.memory(lab, jobs, at_once)?;
        let one = subject.memory_alone(lab, jobs)?;
        let least = lab.needed(&subject.graph, jobs, 1)?;
        let one = Setup { memory: one, ..setup };
        let few = lab.one_by_one(&one, &jobs[..jobs.len().min(MIX)])?;
        Ok(Ways {
            shared: Setup { memory: shared, ..setup }.jobs_max(jobs.len()),
            processes: Setup { memory: least.max(shared / at_once as u64), ..setup },
            one,
            alone: few.iter().map(|cost| cost.seconds).sum::<f64>() / few.len() as f64,
        })
    }

    fn measure(&self, lab: &Lab<'_>, jobs: &[Job]) -> Result<Found> {
        let mut found = Found::default();
        for _ in 0..lab.settings.rounds.min(ROUNDS_MAX) {
            found.shared.push(Served::at_once(&lab.batch(&self.shared, jobs)?));
            let seconds: Vec<f64> =
                lab.one_by_one(&self.one, jobs)?.iter().map(|cost| cost.seconds).collect();
            found.one_by_one.push(Served::in_turn(jobs, &seconds));
            found.processes.push(Served::at_once(&lab.processes(&self.processes, jobs)?));
        }
        Ok(found)
    }

    fn describe(&self, more: &str) -> String {
        let alone = units::seconds(self.alone);
        format!(
            "A job of the mix takes {alone} alone, on average. {more} For jobs one after the other, \
             each was measured alone, and waits for those that arrived before it."
        )
    }
}

impl Served {
    /// What jobs took that ran as they arrived.
    fn at_once(cost: &BatchCost) -> Served {
        let mean = cost.jobs.iter().map(|job| job.queued + job.run + job.write).sum::<f64>();
        Served { total: cost.seconds, mean: mean / cost.jobs.len() as f64 }
    }

    /// What jobs take of which each waits for those before it.
    fn in_turn(jobs: &[Job], seconds: &[f64]) -> Served {
        let (mut end, mut waited): (f64, f64) = (0.0, 0.0);
        for (job, seconds) in jobs.iter().zip(seconds) {
            end = end.max(job.after_seconds) + seconds;
            waited += end - job.after_seconds;
        }
        Served { total: end, mean: waited / jobs.len() as f64 }
    }
}

impl Found {
    fn figures(&self, title: &str, rate: Option<f64>) -> Vec<Figure> {
        let others =
            [("one after the other", &self.one_by_one), ("a process for each", &self.processes)];
        let figure = |(other, served): (&str, &Vec<Served>)| {
            let total = |served: &[Served]| served.iter().map(|it| it.total).collect::<Vec<_>>();
            let mean = |served: &[Served]| {
                units::seconds(median(&served.iter().map(|it| it.mean).collect::<Vec<_>>()))
            };
            let figure =
                Figure::new(format!("{title}, shared"), Unit::Seconds, total(&self.shared))
                    .compared_with(other, total(served), Ratio::TimesAsFast)
                    .note(format!(
                        "from arrival to end {} on average; {other} {}",
                        mean(&self.shared),
                        mean(served),
                    ));
            match rate {
                Some(rate) => figure.on_curve(&format!("beside {other}"), rate, "lambda"),
                None => figure,
            }
        };
        others.into_iter().map(figure).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::jobs::job_files::searches;

    #[test]
    fn the_trace_has_the_mean_and_the_peak_of_the_paper() {
        let (mean, most) = at_once(&trace_times(&mut Random::new(SEED)));
        assert!((14.0..=20.0).contains(&mean), "{mean}");
        assert!(most > 30, "{most}");
    }

    #[test]
    fn arrivals_have_their_mean_distance() {
        let times = poisson_times(1001, 2.0, &mut Random::new(SEED));
        assert_eq!(times[0], 0.0);
        assert!((times[1000] / 1000.0 - 2.0).abs() < 0.2, "{}", times[1000]);
    }

    #[test]
    fn a_job_in_turn_waits_for_those_before_it() {
        let jobs = arriving(searches(&["1", "2", "3"].map(String::from)), &[0.0, 1.0, 9.0]);
        // They end at 3, 5 and 10.
        let served = Served::in_turn(&jobs, &[3.0, 2.0, 1.0]);
        assert_eq!(served, Served { total: 10.0, mean: 8.0 / 3.0 });
    }
}
