//! Rows hold what the edge list holds, whatever the encoding, the budget and the number of workers, and
//! every damage to them is found.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use tegula_import::{ImportConfig, import};
use tegula_machine::Error;
use tegula_machine::disk::{Backend, Caching, Pool, Reader, Targets};
use tegula_machine::threads::{Cancel, Silent, Workers};
use tegula_store::ShortId;
use tegula_store::graph::Graph;
use tegula_store::rows::{
    BY_WEIGHT_MIN, ChunkCut, Direction, IndexWalk, RowBatch, RowEncoding, RowReader, Rows,
    RowsConfig, build, coarse_weight,
};
use tegula_testkit::XorShift;

use resealed::{payload, reseal, rewrite_manifest};

mod resealed;

const ENCODINGS: [RowEncoding; 4] = RowEncoding::ALL;

/// The neighbours of each vertex and the weights of the edges, sorted.
type Adjacency = BTreeMap<u32, Vec<(u32, u32)>>;

/// Edges of a graph with hubs, loops, repeated edges and vertices without out-edges.
fn edges(seed: u64, count: usize, vertices: u64) -> Vec<(u32, u32, f32)> {
    let mut random = XorShift::new(seed);
    let mut below = |limit: u64| random.below(limit);
    let mut edges = Vec::new();
    for number in 0..count {
        let most = below(vertices) + 1;
        let source = if number % 5 == 0 { below(4) } else { below(most) };
        let target = if number % 17 == 0 { source } else { below(vertices) };
        edges.push((source as u32, target as u32, (below(64) + 1) as f32));
        if number % 23 == 0 {
            edges.push((source as u32, target as u32, (below(64) + 1) as f32));
        }
    }
    edges
}

fn write_edges(path: &Path, edges: &[(u32, u32, f32)]) {
    let lines =
        edges.iter().map(|(source, target, weight)| format!("{source} {target} {weight}\n"));
    fs::write(path, lines.collect::<String>()).unwrap();
}

fn open(directory: &Path) -> Graph {
    let reader = Reader::open(Backend::Auto, Pool::new(64 << 20)).unwrap();
    Graph::open(directory, &reader, Caching::PageCache).unwrap()
}

fn config(encoding: RowEncoding, memory: u64, threads: usize) -> RowsConfig {
    RowsConfig { direction: Direction::Forward, encoding, memory, threads, cut: ChunkCut::STANDARD }
}

/// So small that every vertex of more than a few edges has its row in several pieces.
const TINY: ChunkCut = ChunkCut { edges_max: 6, window_log2: 2 };

/// Of the small graph whose bits are flipped, two rows are in two pieces.
const FEW: ChunkCut = ChunkCut { edges_max: 17, window_log2: 3 };

const CUTS: [ChunkCut; 2] = [ChunkCut::STANDARD, TINY];

fn build_rows(graph: &Graph, config: &RowsConfig) -> Result<(), Error> {
    build(graph, config, &Silent, &Cancel::default()).map(drop)
}

/// The rows of a graph, read through so much cache.
fn opened_rows(graph: &Graph, has_weights: bool, cache: u64) -> Result<Option<RowReader>, Error> {
    RowReader::open(graph, Direction::Forward, has_weights, cache, &Targets::default())
}

/// What all rows hold, read through so much cache.
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
                row.for_each(|target| edges.push((target.0, row.weight(edges.len()) as u32)))
                    .unwrap();
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

/// What all rows hold once they are unpacked, after some were read here and there.
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

/// What an edge list holds, by dense ids, which here are the ids.
fn expected(edges: &[(u32, u32, f32)], vertices: u32, is_weighted: bool) -> Adjacency {
    let mut adjacency: Adjacency = (0..vertices).map(|vertex| (vertex, Vec::new())).collect();
    for &(source, target, weight) in edges {
        let weight = if is_weighted { weight as u32 } else { 1 };
        adjacency.entry(source).or_default().push((target, weight));
    }
    adjacency.values_mut().for_each(|edges| edges.sort_unstable());
    adjacency
}

/// A graph of these edges in a folder of its own, every vertex with an edge.
fn imported(folder: &Path, edges: &[(u32, u32, f32)], is_weighted: bool) -> PathBuf {
    write_edges(&folder.join("edges.wel"), edges);
    let output = folder.join("g.tegula");
    let mut config = ImportConfig { memory: 128 << 20, threads: 2, ..ImportConfig::default() };
    config.input.weighted = is_weighted;
    config.order = Some(tegula_store::graph::VertexOrder::Given);
    import(&[folder.join("edges.wel")], &output, &config, &Silent, &Cancel::default()).unwrap();
    output
}

/// Edges among `0..vertices`, each of which occurs.
fn dense_edges(seed: u64, count: usize, vertices: u32) -> Vec<(u32, u32, f32)> {
    let mut edges = edges(seed, count, u64::from(vertices));
    edges.extend((0..vertices).map(|vertex| (vertex / 2, vertex, 1.0)));
    edges
}

/// Edges of a graph in which rows are alike, with loops and repeated edges.
fn alike_edges(seed: u64, vertices: u32, degree: u32) -> Vec<(u32, u32, f32)> {
    let mut random = XorShift::new(seed);
    let mut shared = Vec::new();
    let mut edges = Vec::new();
    for source in 0..vertices {
        if source % 20 == 0 {
            shared = (0..degree).map(|_| random.below(u64::from(vertices)) as u32).collect();
        }
        let own = [random.below(u64::from(vertices)) as u32, source];
        let is_kept = |index: usize| source % 3 != 0 || index as u32 != source % degree;
        let kept = shared.iter().enumerate().filter(|&(index, _)| is_kept(index));
        let targets = kept.map(|(_, &target)| target).chain(own);
        edges.extend(targets.map(|target| (source, target, (target % 50 + 1) as f32)));
    }
    edges
}

/// Whether the rows of the first chunk copy, as the flags of its record tell.
fn copies(directory: &Path) -> bool {
    payload(directory, "rows.index")[56] & 4 != 0
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

#[test]
fn rows_hold_the_edges_in_every_encoding_and_are_read_through_any_cache() {
    for (seed, (count, vertices)) in
        [(0, 1), (40, 9), (5000, 300), (60_000, 70_000)].iter().enumerate()
    {
        for is_weighted in [false, true] {
            for encoding in ENCODINGS {
                let folder = tempfile::tempdir().unwrap();
                let edges = dense_edges(seed as u64 + 1, *count, *vertices);
                let expected = expected(&edges, *vertices, is_weighted);
                // As many pieces as vertices would take their time.
                let large = ChunkCut { edges_max: 1000, window_log2: 10 };
                let cut = if *vertices > 1000 { large } else { TINY };
                for (number, cut) in [ChunkCut::STANDARD, cut].into_iter().enumerate() {
                    let own = folder.path().join(number.to_string());
                    fs::create_dir(&own).unwrap();
                    let directory = imported(&own, &edges, is_weighted);
                    let config = RowsConfig { cut, ..config(encoding, 64 << 20, 2) };
                    build_rows(&open(&directory), &config).unwrap();
                    let graph = open(&directory);
                    let rows = Rows::open(&graph, Direction::Forward).unwrap().unwrap();
                    assert_eq!(rows.long().is_empty(), cut == ChunkCut::STANDARD || *count == 0);
                    for cache in [0, 40 << 10, 64 << 20] {
                        assert!(
                            adjacency(&graph, cache) == expected,
                            "{encoding:?}, {count} edges, weighted: {is_weighted}, cache {cache}"
                        );
                    }
                    for threads in [1, 3] {
                        assert!(unpacked(&graph, threads) == expected, "{encoding:?}, {cut:?}");
                    }
                }
            }
        }
    }
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
    assert!(matches!(result, Err(Error::OverBudget { needed, budget, .. }) if needed > budget));
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
    assert!(matches!(built, Err(Error::Io { path, .. }) if path == obstacle));
    assert_eq!(names(), before);
    fs::remove_dir(&obstacle).unwrap();
    build_rows(&open(&directory), &config(RowEncoding::Gap, 64 << 20, 1)).unwrap();
    verify(&directory).unwrap();
}

/// A small graph with rows; they copy if they can.
fn with_rows(
    encoding: RowEncoding,
    is_weighted: bool,
    cut: ChunkCut,
) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let edges = match encoding {
        RowEncoding::Copy => alike_edges(5, 60, 10),
        RowEncoding::Plain | RowEncoding::Ceesor | RowEncoding::Gap => dense_edges(5, 90, 16),
    };
    let directory = imported(folder.path(), &edges, is_weighted);
    let config = RowsConfig { cut, ..config(encoding, 64 << 20, 1) };
    build_rows(&open(&directory), &config).unwrap();
    assert_eq!(copies(&directory), encoding == RowEncoding::Copy && cut == ChunkCut::STANDARD);
    (folder, directory)
}

fn reopen(directory: &Path) -> Result<Graph, Error> {
    let reader = Reader::open(Backend::Auto, Pool::new(64 << 20)).unwrap();
    Graph::open(directory, &reader, Caching::PageCache)
}

fn verify(directory: &Path) -> Result<(), Error> {
    reopen(directory)?.verify(&Silent, &Cancel::default()).map(drop)
}

#[test]
fn verify_reads_the_rows_whatever_their_encoding() {
    for (count, vertices) in [(0, 1), (300, 40), (60_000, 70_000)] {
        for is_weighted in [false, true] {
            for encoding in ENCODINGS {
                let folder = tempfile::tempdir().unwrap();
                let edges = dense_edges(2, count, vertices);
                let directory = imported(folder.path(), &edges, is_weighted);
                verify(&directory).unwrap();
                let cut = if vertices == 40 { TINY } else { ChunkCut::STANDARD };
                let config = RowsConfig { cut, ..config(encoding, 64 << 20, 2) };
                build_rows(&open(&directory), &config).unwrap();
                verify(&directory).unwrap();
            }
        }
    }
}

#[test]
fn every_flipped_bit_is_found_and_named() {
    for (encoding, is_weighted, cut) in [
        (RowEncoding::Gap, true, ChunkCut::STANDARD),
        (RowEncoding::Ceesor, false, ChunkCut::STANDARD),
        (RowEncoding::Plain, false, ChunkCut::STANDARD),
        (RowEncoding::Copy, false, ChunkCut::STANDARD),
        (RowEncoding::Ceesor, true, FEW),
    ] {
        let (_folder, directory) = with_rows(encoding, is_weighted, cut);
        let weights = is_weighted.then_some("rows.weights");
        for name in ["rows.data", "rows.index", "manifest.json"].into_iter().chain(weights) {
            let path = directory.join(name);
            let intact = fs::read(&path).unwrap();
            for bit in 0..8 * intact.len() {
                let mut damaged = intact.clone();
                damaged[bit / 8] ^= 1 << (bit % 8);
                fs::write(&path, damaged).unwrap();
                match verify(&directory) {
                    Err(Error::Corrupt { path: named, .. }) => {
                        assert_eq!(named, path, "bit {bit}, {encoding:?}");
                    }
                    Err(Error::UnsupportedVersion { path: named, .. }) => {
                        assert_eq!(named, directory, "bit {bit} of {name}");
                    }
                    other => panic!("bit {bit} of {name}, {encoding:?}: {other:?}"),
                }
            }
            fs::write(&path, intact).unwrap();
        }
        verify(&directory).unwrap();
    }
}

/// log2 of the bytes of its blocks.
fn block_log2(name: &str) -> u32 {
    if name == "rows.index" { 20 } else { 12 }
}

/// Visits every row, as damaged as it may be.
fn visit_all(graph: &Graph) -> Result<(), Error> {
    let reader = opened_rows(graph, true, 1 << 20)?;
    let reader = reader.expect("its manifest names rows");
    let mut batch = RowBatch::default();
    for vertex in (0..graph.short_vertex_count().unwrap()).map(ShortId) {
        assert_eq!(reader.get(&[vertex], &mut batch)?, 1);
        let row = reader.row(&batch, 0);
        let mut weights = Vec::new();
        // What is no row may be an error or wrong numbers, but of vertices that there are.
        let _ = row.for_each(|target| {
            assert!(u64::from(target.0) < graph.vertex_count());
            weights.push(row.weight(weights.len()));
        });
    }
    for &source in reader.rows().long() {
        for piece in reader.rows().pieces(source) {
            let _ = reader.piece(&piece, &mut batch)?.for_each(|target| {
                assert!(u64::from(target.0) < graph.vertex_count());
            });
        }
    }
    reader.prefetch_range(ShortId(0)..ShortId(graph.short_vertex_count().unwrap()));
    // Rows that are none, or not as many edges as there are to be, are an error.
    let _ = Workers::scope(2, |workers| reader.unpack(workers, &Cancel::default()));
    Ok(())
}

#[test]
fn every_flipped_bit_under_checksums_that_fit_is_found_by_verify_and_leads_nowhere_else() {
    for (encoding, is_weighted, cut) in [
        (RowEncoding::Gap, true, ChunkCut::STANDARD),
        (RowEncoding::Ceesor, false, ChunkCut::STANDARD),
        (RowEncoding::Plain, false, ChunkCut::STANDARD),
        (RowEncoding::Copy, false, ChunkCut::STANDARD),
        (RowEncoding::Ceesor, true, FEW),
    ] {
        let (_folder, directory) = with_rows(encoding, is_weighted, cut);
        let chunks = open(&directory).manifest().rows.as_ref().unwrap().chunks as usize;
        let weights = is_weighted.then_some("rows.weights");
        for name in ["rows.data", "rows.index"].into_iter().chain(weights) {
            let intact = payload(&directory, name);
            let mut idle = 0;
            for bit in 0..8 * intact.len() {
                let mut damaged = intact.clone();
                damaged[bit / 8] ^= 1 << (bit % 8);
                reseal(&directory, name, &damaged, block_log2(name));
                let graph = reopen(&directory).unwrap();
                let visited = visit_all(&graph);
                assert!(matches!(visited, Ok(()) | Err(Error::Corrupt { .. })), "{visited:?}");
                match verify(&directory) {
                    Err(Error::Corrupt { .. }) => {}
                    other => {
                        other.unwrap();
                        idle += 1;
                    }
                }
            }
            // Of bits that fill up a byte or a word, or the widths of codes that no row has, none cares.
            let idle_max = if name == "rows.index" { 8 * intact.len() / 3 } else { 7 * chunks };
            assert!(idle <= idle_max, "{idle} bits of {name}, {encoding:?}");
            reseal(&directory, name, &intact, block_log2(name));
        }
        verify(&directory).unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..Default::default() })]

    #[test]
    fn no_index_however_damaged_leads_out_of_bounds(
        choice in (
            prop::sample::select(&ENCODINGS[..]),
            any::<bool>(),
            prop::sample::select(&CUTS[..]),
        ),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u64>(), 0u32..64), 1..6),
        cut in prop::option::weighted(0.1, any::<prop::sample::Index>()),
        in_records in any::<bool>(),
    ) {
        let (_folder, directory) = with_rows(choice.0, choice.1, choice.2);
        let mut bytes = payload(&directory, "rows.index");
        // A record has 88 bytes: half of the cases damage what the others are read by.
        let reach = if in_records { 88 } else { bytes.len() };
        for (place, value, shift) in changes {
            let place = place.index(reach) & !7;
            let value = (value >> shift).to_le_bytes();
            bytes[place..place + 8].copy_from_slice(&value);
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        reseal(&directory, "rows.index", &bytes, 20);
        let visited = visit_all(&reopen(&directory).unwrap());
        prop_assert!(matches!(visited, Ok(()) | Err(Error::Corrupt { .. })), "{visited:?}");
        let verified = verify(&directory);
        prop_assert!(matches!(verified, Ok(()) | Err(Error::Corrupt { .. })), "{verified:?}");
    }
}

#[test]
fn rows_of_another_graph_are_told_apart_by_verify_alone() {
    // Both have the same degrees, so only the edges tell.
    let folder = tempfile::tempdir().unwrap();
    let squares = [(0, 1, 1.0), (1, 2, 1.0), (2, 3, 1.0), (3, 0, 1.0)];
    let others = [(0, 2, 1.0), (2, 1, 1.0), (1, 3, 1.0), (3, 0, 1.0)];
    let heavier = [(0, 1, 1.0), (1, 2, 1.0), (2, 3, 1.0), (3, 0, 2.0)];
    let directories = [&squares[..], &others[..], &heavier[..]].map(|edges| {
        let own = folder.path().join(format!("{edges:?}").replace(' ', ""));
        fs::create_dir(&own).unwrap();
        let directory = imported(&own, edges, true);
        build_rows(&open(&directory), &config(RowEncoding::Plain, 64 << 20, 1)).unwrap();
        directory
    });
    for (other, name) in [(1, "rows.data"), (2, "rows.weights")] {
        let own = payload(&directories[0], name);
        let foreign = payload(&directories[other], name);
        assert_ne!(own, foreign);
        reseal(&directories[0], name, &foreign, 12);
        let error = verify(&directories[0]).unwrap_err().to_string();
        assert!(error.contains("rows.data") && error.contains("than the tiles"), "{error}");
        reseal(&directories[0], name, &own, 12);
        verify(&directories[0]).unwrap();
    }
}

#[test]
fn once_an_eighth_was_read_here_and_there_the_rest_is_read_in_order_where_it_finds_room() {
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
    // Few sources of many, so that the index lists those; and all of them, so that it does not.
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

#[test]
fn a_manifest_that_names_rows_that_are_not_there_is_refused() {
    let (_folder, directory) = with_rows(RowEncoding::Gap, true, ChunkCut::STANDARD);
    for name in ["rows.data", "rows.index", "rows.weights"] {
        let path = directory.join(name);
        let intact = fs::read(&path).unwrap();
        fs::remove_file(&path).unwrap();
        let error = reopen(&directory).map(drop).unwrap_err().to_string();
        assert!(error.contains(name) && error.contains("missing"), "{error}");
        fs::write(&path, &intact[..intact.len() - 1]).unwrap();
        let error = reopen(&directory).map(drop).unwrap_err().to_string();
        assert!(error.contains(name), "{error}");
        fs::write(&path, &intact).unwrap();
    }
    let manifest = fs::read(directory.join("manifest.json")).unwrap();
    for name in ["rows.data", "rows.index", "rows.weights"] {
        rewrite_manifest(&directory, |manifest| {
            manifest["files"].as_array_mut().unwrap().retain(|file| file["name"] != name);
        });
        let error = reopen(&directory).map(drop).unwrap_err().to_string();
        assert!(error.contains("manifest.json") && error.contains(name), "{error}");
        fs::write(directory.join("manifest.json"), &manifest).unwrap();
    }
    for chunks in [0u64, 2, u64::MAX] {
        rewrite_manifest(&directory, |manifest| manifest["rows"]["chunks"] = chunks.into());
        let error = verify(&directory).unwrap_err().to_string();
        assert!(error.contains("rows.index"), "{chunks} chunks: {error}");
        fs::write(directory.join("manifest.json"), &manifest).unwrap();
    }
    for other in ["plain", "ceesor"] {
        rewrite_manifest(&directory, |manifest| manifest["rows"]["encoding"] = other.into());
        let error = verify(&directory).unwrap_err().to_string();
        assert!(error.contains("rows."), "{other}: {error}");
        fs::write(directory.join("manifest.json"), &manifest).unwrap();
    }
    verify(&directory).unwrap();
}
