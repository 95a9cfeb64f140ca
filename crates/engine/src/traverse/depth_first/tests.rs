//! A depth-first order equals that of a recursion, whatever neighbours are forgotten on the way.

use std::iter::from_fn;

use tegula_generators::{ErdosRenyi, Grid, Rmat, Star, edges};
use tegula_machine::threads::Cancel;
use tegula_store::Result;
use tegula_store::rows::RowReader;
use tegula_testkit::{EdgeList, EnteredAndLeft, Scratch, XorShift, depth_first};

use super::*;
use crate::traverse::tests::{imported, read_by, threads};
use crate::traverse::{Filter, Nested, Sequential, Traversal};

/// Returns the neighbours of each vertex of an undirected graph, by dense id.
fn neighbours(edges: &[(u64, u64)]) -> Vec<Vec<u32>> {
    let graph = EdgeList::new(edges.to_vec()).undirected().compact();
    let mut neighbours = vec![Vec::new(); graph.vertices.len()];
    graph.edges.iter().for_each(|&(source, target)| neighbours[source as usize].push(target));
    neighbours.iter_mut().for_each(|row| row.sort_unstable());
    neighbours
}

/// Returns a tree with random ids, given the parent of each vertex but the first.
fn tree(vertices: usize, parent: impl Fn(usize, &mut XorShift) -> usize) -> Vec<(u64, u64)> {
    let mut random = XorShift::new(vertices as u64);
    let mut ids: Vec<u64> = (0..vertices as u64).collect();
    for last in (1..vertices).rev() {
        ids.swap(last, random.below(last as u64) as usize);
    }
    (1..vertices).map(|child| (ids[parent(child, &mut random)], ids[child])).collect()
}

/// Returns a tree with random parents, too.
fn random_tree(vertices: usize) -> Vec<(u64, u64)> {
    tree(vertices, |child, random| random.below(child as u64) as usize)
}

/// Returns a tree in which each vertex has `width` children, level by level.
fn wide_tree(vertices: usize, width: usize) -> Vec<(u64, u64)> {
    tree(vertices, |child, _| (child - 1) / width)
}

/// The effort of a search.
#[derive(Debug, Default)]
struct Effort {
    /// Neighbours in all rows that were read.
    neighbours: usize,
    /// Most neighbours stored at a time.
    stored: usize,
}

/// Searches rows in memory, with roots by ascending id.
fn search<R: Iterator<Item = u32>>(
    vertex_count: u32,
    room: usize,
    row: impl Fn(u32) -> R,
) -> (EnteredAndLeft, Effort) {
    let visited = VertexSet::new(vertex_count);
    let mut order = DepthFirst::new(&visited, vertex_count, room);
    let (mut found, mut effort) = (EnteredAndLeft::default(), Effort::default());
    let mut taken = Vec::new();
    for root in (0..vertex_count).map(ShortId) {
        if !visited.contains(root) {
            taken.push(root);
        }
        while let Some(vertex) = taken.pop() {
            found.left.extend(from_fn(|| order.leave()).map(|vertex| vertex.0));
            if order.enter(vertex) {
                found.entered.push(vertex.0);
            }
            for neighbour in row(vertex.0) {
                order.push(ShortId(neighbour));
                effort.neighbours += 1;
                effort.stored = effort.stored.max(order.stored.len());
            }
            order.take(8, &mut taken);
            assert!(taken.len() <= 1);
        }
    }
    found.left.extend(from_fn(|| order.leave()).map(|vertex| vertex.0));
    (found, effort)
}

/// Searches rows on disk in the same way.
fn search_rows(rows: &RowReader, room: usize, runs_ahead: bool) -> Result<EnteredAndLeft> {
    let cancel = Cancel::default();
    let vertex_count = rows.rows().vertex_count();
    let visited = VertexSet::new(vertex_count);
    let order = Nested {
        inner: DepthFirst::new(&visited, vertex_count, room),
        outer: Filter::new(Sequential::new(0..vertex_count), |vertex| !visited.contains(vertex)),
    };
    let mut traversal = Traversal::new(rows, order, &cancel);
    if !runs_ahead {
        traversal = traversal.without_run_ahead();
    }
    let mut found = EnteredAndLeft::default();
    while let Some((row, order)) = traversal.next_row()? {
        found.left.extend(from_fn(|| order.inner.leave()).map(|vertex| vertex.0));
        if order.inner.enter(row.source()) {
            found.entered.push(row.source().0);
        }
        row.for_each(|target| {
            order.inner.push(target);
        })?;
    }
    let order = &mut traversal.order_mut().inner;
    found.left.extend(from_fn(|| order.leave()).map(|vertex| vertex.0));
    Ok(found)
}

#[test]
fn the_order_is_that_of_recursion_for_any_room_and_cache() {
    let graphs = [
        edges(&ErdosRenyi::new(2000, 3000, 3).unwrap()),
        edges(&Rmat::new(10, 8, 5).unwrap()),
        edges(&Grid::new(30, 40).unwrap()),
        edges(&Star { vertex_count: 1500 }),
        random_tree(2000),
    ];
    for edges in graphs {
        let scratch = Scratch::new();
        let directory = imported(&scratch, &edges, false);
        let expected = depth_first(&neighbours(&edges));
        for cache_size in [0, 8 << 20] {
            for room in [1, 3, 100] {
                let rows = read_by(&directory, threads(2), false, cache_size);
                let found = search_rows(&rows, room, true).unwrap();
                assert!(found == expected, "another order with {cache_size} bytes and {room}");
            }
        }
    }
}

#[test]
fn with_room_for_four_rows_all_rows_are_read_three_times_at_most() {
    let complete = edges(&ErdosRenyi::new(300, 300 * 299, 1).unwrap());
    let caterpillar = (0..2000).flat_map(|joint| {
        let legs = (0..10).map(move |leg| (joint, 10_000 + 10 * joint + leg));
        legs.chain([(joint, joint + 1)])
    });
    let caterpillar: Vec<(u64, u64)> = caterpillar.collect();
    let skewed = edges(&Rmat::new(12, 16, 3).unwrap());
    for (name, edges) in [
        ("complete", complete),
        ("star of stars", wide_tree(1 + 150 + 150 * 150, 150)),
        ("caterpillar", caterpillar),
        ("skewed", skewed),
        ("tree", random_tree(20_000)),
    ] {
        let rows = neighbours(&edges);
        let (count, all) = (rows.len() as u32, rows.iter().map(Vec::len).sum::<usize>());
        let row = |vertex: u32| rows[vertex as usize].iter().copied();
        let (expected, ample) = search(count, 1 << 20, row);
        assert_eq!(ample.neighbours, all, "{name}: a row was read again");
        let longest = rows.iter().map(Vec::len).max().unwrap();
        let (found, effort) = search(count, 4 * longest, row);
        assert!(found == expected, "{name}: another order");
        assert!(effort.stored <= 4 * longest, "{name}: {effort:?}");
        assert!(effort.neighbours <= 3 * all, "{name}: {effort:?} of {all}");
        let (found, effort) = search(count, longest / 3 + 1, row);
        assert!(found == expected && effort.stored <= longest / 3 + 1, "{name}: {effort:?}");
    }
}

#[test]
fn a_path_of_a_million_vertices_is_followed_to_its_end() {
    let count = 1_000_000;
    let row = |vertex: u32| [vertex.wrapping_sub(1), vertex + 1].into_iter();
    let (found, effort) = search(count, 1, |vertex| row(vertex).filter(|&next| next < count));
    assert!(found.entered.into_iter().eq(0..count));
    assert!(found.left.into_iter().eq((0..count).rev()));
    assert_eq!((effort.neighbours, effort.stored), (2 * count as usize - 2, 1));
}

#[test]
fn the_next_vertices_of_the_path_are_upcoming_nearest_first() {
    let visited = VertexSet::new(100);
    let mut order = DepthFirst::new(&visited, 100, 4);
    let mut taken = Vec::new();
    let mut visit = |order: &mut DepthFirst<'_>, vertex, neighbours: &[u32]| {
        assert!(order.enter(ShortId(vertex)));
        neighbours.iter().for_each(|&next| assert!(order.push(ShortId(next))));
        order.take(8, &mut taken);
        taken.pop().map(|next| next.0)
    };
    let upcoming = |order: &DepthFirst<'_>, reach| -> Vec<u32> {
        order.upcoming(reach).map(|vertex| vertex.0).collect()
    };
    assert_eq!(visit(&mut order, 0, &[10, 20, 30]), Some(10));
    assert_eq!(upcoming(&order, 9), [20, 30]);
    assert_eq!(order.announce(1), 0);
    assert_eq!(visit(&mut order, 10, &[11, 20, 12]), Some(11));
    // There is no room for 30, so its place must be looked up in the row again.
    assert_eq!(upcoming(&order, 9), [12, 0], "20 was announced");
    assert_eq!(upcoming(&order, 2), [12], "within reach");
    assert_eq!(order.announce(3), 1);
    assert!(upcoming(&order, 9).is_empty());
    assert_eq!(visit(&mut order, 11, &[]), Some(20));
    assert_eq!(order.leave(), Some(ShortId(11)));
    assert_eq!((order.leave(), order.latest()), (None, Some(ShortId(10))));
}

#[test]
fn run_ahead_reads_9_of_10_pages_in_time_if_the_path_predicts_them() {
    let scratch = Scratch::new();
    let directory = imported(&scratch, &wide_tree(50_000, 200), false);
    let search = |runs_ahead| {
        let rows = read_by(&directory, threads(8), false, 64 << 10);
        let found = search_rows(&rows, DepthFirst::room(201), runs_ahead).unwrap();
        assert_eq!(found.entered.len(), 50_000);
        (found, rows.statistics())
    };
    let (with, without) = (search(true), search(false));
    assert!(with.0 == without.0, "another order");
    assert!(with.1.hit_rate() >= 0.9, "{:?}", with.1);
    assert!(without.1.hit_rate() < 0.6, "{:?}", without.1);
}
