//! Runs jobs in one process or in several, and reads what they report.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use serde_json::Value;

use super::job_files::{Job, lines};
use super::throttle::Throttle;
use crate::bench::lab::{Lab, text};
use crate::tegula::Result;
use crate::tegula::command::{number, whole};
use crate::tegula::scratch::remove;

/// Rounds of measurements that take minutes.
pub const ROUNDS_MAX: usize = 3;
/// Ticks a second of the processor times in `/proc`, on every Linux that runs Rust.
const TICKS_PER_SECOND: f64 = 100.0;

/// In which order the scheduler takes the parts of the graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartOrder {
    /// Round and round, as they lie on the disk.
    RoundRobin,
    /// By the priority of GraphM.
    Priority,
}

impl PartOrder {
    /// Returns the options that ask for this order.
    fn options(self) -> [&'static str; 2] {
        match self {
            PartOrder::RoundRobin => ["--part-order", "round-robin"],
            PartOrder::Priority => ["--part-order", "priority"],
        }
    }
}

/// How jobs are run.
#[derive(Debug, Clone, Copy)]
pub struct Setup<'a> {
    pub graph: &'a Path,
    /// The memory of a process.
    pub memory: u64,
    /// Whether like jobs become one program.
    pub is_fused: bool,
    /// The most jobs at a time.
    pub jobs_max: usize,
    /// Worker threads; one per core if there is no number.
    pub threads: Option<usize>,
    pub part_order: Option<PartOrder>,
    /// Bytes of tiles in a stretch.
    pub stretch_size: Option<u64>,
    /// Limits the disk.
    pub throttle: Option<&'a Throttle>,
}

/// What a job reports.
#[derive(Debug, Clone)]
pub struct JobRun {
    pub name: String,
    /// From its arrival until it ran.
    pub queued: f64,
    pub run: f64,
    pub write: f64,
}

/// What a process, or several beside each other, took for some jobs.
#[derive(Debug, Clone, Default)]
pub struct BatchCost {
    /// From the start of the first process to the end of the last one.
    pub seconds: f64,
    /// Seconds of processors.
    pub cpu_seconds: f64,
    pub bytes_read: f64,
    /// The sum over the processes.
    pub peak_memory_bytes: f64,
    /// In the order of the file.
    pub jobs: Vec<JobRun>,
}

impl<'a> Setup<'a> {
    /// Jobs of one process that are not fused.
    pub fn new(graph: &'a Path, memory: u64) -> Setup<'a> {
        Setup {
            graph,
            memory,
            is_fused: false,
            jobs_max: 16,
            threads: None,
            part_order: None,
            stretch_size: None,
            throttle: None,
        }
    }

    /// Lets like jobs become one program.
    pub fn fused(self) -> Setup<'a> {
        Setup { is_fused: true, ..self }
    }

    /// Sets the most jobs at a time.
    pub fn jobs_max(self, jobs_max: usize) -> Setup<'a> {
        Setup { jobs_max: jobs_max.max(1), ..self }
    }

    /// Returns a command that runs the file of jobs.
    fn command(&self, program: &Path, jobs: &str, folder: &str) -> Result<Command> {
        let mut command = match self.throttle {
            Some(throttle) => throttle.command(program),
            None => Command::new(program),
        };
        command.args(["run", "--batch", jobs, text(self.graph)?, "-o", folder, "--json"]);
        command.args(["--memory", &self.memory.to_string()]);
        command.args(["--jobs", &self.jobs_max.to_string()]);
        command.args((!self.is_fused).then_some("--no-fuse"));
        command.args(self.part_order.iter().flat_map(|order| order.options()));
        if let Some(threads) = self.threads {
            command.args(["--threads", &threads.to_string()]);
        }
        if let Some(size) = self.stretch_size {
            command.args(["--stretch-size", &size.to_string()]);
        }
        command.stdin(Stdio::null());
        Ok(command)
    }
}

impl Lab<'_> {
    /// Runs jobs in one process, from a cold disk.
    pub fn batch(&self, setup: &Setup<'_>, jobs: &[Job]) -> Result<BatchCost> {
        self.cache.drop(setup.graph)?;
        let cpu_before = cpu_of_children()?;
        let cost = self.process(setup, jobs, "shared")?;
        Ok(BatchCost { cpu_seconds: cpu_of_children()? - cpu_before, ..cost })
    }

    /// Runs each job in a process of its own, all at once, from a cold disk.
    pub fn processes(&self, setup: &Setup<'_>, jobs: &[Job]) -> Result<BatchCost> {
        self.cache.drop(setup.graph)?;
        let cpu_before = cpu_of_children()?;
        let started = Instant::now();
        let outcomes: Vec<std::result::Result<BatchCost, String>> = std::thread::scope(|scope| {
            let run = |job: &Job| {
                let cost = self.process(setup, std::slice::from_ref(job), &job.name);
                cost.map_err(|error| error.to_string())
            };
            let threads: Vec<_> = jobs.iter().map(|job| scope.spawn(move || run(job))).collect();
            let joined = threads.into_iter().map(|thread| thread.join());
            joined.map(|it| it.unwrap_or_else(|_| Err("a thread died".to_owned()))).collect()
        });
        let seconds = started.elapsed().as_secs_f64();
        let all = sum(outcomes.into_iter().collect::<std::result::Result<Vec<_>, _>>()?);
        Ok(BatchCost { seconds, cpu_seconds: cpu_of_children()? - cpu_before, ..all })
    }

    /// Runs each job in a process of its own, one after the other, each from a cold disk. When they
    /// arrive does not matter. The peak memory is the greatest.
    pub fn one_by_one(&self, setup: &Setup<'_>, jobs: &[Job]) -> Result<Vec<BatchCost>> {
        let run = |job: &Job| self.batch(setup, &[Job { after_seconds: 0.0, ..job.clone() }]);
        jobs.iter().map(run).collect()
    }

    /// Returns the memory that all jobs need when at most `jobs_max` run at once, each alone.
    pub fn needed(&self, graph: &Path, jobs: &[Job], jobs_max: usize) -> Result<u64> {
        let file = self.scratch.join("needed.jsonl");
        fs::write(&file, lines(jobs))?;
        let (jobs_max, ample) = (jobs_max.to_string(), (1u64 << 50).to_string());
        let mut arguments =
            vec!["run", "--batch", text(&file)?, text(graph)?, "--estimate", "--no-fuse"];
        arguments.extend(["--jobs", &jobs_max, "--memory", &ample]);
        whole(&self.tegula.json(&arguments)?, "/peak_memory_bytes")
    }

    fn process(&self, setup: &Setup<'_>, jobs: &[Job], name: &str) -> Result<BatchCost> {
        let file = self.scratch.join(&format!("{name}.jsonl"));
        let folder = self.scratch.join(&format!("{name}.tables"));
        fs::write(&file, lines(jobs))?;
        let mut command = setup.command(self.tegula.path(), text(&file)?, text(&folder)?)?;
        let started = Instant::now();
        let output = command.output()?;
        let seconds = started.elapsed().as_secs_f64();
        remove(&folder)?;
        if !output.status.success() {
            let message = String::from_utf8_lossy(&output.stderr);
            return Err(format!("{command:?}: {}", message.trim()).into());
        }
        Ok(BatchCost { seconds, ..cost_of(&String::from_utf8(output.stdout)?, jobs)? })
    }
}

/// Adds up what processes took one after the other; the memory is that of all of them at once.
pub fn sum(all: Vec<BatchCost>) -> BatchCost {
    all.into_iter().fold(BatchCost::default(), |mut total, cost| {
        total.seconds += cost.seconds;
        total.cpu_seconds += cost.cpu_seconds;
        total.bytes_read += cost.bytes_read;
        total.peak_memory_bytes += cost.peak_memory_bytes;
        total.jobs.extend(cost.jobs);
        total
    })
}

/// Reads the objects that a batch prints: one for each job, then one for all.
fn cost_of(text: &str, jobs: &[Job]) -> Result<BatchCost> {
    let mut cost = BatchCost::default();
    let mut runs: Vec<JobRun> = Vec::new();
    for line in text.lines() {
        let said: Value = serde_json::from_str(line)?;
        match said["schema"].as_str() {
            Some("tegula.run.v1") => runs.push(job_run(&said)?),
            Some("tegula.batch.v1") => {
                cost.bytes_read = number(&said, "/bytes_read")?;
                cost.peak_memory_bytes = number(&said, "/peak_memory_bytes")?;
            }
            _ => return Err(format!("the batch says {said}").into()),
        }
    }
    // They end in any order.
    let mut run_of = |job: &Job| {
        let at = runs.iter().position(|run| run.name == job.name);
        at.map(|at| runs.swap_remove(at)).ok_or_else(|| format!("nothing about {}", job.name))
    };
    for job in jobs {
        cost.jobs.push(run_of(job)?);
    }
    Ok(cost)
}

fn job_run(said: &Value) -> Result<JobRun> {
    Ok(JobRun {
        name: said["name"].as_str().unwrap_or_default().to_owned(),
        queued: number(said, "/queued_seconds")?,
        run: number(said, "/seconds/run")?,
        write: number(said, "/seconds/write")?,
    })
}

/// Returns the seconds of processors that ended children of this process took.
fn cpu_of_children() -> Result<f64> {
    cpu_in(&fs::read_to_string("/proc/self/stat")?)
}

/// Reads the two times of children in the text of `/proc/PID/stat`.
fn cpu_in(stat: &str) -> Result<f64> {
    // The name in brackets may hold blanks. Behind it are the fields from the third one on.
    let fields: Vec<&str> = stat
        .rsplit_once(')')
        .map(|(_, rest)| rest.split_whitespace().collect())
        .unwrap_or_default();
    let ticks = |field: usize| fields.get(field - 3).and_then(|text| text.parse::<f64>().ok());
    let both = ticks(16).zip(ticks(17)).ok_or("/proc/self/stat has no times of children")?;
    Ok((both.0 + both.1) / TICKS_PER_SECOND)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::jobs::job_files::pageranks;

    #[test]
    fn jobs_are_reported_in_the_order_of_their_file() {
        let line = |name: &str, run: f64| {
            format!(
                r#"{{"name": "{name}", "queued_seconds": 0.5, "schema": "tegula.run.v1", "seconds": {{"run": {run}, "write": 1}}}}"#
            )
        };
        let last = r#"{"schema": "tegula.batch.v1", "bytes_read": 9, "peak_memory_bytes": 5}"#;
        let text = [line("ranks-2", 2.0), line("ranks-1", 1.0), last.to_owned()].join("\n");
        let cost = cost_of(&text, &pageranks(2)).unwrap();
        let runs: Vec<f64> = cost.jobs.iter().map(|job| job.run).collect();
        assert_eq!((runs, cost.bytes_read), (vec![1.0, 2.0], 9.0));
        assert!(cost_of(&text, &pageranks(3)).is_err());
        assert!(cost_of(r#"{"schema": "tegula.error.v1"}"#, &[]).is_err());
    }

    #[test]
    fn times_of_children_stand_behind_the_name() {
        let stat = "7 (a) b) S 1 2 3 4 5 6 7 8 9 10 11 12 250 50 20 0";
        assert_eq!(cpu_in(stat).unwrap(), 3.0);
        assert!(cpu_in("7 (a").is_err());
    }
}
