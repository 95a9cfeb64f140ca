//! `tegula run --batch`: many jobs on one graph at the same time.
//!
//! [`tegula_algorithms::jobs`] runs them. This writes the table of each as soon as it has its
//! result, and reports.

mod args;
mod estimate;
mod jobs;
mod turns;

use std::collections::HashSet;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::park_timeout;
use std::time::{Duration, Instant};

use tegula_algorithms::algorithm::{Found, Request};
use tegula_algorithms::answer::Answer;
use tegula_algorithms::jobs::{Ended, Face, Fault, Job, JobProgress, JobRunner};
use tegula_algorithms::side_table::TableSources;
use tegula_engine::{Graph, RunOptions, Scheduler};
use tegula_machine::disk::MadeFolder;
use tegula_machine::threads::{Cancel, Progress, ProgressUnit, lock, start_in, start_workers};
use tegula_store::Error;

use super::made_folder;
use super::one::{Done, RunInput, TOP_DEFAULT, failed, run_options};
use super::options::{Destination, RunArgs};
use super::{answer_file, missing_rows};
use crate::errors::{Failure, Result, guarded};
use crate::json::{self, RunSeconds, Seconds};
use crate::report::{self, Facts};
use crate::session::Session;
use crate::{allocator, stdout};

pub use args::{BatchArgs, command, is_asked_for};
use jobs::BatchJob;
use turns::{Turn, Turns};

/// The most tables of jobs that ran as one that are written at the same time.
const WRITERS_MAX: usize = 2;

/// Runs the jobs of a batch.
///
/// # Errors
/// [`Failure::JobsFailed`] where a job failed. What is wrong with the batch as a whole ends it
/// before any job runs.
pub fn run(args: &BatchArgs, session: &Session) -> Result<()> {
    if args.estimate {
        stdout::check()?;
    }
    let jobs = jobs::read(&args.jobs, &session.cancel)?;
    let mut graph = args.machine.reading.open(&args.graph)?;
    let Some(folder) = args.output.as_deref().filter(|_| !args.estimate) else {
        return estimate::show(&jobs, &graph, args, session);
    };
    // It is removed at the end if no table lies in it.
    let _made = make_folder(folder)?;
    let planned: Vec<Planned> = jobs
        .into_iter()
        .map(|job| Planned::of(job, &graph, folder, args, session))
        .collect::<Result<_>>()?;
    // Before any job begins, because the graph is opened again for rows that are built into it.
    for Planned { job, args, .. } in &planned {
        if job.request.needs_rows(&graph) {
            graph = missing_rows::build(graph, job.request.edges, args, 0, session)?;
        }
    }
    let (totals, took) = run_all(&planned, &graph, args, session)?;
    let read = graph.reader().statistics().bytes_read;
    report_totals(&totals, planned.len(), took, read, session)?;
    match totals.failed {
        0 => Ok(()),
        failed => Err(Failure::JobsFailed { failed, jobs: planned.len() }),
    }
}

/// Makes the folder of the tables, unless it exists.
fn make_folder(folder: &Path) -> Result<Option<MadeFolder>> {
    let made = made_folder::make(folder)?;
    if made.is_none() && !folder.is_dir() {
        return Err(Error::io("create", folder)(ErrorKind::AlreadyExists.into()).into());
    }
    Ok(made)
}

/// A job whose table has a place.
struct Planned {
    job: BatchJob,
    args: RunArgs,
    target: Destination,
}

impl Planned {
    /// Refuses a job whose table cannot be written.
    fn of(
        job: BatchJob,
        graph: &Graph,
        folder: &Path,
        batch: &BatchArgs,
        session: &Session,
    ) -> Result<Planned> {
        let args = RunArgs::of_job(&batch.common(), folder.join(job.file_name()), job.format);
        let target = args.destination(session.json, job.request.finds_graph)?;
        let target = target.ok_or_else(|| Failure::usage("a job has no table"))?;
        target.check_ids(graph)?;
        Ok(Planned { job, args, target })
    }
}

impl Job for Planned {
    fn request(&self) -> &Request {
        &self.job.request
    }

    fn table_sources(&self) -> &dyn TableSources {
        self.job.table_sources()
    }

    fn after(&self) -> Duration {
        self.job.after
    }
}

/// A job that has ended, with its result.
type EndedJob<'b> = (Ended<'b, Planned>, tegula_algorithms::Result<Found>);

/// Returns whether no result lies on disk.
fn are_in_memory(all: &[EndedJob<'_>]) -> bool {
    all.iter().flat_map(|(_, found)| found).all(|found| found.statistics.bytes_written == 0)
}

/// What all jobs did.
#[derive(Debug, Default)]
struct Totals {
    failed: usize,
    bytes_saved: u64,
    /// Why no job can report any more.
    unheard: Option<Failure>,
}

/// Runs all jobs; returns what they did, and how long it took.
fn run_all(
    planned: &[Planned],
    graph: &Graph,
    args: &BatchArgs,
    session: &Session,
) -> Result<(Totals, Duration)> {
    let Some(first) = planned.first() else { return Ok(Default::default()) };
    // All jobs have these options in common, so those of the first one do.
    let alone = run_options(&first.args, graph, session).resources();
    let resources = args.resources(planned.len(), alone);
    allocator::map_smaller_allocations(resources.memory);
    let begun = Instant::now();
    session.progress().begin("jobs", Some(planned.len() as u64), ProgressUnit::Jobs);
    let totals = Scheduler::scope(graph, &resources, |scheduler| {
        let batch = Batch {
            planned,
            have_come: AtomicBool::new(false),
            graph,
            budget: resources.memory,
            threads: args.machine.threads.count(),
            scheduler,
            session,
            turns: Turns::default(),
            warned: Mutex::default(),
            totals: Mutex::default(),
        };
        let jobs = JobRunner::new(&batch, args.grouping(graph, resources.memory), scheduler);
        jobs.run_all(args.jobs_max.get().min(planned.len()));
        // It borrows the batch, which gives up its totals next.
        drop(jobs);
        batch.totals.into_inner().unwrap_or_else(|lock| lock.into_inner())
    });
    session.progress().end();
    // Asked first, because this failure has cancelled the session itself.
    if let Some(failure) = totals.unheard {
        return Err(failure);
    }
    session.cancel.check().map_err(Error::from)?;
    Ok((totals, begun.elapsed()))
}

/// A batch at work.
struct Batch<'b> {
    /// All jobs, in the order of arrival.
    planned: &'b [Planned],
    /// Whether the jobs have been handed out.
    have_come: AtomicBool,
    graph: &'b Graph,
    /// Bytes for all jobs.
    budget: u64,
    threads: usize,
    scheduler: &'b Scheduler<'b>,
    session: &'b Session,
    turns: Turns,
    /// The warnings that were printed.
    warned: Mutex<HashSet<String>>,
    totals: Mutex<Totals>,
}

impl<'b> Face<'b> for Batch<'b> {
    type Job = Planned;

    fn come(&self) -> Vec<&'b Planned> {
        let have_come = self.have_come.swap(true, Ordering::Relaxed);
        if have_come { Vec::new() } else { self.planned.iter().collect() }
    }

    fn may_come(&self) -> bool {
        false
    }

    fn wait(&self, most: Duration) {
        park_timeout(most);
    }

    fn is_cancelled(&self) -> bool {
        self.session.cancel.is_cancelled()
    }

    fn progress<'f>(&'f self, Planned { job, .. }: &'f Planned) -> Box<dyn JobProgress + 'f> {
        Box::new(self.session.job_bar(&job.name, job.request.iterations.known()))
    }

    fn options<'f>(&'f self, job: &'f Planned, progress: &'f dyn Progress) -> RunOptions<'f> {
        RunOptions { progress, ..run_options(&job.args, self.graph, self.session) }
    }

    fn begin(&self, _jobs: &[&'b Planned]) -> Cancel {
        self.session.cancel.clone()
    }

    /// Writes the tables of jobs that ran as one, two at a time. The second one takes less memory
    /// than their run has freed.
    fn deliver(&self, all: Vec<EndedJob<'b>>) {
        let _turn = self.turn_to_write(are_in_memory(&all));
        let writers = self.threads.min(all.len()).min(WRITERS_MAX);
        let all = Mutex::new(all.into_iter());
        let deliver = || loop {
            let next = lock(&all).next();
            let Some((ended, found)) = next else { return };
            let planned = ended.job;
            let found = found.map_err(|error| failed(error, self.budget));
            let delivered = guarded(|| self.deliver_one(ended, found?));
            self.end(planned, delivered.as_ref().err());
        };
        std::thread::scope(|scope| {
            // This thread is one of them.
            start_workers(writers, 1, || start_in(scope, "tegula-write", deliver).map(drop));
            deliver();
        });
    }

    fn fail(&self, jobs: &[&'b Planned], fault: Fault) {
        let failure = Failure::from(fault);
        jobs.iter().for_each(|planned| self.end(planned, Some(&failure)));
    }
}

impl<'b> Batch<'b> {
    /// Counts a job that has ended, and reports it if it has failed.
    fn end(&self, planned: &Planned, failure: Option<&Failure>) {
        // All jobs fail then, for one reason, which is told once at the end.
        if self.session.cancel.is_cancelled() {
            return;
        }
        match failure {
            None => {}
            Some(Failure::ClosedPipe) => {
                // Nobody reads the objects any more, so the other jobs need not go on.
                lock(&self.totals).unheard = Some(Failure::ClosedPipe);
                return self.session.cancel.cancel();
            }
            Some(failure) => {
                lock(&self.totals).failed += 1;
                self.session.report_job(&planned.job.name, failure);
            }
        }
        self.session.progress().advance(1);
    }

    /// Waits until the tables of a run may be written: as long as the returned value lives. Results
    /// on disk take what memory is left, so they have the first turn only.
    fn turn_to_write(&self, are_in_memory: bool) -> Turn<'_> {
        self.turns.wait(|| if are_in_memory { self.scheduler.writer_memory() } else { None })
    }

    /// Writes the table of a job, and reports.
    fn deliver_one(
        &self,
        ended: Ended<'b, Planned>,
        Found { answer, statistics }: Found,
    ) -> Result<()> {
        let (graph, session) = (self.graph, self.session);
        let Ended { job: Planned { job, args, target }, tables, ran, .. } = ended;
        let started = Instant::now();
        let bytes_written = answer_file::write(&*answer, graph, Some(target), args, session)?;
        let seconds = RunSeconds {
            open: Seconds::default(),
            run: Seconds(ran),
            write: Seconds(started.elapsed()),
        };
        allocator::give_back();
        lock(&self.totals).bytes_saved += statistics.bytes_shared;
        let input = RunInput { request: &job.request, graph, tables, args };
        let done = Done { input, target: Some(target), statistics, seconds, bytes_written };
        let others: Vec<&str> = ended.fused_with.iter().map(|other| &*other.job.name).collect();
        self.tell(&job.name, &done, &*answer, (ended.queued, &others))
    }

    /// Prints those warnings about a job that no earlier job had. Returns all of them for `--json`.
    fn warn(&self, name: &str, warnings: Vec<String>) -> Vec<String> {
        let of_job = |warning: &String| format!("{name}: {warning}");
        let (first, again): (Vec<_>, Vec<_>) = {
            // The lock is free again before anything is printed.
            let mut warned = lock(&self.warned);
            warnings.into_iter().partition(|warning| warned.insert(warning.clone()))
        };
        let mut all = self.session.tell(first.iter().map(of_job).collect());
        all.extend(again.iter().map(of_job));
        all
    }

    /// Reports a job that has ended well.
    fn tell(
        &self,
        name: &str,
        done: &Done<'_>,
        answer: &dyn Answer,
        (queued, fused_with): (Duration, &[&str]),
    ) -> Result<()> {
        let session = self.session;
        let warnings = self.warn(name, done.warnings(answer));
        if session.json {
            let summary = answer.summary(self.graph, TOP_DEFAULT, &session.cancel)?;
            return stdout::object(&json::Job {
                name,
                queued_seconds: Seconds(queued),
                fused_with,
                run: done.to_json(warnings, &*summary),
            });
        }
        let [ran, queued] = [done.seconds.run.0, queued].map(report::time);
        let algorithm = done.input.request.name;
        let others = match fused_with.len() {
            0 => String::new(),
            others => {
                format!(", as one run with {}", report::counted(others as u64, "other", "others"))
            }
        };
        let (bytes, path) = (report::bytes(done.bytes_written), done.target_path());
        session.note(&format!(
            "{name}: {algorithm} took {ran}{others}, after {queued} of waiting; {bytes} to {path}"
        ));
        Ok(())
    }
}

/// Reports the whole batch.
fn report_totals(
    totals: &Totals,
    jobs: usize,
    took: Duration,
    bytes_read: u64,
    session: &Session,
) -> Result<()> {
    let &Totals { failed, bytes_saved, .. } = totals;
    let peak_memory_bytes = json::peak_memory();
    if session.json {
        return session.print_json(&json::Batch {
            schema: "tegula.batch.v1",
            jobs,
            failed,
            seconds: Seconds(took),
            bytes_read,
            bytes_saved,
            peak_memory_bytes,
        });
    }
    let mut facts = Facts::default();
    facts.add("jobs", format!("{jobs}, {failed} of them failed"));
    facts.add("time", report::time(took));
    facts.add("read", report::bytes(bytes_read));
    facts.add("saved by sharing", report::bytes(bytes_saved));
    facts.add("peak memory", report::bytes(peak_memory_bytes));
    session.note(&format!("all jobs\n{}", facts.to_text()));
    Ok(())
}
