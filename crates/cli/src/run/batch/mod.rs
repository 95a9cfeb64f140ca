//! `tegula run --batch`: many jobs on one graph at the same time.
//!
//! One scheduler serves all jobs. A few threads take the jobs in the order of arrival, and each
//! follows one job from its memory to its table. What goes wrong with a job ends that job alone.

mod args;
mod estimate;
mod group;
mod jobs;
mod open_run;
mod turns;

use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::ptr;
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::park_timeout;
use std::time::{Duration, Instant};

use tegula_algorithms::algorithm::{Found, Prepared};
use tegula_algorithms::answer::Answer;
use tegula_algorithms::side_table::TableRead;
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
use group::{Fit, Grouping, Queue, Waiting};
use jobs::BatchJob;
use open_run::OpenRun;
use turns::{Turn, Turns};

/// The most tables of jobs that ran as one that are written at the same time.
const WRITERS_MAX: usize = 2;
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
    let mut graph = args.machine.reading.open(&args.graph)?;
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

/// A job whose run has ended.
struct Ended<'b> {
    planned: &'b Planned,
    tables: Vec<TableRead>,
    /// The names of the jobs that ran as one with it.
    fused_with: Vec<&'b str>,
    queued: Duration,
    ran: Duration,
}

/// Runs what is prepared, as one if `fuses`; returns what each finds, or what is wrong with it alone,
/// and whether they ran as one.
fn found(
    prepared: Vec<Prepared<'_>>,
    graph: &Graph,
    options: &RunOptions<'_>,
    fuses: bool,
) -> (Vec<tegula_algorithms::Result<Found>>, bool) {
    if fuses {
        let all: Vec<&Prepared<'_>> = prepared.iter().collect();
        let found = guarded(|| Ok(Prepared::run_fused(&all, graph, options)?));
        if let Ok(found) = found {
            return (found, true);
        }
        // One of them may be at fault. By itself, each has its own result, or its own fault.
    }
    (prepared.into_iter().map(|one| one.run(graph, options)).collect(), false)
}

/// Returns whether no result lies on disk.
fn are_in_memory(found: &[tegula_algorithms::Result<Found>]) -> bool {
    found.iter().flatten().all(|found| found.statistics.bytes_written == 0)
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
            grouping: args.grouping(graph, resources.memory),
            scheduler,
            session,
            begun,
            queue: Mutex::new(Queue::new(planned.iter().map(|planned| &planned.job))),
            turns: Turns::default(),
            open_runs: Mutex::default(),
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
    /// All jobs, in the order of arrival.
    planned: &'b [Planned],
    grouping: Grouping<'b>,
    scheduler: &'b Scheduler<'b>,
    session: &'b Session,
    begun: Instant,
    /// Held by the job that is next to get memory. So jobs get it in the order of arrival, and only
    /// this one and jobs of groups that were tried hold the tables of their options.
    queue: Mutex<Queue<'b>>,
    turns: Turns,
    /// The runs that others may join.
    open_runs: Mutex<Vec<Arc<OpenRun<'b>>>>,
    totals: Mutex<Totals>,
}

impl<'b> Batch<'b> {
    /// Takes one job after the other, until none is left.
    fn follow(&self) {
        loop {
            let mut queue = lock(&self.queue);
            let Some(arrival) = queue.arrival() else { return };
            if let Some(left) = (self.begun + arrival).checked_duration_since(Instant::now())
                && !self.session.cancel.is_cancelled()
            {
                // A job that could not join a run goes before one that has not arrived.
                drop(queue);
                park_timeout(left.min(LOOK));
                continue;
            }
            let Some(waiting) = queue.next() else { return };
            let mut together = vec![&self.planned[waiting.place]];
            let outcome = guarded(|| self.run(waiting, queue, &mut together));
            if let Err(failure) = outcome {
                together.into_iter().for_each(|planned| self.end(planned, Some(&failure)));
            }
            if self.session.cancel.is_cancelled() {
                return;
            }
        }
    }

    /// Counts a job that has ended, and reports it if it has failed.
    fn end(&self, planned: &Planned, failure: Option<&Failure>) {
        if self.session.cancel.is_cancelled() {
            return;
        }
        match failure {
            None => {}
            Some(Failure::ClosedPipe) => {
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

    /// Runs a job, as one with others where that takes less time, and writes the tables. Puts the
    /// others into `together`.
    ///
    /// # Errors
    /// What is wrong with all of them.
    fn run(
        &self,
        first: Waiting<'b>,
        queue: MutexGuard<'_, Queue<'b>>,
        together: &mut Vec<&'b Planned>,
    ) -> Result<()> {
        let Planned { job, args, .. } = &self.planned[first.place];
        let Grouping { graph, budget, .. } = self.grouping;
        let progress = self.session.job_bar(&job.name, job.request.iterations.known());
        progress.wait_for("memory");
        let options = RunOptions {
            memory: budget,
            progress: &progress,
            scheduler: Some(self.scheduler),
            ..run_options(args, graph, self.session)
        };
        let first = match self.grouping.fit(first, &options)? {
            Fit::Member(first) => first,
            Fit::TooLarge(needs) => return Ok(needs.check("the job", budget)?),
        };
        let joined = self.join(first, queue, (&options, &progress))?;
        let Some((first, mut queue)) = joined else { return Ok(()) };
        let now = self.begun.elapsed();
        let mut group = self.grouping.group_of(first, &mut queue, now, &options);
        *together = group.members.iter().map(|member| &self.planned[member.place]).collect();
        let reserve = group.needs.estimate.reserve(self.scheduler, &self.session.cancel)?;
        drop(queue);
        let queued = self.begun.elapsed();
        let options = RunOptions { reserve: Some(&reserve), ..options };
        let entrance = group.entrance.take();
        let fuses = entrance.is_none() && group.members.len() > 1;
        let members = match entrance {
            None => group.members,
            Some(entrance) => {
                together.clear();
                self.run_open(group, entrance, &options, queued)
            }
        };
        if members.is_empty() {
            return Ok(());
        }
        *together = members.iter().map(|member| &self.planned[member.place]).collect();
        let prepared: Vec<_> = members.into_iter().map(|member| member.prepared).collect();
        let tables: Vec<_> = prepared.iter().map(|prepared| prepared.tables.clone()).collect();
        let started = Instant::now();
        let (found, is_fused) = found(prepared, graph, &options, fuses);
        let ran = started.elapsed();
        progress.wait_for("its turn to write");
        let _turn = self.turn_to_write(are_in_memory(&found));
        let all = std::mem::take(together);
        let ended = |(&planned, tables): (&&'b Planned, _)| {
            let others = all.iter().filter(|&&other| is_fused && !ptr::eq(other, planned));
            let fused_with = others.map(|other| &*other.job.name).collect();
            let queued = queued.saturating_sub(planned.job.after);
            Ended { planned, tables, fused_with, queued, ran }
        };
        let ended: Vec<Ended<'b>> = all.iter().zip(tables).map(ended).collect();
        self.deliver_all(ended.into_iter().zip(found));
        Ok(())
    }

    /// Waits until the tables of a run may be written: as long as the returned value lives. Results
    /// on disk take what memory is left, so they have the first turn only.
    fn turn_to_write(&self, are_in_memory: bool) -> Turn<'_> {
        self.turns.wait(|| if are_in_memory { self.scheduler.writer_memory() } else { None })
    }

    /// Writes the tables of jobs that ran as one, two at a time. The second one takes less memory than
    /// their run has freed.
    fn deliver_all(
        &self,
        ended: impl ExactSizeIterator<Item = (Ended<'b>, tegula_algorithms::Result<Found>)> + Send,
    ) {
        let writers = self.grouping.threads.min(ended.len()).min(WRITERS_MAX);
        let ended = Mutex::new(ended);
        let deliver = || loop {
            let next = lock(&ended).next();
            let Some((ended, found)) = next else { return };
            let planned = ended.planned;
            let found = found.map_err(|error| failed(error, self.grouping.budget));
            let delivered = guarded(|| self.deliver(ended, found?));
            self.end(planned, delivered.as_ref().err());
        };
        std::thread::scope(|scope| {
            // This thread is one of them.
            start_workers(writers, 1, || start_in(scope, "tegula-write", deliver).map(drop));
            deliver();
        });
    }

    /// Writes the table of a job, and reports.
    fn deliver(&self, ended: Ended<'_>, Found { answer, statistics }: Found) -> Result<()> {
        let (graph, session) = (self.grouping.graph, self.session);
        let Ended { planned: Planned { job, args, target }, tables, ran, .. } = ended;
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
        self.tell(&job.name, &done, &*answer, (ended.queued, &ended.fused_with))
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
        let warnings = done.warnings(answer).into_iter();
        let warnings = session.tell(warnings.map(|it| format!("{name}: {it}")).collect());
        if session.json {
            let summary = answer.summary(self.grouping.graph, TOP_DEFAULT, &session.cancel)?;
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
