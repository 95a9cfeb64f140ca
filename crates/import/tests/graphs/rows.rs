//! Rows hold the edges of the edge list, for every encoding, budget and number of workers.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::ControlFlow;

use tegula_machine::Error as MachineError;
use tegula_machine::threads::{Cancel, Workers};
use tegula_store::graph::Graph;
use tegula_store::rows::{
    BY_WEIGHT_MIN, ChunkCut, Direction, IndexWalk, RowBatch, RowEncoding, RowReader, Rows,
    RowsConfig, coarse_weight,
};
use tegula_store::{Error, ShortId};
use tegula_testkit::XorShift;

use crate::rows_support::{
    ENCODINGS, TINY, alike_edges, build_rows, config, copies, dense_edges, imported, open,
    opened_rows, verify,
};

/// Maps each vertex to its sorted neighbours and their weights.
type Adjacency = BTreeMap<u32, Vec<(u32, u32)>>;

/// Returns the content of all rows, read through a cache of `cache` bytes.
fn adjacency(graph: &Graph, cache: u64) -> Adjacency {
    let rows = opened_rows(graph, true, cache).unwrap().unwrap();
    let sources: Vec<ShortId> = (0..graph.short_vertex_count().unwrap()).map(ShortId).collect();
    let mut batch = RowBatch::default();
    let mut adjacency = Adjacency::new();
    for sources in sources.chunks(50) {
        let mut rest = sources;
        while !rest.is_empty() {
            rows.prefetch(rest.iter().copied());
            let count = rows.get(rest, &mut batch).unwrap();
            for index in 0..count {
                let row = rows.row(&batch, index);
                let mut edges = Vec::new();
                let shown =
                    row.for_each_weighted(|target, weight| edges.push((target.0, weight as u32)));
                assert_eq!(shown.unwrap(), edges.len());
                if rows.rows().is_ascending() {
                    assert!(edges.is_sorted_by_key(|edge| edge.0));
                }
                edges.sort_unstable();
                adjacency.insert(row.source().0, edges);
            }
            rest = &rest[count..];
        }
    }
    adjacency
}

/// Returns the content of all rows once they are unpacked, after some were read here and there.
fn unpacked(graph: &Graph, threads: usize) -> Adjacency {
    let cache = RowReader::cache_size_max(graph, Direction::Forward, true);
    let rows = opened_rows(graph, true, cache).unwrap().unwrap();
    let sources: Vec<ShortId> = (0..graph.short_vertex_count().unwrap()).map(ShortId).collect();
    let mut batch = RowBatch::default();
    rows.get(&sources[sources.len() / 2..], &mut batch).unwrap();
    assert!(rows.unpacked().is_none());
    Workers::scope(threads, |workers| rows.unpack(workers, &Cancel::default())).unwrap();
    assert!(rows.unpacked().is_some());
    let mut adjacency = Adjacency::new();
    let shown = rows.for_each_row(&sources, &mut batch, |row| {
        let mut edges = Vec::new();
        row.for_each(|target| edges.push((target.0, row.weight(edges.len()) as u32)))?;
        assert_eq!(rows.degree(row.source()), edges.len() as f64);
        if edges.len() >= BY_WEIGHT_MIN && graph.is_weighted() {
            let coarse = |edge| coarse_weight(row.weight(edge).to_le_bytes());
            assert!((0..edges.len()).is_sorted_by_key(coarse), "a long row stands by weight");
        }
        edges.sort_unstable();
        adjacency.insert(row.source().0, edges);
        Ok(ControlFlow::Continue(()))
    });
    assert_eq!(shown.unwrap(), sources.len());
    adjacency
}

/// Returns the content of an edge list by dense ids, which are the ids here.
fn expected(edges: &[(u32, u32, f32)], vertices: u32, is_weighted: bool) -> Adjacency {
    let mut adjacency: Adjacency = (0..vertices).map(|vertex| (vertex, Vec::new())).collect();
    for &(source, target, weight) in edges {
        let weight = if is_weighted { weight as u32 } else { 1 };
        adjacency.entry(source).or_default().push((target, weight));
    }
    adjacency.values_mut().for_each(|edges| edges.sort_unstable());
    adjacency
}

#[test]
fn rows_that_copy_are_read_through_any_cache() {
    for (vertices, degree) in [(300, 12), (3000, 40), (70_000, 8)] {
        for is_weighted in [false, true] {
            let folder = tempfile::tempdir().unwrap();
            let edges = alike_edges(7, vertices, degree);
            let directory = imported(folder.path(), &edges, is_weighted);
            build_rows(&open(&directory), &config(RowEncoding::Copy, 64 << 20, 2)).unwrap();
            assert!(copies(&directory), "{vertices} vertices");
            verify(&directory).unwrap();
            let graph = open(&directory);
            let expected = expected(&edges, vertices, is_weighted);
            for cache in [0, 40 << 10, 64 << 20] {
                assert!(adjacency(&graph, cache) == expected, "{vertices}, cache {cache}");
            }
            assert!(unpacked(&graph, 2) == expected, "{vertices} vertices");
            let rows = opened_rows(&graph, is_weighted, 40 << 10).unwrap().unwrap();
            let mut random = XorShift::new(3);
            let mut batch = RowBatch::default();
            for _ in 0..200 {
                let wanted = random.below(5) as usize + 1;
                let source = ShortId(random.below(u64::from(vertices)) as u32);
                let targets = expected[&source.0].iter().map(|edge| edge.0);
                let shown = rows.for_each_row(&[source, source], &mut batch, |row| {
                    let mut found = Vec::new();
                    row.try_fold((), |(), target| {
                        found.push(target.0);
                        if found.len() == wanted {
                            ControlFlow::Break(())
                        } else {
                            ControlFlow::Continue(())
                        }
                    })?;
                    assert!(found.iter().copied().eq(targets.clone().take(wanted)));
                    Ok(ControlFlow::Continue(()))
                });
                assert!(shown.unwrap() > 0);
            }
        }
    }
}

/// Checks the rows of a random graph in every encoding, whole and in pieces of at most `cut`.
fn check_in_every_encoding(edges: &[(u32, u32, f32)], vertices: u32, cut: ChunkCut) {
    for is_weighted in [false, true] {
        for encoding in ENCODINGS {
            let folder = tempfile::tempdir().unwrap();
            let expected = expected(edges, vertices, is_weighted);
            for (number, cut) in [ChunkCut::STANDARD, cut].into_iter().enumerate() {
                let own = folder.path().join(number.to_string());
                fs::create_dir(&own).unwrap();
                let directory = imported(&own, edges, is_weighted);
                let config = RowsConfig { cut, ..config(encoding, 64 << 20, 2) };
                build_rows(&open(&directory), &config).unwrap();
                let graph = open(&directory);
                let rows = Rows::open(&graph, Direction::Forward).unwrap().unwrap();
                assert_eq!(rows.long().is_empty(), cut == ChunkCut::STANDARD || vertices == 1);
                for cache in [0, 40 << 10, 64 << 20] {
                    assert!(
                        adjacency(&graph, cache) == expected,
                        "{encoding:?}, {} edges, weighted: {is_weighted}, cache {cache}",
                        edges.len()
                    );
                }
                for threads in [1, 3] {
                    assert!(unpacked(&graph, threads) == expected, "{encoding:?}, {cut:?}");
                }
            }
        }
    }
}

#[test]
fn rows_hold_the_edges_in_every_encoding_and_are_read_through_any_cache() {
    for (seed, (count, vertices)) in [(0, 1), (40, 9), (5000, 300)].into_iter().enumerate() {
        check_in_every_encoding(&dense_edges(seed as u64 + 1, count, vertices), vertices, TINY);
    }
}

#[test]
#[ignore = "long"]
fn rows_of_many_vertices_hold_the_edges_in_every_encoding() {
    // With a piece for each vertex, the test would take long.
    let cut = ChunkCut { edges_max: 1000, window_log2: 10 };
    check_in_every_encoding(&dense_edges(4, 60_000, 70_000), 70_000, cut);
}

#[test]
fn the_files_are_the_same_for_every_budget_and_number_of_workers() {
    let folder = tempfile::tempdir().unwrap();
    let edges = dense_edges(7, 2_500_000, 150_000);
    let mut files: Option<Vec<Vec<u8>>> = None;
    for (memory, threads) in [(512 << 20, 2), (512 << 20, 1), (50 << 20, 1), (70 << 20, 3)] {
        let own = folder.path().join(format!("{memory}-{threads}"));
        fs::create_dir(&own).unwrap();
        let directory = imported(&own, &edges, true);
        build_rows(&open(&directory), &config(RowEncoding::Gap, memory, threads)).unwrap();
        let names = ["rows.data", "rows.index", "rows.weights", "manifest.json"];
        let now = names.iter().map(|name| fs::read(directory.join(name)).unwrap()).collect();
        match &files {
            None => files = Some(now),
            Some(first) => assert!(*first == now, "{memory} bytes, {threads} threads"),
        }
    }
}

#[test]
fn a_build_that_does_not_fit_the_budget_says_so_and_leaves_the_graph_alone() {
    let folder = tempfile::tempdir().unwrap();
    let directory = imported(folder.path(), &dense_edges(3, 9000, 500), false);
    let before = fs::read(directory.join("manifest.json")).unwrap();
    let result = build_rows(&open(&directory), &config(RowEncoding::Gap, 1 << 20, 2));
    assert!(
        matches!(result, Err(Error::Machine(MachineError::OverBudget { needed, budget, .. })) if needed > budget)
    );
    assert_eq!(fs::read(directory.join("manifest.json")).unwrap(), before);
    assert!(opened_rows(&open(&directory), false, 1 << 20).unwrap().is_none());
}

#[test]
fn a_build_whose_files_cannot_all_be_moved_takes_back_those_that_were() {
    let folder = tempfile::tempdir().unwrap();
    let directory = imported(folder.path(), &dense_edges(3, 900, 50), true);
    // A file cannot take the place of a folder.
    let obstacle = directory.join("rows.index");
    fs::create_dir(&obstacle).unwrap();
    let names = || {
        let entries = fs::read_dir(&directory).unwrap();
        entries.map(|entry| entry.unwrap().file_name()).collect::<BTreeSet<_>>()
    };
    let before = names();
    let built = build_rows(&open(&directory), &config(RowEncoding::Gap, 64 << 20, 1));
    assert!(
        matches!(built, Err(Error::Machine(MachineError::Io { path, .. })) if path == obstacle)
    );
    assert_eq!(names(), before);
    fs::remove_dir(&obstacle).unwrap();
    build_rows(&open(&directory), &config(RowEncoding::Gap, 64 << 20, 1)).unwrap();
    verify(&directory).unwrap();
}

#[test]
fn the_rest_is_read_in_order_once_an_eighth_was_read_if_it_fits() {
    let folder = tempfile::tempdir().unwrap();
    let graph = open(&imported(folder.path(), &dense_edges(9, 300_000, 9000), true));
    build_rows(&graph, &config(RowEncoding::Plain, 64 << 20, 1)).unwrap();
    let graph = open(graph.directory());
    let cancel = Cancel::default();
    let mut batch = RowBatch::default();
    for (cache, finds_room) in
        [(RowReader::cache_size_max(&graph, Direction::Forward, true), true), (1 << 20, false)]
    {
        let rows = opened_rows(&graph, true, cache).unwrap().unwrap();
        rows.fill_when_due(&cancel);
        assert_eq!(rows.bytes_read(), 0, "nothing was read yet");
        let vertices =
            (0..graph.short_vertex_count().unwrap()).map(|index| ShortId(index * 7919 % 9000));
        let mut visited = vertices.clone().take_while(|&vertex| {
            rows.get(&[vertex], &mut batch).unwrap();
            rows.fill_when_due(&cancel);
            !rows.is_complete()
        });
        let count = visited.by_ref().count() as u32;
        assert_eq!(rows.is_complete(), finds_room);
        assert_eq!(u64::from(count) < graph.vertex_count(), finds_room);
        let is_held = |vertex| rows.held_row(vertex, &mut IndexWalk::default()).is_some();
        assert!(!finds_room || vertices.filter(|&vertex| is_held(vertex)).count() > 8900);
    }
}

#[test]
fn vertices_without_edges_have_a_place_between_their_neighbours_and_no_bytes() {
    // Few of the vertices are sources, so the index lists them; and all are, so it does not.
    for step in [1u32, 1000] {
        let folder = tempfile::tempdir().unwrap();
        let edges = (0..70_000).map(|vertex| (vertex / step * step, vertex, 1.0));
        let edges: Vec<(u32, u32, f32)> = edges.collect();
        let directory = imported(folder.path(), &edges, true);
        build_rows(&open(&directory), &config(RowEncoding::Gap, 64 << 20, 1)).unwrap();
        let rows = Rows::open(&open(&directory), Direction::Forward).unwrap().unwrap();
        let (mut bytes, mut weights) = (0, 0);
        for vertex in 0..70_000 {
            let extent = rows.extent(ShortId(vertex));
            // Rows may share a byte, weights never do.
            assert!((bytes..=bytes + 1).contains(&(extent.bytes().start + 1)), "vertex {vertex}");
            assert_eq!(extent.weight_bytes().start, weights);
            assert_eq!(extent.bytes().is_empty(), vertex % step != 0);
            bytes = extent.bytes().end.max(bytes);
            weights = extent.weight_bytes().end;
        }
        assert_eq!((bytes, weights), (rows.data().len(), 4 * 70_000));
    }
}

#[test]
fn the_longest_row_is_known_before_it_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let hub = (0..90_000).map(|target| (70_000, target, 1.0));
    let edges: Vec<_> = hub.chain((0..90_000).map(|source| (source, 7, 1.0))).collect();
    let directory = imported(folder.path(), &edges, true);
    build_rows(&open(&directory), &config(RowEncoding::Plain, 64 << 20, 1)).unwrap();
    let rows = Rows::open(&open(&directory), Direction::Forward).unwrap().unwrap();
    let row = rows.extent(ShortId(70_000));
    for (has_weights, bytes) in [(true, row.weight_bytes()), (false, 0..0)] {
        let longest = row.bytes().end - row.bytes().start + bytes.end - bytes.start;
        let others = (1 + u64::from(has_weights)) << 20;
        let found = rows.batch_size(has_weights) - others;
        assert!((longest..longest + (16 << 10)).contains(&found), "{found}, not {longest}");
    }
}
