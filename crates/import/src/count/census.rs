//! The census of small integer ids: how often each is a source and a target.
//!
//! Counting straight into a large array would miss the cache twice an edge. So each worker has a
//! short list for each range of ids, in which ends wait to be counted. A full list is counted under
//! the lock of its range, with plain additions in 128 KiB of counters. A counter has 16 bits. Few
//! vertices need more; their carries go to a map.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use tegula_machine::memory::huge;
use tegula_machine::threads::{Stash, lock, unlocked};
use tegula_store::tiles::{DenseEdge, VertexNumber};
use tegula_store::{Error, Result, SHORT_COUNT_MAX};

use crate::edge::{ArcRule, Weight, source_of, target_of};
use crate::import_run::ImportRun;
use crate::piles::Filled;
use crate::shares::Share;

/// log2 of the ids in a range: the place of a counter in a range then fits 16 bits.
const RANGE_LOG2: u32 = u16::BITS - 1;
const RANGE_SIZE: usize = 1 << RANGE_LOG2;
/// log2 of the most ends of one worker that wait for a range: a quarter of its ids. With fewer,
/// counting misses the cache more often.
const WAITING_LOG2_MAX: u32 = RANGE_LOG2 - 2;

/// Out-degree and in-degree of an id.
pub(crate) type Degrees = [u32; 2];

/// Counts the ends of edges while ids are small enough for the memory at hand.
pub(crate) struct Census<'a> {
    ranges: Vec<Mutex<&'a mut [u16]>>,
    carries: &'a Mutex<Carries>,
    exceeded: AtomicBool,
    waiting: Stash<Waiting>,
    waiting_log2: u32,
    undirected: bool,
}

/// Ends that a worker has not counted yet: for each range, a list of places of counters.
struct Waiting {
    lists: Vec<u16>,
    lens: Vec<u16>,
}

/// The counters of a census: out- and in-degree of each id in turn. Counters take memory once they
/// are used.
pub(crate) struct Counters {
    low: Vec<u16>,
    carries: Mutex<Carries>,
    /// log2 of the most ends that wait for a range.
    waiting_log2: u32,
}

/// How often the counter at a place has passed 2^16. Each entry stands for at least 65,536 edges.
pub(crate) type Carries = BTreeMap<u64, u32>;

impl Counters {
    /// Returns counters of up to `memory` bytes. Ends that wait to be counted take up to `waiting`
    /// bytes, all `workers` together.
    pub fn for_memory(memory: u64, waiting: u64, workers: usize) -> Counters {
        let ranges = memory / (2 * RANGE_SIZE * size_of::<u16>()) as u64;
        // Ids of more than 32 bits are never counted, whatever the memory.
        let ranges = ranges.clamp(1, SHORT_COUNT_MAX >> RANGE_LOG2) as usize;
        let list_bytes = waiting / (workers.max(1) * ranges) as u64;
        let list_len = (list_bytes / size_of::<u16>() as u64).max(1);
        let waiting_log2 = list_len.ilog2().min(WAITING_LOG2_MAX);
        Counters {
            low: huge::zeroes(ranges * 2 * RANGE_SIZE),
            carries: Mutex::default(),
            waiting_log2,
        }
    }

    /// Returns counters within one share of the memory, while the ends that wait to be counted have
    /// another.
    pub fn for_shares(run: &ImportRun<'_>, counters: Share, waiting: Share) -> Counters {
        Counters::for_memory(run.share(counters), run.share(waiting), run.workers.count())
    }

    /// Only ids below this one can be counted.
    pub fn id_limit(&self) -> u64 {
        self.low.len() as u64 / 2
    }

    /// Returns counters with these counts, for tests of later passes.
    #[cfg(test)]
    pub fn of(counts: &[u32]) -> Counters {
        let bytes = counts.len().next_multiple_of(2 * RANGE_SIZE) * size_of::<u16>();
        let mut counters = Counters::for_memory(bytes as u64, 0, 1);
        counters.set(counts);
        counters
    }

    #[cfg(test)]
    fn set(&mut self, counts: &[u32]) {
        for (place, &count) in counts.iter().enumerate() {
            self.low[place] = count as u16;
            if count >> 16 > 0 {
                lock(&self.carries).insert(place as u64, count >> 16);
            }
        }
    }

    /// Returns the counts of the ids below `id_end`; `rule` is that of the census.
    pub fn into_table(mut self, id_end: u64, rule: ArcRule) -> DegreeTable {
        self.low.truncate(2 * id_end as usize);
        let carries = unlocked(self.carries);
        DegreeTable::Counted { low: self.low, carries, undirected: rule.undirected }
    }
}

impl<'a> Census<'a> {
    /// Starts a census that counts in `counters`. In an undirected graph, each arc has its
    /// opposite, so only sources are counted.
    pub fn new(counters: &'a mut Counters, rule: ArcRule) -> Census<'a> {
        Census {
            ranges: counters.low.chunks_mut(2 * RANGE_SIZE).map(Mutex::new).collect(),
            carries: &counters.carries,
            exceeded: AtomicBool::new(false),
            waiting: Stash::default(),
            waiting_log2: counters.waiting_log2,
            undirected: rule.undirected,
        }
    }

    /// Counts the ends that still wait. Returns whether all ends were counted; if not, an id was
    /// too large, and the counts are of no use.
    pub fn finish(mut self) -> bool {
        if self.exceeded.load(Ordering::Relaxed) {
            return false;
        }
        for waiting in std::mem::take(&mut self.waiting).into_items() {
            let lists = waiting.lists.chunks(1 << self.waiting_log2);
            for (range, (list, len)) in lists.zip(waiting.lens).enumerate() {
                self.count(range, &list[..usize::from(len)]);
            }
        }
        true
    }

    /// Gives up, because an id is too large.
    pub fn exceed(&self) {
        self.exceeded.store(true, Ordering::Relaxed);
    }

    /// Counts the ends of edges; `largest` is the largest end.
    pub fn add<N: VertexNumber, W: Weight>(&self, edges: &[DenseEdge<N, W>], largest: N) {
        if self.exceeded.load(Ordering::Relaxed) {
            return;
        }
        // This looks at the largest end instead of at each.
        if largest.index() >> RANGE_LOG2 >= self.ranges.len() {
            return self.exceed();
        }
        let (ranges, log2) = (self.ranges.len(), self.waiting_log2);
        let new = || Waiting { lists: huge::zeroes(ranges << log2), lens: vec![0; ranges] };
        self.waiting.with(new, |waiting| {
            let mut wait = |id: u64, side| {
                let range = (id >> RANGE_LOG2) as usize;
                let (first, len) = (range << log2, &mut waiting.lens[range]);
                // The cast cuts off the range, and leaves the place in it.
                waiting.lists[first + usize::from(*len)] = (id << 1) as u16 | side;
                *len += 1;
                if *len >> log2 > 0 {
                    self.count(range, &waiting.lists[first..][..usize::from(*len)]);
                    *len = 0;
                }
            };
            for edge in edges {
                wait(source_of(edge), 0);
                if !self.undirected {
                    wait(target_of(edge), 1);
                }
            }
        });
    }

    /// Counts the ends that wait for one range.
    fn count(&self, range: usize, places: &[u16]) {
        if places.is_empty() {
            return;
        }
        let counts = &mut lock(&self.ranges[range])[..];
        for &place in places {
            let count = &mut counts[usize::from(place)];
            *count = count.wrapping_add(1);
            if *count == 0 {
                self.carry(((range * 2) << RANGE_LOG2) as u64 + u64::from(place));
            }
        }
    }

    #[cold]
    fn carry(&self, place: u64) {
        let carries = &mut *lock(self.carries);
        let carry = carries.entry(place).or_insert(0);
        // `summary` refuses so large a degree, whatever the exact number.
        *carry = carry.saturating_add(1);
    }
}

/// The degrees of the ids from 0 on. An id without any edge stands for no vertex.
pub(crate) enum DegreeTable {
    /// As counted in memory, without the in-degrees of an undirected graph.
    Counted { low: Vec<u16>, carries: Carries, undirected: bool },
    /// Out- and in-degree of each id in turn, possibly on disk.
    Rows(Filled<Degrees>),
}

impl DegreeTable {
    /// Visits the degrees by ascending id, a block at a time: its first id, and the degrees from
    /// there on.
    pub fn for_each(&self, visit: &mut dyn FnMut(u64, &[Degrees]) -> Result<()>) -> Result<()> {
        match self {
            DegreeTable::Counted { low, carries, undirected } => {
                let mut rows = Vec::new();
                for (low, first) in low.chunks(2 * RANGE_SIZE).zip((0u64..).step_by(RANGE_SIZE)) {
                    rows.clear();
                    rows.extend(low.as_chunks::<2>().0.iter().map(|row| row.map(u32::from)));
                    for (place, &carry) in carries.range(2 * first..2 * first + low.len() as u64) {
                        let local = (place - 2 * first) as usize;
                        let count = &mut rows[local / 2][local % 2];
                        // A count beyond 32 bits becomes the greatest one, which `summary` refuses.
                        *count = if carry >> 16 == 0 { carry << 16 | *count } else { u32::MAX };
                    }
                    if *undirected {
                        rows.iter_mut().for_each(|[out, into]| *into = *out);
                    }
                    visit(first, &rows)?;
                }
                Ok(())
            }
            DegreeTable::Rows(rows) => {
                let mut first = 0;
                rows.for_each(0, &mut |block| {
                    visit(first, block)?;
                    first += block.len() as u64;
                    Ok(())
                })
            }
        }
    }

    /// Returns the totals; refuses a degree that is too large to be counted.
    pub fn summary(&self) -> Result<DegreeSummary> {
        let mut summary = DegreeSummary { vertices: 0, edges: 0, id_end: 0 };
        self.for_each(&mut |first, block| {
            for (&[out, into], id) in block.iter().zip(first..) {
                if out == u32::MAX || into == u32::MAX {
                    let limit = u64::from(u32::MAX) - 1;
                    return Err(Error::limit("the degree of a vertex", limit + 1, limit));
                }
                if out | into != 0 {
                    summary.vertices += 1;
                    summary.edges += u64::from(into);
                    summary.id_end = id + 1;
                }
            }
            Ok(())
        })?;
        Ok(summary)
    }
}

/// Totals of a [`DegreeTable`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DegreeSummary {
    /// Ids with an edge.
    pub vertices: u64,
    /// Arcs.
    pub edges: u64,
    /// The largest id with an edge, plus one.
    pub id_end: u64,
}

#[cfg(test)]
mod tests {
    use tegula_machine::Error as MachineError;

    use super::*;
    use tegula_machine::threads::{Cancel, Workers};

    fn edges(count: u32, ids: u32) -> Vec<DenseEdge<u32, ()>> {
        let id = |number: u32| number.wrapping_mul(0x9e37_79b1).rotate_left(7) % ids;
        (0..count)
            .map(|number| DenseEdge { source: id(number), target: id(!number / 3), weight: () })
            .collect()
    }

    fn rows(table: &DegreeTable) -> Vec<Degrees> {
        let mut rows = Vec::new();
        table
            .for_each(&mut |first, block| {
                assert_eq!(first as usize, rows.len());
                rows.extend_from_slice(block);
                Ok(())
            })
            .unwrap();
        rows
    }

    #[test]
    fn degrees_are_those_of_a_plain_count() {
        let ids = 3 * RANGE_SIZE as u32 - 5;
        let edges = edges(200_000, ids);
        let mut counters = Counters::for_memory(1 << 20, 1 << 12, 1);
        let census = Census::new(&mut counters, ArcRule::default());
        let chunks: Vec<_> = edges.chunks(1000).collect();
        let add = |index: usize| {
            census.add(chunks[index], ids - 1);
            Ok::<_, Error>(())
        };
        Workers::scope(3, |workers| workers.for_each(chunks.len(), &Cancel::default(), &add))
            .unwrap();
        assert!(census.finish());
        let mut expected = vec![[0; 2]; ids as usize];
        for edge in &edges {
            expected[edge.source as usize][0] += 1;
            expected[edge.target as usize][1] += 1;
        }
        let table = counters.into_table(u64::from(ids), ArcRule::default());
        let mut found = vec![[7; 2]; ids as usize];
        table
            .for_each(&mut |first, block| {
                found[first as usize..][..block.len()].copy_from_slice(block);
                Ok(())
            })
            .unwrap();
        assert!(found == expected);
        let summary = table.summary().unwrap();
        assert_eq!(summary.edges, 200_000);
        assert_eq!(summary.vertices, expected.iter().filter(|row| **row != [0; 2]).count() as u64);
    }

    #[test]
    fn an_id_beyond_the_counters_exceeds_them() {
        let mut counters = Counters::for_memory(1, 1, 1);
        assert_eq!(counters.id_limit(), RANGE_SIZE as u64);
        let census = Census::new(&mut counters, ArcRule::default());
        let first = RANGE_SIZE as u32;
        census.add(&[DenseEdge { source: 1, target: first - 1, weight: () }], first - 1);
        assert!(census.finish());
        let census = Census::new(&mut counters, ArcRule::default());
        census.add(&[DenseEdge { source: 1, target: first, weight: () }], first);
        assert!(!census.finish());
    }

    #[test]
    fn a_degree_beyond_32_bits_is_refused() {
        let mut counters = Counters::for_memory(1, 1, 1);
        counters.set(&[0, 0, u32::MAX - 2]);
        let census = Census::new(&mut counters, ArcRule::default());
        let edge = DenseEdge { source: 1u32, target: 0, weight: () };
        census.add(&[edge], 1);
        assert!(census.finish());
        assert_eq!(rows(&counters.into_table(2, ArcRule::default())), [[0, 1], [u32::MAX - 1, 0]]);
        let mut counters = Counters::for_memory(1, 1, 1);
        counters.set(&[0, 0, u32::MAX - 2]);
        let census = Census::new(&mut counters, ArcRule::default());
        census.add(&[edge, edge, edge], 1);
        assert!(census.finish());
        assert!(matches!(
            counters.into_table(2, ArcRule::default()).summary(),
            Err(Error::Machine(MachineError::Limit { .. }))
        ));
    }

    #[test]
    fn in_degrees_of_an_undirected_graph_are_its_out_degrees() {
        let rule = ArcRule { undirected: true, ..ArcRule::default() };
        let mut counters = Counters::for_memory(1 << 20, 1 << 12, 1);
        let census = Census::new(&mut counters, rule);
        let arc = |source: u32, target| DenseEdge { source, target, weight: () };
        // An edge, a loop and a hub of more than 16 bits.
        census.add(&[arc(0, 1), arc(1, 0), arc(2, 2)], 2);
        let hub: Vec<_> = (0..70_000).flat_map(|_| [arc(3, 4), arc(4, 3)]).collect();
        census.add(&hub, 4);
        assert!(census.finish());
        let rows = rows(&counters.into_table(5, rule));
        assert_eq!(rows, [[1; 2], [1; 2], [1; 2], [70_000; 2], [70_000; 2]]);
    }

    #[test]
    fn large_degrees_are_carried_over() {
        let mut counters = Counters::for_memory(1 << 20, 1 << 12, 1);
        let census = Census::new(&mut counters, ArcRule::default());
        let hub = 3 * RANGE_SIZE as u32 - 1;
        let edges: Vec<_> =
            (0..70_000).map(|source| DenseEdge { source, target: hub, weight: () }).collect();
        (0..3).for_each(|_| census.add(&edges, hub));
        assert!(census.finish());
        let rows = rows(&counters.into_table(u64::from(hub) + 1, ArcRule::default()));
        assert_eq!(
            (rows[0], rows[69_999], rows[70_000], rows[hub as usize]),
            ([3, 0], [3, 0], [0, 0], [0, 210_000])
        );
    }
}
