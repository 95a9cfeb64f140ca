//! The rows that a program follows, and how it waits for its memory.

use std::ops::Deref;
use std::sync::Arc;

use tegula_machine::threads::Cancel;
use tegula_store::Result;
use tegula_store::graph::Graph;
use tegula_store::rows::{Direction, RowReader};

use super::shared_rows::WantedRows;
use super::traversal::missing_rows;
use crate::memory::{ArraysOnDisk, ArraysPlan, arrays_size, copies_size, long_rows_of, seek_size};
use crate::options::{Arrays, Executor, RunOptions};
use crate::process::pull::Pull;
use crate::program::{Program, has_weights, may_seek};
use crate::scheduler::{Admitted, MemoryDemand, Scheduler, Share, SharedKey, Taken};
use crate::traverse::{Directions, RowsWanted};

/// The rows of a run.
pub struct ProgramRows<'r> {
    /// By source.
    forward: Option<OwnOrShared<'r>>,
    /// By target, if the graph is directed.
    reverse: Option<OwnOrShared<'r>>,
    /// The layouts with the edges that leave each vertex in the directions of the program.
    outgoing: &'static [Direction],
    /// The layouts with the edges that enter each vertex.
    incoming: &'static [Direction],
}

/// A reader of this run, or a shared one.
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

impl<'r> ProgramRows<'r> {
    /// Makes an empty set for a program that follows edges in `directions`.
    fn new(graph: &Graph, directions: Directions) -> ProgramRows<'r> {
        let (outgoing, incoming) = (directions.layouts(graph), directions.turned().layouts(graph));
        ProgramRows { forward: None, reverse: None, outgoing, incoming }
    }

    /// Returns readers of the edges that leave each vertex in the directions of the program; none
    /// unless all of them are there.
    pub fn outgoing(&self) -> Vec<&RowReader> {
        self.all_of(self.outgoing)
    }

    /// Returns readers of the edges that enter each vertex; none unless all of them are there.
    pub fn incoming(&self) -> Vec<&RowReader> {
        self.all_of(self.incoming)
    }

    fn all_of(&self, layouts: &[Direction]) -> Vec<&RowReader> {
        let reader = |&direction: &Direction| match direction {
            Direction::Forward => self.forward.as_deref(),
            Direction::Reverse => self.reverse.as_deref(),
        };
        layouts.iter().map(reader).collect::<Option<_>>().unwrap_or_default()
    }

    fn put(&mut self, direction: Direction, rows: OwnOrShared<'r>) {
        let place = match direction {
            Direction::Forward => &mut self.forward,
            Direction::Reverse => &mut self.reverse,
        };
        *place = Some(rows);
    }

    /// Returns the bytes read so far.
    pub fn bytes_read(&self) -> u64 {
        let readers = self.forward.iter().chain(&self.reverse);
        readers.map(|reader| reader.bytes_read()).sum()
    }
}

/// Bytes of pages around most frontiers.
const FRONTIER_SIZE: u64 = 64 << 20;

/// Waits for the memory of a program, with rows if it may use them and they fit.
///
/// # Errors
/// [`Error::OverBudget`](tegula_machine::Error::OverBudget),
/// [`Error::MissingLayout`](tegula_store::Error::MissingLayout), read errors, cancellation.
///
/// # Panics
/// When the program needs the weights of edges and the rows of the options were opened without
/// them. When a program whose reduction is not exact follows edges along rows only.
pub fn admit<'s, 'g, 'r, P: Program>(
    scheduler: &'s Scheduler<'g>,
    graph: &Graph,
    program: &P,
    options: &RunOptions<'r>,
) -> Result<Admission<'s, 'g, 'r>> {
    let has_weights = has_weights::<P>(graph);
    let threads = scheduler.threads();
    let degrees = P::NEEDS_DEGREE.then(|| Share::out_degrees(graph));
    let arrays = arrays_size::<P>(graph, scheduler.parts(), threads);
    // The degrees are a share: several jobs count them once.
    let held = arrays - degrees.map_or(0, |degrees| degrees.least)
        + program.size()
        + copies_size::<P>(graph, options, threads);
    let directions = program.directions();
    let can_scan = directions.can_scan(graph);
    assert!(can_scan || may_seek::<P>(), "only an exact reduction follows edges along rows");
    let can_seek = may_seek::<P>() && (options.executor != Executor::Scan || !can_scan);
    let without = || MemoryDemand::scan("the run", held, has_weights).with_share(degrees);
    let shared = shared_rows(graph, directions, options);
    if can_seek && (options.arrays != Arrays::OnDisk || !can_scan) && !shared.outgoing().is_empty()
    {
        let held = held + seek_size::<P>(graph, directions, threads);
        return admit_with(shared, program, scheduler, (held, degrees), options);
    }
    let must_seek = can_seek && (options.executor == Executor::Seek || !can_scan);
    let may_leave_memory = options.arrays != Arrays::InMemory && !must_seek;
    // Processes with arrays in memory know vertices by short ids.
    let must_leave_memory =
        may_leave_memory && (options.arrays == Arrays::OnDisk || !graph.has_short_ids());
    if !may_leave_memory {
        graph.short_vertex_count()?;
    }
    let candidates = if can_seek && !must_leave_memory {
        let least = held + seek_size::<P>(graph, directions, threads);
        Candidates::find::<P>(scheduler, graph, directions, (least, degrees), must_seek, options)?
    } else {
        Candidates::default()
    };
    // With all rows, with fewer, with none.
    let count_min = if must_seek { directions.layouts(graph).len() } else { 0 };
    let counts: Vec<usize> = match must_leave_memory {
        true => Vec::new(),
        false => (count_min..=candidates.rows.len()).rev().collect(),
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
    let admitted = scheduler.ledger().admit(&ways, options.reserve, &options.cancel)?;
    // The ways borrow the candidates, which are used up below.
    drop(ways);
    let mut rows = ProgramRows::new(graph, directions);
    let Some(&count) = counts.get(admitted.choice) else {
        let plan = external.map(|external| external.plan(admitted.taken));
        return Ok(Admission { degrees: Arc::default(), rows, plan, admitted });
    };
    candidates.load_into(&mut rows, count, &admitted, scheduler, options)?;
    let degrees = load_degrees::<P>(graph, &admitted, &options.cancel)?;
    Ok(Admission { degrees, rows, plan: None, admitted })
}

/// Waits for the memory of a program that follows the rows of the options.
fn admit_with<'s, 'g, 'r, P: Program>(
    shared: ProgramRows<'r>,
    program: &P,
    scheduler: &'s Scheduler<'g>,
    (held, degrees): (u64, Option<Share>),
    options: &RunOptions<'r>,
) -> Result<Admission<'s, 'g, 'r>> {
    let graph = scheduler.graph();
    let has_weights = has_weights::<P>(graph);
    let fits = |rows: &&RowReader| rows.has_weights() || !has_weights;
    let all = [shared.forward.as_deref(), shared.reverse.as_deref()];
    assert!(all.iter().flatten().all(fits), "the rows were opened without weights");
    let demand = match program.directions().can_scan(graph) {
        true => MemoryDemand::scan("the run", held, has_weights),
        false => MemoryDemand::rows("the run", held),
    };
    let demand = demand.with_share(degrees);
    let admitted = scheduler.ledger().admit(&[demand], options.reserve, &options.cancel)?;
    let degrees = load_degrees::<P>(graph, &admitted, &options.cancel)?;
    Ok(Admission { degrees, rows: shared, plan: None, admitted })
}

/// Returns the degrees that jobs share; none if the program does not need them.
fn load_degrees<P: Program>(
    graph: &Graph,
    admitted: &Admitted<'_, '_>,
    cancel: &Cancel,
) -> Result<Arc<Vec<u32>>> {
    match P::NEEDS_DEGREE {
        true => admitted.load(SharedKey::OutDegrees, cancel, |_| graph.out_degrees()),
        false => Ok(Arc::default()),
    }
}

/// Returns the rows of the options.
fn shared_rows<'r>(
    graph: &Graph,
    directions: Directions,
    options: &RunOptions<'r>,
) -> ProgramRows<'r> {
    let mut shared = ProgramRows::new(graph, directions);
    for (direction, rows) in Direction::ALL.into_iter().zip([options.rows, options.reverse]) {
        if let Some(rows) = rows {
            shared.put(direction, OwnOrShared::Shared(rows));
        }
    }
    shared
}

/// How a program runs, and its memory.
pub struct Admission<'s, 'g, 'r> {
    /// The out-degrees; empty if the program does not need them or its arrays lie on disk.
    pub degrees: Arc<Vec<u32>>,
    /// The rows that it may follow.
    pub rows: ProgramRows<'r>,
    /// The layout of its arrays on disk, if they lie there.
    pub plan: Option<ArraysPlan>,
    /// The granted memory. Last, so that the arrays are freed first.
    pub admitted: Admitted<'s, 'g>,
}

/// The plan of a run with its arrays on disk.
struct External {
    on_disk: ArraysOnDisk,
    least: ArraysPlan,
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
        let on_disk = ArraysOnDisk::of::<P>(graph, parts, threads, options.tuning.messages);
        let on_disk = on_disk.with_bytes(program.size());
        let least = on_disk.least();
        let may_hold = options.arrays != Arrays::OnDisk;
        External { on_disk, least, may_hold }
    }

    /// Returns the plan with `extra` bytes beyond the least.
    fn plan(&self, extra: u64) -> ArraysPlan {
        self.on_disk.fit(self.least.bytes + extra, self.may_hold).unwrap_or(self.least)
    }

    fn demand(&self, has_weights: bool) -> MemoryDemand<'_> {
        let least = self.least.bytes;
        let takes_of = move |free: u64| {
            let plan = self.on_disk.plan(least + free, self.may_hold);
            plan.map_or(0, |plan| plan.bytes - least)
        };
        MemoryDemand::both("the run", least, has_weights, takes_of)
    }
}

/// Returns whether the rows of a run that follows edges in these directions will probably stay in
/// memory.
pub fn rows_may_stay(graph: &Graph, wanted: RowsWanted, options: &RunOptions<'_>) -> bool {
    let RowsWanted { directions, has_weights } = wanted;
    let shared = shared_rows(graph, directions, options);
    let shared = shared.outgoing();
    if !shared.is_empty() {
        return shared.iter().all(|rows| rows.fits());
    }
    let memory = options.budget();
    let size = |&direction| RowReader::cache_size_max(graph, direction, has_weights);
    let rows: u64 = directions.layouts(graph).iter().map(size).sum();
    rows + graph.tile_bytes() <= memory || 2 * rows <= memory
}

/// The rows that a program can use, the most needed first: they get memory in this order.
#[derive(Default)]
struct Candidates {
    rows: Vec<WantedRows>,
    has_weights: bool,
    threads: usize,
    /// Bytes held beside any rows and the degrees.
    held: u64,
    degrees: Option<Share>,
    /// Whether iterations may scan as well.
    can_scan: bool,
    /// Whether the first rows may be unpacked.
    may_unpack: bool,
}

impl Candidates {
    /// Finds the rows that the graph has and that memory could hold beside `held` bytes and the
    /// degrees.
    fn find<P: Program>(
        scheduler: &Scheduler<'_>,
        graph: &Graph,
        directions: Directions,
        (held, degrees): (u64, Option<Share>),
        must_seek: bool,
        options: &RunOptions<'_>,
    ) -> Result<Candidates> {
        let has_weights = has_weights::<P>(graph);
        if must_seek && let Some(missing) = directions.missing(graph).next() {
            return Err(missing_rows(graph, missing));
        }
        let (threads, can_scan) = (scheduler.threads(), directions.can_scan(graph));
        let outgoing = directions.layouts(graph);
        let mut candidates =
            Candidates { has_weights, threads, held, degrees, can_scan, ..Candidates::default() };
        let mut wanted = outgoing.to_vec();
        if Pull::is_for::<P>() {
            let incoming = directions.turned().layouts(graph).iter();
            wanted.extend(incoming.filter(|direction| !outgoing.contains(direction)));
        }
        let mut needed = held;
        for direction in wanted {
            if graph.manifest().rows_of(direction).is_none() {
                continue;
            }
            needed += RowReader::size_min(graph, direction, has_weights);
            // Rows are opened before it is known that they fit only if the run needs them in any
            // case.
            match scheduler.ledger().could_hold(&candidates.demand_of(needed).with_share(degrees)) {
                Ok(()) => {}
                Err(error) if must_seek && outgoing.contains(&direction) => return Err(error),
                Err(error) => {
                    let layout = direction.layout();
                    tracing::info!("layout {layout} skipped for lack of memory: {error}");
                    break;
                }
            }
            let rows = WantedRows::of(scheduler, graph, direction, has_weights, &options.cancel)?;
            candidates.rows.extend(rows);
        }
        // A run that pulls looks through most of these rows once or never, so they stay packed. So
        // do the rows of a run that follows several layouts.
        candidates.may_unpack = match (outgoing, candidates.rows.first()) {
            (&[only], Some(first)) => first.direction == only,
            _ => false,
        };
        Ok(candidates)
    }

    /// Returns a demand of `least` bytes for a run by rows.
    fn demand_of<'n>(&self, least: u64) -> MemoryDemand<'n> {
        match self.can_scan {
            true => MemoryDemand::both("the run along rows", least, self.has_weights, |_| 0),
            false => MemoryDemand::rows("the run along rows", least),
        }
    }

    /// Returns the demand of a run with the first `count` candidates; `count` is at least 1.
    fn demand(&self, count: usize, executor: Executor, tile_bytes: u64) -> MemoryDemand<'_> {
        let rows = &self.rows[..count];
        // Pieces of long rows that one process has copied stay while another process runs.
        let batches = rows.iter().map(|rows| rows.sizes.piece_batch).sum();
        let least = self.held + long_rows_of(batches, self.threads);
        let only_seeks = executor == Executor::Seek || !self.can_scan;
        let tiles = if only_seeks { 0 } else { tile_bytes };
        let takes_of = move |free: u64, held: &[Option<u64>]| {
            let held = &held[..count];
            let new = held.iter().filter(|held| held.is_none()).count();
            let free = free + caches_min(new);
            let first = if held[0].is_some() { 0 } else { rows[0].all };
            // Rows and tiles that do not both fit share the memory. Rows come first if it is small:
            // a scan streams the tiles that do not fit, but seeking would read the pages around a
            // frontier again and again.
            let share = match free.checked_sub(tiles) {
                Some(beside) if first <= beside => beside,
                _ if only_seeks => free,
                _ => (free / 2).max(free.min(FRONTIER_SIZE)),
            };
            self.divide(rows, held, share.max(caches_min(new)))
        };
        self.demand_of(least)
            .sharing(rows.iter().map(WantedRows::share), takes_of)
            .with_share(self.degrees)
    }

    /// Divides `memory` bytes among the caches of rows that no other job holds, and the unpacked
    /// form of the first ones. Each cache gets the least that it needs, and the first caches get
    /// the rest first.
    fn divide(&self, rows: &[WantedRows], held: &[Option<u64>], memory: u64) -> Taken {
        let mut behind = held.iter().filter(|held| held.is_none()).count();
        let mut left = memory;
        let mut taken = Taken::default();
        for (index, (rows, held)) in rows.iter().zip(held).enumerate() {
            let (size, is_whole) = match *held {
                Some(extra) => (0, rows.fit(extra)),
                None => {
                    behind -= 1;
                    let size = rows.all.min(left - caches_min(behind));
                    (size, size == rows.all)
                }
            };
            left -= size;
            // The least bytes of the share have room for the smallest cache.
            taken.shares.push(size.saturating_sub(RowReader::CACHE_SIZE_MIN));
            let unpacked = rows.sizes.unpacked;
            let may_unpack = self.may_unpack && index == 0 && is_whole;
            if may_unpack && unpacked + caches_min(behind) <= left {
                left -= unpacked;
                taken.own = unpacked;
            }
        }
        taken
    }

    /// Loads the first `count` candidates.
    fn load_into(
        mut self,
        loaded: &mut ProgramRows<'_>,
        count: usize,
        admitted: &Admitted<'_, '_>,
        scheduler: &Scheduler<'_>,
        options: &RunOptions<'_>,
    ) -> Result<()> {
        self.rows.truncate(count);
        let (graph, targets) = (scheduler.graph(), &scheduler.speed().targets);
        for (index, rows) in self.rows.into_iter().enumerate() {
            let direction = rows.direction;
            let reader = rows.load(graph, admitted, targets, &options.cancel)?;
            // Only the room to unpack the first rows is taken for this job alone.
            let may_unpack = index == 0 && admitted.taken > 0;
            let reader = if may_unpack { reader.with_room_to_unpack() } else { reader };
            loaded.put(direction, OwnOrShared::Own(Box::new(reader)));
        }
        Ok(())
    }
}

/// Returns the bytes of the smallest caches of `count` readers.
fn caches_min(count: usize) -> u64 {
    count as u64 * RowReader::CACHE_SIZE_MIN
}
