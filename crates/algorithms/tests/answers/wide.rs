//! Ids beyond 32 bits: graphs with few edges, in which most vertices have none.

use std::path::{Path, PathBuf};

use crate::support;
use crate::support::{AMPLE, import_with};
use rustix::fs::statvfs;
use tegula_algorithms::algorithm::Algorithm;
use tegula_algorithms::components::wcc::{self, Method, WccOptions};
use tegula_algorithms::paths::bfs::{Bfs, Reached};
use tegula_engine::{Arrays, Error, Graph, RunOptions, States, VertexId, run_anywhere};
use tegula_import::ImportConfig;
use tegula_import::input::Vertices;
use tegula_machine::Error as MachineError;
use tegula_machine::disk::Backend;
use tegula_store::graph::VertexOrder;
use tegula_store::tiles::Grid;
use tegula_testkit::data::skip;
use tegula_testkit::{EdgeList, Scratch};

/// Bytes of memory: a few segments.
const MEMORY: u64 = 512 << 20;

/// A cycle through a few vertices, the last vertex among them, and one edge that leaves it.
fn cycle(vertices: u64) -> (EdgeList, [u64; 5]) {
    let last = vertices - 1;
    let on_cycle = [0, 5 << 28, last - (1 << 26), last, 1 << 31];
    let next = on_cycle.into_iter().cycle().skip(1);
    let mut edges: Vec<(u64, u64)> = on_cycle.into_iter().zip(next).collect();
    edges.push((last, last - 1));
    (EdgeList::new(edges), on_cycle)
}

fn import_cycle(scratch: &Scratch, vertices: u64, order: VertexOrder) -> (PathBuf, [u64; 5]) {
    let (edges, on_cycle) = cycle(vertices);
    let config = ImportConfig {
        order: Some(order),
        vertices: Some(Vertices::Count(vertices)),
        ..ImportConfig::default()
    };
    (
        import_with(config, scratch.path(), &format!("cycle-{vertices}-{}", order.name()), &edges),
        on_cycle,
    )
}

/// Whether the disk has room for arrays of `bytes` bytes; prints a notice if not.
fn has_room(folder: &Path, bytes: u64) -> bool {
    let disk = statvfs(folder).unwrap();
    let has_room = disk.f_bavail * disk.f_frsize > bytes;
    if !has_room {
        skip(&format!("{} has no room for {} GiB", folder.display(), bytes >> 30));
    }
    has_room
}

fn hops(states: &States<Reached<()>>, vertex: u64) -> Option<u32> {
    let vertex = vertex as usize;
    states.read(vertex..vertex + 1).unwrap()[0].distance()
}

#[test]
#[ignore = "long"]
fn a_search_goes_around_a_cycle_on_both_sides_of_32_bits() {
    for vertices in [(1u64 << 32) - 1, 1 << 32, (1 << 32) + 1] {
        let scratch = Scratch::new();
        // A run reserves two arrays of 4 bytes a vertex on disk, but writes few of their pages.
        if !has_room(scratch.path(), 36 << 30) {
            return;
        }
        let (directory, on_cycle) = import_cycle(&scratch, vertices, VertexOrder::Given);
        let graph = tegula_engine::open_graph(&directory, MEMORY, Backend::Auto).unwrap();
        assert_eq!(graph.vertex_count(), vertices);
        let options = RunOptions { memory: MEMORY, threads: 2, ..RunOptions::default() };
        let source = VertexId(on_cycle[2]);
        let outcome = run_anywhere(&graph, Bfs::<()>::new(source), &options).unwrap();
        assert_eq!(outcome.statistics.iterations, 5, "the last one finds nothing new");
        for (number, vertex) in on_cycle.into_iter().enumerate() {
            assert_eq!(hops(&outcome.states, vertex), Some((number as u32 + 3) % 5));
        }
        assert_eq!(hops(&outcome.states, vertices - 2), Some(2));
        for stranger in [1, 1 << 20, (1 << 31) - 1, vertices - 3] {
            assert_eq!(hops(&outcome.states, stranger), None);
        }
        let written = outcome.statistics.bytes_written;
        assert!(written < 64 << 20, "{written} bytes: blocks that were not reached");
    }
}

#[test]
fn runs_that_need_arrays_in_memory_say_so() {
    let scratch = Scratch::new();
    let (directory, _) = import_cycle(&scratch, (1 << 32) + 1, VertexOrder::Degree);
    let graph = tegula_engine::open_graph(&directory, MEMORY, Backend::Auto).unwrap();
    let options = RunOptions { memory: MEMORY, arrays: Arrays::InMemory, ..RunOptions::default() };
    let refused = tegula_engine::run(&graph, Bfs::<()>::new(VertexId(0)), &options);
    assert!(
        matches!(refused, Err(Error::Machine(MachineError::Limit { found, .. })) if found == (1 << 32) + 1)
    );
    let refused = wcc::run(&graph, Method::default(), &options).unwrap_err();
    assert!(refused.to_string().contains("this run holds an array over all"), "{refused}");
    let estimate = WccOptions::default().estimate(&graph, &(), 2).unwrap();
    assert!(estimate.plan_on_disk(2 << 30).is_some(), "labels may lie on disk");
}

/// A small graph with short ids, for programs that are told to use long ids.
fn small(scratch: &Scratch) -> Graph {
    let edges = (0..4000u64).map(|number| (number * 7919 % 1500, number * number % 1500));
    let mut graph = EdgeList::new(edges.collect());
    let reversed: Vec<_> = graph.edges.iter().map(|&(source, target)| (target, source)).collect();
    graph.edges.extend(reversed);
    let grid = Grid { segment_log2: 7, column_log2: 8 };
    let mut config = ImportConfig { order: Some(VertexOrder::Degree), ..Default::default() };
    config.tuning.grid = grid;
    support::open(&import_with(config, scratch.path(), "small", &graph))
}

#[test]
fn long_ids_find_the_same_parents() {
    let scratch = Scratch::new();
    let graph = small(&scratch);
    for arrays in [Arrays::InMemory, Arrays::OnDisk] {
        let options = RunOptions { memory: AMPLE, threads: 2, arrays, ..RunOptions::default() };
        let short = run_anywhere(&graph, Bfs::<u32>::new(VertexId(3)), &options).unwrap();
        let long = run_anywhere(&graph, Bfs::<u64>::new(VertexId(3)), &options).unwrap();
        let none = run_anywhere(&graph, Bfs::<()>::new(VertexId(3)), &options).unwrap();
        let (short, long) = (short.states.into_vec().unwrap(), long.states.into_vec().unwrap());
        assert!(short.iter().any(|reached| reached.parent().is_some_and(|parent| parent.0 > 3)));
        let parents = short.iter().map(|reached| (reached.distance(), reached.parent()));
        assert!(parents.eq(long.iter().map(|reached| (reached.distance(), reached.parent()))));
        let hops = short.iter().map(|reached| reached.distance());
        assert!(hops.eq(none.states.into_vec().unwrap().iter().map(|reached| reached.distance())));
    }
}
