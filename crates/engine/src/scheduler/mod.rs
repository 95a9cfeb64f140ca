//! The scheduler: any number of jobs, of any kind, in different iterations, on one graph.
//!
//! ```text
//!            admit: memory             advance                  parts dealt out, each to the
//!  waiting --------------> ready ---------------> needs tiles ---- jobs that need it -----+
//!                            ^   <--- further ---      |                                  |
//!                            |                         v                                  |
//!                            +---- all its parts are done <-------------------------------+
//!                            |
//!                            +----> done, failed, cancelled: it leaves, alone
//! ```
//!
//! A part is read once. The jobs that take it have turns: each goes through a stretch of it while
//! the stretch is in the cache of the processor ([`part_work`]). A job joins at any part and
//! advances alone. It leaves a part when *it* is done, and its iteration ends when *its* parts are
//! done. Beside a slow job, a quick one still has its share of the workers ([`credit`]). Jobs
//! advance by themselves in short quanta between parts and between the jobs of a part, so a search
//! of a thousand levels does not wait for a scan each time. A panic, an error or a cancellation
//! ends only the job in which it happens.
//!
//! What several jobs need is in memory once: tiles, rows, degrees, id positions.
//!
//! A single run is a scheduler with one job; there is no second code path. A run is a blocking
//! call: for several jobs at a time, call from several threads, with
//! [`RunOptions::scheduler`](crate::RunOptions::scheduler). The callers wait while the workers of
//! the scheduler work. If the system starts no thread for a worker, the callers do the work.

mod credit;
mod demand;
mod ledger;
mod order;
mod part_policy;
mod part_work;
mod queue;
mod shared;
mod slot;
mod stream;
mod stretch;
mod work;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::Scope;

use tegula_machine::disk::Speed;
use tegula_machine::threads::{Cancel, Workers, lock, start_in, start_workers};
use tegula_store::Result;
use tegula_store::graph::Graph;

use crate::job::Job;
use crate::job::context::OtherJobs;
use crate::memory::RESULT_OVERHEAD;
use crate::parts::Parts;
use crate::tile_source::TileSource;
pub use demand::{MemoryDemand, Taken};
pub use ledger::{Admitted, Ledger, Reserve};
pub use part_policy::PartOrder;
use queue::Queue;
use shared::KnownRowSizes;
pub use shared::{RowSizes, Share, SharedKey};
use slot::Slot;
pub use stretch::StretchSize;

/// What a scheduler may take of the machine.
#[derive(Debug, Clone)]
pub struct Resources {
    /// Bytes that the whole process may use.
    pub memory: u64,
    /// Worker threads, at least 1.
    pub threads: usize,
    /// The speed of the device that holds the graph.
    pub speed: Speed,
    /// Edges at which a part is closed, or `None` for a number that follows from the graph.
    pub part_edges: Option<u64>,
    /// Which part of a scan is next. Results do not depend on it.
    pub part_order: PartOrder,
    /// The size of a stretch of tiles.
    pub stretch: StretchSize,
}

/// Runs jobs on one graph. See the [module](self).
pub struct Scheduler<'g> {
    graph: &'g Graph,
    parts: Arc<Parts>,
    source: Arc<TileSource<'g>>,
    workers: Workers,
    speed: Speed,
    ledger: Ledger<'g>,
    row_sizes: KnownRowSizes,
    stretch: StretchSize,
    queue: Mutex<Queue>,
    /// Whether the system started any thread for the workers. Without one, callers work until their
    /// jobs are over.
    has_threads: AtomicBool,
}

/// Memory for writing a result while another one is written. It is free again when this is dropped.
pub struct WriterMemory<'s>(#[expect(dead_code, reason = "it is held")] Admitted<'s, 's>);

impl<'g> Scheduler<'g> {
    /// Calls `body` with a new scheduler. All jobs have left when it returns.
    pub fn scope<R>(
        graph: &'g Graph,
        resources: &Resources,
        body: impl FnOnce(&Scheduler<'g>) -> R,
    ) -> R {
        let Resources { memory, threads, ref speed, part_edges, part_order, stretch } = *resources;
        let parts = Arc::new(Parts::cut(graph, part_edges));
        let source = Arc::new(TileSource::new(graph, Arc::clone(&parts)));
        let (tiles, cut) = (Arc::clone(&source), Arc::clone(&parts));
        let scheduler = Scheduler {
            graph,
            source,
            workers: Workers::new(threads),
            speed: speed.clone(),
            ledger: Ledger::new(graph, cut, tiles, memory, threads.max(1)),
            row_sizes: KnownRowSizes::default(),
            stretch,
            queue: Mutex::new(Queue::new(parts.parts.len(), part_order)),
            has_threads: AtomicBool::new(false),
            parts,
        };
        std::thread::scope(|scope| {
            // Dropped even if `body` panics. Otherwise the scope would wait for the workers for
            // ever.
            let _home = SendHome(&scheduler);
            scheduler.start_workers_in(scope);
            body(&scheduler)
        })
    }

    fn start_workers_in<'s>(&'s self, scope: &'s Scope<'s, '_>) {
        let started = start_workers(self.workers.count(), 0, || {
            start_in(scope, "tegula-work", || self.work(None)).map(drop)
        });
        self.has_threads.store(started > 0, Ordering::Relaxed);
    }

    /// Returns whether the scheduler is for this graph, as it is open here.
    pub(crate) fn is_of(&self, graph: &Graph) -> bool {
        std::ptr::eq(self.graph, graph)
    }

    /// Returns the graph.
    pub(crate) fn graph(&self) -> &'g Graph {
        self.graph
    }

    /// Returns the parts and groups of the graph.
    pub(crate) fn parts(&self) -> &Arc<Parts> {
        &self.parts
    }

    /// Returns the tiles.
    pub(crate) fn source(&self) -> &TileSource<'g> {
        &self.source
    }

    /// Returns the ledger of memory.
    pub(crate) fn ledger(&self) -> &Ledger<'g> {
        &self.ledger
    }

    /// Returns the sizes of the rows that are known so far.
    pub(crate) fn row_sizes(&self) -> &KnownRowSizes {
        &self.row_sizes
    }

    /// Returns the number of workers.
    pub(crate) fn threads(&self) -> usize {
        self.workers.count()
    }

    /// Returns the speed of the device that holds the graph.
    pub(crate) fn speed(&self) -> &Speed {
        &self.speed
    }

    /// Leases memory for writing a result while another one is written, if there is room now and no
    /// job waits for memory. Writing one result at a time needs no lease.
    pub fn writer_memory(&self) -> Option<WriterMemory<'_>> {
        self.ledger.admit_now("a second writer", RESULT_OVERHEAD).map(WriterMemory)
    }

    /// Returns the bytes of a stretch of tiles for jobs with these bytes a vertex.
    fn stretch_size(&self, vertex_bytes: impl Iterator<Item = u64>) -> u64 {
        self.stretch.bytes(self.graph, self.workers.count(), vertex_bytes.sum())
    }

    /// Works on a job until it is over. `_admitted` proves that its memory is leased until then.
    pub(crate) fn work_off<'j>(
        &self,
        job: &'j mut (dyn Job + 'j),
        _admitted: &Admitted<'_, '_>,
        cancel: &Cancel,
    ) -> Result<()> {
        let slot = Arc::new(Slot::new(cancel.clone(), job.is_resumable()));
        // SAFETY: `leaving` takes the job out of the slot before this call returns or unwinds, and
        // `take` waits for every reader. Workers hold the job only through guards of the slot's
        // lock.
        unsafe { slot.put(job) };
        let leaving = LeaveGuard(&slot);
        lock(&self.queue).make_ready(&slot);
        self.workers.ring();
        if !self.has_threads.load(Ordering::Relaxed) {
            self.work(Some(&slot));
        }
        slot.wait_until_over();
        drop(leaving);
        slot.result()
    }
}

impl OtherJobs for Scheduler<'_> {
    fn is_there(&self) -> bool {
        self.ledger.count() > 1
    }

    fn stand_in(&self) {
        self.work_on_another();
    }
}

/// Takes a job out of its slot when dropped.
struct LeaveGuard<'s>(&'s Slot);

impl Drop for LeaveGuard<'_> {
    fn drop(&mut self) {
        self.0.take();
    }
}

/// Ends the workers when dropped.
struct SendHome<'s, 'g>(&'s Scheduler<'g>);

impl Drop for SendHome<'_, '_> {
    fn drop(&mut self) {
        lock(&self.0.queue).is_over = true;
        self.0.workers.ring();
    }
}
