//! The rows that a program follows, and the memory that it waits for.

use std::ops::Deref;

use tegula_machine::Result;
use tegula_machine::disk::Targets;
use tegula_store::graph::Graph;
use tegula_store::rows::{Direction, RowReader, Rows};

use super::program::has_weights;
use super::traversal::missing_rows;
use crate::options::RunOptions;
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
    Seek::<P>::size(u64::from(graph.vertex_count()), threads)
}

/// The rows of a run.
#[derive(Default)]
pub struct ProgramRows<'r> {
    /// By source.
    forward: Option<Lent<'r>>,
    /// By target, where the graph is directed.
    reverse: Option<Lent<'r>>,
    is_undirected: bool,
}

/// A reader of its own, or one that is shared.
enum Lent<'r> {
    Own(Box<RowReader>),
    Shared(&'r RowReader),
}

impl Deref for Lent<'_> {
    type Target = RowReader;

    fn deref(&self) -> &RowReader {
        match self {
            Lent::Own(rows) => rows,
            Lent::Shared(rows) => rows,
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
) -> Result<(Admitted<'s, 'g>, ProgramRows<'r>)> {
    let has_weights = has_weights::<P>(graph);
    let threads = scheduler.threads();
    let held = Superstep::<P>::size(graph, scheduler.parts(), threads) + program.size();
    let is_undirected = graph.manifest().undirected;
    let can_seek = may_seek::<P>() && options.executor != Executor::Scan;
    let without = || MemoryDemand::scan("the run", held, has_weights);
    if can_seek && let Some(rows) = options.rows {
        let shared = [Some(rows), options.reverse];
        let fits = |rows: &RowReader| rows.has_weights() || !has_weights;
        assert!(shared.into_iter().flatten().all(fits), "the rows were opened without weights");
        let held = held + seek_size::<P>(graph, threads);
        let demand = MemoryDemand::scan("the run", held, has_weights);
        let admitted = scheduler.ledger().admit(&[demand], &options.cancel)?;
        let [forward, reverse] = shared.map(|rows| rows.map(Lent::Shared));
        return Ok((admitted, ProgramRows { forward, reverse, is_undirected }));
    }
    let must_seek = can_seek && options.executor == Executor::Seek;
    let candidates = if can_seek {
        let least = held + seek_size::<P>(graph, threads);
        Candidates::open::<P>(scheduler, graph, least, must_seek)?
    } else {
        Candidates::default()
    };
    // With all of them, with fewer, with none.
    let counts: Vec<usize> = (usize::from(must_seek)..=candidates.rows.len()).rev().collect();
    let ways: Vec<_> = counts
        .iter()
        .map(|&count| match count {
            0 => without(),
            count => candidates.demand(count, options.executor, graph.tile_bytes(), has_weights),
        })
        .collect();
    let admitted = scheduler.ledger().admit(&ways, &options.cancel)?;
    drop(ways);
    let (count, taken) = (counts[admitted.choice], admitted.taken);
    let readers = candidates.into_readers(count, taken, &scheduler.speed().targets)?;
    let [forward, reverse] = readers.map(|reader| reader.map(|reader| Lent::Own(Box::new(reader))));
    Ok((admitted, ProgramRows { forward, reverse, is_undirected }))
}

/// Rows that a program has a use for, those that it needs most first.
#[derive(Default)]
struct Candidates {
    rows: Vec<Candidate>,
    has_weights: bool,
}

/// Rows of a direction, and what they take of memory.
struct Candidate {
    direction: Direction,
    rows: Rows,
    /// Bytes that are held from the first to this one, at the least.
    least: u64,
    /// Bytes of a cache that holds all.
    all: u64,
    /// Bytes that it takes to unpack them.
    unpacked: u64,
}

impl Candidates {
    /// Opens those that the graph has and the memory could hold beside `least` bytes.
    fn open<P: Program>(
        scheduler: &Scheduler<'_>,
        graph: &Graph,
        mut least: u64,
        must_seek: bool,
    ) -> Result<Candidates> {
        let (manifest, has_weights) = (graph.manifest(), has_weights::<P>(graph));
        if must_seek && manifest.rows.is_none() {
            return Err(missing_rows(graph));
        }
        let mut candidates = Candidates { rows: Vec::new(), has_weights };
        let by_target = (Pull::is_for::<P>() && !manifest.undirected).then_some(Direction::Reverse);
        for direction in std::iter::once(Direction::Forward).chain(by_target) {
            if manifest.rows_of(direction).is_none() {
                continue;
            }
            least += RowReader::size_min(graph, direction, has_weights);
            // Only what is asked for in any case is opened without knowing that it fits.
            let demand = MemoryDemand::scan("the run by rows", least, has_weights);
            match scheduler.ledger().could_hold(&demand) {
                Ok(()) => {}
                Err(error) if must_seek && direction == Direction::Forward => return Err(error),
                Err(error) => {
                    tracing::info!("{} are not used: {error}", direction.layout());
                    break;
                }
            }
            let Some(rows) = Rows::open(graph, direction)? else { continue };
            least += long_rows_of(rows.batch_size(has_weights), scheduler.threads());
            let all = RowReader::cache_size_max(graph, direction, has_weights);
            // A run looks through most rows by target once or never: they stay packed.
            let unpacked = match direction {
                Direction::Forward => {
                    RowReader::unpacked_size(&rows, has_weights, scheduler.threads())
                }
                Direction::Reverse => 0,
            };
            candidates.rows.push(Candidate { direction, rows, least, all, unpacked });
        }
        Ok(candidates)
    }

    /// What a run with the first `count` of them needs.
    fn demand(
        &self,
        count: usize,
        executor: Executor,
        tile_bytes: u64,
        has_weights: bool,
    ) -> MemoryDemand<'_> {
        let rows = &self.rows[..count];
        let min = caches_min(count);
        let all: u64 = rows.iter().map(|rows| rows.all).sum();
        let unpacked: u64 = rows.iter().map(|rows| rows.unpacked).sum();
        let takes_of = move |free: u64| {
            let free = free + min;
            let tiles = if executor == Executor::Seek { 0 } else { tile_bytes };
            if all + unpacked + tiles <= free {
                return all + unpacked - min;
            }
            let share = match executor {
                Executor::Seek => free,
                Executor::Auto | Executor::Scan if all + tile_bytes <= free => free,
                // Where rows and tiles do not both fit they share it. What is little goes to the rows: a scan
                // streams what it has no room for, but seeking reads the pages around a frontier again and
                // again if they do not stay.
                Executor::Auto | Executor::Scan => (free / 2).max(free.min(FRONTIER_SIZE)),
            };
            all.min(share.max(min)) - min
        };
        let least = rows.last().map_or(0, |rows| rows.least);
        MemoryDemand::both("the run by rows", least, has_weights, takes_of)
    }

    /// Readers of the first `count` of them, by direction, which `taken` bytes are shared by beyond the least.
    fn into_readers(
        self,
        count: usize,
        taken: u64,
        targets: &Targets,
    ) -> Result<[Option<RowReader>; 2]> {
        let mut readers = [None, None];
        let all: u64 = self.rows[..count].iter().map(|rows| rows.all).sum();
        let unpacked: u64 = self.rows[..count].iter().map(|rows| rows.unpacked).sum();
        let beyond = u128::from(all - caches_min(count)).max(1);
        for candidate in self.rows.into_iter().take(count) {
            let own = candidate.all - RowReader::CACHE_SIZE_MIN;
            let shared = u128::from(taken.min(all - caches_min(count)));
            let size = RowReader::CACHE_SIZE_MIN + (shared * u128::from(own) / beyond) as u64;
            let reader = RowReader::new(candidate.rows, self.has_weights, size, targets)?;
            let has_room = candidate.unpacked > 0 && taken + caches_min(count) >= all + unpacked;
            let reader = if has_room { reader.with_room_to_unpack() } else { reader };
            readers[candidate.direction as usize] = Some(reader);
        }
        Ok(readers)
    }
}

/// Bytes of the smallest caches of so many readers.
fn caches_min(readers: usize) -> u64 {
    readers as u64 * RowReader::CACHE_SIZE_MIN
}
