//! Components by propagation that stops after some iterations.

use serde_json::json;
use tegula_algorithms::{Error, find};
use tegula_engine::Executor;
use tegula_import::ImportConfig;
use tegula_store::graph::VertexOrder;
use tegula_store::rows::RowEncoding;
use tegula_testkit::matching::exact;
use tegula_testkit::neighbourhoods::smallest_within;
use tegula_testkit::{EdgeList, Scratch, small_graphs};

use crate::support::tables::{counts, summary};
use crate::support::{import_with, open, threads, with_executor};

fn undirected(order: VertexOrder) -> ImportConfig {
    ImportConfig {
        order: Some(order),
        rows: Some(RowEncoding::Gap),
        undirected: true,
        ..Default::default()
    }
}

#[test]
fn labels_are_the_smallest_ids_within_as_many_hops_as_iterations() {
    let scratch = Scratch::new();
    for (name, edges) in small_graphs(5) {
        for order in [VertexOrder::Given, VertexOrder::Degree] {
            let name = format!("{name}-{}", order.name());
            let graph = open(&import_with(undirected(order), scratch.path(), &name, &edges));
            for hops in [0, 1, 2, 5] {
                let expected = smallest_within(&edges.undirected(), hops);
                for executor in [Executor::Scan, Executor::Seek] {
                    let wanted = json!({ "method": "propagation", "max_iterations": hops });
                    let found = counts(&graph, "wcc", wanted, &with_executor(executor, 2));
                    exact(&expected, &found).expect(&name);
                }
            }
        }
    }
}

#[test]
fn a_run_that_stops_early_has_not_converged() {
    let scratch = Scratch::new();
    // The label 0 needs four hops, and a fifth iteration shows that nothing changes any more.
    let path = EdgeList::new((0..4).map(|vertex| (vertex, vertex + 1)).collect());
    let config = undirected(VertexOrder::Given);
    let graph = open(&import_with(config, scratch.path(), "path", &path));
    for (most, has_converged) in [(0, false), (3, false), (4, false), (5, true), (9, true)] {
        let wanted = json!({ "method": "propagation", "max_iterations": most });
        let found = summary(&graph, "wcc", wanted, &threads(2));
        assert_eq!(found["converged"], has_converged, "{most}: {found}");
    }
}

#[test]
fn other_methods_refuse_a_limit() {
    for method in ["union-find", "traversal"] {
        let request =
            find("wcc").unwrap().request(json!({ "method": method, "max_iterations": 3 }));
        match request.and_then(|request| request.check()) {
            Err(Error::IdleOption { option: "max_iterations", .. }) => {}
            other => panic!("{method}: {other:?}"),
        }
    }
}
