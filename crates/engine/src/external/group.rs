//! The accumulators of a group of columns, over the scans of its segments.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Mutex;

use tegula_machine::threads::{get_mut, lock};
use tegula_store::graph::Graph;
use tegula_store::tiles::WINDOW_SIZE;

use crate::parts::{Part, Parts};
use crate::program::{Accumulator, Program};
use crate::superstep::accumulators::{Accumulators, ParkedAccumulators};
use crate::superstep::batch_array::accumulator_range;
use crate::superstep::ordered_merge::OrderedMerge;

/// The accumulators of the batches of a group of columns.
///
/// The reductions of a part wait here for the scan of the next segment. Parts are merged in the
/// order of their numbers, as soon as the last segment of each is done. So sums are the same as in
/// memory.
pub struct ColumnGroup<P: Program> {
    /// By batch of the graph; batches of other groups are empty.
    batches: Vec<Mutex<GroupBatch<P>>>,
    /// By part of the graph: the last segment that has tiles of the part.
    last_segments: Vec<u32>,
    idle: Mutex<Idle<P>>,
}

/// The reductions of the parts of a batch.
pub struct GroupBatch<P: Program> {
    /// Parts wait for further segments or for earlier parts.
    merge: OrderedMerge<P, ParkedPart<P>>,
    /// Parts that needed no tile at all.
    passed: Vec<usize>,
}

/// A waiting part.
struct ParkedPart<P: Program> {
    /// The segment of its last tiles so far.
    segment: u32,
    accumulators: ParkedAccumulators<P>,
}

/// Accumulators that no part uses at the moment, all identities, by their number of targets. There
/// are few such numbers, and a map would be compiled for each program.
type Idle<P> = Vec<(usize, Vec<Accumulators<P>>)>;

impl<P: Program> GroupBatch<P> {
    fn new() -> GroupBatch<P> {
        GroupBatch { merge: OrderedMerge::new(), passed: Vec::new() }
    }
}

impl<P: Program> ColumnGroup<P> {
    /// Makes a group without reductions.
    pub fn new(graph: &Graph, parts: &Parts) -> ColumnGroup<P> {
        let last_segment = |part: &Part| {
            let last = parts.groups[part.groups.clone()].last();
            last.map_or(0, |group| graph.cell_of(&graph.tiles()[group.tiles.start]).segment)
        };
        ColumnGroup {
            batches: graph.batches().iter().map(|_| Mutex::new(GroupBatch::new())).collect(),
            last_segments: parts.parts.iter().map(last_segment).collect(),
            idle: Mutex::default(),
        }
    }

    /// Returns the accumulators of a part with its reductions so far.
    pub fn take_up(&self, graph: &Graph, part: &Part) -> Accumulators<P> {
        let targets = accumulator_range(graph, &graph.batches()[part.batch]);
        let parked = lock(&self.batches[part.batch]).merge.take_waiting(part.number);
        match parked {
            Some(parked) => {
                parked.accumulators.resume(targets.clone(), || self.idle_for(targets.end))
            }
            None => self.idle_for(targets.end),
        }
    }

    /// Parks a part after its tiles from a segment, if it needed any, and merges the parts whose
    /// turn it is. `first_part` is the index of the first part of the batch.
    pub fn put_down(
        &self,
        graph: &Graph,
        part: &Part,
        first_part: usize,
        segment: u32,
        accumulators: Option<Accumulators<P>>,
    ) {
        let targets = accumulator_range(graph, &graph.batches()[part.batch]);
        let number = part.number;
        let parked = accumulators.map(|accumulators| {
            let (parked, idle) = accumulators.park(targets.clone());
            idle.into_iter().for_each(|idle| self.put_idle(idle));
            parked
        });
        let mut batch = lock(&self.batches[part.batch]);
        let GroupBatch { merge, passed } = &mut *batch;
        match parked {
            Some(accumulators) => merge.wait(number, ParkedPart { segment, accumulators }),
            None => match merge.waiting(number) {
                Some(parked) => parked.segment = segment,
                None if self.last_segments[first_part + number] == segment => {
                    passed.push(number);
                }
                None => {}
            },
        }
        // A batch of one part is drained when it is applied.
        while part.count > 1 && merge.next() < part.count {
            let number = merge.next();
            let last = self.last_segments[first_part + number];
            match merge.waiting(number) {
                Some(parked) if last < segment || parked.segment == last => {
                    self.merge_waiting(merge, number, &targets);
                }
                // The part needed none of its tiles, and no more will come.
                None if last < segment || passed.contains(&number) => merge.pass_over(),
                _ => break,
            }
        }
    }

    fn merge_waiting(
        &self,
        merge: &mut OrderedMerge<P, ParkedPart<P>>,
        number: usize,
        targets: &Range<usize>,
    ) {
        let Some(parked) = merge.take_waiting(number) else { return };
        let mut accumulators =
            parked.accumulators.resume(targets.clone(), || self.idle_for(targets.end));
        merge.merge(number, &mut accumulators, targets.clone());
        self.put_idle(accumulators);
    }

    /// Returns whether anything was reduced for a batch.
    pub fn has_reached(&self, batch: usize) -> bool {
        lock(&self.batches[batch]).merge.has_any()
    }

    /// Takes the reductions for the targets of a batch, if there are any.
    pub fn take(&self, graph: &Graph, batch: usize) -> Option<Vec<Accumulator<P>>> {
        let targets = accumulator_range(graph, &graph.batches()[batch]);
        let mut batch = lock(&self.batches[batch]);
        let GroupBatch { merge, passed } = &mut *batch;
        while let Some(number) = merge.first_waiting() {
            self.merge_waiting(merge, number, &targets);
        }
        passed.clear();
        merge.take()
    }

    /// Drops accumulators that the batches of the next group do not need, by size.
    pub fn trim(&mut self, graph: &Graph, batches: impl Iterator<Item = usize>, threads: usize) {
        // In small batches only the parts at work have accumulators.
        let mut wanted = BTreeMap::from([(WINDOW_SIZE, threads)]);
        let ranges = batches.map(|batch| accumulator_range(graph, &graph.batches()[batch]));
        for targets in ranges.filter(|targets| targets.len() >= WINDOW_SIZE) {
            *wanted.entry(Accumulators::<P>::room_for(targets.end)).or_default() += 1;
        }
        get_mut(&mut self.idle).retain_mut(|(room, idle)| {
            idle.truncate(wanted.get(room).copied().unwrap_or(0));
            !idle.is_empty()
        });
    }

    fn idle_for(&self, targets_end: usize) -> Accumulators<P> {
        let room = Accumulators::<P>::room_for(targets_end);
        let idle = idle_of(&mut lock(&self.idle), room).and_then(Vec::pop);
        idle.unwrap_or_else(|| {
            let mut accumulators = Accumulators::new();
            accumulators.reserve(targets_end);
            accumulators
        })
    }

    fn put_idle(&self, accumulators: Accumulators<P>) {
        let (mut idle, room) = (lock(&self.idle), accumulators.room());
        match idle_of(&mut idle, room) {
            Some(idle) => idle.push(accumulators),
            None => idle.push((room, vec![accumulators])),
        }
    }
}

fn idle_of<P: Program>(idle: &mut Idle<P>, room: usize) -> Option<&mut Vec<Accumulators<P>>> {
    idle.iter_mut().find(|(of, _)| *of == room).map(|(_, idle)| idle)
}
