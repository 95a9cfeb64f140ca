//! Nearest first: active vertices whose turn has not come.

use std::collections::BTreeMap;

use tegula_store::VertexId;

use super::frontier::Frontier;
use crate::program::Program;

/// Active vertices that wait for the turn of their [bucket](Program::bucket).
#[derive(Debug, Default)]
pub struct Buckets {
    /// By bucket; a vertex may be in later buckets than its own, too.
    waiting: BTreeMap<u64, Vec<VertexId>>,
    /// How many entries that has.
    waiting_count: usize,
    /// The bucket whose turn it is.
    current: u64,
}

impl Buckets {
    /// Bytes for each vertex, at the most: an id in 1.25 entries.
    pub const SIZE_PER_VERTEX: u64 = 5;

    /// Begins with the active vertices in `list`, ascending; returns those whose turn it is.
    pub fn begin<P: Program>(
        &mut self,
        list: Vec<VertexId>,
        program: &P,
        states: &[P::State],
    ) -> Vec<VertexId> {
        let bucket_of = |vertex: &VertexId| program.bucket(&states[vertex.index()]);
        self.current = list.iter().map(bucket_of).min().unwrap_or(self.current);
        self.put_off(list, program, states)
    }

    /// It becomes the turn of the vertices of the next bucket that has any. Where there is none, the frontier
    /// stays as it is.
    pub fn take_next<P: Program>(
        &mut self,
        frontier: &mut Frontier,
        program: &P,
        states: &[P::State],
    ) {
        while frontier.count() == 0
            && let Some((bucket, mut list)) = self.waiting.pop_first()
        {
            self.waiting_count -= list.len();
            // Those that have come nearer since had their turn in an earlier bucket.
            list.retain(|vertex| program.bucket(&states[vertex.index()]) == bucket);
            list.sort_unstable();
            list.dedup();
            self.current = bucket;
            *frontier = Frontier::List(list);
        }
    }

    /// Puts off the vertices of later buckets; returns the others.
    pub fn put_off<P: Program>(
        &mut self,
        mut list: Vec<VertexId>,
        program: &P,
        states: &[P::State],
    ) -> Vec<VertexId> {
        list.retain(|&vertex| {
            let bucket = program.bucket(&states[vertex.index()]);
            if bucket > self.current {
                self.waiting.entry(bucket).or_default().push(vertex);
                self.waiting_count += 1;
            }
            bucket <= self.current
        });
        // At the most one entry of a vertex is up to date, so that a fifth of them goes at the least.
        if self.waiting_count > states.len() + states.len() / 4 {
            self.drop_outdated(program, states);
        }
        list
    }

    /// Keeps one entry of each vertex that waits, in its bucket.
    fn drop_outdated<P: Program>(&mut self, program: &P, states: &[P::State]) {
        self.waiting.retain(|&bucket, list| {
            list.retain(|vertex| program.bucket(&states[vertex.index()]) == bucket);
            list.sort_unstable();
            list.dedup();
            list.shrink_to_fit();
            !list.is_empty()
        });
        self.waiting_count = self.waiting.values().map(Vec::len).sum();
    }
}
