//! The vertex order: which dense id each vertex gets.
//!
//! The orders by id and by degree need one pass over the degrees by id position, so the
//! permutation is stored whole only if it is looked up at random. The depth-first order is a list.

pub(crate) mod batch_plan;
pub(crate) mod dfs;
pub(crate) mod estimate;

use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

use tegula_machine::memory::{huge, prefetch};
use tegula_store::graph::VertexOrder;
use tegula_store::tiles::VertexNumber;
use tegula_store::{Result, VERTEX_COUNT_MAX};

use crate::count::census::{DegreeSummary, DegreeTable, Degrees};
use crate::edge::{Key, Weight};
use crate::import_run::ImportRun;
use crate::piles::Filled;
use crate::relabel::mapping::Mapping;
use crate::source::EdgeSource;

/// Hands out dense ids to vertices that come by ascending id.
#[derive(Debug, Clone)]
enum Numbering {
    /// Consecutive numbers; the ids themselves, where vertices are declared.
    Given { next: u64 },
    /// The next number for vertices of the same degree: a counting sort.
    Degree { next: Vec<u64>, next_of_heavy: BTreeMap<u64, u64> },
    /// The entry of a list, by row.
    Listed(Arc<Vec<u32>>),
}

/// The dense id of a row without edges. A declared vertex without edges is numbered behind those
/// with edges, or by its id: see [`Numbered::isolated`].
pub(crate) const NONE: u64 = <u64 as VertexNumber>::NONE;

/// Vertices of lower degree are counted in an array, the few others in a map.
const HEAVY_DEGREE: u64 = 1 << 14;

impl Numbering {
    /// Numbers all vertices by descending degree.
    fn by_degree(degrees: &DegreeTable) -> Result<Numbering> {
        let mut counts = vec![0; HEAVY_DEGREE as usize];
        let mut heavy = BTreeMap::new();
        degrees.for_each(&mut |_, block| {
            for &row in block {
                match total(row) {
                    light if light < HEAVY_DEGREE => counts[light as usize] += 1,
                    degree => *heavy.entry(degree).or_insert(0) += 1,
                }
            }
            Ok(())
        })?;
        // Rows without edges get no number.
        counts[0] = 0;
        let mut next = 0;
        for count in heavy.values_mut().rev().chain(counts.iter_mut().rev()) {
            next += std::mem::replace(count, next);
        }
        Ok(Numbering::Degree { next: counts, next_of_heavy: heavy })
    }

    /// Returns ranges of dense ids that ascend with the ids, before any is handed out: in the order
    /// by degree the vertices of each degree, in other orders none.
    fn runs(&self, connected: u64) -> Vec<Range<u64>> {
        let Numbering::Degree { next, next_of_heavy } = self else { return Vec::new() };
        let starts = next_of_heavy.values().rev().chain(next.iter().rev()).copied();
        let ends = starts.clone().skip(1).chain([connected]);
        starts.zip(ends).map(|(start, end)| start..end).filter(|run| !run.is_empty()).collect()
    }

    /// Returns the dense id of the next row, or [`NONE`] if it has no edge.
    #[inline]
    fn assign(&mut self, row: u64, degrees: Degrees) -> u64 {
        let degree = total(degrees);
        if degree == 0 {
            return NONE;
        }
        let next = match self {
            Numbering::Listed(dense) => {
                let listed = dense.get(row as usize).copied().unwrap_or(u32::NONE);
                return if listed == u32::NONE { NONE } else { listed.into() };
            }
            Numbering::Given { next } => next,
            Numbering::Degree { next, .. } if degree < HEAVY_DEGREE => &mut next[degree as usize],
            // Every degree was counted, so none is inserted here.
            Numbering::Degree { next_of_heavy, .. } => next_of_heavy.entry(degree).or_insert(NONE),
        };
        let dense = *next;
        *next = next.wrapping_add(1);
        dense
    }
}

fn total([out, into]: Degrees) -> u64 {
    u64::from(out) + u64::from(into)
}

/// The declared vertices, with or without an edge: all ids below a number, or listed ids.
#[derive(Clone, Copy)]
pub(crate) struct DeclaredRows<'a> {
    pub count: u64,
    /// The id of each row of the degrees, where it differs from the number of the row.
    pub ids: Option<&'a Filled<u64>>,
}

/// Consecutive rows of the degrees.
pub(crate) struct Block<'b> {
    /// The number of the first row.
    pub first: u64,
    pub degrees: &'b [Degrees],
    /// The dense ids of the rows, [`NONE`] for those without edges.
    pub dense: &'b [u64],
    ids: Option<&'b [u64]>,
}

impl Block<'_> {
    /// Returns the id of the row at `place` in the block. Where vertices are not declared, ids do
    /// not matter, and it returns the number of the row.
    #[inline]
    pub fn id(&self, place: usize) -> u64 {
        self.ids.map_or(self.first + place as u64, |ids| ids[place])
    }
}

/// All vertices, numbered in an order.
#[derive(Clone)]
pub(crate) struct Numbered<'a> {
    pub degrees: &'a DegreeTable,
    pub summary: DegreeSummary,
    pub order: VertexOrder,
    pub declared: Option<DeclaredRows<'a>>,
    numbering: Numbering,
}

impl<'a> Numbered<'a> {
    /// Numbers the vertices of a graph. Only the depth-first order looks at the edges.
    pub fn new<W: Weight>(
        run: &ImportRun<'_>,
        edges: &EdgeSource<'_, W>,
        degrees: &'a DegreeTable,
        summary: DegreeSummary,
        declared: Option<DeclaredRows<'a>>,
        order: VertexOrder,
    ) -> Result<Numbered<'a>> {
        let numbering = match order {
            VertexOrder::Given => Numbering::Given { next: 0 },
            VertexOrder::Degree => Numbering::by_degree(degrees)?,
            VertexOrder::Dfs => {
                Numbering::Listed(Arc::new(dfs::enumerate(run, edges, degrees, &summary)?))
            }
        };
        Ok(Numbered { degrees, summary, order, declared, numbering })
    }

    /// Number of vertices.
    pub fn vertices(&self) -> u64 {
        self.declared.map_or(self.summary.vertices, |declared| declared.count)
    }

    /// Returns the dense ids of the vertices without edges: behind all others, ascending with the
    /// ids. In the given order these vertices stand among the others, and the range is empty.
    pub fn isolated(&self) -> Range<u64> {
        match self.order {
            VertexOrder::Given => 0..0,
            VertexOrder::Degree | VertexOrder::Dfs => self.summary.vertices..self.vertices(),
        }
    }

    /// Returns ranges of dense ids that ascend with the ids, where the order guarantees any.
    pub fn runs(&self) -> Vec<Range<u64>> {
        let mut runs = self.numbering.runs(self.summary.vertices);
        runs.extend(Some(self.isolated()).filter(|isolated| !isolated.is_empty()));
        runs
    }

    /// Visits all rows in ascending order, a block at a time.
    pub fn for_each(&self, visit: &mut dyn FnMut(&Block<'_>) -> Result<()>) -> Result<()> {
        // A numbering changes as it hands out numbers, so each visit begins with a copy.
        let mut numbering = self.numbering.clone();
        let mut all_ids = self.declared.and_then(|declared| declared.ids).map(|ids| ids.cursor(0));
        let keeps_ids = self.declared.is_some() && self.order == VertexOrder::Given;
        let (mut dense, mut ids) = (Vec::new(), Vec::new());
        self.degrees.for_each(&mut |first, degrees| {
            dense.clear();
            dense.extend(degrees.iter().zip(first..).map(|(&row, id)| numbering.assign(id, row)));
            if let Some(all_ids) = &mut all_ids {
                all_ids.read(degrees.len(), &mut ids)?;
            }
            let mut block =
                Block { first, degrees, dense: &[], ids: all_ids.is_some().then_some(&ids) };
            if keeps_ids {
                let own = dense.iter_mut().enumerate().filter(|(_, dense)| **dense != NONE);
                own.for_each(|(place, dense)| *dense = block.id(place));
            }
            block.dense = &dense;
            visit(&block)
        })
    }
}

/// Maps rows to dense ids; both are numbers `N`.
pub(crate) struct DenseIds<'a, N> {
    numbered: &'a Numbered<'a>,
    id_end: u64,
    section_log2: u32,
    number: PhantomData<fn() -> N>,
}

impl<'a, N: VertexNumber> DenseIds<'a, N> {
    /// Maps the rows of `numbered`, in sections of up to `memory` bytes.
    pub fn new(numbered: &'a Numbered<'a>, memory: u64) -> DenseIds<'a, N> {
        let id_end = numbered.summary.id_end;
        let ids = (memory / size_of::<N>() as u64).max(1 << 12);
        // Shifted by that much, every key is in the only section.
        let section_log2 = if id_end <= ids { VERTEX_COUNT_MAX.ilog2() + 1 } else { ids.ilog2() };
        DenseIds { numbered, id_end, section_log2, number: PhantomData }
    }
}

/// The dense ids of consecutive rows.
pub(crate) struct DenseSection<N> {
    first: u64,
    dense: Vec<N>,
}

impl<N: VertexNumber + Key> Mapping<N> for DenseIds<'_, N> {
    type Number = N;
    type TableSection = DenseSection<N>;

    fn sections(&self) -> usize {
        ((self.id_end.max(1) - 1) >> self.section_log2) as usize + 1
    }

    #[inline]
    fn table_section_of(&self, key: N) -> usize {
        (key.into() >> self.section_log2) as usize
    }

    #[inline]
    fn prefetch(section: &DenseSection<N>, key: N) {
        prefetch(&section.dense, key.into().wrapping_sub(section.first) as usize);
    }

    #[inline]
    fn get(section: &DenseSection<N>, key: N) -> Option<N> {
        // A key before the section wraps around, and is not found either.
        let dense = *section.dense.get(key.into().wrapping_sub(section.first) as usize)?;
        (dense != N::NONE).then_some(dense)
    }

    fn for_each_section(
        &self,
        visit: &mut dyn FnMut(usize, &DenseSection<N>) -> Result<()>,
    ) -> Result<()> {
        let end_of = |index: u64| self.id_end.min((index + 1) << self.section_log2);
        let empty = |index: u64| {
            let first = index << self.section_log2;
            let len = (end_of(index).max(first) - first) as usize;
            let mut dense = huge::with_capacity(len);
            dense.resize(len, N::NONE);
            DenseSection { first, dense }
        };
        let number = |dense| if dense == NONE { N::NONE } else { N::of(dense) };
        let mut index = 0;
        let mut section = empty(index);
        self.numbered.for_each(&mut |block| {
            let (mut first, mut dense) = (block.first, block.dense);
            // Rows beyond the last one with an edge only fill up its block.
            dense = &dense[..dense.len().min((self.id_end.max(first) - first) as usize)];
            while !dense.is_empty() {
                while first >= end_of(index) {
                    visit(index as usize, &section)?;
                    index += 1;
                    section = empty(index);
                }
                let (here, rest) =
                    dense.split_at(dense.len().min((end_of(index) - first) as usize));
                let at = (first - (index << self.section_log2)) as usize;
                let places = section.dense[at..at + here.len()].iter_mut();
                places.zip(here).for_each(|(place, &dense)| *place = number(dense));
                (first, dense) = (first + here.len() as u64, rest);
            }
            Ok(())
        })?;
        visit(index as usize, &section)?;
        (index as usize + 1..self.sections())
            .try_for_each(|index| visit(index, &empty(index as u64)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::count::census::Counters;
    use crate::edge::ArcRule;

    /// A table of degrees, many of them 0, some of them large.
    fn table(ids: u32) -> (DegreeTable, Vec<Degrees>) {
        let row = |id: u32| match id.wrapping_mul(0x9e37_79b1) >> 28 {
            0..=5 => [0, 0],
            6 => [HEAVY_DEGREE as u32, id % 3],
            kind => [id % 7, kind],
        };
        let rows: Vec<Degrees> = (0..ids).map(row).collect();
        let counters = Counters::of(rows.as_flattened());
        (counters.into_table(u64::from(ids), ArcRule::default()), rows)
    }

    /// Returns the dense ids that sorting gives.
    fn expected(rows: &[Degrees], order: VertexOrder) -> Vec<u32> {
        let mut ids: Vec<usize> = (0..rows.len()).filter(|&id| rows[id] != [0, 0]).collect();
        match order {
            VertexOrder::Given => {}
            VertexOrder::Degree => {
                ids.sort_by_key(|&id| std::cmp::Reverse(rows[id][0] + rows[id][1]));
            }
            // Any list will do.
            VertexOrder::Dfs => ids.sort_by_key(|&id| (id as u32).wrapping_mul(0x9e37_79b1)),
        }
        let mut dense = vec![u32::NONE; rows.len()];
        ids.iter().zip(0..).for_each(|(&id, number)| dense[id] = number);
        dense
    }

    #[test]
    fn dense_ids_match_a_sort_for_sections_of_every_size() {
        let (table, rows) = table(1 << 17);
        let degrees = &table;
        let summary = table.summary().unwrap();
        let id_end = summary.id_end;
        assert_eq!(rows.iter().rposition(|row| *row != [0, 0]).unwrap() as u64 + 1, id_end);
        for order in [VertexOrder::Given, VertexOrder::Degree, VertexOrder::Dfs] {
            let expected = expected(&rows, order);
            let numbering = match order {
                VertexOrder::Given => Numbering::Given { next: 0 },
                VertexOrder::Degree => Numbering::by_degree(degrees).unwrap(),
                VertexOrder::Dfs => {
                    Numbering::Listed(Arc::new(expected[..id_end as usize].to_vec()))
                }
            };
            let numbered = Numbered { degrees, summary, order, declared: None, numbering };
            for memory in [u64::MAX, 4 << 16, 4 << 13, 0] {
                let mapping = DenseIds::<u32>::new(&numbered, memory);
                let mut next = 0;
                mapping
                    .for_each_section(&mut |index, section| {
                        assert_eq!(index, next);
                        next += 1;
                        for (id, &dense) in (0u32..).zip(&expected) {
                            let found = DenseIds::<u32>::get(section, id);
                            let is_here =
                                u64::from(id) < id_end && mapping.table_section_of(id) == index;
                            assert_eq!(
                                found,
                                (is_here && dense != u32::NONE).then_some(dense),
                                "id {id}"
                            );
                        }
                        Ok(())
                    })
                    .unwrap();
                assert_eq!(next, mapping.sections());
                assert!(memory != 0 || next == 32);
            }
        }
    }
}
