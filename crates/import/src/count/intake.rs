//! The first pass: reads the input once, counts what it can, and keeps the edges unless the input
//! is as quick to read again.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use tegula_machine::threads::{Stash, lock, unlocked};
use tegula_store::tiles::Edge;
use tegula_store::{Error, Result};

use super::both_ways::BothWays;
use super::census::{Census, Counters, DegreeTable};
use super::names::NameCollector;
use crate::combine::Combine;
use crate::edge::{Key, Weight};
use crate::import_run::ImportRun;
use crate::input::{EdgeChunk, Ends, IdKind, Input, LineNotes, Noted, VertexSet};
use crate::parallel_sort::sort;
use crate::piles::{Filled, Piles};
use crate::shares;
use crate::source::{EdgeSource, SpoolWriter, changed};

/// Counts of the first pass.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct ArcCounts {
    /// Arcs that are kept.
    pub arcs: u64,
    /// Loops among these arcs.
    pub loops: u64,
    /// Loops of the input that were left out.
    pub dropped_loops: u64,
    /// Arcs left out because they repeat the ends of another one.
    pub dropped_duplicates: u64,
    /// The share of the edges that stand both ways, where each edge becomes two arcs.
    pub both_ways_share: Option<f64>,
}

/// What is known after the first pass.
pub(crate) struct Intake<'a, W> {
    /// The arcs, which can be visited again.
    pub edges: EdgeSource<'a, W>,
    /// The number of arcs of each kind.
    pub counts: ArcCounts,
    /// The largest integer id, if there is an edge.
    pub largest_id: Option<u64>,
    /// The degrees by id, where the ids are integers small enough for the counters.
    pub degrees: Option<DegreeTable>,
    /// A sample of the keys, evenly spread over the edges, where the ids are other integers.
    pub samples: Vec<u64>,
    /// Lines of the input that a user should know about.
    pub line_notes: LineNotes,
    /// The names of the vertices, where the ids are strings.
    pub names: Option<NameCollector>,
}

/// Passes whose edges may lie on disk beside the edges that were read: between id positions,
/// by source, and in bins.
const LATER_PASSES: u64 = 3;

impl<W> Intake<'_, W> {
    /// Returns the most bytes that edges take in temporary files.
    pub fn room_needed(&self, run: &ImportRun<'_>) -> u64 {
        let width = |is_wide| if is_wide { size_of::<u64>() } else { size_of::<u32>() };
        let read = match (&self.edges, &self.names) {
            // No edge of an input that is read again is kept.
            (EdgeSource::Input(_), _) => 0,
            (EdgeSource::Spool(_), Some(_)) => size_of::<u128>(),
            (EdgeSource::Spool(_), None) => width(run.is_wide(self.id_end())),
        };
        // An arc has two ends, so no more vertices than that have an edge.
        let later = width(run.is_wide(2 * self.counts.arcs));
        let of_keys = |key: usize| (2 * key + size_of::<W>()) as u64;
        self.counts.arcs * (of_keys(read) + LATER_PASSES * of_keys(later))
    }

    /// Returns the largest integer id plus one.
    pub fn id_end(&self) -> u64 {
        self.largest_id.map_or(0, |largest| largest.saturating_add(1))
    }
}

/// Edges between two samples.
const EDGES_PER_SAMPLE: usize = 2048;

/// Reads the input. Where vertices are `listed`, edges add no others.
pub(crate) fn read<'a, W: Weight>(
    run: &ImportRun<'_>,
    input: &'a Input,
    listed: Option<&VertexSet>,
    drop_duplicates: Option<Combine>,
) -> Result<Intake<'a, W>> {
    let strings = input.ids() == IdKind::String;
    // Arcs without their duplicates are in no file, so they are always kept.
    let is_read_again = input.is_quick_to_reread() && drop_duplicates.is_none();
    let mut counters = match strings || listed.is_some() {
        // Such ids are not counted, so the counters take the least memory.
        true => Counters::for_memory(0, 0, 1),
        false => Counters::for_shares(run, shares::COUNTERS, shares::COUNTS_WAITING),
    };
    let reading = Reading {
        run,
        census: Census::new(&mut counters, run.rule),
        largest: AtomicU64::new(0),
        spool: (!is_read_again).then(|| SpoolWriter::new(run, shares::SPOOL)),
        names: if strings { Some(NameCollector::new(run)) } else { None },
        are_listed: listed.is_some(),
        samples: Mutex::new(Vec::new()),
        arc_count: AtomicU64::new(0),
        loops: AtomicU64::new(0),
        dropped_loops: AtomicU64::new(0),
        both_ways: run.rule.undirected.then(BothWays::new),
        narrow: Stash::default(),
        wide: Stash::default(),
        hashed: Stash::default(),
    };
    let listed_comments = match (listed, &reading.names) {
        (Some(listed), Some(names)) => {
            listed.for_each_name(run.cancel, &mut |name| names.add_all([name].into_iter()))?
        }
        _ => Noted::default(),
    };
    let mut dropped = 0;
    let line_notes = match (drop_duplicates, strings) {
        (None, _) => input.read(run.progress, run.cancel, &|chunk| reading.take(&chunk))?,
        (Some(combine), false) => {
            let (arcs, line_notes) = Scattered::<u64, W>::read(&reading, input)?;
            dropped = arcs.distinct(run, combine, &|arcs| reading.take_as_narrow_as_fits(arcs))?;
            line_notes
        }
        (Some(combine), true) => {
            let (arcs, line_notes) = Scattered::<u128, W>::read(&reading, input)?;
            dropped = arcs.distinct(run, combine, &|arcs| reading.take_hashed(arcs))?;
            line_notes
        }
    };
    let (mut intake, is_counted) = reading.finish(input, dropped)?;
    intake.line_notes = LineNotes { listed_comments, ..line_notes };
    if is_counted && !strings && listed.is_none() {
        intake.degrees = Some(counters.into_table(intake.id_end(), run.rule));
    }
    Ok(intake)
}

/// Takes in chunks from several readers in parallel.
struct Reading<'r, W> {
    run: &'r ImportRun<'r>,
    census: Census<'r>,
    largest: AtomicU64,
    spool: Option<SpoolWriter<W>>,
    names: Option<NameCollector>,
    /// Whether the vertices are listed, so that edges add no others.
    are_listed: bool,
    samples: Mutex<Vec<u64>>,
    arc_count: AtomicU64,
    loops: AtomicU64,
    dropped_loops: AtomicU64,
    /// A sample of the edges, where each becomes two arcs.
    both_ways: Option<BothWays>,
    narrow: Stash<Vec<Edge<u32, u32, W>>>,
    wide: Stash<Vec<Edge<u64, u64, W>>>,
    hashed: Stash<Vec<Edge<u128, u128, W>>>,
}

impl<W: Weight> Reading<'_, W> {
    /// Takes in a chunk from a reader.
    fn take(&self, chunk: &EdgeChunk<'_>) -> Result<()> {
        if let Ends::Strings { .. } = chunk.ends {
            self.names(chunk)?;
            return self
                .hashed
                .with(Vec::new, |space| self.arcs(chunk, space, &|arcs| self.take_hashed(arcs)));
        }
        // Nearly all chunks fit 32-bit keys. A chunk that does not is taken in again, with wider
        // keys.
        let narrow = self.narrow.with(Vec::new, |space| {
            let arcs = self.made_of(chunk, space)?;
            Some(self.take_narrow(arcs))
        });
        narrow.unwrap_or_else(|| {
            self.wide.with(Vec::new, |space| self.arcs(chunk, space, &|arcs| self.take_wide(arcs)))
        })
    }

    /// Passes on the arcs of a chunk whose keys are known to fit.
    fn arcs<K: Key>(
        &self,
        chunk: &EdgeChunk<'_>,
        space: &mut Vec<Edge<K, K, W>>,
        take: &dyn Fn(&[Edge<K, K, W>]) -> Result<()>,
    ) -> Result<()> {
        take(self.made_of(chunk, space).ok_or_else(changed)?)
    }

    /// Returns the arcs of a chunk, or `None` where a key does not fit. Counts dropped loops, and
    /// samples which edges stand both ways.
    fn made_of<'a, K: Key>(
        &self,
        chunk: &EdgeChunk<'a>,
        space: &'a mut Vec<Edge<K, K, W>>,
    ) -> Option<&'a [Edge<K, K, W>]> {
        // A chunk with a key that does not fit must end here, before it is counted: it comes again.
        let (arcs, dropped) = self.run.rule.apply(chunk, space)?;
        self.dropped_loops.fetch_add(dropped, Ordering::Relaxed);
        if let Some(both_ways) = &self.both_ways {
            both_ways.look_at(arcs);
        }
        Some(arcs)
    }

    fn count<K: Key>(&self, arcs: &[Edge<K, K, W>]) {
        // The braces copy: edges are packed, so a reference to a field may not be aligned.
        let loops = arcs.iter().filter(|arc| { arc.source } == { arc.target }).count();
        self.loops.fetch_add(loops as u64, Ordering::Relaxed);
        self.arc_count.fetch_add(arcs.len() as u64, Ordering::Relaxed);
    }

    fn names(&self, chunk: &EdgeChunk<'_>) -> Result<()> {
        match &self.names {
            Some(names) if !self.are_listed => names.add(chunk, self.run.rule),
            _ => Ok(()),
        }
    }

    fn take_narrow(&self, arcs: &[Edge<u32, u32, W>]) -> Result<()> {
        self.count(arcs);
        self.sample(arcs.iter().map(|arc| u64::from(arc.source)), arcs.len());
        self.sample(arcs.iter().map(|arc| u64::from(arc.target)), arcs.len());
        let largest = arcs.iter().fold(0, |most, arc| arc.source.max(arc.target).max(most));
        self.largest.fetch_max(u64::from(largest), Ordering::Relaxed);
        self.census.add(arcs, largest);
        self.spool.as_ref().map_or(Ok(()), |spool| spool.push(arcs))
    }

    /// Takes in arcs whose keys may need more than 32 bits.
    fn take_as_narrow_as_fits(&self, arcs: &[Edge<u64, u64, W>]) -> Result<()> {
        let narrow = self.narrow.with(Vec::new, |narrow| {
            narrow.clear();
            for &Edge { source, target, weight } in arcs {
                let (source, target) = (u32::try_from(source).ok()?, u32::try_from(target).ok()?);
                narrow.push(Edge { source, target, weight });
            }
            Some(self.take_narrow(narrow))
        });
        narrow.unwrap_or_else(|| self.take_wide(arcs))
    }

    /// Takes in arcs with a key that needs more than 32 bits.
    fn take_wide(&self, arcs: &[Edge<u64, u64, W>]) -> Result<()> {
        self.count(arcs);
        self.sample(arcs.iter().map(|arc| arc.source), arcs.len());
        self.sample(arcs.iter().map(|arc| arc.target), arcs.len());
        let largest = arcs.iter().fold(0, |most, arc| { arc.source }.max(arc.target).max(most));
        self.largest.fetch_max(largest, Ordering::Relaxed);
        // No census has counters for an id of more than 32 bits.
        self.census.exceed();
        self.spool.as_ref().map_or(Ok(()), |spool| spool.push(arcs))
    }

    fn take_hashed(&self, arcs: &[Edge<u128, u128, W>]) -> Result<()> {
        self.count(arcs);
        self.spool.as_ref().map_or(Ok(()), |spool| spool.push(arcs))
    }

    fn sample(&self, keys: impl Iterator<Item = u64>, count: usize) {
        // Samples come from the middle of each stretch, since chunks are often sorted.
        let first = (EDGES_PER_SAMPLE / 2).min(count.saturating_sub(1));
        lock(&self.samples).extend(keys.skip(first).step_by(EDGES_PER_SAMPLE));
    }

    /// Returns what was taken in, without degrees, and whether these are counted.
    fn finish(self, input: &Input, dropped: u64) -> Result<(Intake<'_, W>, bool)> {
        let edges = match self.spool {
            Some(spool) => EdgeSource::Spool(Box::new(spool.close()?)),
            None => EdgeSource::Input(input),
        };
        let arcs = self.arc_count.into_inner();
        let intake = Intake {
            edges,
            counts: ArcCounts {
                arcs,
                loops: self.loops.into_inner(),
                dropped_loops: self.dropped_loops.into_inner(),
                dropped_duplicates: dropped,
                both_ways_share: self.both_ways.and_then(BothWays::share),
            },
            largest_id: (arcs > 0).then_some(self.largest.into_inner()),
            degrees: None,
            line_notes: LineNotes::default(),
            samples: unlocked(self.samples),
            names: self.names,
        };
        Ok((intake, self.census.finish()))
    }
}

/// Arcs scattered so that equal ones meet in one pile.
struct Scattered<K, W>(Filled<Edge<K, K, W>>);

impl<K: Key, W: Weight> Scattered<K, W> {
    /// Reads the input and scatters its arcs.
    fn read(reading: &Reading<'_, W>, input: &Input) -> Result<(Scattered<K, W>, LineNotes)> {
        let run = reading.run;
        let space = run.space(run.share(shares::ARCS));
        // A pile is sorted in memory; the size of the input tells how many piles that takes.
        let edges = input.total_bytes().map_or(1 << 32, |bytes| bytes.max(1 << 20));
        let bytes = edges * size_of::<Edge<K, K, W>>() as u64;
        let wanted = bytes / run.share(shares::ARCS_SORTED).max(1);
        let count = (wanted as usize).clamp(4, space.piles_max());
        let piles: Piles<Edge<K, K, W>> = Piles::new(count, space);
        let kept = Stash::default();
        let line_notes = input.read(run.progress, run.cancel, &|chunk| {
            reading.names(&chunk)?;
            kept.with(Vec::new, |space| {
                reading.arcs(&chunk, space, &|arcs: &[Edge<K, K, W>]| {
                    piles.write(|writer| {
                        arcs.iter().try_for_each(|&arc| {
                            writer.push(pile_of(arc.source, arc.target, count), arc)
                        })
                    })
                })
            })
        })?;
        Ok((Scattered(piles.close()?), line_notes))
    }

    /// Passes on one arc for each pair of ends, with the weights combined. Returns how many arcs
    /// were left out.
    fn distinct(
        mut self,
        run: &ImportRun<'_>,
        combine: Combine,
        take: &(dyn Fn(&[Edge<K, K, W>]) -> Result<()> + Sync),
    ) -> Result<u64> {
        let mut dropped = 0;
        for pile in 0..self.0.count() {
            let distinct = distinct_of(run, combine, &self.0, pile)?;
            dropped += self.0.len(pile) - distinct.len() as u64;
            // What is passed on takes memory elsewhere, so the pile goes first.
            self.0.clear(pile);
            let chunks: Vec<_> = distinct.chunks(1 << 14).collect();
            run.workers.for_each(chunks.len(), run.cancel, &|index| take(chunks[index]))?;
        }
        Ok(dropped)
    }
}

/// Returns the distinct arcs of a pile. Whenever the arcs read so far exceed the share, repeats
/// are thrown out, so that one arc given a million times needs no room. Sums are an exception: a
/// sum of sums would be rounded more than once.
fn distinct_of<K: Key, W: Weight>(
    run: &ImportRun<'_>,
    combine: Combine,
    piles: &Filled<Edge<K, K, W>>,
    pile: usize,
) -> Result<Vec<Edge<K, K, W>>> {
    let share = run.share(shares::ARCS_SORTED) as usize / size_of::<Edge<K, K, W>>();
    let mut arcs: Vec<Edge<K, K, W>> = Vec::with_capacity(share.min(piles.len(pile) as usize));
    piles.for_each(pile, &mut |part| {
        if arcs.len() + part.len() > share {
            if combine != Combine::Sum {
                keep_distinct(run, combine, &mut arcs)?;
            }
            if arcs.len() + part.len() > share {
                let bytes = piles.len(pile) * size_of::<Edge<K, K, W>>() as u64;
                let needed = shares::ARCS_SORTED.whole_of(bytes);
                let what = format!("finding the duplicates of {} edges", piles.len(pile));
                return Err(Error::over_budget(what, needed, run.memory));
            }
        }
        arcs.extend_from_slice(part);
        Ok(())
    })?;
    keep_distinct(run, combine, &mut arcs)?;
    Ok(arcs)
}

fn keep_distinct<K: Key, W: Weight>(
    run: &ImportRun<'_>,
    combine: Combine,
    arcs: &mut Vec<Edge<K, K, W>>,
) -> Result<()> {
    sort(run, arcs, &|a, b| {
        let ends = |arc: &Edge<K, K, W>| ({ arc.target }, { arc.source });
        // By weight, too: the least one then stands first, and sums are added in one order.
        ends(a).cmp(&ends(b)).then({ a.weight }.to_f32().total_cmp(&{ b.weight }.to_f32()))
    })?;
    let ends = |arc: &Edge<K, K, W>| ({ arc.target }, { arc.source });
    if W::IS_WEIGHTED && combine != Combine::Min {
        // The first of the arcs with the same ends stays.
        for same in arcs.chunk_by_mut(|one, other| ends(one) == ends(other)) {
            let weights = same.iter().map(|arc| { arc.weight }.to_f32());
            same[0].weight = W::from_f32(combine.ascending(weights)?);
        }
    }
    arcs.dedup_by_key(|arc| ends(arc));
    Ok(())
}

/// Returns a pile for a pair of keys; any function that spreads both will do.
fn pile_of<K: Key>(source: K, target: K, count: usize) -> usize {
    let fold = |key: K| {
        let words = key.as_bytes().chunks(4).map(|word| {
            let mut bytes = [0; 4];
            bytes[..word.len()].copy_from_slice(word);
            u64::from(u32::from_le_bytes(bytes))
        });
        words.fold(0u64, |sum, word| {
            (sum ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
        })
    };
    let mixed = (fold(source).rotate_left(17) ^ fold(target)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    ((u128::from(mixed) * count as u128) >> 64) as usize
}
