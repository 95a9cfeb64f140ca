//! The threads that work on jobs while there are any.
//!
//! They work in rounds. A round has the turn to use the memory of the graph, and one scheduler. It
//! ends when no job is left, or when the next one needs rows that the graph has not got: they are
//! built before the next round.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use tegula_algorithms::algorithm::{self, Request};
use tegula_algorithms::jobs::{Ended, Face, Fault, Grouping, JobProgress, JobRunner, Wanted};
use tegula_engine::{Graph, RunOptions, Scheduler};
use tegula_machine::threads::{Cancel, Progress, ProgressUnit, guarded, lock, start_in};

use super::job_list::JobList;
use super::task::{self, Task};
use crate::answer::{FinishedRun, Found, RunSeconds};
use crate::failure::{Failure, Result};
use crate::graph::{Use, missing_rows, of_whole};
use crate::work::{TICK, Watch, Work};

/// The jobs of a round, where they stay until its end.
type Tasks = boxcar::Vec<Arc<Task>>;

impl JobList {
    /// Works until no job is left.
    pub fn work_off(&self) {
        while let Some(idle) = self.next_round() {
            // Without a turn, all jobs were cancelled.
            let Ok(_turn) = self.shared.turn(Use::Jobs, &idle) else { continue };
            let failure = guarded(|| self.round()).err();
            self.end_forgotten(failure);
        }
    }

    /// Works on jobs until none is left, or until the next one needs rows that are missing.
    ///
    /// # Errors
    /// What is wrong with all jobs.
    fn round(&self) -> Result<()> {
        let shared = &self.shared;
        let mut graph = shared.graph();
        let next = lock(&self.entries).arrived.front().cloned();
        if let Some(task) = next.filter(|task| misses_rows(&task.request, &graph)) {
            match missing_rows::build(shared, task.request.edges, 0, &task.work) {
                Ok(built) => graph = built,
                Err(failure) => {
                    lock(&self.entries).arrived.pop_front();
                    self.end(&task, Err(failure));
                    return Ok(());
                }
            }
        }
        let read_before = graph.reader().statistics().bytes_read;
        let tasks = Tasks::new();
        let work = Work::default();
        let resources = shared.options(&work).resources();
        Scheduler::scope(&graph, &resources, |scheduler| {
            let is_over = AtomicBool::new(false);
            let round = Round { list: self, graph: &graph, tasks: &tasks, is_over };
            let grouping = Grouping {
                graph: &graph,
                threads: shared.threads,
                budget: resources.memory,
                may_fuse: self.fuse,
            };
            let jobs = JobRunner::new(&round, grouping, scheduler);
            self.telling(|| jobs.run_all(self.concurrent));
        });
        self.count(graph.reader().statistics().bytes_read - read_before, 0);
        graph.reader().pool().trim();
        Ok(())
    }

    /// Calls `body`, and meanwhile reports the progress of jobs.
    fn telling(&self, body: impl FnOnce()) {
        std::thread::scope(|scope| {
            // The thread ends when `_ending` is dropped, behind `body`.
            let (_ending, ended) = channel::<()>();
            let tell = move || {
                while ended.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                    self.report();
                }
            };
            // Without this thread, only the end of a job is reported.
            let _ = start_in(scope, "tegula-tell", tell);
            body();
        });
    }

    /// Reports the progress of all jobs.
    fn report(&self) {
        // A list of its own: callbacks may submit jobs, which takes the lock.
        let live: Vec<Arc<Task>> = lock(&self.entries).live.values().cloned().collect();
        for task in live {
            if let Err(failure) = task.report() {
                self.stop(&task, failure);
            }
        }
    }

    /// Ends all jobs after a failure of a round; otherwise those that the round has taken, in case
    /// that it has lost one.
    fn end_forgotten(&self, failure: Option<Failure>) {
        let forgotten: Vec<Arc<Task>> = {
            let entries = lock(&self.entries);
            let has_arrived = |task: &Arc<Task>| {
                failure.is_none() && entries.arrived.iter().any(|other| Arc::ptr_eq(other, task))
            };
            entries.live.values().filter(|task| !has_arrived(task)).cloned().collect()
        };
        if forgotten.is_empty() {
            return;
        }
        let failure = failure.unwrap_or_else(|| Failure::panic("a job was lost"));
        failure.copies(forgotten.len()).zip(&forgotten).for_each(|(failure, task)| {
            self.end(task, Err(failure));
        });
        lock(&self.entries).arrived.retain(|task| !task.state().is_end());
    }
}

/// Whether a run follows rows that the graph has not got.
fn misses_rows(request: &Request, graph: &Graph) -> bool {
    request.needs_rows(graph) && request.edges.directions().missing(graph).next().is_some()
}

/// The jobs of a round, and the list that they come from.
struct Round<'b> {
    list: &'b JobList,
    graph: &'b Arc<Graph>,
    tasks: &'b Tasks,
    /// Whether the round takes no further jobs.
    is_over: AtomicBool,
}

impl<'b> Face<'b> for Round<'b> {
    type Job = Task;

    fn come(&self) -> Vec<&'b Task> {
        let mut come: Vec<&'b Task> = Vec::new();
        let arrived = &mut lock(&self.list.entries).arrived;
        while !self.is_over.load(Ordering::Relaxed)
            && let Some(task) = arrived.pop_front()
        {
            if misses_rows(&task.request, self.graph) {
                arrived.push_front(task);
                self.is_over.store(true, Ordering::Relaxed);
                self.list.changed.notify_all();
                break;
            }
            come.push(&self.tasks[self.tasks.push(task)]);
        }
        come
    }

    fn may_come(&self) -> bool {
        !self.is_over.load(Ordering::Relaxed) && !lock(&self.list.entries).live.is_empty()
    }

    fn wait(&self, most: Duration) {
        let entries = lock(&self.list.entries);
        let waits = entries.arrived.is_empty() && !entries.live.is_empty();
        if waits && !self.is_over.load(Ordering::Relaxed) {
            drop(self.list.changed.wait_timeout(entries, most));
        }
    }

    fn is_cancelled(&self) -> bool {
        // Each job has a switch of its own.
        false
    }

    fn progress<'f>(&'f self, task: &'f Task) -> Box<dyn JobProgress + 'f> {
        Box::new(Watched(&task.work.progress))
    }

    fn options<'f>(&'f self, task: &'f Task, progress: &'f dyn Progress) -> RunOptions<'f> {
        RunOptions { progress, ..self.list.shared.options(&task.work) }
    }

    fn begin(&self, tasks: &[&'b Task]) -> Cancel {
        task::begin(tasks)
    }

    fn deliver(&self, ended: Vec<(Ended<'b, Task>, tegula_algorithms::Result<algorithm::Found>)>) {
        for (ended, found) in ended {
            let task = ended.job;
            let made = found
                .map_err(|error| of_whole(error, self.list.shared.memory))
                .and_then(|found| guarded(|| Ok(self.made(ended, found))));
            self.list.end(task, made);
        }
    }

    fn fail(&self, tasks: &[&'b Task], fault: Fault) {
        let failure = Failure::from(fault);
        for (failure, task) in failure.copies(tasks.len()).zip(tasks) {
            self.list.end(task, Err(failure));
        }
    }
}

impl Round<'_> {
    /// Makes the result of a job.
    fn made(&self, ended: Ended<'_, Task>, found: algorithm::Found) -> Found {
        self.list.count(0, found.statistics.bytes_shared);
        let ran = FinishedRun {
            request: &ended.job.request,
            found,
            tables: &ended.tables,
            seconds: RunSeconds::of(Duration::ZERO, ended.ran),
            jobs: 1 + ended.fused_with.len(),
        };
        Found::new(Arc::clone(&self.list.shared), Arc::clone(self.graph), ran)
    }
}

/// Passes the progress of a job on.
struct Watched<'w>(&'w Watch);

impl Progress for Watched<'_> {
    fn begin(&self, stage: &str, total: Option<u64>, unit: ProgressUnit) {
        self.0.begin(stage, total, unit);
    }

    fn advance(&self, done: u64) {
        self.0.advance(done);
    }

    fn end(&self) {
        self.0.end();
    }
}

impl JobProgress for Watched<'_> {
    /// The state of the job tells that it waits.
    fn wait_for(&self, _what: Wanted) {}
}
