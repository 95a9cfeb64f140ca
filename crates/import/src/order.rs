//! The vertex order: which dense id each vertex gets.
//!
//! By id and by degree, it can be told off in one pass over the degrees by rank, so that permutation is
//! never stored whole unless it is looked up at random. Depth first, it is a list.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use tegula_machine::Result;
use tegula_machine::memory::{huge, prefetch};
use tegula_store::graph::VertexOrder;

use super::census::{DegreeSummary, DegreeTable, Degrees};
use super::dfs;
use super::edge::Weight;
use super::import_run::ImportRun;
use super::mapping::{Mapping, NONE};
use super::source::EdgeSource;

/// Hands out the dense ids of vertices that come by ascending rank.
#[derive(Debug, Clone)]
enum Numbering {
    /// One after the other.
    Given { next: u32 },
    /// The next of those for vertices of the same degree: a counting sort.
    Degree { next: Vec<u32>, next_of_heavy: BTreeMap<u64, u32> },
    /// As listed by id.
    Listed(Arc<Vec<u32>>),
}

/// Vertices of lesser degree are counted in an array, the few others in a map.
const HEAVY_DEGREE: u64 = 1 << 14;

impl Numbering {
    /// The numbering of all vertices by descending degree.
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
        // No vertex has degree 0: such ids are none.
        counts[0] = 0;
        let mut next = 0;
        for count in heavy.values_mut().rev().chain(counts.iter_mut().rev()) {
            next += std::mem::replace(count, next);
        }
        Ok(Numbering::Degree { next: counts, next_of_heavy: heavy })
    }

    /// Ranges of dense ids that ascend with the ranks, before any was handed out: in the order by degree
    /// the vertices of each degree, elsewhere none.
    fn runs(&self, vertices: u64) -> Vec<Range<u32>> {
        let Numbering::Degree { next, next_of_heavy } = self else { return Vec::new() };
        let starts = next_of_heavy.values().rev().chain(next.iter().rev()).copied();
        let ends = starts.clone().skip(1).chain([vertices as u32]);
        starts.zip(ends).map(|(start, end)| start..end).filter(|run| !run.is_empty()).collect()
    }

    /// The dense id of the next id, by ascending rank; [`NONE`] when it has no edge.
    #[inline]
    fn assign(&mut self, id: u64, row: Degrees) -> u32 {
        let degree = total(row);
        if degree == 0 {
            return NONE;
        }
        let next = match self {
            Numbering::Listed(dense) => return dense.get(id as usize).copied().unwrap_or(NONE),
            Numbering::Given { next } => next,
            Numbering::Degree { next, .. } if degree < HEAVY_DEGREE => &mut next[degree as usize],
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

/// All vertices, numbered in an order.
#[derive(Clone)]
pub(super) struct Numbered<'a> {
    pub degrees: &'a DegreeTable,
    pub summary: DegreeSummary,
    pub order: VertexOrder,
    numbering: Numbering,
}

impl<'a> Numbered<'a> {
    /// Numbers the vertices of a graph; only the order depth first looks at the edges.
    pub fn new<W: Weight>(
        run: &ImportRun<'_>,
        edges: &EdgeSource<'_, W>,
        degrees: &'a DegreeTable,
        summary: DegreeSummary,
        order: VertexOrder,
    ) -> Result<Numbered<'a>> {
        let numbering = match order {
            VertexOrder::Given => Numbering::Given { next: 0 },
            VertexOrder::Degree => Numbering::by_degree(degrees)?,
            VertexOrder::Dfs => {
                Numbering::Listed(Arc::new(dfs::enumerate(run, edges, degrees, &summary)?))
            }
        };
        Ok(Numbered { degrees, summary, order, numbering })
    }

    /// Ranges of dense ids that ascend with the ranks, as far as the order makes sure of any.
    pub fn runs(&self) -> Vec<Range<u32>> {
        self.numbering.runs(self.summary.vertices)
    }

    /// Visits all ids, ascending: the first id of a block, the degrees and the dense ids from there on.
    pub fn for_each(
        &self,
        visit: &mut dyn FnMut(u32, &[Degrees], &[u32]) -> Result<()>,
    ) -> Result<()> {
        let mut numbering = self.numbering.clone();
        let mut dense = Vec::new();
        self.degrees.for_each(&mut |first, block| {
            dense.clear();
            let rows = block.iter().zip(u64::from(first)..);
            dense.extend(rows.map(|(&row, id)| numbering.assign(id, row)));
            visit(first, block, &dense)
        })
    }
}

/// From ids to dense ids.
pub(super) struct DenseIds<'a> {
    numbered: &'a Numbered<'a>,
    id_end: u64,
    slice_log2: u32,
}

impl<'a> DenseIds<'a> {
    /// The dense ids of numbered vertices, in slices that take up to `memory` bytes.
    pub fn new(numbered: &'a Numbered<'a>, memory: u64) -> DenseIds<'a> {
        let id_end = numbered.summary.id_end;
        let ids = (memory / size_of::<u32>() as u64).max(1 << 12);
        DenseIds { numbered, id_end, slice_log2: if id_end <= ids { 32 } else { ids.ilog2() } }
    }
}

/// The dense ids of consecutive ids.
pub(super) struct DenseSlice {
    first: u32,
    dense: Vec<u32>,
}

impl Mapping<u32> for DenseIds<'_> {
    type Slice = DenseSlice;

    fn slices(&self) -> usize {
        ((self.id_end.max(1) - 1) >> self.slice_log2) as usize + 1
    }

    #[inline]
    fn slice_of(&self, key: u32) -> usize {
        (u64::from(key) >> self.slice_log2) as usize
    }

    #[inline]
    fn prefetch(slice: &DenseSlice, key: u32) {
        prefetch(&slice.dense, key.wrapping_sub(slice.first) as usize);
    }

    #[inline]
    fn get(slice: &DenseSlice, key: u32) -> Option<u32> {
        let dense = *slice.dense.get(key.wrapping_sub(slice.first) as usize)?;
        (dense != NONE).then_some(dense)
    }

    fn for_each_slice(
        &self,
        visit: &mut dyn FnMut(usize, &DenseSlice) -> Result<()>,
    ) -> Result<()> {
        let end_of = |index: u64| self.id_end.min((index + 1) << self.slice_log2);
        let empty = |index: u64| {
            let first = index << self.slice_log2;
            let len = (end_of(index).max(first) - first) as usize;
            let mut dense = huge::with_capacity(len);
            dense.resize(len, NONE);
            DenseSlice { first: first as u32, dense }
        };
        let mut index = 0;
        let mut slice = empty(index);
        self.numbered.for_each(&mut |first, _, dense| {
            let (mut first, mut dense) = (u64::from(first), dense);
            // Ids beyond the last one with an edge only fill up its block.
            dense = &dense[..dense.len().min((self.id_end.max(first) - first) as usize)];
            while !dense.is_empty() {
                while first >= end_of(index) {
                    visit(index as usize, &slice)?;
                    index += 1;
                    slice = empty(index);
                }
                let (here, rest) =
                    dense.split_at(dense.len().min((end_of(index) - first) as usize));
                let at = (first - (index << self.slice_log2)) as usize;
                slice.dense[at..at + here.len()].copy_from_slice(here);
                (first, dense) = (first + here.len() as u64, rest);
            }
            Ok(())
        })?;
        visit(index as usize, &slice)?;
        (index as usize + 1..self.slices()).try_for_each(|index| visit(index, &empty(index as u64)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::census::Counters;
    use super::super::edge::ArcRule;
    use super::*;

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

    /// The dense ids by sorting.
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
        let mut dense = vec![NONE; rows.len()];
        ids.iter().zip(0..).for_each(|(&id, number)| dense[id] = number);
        dense
    }

    #[test]
    fn dense_ids_are_those_of_a_sort_in_slices_of_every_size() {
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
            let numbered = Numbered { degrees, summary, order, numbering };
            for memory in [u64::MAX, 4 << 16, 4 << 13, 0] {
                let mapping = DenseIds::new(&numbered, memory);
                let mut next = 0;
                mapping
                    .for_each_slice(&mut |index, slice| {
                        assert_eq!(index, next);
                        next += 1;
                        for (id, &dense) in (0u32..).zip(&expected) {
                            let found = DenseIds::get(slice, id);
                            let is_here = u64::from(id) < id_end && mapping.slice_of(id) == index;
                            assert_eq!(
                                found,
                                (is_here && dense != NONE).then_some(dense),
                                "id {id}"
                            );
                        }
                        Ok(())
                    })
                    .unwrap();
                assert_eq!(next, mapping.slices());
                assert!(memory != 0 || next == 32);
            }
        }
    }
}
