//! The census of small integer ids: how often each is a source and a target.
//!
//! Counting straight into two large arrays would miss the cache twice an edge. So the ends of a
//! chunk's edges are first sorted by ranges of ids; then each range is counted under its lock, with
//! plain additions in 512 KiB of counters. A counter has 16 bits: few vertices need more, and theirs
//! are carried over to a map.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use tegula_machine::memory::huge;
use tegula_machine::threads::{Stash, lock, unlocked};
use tegula_machine::{Error, Result};
use tegula_store::VERTEX_COUNT_MAX;
use tegula_store::tiles::Edge;

use super::buckets::Filled;
use super::edge::Weight;

/// log2 of the ids in a range.
pub(super) const RANGE_LOG2: u32 = 17;
const RANGE_SIZE: usize = 1 << RANGE_LOG2;

/// Out-degree and in-degree of an id.
pub(super) type Degrees = [u32; 2];

/// Counts the ends of edges while ids are small enough for the memory at hand.
pub(super) struct Census<'a> {
    ranges: Vec<Mutex<&'a mut [u16]>>,
    carries: &'a Mutex<Carries>,
    exceeded: AtomicBool,
    scratch: Stash<Scratch>,
}

/// Sorts the ends of a chunk by range.
#[derive(Default)]
struct Scratch {
    starts: Vec<u32>,
    counters: Vec<u32>,
}

/// The counters of a census: out- and in-degree of each id in turn. Only what is counted takes memory.
pub(super) struct Counters {
    low: Vec<u16>,
    carries: Mutex<Carries>,
}

/// How often a counter, by its place, has passed 2^16. Each entry stands for 65,536 edges at least.
pub(super) type Carries = BTreeMap<u64, u32>;

impl Counters {
    /// Counters that take up to `memory` bytes.
    pub fn within(memory: u64) -> Counters {
        let ids = (memory / (2 * size_of::<u16>()) as u64).min(VERTEX_COUNT_MAX);
        let ranges = (ids >> RANGE_LOG2).max(1) as usize;
        Counters { low: huge::zeroes(ranges * 2 * RANGE_SIZE), carries: Mutex::default() }
    }

    /// The ids that can be counted are below this one.
    pub fn id_limit(&self) -> u64 {
        self.low.len() as u64 / 2
    }

    /// Counts as given, for tests of what comes after.
    #[cfg(test)]
    pub fn set(&mut self, counts: &[u32]) {
        for (place, &count) in counts.iter().enumerate() {
            self.low[place] = count as u16;
            if count >> 16 > 0 {
                lock(&self.carries).insert(place as u64, count >> 16);
            }
        }
    }

    /// The counts of the ids below `id_end`.
    pub fn into_table(mut self, id_end: u64) -> DegreeTable {
        self.low.truncate(2 * id_end as usize);
        let carries = unlocked(self.carries);
        DegreeTable::Counted { low: self.low, carries }
    }
}

impl<'a> Census<'a> {
    /// A census that counts in `counters`.
    pub fn new(counters: &'a mut Counters) -> Census<'a> {
        Census {
            ranges: counters.low.chunks_mut(2 * RANGE_SIZE).map(Mutex::new).collect(),
            carries: &counters.carries,
            exceeded: AtomicBool::new(false),
            scratch: Stash::default(),
        }
    }

    /// Whether an id was too large; the counts are of no use then.
    pub fn is_exceeded(&self) -> bool {
        self.exceeded.load(Ordering::Relaxed)
    }

    /// Gives up: an id is too large.
    pub fn exceed(&self) {
        self.exceeded.store(true, Ordering::Relaxed);
    }

    /// Counts the ends of edges, of which `largest` is the largest.
    pub fn add<W: Weight>(&self, edges: &[Edge<u32, u32, W>], largest: u32) {
        if self.is_exceeded() || edges.is_empty() {
            return;
        }
        if largest as usize >> RANGE_LOG2 >= self.ranges.len() {
            return self.exceed();
        }
        self.scratch.with(Scratch::default, |scratch| {
            scratch.sort(edges, (largest >> RANGE_LOG2) as usize + 1);
            let mut begin = 0;
            for (range, &end) in scratch.starts[..scratch.starts.len() - 1].iter().enumerate() {
                let counters = &scratch.counters[begin..end as usize];
                begin = end as usize;
                if !counters.is_empty() {
                    let counts = &mut lock(&self.ranges[range])[..];
                    for &counter in counters {
                        let count = &mut counts[counter as usize];
                        *count = count.wrapping_add(1);
                        if *count == 0 {
                            self.carry(((range * 2) << RANGE_LOG2) as u64 + u64::from(counter));
                        }
                    }
                }
            }
        });
    }

    #[cold]
    fn carry(&self, place: u64) {
        let carries = &mut *lock(self.carries);
        let carry = carries.entry(place).or_insert(0);
        *carry = carry.saturating_add(1);
    }
}

impl Scratch {
    /// Afterwards `starts[r]` is where the counters of range `r` end. A counter is the local id and,
    /// in its lowest bit, 1 for a target.
    fn sort<W: Weight>(&mut self, edges: &[Edge<u32, u32, W>], ranges: usize) {
        self.starts.clear();
        self.starts.resize(ranges + 1, 0);
        self.counters.resize((2 * edges.len()).max(self.counters.len()), 0);
        for edge in edges {
            self.starts[(edge.source >> RANGE_LOG2) as usize + 1] += 1;
            self.starts[(edge.target >> RANGE_LOG2) as usize + 1] += 1;
        }
        for range in 1..=ranges {
            self.starts[range] += self.starts[range - 1];
        }
        let local = RANGE_SIZE as u32 - 1;
        for edge in edges {
            for (id, side) in [(edge.source, 0), (edge.target, 1)] {
                let place = &mut self.starts[(id >> RANGE_LOG2) as usize];
                self.counters[*place as usize] = (id & local) << 1 | side;
                *place += 1;
            }
        }
    }
}

/// The degrees of ids `0..`, of which those without any edge stand for no vertex.
pub(super) enum DegreeTable {
    /// As they were counted in memory.
    Counted { low: Vec<u16>, carries: Carries },
    /// Out- and in-degree of each id in turn, perhaps on disk.
    Rows(Filled<Degrees>),
}

impl DegreeTable {
    /// Visits the degrees by ascending id: the first id of a block and the degrees from there on.
    pub fn for_each(&self, visit: &mut dyn FnMut(u32, &[Degrees]) -> Result<()>) -> Result<()> {
        match self {
            DegreeTable::Counted { low, carries } => {
                let mut rows = Vec::new();
                for (low, first) in low.chunks(2 * RANGE_SIZE).zip((0u64..).step_by(RANGE_SIZE)) {
                    rows.clear();
                    rows.extend(low.as_chunks::<2>().0.iter().map(|row| row.map(u32::from)));
                    for (place, &carry) in carries.range(2 * first..2 * first + low.len() as u64) {
                        let local = (place - 2 * first) as usize;
                        let count = &mut rows[local / 2][local % 2];
                        *count = if carry >> 16 == 0 { carry << 16 | *count } else { u32::MAX };
                    }
                    visit(first as u32, &rows)?;
                }
                Ok(())
            }
            DegreeTable::Rows(rows) => {
                let mut first = 0;
                rows.for_each(0, &mut |block| {
                    visit(first, block)?;
                    first += block.len() as u32;
                    Ok(())
                })
            }
        }
    }

    /// What there is in all; refuses a degree that is too large to be counted.
    pub fn summary(&self) -> Result<DegreeSummary> {
        let mut summary = DegreeSummary { vertices: 0, edges: 0, id_end: 0 };
        self.for_each(&mut |first, block| {
            for (&[out, into], id) in block.iter().zip(u64::from(first)..) {
                if out == u32::MAX || into == u32::MAX {
                    let limit = u64::from(u32::MAX) - 1;
                    return Err(Error::Limit {
                        what: "the degree of a vertex",
                        found: limit + 1,
                        limit,
                    });
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
pub(super) struct DegreeSummary {
    /// Ids with an edge.
    pub vertices: u64,
    /// Arcs.
    pub edges: u64,
    /// The largest id with an edge, and one.
    pub id_end: u64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use tegula_machine::threads::{Cancel, Workers};

    fn edges(count: u32, ids: u32) -> Vec<Edge<u32, u32, ()>> {
        let id = |number: u32| number.wrapping_mul(0x9e37_79b1).rotate_left(7) % ids;
        (0..count)
            .map(|number| Edge { source: id(number), target: id(!number / 3), weight: () })
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
        let mut counters = Counters::within(4 * u64::from(ids) + (4 << RANGE_LOG2));
        let census = Census::new(&mut counters);
        let chunks: Vec<_> = edges.chunks(1000).collect();
        let add = |index: usize| {
            census.add(chunks[index], ids - 1);
            Ok(())
        };
        Workers::scope(3, |workers| workers.for_each(chunks.len(), &Cancel::default(), &add))
            .unwrap();
        assert!(!census.is_exceeded());
        let mut expected = vec![[0; 2]; ids as usize];
        for edge in &edges {
            expected[edge.source as usize][0] += 1;
            expected[edge.target as usize][1] += 1;
        }
        let table = counters.into_table(u64::from(ids));
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
        let mut counters = Counters::within(1);
        assert_eq!(counters.id_limit(), RANGE_SIZE as u64);
        let census = Census::new(&mut counters);
        census.add(
            &[Edge { source: 1, target: RANGE_SIZE as u32 - 1, weight: () }],
            RANGE_SIZE as u32 - 1,
        );
        assert!(!census.is_exceeded());
        census.add(&[Edge { source: 1, target: RANGE_SIZE as u32, weight: () }], RANGE_SIZE as u32);
        assert!(census.is_exceeded());
    }

    #[test]
    fn a_degree_beyond_32_bits_is_refused() {
        let mut counters = Counters::within(1);
        counters.set(&[0, 0, u32::MAX - 2]);
        let census = Census::new(&mut counters);
        let edge = Edge { source: 1, target: 0, weight: () };
        census.add(&[edge], 1);
        assert_eq!(rows(&counters.into_table(2)), [[0, 1], [u32::MAX - 1, 0]]);
        let mut counters = Counters::within(1);
        counters.set(&[0, 0, u32::MAX - 2]);
        Census::new(&mut counters).add(&[edge, edge, edge], 1);
        assert!(matches!(counters.into_table(2).summary(), Err(Error::Limit { .. })));
    }

    #[test]
    fn large_degrees_are_carried_over() {
        let mut counters = Counters::within(2 << RANGE_LOG2);
        let census = Census::new(&mut counters);
        let hub = RANGE_SIZE as u32 - 1;
        let edges: Vec<_> =
            (0..70_000).map(|source| Edge { source, target: hub, weight: () }).collect();
        (0..3).for_each(|_| census.add(&edges, hub));
        let rows = rows(&counters.into_table(u64::from(hub) + 1));
        assert_eq!(
            (rows[0], rows[69_999], rows[70_000], rows[hub as usize]),
            ([3, 0], [3, 0], [0, 0], [0, 210_000])
        );
    }
}
