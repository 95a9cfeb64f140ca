//! Which vertex order suits a graph: all are tried on a sample of its targets, the depth-first
//! order only where it is found quickly.
//!
//! In each order, the edges are divided into sixteen equal shares along the targets. Around the
//! middle of each share a *unit* is taken, a range of targets with up to 2^15 in-edges. All its
//! in-edges are encoded as they would be in the graph. Units are whole, because the bytes of an
//! edge depend on its neighbours. They are chosen by edges, not by vertices, because each edge
//! costs bytes.

use std::ops::Range;
use std::sync::Mutex;

use tegula_machine::threads::{lock, map_in_order, unlocked};
use tegula_store::Result;
use tegula_store::graph::{OrderChoice, VertexOrder};
use tegula_store::tiles::{DenseEdge, Encoder, Grid, VertexNumber};

use super::batch_plan::for_each_dense_slice;
use super::dfs;
use super::{DeclaredRows, DenseIds, Numbered};
use crate::count::census::{DegreeSummary, DegreeTable};
use crate::edge::{Key, Weight};
use crate::import_run::ImportRun;
use crate::relabel::mapping::Mapping;
use crate::shares;
use crate::source::EdgeSource;

/// The most units of an order.
const UNITS: u64 = 16;
/// The most targets of a unit.
const UNIT_TARGETS: usize = 1 << 12;
/// The most in-edges of a unit with several targets.
const UNIT_EDGES: u64 = 1 << 15;
/// An order other than the given one must save this part of the bytes to be worth its effort.
const GAIN_MIN: f64 = 0.03;
/// The most arcs of a graph for which the depth-first order is tried. Finding it may take as long
/// as the rest of an import, half a second for this number of arcs.
const DFS_EDGES_MAX: u64 = 1 << 23;
/// Bytes of a tile in the table of tiles.
const TABLE_BYTES: usize = 64;

/// Targets whose in-edges are encoded on trial.
#[derive(Debug, Clone, PartialEq, Eq)]
struct TrialUnit {
    targets: Range<u64>,
    edges: u64,
    /// Number of sixteenths of all edges that the unit stands for.
    shares: u64,
}

/// Returns why the depth-first order is not tried, if it is not.
pub(crate) fn unweighed(run: &ImportRun<'_>, summary: &DegreeSummary) -> Option<String> {
    if summary.edges > DFS_EDGES_MAX {
        Some(format!("dfs not tried: more than 2^{} edges", DFS_EDGES_MAX.ilog2()))
    } else if !dfs::is_affordable(run, summary.id_end) {
        Some("dfs not tried: too little memory".to_owned())
    } else {
        None
    }
}

/// Estimates all orders and chooses one.
pub(crate) fn choose<'a, N: VertexNumber + Key, W: Weight>(
    run: &ImportRun<'_>,
    edges: &EdgeSource<'_, W>,
    degrees: &'a DegreeTable,
    summary: DegreeSummary,
    declared: Option<DeclaredRows<'a>>,
) -> Result<(Numbered<'a>, OrderChoice)> {
    let unweighed = unweighed(run, &summary);
    // The given order comes first, where `pick` prefers it.
    let mut orders = vec![VertexOrder::Given, VertexOrder::Degree];
    if unweighed.is_none() {
        orders.push(VertexOrder::Dfs);
    }
    let number =
        |&order: &VertexOrder| Numbered::new(run, edges, degrees, summary, declared, order);
    let numbered = orders.iter().map(number).collect::<Result<Vec<_>>>()?;
    let mut trials = Vec::new();
    let plan = |index: usize| Trial::<N>::plan(run, numbered[index].clone());
    // Two at a time, because memory suffices for no more.
    map_in_order(
        run.workers,
        run.workers.count().min(2),
        orders.len(),
        run.cancel,
        &plan,
        &mut |_, trial| {
            trials.push(trial);
            Ok(())
        },
    )?;
    let sample = gather(run, edges, &trials)?;
    let mut bytes = Vec::new();
    let estimate = |index: usize| trials[index].bytes_per_edge(run, &sample);
    map_in_order(
        run.workers,
        run.workers.count(),
        orders.len(),
        run.cancel,
        &estimate,
        &mut |_, estimated| {
            bytes.push(estimated);
            Ok(())
        },
    )?;
    let chosen = pick(&bytes);
    let name = orders[chosen].name().to_owned();
    let reason = reason(&orders, &bytes, chosen, unweighed);
    let estimates = orders.iter().map(|order| order.name().to_owned()).zip(bytes).collect();
    Ok((trials.swap_remove(chosen).numbered, OrderChoice { name, reason, estimates }))
}

/// Returns the order of the fewest bytes, or the first one if it takes hardly more.
fn pick(bytes: &[f64]) -> usize {
    let least = (0..bytes.len()).min_by(|&a, &b| bytes[a].total_cmp(&bytes[b])).unwrap_or(0);
    if bytes[least] < bytes[0] * (1.0 - GAIN_MIN) { least } else { 0 }
}

fn reason(
    orders: &[VertexOrder],
    bytes: &[f64],
    chosen: usize,
    unweighed: Option<String>,
) -> String {
    let words = |order| match order {
        VertexOrder::Given => "as given",
        VertexOrder::Degree => "by degree",
        VertexOrder::Dfs => "depth first",
    };
    let mut reason = format!("{:.2} bytes/edge in a sample", bytes[chosen]);
    for (index, &order) in orders.iter().enumerate().filter(|&(index, _)| index != chosen) {
        reason += &format!(", {:.2} {}", bytes[index], words(order));
    }
    if bytes.iter().any(|other| *other < bytes[chosen]) {
        reason += &format!("; other orders must save at least {:.0} %", 100.0 * GAIN_MIN);
    }
    reason + &unweighed.map_or(String::new(), |why| format!("; {why}"))
}

/// An order on trial, and its units.
struct Trial<'a, N> {
    numbered: Numbered<'a>,
    units: Vec<TrialUnit>,
    /// The rows of the targets of the units, ascending.
    rows: Vec<N>,
}

impl<'a, N: VertexNumber + Key> Trial<'a, N> {
    fn plan(run: &ImportRun<'_>, numbered: Numbered<'a>) -> Result<Trial<'a, N>> {
        let mut units: Vec<TrialUnit> = Vec::new();
        let middle_of = |share: u64| (2 * share + 1) * numbered.summary.edges / (2 * UNITS);
        let (mut share, mut before) = (0, 0);
        for_each_dense_slice(run, &numbered, &mut |first, slice| {
            for (index, rows) in slice.chunks(UNIT_TARGETS).enumerate() {
                let here: u64 = rows.iter().map(|&[_, into]| u64::from(into)).sum();
                while share < UNITS && middle_of(share) < before + here {
                    let unit = unit_around(rows, middle_of(share) - before);
                    let first = first + (index * UNIT_TARGETS) as u64;
                    let targets = first + unit.targets.start..first + unit.targets.end;
                    match units.last_mut() {
                        // A heavy target may hold the middles of several shares.
                        Some(last) if last.targets == targets => last.shares += 1,
                        _ => units.push(TrialUnit { targets, ..unit }),
                    }
                    share += 1;
                }
                before += here;
            }
            Ok(())
        })?;
        let rows = rows_of(&numbered, &units)?;
        Ok(Trial { numbered, units, rows })
    }

    /// Returns the bytes per edge, the mean over the shares.
    fn bytes_per_edge(&self, run: &ImportRun<'_>, sample: &[[N; 2]]) -> Result<f64> {
        let is_here = |[_, target]: &&[N; 2]| self.rows.binary_search(target).is_ok();
        let ends: Vec<[N; 2]> = sample.iter().filter(is_here).copied().collect();
        let mut dense = self.dense_ids(run, &ends)?;
        drop(ends);
        dense.sort_unstable_by_key(|&[_, target]| target);
        let (mut sum, mut shares) = (0.0, 0);
        let mut encoder = Encoder::new();
        let vertices = self.numbered.vertices();
        for unit in &self.units {
            let start = dense.partition_point(|&[_, target]| target < unit.targets.start);
            let end = dense.partition_point(|&[_, target]| target < unit.targets.end);
            sum += unit.shares as f64
                * unit.bytes_per_edge(&mut encoder, &dense[start..end], vertices)?;
            shares += unit.shares;
        }
        Ok(sum / shares.max(1) as f64)
    }

    /// Returns the dense ids of the ends of some edges.
    fn dense_ids(&self, run: &ImportRun<'_>, ends: &[[N; 2]]) -> Result<Vec<[u64; 2]>> {
        let mut dense = vec![[0; 2]; ends.len()];
        let mapping = DenseIds::<N>::new(&self.numbered, run.share(shares::DENSE_IDS));
        mapping.for_each_section(&mut |index, section| {
            for (dense, row) in dense.as_flattened_mut().iter_mut().zip(ends.as_flattened()) {
                if mapping.table_section_of(*row) == index {
                    *dense = DenseIds::<N>::get(section, *row).map_or(0, Into::into);
                }
            }
            Ok(())
        })?;
        Ok(dense)
    }
}

impl TrialUnit {
    /// Whether the unit is one target with too many in-edges for a trial.
    fn is_heavy(&self) -> bool {
        self.edges > UNIT_EDGES
    }

    fn bytes_per_edge(
        &self,
        encoder: &mut Encoder<()>,
        edges: &[[u64; 2]],
        vertices: u64,
    ) -> Result<f64> {
        if self.is_heavy() {
            // A byte for each edge, and one for each 255 sources that are passed over.
            return Ok((1.0 + vertices as f64 / 255.0 / self.edges as f64).min(2.0));
        }
        let mut edges: Vec<DenseEdge<u64, ()>> = edges
            .iter()
            .map(|&[source, target]| DenseEdge { source, target, weight: () })
            .collect();
        let count = edges.len().max(1);
        // Cell by cell, in the default grid.
        let grid = Grid::default();
        let cell_of = |edge: &DenseEdge<u64, ()>| grid.cell(edge.source, edge.target);
        edges.sort_unstable_by_key(cell_of);
        let mut bytes = 0;
        for cell in edges.chunk_by(|a, b| cell_of(a) == cell_of(b)) {
            encoder.encode_window(&[cell], grid.origin(cell_of(&cell[0])), &mut |tile| {
                bytes += tile.bytes.len() + TABLE_BYTES;
                Ok(())
            })?;
        }
        Ok(bytes as f64 / count as f64)
    }
}

/// Halves `rows` to find the largest range of targets that has in-edge number `middle` and few
/// enough in-edges.
fn unit_around(rows: &[[u32; 2]], mut middle: u64) -> TrialUnit {
    let mut targets = 0..rows.len();
    let edges_of = |targets: &Range<usize>| {
        rows[targets.clone()].iter().map(|&[_, into]| u64::from(into)).sum::<u64>()
    };
    while targets.len() > 1 && edges_of(&targets) > UNIT_EDGES {
        let half = targets.start + targets.len().next_power_of_two() / 2;
        let low = targets.start..half;
        let edges = edges_of(&low);
        if middle < edges {
            targets = low;
        } else {
            middle -= edges;
            targets = half..targets.end;
        }
    }
    TrialUnit {
        edges: edges_of(&targets),
        targets: targets.start as u64..targets.end as u64,
        shares: 1,
    }
}

/// Returns the rows of the targets of units, ascending, without heavy units.
fn rows_of<N: VertexNumber>(numbered: &Numbered<'_>, units: &[TrialUnit]) -> Result<Vec<N>> {
    let mut rows = Vec::new();
    numbered.for_each(&mut |block| {
        for (&dense, row) in block.dense.iter().zip(block.first..) {
            let unit = units.partition_point(|unit| unit.targets.end <= dense);
            if units.get(unit).is_some_and(|unit| unit.targets.contains(&dense) && !unit.is_heavy())
            {
                rows.push(N::of(row));
            }
        }
        Ok(())
    })?;
    Ok(rows)
}

/// Returns the edges whose targets are in a unit of any trial.
fn gather<N: VertexNumber + Key, W: Weight>(
    run: &ImportRun<'_>,
    edges: &EdgeSource<'_, W>,
    trials: &[Trial<'_, N>],
) -> Result<Vec<[N; 2]>> {
    let mut rows: Vec<N> = trials.iter().flat_map(|trial| &trial.rows).copied().collect();
    rows.sort_unstable();
    rows.dedup();
    let filter = Filter::of(&rows);
    let sample = Mutex::new(Vec::new());
    edges.for_each(run, &|edges: &[DenseEdge<N, W>]| {
        let mut found = Vec::new();
        for edge in edges {
            let target = edge.target;
            // Nearly all edges end outside of the units. The filter spares most of them the search.
            if filter.may_hold(target) && rows.binary_search(&target).is_ok() {
                found.push([edge.source, target]);
            }
        }
        lock(&sample).append(&mut found);
        run.progress.advance(edges.len() as u64);
        Ok(())
    })?;
    Ok(unlocked(sample))
}

/// A filter of 256 KiB that tells quickly that a row is not in a set.
struct Filter(Vec<u64>);

impl Filter {
    const BITS_LOG2: u32 = 21;

    fn of<N: VertexNumber>(rows: &[N]) -> Filter {
        let mut words = vec![0; 1 << (Filter::BITS_LOG2 - 6)];
        for &row in rows {
            let bit = Filter::bit(row);
            words[bit / 64] |= 1 << (bit % 64);
        }
        Filter(words)
    }

    #[inline]
    fn bit<N: VertexNumber>(row: N) -> usize {
        (row.into().wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - Filter::BITS_LOG2)) as usize
    }

    #[inline]
    fn may_hold<N: VertexNumber>(&self, row: N) -> bool {
        let bit = Filter::bit(row);
        self.0[bit / 64] >> (bit % 64) & 1 != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_holds_the_middle_and_few_edges() {
        let rows: Vec<[u32; 2]> =
            (0..4096u32).map(|target| [9, if target % 64 == 0 { 5000 } else { 3 }]).collect();
        let before: Vec<u64> = rows
            .iter()
            .scan(0, |sum, row| Some(std::mem::replace(sum, *sum + u64::from(row[1]))))
            .collect();
        let all: u64 = rows.iter().map(|row| u64::from(row[1])).sum();
        for middle in (0..all).step_by(997) {
            let unit = unit_around(&rows, middle);
            let targets = unit.targets.start as usize..unit.targets.end as usize;
            assert!(
                before[targets.start] <= middle
                    && before.get(targets.end).is_none_or(|&end| middle < end)
            );
            assert!(unit.edges <= UNIT_EDGES && targets.len().is_power_of_two());
            assert_eq!(unit.edges, rows[targets].iter().map(|row| u64::from(row[1])).sum::<u64>());
        }
        let heavy = unit_around(&[[0, 1], [0, 1 << 20], [0, 1]], 1000);
        assert_eq!((heavy.targets, heavy.edges, heavy.shares), (1..2, 1 << 20, 1));
    }

    #[test]
    fn the_given_order_is_kept_where_another_saves_little_and_the_reason_says_so() {
        let orders = [VertexOrder::Given, VertexOrder::Degree, VertexOrder::Dfs];
        let told = |bytes: [f64; 3]| {
            let chosen = pick(&bytes);
            (chosen, reason(&orders, &bytes, chosen, None))
        };
        let (chosen, why) = told([2.51, 2.60, 2.45]);
        assert_eq!(chosen, 0);
        assert_eq!(
            why,
            "2.51 bytes/edge in a sample, 2.60 by degree, 2.45 depth first; other orders must save at least 3 %"
        );
        for bytes in [[2.51, 2.60, 2.40], [2.0, 2.5, 2.1]] {
            assert!(!told(bytes).1.contains("must save"), "{bytes:?}");
        }
    }

    #[test]
    fn a_filter_lets_all_its_ids_pass() {
        let ids: Vec<u32> = (0..100_000).map(|number| number * 37).collect();
        let filter = Filter::of(&ids);
        assert!(ids.iter().all(|&id| filter.may_hold(id)));
        let passed = (0..100_000u32).filter(|number| filter.may_hold(number * 37 + 1)).count();
        assert!(passed < 20_000, "{passed}");
    }
}
