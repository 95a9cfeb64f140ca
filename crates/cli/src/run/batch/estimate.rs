//! What memory and time a batch needs, said before it starts.

use std::time::Duration;

use tegula_algorithms::algorithm::Needs;
use tegula_algorithms::answer::List;
use tegula_algorithms::jobs::{EstimatedJob, Fit, Group, Grouping, Queue, Waiting};
use tegula_engine::Graph;

use super::args::BatchArgs;
use super::jobs::BatchJob;
use crate::errors::{Failure, Result, guarded};
use crate::json::{self, Seconds};
use crate::report::{self, Facts};
use crate::run::one::run_options;
use crate::run::options::RunArgs;
use crate::session::Session;

/// Prints what each job needs, and all of them together. Groups are those of a batch in which no
/// job waits for memory or for a thread.
///
/// # Errors
/// [`Failure::JobsFailed`] where a job does not fit or cannot run.
pub fn show(jobs: &[BatchJob], graph: &Graph, args: &BatchArgs, session: &Session) -> Result<()> {
    let budget = args.memory(jobs.len());
    let estimating = Estimating { grouping: args.grouping(graph, budget), args, session };
    let (mut needs, mut runs) = (Vec::new(), Vec::new());
    let mut queue = Queue::default();
    queue.extend(jobs);
    while let Some(waiting) = queue.take_first() {
        let job = waiting.job;
        // A panic concerns this job alone, and the others are still estimated.
        match guarded(|| estimating.of_next(waiting, &mut queue)) {
            Ok((of_jobs, run)) => {
                needs.extend(of_jobs);
                runs.extend(run);
            }
            Err(failure) => session.report_job(&job.name, &failure),
        }
    }
    // Jobs come group by group, in the order of the first of each.
    needs.sort_by_key(|needs| needs.place);
    let fitting = needs.iter().filter(|needs| needs.run.needed <= budget).count();
    let seconds = end(&runs);
    let peak = peak(&runs, budget, args.jobs_max.get());
    if session.json {
        session.print_json(&json::BatchEstimate {
            schema: "tegula.batch_estimate.v1",
            jobs: needs.iter().map(|needs| needs.to_json(budget)).collect(),
            fitting,
            peak_memory_bytes: peak,
            seconds: seconds.map(Seconds),
            memory_bytes: budget,
        })?;
    } else {
        session.print(&report::aligned(&list(&needs, budget)))?;
        let mut facts = Facts::default();
        facts.add("jobs", format!("{fitting} of {} fit", jobs.len()));
        facts.add("runs", runs.len().to_string());
        facts.add("budget", report::bytes(budget));
        facts.add("at the peak, about", report::bytes(peak));
        let time = seconds.map_or_else(|| "not known".to_owned(), report::time);
        facts.add("the last one ends after about", time);
        session.print(&format!("all jobs\n{}", facts.to_text()))?;
    }
    // Jobs that could not be estimated do not fit, either.
    match jobs.len() - fitting {
        0 => Ok(()),
        failed => Err(Failure::JobsFailed { failed, jobs: jobs.len() }),
    }
}

/// What a run of one job or several needs.
struct RunNeeds {
    /// When it can begin: the time after which its jobs arrive.
    after: Duration,
    /// Bytes of a process with this run alone.
    needed: u64,
    /// Bytes that such a process has in common with others: code and tables.
    overhead: u64,
    /// Bytes of its tiles or rows, which runs share.
    layout: u64,
    seconds: Option<Duration>,
}

/// What a job needs.
struct JobNeeds<'j> {
    /// Its place in the order of arrival.
    place: usize,
    name: &'j str,
    algorithm: &'static str,
    /// A run of this job alone.
    run: RunNeeds,
    /// The jobs that run as one with it.
    fused_with: Vec<&'j str>,
}

/// Estimates jobs, one group after the other.
struct Estimating<'e> {
    grouping: Grouping<'e>,
    args: &'e BatchArgs,
    session: &'e Session,
}

impl Estimating<'_> {
    /// Returns the needs of a job and of those that run as one with it, and the needs of their run.
    /// There is no run if the job does not fit.
    fn of_next<'j>(
        &self,
        waiting: Waiting<'j, BatchJob>,
        queue: &mut Queue<'j, BatchJob>,
    ) -> Result<(Vec<JobNeeds<'j>>, Option<RunNeeds>)> {
        let &Estimating { ref grouping, args, session } = self;
        let job = waiting.job;
        let run = RunArgs::of_job(&args.common(), job.file_name().into(), job.format);
        let options = run_options(&run, grouping.graph, session);
        let place = waiting.place;
        let first = match grouping.fit(waiting, &options)? {
            Fit::Fits(first) => first,
            Fit::TooLarge(needs) => {
                return Ok((vec![self.of_job((place, job), &needs, Vec::new())], None));
            }
        };
        let Group { members, needs, .. } = grouping.group_of(first, queue, job.after, &options);
        let others = |place: usize| {
            let others = members.iter().filter(|other| other.place != place);
            others.map(|other| &*other.job.name).collect()
        };
        let of_job = |member: &EstimatedJob<'j, BatchJob>| {
            let &EstimatedJob { place, job, ref needs, .. } = member;
            self.of_job((place, job), needs, others(place))
        };
        Ok((members.iter().map(of_job).collect(), Some(self.of_run(job, &needs))))
    }

    fn of_job<'j>(
        &self,
        (place, job): (usize, &'j BatchJob),
        needs: &Needs,
        fused_with: Vec<&'j str>,
    ) -> JobNeeds<'j> {
        let (name, algorithm) = (&*job.name, job.request.name);
        JobNeeds { place, name, algorithm, run: self.of_run(job, needs), fused_with }
    }

    /// Returns what a run needs, given the first of its jobs.
    fn of_run(&self, first: &BatchJob, needs: &Needs) -> RunNeeds {
        let &Estimating { ref grouping, args, .. } = self;
        let speed = args.machine.reading.speed(grouping.graph.directory());
        let seconds = needs.seconds(grouping.budget, grouping.threads, &speed);
        RunNeeds {
            after: first.after,
            needed: needs.needed(),
            overhead: needs.estimate.overhead_bytes,
            layout: needs.estimate.layout_bytes,
            seconds: seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()),
        }
    }
}

impl JobNeeds<'_> {
    fn to_json(&self, budget: u64) -> json::JobEstimate<'_> {
        json::JobEstimate {
            name: self.name,
            algorithm: self.algorithm,
            needed_bytes: self.run.needed,
            seconds: self.run.seconds.map(Seconds),
            fits: self.run.needed <= budget,
            fused_with: &self.fused_with,
        }
    }
}

/// Returns after how long the last run ends if they go on one after the other, in the order of
/// arrival, and use the whole machine. `None` if the time of one is not known.
fn end(runs: &[RunNeeds]) -> Option<Duration> {
    runs.iter().try_fold(Duration::ZERO, |now, run| Some(now.max(run.after) + run.seconds?))
}

/// Returns about how many bytes the process takes at its peak, when the `runs_max` runs that need
/// the most go on at once. What runs share counts once.
fn peak(runs: &[RunNeeds], budget: u64, runs_max: usize) -> u64 {
    let most = |of: fn(&RunNeeds) -> u64| runs.iter().map(of).max();
    let mut own: Vec<u64> = runs.iter().map(|run| run.needed - run.overhead).collect();
    own.sort_unstable_by(|a, b| b.cmp(a));
    let own: u64 = own.iter().take(runs_max).sum();
    let shared = [most(|run| run.overhead), most(|run| run.layout)];
    // The scheduler lends no more than the budget, and lets runs wait.
    (own + shared.into_iter().flatten().sum::<u64>()).min(budget)
}

/// Returns a line for each job.
fn list(needs: &[JobNeeds<'_>], budget: u64) -> List {
    let row = |needs: &JobNeeds<'_>| {
        let run = &needs.run;
        let time = run.seconds.map_or_else(|| "not known".to_owned(), report::time);
        let fits = if run.needed <= budget { "yes" } else { "no" };
        let others = match needs.fused_with.len() {
            0 => String::new(),
            others => report::counted(others as u64, "other", "others"),
        };
        let needed = report::bytes(run.needed);
        let (name, algorithm) = (needs.name.to_owned(), needs.algorithm.to_owned());
        vec![name, algorithm, needed, time, fits.to_owned(), others]
    };
    List {
        header: vec!["job", "algorithm", "needed", "takes, about", "fits", "as one with"],
        rows: needs.iter().map(row).collect(),
    }
}
