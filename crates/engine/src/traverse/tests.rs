//! An order tells what comes next, and a traversal has read it by then.

use std::cell::RefCell;
use std::collections::{HashSet, VecDeque};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use tegula_generators::{ErdosRenyi, Path as PathGraph, Rmat, edges};
use tegula_import::{ImportConfig, import};
use tegula_machine::Error as MachineError;
use tegula_machine::disk::{Backend, Caching, Fault, FaultPlan, Pool, Reader, Targets};
use tegula_machine::threads::{Cancel, Silent};
use tegula_store::graph::Graph;
use tegula_store::rows::{ChunkCut, Direction, RowEncoding, RowReader};
use tegula_store::{Error, Result, ShortId};
use tegula_testkit::{EdgeList, Scratch};

use super::*;
use crate::graph_for_tests::graph_with_rows;
use crate::{RunOptions, open_graph};

/// Vertices of a graph whose rows take a few MiB.
const LARGE: u32 = 100_000;
/// Vertices of a graph whose rows take a few pages.
const SMALL: u32 = 8000;

/// Makes a graph with rows; the weight of an edge is the sum of its ends.
pub(super) fn imported(scratch: &Scratch, edges: &[(u64, u64)], is_weighted: bool) -> PathBuf {
    let weights = edges.iter().map(|&(source, target)| (source + target) as f32).collect();
    let weights = is_weighted.then_some(weights);
    let edges = EdgeList { weights, ..EdgeList::new(edges.to_vec()) };
    graph_with_rows(scratch, &edges, RowEncoding::Plain, ChunkCut::STANDARD)
}

pub(super) fn read_by(
    directory: &Path,
    backend: Backend,
    is_weighted: bool,
    cache_size: u64,
) -> RowReader {
    let reader = Reader::open(backend, Pool::new(4 << 20)).unwrap();
    let graph = Graph::open(directory, &reader, Caching::Direct).unwrap();
    RowReader::open(&graph, Direction::Forward, is_weighted, cache_size, &Targets::default())
        .unwrap()
        .unwrap()
}

/// Returns edges between `vertices` vertices, eight for each.
fn random_edges(vertices: u32) -> Vec<(u64, u64)> {
    edges(&ErdosRenyi::new(vertices.into(), 8 * u64::from(vertices), 3).unwrap())
}

/// Makes a graph in whose traversal almost every vertex needs another page than the one before.
fn random(scratch: &Scratch, vertices: u32, is_weighted: bool) -> PathBuf {
    imported(scratch, &random_edges(vertices), is_weighted)
}

pub(super) fn threads(count: usize) -> Backend {
    Backend::Threads(NonZeroUsize::new(count).unwrap())
}

/// Returns the vertices reachable from 0 in visit order, and the sum of the weights of all edges.
fn search(rows: &RowReader, runs_ahead: bool) -> Result<(Vec<ShortId>, f64)> {
    let cancel = Cancel::default();
    let visited = VertexSet::new(rows.rows().vertex_count());
    let mut frontier = BreadthFirst::default();
    visited.insert(ShortId(0));
    frontier.push(ShortId(0));
    let mut traversal = Traversal::new(rows, frontier, &cancel);
    if !runs_ahead {
        traversal = traversal.without_run_ahead();
    }
    let (mut order, mut weight) = (Vec::new(), 0.0);
    while let Some((row, frontier)) = traversal.next_row()? {
        order.push(row.source());
        row.for_each_weighted(|target, own| {
            weight += f64::from(own);
            if visited.insert(target) {
                frontier.push(target);
            }
        })?;
    }
    assert_eq!(traversal.statistics().rows, order.len() as u64);
    Ok((order, weight))
}

/// Returns what a search with a queue over plain vectors visits.
fn expected(edges: &[(u64, u64)], vertices: usize) -> Vec<ShortId> {
    let mut neighbours = vec![Vec::new(); vertices];
    for &(source, target) in edges {
        neighbours[source as usize].push(target as usize);
        neighbours[target as usize].push(source as usize);
    }
    neighbours.iter_mut().for_each(|row| row.sort_unstable());
    let mut is_visited = vec![false; vertices];
    is_visited[0] = true;
    let (mut order, mut queue) = (Vec::new(), VecDeque::from([0]));
    while let Some(vertex) = queue.pop_front() {
        order.push(ShortId(vertex as u32));
        for &target in &neighbours[vertex] {
            if !std::mem::replace(&mut is_visited[target], true) {
                queue.push_back(target);
            }
        }
    }
    order
}

#[test]
fn an_exact_run_ahead_has_read_99_of_100_pages_before_they_are_needed() {
    let scratch = Scratch::new();
    let directory = random(&scratch, LARGE, true);
    let edges = random_edges(LARGE);
    let expected = expected(&edges, LARGE as usize);
    let weight = edges.iter().map(|&(s, t)| if s == t { 1 } else { 2 } * (s + t)).sum::<u64>();
    for backend in [Backend::Auto, threads(8)] {
        for is_weighted in [true, false] {
            // A fifth of the pages fits.
            let rows = read_by(&directory, backend.clone(), is_weighted, 1 << 20);
            assert!(!rows.fits());
            let (order, sum) = search(&rows, true).unwrap();
            assert!(order == expected, "another order of visits");
            assert_eq!(sum, if is_weighted { weight as f64 } else { 16.0 * f64::from(LARGE) });
            let statistics = rows.statistics();
            assert!(statistics.hit_rate() >= 0.99, "{backend:?}: {statistics:?}");
            assert!(statistics.in_flight_max > 8, "{statistics:?}");
        }
    }
}

#[test]
fn without_run_ahead_the_order_is_the_same_with_one_read_at_a_time() {
    let scratch = Scratch::new();
    let directory = random(&scratch, LARGE, false);
    let rows = read_by(&directory, Backend::Auto, false, 1 << 20);
    let with = search(&rows, true).unwrap();
    let rows = read_by(&directory, Backend::Auto, false, 1 << 20);
    assert!(search(&rows, false).unwrap() == with);
    let statistics = rows.statistics();
    assert!(statistics.hit_rate() < 0.7, "{statistics:?}");
}

#[test]
fn several_workers_share_a_cache_of_any_size() {
    let scratch = Scratch::new();
    let directory = random(&scratch, SMALL, true);
    for cache_size in [0, 64 << 10, 256 << 10] {
        let rows = read_by(&directory, threads(4), true, cache_size);
        let alone = search(&rows, true).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| assert!(search(&rows, true).unwrap() == alone, "{cache_size}"));
            }
        });
    }
}

#[test]
fn a_failed_read_ahead_is_reported_once_to_the_traversal_that_needs_it() {
    let scratch = Scratch::new();
    let directory = random(&scratch, 16 * SMALL, false);
    let no_faults = FaultPlan::new();
    let backend = || threads(4);
    // All pages fit, so none that failed is forgotten before it is needed.
    let cache_size = 8 << 20;
    let rows = read_by(&directory, backend().with_faults(&no_faults), false, cache_size);
    let opening = no_faults.reads();
    let expected = search(&rows, true).unwrap();
    let mut reported = 0;
    for nth in opening + 1.. {
        let plan = FaultPlan::new().nth(nth, Fault::Errno(5));
        let rows = read_by(&directory, backend().with_faults(&plan), false, cache_size);
        let results = std::thread::scope(|scope| {
            let both = [0, 1].map(|_| scope.spawn(|| search(&rows, true)));
            both.map(|search| search.join().unwrap())
        });
        let (fine, failed): (Vec<_>, Vec<_>) = results.into_iter().partition(Result::is_ok);
        assert!(fine.into_iter().all(|found| found.unwrap() == expected), "read {nth}");
        if plan.struck() == 0 {
            assert!(failed.is_empty());
            break;
        }
        // If the fault struck while the rest was read in order, nobody needed the row, and it is
        // read again.
        assert!(
            matches!(failed[..], [] | [Err(Error::Machine(MachineError::Io { .. }))]),
            "read {nth}: {failed:?}"
        );
        // The fault is gone, and so are all its effects.
        assert!(search(&rows, true).unwrap() == expected, "read {nth}");
        reported += failed.len();
    }
    assert!(reported >= 3, "only {reported} were reported");
}

#[test]
fn a_traversal_continues_after_an_error() {
    let scratch = Scratch::new();
    let directory = random(&scratch, SMALL, false);
    let cancel = Cancel::default();
    for nth in [80, 200] {
        let plan = FaultPlan::new().nth(nth, Fault::Errno(5));
        let rows = read_by(&directory, Backend::Auto.with_faults(&plan), false, 64 << 10);
        let mut traversal = Traversal::new(&rows, Sequential::new(0..SMALL), &cancel);
        let (mut errors, mut next) = (0, 0);
        loop {
            match traversal.next_row() {
                Ok(None) => break,
                Ok(Some((row, _))) => {
                    assert_eq!(row.source(), ShortId(next));
                    next += 1;
                }
                Err(_) => errors += 1,
            }
        }
        assert_eq!((next, plan.struck()), (SMALL, u64::from(errors > 0)));
        assert!(errors <= 1);
    }
}

#[test]
fn a_cancelled_traversal_ends() {
    let scratch = Scratch::new();
    let directory = imported(&scratch, &edges(&PathGraph { vertex_count: 50 }), false);
    let rows = read_by(&directory, Backend::Auto, false, 1 << 20);
    let cancel = Cancel::default();
    let mut traversal = Traversal::new(&rows, Sequential::new(0..50), &cancel);
    assert!(traversal.next_row().unwrap().is_some());
    cancel.cancel();
    let error = std::iter::repeat_with(|| traversal.next_row().map(drop)).find(Result::is_err);
    assert!(matches!(error, Some(Err(Error::Machine(MachineError::Cancelled)))));
}

#[test]
fn rows_are_followed_within_a_budget_or_refused() {
    let scratch = Scratch::new();
    let directory = random(&scratch, SMALL, true);
    let graph = open_graph(&directory, 1 << 30, Backend::Auto).unwrap();
    let needed = estimate_rows(&graph, RowsWanted::forward(true), 1000).needed();
    assert!(needed < (64 << 20) + 2 * u64::from(SMALL) + 1000);
    let follow = |memory| {
        let options = RunOptions { memory, ..Default::default() };
        run(&graph, RowsWanted::forward(true), 1000, &options, |job| {
            Ok((search(job.rows(), true)?, job.rows().fits()))
        })
    };
    let (least, ample) = (follow(needed).unwrap(), follow(1 << 30).unwrap());
    assert_eq!(least.0, ample.0);
    assert!(ample.1, "where there is room all rows have it");
    match follow(needed - 1) {
        Err(Error::Machine(MachineError::OverBudget { needed: named, budget, .. })) => {
            assert_eq!((named, budget), (needed, needed - 1));
        }
        other => panic!("{other:?}"),
    }
    let bare = scratch.join("bare.tegula");
    let config = ImportConfig { memory: 256 << 20, ..Default::default() };
    import(&[scratch.join("edges.el")], &bare, &config, &Silent, &Cancel::default()).unwrap();
    let bare = open_graph(&bare, 1 << 30, Backend::Auto).unwrap();
    let refused = run(&bare, RowsWanted::forward(false), 0, &RunOptions::default(), |_| Ok(()));
    assert!(matches!(refused, Err(Error::MissingLayout { layout: "rows", .. })));
}

#[test]
fn a_pass_shows_every_row_once() {
    let scratch = Scratch::new();
    let directory = imported(&scratch, &edges(&Rmat::new(16, 1, 3).unwrap()), false);
    let graph = open_graph(&directory, 1 << 30, Backend::Auto).unwrap();
    for threads in [1, 3] {
        let options = RunOptions { threads, ..Default::default() };
        let seen = VertexSet::new(graph.vertex_count() as u32);
        run(&graph, RowsWanted::forward(false), 0, &options, |job| {
            job.for_each_range(|index, ids| {
                assert_eq!(index as u32 * RANGE_SIZE, ids.start);
                let mut traversal = job.traversal(Sequential::new(ids));
                while let Some((row, _)) = traversal.next_row()? {
                    assert!(seen.insert(row.source()), "twice");
                }
                Ok(())
            })
        })
        .unwrap();
        assert!((0..graph.vertex_count() as u32).all(|vertex| seen.contains(ShortId(vertex))));
    }
}

/// Takes all that an order gives, a few at a time, and counts those announced before they came.
fn drained(mut order: impl RunAhead) -> (Vec<u32>, usize) {
    let (mut taken, mut announced) = (Vec::new(), Vec::new());
    let mut was_announced = 0;
    loop {
        let shown: Vec<ShortId> = order.upcoming(usize::MAX).take(3).collect();
        assert_eq!(order.announce(shown.len()), 0);
        announced.extend(shown);
        let before = taken.len();
        order.take(2, &mut taken);
        if taken.len() == before {
            let twice = announced.iter().any(|v| announced.iter().filter(|w| *w == v).count() > 1);
            assert!(!twice, "announced twice: {announced:?}");
            return (taken.into_iter().map(|vertex| vertex.0).collect(), was_announced);
        }
        was_announced += taken[before..].iter().filter(|v| announced.contains(v)).count();
    }
}

fn queue(vertices: &[u32]) -> BreadthFirst {
    let mut queue = BreadthFirst::default();
    vertices.iter().for_each(|&vertex| queue.push(ShortId(vertex)));
    queue
}

#[test]
fn orders_give_each_vertex_once_and_have_announced_it() {
    assert_eq!(drained(Sequential::new(3..10)), ((3..10).collect(), 7));
    assert_eq!(drained(Sequential::new(5..5)), (vec![], 0));
    assert_eq!(drained(queue(&[7, 3, 9])), (vec![7, 3, 9], 3));
    let nested = Nested { inner: queue(&[7, 9]), outer: Sequential::new(0..4) };
    assert_eq!(drained(nested), (vec![7, 9, 0, 1, 2, 3], 6));
    let equals = vec![queue(&[1, 2, 3, 4]), queue(&[11]), queue(&[21, 22])];
    assert_eq!(drained(Interleaved::new(equals)), (vec![1, 11, 21, 2, 22, 3, 4], 7));
    let even = Filter::new(Sequential::new(0..20_000), |vertex| vertex.0 % 5000 == 0);
    assert_eq!(drained(even), (vec![0, 5000, 10_000, 15_000], 4));
}

#[test]
fn the_inner_order_comes_before_the_outer_one() {
    let mut nested = Nested { inner: BreadthFirst::default(), outer: Sequential::new(0..9) };
    let (mut taken, mut shown) = (Vec::new(), Vec::new());
    nested.take(4, &mut taken);
    assert_eq!(taken, [ShortId(0)], "one, since its visit may add to the inner order");
    nested.inner.push(ShortId(100));
    nested.inner.push(ShortId(200));
    shown.extend(nested.upcoming(usize::MAX).take(3));
    assert_eq!(shown, [100, 200, 1].map(ShortId));
    assert_eq!(nested.announce(2), 0);
    assert_eq!(nested.upcoming(usize::MAX).next(), Some(ShortId(1)));
    nested.take(4, &mut taken);
    assert_eq!(taken, [0, 100, 200].map(ShortId));
}

#[test]
fn the_best_comes_first_and_the_top_of_the_heap_is_announced_once() {
    let mut order = BestFirst::default();
    for vertex in 0..1000u32 {
        order.push(ShortId(vertex), (vertex * 7919) % 1000);
    }
    let top: Vec<ShortId> = order.upcoming(usize::MAX).take(10).collect();
    assert_eq!(top[0], ShortId(0));
    assert_eq!(order.announce(10), 0);
    assert!(order.upcoming(usize::MAX).all(|vertex| !top.contains(&vertex)));
    order.push(ShortId(1000), 0);
    let mut taken = Vec::new();
    order.take(8, &mut taken);
    order.take(1, &mut taken);
    assert_eq!(taken, [0, 1000].map(ShortId), "single ones, and ties by id");
    let mut priorities = Vec::new();
    while let Some(&least) = order.least() {
        priorities.push(least);
        order.take(1, &mut taken);
    }
    assert!(priorities.is_sorted() && priorities.len() == 999);
}

#[test]
fn outdated_entries_make_room_for_new_ones() {
    let count = 8;
    let latest = RefCell::new(vec![1000; count as usize]);
    let mut order = BestFirst::for_vertices(count);
    for push in 0..100 {
        let vertex = ShortId(push * 5 % count);
        let priority = latest.borrow()[vertex.index()] - 1 - push % 3;
        latest.borrow_mut()[vertex.index()] = priority;
        let is_live =
            |vertex: ShortId, priority: &u32| latest.borrow()[vertex.index()] == *priority;
        order.push_within(vertex, priority, is_live);
        assert!(order.len() <= 13, "{} entries", order.len());
    }
    let mut expected: Vec<(u32, u32)> = latest.into_inner().into_iter().zip(0..).collect();
    expected.sort_unstable();
    let (mut taken, mut seen) = (Vec::new(), HashSet::new());
    while !order.is_empty() {
        order.take(1, &mut taken);
    }
    taken.retain(|vertex| seen.insert(*vertex));
    let expected: Vec<ShortId> = expected.into_iter().map(|(_, id)| ShortId(id)).collect();
    assert_eq!(taken, expected);
}

#[test]
fn a_filter_leaves_settled_vertices_out_of_a_best_first_order() {
    let settled = RefCell::new(Vec::new());
    let mut order = Filter::new(BestFirst::default(), |vertex| !settled.borrow().contains(&vertex));
    for (vertex, priority) in [(5, 9), (5, 4), (6, 6), (5, 2)] {
        order.order_mut().push(ShortId(vertex), priority);
    }
    let mut taken = Vec::new();
    order.take(3, &mut taken);
    settled.borrow_mut().push(ShortId(5));
    assert_eq!(order.upcoming(usize::MAX).collect::<Vec<_>>(), [ShortId(6)]);
    order.take(3, &mut taken);
    order.take(3, &mut taken);
    assert_eq!(taken, [5, 6].map(ShortId));
}
