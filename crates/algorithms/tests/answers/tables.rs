//! Tables made of edges stop when no more rows are wanted, and stay within the memory budget.
//! Tables of vertices can be cut.

use crate::support::tables::Kept;
use crate::support::ways::with_rows;
use crate::support::{import_with, open, threads};
use arrow_array::RecordBatch;
use serde_json::json;
use tegula_algorithms::answer::{EdgeTable, NeighbourTable, RowSink, Table};
use tegula_algorithms::side_table::LocalPaths;
use tegula_algorithms::{Error, find};
use tegula_engine::{Arrays, Cancel, Error as RunError, Graph, RunOptions, VertexId};
use tegula_import::ImportConfig;
use tegula_machine::Error as MachineError;
use tegula_store::graph::VertexOrder;
use tegula_testkit::{EdgeList, Scratch};

/// A sink that wants one batch of rows.
#[derive(Default)]
struct First {
    batches: usize,
}

impl RowSink for First {
    fn write(&mut self, _rows: &RecordBatch) -> tegula_engine::Result<()> {
        self.batches += 1;
        Ok(())
    }

    fn wants_more(&self) -> bool {
        self.batches == 0
    }
}

#[test]
fn a_table_of_edges_ends_when_no_more_rows_are_wanted() {
    let scratch = Scratch::new();
    // More rows than one batch holds, and less than two batches, in one tile.
    let ends = || 0..220u64;
    let edges = ends().flat_map(|source| ends().map(move |target| (source, target))).collect();
    let config = ImportConfig::default();
    let graph = open(&import_with(config, scratch.path(), "dense", &EdgeList::new(edges)));
    assert_eq!(graph.tiles().len(), 1);
    let cancel = Cancel::default();
    let table = EdgeTable::new(&graph, 64 << 20, &cancel).unwrap();
    let mut first = First::default();
    table.write_rows(&graph, &mut first, &cancel).unwrap();
    assert_eq!(first.batches, 1);
    assert!(table.rows_of(0..220).is_none(), "an edge belongs to no vertex");
}

/// Returns the rows of a table as text.
#[track_caller]
fn rows(table: &dyn Table, graph: &Graph) -> Vec<String> {
    let mut kept = Kept::default();
    table.write_rows(graph, &mut kept, &Cancel::default()).unwrap();
    let texts = |batch: &RecordBatch| {
        let text = |row| format!("{:?}", batch.slice(row, 1).columns());
        (0..batch.num_rows()).map(text).collect::<Vec<_>>()
    };
    let rows: Vec<String> = kept.0.iter().flat_map(texts).collect();
    assert_eq!(rows.len() as u64, table.row_count(graph));
    rows
}

#[test]
fn tables_of_ranges_have_every_row_once_and_in_order() {
    let scratch = Scratch::new();
    let targets = scratch.join("targets.txt");
    std::fs::write(&targets, "290\n3\n17\n150\n200\n").unwrap();
    let edges = (1..300).flat_map(|v| [(v, v * 7 % 300 + 1), (v, v + 1)]).collect();
    let list = EdgeList::new(edges);
    let algorithms = [
        ("pagerank", json!({"iterations": 2})),
        ("bfs", json!({"source": "1", "parents": true})),
        ("bfs", json!({"source": "1", "targets": targets})),
        ("wcc", json!({})),
        ("degree", json!({})),
    ];
    for (order, arrays) in [
        (VertexOrder::Given, Arrays::InMemory),
        (VertexOrder::Degree, Arrays::InMemory),
        (VertexOrder::Degree, Arrays::OnDisk),
    ] {
        let config = ImportConfig { undirected: true, order: Some(order), ..Default::default() };
        let name = format!("{}-{arrays:?}", order.name());
        let graph = open(&import_with(config, scratch.path(), &name, &list));
        let options = RunOptions { arrays, ..threads(2) };
        for (algorithm, wanted) in &algorithms {
            let request = find(algorithm).unwrap().request(wanted.clone()).unwrap();
            let prepared = request.prepare(&graph, &options, &LocalPaths).unwrap();
            let answer = prepared.run(&graph, &options).unwrap().answer;
            let whole = rows(&*answer, &graph);
            let mut places = Vec::new();
            for vertices in [0..10, 10..10, 10..257, 257..graph.vertex_count()] {
                let part = rows(&*answer.rows_of(vertices.clone()).unwrap(), &graph);
                let place = |row| whole.iter().position(|other| other == row).unwrap();
                let own: Vec<usize> = part.iter().map(place).collect();
                assert!(own.is_sorted(), "{name}, {algorithm}: {vertices:?}");
                places.extend(own);
            }
            places.sort_unstable();
            assert!(places.into_iter().eq(0..whole.len()), "{name}, {algorithm}");
        }
    }
}

#[test]
fn a_table_of_neighbours_that_does_not_fit_is_refused_before_ranks_are_read() {
    let scratch = Scratch::new();
    let path = EdgeList::new((0..1000).map(|vertex| (vertex, vertex + 1)).collect());
    let config = with_rows(VertexOrder::Degree, false);
    let graph = open(&import_with(config, scratch.path(), "path", &path));
    let vertices = || (0..graph.vertex_count()).map(VertexId).collect::<Vec<_>>();
    // Reading ranks would end as cancelled.
    let cancelled = Cancel::default();
    cancelled.cancel();
    let within = |memory| RunOptions { memory, cancel: cancelled.clone(), ..threads(1) };
    match NeighbourTable::of(&graph, vertices(), &within(1 << 20)) {
        Err(Error::Run(RunError::Machine(MachineError::OverBudget { budget, .. }))) => {
            assert_eq!(budget, 1 << 20)
        }
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("there is no room"),
    }
    let ample = NeighbourTable::of(&graph, vertices(), &within(1 << 30));
    assert!(matches!(ample, Err(Error::Run(RunError::Machine(MachineError::Cancelled)))));
}
