//! Every edge has one bin, and bins have about as many edges as they should.

use super::*;
use crate::order::batch_plan::{PlannedBatch, PlannedSegment};
use tegula_store::tiles::{SLICE_LOG2, TileOrder};

fn plan(grid: Grid, batches: &[(u32, &[u64])], slice_edges: &[u64]) -> BatchPlan {
    let mut first = 0;
    let batches = batches.iter().map(|&(log2, unit_edges)| {
        let batch = Batch { target_first: first, log2 };
        first += 1 << log2;
        PlannedBatch { batch, index: 0, unit_edges: unit_edges.to_vec() }
    });
    let batches = batches.collect();
    let each = 1 << (grid.segment_log2 - grid.slice_log2());
    let segment = |(segment, edges): (u32, &[u64])| {
        let all: u64 = edges.iter().sum();
        let counted = edges.iter().copied().chain(std::iter::repeat(0)).take(each);
        let is_counted = segment == 0 || all > BIN_EDGES;
        let slice_edges = if is_counted { counted.collect() } else { Vec::new() };
        PlannedSegment { segment, edges: all, slice_edges }
    };
    let segments = (0..).zip(slice_edges.chunks(each)).map(segment).collect();
    BatchPlan { grid, tile_order: TileOrder::default(), vertices: first, batches, segments }
}

/// The bins that may have an edge, judged by their regions.
fn found(bins: &Bins, edge: &DenseEdge<u32, ()>) -> Vec<usize> {
    let grid = bins.grid;
    let (source, target) = (source_of(edge), target_of(edge));
    let own = grid.cell(source, target);
    let holds = |index: &usize| match &bins.list[*index] {
        Region::Segments { column, segments } => {
            *column == own.column && segments.contains(&own.segment)
        }
        Region::Slices { cell, unit, slices, target_bits } => {
            let same = |other: &Region| match other {
                Region::Slices { cell: at, unit: unit_there, slices: slices_there, .. } => {
                    (cell, unit, slices) == (at, unit_there, slices_there)
                }
                _ => false,
            };
            let first = bins.list.iter().position(same).unwrap();
            let part = ((index - first) as u64) << target_bits;
            let start = bins.target_first(*unit) + part;
            *cell == own
                && slices.contains(&slice_of(edge, grid))
                && (start..start + (1 << target_bits)).contains(&target)
        }
        Region::Units { cell, places } => {
            *cell == own && places.contains(&bins.units[bins.unit_of(target) as usize].place)
        }
        other @ Region::Slice { .. } => panic!("{other:?} is no bin"),
    };
    (0..bins.list.len()).filter(holds).collect()
}

#[test]
fn each_edge_has_one_bin() {
    let many = 3 * BIN_EDGES;
    let slices = [many * 5, 7, 0, many, many, 9, many * 40, 0];
    let whole = Grid::default();
    let halves = Grid { segment_log2: SLICE_LOG2 + 1, column_log2: 17 };
    for grid in [whole, halves] {
        for slice_edges in [&slices[..], &[0; 8], &[1, 0, 0, 0, 0, 0, 0, 0]] {
            let plan = plan(
                grid,
                &[
                    (14, &[many * 30]),
                    (14, &[0]),
                    (15, &[BIN_EDGES]),
                    (16, &[1]),
                    (17, &[many, 17]),
                ],
                slice_edges,
            );
            let bins = Bins::new(&plan);
            for number in 0..5000u32 {
                let source = number.wrapping_mul(0x9e37_79b9) % (8 << SLICE_LOG2);
                let target = number.wrapping_mul(0x85eb_ca6b) % (1 << 18);
                let edge = DenseEdge { source, target, weight: () };
                assert_eq!(found(&bins, &edge), [bins.bin_of(&edge)]);
            }
            let covered: Vec<usize> =
                bins.stretches.iter().flat_map(|it| it.bins.clone()).collect();
            assert!(covered.into_iter().eq(0..bins.list.len()), "each bin is in one stretch");
        }
    }
}

#[test]
fn a_heavy_slice_is_cut_along_its_targets_and_light_ones_are_joined() {
    let slices = [1, 1, 1, 1, 24, 1, 1, 1, 1];
    let bins = Bins::new(&plan(Grid::default(), &[(16, &[16 * BIN_EDGES])], &slices));
    let shape = |bin: &Region| match bin {
        Region::Slices { slices, target_bits, .. } => (slices.clone(), *target_bits),
        other => panic!("{other:?}"),
    };
    let shapes: Vec<_> = bins.list.iter().map(shape).collect();
    let (light, heavy) = (|slices| (slices, 16), (4..5, 12));
    assert_eq!(shapes[..2], [light(0..2), light(2..4)]);
    assert_eq!(shapes[2..18], vec![heavy; 16]);
    assert_eq!(shapes[18..], [light(5..7), light(7..1024)]);
}

#[test]
fn batches_that_take_few_edges_from_a_segment_share_a_bin() {
    let grid = Grid { segment_log2: SLICE_LOG2, column_log2: 16 };
    let few = LIGHT_UNIT_EDGES;
    let batches: [(u32, &[u64]); 4] =
        [(14, &[few]), (14, &[few]), (14, &[40 * BIN_EDGES]), (14, &[few])];
    let bins = Bins::new(&plan(grid, &batches, &[7, 5].map(|part| part * 4 * BIN_EDGES)));
    let units = |segment, places| Region::Units { cell: Cell { column: 0, segment }, places };
    assert_eq!(bins.list[0], units(0, 0..2));
    assert!(matches!(&bins.list[1], Region::Slices { unit: 2, .. }));
    assert_eq!(bins.list.iter().filter(|&bin| *bin == units(1, 3..4)).count(), 1);
}

#[test]
fn segments_that_give_few_edges_share_a_bin() {
    let grid = Grid { segment_log2: SLICE_LOG2, column_log2: 16 };
    let slices = [1, 1, 1, 13, 1, 1].map(|part| part * BIN_EDGES / 4);
    let batches: [(u32, &[u64]); 2] = [(16, &[4 * BIN_EDGES]), (15, &[0])];
    let bins = Bins::new(&plan(grid, &batches, &slices));
    let light = |column, segments| Region::Segments { column, segments };
    assert_eq!(bins.list[0], light(0, 0..3));
    assert!(matches!(&bins.list[1], Region::Slices { cell, .. } if cell.segment == 3));
    assert_eq!(bins.list[bins.list.len() - 2..], [light(0, 4..6), light(1, 0..6)]);
}
