//! The scheduler: any number of jobs, of any kind, in different iterations, on one graph.
//!
//! ```text
//!            admit: memory             advance                  parts dealt out, each to all
//!  waiting --------------> ready ---------------> needs tiles ---- jobs that need it -----+
//!                            ^   <--- further ---      |                                  |
//!                            |                         v                                  |
//!                            +---- all its parts are done <-------------------------------+
//!                            |
//!                            +----> done, failed, cancelled: it leaves, alone
//! ```
//!
//! A part is read once and processed by every job that has it pending, one after the other while it lies in
//! the cache of the processor. A job joins at any part and advances alone: its iteration ends when *its*
//! parts are done, whatever others do. Jobs that go on by themselves do so in short quanta between parts, so
//! that a search of a thousand levels does not wait for a scan each time. A panic, an error, a cancellation
//! ends the job in which it happens and no other.
//!
//! A single run is a scheduler with one job; there is no second code path. It is a blocking call: whoever
//! wants several jobs at a time calls from several threads, with [`RunOptions::scheduler`]. The callers wait
//! while the workers of the scheduler work.

mod admission;
mod context;
mod order;
mod slot;
mod stream;
mod work;

use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Condvar, Mutex};

use tegula_machine::Result;
use tegula_machine::disk::{Lease, Speed};
use tegula_machine::threads::lock;
use tegula_store::graph::Graph;

use crate::job::Job;
use crate::options::{BLOCK_FRAMES, RunOptions, overhead};
use crate::parts::Parts;
use crate::tile_source::TileSource;
use admission::Members;
pub use admission::{Admitted, Needs};
pub use context::JobContext;
pub use order::Direction;
pub use slot::PartStatistics;
use slot::Slot;
use tegula_machine::threads::Workers;
use work::State;

/// Runs jobs on one graph. See the [module](self).
pub struct Scheduler<'g> {
    graph: &'g Graph,
    parts: Arc<Parts>,
    source: TileSource<'g>,
    workers: Workers,
    /// Bytes for all jobs and all that is beside them.
    memory: u64,
    speed: Speed,
    members: Mutex<Members>,
    /// Rung when a job has left, or its frames have come back: another may find room.
    has_room: Condvar,
    /// How many jobs are in.
    member_count: AtomicUsize,
    state: Mutex<State>,
    /// Of code, tables and stacks. Where there is not even room for that, every job is refused.
    _overhead: Option<Lease>,
}

impl<'g> Scheduler<'g> {
    /// Calls `body` with a scheduler that has the memory and the threads of the options. When it returns,
    /// all jobs have left.
    ///
    /// # Errors
    /// [`tegula_machine::Error::OverBudget`] where not even the overhead fits.
    pub fn scope<R>(
        graph: &'g Graph,
        options: &RunOptions<'_>,
        body: impl FnOnce(&Scheduler<'g>) -> R,
    ) -> R {
        let parts = Arc::new(Parts::cut(graph, options.part_edges));
        let pool = graph.reader().pool();
        let scheduler = Scheduler {
            graph,
            source: TileSource::new(graph, Arc::clone(&parts)),
            workers: Workers::new(options.threads),
            memory: options.memory.min(pool.frames_max()),
            speed: options.speed.clone(),
            members: Mutex::default(),
            has_room: Condvar::new(),
            member_count: AtomicUsize::new(0),
            state: Mutex::new(State::new(parts.parts.len())),
            _overhead: pool.lease("the run", overhead(graph) - BLOCK_FRAMES).ok(),
            parts,
        };
        std::thread::scope(|scope| {
            (0..scheduler.workers.count()).for_each(|_| drop(scope.spawn(|| scheduler.work())));
            let _closing = Closing(&scheduler);
            body(&scheduler)
        })
    }

    /// Calls `body` with the scheduler of the options, or with one for this call alone.
    ///
    /// # Errors
    /// Those of `body`.
    pub(crate) fn with<R>(
        graph: &Graph,
        options: &RunOptions<'_>,
        body: impl FnOnce(&Scheduler<'_>) -> Result<R>,
    ) -> Result<R> {
        match options.scheduler {
            Some(scheduler) => {
                assert!(std::ptr::eq(scheduler.graph, graph), "a scheduler is for one graph");
                body(scheduler)
            }
            None => Scheduler::scope(graph, options, body),
        }
    }

    /// What is cut out for the workers.
    pub(crate) fn parts(&self) -> &Arc<Parts> {
        &self.parts
    }

    /// The tiles.
    pub(crate) fn source(&self) -> &TileSource<'g> {
        &self.source
    }

    /// How many work.
    pub(crate) fn threads(&self) -> usize {
        self.workers.count()
    }

    /// What the device with the graph does.
    pub(crate) fn speed(&self) -> &Speed {
        &self.speed
    }

    /// Works on a job until it is over.
    ///
    /// # Errors
    /// Those of the job.
    pub(crate) fn work_off<'j>(
        &self,
        job: &'j mut (dyn Job + 'j),
        _admitted: &Admitted<'_, '_>,
        options: &RunOptions<'_>,
    ) -> Result<()> {
        let slot = Arc::new(Slot::new(options.cancel.clone(), job.is_resumable()));
        // SAFETY: the job is taken out of its slot again before this call ends, by a panic too: `Leaving`
        // sees to that. Workers reach it through the lock of the slot only, and let go of it there.
        unsafe { slot.put(job) };
        let leaving = Leaving(&slot);
        lock(&self.state).make_ready(&slot);
        self.workers.ring();
        slot.wait_until_over();
        drop(leaving);
        slot.result()
    }
}

/// Takes a job out of its slot.
struct Leaving<'s>(&'s Slot);

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        self.0.take();
    }
}

/// Sends the workers home.
struct Closing<'s, 'g>(&'s Scheduler<'g>);

impl Drop for Closing<'_, '_> {
    fn drop(&mut self) {
        lock(&self.0.state).is_over = true;
        self.0.workers.ring();
    }
}
