//! Values name the same ids, whether each group of rows looks through all ids or they are sorted
//! once.

use arrow_array::{Array, UInt64Array};
use tegula_engine::{RunOptions, StatesWriter, open_graph};
use tegula_import::{ImportConfig, import};
use tegula_machine::disk::Backend;
use tegula_machine::threads::Silent;
use tegula_store::graph::{IdChunk, VertexOrder};
use tegula_store::tiles::Grid;
use tegula_testkit::{Scratch, XorShift};

use super::*;

const MEMORY: u64 = 256 << 20;
/// Vertices, in blocks of 64.
const COUNT: usize = 1000;

/// Makes a path along ids with gaps between them.
fn path(scratch: &Scratch, order: VertexOrder) -> Graph {
    let (input, output) = (scratch.path().join("path.el"), scratch.path().join("path.tegula"));
    let id = |vertex: usize| 3 * vertex * vertex + 1;
    let edges = (1..COUNT).map(|vertex| format!("{} {}\n", id(vertex), id(vertex - 1)));
    std::fs::write(&input, edges.collect::<String>()).unwrap();
    let grid = Grid { segment_log2: 6, column_log2: 6 };
    let mut config = ImportConfig { order: Some(order), ..ImportConfig::default() };
    config.tuning.grid = grid;
    import(&[input], &output, &config, &Silent, &Cancel::default()).unwrap();
    open_graph(&output, MEMORY, Backend::Auto).unwrap()
}

/// Writes values to disk.
fn written(graph: &Graph, values: &[u32]) -> StatesWriter<u32> {
    let options = RunOptions { memory: MEMORY, ..RunOptions::default() };
    let mut writer = StatesWriter::for_run(graph, &options).unwrap();
    writer.write(values).unwrap();
    writer
}

/// Puts values on disk, by id position.
fn on_disk(graph: &Graph, values: &[u32]) -> StatesByIdPosition<u32> {
    written(graph, values).finish_by_id_position().unwrap()
}

/// Draws id positions, some of which are of no vertex.
fn id_positions() -> Vec<u32> {
    let mut random = XorShift::new(4);
    let mut id_position = |_| match random.below(9) {
        0 => u32::MAX,
        _ => random.below(COUNT as u64) as u32,
    };
    (0..COUNT).map(&mut id_position).collect()
}

fn id_position_of(&value: &u32) -> IdPosition {
    if value == u32::MAX { IdPosition::NONE } else { IdPosition(value.into()) }
}

/// Returns the ids that values name, looked up in groups, and whether they were sorted.
fn ids_in_groups(graph: &Graph, values: &Values<u32>, group: usize) -> (Vec<Option<u64>>, bool) {
    let vertices = vec![VertexId(0); group];
    let mut ids = Vec::new();
    for first in (0..COUNT).step_by(group) {
        let rows = TableRows { first, vertices: &vertices[..group.min(COUNT - first)] };
        let named = values.at(&rows).unwrap();
        let column =
            values.ids_at(&rows, &named, id_position_of, graph, &Cancel::default()).unwrap();
        let column = column.as_any().downcast_ref::<UInt64Array>().unwrap().clone();
        assert!(first > 0 || lock(&values.named_ids).is_none(), "the first rows may be the last");
        ids.extend(column.iter());
    }
    let is_sorted = lock(&values.named_ids).is_some();
    (ids, is_sorted)
}

#[test]
fn ids_are_sorted_where_that_moves_fewer_bytes_than_passes() {
    let scratch = Scratch::new();
    let graph = path(&scratch, VertexOrder::Given);
    let IdChunk::Integers(ids) = first_ids(&graph) else { panic!("integers") };
    let id_positions = id_positions();
    let expected: Vec<Option<u64>> =
        id_positions.iter().map(|&id_position| ids.get(id_position as usize).copied()).collect();
    let bytes = on_disk(&graph, &id_positions).look_up_bytes::<u64>(&graph);
    let of_pass = (COUNT * size_of::<u64>()) as u64;
    let mut ways = [0; 2];
    for group in [1, 50, 99, 100, 125, 167, 200, 250, 333, 334, 500, 999, 1000] {
        let values = OrderedStates::ByIdPosition(on_disk(&graph, &id_positions)).into();
        let (found, is_sorted) = ids_in_groups(&graph, &values, group);
        assert_eq!(found, expected, "groups of {group}");
        // The first group is always looked through.
        let passes = COUNT.div_ceil(group) as u64 - 1;
        let is_less = bytes < passes * of_pass;
        assert_eq!(is_sorted, is_less, "groups of {group}: {bytes} bytes");
        ways[usize::from(is_sorted)] += 1;
    }
    assert!(ways[0] > 1 && ways[1] > 1, "{ways:?}");
}

#[test]
fn groups_on_disk_are_named_as_those_in_memory() {
    for order in [VertexOrder::Given, VertexOrder::Degree, VertexOrder::Dfs] {
        let scratch = Scratch::new();
        let graph = path(&scratch, order);
        // By dense id, the smallest vertex of each class modulo 7.
        let roots: Vec<u32> = (0..COUNT as u32).map(|vertex| vertex % 7).collect();
        let rows = TableRows { first: 0, vertices: &dense_ids(&graph) };
        let cancel = &Cancel::default();
        let named = |roots: States<u32>| {
            super::super::by_smallest(&graph, roots, cancel).unwrap().at(&rows).unwrap()
        };
        let expected = named(roots.clone().into());
        assert_eq!(named(written(&graph, &roots).finish().unwrap()), expected, "{order:?}");
        assert_eq!(expected.iter().collect::<std::collections::BTreeSet<_>>().len(), 7);
    }
}

fn first_ids(graph: &Graph) -> IdChunk {
    let mut first = None;
    let ids = graph.original_ids().unwrap();
    ids.for_each_chunk(|ids, _| {
        first.get_or_insert(ids);
        Ok::<(), tegula_engine::Error>(())
    })
    .unwrap();
    first.unwrap()
}

fn dense_ids(graph: &Graph) -> Vec<VertexId> {
    let mut dense = Vec::new();
    let ids = graph.original_ids().unwrap();
    ids.for_each_chunk(|_, vertices| {
        dense.extend_from_slice(vertices);
        Ok::<(), tegula_engine::Error>(())
    })
    .unwrap();
    dense
}
