//! Declared vertices, with or without an edge: a handful of edges among up to 2^40 - 1 vertices.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use tegula_import::input::Vertices;
use tegula_import::{ImportConfig, import};
use tegula_machine::Error as MachineError;
use tegula_machine::disk::{Backend, Caching, Pool, Reader};
use tegula_machine::threads::{Cancel, Silent};
use tegula_store::graph::{Graph, IdType, VertexOrder};
use tegula_store::rows::RowEncoding;
use tegula_store::tiles::Grid;
use tegula_store::{Error, OriginalId, Result, VERTEX_COUNT_MAX};
use tegula_testkit::{Scratch, XorShift};

/// The vertex counts of the largest graphs with short ids, and of the smallest without.
const COUNTS_NEAR_32_BITS: [u64; 3] = [(1 << 32) - 1, 1 << 32, (1 << 32) + 1];

fn config(vertices: u64, order: Option<VertexOrder>) -> ImportConfig {
    ImportConfig {
        memory: 1 << 30,
        threads: 2,
        force: true,
        allow_empty: true,
        vertices: Some(Vertices::Count(vertices)),
        order,
        ..Default::default()
    }
}

/// Imports pairs of ids, with a weight if the config asks for it.
fn imported(
    scratch: &Scratch,
    edges: &[(u64, u64, f32)],
    config: &ImportConfig,
) -> Result<PathBuf> {
    let (input, output) = (scratch.join("g.bin64"), scratch.join("g.tegula"));
    let mut bytes = Vec::new();
    for (source, target, weight) in edges {
        bytes.extend([source.to_le_bytes(), target.to_le_bytes()].concat());
        bytes.extend(weight.to_le_bytes().into_iter().filter(|_| config.input.weighted));
    }
    fs::write(&input, bytes).unwrap();
    import(&[input], &output, config, &Silent, &Cancel::default()).map(|_| output)
}

fn open(directory: &Path) -> Graph {
    let reader = Reader::open(Backend::Auto, Pool::new(64 << 20)).unwrap();
    Graph::open(directory, &reader, Caching::PageCache).unwrap()
}

/// Returns the dense id of an original id.
fn dense(graph: &Graph, id: u64) -> u64 {
    graph.original_ids().unwrap().find(&OriginalId::Integer(id)).unwrap().unwrap().0
}

/// Returns all edges between dense ids, sorted, with the bits of their weights.
fn edges_of(graph: &Graph) -> Vec<(u64, u64, u32)> {
    let mut edges = Vec::new();
    for index in 0..graph.tiles().len() {
        let read = graph.read_tiles(index..index + 1, true).wait().unwrap();
        let (tile, weights) = read.get(graph, index);
        let visit = |entry: usize, source, target| {
            let weight = weights.get(entry).map_or(0, |weight: &f32| weight.to_bits());
            edges.push((source, target, weight));
        };
        graph.for_each_edge(index, tile, visit).unwrap();
    }
    edges.sort_unstable();
    edges
}

/// Asserts that a graph has the declared vertices and these edges, in an order that it may have.
fn check(graph: &Graph, edges: &[(u64, u64, f32)], config: &ImportConfig) {
    let Some(Vertices::Count(vertices)) = config.vertices else { panic!("none are declared") };
    assert_eq!(graph.vertex_count(), vertices);
    assert_eq!(graph.manifest().ids, IdType::Range);
    let weight = |weight: f32| if config.input.weighted { weight.to_bits() } else { 0 };
    let mut expected = Vec::new();
    let mut degrees: BTreeMap<u64, [u32; 2]> = BTreeMap::new();
    for &(source, target, of_edge) in edges {
        let mut ends = vec![(source, target)];
        ends.extend((config.undirected && source != target).then_some((target, source)));
        for (source, target) in ends {
            expected.push((dense(graph, source), dense(graph, target), weight(of_edge)));
            degrees.entry(source).or_default()[0] += 1;
            degrees.entry(target).or_default()[1] += 1;
        }
    }
    expected.sort_unstable();
    assert_eq!(edges_of(graph), expected);
    let found: BTreeMap<u64, [u32; 2]> = {
        let mut found = BTreeMap::new();
        graph
            .for_each_degrees(|first, out, into| {
                let here = (first..).zip(out.iter().zip(into));
                found.extend(
                    here.filter(|(_, ends)| *ends != (&0, &0)).map(|(v, (&o, &i))| (v, [o, i])),
                );
                Ok(())
            })
            .unwrap();
        found
    };
    let expected: BTreeMap<u64, [u32; 2]> =
        degrees.iter().map(|(&id, &ends)| (dense(graph, id), ends)).collect();
    assert_eq!(found, expected);
    let is_given = graph.manifest().order.name == "given";
    for (id, _) in degrees {
        let dense = dense(graph, id);
        assert!(if is_given { dense == id } else { dense < expected.len() as u64 });
    }
    // No other vertex has one of these places.
    for stranger in [1, 2, vertices / 3, vertices - 2] {
        if !expected.is_empty() && !found.contains_key(&dense(graph, stranger)) && !is_given {
            assert!(dense(graph, stranger) >= expected.len() as u64);
        }
    }
}

/// Edges at both ends of the ids and in the middle; some repeat others, one is a loop.
fn extreme(vertices: u64) -> Vec<(u64, u64, f32)> {
    let last = vertices - 1;
    vec![
        (0, last, 0.5),
        (last, 0, 0.25),
        (1 << 31, last, 3.0),
        (1 << 31, (1 << 31) + 1, 1.0),
        (last, last, 2.0),
        (last - (1 << 20), 1 << 31, 7.0),
        (0, last, 0.5),
    ]
}

#[test]
#[ignore = "long"]
fn ids_may_have_up_to_40_bits() {
    let orders =
        [Some(VertexOrder::Given), Some(VertexOrder::Degree), Some(VertexOrder::Dfs), None];
    for vertices in COUNTS_NEAR_32_BITS.into_iter().chain([VERTEX_COUNT_MAX]) {
        // The largest graphs take seconds each.
        let orders = if vertices == VERTEX_COUNT_MAX { &orders[..2] } else { &orders[..] };
        for &order in orders {
            for (undirected, weighted) in [(false, true), (true, false)] {
                let scratch = Scratch::new();
                let mut config = ImportConfig { undirected, ..config(vertices, order) };
                config.input.weighted = weighted;
                let graph = open(&imported(&scratch, &extreme(vertices), &config).unwrap());
                check(&graph, &extreme(vertices), &config);
                graph.verify(&Silent, &Cancel::default()).unwrap();
            }
        }
    }
}

#[test]
#[ignore = "long"]
fn edges_may_be_spread_over_all_vertices() {
    let mut random = XorShift::new(40);
    let mut id = || random.below(VERTEX_COUNT_MAX);
    let edges: Vec<(u64, u64, f32)> = (0..5_000).map(|_| (id(), id(), 0.0)).collect();
    let scratch = Scratch::new();
    let config = config(VERTEX_COUNT_MAX, Some(VertexOrder::Given));
    let graph = open(&imported(&scratch, &edges, &config).unwrap());
    let mut expected: Vec<(u64, u64, u32)> =
        edges.iter().map(|&(source, target, _)| (source, target, 0)).collect();
    expected.sort_unstable();
    assert!(edges_of(&graph) == expected);
    graph.verify(&Silent, &Cancel::default()).unwrap();
}

#[test]
fn the_graph_does_not_depend_on_the_memory() {
    let vertices = (1 << 32) + 1;
    let files = |memory, threads, order| {
        let scratch = Scratch::new();
        let config = ImportConfig { memory, threads, ..config(vertices, Some(order)) };
        let directory = imported(&scratch, &extreme(vertices), &config).unwrap();
        let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap());
        let read = |e: fs::DirEntry| (e.file_name(), fs::read(e.path()).unwrap());
        entries.map(read).collect::<BTreeMap<_, _>>()
    };
    for order in [VertexOrder::Given, VertexOrder::Degree] {
        assert!(files(64 << 20, 1, order) == files(1 << 30, 2, order));
    }
}

#[test]
fn impossible_vertices_are_refused_and_nothing_is_left() {
    let scratch = Scratch::new();
    let refused = |edges: &[(u64, u64, f32)], config: &ImportConfig| {
        let error = imported(&scratch, edges, config).unwrap_err();
        assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 1, "the input alone");
        error
    };
    let error = refused(&[(3, 10, 0.0)], &config(10, None));
    assert!(matches!(error, Error::BadInput { .. }), "{error}");
    assert!(
        error.to_string().contains("the id 10") && error.to_string().contains("below 10"),
        "{error}"
    );
    let error = refused(&[(3, 1 << 40, 0.0)], &config(VERTEX_COUNT_MAX, None));
    assert!(error.to_string().contains("1099511627776"), "{error}");
    let error = refused(&[(3, u64::MAX, 0.0)], &config(10, None));
    assert!(error.to_string().contains("the id 18446744073709551615"), "{error}");
    let with_rows = ImportConfig { rows: Some(RowEncoding::default()), ..config(1 << 32, None) };
    let error = refused(&[(3, 4, 0.0)], &with_rows);
    assert!(
        matches!(error, Error::Machine(MachineError::Limit { found: 0x1_0000_0000, .. })),
        "{error}"
    );
    let error = refused(&[(3, 4, 0.0)], &config(VERTEX_COUNT_MAX + 1, None));
    assert!(
        matches!(error, Error::Machine(MachineError::Limit { limit: VERTEX_COUNT_MAX, .. })),
        "{error}"
    );
    let little = ImportConfig { memory: 64 << 20, ..config(VERTEX_COUNT_MAX, None) };
    let error = refused(&[(3, 4, 0.0)], &little);
    assert!(
        matches!(error, Error::Machine(MachineError::OverBudget { budget: 0x400_0000, .. })),
        "{error}"
    );
    let names = scratch.join("g.bin64");
    fs::remove_file(&names).unwrap();
    fs::write(scratch.join("names.el"), "Rome Pisa\n").unwrap();
    let inputs = [scratch.join("names.el")];
    let output = scratch.join("g.tegula");
    let error =
        import(&inputs, &output, &config(10, None), &Silent, &Cancel::default()).unwrap_err();
    assert!(
        matches!(error, Error::BadInput { .. }) && error.to_string().contains("strings"),
        "{error}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn small_graphs_have_their_edges_and_vertices(
        vertices in prop_oneof![Just(7u64), Just(64), Just(300), Just(5000)],
        ends in prop::collection::vec((any::<u64>(), any::<u64>(), 0u8..4), 0..200),
        order in prop_oneof![
            Just(Some(VertexOrder::Given)), Just(Some(VertexOrder::Degree)),
            Just(Some(VertexOrder::Dfs)), Just(None)
        ],
        spread in 1u64..40,
        undirected: bool,
    ) {
        let scratch = Scratch::new();
        // If the edges have few distinct ids, most vertices have no edge.
        let id = |number: u64| number % vertices / spread * spread;
        let edges: Vec<(u64, u64, f32)> = ends
            .into_iter()
            .map(|(source, target, weight)| (id(source), id(target), f32::from(weight)))
            .collect();
        let grid = Grid { segment_log2: 6, column_log2: 7 };
        let mut config = ImportConfig { undirected, ..config(vertices, order) };
        (config.tuning.grid, config.tuning.batch_edges) = (grid, 40);
        let graph = open(&imported(&scratch, &edges, &config).unwrap());
        check(&graph, &edges, &config);
        graph.verify(&Silent, &Cancel::default()).unwrap();
    }
}
