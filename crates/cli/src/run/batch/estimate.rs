//! What memory and time a batch needs, said before it starts.

use std::time::Duration;

use tegula_algorithms::algorithm::Needs;
use tegula_algorithms::answer::List;
use tegula_algorithms::side_table::LocalPaths;
use tegula_engine::{Executor, Graph};

use super::args::BatchArgs;
use super::jobs::BatchJob;
use crate::errors::{Failure, Result};
use crate::json::{self, Seconds};
use crate::report::{self, Facts};
use crate::run::one::{needs_rows, run_options};
use crate::run::options::RunArgs;
use crate::session::Session;

/// Prints what each job needs, and all of them together.
///
/// # Errors
/// [`Failure::JobsFailed`] where a job does not fit or cannot run.
pub fn show(jobs: &[BatchJob], graph: &Graph, args: &BatchArgs, session: &Session) -> Result<()> {
    let budget = args.memory(jobs.len());
    let mut needs: Vec<JobNeeds<'_>> = Vec::new();
    for job in jobs {
        match JobNeeds::of(job, graph, args, session) {
            Ok(of_job) => needs.push(of_job),
            Err(failure) => session.report_job(&job.name, &failure),
        }
    }
    let fitting: Vec<&JobNeeds<'_>> = needs.iter().filter(|needs| needs.needed <= budget).collect();
    let seconds: Option<Duration> = fitting.iter().map(|needs| needs.seconds).sum();
    let peak = peak(&fitting, budget, args.jobs_max.get());
    if session.json {
        session.print_json(&json::BatchEstimate {
            schema: "tegula.batch_estimate.v1",
            jobs: needs.iter().map(|needs| needs.to_json(budget)).collect(),
            fitting: fitting.len(),
            peak_memory_bytes: peak,
            seconds: seconds.map(Seconds),
            memory_bytes: budget,
        })?;
    } else {
        session.print(&report::aligned(&list(&needs, budget)))?;
        let mut facts = Facts::default();
        facts.add("jobs", format!("{} of {} fit", fitting.len(), jobs.len()));
        facts.add("budget", report::bytes(budget));
        facts.add("at the peak, about", report::bytes(peak));
        let time = seconds.map_or_else(|| "not known".to_owned(), report::time);
        facts.add("one after the other, about", time);
        session.print(&format!("all jobs\n{}", facts.to_text()))?;
    }
    match jobs.len() - fitting.len() {
        0 => Ok(()),
        failed => Err(Failure::JobsFailed { failed, jobs: jobs.len() }),
    }
}

/// What a job needs.
struct JobNeeds<'j> {
    name: &'j str,
    algorithm: &'static str,
    /// Bytes of a process that runs this job alone.
    needed: u64,
    /// Bytes that such a process has in common with others: code and tables.
    overhead: u64,
    /// Bytes of its tiles or rows, which jobs share.
    layout: u64,
    seconds: Option<Duration>,
}

impl<'j> JobNeeds<'j> {
    fn of(
        job: &'j BatchJob,
        graph: &Graph,
        args: &BatchArgs,
        session: &Session,
    ) -> Result<JobNeeds<'j>> {
        let run = RunArgs::of_job(&args.common(), job.file_name().into(), job.format);
        let options = run_options(&run, graph, session);
        job.request.check_input(graph)?;
        let prepared = job.request.prepare(graph, &options, &LocalPaths)?;
        let needs_rows = needs_rows(&job.request, graph, Executor::Auto)?;
        let threads = args.threads.count();
        let needs = Needs::of(&prepared, graph, threads, needs_rows)?;
        let speed = args.reading.speed(graph.directory());
        let seconds = needs.seconds(args.reading.budget.bytes(), threads, &speed);
        Ok(JobNeeds {
            name: &job.name,
            algorithm: job.request.name,
            needed: needs.needed(),
            overhead: needs.estimate.overhead_bytes,
            layout: needs.estimate.layout_bytes,
            seconds: seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()),
        })
    }
}

impl JobNeeds<'_> {
    fn to_json(&self, budget: u64) -> json::JobEstimate<'_> {
        json::JobEstimate {
            name: self.name,
            algorithm: self.algorithm,
            needed_bytes: self.needed,
            seconds: self.seconds.map(Seconds),
            fits: self.needed <= budget,
        }
    }
}

/// Returns about how many bytes the process takes at its peak, when the `jobs_max` jobs that need
/// the most run at once. What jobs share counts once.
fn peak(fitting: &[&JobNeeds<'_>], budget: u64, jobs_max: usize) -> u64 {
    let most = |of: fn(&JobNeeds<'_>) -> u64| fitting.iter().map(|needs| of(needs)).max();
    let mut own: Vec<u64> = fitting.iter().map(|needs| needs.needed - needs.overhead).collect();
    own.sort_unstable_by(|a, b| b.cmp(a));
    let own: u64 = own.iter().take(jobs_max).sum();
    let shared = [most(|needs| needs.overhead), most(|needs| needs.layout)];
    (own + shared.into_iter().flatten().sum::<u64>()).min(budget)
}

/// Returns a line for each job.
fn list(needs: &[JobNeeds<'_>], budget: u64) -> List {
    let row = |needs: &JobNeeds<'_>| {
        let time = needs.seconds.map_or_else(|| "not known".to_owned(), report::time);
        let fits = if needs.needed <= budget { "yes" } else { "no" };
        let needed = report::bytes(needs.needed);
        vec![needs.name.to_owned(), needs.algorithm.to_owned(), needed, time, fits.to_owned()]
    };
    List {
        header: vec!["job", "algorithm", "needed", "takes, about", "fits"],
        rows: needs.iter().map(row).collect(),
    }
}
