//! Searches against the direction of edges and in both directions. Their answers are those of a
//! search along the edges of the reversed graph, or of the graph with each edge both ways.

use std::path::Path;

use crate::support;
use crate::support::ways::{GRIDS, ROW_CUTS, with_rows};
use crate::support::{AMPLE, find, import_with, open, table, tables, threads, with_executor};
use arrow_array::RecordBatch;
use serde_json::{Value, json};
use tegula_algorithms::algorithm::{EdgeDirection, Edges, Needs};
use tegula_algorithms::paths::bfs::Bfs;
use tegula_algorithms::paths::sssp::{self, Method, SsspConfig};
use tegula_algorithms::side_table::LocalPaths;
use tegula_engine::traverse::Directions;
use tegula_engine::{
    Arrays, Error, Executor, Graph, ProcessKind, RowReader, RunOptions, open_graph,
};
use tegula_generators::{Rmat, edges};
use tegula_import::ImportConfig;
use tegula_machine::Error as MachineError;
use tegula_machine::disk::{Backend, Targets};
use tegula_machine::threads::{Cancel, Workers};
use tegula_store::graph::VertexOrder;
use tegula_store::rows::Direction;
use tegula_testkit::{EdgeList, Scratch, Table, bfs as bfs_oracle, sssp as sssp_oracle};

const DIRECTIONS: [EdgeDirection; 3] = [EdgeDirection::Out, EdgeDirection::In, EdgeDirection::Both];

/// The edges that a search follows from source to target.
fn followed(graph: &EdgeList, direction: EdgeDirection) -> EdgeList {
    let turned = graph.edges.iter().map(|&(source, target)| (target, source));
    let twice = |weights: &Vec<f32>| [&weights[..], &weights[..]].concat();
    match direction {
        EdgeDirection::Out => graph.clone(),
        EdgeDirection::In => EdgeList { edges: turned.collect(), ..graph.clone() },
        EdgeDirection::Both => EdgeList {
            edges: graph.edges.iter().copied().chain(turned).collect(),
            weights: graph.weights.as_ref().map(twice),
            ..graph.clone()
        },
    }
}

/// A skewed directed graph.
fn skewed(seed: u64) -> EdgeList {
    EdgeList::new(edges(&Rmat::new(9, 4, seed).unwrap()))
}

/// In the given order, dense ids do not depend on the direction of edges, and neither does the
/// choice of parents.
fn import(folder: &Path, name: &str, graph: &EdgeList, number: usize) -> Graph {
    let mut config = with_rows(VertexOrder::Given, false);
    config.tuning.grid = GRIDS[number % GRIDS.len()];
    config.tuning.row_cut = ROW_CUTS[number % ROW_CUTS.len()];
    open(&import_with(config, folder, name, graph))
}

/// Ways to run along rows; the answer must not depend on them.
fn ways() -> [RunOptions<'static>; 4] {
    [
        threads(1),
        threads(3),
        with_executor(Executor::Seek, 2),
        RunOptions { arrays: Arrays::OnDisk, ..threads(2) },
    ]
}

/// The options of the searches, without the direction.
fn questions(folder: &Path, graph: &EdgeList) -> Vec<(&'static str, Value)> {
    let vertices = graph.vertices();
    let listed = |name: &str, step: usize| {
        let path = folder.join(name);
        let ids = vertices.iter().step_by(step).map(|id| format!("{id}\n"));
        std::fs::write(&path, ids.collect::<String>()).unwrap();
        path
    };
    let (sources, targets) = (listed("sources.txt", 97), listed("targets.txt", 5));
    let source = vertices[vertices.len() / 2].to_string();
    vec![
        ("k-hop", json!({ "source": source, "hops": 2 })),
        ("k-hop", json!({ "sources": sources, "hops": 3 })),
        ("bfs", json!({ "source": source })),
        ("bfs", json!({ "source": source, "parents": true })),
        ("bfs", json!({ "sources": sources, "cutoff": 2, "parents": true })),
        ("bfs", json!({ "source": source, "targets": targets })),
        ("sssp", json!({ "source": source })),
        ("sssp", json!({ "source": source, "delta": 0.02 })),
        ("sssp", json!({ "sources": sources, "parents": true })),
        ("sssp", json!({ "source": source, "targets": targets, "cutoff": 2.5 })),
        ("sssp", json!({ "source": source, "method": "dijkstra" })),
    ]
}

fn answer(
    graph: &Graph,
    name: &str,
    question: &Value,
    direction: EdgeDirection,
    options: &RunOptions<'_>,
) -> Vec<RecordBatch> {
    let mut question = question.clone();
    question["direction"] = json!(direction);
    tables::answer(graph, name, question, options)
}

#[test]
fn searches_match_those_on_the_reversed_graph() {
    let scratch = Scratch::new();
    for (number, is_weighted) in [false, true, true].into_iter().enumerate() {
        let edges = skewed(number as u64 + 1);
        let edges = if is_weighted { edges.weighted(7) } else { edges };
        let graph = import(scratch.path(), &format!("{number}"), &edges, number);
        let questions = questions(scratch.path(), &edges);
        for direction in DIRECTIONS {
            let name = format!("{number}-{direction:?}");
            let turned = import(scratch.path(), &name, &followed(&edges, direction), number);
            for (name, question) in &questions {
                let expected = answer(&turned, name, question, EdgeDirection::Out, &threads(2));
                for options in ways() {
                    let found = answer(&graph, name, question, direction, &options);
                    assert_eq!(found, expected, "{name} {question} {direction:?}");
                }
            }
        }
    }
}

#[test]
fn distances_are_those_of_the_oracles_in_every_order() {
    let scratch = Scratch::new();
    let edges = skewed(5).weighted(3);
    let source = edges.vertices()[40];
    for order in [VertexOrder::Degree, VertexOrder::Dfs] {
        let config = with_rows(order, false);
        let graph = open(&import_with(config, scratch.path(), order.name(), &edges));
        for direction in DIRECTIONS {
            let followed = followed(&edges, direction);
            let start = find(&graph, source);
            let program = Bfs::<u32>::new(start).following(direction.into());
            let found = tegula_engine::run(&graph, program, &threads(2)).unwrap();
            let hops: Table<_> =
                table(&graph, &found.states, |reached| reached.distance().map(u64::from));
            assert_eq!(hops, bfs_oracle(&followed, source), "{direction:?}");
            for method in [Method::DeltaStepping, Method::Dijkstra] {
                let config = SsspConfig { method, direction, ..Default::default() };
                let found = sssp::run(&graph, start, config, &threads(2)).unwrap();
                let distances = table(&graph, &found.distances, |distance| distance);
                assert_eq!(distances, sssp_oracle(&followed, source), "{direction:?} {method:?}");
            }
        }
    }
}

#[test]
fn directions_are_the_same_on_an_undirected_graph() {
    let scratch = Scratch::new();
    let edges = skewed(2).weighted(2);
    let config = with_rows(VertexOrder::Degree, true);
    let graph = open(&import_with(config, scratch.path(), "g", &edges));
    for (name, question) in questions(scratch.path(), &edges) {
        let expected = answer(&graph, name, &question, EdgeDirection::Out, &threads(2));
        for direction in DIRECTIONS {
            for options in ways() {
                let found = answer(&graph, name, &question, direction, &options);
                assert_eq!(found, expected, "{name} {question} {direction:?}");
            }
        }
    }
    // Tiles have both directions of each edge.
    let scan = with_executor(Executor::Scan, 2);
    let program = Bfs::<u32>::new(find(&graph, edges.vertices()[0])).following(Directions::Both);
    let found = tegula_engine::run(&graph, program, &scan).unwrap();
    assert!(found.statistics.processes.iter().all(|&process| process == ProcessKind::Scan));
}

#[test]
fn a_search_runs_within_its_needs_and_is_refused_with_the_overhead_alone() {
    let scratch = Scratch::new();
    let edges = skewed(3).weighted(5);
    let graph = import(scratch.path(), "g", &edges, 1);
    for (name, question) in questions(scratch.path(), &edges) {
        for direction in [EdgeDirection::In, EdgeDirection::Both] {
            let mut options = question.clone();
            options["direction"] = json!(direction);
            let request = tegula_algorithms::find(name).unwrap().request(options).unwrap();
            let prepared = request.prepare(&graph, &threads(2), &LocalPaths).unwrap();
            let needs = Needs::of(&prepared, &graph, 2, false).unwrap();
            assert!(needs.build_bytes.is_none() && needs.estimate.on_disk.is_none());
            drop(prepared);
            let memory = needs.needed();
            let run = |memory| {
                let graph = open_graph(graph.directory(), memory, Backend::Auto).unwrap();
                let options = RunOptions { memory, ..threads(2) };
                let prepared = request.prepare(&graph, &options, &LocalPaths).unwrap();
                prepared.run(&graph, &options).map(drop)
            };
            run(memory).unwrap_or_else(|error| panic!("{name} {question} {direction:?}: {error}"));
            // The overhead has no room for arrays, caches and code. It is enough to read the tables
            // of sources and targets.
            let refused = run(needs.estimate.overhead_bytes);
            assert!(
                matches!(
                    refused,
                    Err(tegula_algorithms::Error::Run(Error::Machine(
                        MachineError::OverBudget { .. }
                    )))
                ),
                "{name} {question}: {refused:?}"
            );
        }
    }
}

#[test]
fn rows_of_the_wanted_direction_are_required() {
    let scratch = Scratch::new();
    let edges = skewed(4);
    let rows = with_rows(VertexOrder::Given, false);
    let source = edges.vertices()[3];
    let run = |graph: &Graph, direction: EdgeDirection, executor| {
        let options = with_executor(executor, 2);
        let program = Bfs::<u32>::new(find(graph, source)).following(direction.into());
        tegula_engine::run(graph, program, &options)
    };
    let both = open(&import_with(rows.clone(), scratch.path(), "both", &edges));
    let layouts = [
        ("tiles", ImportConfig { rows: None, reverse: None, ..rows.clone() }),
        ("rows", ImportConfig { reverse: None, ..rows.clone() }),
        ("reverse", ImportConfig { rows: None, ..rows }),
    ];
    for (name, config) in layouts {
        let (has_rows, has_reverse) = (config.rows.is_some(), config.reverse.is_some());
        let graph = open(&import_with(config, scratch.path(), name, &edges));
        for (direction, is_there) in
            [(EdgeDirection::In, has_reverse), (EdgeDirection::Both, has_rows && has_reverse)]
        {
            for executor in support::EXECUTORS {
                let expected = run(&both, direction, Executor::Auto).unwrap().states;
                match run(&graph, direction, executor) {
                    Ok(found) => {
                        assert!(is_there && found.states == expected, "{name} {direction:?}");
                        let scan = ProcessKind::Scan;
                        assert!(!found.statistics.processes.contains(&scan), "{direction:?}");
                    }
                    Err(Error::MissingLayout { .. }) => assert!(!is_there, "{name} {direction:?}"),
                    Err(other) => panic!("{name} {direction:?}: {other}"),
                }
            }
        }
    }
}

#[test]
fn rows_that_are_open_serve_every_direction() {
    let scratch = Scratch::new();
    let edges = skewed(6).weighted(6);
    let graph = import(scratch.path(), "g", &edges, 0);
    let readers = Direction::ALL.map(|direction| {
        let cache = RowReader::cache_size_max(&graph, direction, true);
        let rows = RowReader::open(&graph, direction, true, cache, &Targets::default());
        let rows = rows.unwrap().unwrap();
        Workers::scope(2, |workers| rows.unpack(workers, &Cancel::default())).unwrap();
        rows
    });
    let [rows, reverse] = readers.each_ref().map(Some);
    for (name, question) in questions(scratch.path(), &edges) {
        for direction in DIRECTIONS {
            let expected = answer(&graph, name, &question, direction, &threads(2));
            for (rows, reverse) in [(rows, reverse), (rows, None), (None, reverse)] {
                for threads in [1, 3] {
                    let options = RunOptions { rows, reverse, ..support::threads(threads) };
                    let found = answer(&graph, name, &question, direction, &options);
                    assert_eq!(found, expected, "{name} {question} {direction:?}");
                }
            }
        }
    }
}

#[test]
fn a_search_far_against_edges_pulls_along_them() {
    let scratch = Scratch::new();
    let edges = EdgeList::new(edges(&Rmat::new(15, 16, 1).unwrap()));
    let config = with_rows(VertexOrder::Degree, false);
    let graph = open(&import_with(config, scratch.path(), "g", &edges));
    let hub = tegula_engine::VertexId(0);
    for direction in [Directions::Reverse, Directions::Both] {
        let program = || Bfs::<u32>::new(hub).following(direction);
        let found = tegula_engine::run(&graph, program(), &threads(2)).unwrap();
        let kinds = found.statistics.processes;
        assert!(kinds.contains(&ProcessKind::Pull), "{direction:?}: {kinds:?}");
        assert!(!kinds.contains(&ProcessKind::Scan), "{kinds:?}");
        let alone = RunOptions { memory: AMPLE, ..threads(1) };
        let alone = tegula_engine::run(&graph, program(), &alone).unwrap();
        assert!(found.states == alone.states, "{direction:?}");
        let rows = |reached: &[_]| {
            table(&graph, reached, |state: tegula_algorithms::paths::bfs::Reached| {
                state.distance().map(u64::from)
            })
        };
        let source = support::original_of(&graph)[0];
        let way =
            if direction == Directions::Both { EdgeDirection::Both } else { EdgeDirection::In };
        assert_eq!(rows(&found.states), bfs_oracle(&followed(&edges, way), source));
    }
}

#[test]
fn edges_say_whether_tiles_can_be_scanned() {
    let scratch = Scratch::new();
    let directed = import(scratch.path(), "directed", &skewed(1), 0);
    let config = with_rows(VertexOrder::Given, true);
    let undirected = open(&import_with(config, scratch.path(), "undirected", &skewed(1)));
    for direction in DIRECTIONS {
        let is_forward = direction == EdgeDirection::Out;
        for (name, options) in [
            ("bfs", json!({ "source": "1", "direction": direction })),
            ("sssp", json!({ "source": "1", "direction": direction })),
        ] {
            let request = tegula_algorithms::find(name).unwrap().request(options).unwrap();
            assert!(matches!(request.edges, Edges::Either { .. }));
            assert_eq!(request.edges.can_scan(&directed), is_forward, "{name} {direction:?}");
            assert!(request.edges.can_scan(&undirected), "{name} {direction:?}");
        }
    }
}
