//! The rows that a program follows, and the memory that it waits for.

use std::ops::Deref;

use tegula_machine::Result;
use tegula_machine::disk::Targets;
use tegula_store::graph::Graph;
use tegula_store::rows::{Direction, RowReader, Rows};

use super::copies::copies_size;
use super::program::has_weights;
use super::traversal::missing_rows;
use crate::external::plan::{ArraysOnDisk, Plan};
use crate::options::{Arrays, RunOptions};
use crate::process::choice::Executor;
use crate::process::pull::Pull;
use crate::process::seek::Seek;
use crate::program::{Program, may_seek};
use crate::scheduler::{Admitted, MemoryDemand, Scheduler};
use crate::superstep::Superstep;
use crate::traverse::long_rows_of;

/// Bytes that a program needs beside its [estimate](crate::estimate()) to follow rows, at the least.
pub fn rows_size<P: Program>(graph: &Graph, threads: usize) -> u64 {
    let rows = RowReader::size_min(graph, Direction::Forward, has_weights::<P>(graph));
    seek_size::<P>(graph, threads) + rows
}

fn seek_size<P: Program>(graph: &Graph, threads: usize) -> u64 {
    Seek::<P>::size(graph.vertex_count(), threads)
}

/// The rows of a run.
#[derive(Default)]
pub struct ProgramRows<'r> {
    /// By source.
    forward: Option<OwnOrShared<'r>>,
    /// By target, where the graph is directed.
    reverse: Option<OwnOrShared<'r>>,
    is_undirected: bool,
}

/// A reader of its own, or one that is shared.
enum OwnOrShared<'r> {
    Own(Box<RowReader>),
    Shared(&'r RowReader),
}

impl Deref for OwnOrShared<'_> {
    type Target = RowReader;

    fn deref(&self) -> &RowReader {
        match self {
            OwnOrShared::Own(rows) => rows,
            OwnOrShared::Shared(rows) => rows,
        }
    }
}

impl ProgramRows<'_> {
    /// The edges that leave each vertex.
    pub fn outgoing(&self) -> Option<&RowReader> {
        self.forward.as_deref()
    }

    /// The edges that enter each vertex.
    pub fn incoming(&self) -> Option<&RowReader> {
        if self.is_undirected { self.forward.as_deref() } else { self.reverse.as_deref() }
    }

    /// Bytes read so far.
    pub fn bytes_read(&self) -> u64 {
        let readers = self.forward.iter().chain(&self.reverse);
        readers.map(|reader| reader.bytes_read()).sum()
    }
}

/// Bytes of pages that hold the surroundings of most frontiers.
const FRONTIER_SIZE: u64 = 64 << 20;

/// Waits for the memory of a program, with rows where it may use them and they fit.
///
/// # Errors
/// [`Error::OverBudget`](tegula_machine::Error::OverBudget),
/// [`Error::MissingLayout`](tegula_machine::Error::MissingLayout), those of reading, cancellation.
///
/// # Panics
/// When the weights of edges are wanted and the rows of the options were opened without them.
pub fn admit<'s, 'g, 'r, P: Program>(
    scheduler: &'s Scheduler<'g>,
    graph: &Graph,
    program: &P,
    options: &RunOptions<'r>,
) -> Result<Admission<'s, 'g, 'r>> {
    let has_weights = has_weights::<P>(graph);
    let threads = scheduler.threads();
    let held = Superstep::<P>::size(graph, scheduler.parts(), threads)
        + program.size()
        + copies_size::<P>(graph, options, threads);
    let is_undirected = graph.manifest().undirected;
    let can_seek = may_seek::<P>() && options.executor != Executor::Scan;
    let without = || MemoryDemand::scan("the run", held, has_weights);
    if can_seek
        && options.arrays != Arrays::OnDisk
        && let Some(rows) = options.rows
    {
        let shared = [Some(rows), options.reverse];
        let fits = |rows: &RowReader| rows.has_weights() || !has_weights;
        assert!(shared.into_iter().flatten().all(fits), "the rows were opened without weights");
        let held = held + seek_size::<P>(graph, threads);
        let demand = MemoryDemand::scan("the run", held, has_weights);
        let admitted = scheduler.ledger().admit(&[demand], &options.cancel)?;
        let [forward, reverse] = shared.map(|rows| rows.map(OwnOrShared::Shared));
        let rows = ProgramRows { forward, reverse, is_undirected };
        return Ok(Admission { admitted, rows, plan: None });
    }
    let must_seek = can_seek && options.executor == Executor::Seek;
    let may_leave_memory = options.arrays != Arrays::InMemory && !must_seek;
    // Processes whose arrays lie in memory know vertices by short ids.
    let must_leave_memory =
        may_leave_memory && (options.arrays == Arrays::OnDisk || !graph.has_short_ids());
    if !may_leave_memory {
        graph.short_vertex_count()?;
    }
    let candidates = if can_seek && !must_leave_memory {
        let least = held + seek_size::<P>(graph, threads);
        Candidates::open::<P>(scheduler, graph, least, must_seek)?
    } else {
        Candidates::default()
    };
    // With all of them, with fewer, with none.
    let counts: Vec<usize> = match must_leave_memory {
        true => Vec::new(),
        false => (usize::from(must_seek)..=candidates.rows.len()).rev().collect(),
    };
    let external = may_leave_memory.then(|| External::of(scheduler, graph, program, options));
    let mut ways: Vec<_> = counts
        .iter()
        .map(|&count| match count {
            0 => without(),
            count => candidates.demand(count, options.executor, graph.tile_bytes()),
        })
        .collect();
    ways.extend(external.as_ref().map(|external| external.demand(has_weights)));
    let admitted = scheduler.ledger().admit(&ways, &options.cancel)?;
    drop(ways);
    let Some(&count) = counts.get(admitted.choice) else {
        let plan = external.map(|external| external.plan(admitted.taken));
        return Ok(Admission { admitted, rows: ProgramRows::default(), plan });
    };
    let targets = &scheduler.speed().targets;
    let rows = candidates.into_rows(count, admitted.taken, is_undirected, targets)?;
    Ok(Admission { admitted, rows, plan: None })
}

/// How a program runs, and its memory.
pub struct Admission<'s, 'g, 'r> {
    /// The memory.
    pub admitted: Admitted<'s, 'g>,
    /// The rows that it may follow.
    pub rows: ProgramRows<'r>,
    /// How its arrays lie on disk, if they do.
    pub plan: Option<Plan>,
}

/// A run with its arrays on disk, as it is planned.
struct External {
    on_disk: ArraysOnDisk,
    least: Plan,
    /// Whether blocks of arrays may stay in memory.
    may_hold: bool,
}

impl External {
    fn of<P: Program>(
        scheduler: &Scheduler<'_>,
        graph: &Graph,
        program: &P,
        options: &RunOptions<'_>,
    ) -> External {
        let (parts, threads) = (scheduler.parts(), scheduler.threads());
        let on_disk = ArraysOnDisk::of::<P>(graph, parts, threads, options.messages);
        let on_disk = on_disk.beside(program.size());
        let least = on_disk.least();
        let may_hold = options.arrays != Arrays::OnDisk;
        External { on_disk, least, may_hold }
    }

    /// The plan with so many bytes beyond the least.
    fn plan(&self, extra: u64) -> Plan {
        self.on_disk.fit(self.least.bytes + extra, self.may_hold).unwrap_or(self.least)
    }

    fn demand(&self, has_weights: bool) -> MemoryDemand<'_> {
        let least = self.least.bytes;
        let takes_of = move |free: u64| {
            let plan = self.on_disk.within(least + free, self.may_hold);
            plan.map_or(0, |plan| plan.bytes - least)
        };
        MemoryDemand::both("the run", least, has_weights, takes_of)
    }
}

/// Whether the rows of a run are going to stay in memory, about.
pub fn rows_may_stay(graph: &Graph, has_weights: bool, options: &RunOptions<'_>) -> bool {
    if let Some(rows) = options.rows {
        return rows.fits();
    }
    let memory = options.budget();
    let rows = RowReader::cache_size_max(graph, Direction::Forward, has_weights);
    rows + graph.tile_bytes() <= memory || 2 * rows <= memory
}

/// Rows that a program has a use for, those that it needs most first: they get their memory in this order.
#[derive(Default)]
struct Candidates {
    rows: Vec<Candidate>,
    has_weights: bool,
    threads: usize,
    /// Bytes that are held beside any rows.
    held: u64,
}

/// Rows of a direction, and what they take of memory.
struct Candidate {
    direction: Direction,
    rows: Rows,
    /// Bytes of a reader, at the least.
    least: u64,
    /// Bytes of a cache that holds all.
    all: u64,
    /// Bytes that it takes to unpack them; 0 where they stay packed.
    unpacked: u64,
}

impl Candidates {
    /// Opens those that the graph has and the memory could hold beside `held` bytes.
    fn open<P: Program>(
        scheduler: &Scheduler<'_>,
        graph: &Graph,
        held: u64,
        must_seek: bool,
    ) -> Result<Candidates> {
        let (manifest, has_weights) = (graph.manifest(), has_weights::<P>(graph));
        if must_seek && manifest.rows.is_none() {
            return Err(missing_rows(graph, Direction::Forward));
        }
        let threads = scheduler.threads();
        let mut candidates = Candidates { rows: Vec::new(), has_weights, threads, held };
        let by_target = (Pull::is_for::<P>() && !manifest.undirected).then_some(Direction::Reverse);
        let mut needed = held;
        for direction in std::iter::once(Direction::Forward).chain(by_target) {
            if manifest.rows_of(direction).is_none() {
                continue;
            }
            let least = RowReader::size_min(graph, direction, has_weights);
            needed += least;
            // Only what is asked for in any case is opened without knowing that it fits.
            let demand = MemoryDemand::scan("the run by rows", needed, has_weights);
            match scheduler.ledger().could_hold(&demand) {
                Ok(()) => {}
                Err(error) if must_seek && direction == Direction::Forward => return Err(error),
                Err(error) => {
                    tracing::info!("the layout {} is not used: {error}", direction.layout());
                    break;
                }
            }
            let Some(rows) = Rows::open(graph, direction)? else { continue };
            let all = RowReader::cache_size_max(graph, direction, has_weights);
            // A run looks through most rows by target once or never: they stay packed.
            let unpacked = match direction {
                Direction::Forward => RowReader::unpacked_size(&rows, has_weights, threads),
                Direction::Reverse => 0,
            };
            candidates.rows.push(Candidate { direction, rows, least, all, unpacked });
        }
        Ok(candidates)
    }

    /// What a run with the first `count` of them needs, of which there is one at least.
    fn demand(&self, count: usize, executor: Executor, tile_bytes: u64) -> MemoryDemand<'_> {
        let rows = &self.rows[..count];
        let least: u64 = rows.iter().map(|rows| rows.least).sum();
        // What one process has copied of long rows stays while another runs.
        let batch_size = |rows: &Candidate| rows.rows.piece_batch_size(self.has_weights);
        let batches = rows.iter().map(batch_size).sum();
        let least = self.held + least + long_rows_of(batches, self.threads);
        let takes_of = move |free: u64| {
            let free = free + caches_min(count);
            let (first, tiles) =
                (&rows[0], if executor == Executor::Seek { 0 } else { tile_bytes });
            // Where rows and tiles do not both fit they share it. What is little goes to the rows: a scan
            // streams what it has no room for, but seeking reads the pages around a frontier again and again
            // if they do not stay.
            let share = match free.checked_sub(tiles) {
                Some(beside) if first.all <= beside => beside,
                _ if executor == Executor::Seek => free,
                _ => (free / 2).max(free.min(FRONTIER_SIZE)),
            };
            let of_caches: u64 = rows.iter().map(|rows| rows.all).sum();
            let unpacked = if first.may_unpack(share, count) { first.unpacked } else { 0 };
            (of_caches + unpacked).min(share.max(caches_min(count))) - caches_min(count)
        };
        MemoryDemand::both("the run by rows", least, self.has_weights, takes_of)
    }

    /// The first `count` of them, opened for reading, with `taken` bytes beyond the least.
    fn into_rows<'r>(
        mut self,
        count: usize,
        taken: u64,
        is_undirected: bool,
        targets: &Targets,
    ) -> Result<ProgramRows<'r>> {
        self.rows.truncate(count);
        let mut opened = ProgramRows { is_undirected, ..ProgramRows::default() };
        let mut left = taken + caches_min(count);
        for (index, candidate) in self.rows.into_iter().enumerate() {
            let behind = count - 1 - index;
            let size = candidate.all.min(left - caches_min(behind));
            let may_unpack = candidate.may_unpack(left, behind + 1);
            left -= size + if may_unpack { candidate.unpacked } else { 0 };
            let reader = RowReader::new(candidate.rows, self.has_weights, size, targets)?;
            let reader = if may_unpack { reader.with_room_to_unpack() } else { reader };
            let place = match candidate.direction {
                Direction::Forward => &mut opened.forward,
                Direction::Reverse => &mut opened.reverse,
            };
            *place = Some(OwnOrShared::Own(Box::new(reader)));
        }
        Ok(opened)
    }
}

impl Candidate {
    /// Whether `memory` bytes hold these rows, unpacked too, and the smallest caches of the readers behind it, so
    /// that there are `count`.
    fn may_unpack(&self, memory: u64, count: usize) -> bool {
        self.unpacked > 0 && self.all + self.unpacked + caches_min(count - 1) <= memory
    }
}

/// Bytes of the smallest caches of `count` readers.
fn caches_min(count: usize) -> u64 {
    count as u64 * RowReader::CACHE_SIZE_MIN
}
