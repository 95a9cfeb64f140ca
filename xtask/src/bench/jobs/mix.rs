//! The paper's mix of 16 jobs: its time, its memory, what it reads, and where the time goes.

use std::collections::BTreeMap;
use std::path::Path;

use super::batch::{BatchCost, ROUNDS_MAX, Setup, sum};
use super::job_files::{Job, MIX, loading};
use super::subject::{Subject, Which};
use super::throttle::Throttle;
use crate::bench::disk::read_sequentially;
use crate::bench::figure::{Figure, Of, Ratio, Unit, median};
use crate::bench::lab::Lab;
use crate::tegula::scratch::remove;
use crate::tegula::{Result, units};

/// The rate of the slow disk in bytes a second.
const SLOW: u64 = 100_000_000;
/// The share of the bound that is to be reached.
const OF_BOUND: f64 = 0.9;
/// How far ahead of 16 processes the batch is to be.
const AHEAD_OF_PROCESSES: f64 = 3.0;
/// The memory of GraphM beside separate runs (its Figure 11).
const MEMORY: f64 = 0.71;
/// The bytes that GraphM reads beside jobs one after the other, and beside jobs at once (its Figure
/// 12).
const READ: [f64; 2] = [1.0 / 9.2, 1.0 / 10.1];

/// The greatest share of the time that GraphM takes for synchronisation (its section 5).
const SYNCHRONISATION: f64 = 0.146;

/// What reading means where the graph is at most half of each budget.
const CACHED: &str = "The graph is at most half of each budget, so it is read through the page cache: from the disk once for \
                      a process, and only once for all processes that run at once. Bytes read count all reads.";

/// Measures the mix on R-MAT.
pub fn rmat(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    measure(lab, Which::Rmat, None)
}

/// Measures the mix on the uniform graph, which is removed then.
pub fn uniform(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    let figures = measure(lab, Which::Uniform, None);
    remove(&lab.scratch.join("uniform.tegula"))?;
    figures
}

/// Measures the mix on cnr-2000.
pub fn cnr(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    measure(lab, Which::Cnr, None)
}

/// Measures the mix on R-MAT from a slow disk.
pub fn rmat_throttled(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    throttled(lab, Which::Rmat)
}

/// Measures the mix on cnr-2000 from a slow disk.
pub fn cnr_throttled(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    throttled(lab, Which::Cnr)
}

fn throttled(lab: &mut Lab<'_>, which: Which) -> Result<Vec<Figure>> {
    match Throttle::new(lab.scratch.path(), SLOW) {
        Ok(throttle) => measure(lab, which, Some(&throttle)),
        Err(error) => {
            lab.leave_out(&format!("the disk cannot be throttled here ({error})."));
            Ok(Vec::new())
        }
    }
}

/// The three ways to run the jobs, in each round.
#[derive(Debug, Default)]
struct Rounds {
    shared: Vec<BatchCost>,
    one_by_one: Vec<BatchCost>,
    processes: Vec<BatchCost>,
}

fn measure(lab: &mut Lab<'_>, which: Which, throttle: Option<&Throttle>) -> Result<Vec<Figure>> {
    let Some(subject) = Subject::of(lab, which)? else { return Ok(Vec::new()) };
    let jobs = subject.mix(MIX);
    let computing = computing(lab, &subject, &jobs)?;
    let bytes_before = bytes_of(&subject.graph)?;
    // On a slow disk nearly all of the time is reading, which varies little and takes very long.
    let most = if throttle.is_some() { 1 } else { ROUNDS_MAX };
    let setup = Setup { throttle, ..Setup::new(&subject.graph, 0) };
    let shared = Setup { memory: subject.memory(lab, &jobs, MIX)?, ..setup };
    let alone = Setup { memory: subject.memory_alone(lab, &jobs)?, ..setup };
    let least = lab.needed(&subject.graph, &jobs, 1)?;
    let beside = Setup { memory: least.max(shared.memory / MIX as u64), ..setup };
    let (mut rounds, mut reading) = (Rounds::default(), Vec::new());
    for _ in 0..lab.settings.rounds.min(most) {
        rounds.shared.push(lab.batch(&shared, &jobs)?);
        let one_by_one = lab.one_by_one(&alone, &jobs)?;
        reading = one_by_one.iter().map(|cost| cost.bytes_read).collect();
        rounds.one_by_one.push(sum(one_by_one));
        rounds.processes.push(lab.processes(&beside, &jobs)?);
    }
    let rate = match throttle {
        Some(_) => SLOW as f64,
        None => disk_rate(lab, &subject.graph)?,
    };
    let bound = Bound::new(computing, &reading.iter().map(|it| it / rate).collect::<Vec<_>>());
    let bytes_after = bytes_of(&subject.graph)?;
    lab.remarks.push(format!(
        "{}: {} of memory for the batch, {} for a job alone, {} for each of {MIX} processes. Without \
         weights, every edge counts 1 for shortest paths.",
        subject.title,
        units::bytes(shared.memory as f64),
        units::bytes(alone.memory as f64),
        units::bytes(beside.memory as f64),
    ));
    if 2.0 * bytes_after <= alone.memory.min(beside.memory) as f64 {
        lab.remarks.push(CACHED.to_owned());
    }
    let mut figures = times(&rounds, &bound, throttle.is_some());
    figures.extend(memory_and_bytes(&rounds));
    figures.extend(breakdown(&rounds, rate)?);
    let disk = Figure::new("graph directory, after the jobs", Unit::Bytes, vec![bytes_after])
        .compared_with("before", vec![bytes_before], Ratio::TimesAsLarge)
        .note("jobs need no import of their own; GraphM's takes 5 to 19 % longer (Table 3)");
    figures.push(disk.at_most(Of::Ratio, 1.0, None));
    Ok(figures)
}

/// Returns the time that all jobs compute and write, one after the other, while a process holds the
/// tiles.
fn computing(lab: &Lab<'_>, subject: &Subject, jobs: &[Job]) -> Result<f64> {
    let all: Vec<Job> = std::iter::once(loading()).chain(jobs.iter().cloned()).collect();
    let memory = subject.memory_with_tiles(lab, &all, 1)?;
    let cost = lab.batch(&Setup::new(&subject.graph, memory).jobs_max(1), &all)?;
    Ok(cost.jobs.iter().skip(1).map(|job| job.run + job.write).sum())
}

/// The most that sharing without fusing can gain.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Bound {
    /// Seconds that all jobs compute.
    computing: f64,
    /// Seconds that reading takes for all jobs, each on its own.
    reading: f64,
    /// Seconds that reading takes for the job that reads most: one read may serve all others.
    reading_once: f64,
}

impl Bound {
    fn new(computing: f64, reading: &[f64]) -> Bound {
        let reading_once = reading.iter().copied().fold(0.0, f64::max);
        Bound { computing, reading: reading.iter().sum(), reading_once }
    }

    /// Returns `max(N * R, N * C) / max(R, N * C)`.
    fn gain(self) -> f64 {
        self.reading.max(self.computing) / self.reading_once.max(self.computing)
    }

    fn describe(self, reached: f64) -> String {
        let [computing, reading, once] =
            [self.computing, self.reading, self.reading_once].map(units::seconds);
        format!(
            "N*C = {computing}, N*R = {reading}, R = {once}: sharing without fusing gains at most \
             {:.2}x; reached {:.2} of that",
            self.gain(),
            reached / self.gain(),
        )
    }
}

fn of(costs: &[BatchCost], value: impl Fn(&BatchCost) -> f64) -> Vec<f64> {
    costs.iter().map(value).collect()
}

/// Makes the figures of the time, each beside another way.
fn times(rounds: &Rounds, bound: &Bound, is_throttled: bool) -> Vec<Figure> {
    let seconds = |costs: &[BatchCost]| of(costs, |cost| cost.seconds);
    let title = format!("{MIX} jobs, shared");
    let beside = |title: String, other: &str, costs: &[BatchCost]| {
        Figure::new(title, Unit::Seconds, seconds(&rounds.shared)).compared_with(
            other,
            seconds(costs),
            Ratio::TimesAsFast,
        )
    };
    let bounded = format!("{title} (gain of at most {:.2}×)", bound.gain());
    let paper = |figure: Figure, gain: &str| match is_throttled {
        true => figure.note(format!("GraphM, on its slowest graph: {gain}")),
        false => figure,
    };
    let one_by_one = beside(bounded, "one after the other (GridGraph-S)", &rounds.one_by_one);
    let reached = one_by_one.beside.as_ref().map_or(0.0, |beside| beside.ratios.median);
    let one_by_one = one_by_one.note(bound.describe(reached));
    let processes = beside(title, "16 processes at once (GridGraph-C)", &rounds.processes);
    vec![
        paper(one_by_one, "11.6x").at_least(Of::Ratio, OF_BOUND * bound.gain(), None),
        paper(processes, "13x").at_least(Of::Ratio, AHEAD_OF_PROCESSES, None),
    ]
}

fn memory_and_bytes(rounds: &Rounds) -> Vec<Figure> {
    let memory = |costs: &[BatchCost]| of(costs, |cost| cost.peak_memory_bytes);
    let read = |costs: &[BatchCost]| of(costs, |cost| cost.bytes_read);
    let large = Ratio::TimesAsLarge;
    let bytes = |title: &str, costs: &[BatchCost], at: f64| {
        Figure::new("bytes read, shared", Unit::Bytes, read(&rounds.shared))
            .compared_with(title, read(costs), large)
            .note(format!("GraphM: 1/{:.1} (Figure 12)", 1.0 / at))
            .at_most(Of::Ratio, at, None)
    };
    let peak = Figure::new("peak memory, shared", Unit::Bytes, memory(&rounds.shared))
        .compared_with("all processes together", memory(&rounds.processes), large)
        .note(format!("GraphM: {MEMORY:.2} (Figure 11)"))
        .at_most(Of::Ratio, MEMORY, None);
    vec![
        peak,
        bytes("one after the other", &rounds.one_by_one, READ[0]),
        bytes("16 processes at once", &rounds.processes, READ[1]),
    ]
}

/// Says where the time goes: the processors' time, the rest, and what reading takes at least (its
/// Figure 10).
fn breakdown(rounds: &Rounds, rate: f64) -> Result<Vec<Figure>> {
    let threads = std::thread::available_parallelism()?.get() as f64;
    let ways = BTreeMap::from([
        ("shared", &rounds.shared),
        ("one after the other", &rounds.one_by_one),
        ("16 processes at once", &rounds.processes),
    ]);
    let mut figures = Vec::new();
    for way in ["shared", "one after the other", "16 processes at once"] {
        let costs = ways[way];
        let parts: [(&str, Vec<f64>); 3] = [
            ("processing", of(costs, |cost| cost.cpu_seconds / threads)),
            ("waiting", of(costs, |cost| (cost.seconds - cost.cpu_seconds / threads).max(0.0))),
            ("reading at the rate of the disk", of(costs, |cost| cost.bytes_read / rate)),
        ];
        figures.extend(
            parts.map(|(part, seconds)| {
                Figure::new(format!("{part}, {way}"), Unit::Seconds, seconds)
            }),
        );
    }
    let idle =
        of(&rounds.shared, |cost| (1.0 - cost.cpu_seconds / threads / cost.seconds).max(0.0));
    let idle = Figure::new("waiting, shared, as a share of the time", Unit::Share, idle)
        .note("GraphM: 7.1 to 14.6 % for synchronisation; here all waits count, also for reads");
    figures.push(idle.at_most(Of::Value, SYNCHRONISATION, None));
    Ok(figures)
}

/// Returns the rate at which the disk delivers the tiles in order.
pub fn disk_rate(lab: &Lab<'_>, graph: &Path) -> Result<f64> {
    if let Some(rate) = lab.disk_bytes_per_second {
        return Ok(rate);
    }
    let mut rates = Vec::new();
    for _ in 0..ROUNDS_MAX {
        lab.cache.drop(graph)?;
        let read = read_sequentially(&graph.join("tiles.data"))?;
        rates.push(read.bytes as f64 / read.seconds);
    }
    Ok(median(&rates))
}

/// Returns the bytes of all files of a folder.
fn bytes_of(folder: &Path) -> Result<f64> {
    let mut bytes = 0;
    for entry in std::fs::read_dir(folder)? {
        bytes += entry?.metadata()?.len();
    }
    Ok(bytes as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_depends_on_what_takes_longer() {
        // Reading takes longest: one read may serve all four jobs.
        assert_eq!(Bound::new(2.0, &[8.0; 4]).gain(), 4.0);
        // Computing takes longer than one read, and less long than all of them.
        assert_eq!(Bound::new(16.0, &[8.0; 4]).gain(), 2.0);
        // Only computing counts.
        assert_eq!(Bound::new(64.0, &[8.0; 4]).gain(), 1.0);
    }
}
