//! The census of small integer ids: how often each is a source and a target.
//!
//! Counting straight into two large arrays would miss the cache twice an edge. So the ends of a
//! chunk's edges are first sorted by ranges of ids; then each range is counted under its lock, with
//! plain additions in 1 MiB of counters. Ranges without ids cost nothing.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use super::buckets::Filled;
use super::edge::{Edge, Weight};
use super::workers::{Stash, lock};
use crate::error::{Error, Result};
use crate::ids::VERTEX_COUNT_MAX;

/// log2 of the ids in a range.
pub(super) const RANGE_LOG2: u32 = 17;
const RANGE_SIZE: usize = 1 << RANGE_LOG2;

/// Out-degree and in-degree of an id.
pub(super) type Degrees = [u32; 2];

/// Counts the ends of edges while ids are small enough for the memory at hand.
pub(super) struct Census {
    ranges: Vec<Mutex<Vec<u32>>>,
    exceeded: AtomicBool,
    scratch: Stash<Scratch>,
}

/// Sorts the ends of a chunk by range.
#[derive(Default)]
struct Scratch {
    starts: Vec<u32>,
    counters: Vec<u32>,
}

impl Census {
    /// A census whose counters take up to `memory` bytes.
    pub fn within(memory: u64) -> Census {
        let ids = (memory / size_of::<Degrees>() as u64).min(VERTEX_COUNT_MAX);
        let ranges = (ids >> RANGE_LOG2).max(1) as usize;
        Census {
            ranges: std::iter::repeat_with(Mutex::default).take(ranges).collect(),
            exceeded: AtomicBool::new(false),
            scratch: Stash::default(),
        }
    }

    /// The ids that can be counted are below this one.
    pub fn id_limit(&self) -> u64 {
        (self.ranges.len() as u64) << RANGE_LOG2
    }

    /// Whether an id was too large; the counts are of no use then.
    pub fn is_exceeded(&self) -> bool {
        self.exceeded.load(Ordering::Relaxed)
    }

    /// Gives up: an id does not even fit the edges' type.
    pub fn exceed(&self) {
        self.exceeded.store(true, Ordering::Relaxed);
    }

    /// Counts the ends of edges.
    pub fn add<W: Weight>(&self, edges: &[Edge<u32, u32, W>]) {
        if self.is_exceeded() || edges.is_empty() {
            return;
        }
        let largest = edges.iter().map(|edge| edge.source | edge.target).fold(0, |a, b| a | b);
        let largest = if u64::from(largest) < self.id_limit() {
            largest
        } else {
            edges.iter().map(|edge| { edge.source }.max(edge.target)).max().unwrap_or(0)
        };
        if u64::from(largest) >= self.id_limit() {
            return self.exceed();
        }
        self.scratch.with(Scratch::default, |scratch| {
            scratch.sort(edges, (largest >> RANGE_LOG2) as usize + 1);
            let mut begin = 0;
            for (range, &end) in scratch.starts[..scratch.starts.len() - 1].iter().enumerate() {
                let counters = &scratch.counters[begin..end as usize];
                begin = end as usize;
                if !counters.is_empty() {
                    count(&mut lock(&self.ranges[range]), counters);
                }
            }
        });
    }

    /// The counts.
    pub fn finish(self) -> DegreeTable {
        let ranges = self.ranges.into_iter();
        let ranges = ranges.map(|range| range.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()));
        let mut ranges: Vec<Vec<u32>> = ranges.collect();
        while ranges.last().is_some_and(Vec::is_empty) {
            ranges.pop();
        }
        DegreeTable::Ranges(ranges)
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

fn count(range: &mut Vec<u32>, counters: &[u32]) {
    if range.is_empty() {
        *range = vec![0; 2 * RANGE_SIZE];
    }
    for &counter in counters {
        let count = &mut range[counter as usize];
        *count = count.saturating_add(1);
    }
}

/// The degrees of ids `0..`, of which those without any edge stand for no vertex.
pub(super) enum DegreeTable {
    /// Ranges of [`RANGE_SIZE`] ids, out- and in-degrees by turns; a range without edges is empty.
    Ranges(Vec<Vec<u32>>),
    /// Out- and in-degree of each id in turn, perhaps on disk.
    Rows(Filled<Degrees>),
}

impl DegreeTable {
    /// Visits the degrees by ascending id: the first id of a block and the degrees from there on.
    pub fn for_each(&self, visit: &mut dyn FnMut(u32, &[Degrees]) -> Result<()>) -> Result<()> {
        match self {
            DegreeTable::Ranges(ranges) => {
                let full = ranges.iter().enumerate().filter(|(_, range)| !range.is_empty());
                full.into_iter().try_for_each(|(index, range)| {
                    visit((index << RANGE_LOG2) as u32, range.as_chunks::<2>().0)
                })
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
                    return Err(Error::Limit { what: "the degree of a vertex", found: limit + 1, limit });
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
