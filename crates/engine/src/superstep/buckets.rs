//! Nearest first: active vertices whose turn has not come.

use std::collections::BTreeMap;

use tegula_store::ShortId;

use crate::program::Program;

/// Active vertices that wait for the turn of their [bucket](Program::bucket).
#[derive(Debug, Default)]
pub struct Buckets {
    /// By bucket. A vertex may have outdated entries in later buckets, too.
    waiting: BTreeMap<u64, Vec<ShortId>>,
    /// The number of entries in `waiting`.
    waiting_count: usize,
    /// The bucket whose turn it is.
    current: u64,
    /// The last bucket whose messages were all sent, while messages to later ones are held back.
    pub horizon: Option<u64>,
}

impl Buckets {
    /// Most bytes per vertex: an id in 1.25 entries.
    pub const SIZE_PER_VERTEX: u64 = 5;

    /// Returns all waiting vertices, and some that had their turn.
    pub fn all_waiting(&self) -> impl Iterator<Item = ShortId> + '_ {
        self.waiting.values().flatten().copied()
    }

    /// Begins with the active vertices in `list` and returns those whose turn it is.
    pub fn begin<P: Program>(
        &mut self,
        list: Vec<ShortId>,
        program: &P,
        states: &[P::State],
    ) -> Vec<ShortId> {
        if P::HAS_BUCKETS {
            let bucket_of = |vertex: &ShortId| program.bucket(&states[vertex.index()]);
            self.current = list.iter().map(bucket_of).min().unwrap_or(self.current);
        }
        self.put_off(list, program, states)
    }

    /// Returns the vertices of the next bucket that has any, and makes it the current one; `None`
    /// if it is after `last`.
    pub fn take_next<P: Program>(
        &mut self,
        last: u64,
        program: &P,
        states: &[P::State],
    ) -> Option<Vec<ShortId>> {
        while let Some(entry) = self.waiting.first_entry()
            && *entry.key() <= last
        {
            let (bucket, mut list) = entry.remove_entry();
            self.waiting_count -= list.len();
            // Vertices that have moved to a nearer bucket since had their turn there.
            list.retain(|vertex| program.bucket(&states[vertex.index()]) == bucket);
            if !list.is_empty() {
                // A vertex that came nearer within the bucket has several entries.
                list.sort_unstable();
                list.dedup();
                self.current = bucket;
                return Some(list);
            }
        }
        None
    }

    /// Returns the bucket whose turn it is.
    pub fn current(&self) -> u64 {
        self.current
    }

    /// Returns the next bucket that has vertices. Drops the buckets before it whose vertices all
    /// had their turn elsewhere.
    pub fn next<P: Program>(&mut self, program: &P, states: &[P::State]) -> Option<u64> {
        while let Some(entry) = self.waiting.first_entry() {
            let bucket = *entry.key();
            let is_current = |vertex: &ShortId| program.bucket(&states[vertex.index()]) == bucket;
            if entry.get().iter().any(is_current) {
                return Some(bucket);
            }
            self.waiting_count -= entry.remove().len();
        }
        None
    }

    /// Puts off the vertices of later buckets and returns the others.
    pub fn put_off<P: Program>(
        &mut self,
        mut list: Vec<ShortId>,
        program: &P,
        states: &[P::State],
    ) -> Vec<ShortId> {
        if !P::HAS_BUCKETS {
            return list;
        }
        list.retain(|&vertex| {
            let bucket = program.bucket(&states[vertex.index()]);
            if bucket > self.current {
                self.waiting.entry(bucket).or_default().push(vertex);
                self.waiting_count += 1;
            }
            bucket <= self.current
        });
        // At most one entry of a vertex is up to date, so at least a fifth of the entries go.
        if self.waiting_count > states.len() + states.len() / 4 {
            self.drop_outdated(program, states);
        }
        list
    }

    /// Keeps one entry of each waiting vertex, in its bucket.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::{Min, Relaxation};

    /// Puts a vertex into the bucket of its number.
    struct Numbered;

    impl Relaxation for Numbered {
        type Reduction = Min<u32>;
        type Weight = ();

        const HAS_BUCKETS: bool = true;

        fn start(&self, _: tegula_store::VertexId) -> Option<u32> {
            None
        }

        fn bucket(&self, number: &u32) -> u64 {
            u64::from(*number)
        }
    }

    #[test]
    fn a_bucket_that_all_vertices_have_left_is_skipped() {
        let [nearest, middle, farthest] = [0, 1, 2].map(ShortId);
        let mut buckets = Buckets::default();
        let mut states = [0, 5, 7];
        let list = vec![nearest, middle, farthest];
        assert_eq!(buckets.begin(list, &Numbered, &states), [nearest]);
        assert_eq!(buckets.next(&Numbered, &states), Some(5));
        states[1] = 0;
        assert_eq!(buckets.next(&Numbered, &states), Some(7));
        assert_eq!(buckets.take_next(6, &Numbered, &states), None);
        assert_eq!(buckets.take_next(7, &Numbered, &states), Some(vec![farthest]));
        assert_eq!((buckets.next(&Numbered, &states), buckets.waiting_count), (None, 0));
    }
}
