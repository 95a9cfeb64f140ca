//! Replaces the ends of edges: each key by a number, through a table that may be larger than
//! memory.
//!
//! A table that does not fit is cut into sections by ranges of keys, and the edges are brought to
//! the sections: first by their sources, then by their targets. With one section nothing is moved.

use std::marker::PhantomData;
use std::sync::atomic::{AtomicU64, Ordering};

use tegula_machine::threads::{Progress, Stash};
use tegula_store::tiles::{DenseEdge, Edge, VertexNumber};
use tegula_store::{At, Error, Place, Result};

use crate::count::names::{NamePosition, pile_of};
use crate::edge::{Key, Weight};
use crate::import_run::ImportRun;
use crate::input::VertexSet;
use crate::piles::{Filled, Piles};
use crate::shares;
use crate::source::{EdgeSource, changed};

/// How many edges ahead the table is asked for what look-ups will need.
const AHEAD: usize = 16;

/// A table from keys to numbers, in sections.
pub(crate) trait Mapping<K>: Sync {
    /// The type of the numbers.
    type Number: VertexNumber;
    /// A section in memory.
    type TableSection: Sync;
    /// Number of sections.
    fn sections(&self) -> usize;
    /// Returns the section that holds a key.
    fn table_section_of(&self, key: K) -> usize;
    /// Prefetches what [`get`](Mapping::get) of a key will need, if it can be told at once.
    fn prefetch(_section: &Self::TableSection, _key: K) {}
    /// Returns the error for a key of an edge that has no number.
    fn missing(&self, _key: K) -> Error {
        changed()
    }
    /// Returns the number of a key in its section; `None` if it has none.
    fn get(section: &Self::TableSection, key: K) -> Option<Self::Number>;
    /// Loads and visits section after section.
    fn for_each_section(
        &self,
        visit: &mut dyn FnMut(usize, &Self::TableSection) -> Result<()>,
    ) -> Result<()>;
}

/// Takes edges whose ends are replaced, from several threads.
type Sink<'s, N, W> = dyn Fn(&[DenseEdge<N, W>]) -> Result<()> + Sync + 's;

/// Reports the progress of edges that are passed over `count` times: they count once, all passes
/// together.
struct Passes<'p> {
    progress: &'p dyn Progress,
    count: u64,
    /// Edges of all passes so far.
    passed: AtomicU64,
}

impl Passes<'_> {
    fn advance(&self, edges: usize) {
        let before = self.passed.fetch_add(edges as u64, Ordering::Relaxed);
        self.progress.advance((before + edges as u64) / self.count - before / self.count);
    }
}

/// Passes over the edges if the table has several sections: by source, by target, into the sink.
const PASSES_IN_SECTIONS: u64 = 3;

/// Replaces both ends of all edges and passes the edges on in chunks, from several threads.
/// Advances the current stage by one for each edge.
pub(crate) fn replace_ends<K: Key, W: Weight, M: Mapping<K>>(
    run: &ImportRun<'_>,
    edges: &EdgeSource<'_, W>,
    mapping: &M,
    sink: &Sink<'_, M::Number, W>,
) -> Result<()> {
    let is_whole = mapping.sections() == 1;
    let count = if is_whole { 1 } else { PASSES_IN_SECTIONS };
    let passes = Passes { progress: run.progress, count, passed: AtomicU64::new(0) };
    let sink = |edges: &[DenseEdge<M::Number, W>]| {
        passes.advance(edges.len());
        sink(edges)
    };
    if is_whole {
        return mapping
            .for_each_section(&mut |_, section| replace_both(run, edges, mapping, section, &sink));
    }
    let space = run.space(run.share(shares::WAITING));
    let by_source = Piles::new(mapping.sections(), space.clone());
    edges.for_each(run, &|edges: &[Edge<K, K, W>]| {
        passes.advance(edges.len());
        by_source.write(|writer| {
            edges
                .iter()
                .try_for_each(|&edge| writer.push(mapping.table_section_of(edge.source), edge))
        })
    })?;
    let mut by_source = by_source.close()?;
    let by_target: Piles<Edge<M::Number, K, W>> = Piles::new(mapping.sections(), space);
    mapping.for_each_section(&mut |index, section| {
        by_source.for_each_parallel(index, run.workers, run.cancel, &|part| {
            passes.advance(part.len());
            by_target.write(|writer| {
                part.iter().try_for_each(|&Edge { source, target, weight }| {
                    let source = M::get(section, source).ok_or_else(|| mapping.missing(source))?;
                    writer.push(mapping.table_section_of(target), Edge { source, target, weight })
                })
            })
        })?;
        by_source.clear(index);
        Ok(())
    })?;
    replace_targets::<K, W, M>(run, by_target.close()?, mapping, &sink)
}

/// Replaces both ends at once with two look-ups an edge, whose cache misses overlap.
fn replace_both<K: Key, W: Weight, M: Mapping<K>>(
    run: &ImportRun<'_>,
    edges: &EdgeSource<'_, W>,
    mapping: &M,
    section: &M::TableSection,
    sink: &Sink<'_, M::Number, W>,
) -> Result<()> {
    let kept = Stash::default();
    edges.for_each(run, &|edges: &[Edge<K, K, W>]| {
        kept.with(Vec::new, |replaced: &mut Vec<DenseEdge<M::Number, W>>| {
            replaced.clear();
            for (index, &Edge { source, target, weight }) in edges.iter().enumerate() {
                if let Some(&Edge { source, target, .. }) = edges.get(index + AHEAD) {
                    M::prefetch(section, source);
                    M::prefetch(section, target);
                }
                let (source, target) = match (M::get(section, source), M::get(section, target)) {
                    (Some(source), Some(target)) => (source, target),
                    (None, _) => return Err(mapping.missing(source)),
                    (_, None) => return Err(mapping.missing(target)),
                };
                replaced.push(Edge { source, target, weight });
            }
            sink(replaced)
        })
    })
}

fn replace_targets<K: Key, W: Weight, M: Mapping<K>>(
    run: &ImportRun<'_>,
    mut by_target: Filled<Edge<M::Number, K, W>>,
    mapping: &M,
    sink: &Sink<'_, M::Number, W>,
) -> Result<()> {
    let kept = Stash::default();
    mapping.for_each_section(&mut |index, section| {
        by_target.for_each_parallel(index, run.workers, run.cancel, &|part| {
            kept.with(Vec::new, |replaced: &mut Vec<DenseEdge<M::Number, W>>| {
                replaced.clear();
                for &Edge { source, target, weight } in part {
                    let target = M::get(section, target).ok_or_else(|| mapping.missing(target))?;
                    replaced.push(Edge { source, target, weight });
                }
                sink(replaced)
            })
        })?;
        by_target.clear(index);
        Ok(())
    })
}

/// Ascending keys with a number each, and an index over their leading bits. A look-up costs about
/// two cache misses if the keys are spread evenly, and a binary search otherwise.
pub(crate) struct SortedSection<K, N> {
    keys: Vec<K>,
    numbers: Numbers<N>,
    first: u64,
    shift: u32,
    index: Vec<u32>,
}

enum Numbers<N> {
    From(u64),
    Each(Vec<N>),
}

/// The most keys of a section: places in it have 32 bits.
const SECTION_LEN_MAX: u64 = u32::MAX as u64;

impl<K: Prefix, N: VertexNumber> SortedSection<K, N> {
    fn new(keys: Vec<K>, numbers: Numbers<N>) -> SortedSection<K, N> {
        let prefix = |key: Option<&K>| key.map_or(0, |key| key.prefix());
        let (first, last) = (prefix(keys.first()), prefix(keys.last()));
        let bits = u64::BITS - (last - first).leading_zeros();
        // An entry for every four keys or so: the keys of an entry share a cache line.
        let index_bits = (keys.len() / 4 + 1).ilog2();
        // A shift by all 64 bits would overflow.
        let shift = bits.saturating_sub(index_bits).min(u64::BITS - 1);
        let entries = ((last - first) >> shift) as usize + 1;
        let mut index = vec![0; entries + 1];
        for key in &keys {
            index[((key.prefix() - first) >> shift) as usize + 1] += 1;
        }
        for entry in 1..index.len() {
            index[entry] += index[entry - 1];
        }
        SortedSection { keys, numbers, first, shift, index }
    }

    fn find(&self, key: K) -> Option<N> {
        let entry = (key.prefix().checked_sub(self.first)? >> self.shift) as usize;
        let (&begin, &end) = (self.index.get(entry)?, self.index.get(entry + 1)?);
        let at =
            begin as usize + self.keys[begin as usize..end as usize].binary_search(&key).ok()?;
        Some(match &self.numbers {
            Numbers::From(first) => N::of(first + at as u64),
            Numbers::Each(numbers) => numbers[at],
        })
    }
}

/// The leading bits of a key. A greater key never has a smaller prefix.
pub(crate) trait Prefix: Key {
    fn prefix(self) -> u64;
}

impl Prefix for u64 {
    fn prefix(self) -> u64 {
        self
    }
}

impl Prefix for u128 {
    fn prefix(self) -> u64 {
        (self >> 64) as u64
    }
}

/// Returns the error for an edge that ends at an unlisted vertex. Its `id` may be known.
fn unlisted(listed: &VertexSet, id: Option<u64>) -> Error {
    Error::bad_input(Place { file: "the input".into(), at: At::File }, listed.missing(id))
}

/// Maps integer ids to their id positions.
pub(crate) struct IdPositions<'a, N> {
    ids: &'a Filled<u64>,
    listed: Option<&'a VertexSet>,
    section_len: usize,
    /// The first id of each section but the first.
    starts: Vec<u64>,
    number: PhantomData<fn() -> N>,
}

impl<'a, N: VertexNumber> IdPositions<'a, N> {
    /// Maps ascending ids, those in `listed` if it is given, in sections of up to `memory` bytes.
    pub fn new(
        ids: &'a Filled<u64>,
        listed: Option<&'a VertexSet>,
        memory: u64,
    ) -> Result<IdPositions<'a, N>> {
        let affordable = memory / (size_of::<u64>() + 2) as u64;
        let section_len = affordable.clamp(1 << 10, SECTION_LEN_MAX) as usize;
        let mut starts = Vec::new();
        let (mut next, mut at) = (section_len, 0);
        ids.for_each(0, &mut |part| {
            while next < at + part.len() {
                starts.push(part[next - at]);
                next += section_len;
            }
            at += part.len();
            Ok(())
        })?;
        Ok(IdPositions { ids, listed, section_len, starts, number: PhantomData })
    }
}

impl<N: VertexNumber> Mapping<u64> for IdPositions<'_, N> {
    type Number = N;
    type TableSection = SortedSection<u64, N>;

    fn sections(&self) -> usize {
        self.starts.len() + 1
    }

    fn table_section_of(&self, key: u64) -> usize {
        self.starts.partition_point(|&start| start <= key)
    }

    fn missing(&self, key: u64) -> Error {
        self.listed.map_or_else(changed, |listed| unlisted(listed, Some(key)))
    }

    fn get(section: &SortedSection<u64, N>, key: u64) -> Option<N> {
        section.find(key)
    }

    fn for_each_section(
        &self,
        visit: &mut dyn FnMut(usize, &SortedSection<u64, N>) -> Result<()>,
    ) -> Result<()> {
        let (mut index, mut first) = (0, 0);
        let full_len = self.section_len.min(self.ids.len(0) as usize);
        let mut keys = Vec::with_capacity(full_len);
        self.ids.for_each(0, &mut |mut part| {
            while keys.len() + part.len() >= full_len && !part.is_empty() {
                let (here, rest) = part.split_at(full_len - keys.len());
                keys.extend_from_slice(here);
                part = rest;
                // The section gives the vector back, so all sections are made in one.
                let section = SortedSection::new(std::mem::take(&mut keys), Numbers::From(first));
                visit(index, &section)?;
                (index, first) = (index + 1, first + section.keys.len() as u64);
                keys = section.keys;
                keys.clear();
            }
            keys.extend_from_slice(part);
            Ok(())
        })?;
        if index < self.sections() {
            visit(index, &SortedSection::new(keys, Numbers::From(first)))
        } else {
            Ok(())
        }
    }
}

/// Maps the hashes of names to the id positions of the names.
pub(crate) struct NamePositions<'a, N> {
    id_positions: &'a Filled<NamePosition<N>>,
    listed: Option<&'a VertexSet>,
    /// Piles per section.
    group: usize,
}

impl<'a, N: VertexNumber> NamePositions<'a, N> {
    /// Maps `count` names, those in `listed` if it is given, in sections of up to `memory` bytes.
    pub fn new(
        id_positions: &'a Filled<NamePosition<N>>,
        listed: Option<&'a VertexSet>,
        count: u64,
        memory: u64,
    ) -> NamePositions<'a, N> {
        // A section is read as entries, sorted, then held as keys, numbers and index.
        let bytes_each = 2 * (size_of::<NamePosition<N>>() + 2) as u64;
        let affordable = (memory / bytes_each).clamp(1, SECTION_LEN_MAX / 2);
        let sections = count.div_ceil(affordable).clamp(1, id_positions.count() as u64) as usize;
        NamePositions { id_positions, listed, group: id_positions.count().div_ceil(sections) }
    }
}

impl<N: VertexNumber> Mapping<u128> for NamePositions<'_, N> {
    type Number = N;
    type TableSection = SortedSection<u128, N>;

    fn sections(&self) -> usize {
        self.id_positions.count().div_ceil(self.group)
    }

    fn table_section_of(&self, key: u128) -> usize {
        pile_of(key, self.id_positions.count()) / self.group
    }

    fn missing(&self, _key: u128) -> Error {
        self.listed.map_or_else(changed, |listed| unlisted(listed, None))
    }

    fn get(section: &SortedSection<u128, N>, key: u128) -> Option<N> {
        section.find(key)
    }

    fn for_each_section(
        &self,
        visit: &mut dyn FnMut(usize, &SortedSection<u128, N>) -> Result<()>,
    ) -> Result<()> {
        for index in 0..self.sections() {
            let (mut keys, mut numbers) = (Vec::new(), Vec::new());
            for pile in
                index * self.group..((index + 1) * self.group).min(self.id_positions.count())
            {
                let mut entries = self.id_positions.read(pile)?;
                // Hashes ascend from pile to pile, so this sorts the whole section.
                entries.sort_unstable_by_key(|entry| entry.hash);
                keys.extend(entries.iter().map(|entry| entry.hash));
                numbers.extend(entries.iter().map(|entry| entry.id_position));
            }
            visit(index, &SortedSection::new(keys, Numbers::Each(numbers)))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::piles::space::Space;

    fn space(folder: &tempfile::TempDir) -> Space {
        Space { folder: folder.path().to_owned(), held: 1 << 20, writing: 1 << 16, writers: 1 }
    }

    fn key(number: u64) -> u64 {
        // Clusters of neighbours, far apart.
        (number / 10) * (number / 10) * 1_000_003 + number % 10
    }

    #[test]
    fn every_id_has_its_position_in_sections_of_every_size() {
        let folder = tempfile::tempdir().unwrap();
        for count in [0u64, 1, 1024, 2048, 5000] {
            let log = Piles::new(1, space(&folder));
            log.write(|writer| (0..count).try_for_each(|number| writer.push(0, key(number))))
                .unwrap();
            let ids = log.close().unwrap();
            for memory in [0, 20_000, u64::MAX / 2] {
                let id_positions = IdPositions::<u32>::new(&ids, None, memory).unwrap();
                let (mut next, mut found) = (0, 0);
                id_positions
                    .for_each_section(&mut |index, section| {
                        assert_eq!(index, next);
                        next += 1;
                        for id_position in (0..count).filter(|&id_position| {
                            id_positions.table_section_of(key(id_position)) == index
                        }) {
                            assert_eq!(
                                IdPositions::<u32>::get(section, key(id_position)),
                                Some(id_position as u32)
                            );
                            assert_eq!(
                                IdPositions::<u32>::get(section, key(id_position) + 11),
                                None
                            );
                            found += 1;
                        }
                        assert_eq!(IdPositions::<u32>::get(section, u64::MAX), None);
                        Ok(())
                    })
                    .unwrap();
                assert_eq!((next, found), (id_positions.sections(), count));
            }
        }
    }

    #[test]
    fn every_hash_has_its_position_in_sections_of_every_size() {
        let folder = tempfile::tempdir().unwrap();
        let hash = |id_position: u32| {
            u128::from(id_position).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835)
        };
        let piles = Piles::new(16, space(&folder));
        let entry = |id_position| NamePosition { hash: hash(id_position), id_position };
        piles
            .write(|writer| {
                (0..3000).try_for_each(|id_position| {
                    writer.push(pile_of(hash(id_position), 16), entry(id_position))
                })
            })
            .unwrap();
        let piles = piles.close().unwrap();
        for (memory, sections) in [(u64::MAX, 1), (50_000, 3), (1, 16)] {
            let id_positions = NamePositions::new(&piles, None, 3000, memory);
            assert_eq!(id_positions.sections(), sections);
            let mut found = 0;
            id_positions
                .for_each_section(&mut |index, section| {
                    for id_position in (0..3000).filter(|&id_position| {
                        id_positions.table_section_of(hash(id_position)) == index
                    }) {
                        assert_eq!(
                            NamePositions::<u32>::get(section, hash(id_position)),
                            Some(id_position)
                        );
                        assert_eq!(NamePositions::<u32>::get(section, hash(id_position) + 1), None);
                        found += 1;
                    }
                    Ok(())
                })
                .unwrap();
            assert_eq!(found, 3000);
        }
    }
}
