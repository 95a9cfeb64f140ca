//! `tegula run --batch`: many jobs on one graph at the same time.
//!
//! One scheduler serves all jobs. A few threads take the jobs in the order of arrival, and each
//! follows one job from its memory to its table. What goes wrong with a job ends that job alone.

mod args;
mod estimate;
mod jobs;

use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::park_timeout;
use std::time::{Duration, Instant};

use tegula_algorithms::algorithm::{Found, Needs};
use tegula_algorithms::answer::Answer;
use tegula_algorithms::side_table::{LocalPaths, TableRead};
use tegula_engine::{Executor, Graph, RunOptions, Scheduler};
use tegula_machine::threads::{Unit, lock, start_in, start_workers};
use tegula_store::Error;
use tegula_tables::{check_is_in_no_graph, check_parent};

use super::missing_rows;
use super::one::{Done, RunInput, TOP_DEFAULT, failed, needs_rows, run_options, written};
use super::options::{Destination, RunArgs};
use crate::errors::{Failure, Result, guarded};
use crate::json::{self, RunSeconds, Seconds};
use crate::report::{self, Facts};
use crate::session::Session;
use crate::{allocator, stdout};

pub use args::{BatchArgs, command, is_asked_for};
use jobs::BatchJob;

/// Time after which a thread that waits for the arrival of a job looks for a cancellation.
const LOOK: Duration = Duration::from_millis(50);

/// Runs the jobs of a batch.
///
/// # Errors
/// [`Failure::JobsFailed`] where a job failed. What is wrong with the batch as a whole ends it
/// before any job runs.
pub fn run(args: &BatchArgs, session: &Session) -> Result<()> {
    if args.estimate {
        stdout::check()?;
    }
    let jobs = jobs::read(&args.jobs)?;
    let mut graph = args.reading.open(&args.graph)?;
    let Some(folder) = args.output.as_deref().filter(|_| !args.estimate) else {
        return estimate::show(&jobs, &graph, args, session);
    };
    make_folder(folder)?;
    let planned: Vec<Planned> = jobs
        .into_iter()
        .map(|job| Planned::of(job, &graph, folder, args, session))
        .collect::<Result<_>>()?;
    for Planned { job, args, .. } in &planned {
        if needs_rows(&job.request, &graph, Executor::Auto)? {
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
fn make_folder(folder: &Path) -> Result<()> {
    check_is_in_no_graph(folder)?;
    check_parent(folder)?;
    match fs::create_dir(folder) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists || !folder.is_dir() => {
            Err(Error::io("create", folder)(error).into())
        }
        Ok(()) | Err(_) => Ok(()),
    }
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
    let alone = run_options(&first.args, graph, session).resources();
    let resources = args.resources(planned.len(), alone);
    let begun = Instant::now();
    session.progress().begin("jobs", Some(planned.len() as u64), Unit::Jobs);
    let totals = Scheduler::scope(graph, &resources, |scheduler| {
        let batch = Batch {
            planned,
            graph,
            scheduler,
            session,
            budget: resources.memory,
            begun,
            next: AtomicUsize::new(0),
            is_entering: Mutex::default(),
            is_writing: Mutex::default(),
            totals: Mutex::default(),
        };
        std::thread::scope(|scope| {
            let wanted = args.jobs_max.get().min(planned.len());
            // This thread is one of them.
            start_workers(wanted, 1, || start_in(scope, "tegula-job", || batch.follow()).map(drop));
            batch.follow();
        });
        batch.totals.into_inner().unwrap_or_else(|lock| lock.into_inner())
    });
    session.progress().end();
    if let Some(failure) = totals.unheard {
        return Err(failure);
    }
    session.cancel.check().map_err(Error::from)?;
    Ok((totals, begun.elapsed()))
}

/// A batch at work.
struct Batch<'b> {
    planned: &'b [Planned],
    graph: &'b Graph,
    scheduler: &'b Scheduler<'b>,
    session: &'b Session,
    /// Bytes for all jobs that run.
    budget: u64,
    begun: Instant,
    /// The next job that a thread takes.
    next: AtomicUsize,
    /// Held by the job that is next to get memory. So jobs get it in the order of arrival, and only
    /// one that waits holds the tables of its options.
    is_entering: Mutex<()>,
    /// Held while a table is written: that takes memory beside the memory of the jobs.
    is_writing: Mutex<()>,
    totals: Mutex<Totals>,
}

impl Batch<'_> {
    /// Takes one job after the other, until none is left.
    fn follow(&self) {
        while let Some(planned) = self.planned.get(self.next.fetch_add(1, Ordering::Relaxed)) {
            let arrival = self.begun + planned.job.after;
            while let Some(left) = arrival.checked_duration_since(Instant::now())
                && !self.session.cancel.is_cancelled()
            {
                park_timeout(left.min(LOOK));
            }
            let outcome = guarded(|| self.run(planned, arrival));
            if self.session.cancel.is_cancelled() {
                return;
            }
            match outcome {
                Ok(()) => {}
                Err(Failure::ClosedPipe) => {
                    lock(&self.totals).unheard = Some(Failure::ClosedPipe);
                    return self.session.cancel.cancel();
                }
                Err(failure) => {
                    lock(&self.totals).failed += 1;
                    self.session.report_job(&planned.job.name, &failure);
                }
            }
            self.session.progress().advance(1);
        }
    }

    /// Runs a job, and writes its table.
    fn run(&self, planned: &Planned, arrival: Instant) -> Result<()> {
        let (graph, session) = (self.graph, self.session);
        let Planned { job, args, .. } = planned;
        let budget = self.budget;
        let progress = session.job_bar(&job.name, job.request.iterations.known());
        progress.wait_for("memory");
        let entering = lock(&self.is_entering);
        let options = RunOptions {
            memory: budget,
            progress: &progress,
            scheduler: Some(self.scheduler),
            ..run_options(args, graph, session)
        };
        let prepared = job.request.prepare(graph, &options, &LocalPaths)?;
        let needs_rows = needs_rows(&job.request, graph, Executor::Auto)?;
        let needs = Needs::of(&prepared, graph, args.threads.count(), needs_rows)?;
        needs.check("the job", budget)?;
        let reserve = needs.estimate.reserve(self.scheduler, &session.cancel)?;
        drop(entering);
        let queued = arrival.elapsed();
        let tables = prepared.tables.clone();
        let started = Instant::now();
        let found = prepared.run(graph, &RunOptions { reserve: Some(&reserve), ..options });
        let found = found.map_err(|error| failed(error, budget))?;
        let ran = started.elapsed();
        progress.wait_for("its turn to write");
        let _writing = lock(&self.is_writing);
        self.deliver(planned, found, tables, [queued, ran])
    }

    /// Writes the table of a job, and reports.
    fn deliver(
        &self,
        planned: &Planned,
        Found { answer, statistics }: Found,
        tables: Vec<TableRead>,
        [queued, ran]: [Duration; 2],
    ) -> Result<()> {
        let (graph, session) = (self.graph, self.session);
        let Planned { job, args, target } = planned;
        let started = Instant::now();
        let bytes_written = written(&*answer, graph, Some(target), args, session)?;
        let seconds = RunSeconds {
            open: Seconds::default(),
            run: Seconds(ran),
            write: Seconds(started.elapsed()),
        };
        allocator::give_back();
        lock(&self.totals).bytes_saved += statistics.bytes_shared;
        let input = RunInput { request: &job.request, graph, tables, args };
        let done = Done { input, target: Some(target), statistics, seconds, bytes_written };
        self.tell(job, &done, &*answer, queued)
    }

    /// Reports a job that has ended well.
    fn tell(
        &self,
        job: &BatchJob,
        done: &Done<'_>,
        answer: &dyn Answer,
        queued: Duration,
    ) -> Result<()> {
        let session = self.session;
        let warnings = done.warnings(answer).into_iter();
        let warnings = session.tell(warnings.map(|it| format!("{}: {it}", job.name)).collect());
        if session.json {
            let summary = answer.summary(self.graph, TOP_DEFAULT, &session.cancel)?;
            return stdout::object(&json::Job {
                name: &job.name,
                queued_seconds: Seconds(queued),
                run: done.to_json(warnings, &*summary),
            });
        }
        let [ran, queued] = [done.seconds.run.0, queued].map(report::time);
        let (name, algorithm) = (&job.name, job.request.name);
        let (bytes, path) = (report::bytes(done.bytes_written), done.target_path());
        session.note(&format!(
            "{name}: {algorithm} took {ran} after {queued} of waiting; {bytes} to {path}"
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
