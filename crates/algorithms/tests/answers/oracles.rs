//! Compares every algorithm with an oracle that shares no code with it, on every small graph, in
//! every vertex order. Algorithms that may follow rows run with every executor and encoding.

use crate::support::ways::{GRIDS, ROW_CUTS};
use crate::support::{
    EXECUTORS, components, find, import_edges, import_with, open, original_of, table, threads,
    with_executor,
};
use tegula_algorithms::Error;
use tegula_algorithms::centrality::pagerank::{PageRank, Stop};
use tegula_algorithms::components::wcc::{self, Method};
use tegula_algorithms::paths::bfs::Bfs;
use tegula_algorithms::paths::sssp::{self, SsspConfig};
use tegula_engine::{Executor, Graph, VertexId};
use tegula_import::ImportConfig;
use tegula_store::graph::VertexOrder;
use tegula_store::rows::RowEncoding;
use tegula_testkit::{
    EdgeList, Scratch, match_pagerank, match_personalized_pagerank, matching, pagerank_until,
    small_graphs, sssp as sssp_oracle, verify_bfs, verify_pagerank, verify_sssp, verify_wcc,
};

const ORDERS: [VertexOrder; 3] = [VertexOrder::Given, VertexOrder::Degree, VertexOrder::Dfs];

/// Runs a check on every small graph, imported in every order, with rows in each encoding in turn.
fn on_small_graphs_with_rows(undirected: bool, check: impl Fn(&EdgeList, &Graph)) {
    let mut encodings = RowEncoding::ALL.into_iter().cycle();
    let mut row_cuts = ROW_CUTS.into_iter().cycle();
    let mut grids = GRIDS.into_iter().cycle();
    for seed in 0..3 {
        let scratch = Scratch::new();
        for (name, mut edges) in small_graphs(seed) {
            for order in ORDERS {
                let rows = encodings.next();
                let mut config = ImportConfig {
                    order: Some(order),
                    rows,
                    reverse: rows,
                    undirected,
                    ..Default::default()
                };
                config.tuning.grid = grids.next().unwrap_or_default();
                config.tuning.row_cut = row_cuts.next().unwrap_or(ROW_CUTS[0]);
                let name = format!("{name}-{}", order.name());
                let directory = import_with(config, scratch.path(), &name, &edges);
                let graph = if undirected { edges.undirected() } else { edges.clone() };
                check(&graph, &open(&directory));
                // Orders after the first have weights.
                edges = edges.weighted(seed);
            }
            // The fourth of four steps: each order meets the same encoding in every graph.
            encodings.next();
        }
    }
}

/// Runs a check on every small graph, imported in every order, on each grid in turn.
fn on_small_graphs(check: impl Fn(&EdgeList, &Graph)) {
    let mut grids = GRIDS.into_iter().cycle();
    for seed in 0..3 {
        let scratch = Scratch::new();
        for (name, edges) in small_graphs(seed) {
            for order in ORDERS {
                let grid = grids.next().unwrap_or_default();
                let mut config = ImportConfig { order: Some(order), ..Default::default() };
                config.tuning.grid = grid;
                let name = format!("{name}-{}", order.name());
                check(&edges, &open(&import_with(config, scratch.path(), &name, &edges)));
            }
        }
    }
}

#[test]
fn pagerank_is_within_1e_5_of_double_precision() {
    on_small_graphs(|edges, graph| {
        let stop = Stop::Iterations(20);
        let outcome = PageRank::run(graph, stop, &threads(2)).unwrap();
        let ranks = table(graph, &outcome.states, f64::from);
        match_pagerank(edges, 0.85, 20, &ranks).unwrap();
    });
}

#[test]
#[ignore = "long"]
fn personalized_pagerank_is_within_1e_5_of_double_precision() {
    on_small_graphs(|edges, graph| {
        let vertices = edges.vertices();
        let Some((&first, &last)) = vertices.first().zip(vertices.last()) else { return };
        let one = vec![(last, 0.3)];
        let several = vec![(first, 1.0), (last, 2.5), (vertices[vertices.len() / 2], 0.0)];
        let twice = vec![(first, 1.0), (last, 1.0), (first, 1e-3)];
        for seeds in [one, several, twice] {
            let stop = Stop::Iterations(20);
            let dense: Vec<_> =
                seeds.iter().map(|&(id, weight)| (find(graph, id), weight)).collect();
            let program = PageRank::personalized(stop, graph.vertex_count(), &dense).unwrap();
            let outcome = tegula_engine::run(graph, program, &threads(2)).unwrap();
            let ranks = table(graph, &outcome.states, f64::from);
            match_personalized_pagerank(edges, 0.85, 20, &seeds, &ranks).unwrap();
        }
    });
}

#[test]
fn seeds_need_weights() {
    let stop = Stop::default();
    let first = VertexId(0);
    for seeds in [&[][..], &[(first, 0.0)], &[(first, -1.0)], &[(first, f64::NAN), (first, 1.0)]] {
        let result = PageRank::personalized(stop, 3, seeds);
        assert!(matches!(result, Err(Error::BadSeed { .. })), "{seeds:?}");
    }
}

#[test]
fn weights_of_seeds_count_in_proportion_however_great() {
    let scratch = Scratch::new();
    let edges = EdgeList::new(vec![(0, 1), (1, 2), (2, 0)]);
    let graph = open(&import_edges(scratch.path(), "g", &edges, VertexOrder::Given));
    let ranks = |weight: f64| {
        let seeds = [(VertexId(0), weight), (VertexId(1), weight)];
        let program = PageRank::personalized(Stop::default(), 3, &seeds).unwrap();
        tegula_engine::run(&graph, program, &threads(1)).unwrap().states
    };
    assert_eq!(ranks(f64::MAX), ranks(1.0));
}

#[test]
fn a_seed_may_be_given_a_million_times() {
    let scratch = Scratch::new();
    let edges = EdgeList::new(vec![(0, 1), (1, 2), (2, 0)]);
    let graph = open(&import_edges(scratch.path(), "g", &edges, VertexOrder::Given));
    let mut seeds = vec![(VertexId(0), 0.3); 1_000_000];
    seeds.push((VertexId(1), 300_000.0));
    let program = PageRank::personalized(Stop::Iterations(1), 3, &seeds).unwrap();
    let program = program.with_damping(0.0);
    let ranks = tegula_engine::run(&graph, program, &threads(1)).unwrap().states;
    assert_eq!(ranks, [0.5, 0.5, 0.0]);
}

#[test]
fn pagerank_with_a_tolerance_stops_where_the_oracle_stops() {
    on_small_graphs(|edges, graph| {
        let stop = Stop::Tolerance { tolerance: 1e-4, iterations_max: 200 };
        let outcome = PageRank::run(graph, stop, &threads(1)).unwrap();
        let (_, rounds) = pagerank_until(edges, 0.85, 1e-4, 200);
        let found = outcome.statistics.iterations;
        // The change may be rounded to either side of the tolerance.
        assert!(found.abs_diff(rounds as u64) <= 1, "{found} iterations, the oracle {rounds}");
    });
}

#[test]
fn ranks_with_a_tolerance_solve_the_equation_of_pagerank() {
    let tolerance = 1e-6;
    let stop = Stop::Tolerance { tolerance, iterations_max: 200 };
    on_small_graphs(|edges, graph| {
        let verify = |program: PageRank, seeds: &[(u64, f64)]| {
            let outcome = tegula_engine::run(graph, program, &threads(2)).unwrap();
            assert_eq!(outcome.program.has_converged(), Some(true));
            let ranks = table(graph, &outcome.states, f64::from);
            verify_pagerank(edges, 0.85, seeds, tolerance, &ranks).unwrap();
        };
        verify(PageRank::new(stop, graph.vertex_count()), &[]);
        for source in sources(edges) {
            let dense = [(find(graph, source), 1.0)];
            let program = PageRank::personalized(stop, graph.vertex_count(), &dense).unwrap();
            verify(program, &[(source, 1.0)]);
        }
    });
}

/// The first vertex, one in the middle and the last.
fn sources(edges: &EdgeList) -> Vec<u64> {
    let vertices = edges.vertices();
    let sources = [vertices.first(), vertices.get(vertices.len() / 2), vertices.last()];
    sources.into_iter().flatten().copied().collect()
}

#[test]
#[ignore = "long"]
fn bfs_finds_shortest_paths_from_every_kind_of_source_by_every_executor() {
    for undirected in [false, true] {
        on_small_graphs_with_rows(undirected, |edges, graph| {
            let originals = original_of(graph);
            for source in sources(edges) {
                let run = |executor| {
                    let options = with_executor(executor, 2);
                    Bfs::run(graph, find(graph, source), &options).unwrap().states
                };
                let states = run(Executor::Scan);
                let distances = table(graph, &states, |s| s.distance().map(u64::from));
                let parents = table(graph, &states, |s| s.parent().map(|p| originals[p.index()]));
                verify_bfs(edges, source, &distances, Some(&parents)).unwrap();
                assert!(run(Executor::Seek) == states && run(Executor::Auto) == states);
            }
        });
    }
}

#[test]
#[ignore = "long"]
fn sssp_finds_the_distances_of_the_oracle_to_the_bit_by_every_executor_and_delta() {
    for undirected in [false, true] {
        on_small_graphs_with_rows(undirected, |edges, graph| {
            for source in sources(edges) {
                let expected = sssp_oracle(edges, source);
                for executor in EXECUTORS {
                    for delta in [None, Some(1e-300), Some(0.1), Some(f64::MAX)] {
                        let options = with_executor(executor, 2);
                        let config = SsspConfig { delta, ..Default::default() };
                        let found = sssp::run(graph, find(graph, source), config, &options);
                        let found = table(graph, &found.unwrap().distances, |distance| distance);
                        verify_sssp(edges, source, &found).unwrap();
                        matching::exact(&expected, &found).unwrap();
                    }
                }
            }
        });
    }
}

#[test]
fn sssp_refuses_a_weight_that_shortens_a_path() {
    // 0 -> 1 -> 2 -> 1 is a cycle of negative length: a search that ignores weights would not end.
    for wrong in [-2.0, -1e-30, f32::MIN] {
        let scratch = Scratch::new();
        let mut edges = EdgeList::new(vec![(0, 1), (1, 2), (2, 1), (7, 8)]);
        edges.weights = Some(vec![1.0, 1.0, wrong, 1.0]);
        let rows = Some(RowEncoding::Gap);
        let config = ImportConfig { rows, reverse: rows, ..Default::default() };
        let graph = open(&import_with(config, scratch.path(), "g", &edges));
        for executor in EXECUTORS {
            let run = |source| {
                let options = with_executor(executor, 2);
                sssp::run(&graph, find(&graph, source), SsspConfig::default(), &options)
            };
            match run(0) {
                Err(Error::NegativeWeight { graph: named, .. }) => {
                    assert_eq!(named, graph.directory())
                }
                other => panic!("{wrong}, {executor:?}: {other:?}"),
            }
            // No path from vertex 7 leads over that edge.
            let found = table(&graph, &run(7).unwrap().distances, |distance| distance);
            assert_eq!(found[4], (8, 1.0));
        }
    }
}

#[test]
fn union_find_finds_the_components() {
    on_small_graphs(|edges, graph| {
        for workers in [1, 3] {
            let found = wcc::run(graph, Method::default(), &threads(workers)).unwrap();
            verify_wcc(edges, &components(graph, &found.roots)).unwrap();
        }
    });
}

#[test]
#[ignore = "long"]
fn propagation_finds_the_components_of_undirected_graphs_by_every_executor() {
    on_small_graphs_with_rows(true, |edges, graph| {
        let united = wcc::run(graph, Method::default(), &threads(2)).unwrap();
        verify_wcc(edges, &components(graph, &united.roots)).unwrap();
        for executor in EXECUTORS {
            let config = Method::Propagation;
            let found = wcc::run(graph, config, &with_executor(executor, 2)).unwrap();
            // Both name a component by its smallest id.
            assert_eq!(found.roots, united.roots, "{executor:?}");
        }
    });
}

#[test]
fn propagation_finds_the_components_of_directed_graphs() {
    on_small_graphs(|edges, graph| {
        let found = wcc::run(graph, Method::Propagation, &threads(2)).unwrap();
        verify_wcc(edges, &components(graph, &found.roots)).unwrap();
        let united = wcc::run(graph, Method::UnionFind, &threads(2)).unwrap();
        assert_eq!(found.roots, united.roots);
    });
}
