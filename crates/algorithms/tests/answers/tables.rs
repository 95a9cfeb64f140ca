//! Tables made of edges stop when no more rows are wanted, and stay within the memory budget.

use crate::support::ways::with_rows;
use crate::support::{import_with, open, threads};
use arrow_array::RecordBatch;
use tegula_algorithms::Error;
use tegula_algorithms::answer::{EdgeTable, NeighbourTable, RowSink, Table};
use tegula_engine::{Cancel, Error as RunError, RunOptions, VertexId};
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
