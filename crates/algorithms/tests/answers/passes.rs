//! Algorithms in passes over tiles: the answer of their rows to the bit, wherever the arrays lie,
//! and arrays that are saved and loaded.

use std::path::{Path, PathBuf};
use std::thread;

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};
use tegula_algorithms::Error;
use tegula_algorithms::passes::Passes;
use tegula_comm::{AbortOnPanic, Comm, Threads};
use tegula_engine::traverse::Directions;
use tegula_engine::{Arrays, Graph, RunOptions, Sum, open_graph};
use tegula_import::ImportConfig;
use tegula_machine::disk::Backend;
use tegula_store::graph::VertexOrder;
use tegula_store::partition::{Balance, shard_paths};
use tegula_testkit::{EdgeList, Scratch};

use crate::ranks::{answer, partition};
use crate::support::ways::{GRIDS, edges};
use crate::support::{AMPLE, import_with, open, threads};

/// A directed graph of several segments and columns, with loops and parallel edges.
fn directed(scratch: &Scratch, config: ImportConfig) -> PathBuf {
    let pairs = (0..4000u64).map(|number| (number * number % 1500, number * 7919 % 1700));
    import_with(config, scratch.path(), "g", &EdgeList::new(pairs.collect()))
}

fn small_cells(grid: usize) -> ImportConfig {
    let mut config = ImportConfig { order: Some(VertexOrder::Degree), ..Default::default() };
    config.tuning.grid = GRIDS[grid % GRIDS.len()];
    config.tuning.batch_edges = 200;
    config
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, failure_persistence: None, ..Default::default() })]

    #[test]
    fn passes_give_the_bits_of_rows(
        edges in edges(1..=300, 0..=3),
        grid in select(&GRIDS[..]),
        (undirected, is_deduplicated) in any::<(bool, bool)>(),
    ) {
        let scratch = Scratch::new();
        let mut config = ImportConfig { undirected, ..Default::default() };
        config.tuning.grid = grid;
        config.drop_duplicates = is_deduplicated.then_some(tegula_import::Combine::Min);
        (config.rows, config.reverse) = (Some(Default::default()), Some(Default::default()));
        let graph = import_with(config, scratch.path(), "g", &EdgeList::new(edges));
        let graph = open(&graph);
        for (name, options) in [
            ("hits", json!({"max_iterations": 4})),
            ("hits", json!({"tolerance": 1e-3})),
            ("kcore", json!({})),
        ] {
            let expected = answer(&graph, (name, &options), &threads(2)).unwrap();
            for (count, arrays) in [(1, Arrays::Auto), (2, Arrays::OnDisk), (3, Arrays::InMemory)] {
                let mut options: Value = options.clone();
                options["method"] = json!("passes");
                let run = RunOptions { arrays, ..threads(count) };
                let found = answer(&graph, (name, &options), &run).unwrap();
                prop_assert!(found == expected, "{name}, {count} threads, {arrays:?}");
            }
        }
    }
}

/// Adds up values along edges in each direction, and mixes up another array. The first array has
/// the sums, and those before.
fn sums_in_each_direction(graph: &Graph, options: &RunOptions<'_>) -> (Vec<[u64; 2]>, u64) {
    let run = || {
        let mut passes = Passes::new(graph, options);
        let mut ways = passes.vertex_array("ways", |vertex| [vertex.0 % 7, 0])?;
        let mut others = passes.vertex_array("others", |vertex| vertex.0)?;
        for directions in [Directions::Forward, Directions::Reverse, Directions::Both] {
            passes.process_edges::<_, Sum<u64>, ()>(
                directions,
                &mut ways,
                |vertex, way| (vertex.0 % 3 > 0).then_some(way[0] + 1),
                |_, way, sum, ()| {
                    way[1] = way[1].wrapping_add(way[0]);
                    way[0] = way[0].wrapping_add(sum);
                },
            )?;
            passes.process_vertices(&mut others, |vertex, other, (): &mut ()| {
                *other = other.wrapping_mul(31) ^ vertex.0;
            })?;
        }
        let all = passes.into_states(others)?.into_vec()?;
        let sum = all.into_iter().fold(0u64, u64::wrapping_add);
        Ok::<_, Error>((passes.into_states(ways)?.into_vec()?, sum))
    };
    run().unwrap()
}

#[test]
fn passes_in_each_direction_have_the_same_values_in_memory_on_disk_and_on_ranks() {
    let scratch = Scratch::new();
    for grid in 0..GRIDS.len() {
        let path = directed(&scratch, ImportConfig { force: true, ..small_cells(grid) });
        let expected = sums_in_each_direction(&open(&path), &threads(1));
        for arrays in [Arrays::InMemory, Arrays::OnDisk] {
            let found = sums_in_each_direction(&open(&path), &RunOptions { arrays, ..threads(2) });
            assert!(found == expected, "{arrays:?}");
        }
        for (ranks, on_disk) in [(1, 0), (2, 0b01), (3, 0b110), (5, 0)] {
            let shards = partition(&path, ranks, Balance::EDGES);
            for found in on_ranks(&shards, ranks, on_disk, sums_in_each_direction) {
                assert!(found == expected, "{ranks} ranks");
            }
        }
    }
}

/// Calls `work` on each rank at the same time.
fn on_ranks<R: Send>(
    shards: &Path,
    ranks: usize,
    on_disk: u32,
    work: impl Fn(&Graph, &RunOptions<'_>) -> R + Sync,
) -> Vec<R> {
    let comms = Threads::ranks(ranks);
    let paths = shard_paths(shards).unwrap();
    thread::scope(|scope| {
        let all = comms.iter().zip(paths).map(|(comm, path)| {
            let work = &work;
            scope.spawn(move || {
                let _guard = AbortOnPanic::new(comm);
                let graph = open_graph(&path, AMPLE, Backend::Auto).unwrap().for_ranks().unwrap();
                let is_on_disk = on_disk >> comm.rank() & 1 == 1;
                let arrays = if is_on_disk { Arrays::OnDisk } else { Arrays::Auto };
                let ranks: Option<&dyn Comm> = Some(comm);
                work(&graph, &RunOptions { ranks, arrays, ..threads(2) })
            })
        });
        let all: Vec<_> = all.collect();
        all.into_iter().map(|rank| rank.join().unwrap()).collect()
    })
}

/// Counts the ways of `passes` steps to each vertex. Begins with the array of an earlier run, and
/// saves its own.
fn ways(graph: &Graph, folder: &Path, count: u64, options: &RunOptions<'_>) -> Vec<u64> {
    let run = || {
        let mut passes = Passes::new(graph, options);
        let mut ways = match passes.load("ways", folder)? {
            Some(ways) => ways,
            None => passes.vertex_array("ways", |_| 1u64)?,
        };
        for _ in 0..count {
            passes.process_edges::<_, Sum<u64>, ()>(
                Directions::Forward,
                &mut ways,
                |_, ways| Some(*ways),
                |_, ways, reduced, ()| *ways = reduced,
            )?;
        }
        passes.save(&ways, folder)?;
        Ok::<_, Error>(passes.into_states(ways)?.into_vec()?)
    };
    run().unwrap()
}

#[test]
fn an_array_that_was_saved_is_loaded_by_a_later_run() {
    let scratch = Scratch::new();
    let path = directed(&scratch, small_cells(0));
    let folder = |name: &str| {
        let folder = scratch.join(name);
        std::fs::create_dir(&folder).unwrap();
        folder
    };
    let expected = ways(&open(&path), &folder("once"), 3, &threads(2));
    for arrays in [Arrays::InMemory, Arrays::OnDisk] {
        let folder = folder(&format!("{arrays:?}"));
        let options = RunOptions { arrays, ..threads(2) };
        ways(&open(&path), &folder, 2, &options);
        assert!(ways(&open(&path), &folder, 1, &options) == expected, "{arrays:?}");
    }
    let folder = folder("ranks");
    let shards = partition(&path, 3, Balance::EDGES);
    on_ranks(&shards, 3, 0b010, |graph, options| ways(graph, &folder, 2, options));
    for found in on_ranks(&shards, 3, 0b100, |graph, options| ways(graph, &folder, 1, options)) {
        assert!(found == expected);
    }
}

#[test]
fn a_saved_array_that_does_not_fit_or_is_damaged_is_refused() {
    let scratch = Scratch::new();
    let path = directed(&scratch, small_cells(0));
    let folder = scratch.join("kept");
    std::fs::create_dir(&folder).unwrap();
    let graph = open(&path);
    ways(&graph, &folder, 1, &threads(1));
    let options = threads(1);
    let mut passes = Passes::new(&graph, &options);
    assert!(passes.load::<u64>("none", &folder).unwrap().is_none());
    let error = passes.load::<u32>("ways", &folder).unwrap_err().to_string();
    assert!(error.contains("another type"), "{error}");
    let file = folder.join("ways.array");
    let bytes = std::fs::read(&file).unwrap();
    for place in [0, bytes.len() / 2, bytes.len() - 1] {
        let mut damaged = bytes.clone();
        damaged[place] ^= 1;
        std::fs::write(&file, damaged).unwrap();
        assert!(passes.load::<u64>("ways", &folder).is_err(), "byte {place}");
    }
}
