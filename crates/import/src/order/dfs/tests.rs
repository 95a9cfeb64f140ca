//! The depth-first order against one that is found by recursion over sets.

use std::collections::{BTreeMap, BTreeSet};

use tegula_machine::Error as MachineError;
use tegula_machine::threads::{Cancel, Silent, Workers};
use tegula_store::tiles::Edge;

use super::NONE;
use super::adjacency::{Neighbours, lay_out};
use super::*;
use crate::count::census::{Counters, Degrees};
use crate::edge::ArcRule;
use crate::shares;
use crate::source::SpoolWriter;

/// Calls with a run and all that an import knows of some arcs when it orders the vertices.
fn with_graph<T>(
    arcs: &[[u32; 2]],
    undirected: bool,
    memory: u64,
    call: impl FnOnce(&ImportRun<'_>, &EdgeSource<'_, ()>, &DegreeTable, &DegreeSummary) -> T,
) -> T {
    let folder = tempfile::tempdir().unwrap();
    let cancel = Cancel::default();
    let workers = Workers::new(2);
    let run = ImportRun {
        memory,
        workers: &workers,
        folder: folder.path().to_owned(),
        rule: ArcRule { undirected, drop_loops: false },
        progress: &Silent,
        cancel: &cancel,
        short_max: SHORT_COUNT_MAX,
    };
    let both = arcs.iter().filter(|arc| undirected && arc[0] != arc[1]).map(|&[s, t]| [t, s]);
    let arcs: Vec<[u32; 2]> = arcs.iter().copied().chain(both).collect();
    let ids = arcs.as_flattened().iter().max().map_or(0, |&id| id as usize + 1);
    let mut rows: Vec<Degrees> = vec![[0; 2]; ids];
    for &[source, target] in &arcs {
        rows[source as usize][0] += 1;
        rows[target as usize][1] += 1;
    }
    let counters = Counters::of(rows.as_flattened());
    let degrees = counters.into_table(ids as u64, run.rule);
    let summary = degrees.summary().unwrap();
    let spool = SpoolWriter::new(&run, shares::SPOOL);
    let edge = |&[source, target]: &[u32; 2]| Edge { source, target, weight: () };
    spool.push(&arcs.iter().map(edge).collect::<Vec<_>>()).unwrap();
    let edges = EdgeSource::Spool(Box::new(spool.close().unwrap()));
    call(&run, &edges, &degrees, &summary)
}

fn dense_ids(arcs: &[[u32; 2]], undirected: bool, memory: u64) -> Vec<u32> {
    with_graph(arcs, undirected, memory, |run, edges, degrees, summary| {
        enumerate(run, edges, degrees, summary).unwrap()
    })
}

/// A graph as sets of neighbours, its trees as lists of children.
#[derive(Default)]
struct Oracle {
    neighbours: BTreeMap<u32, BTreeSet<u32>>,
    children: BTreeMap<u32, Vec<u32>>,
    met: BTreeSet<u32>,
}

impl Oracle {
    fn of(arcs: &[[u32; 2]]) -> Oracle {
        let mut oracle = Oracle::default();
        for &[source, target] in arcs {
            oracle.neighbours.entry(source).or_default().insert(target);
            oracle.neighbours.entry(target).or_default().insert(source);
        }
        oracle
    }

    /// Visits a vertex, then, one by one, the children that it has taken.
    fn visit(&mut self, vertex: u32) {
        self.met.insert(vertex);
        let children: Vec<u32> = self.neighbours[&vertex].difference(&self.met).copied().collect();
        self.met.extend(&children);
        self.children.insert(vertex, children.clone());
        children.into_iter().for_each(|child| self.visit(child));
    }

    fn subtree(&self, root: u32) -> Vec<u32> {
        let mut all = vec![root];
        self.children[&root].iter().for_each(|&child| all.extend(self.subtree(child)));
        all
    }

    fn heaviest_first(&self, mut roots: Vec<u32>) -> Vec<u32> {
        roots.sort_by_key(|&root| std::cmp::Reverse(self.subtree(root).len()));
        roots
    }

    fn list(&self, root: u32, listed: &mut Vec<u32>) {
        let (first, weight) = (listed.len(), self.subtree(root).len());
        let mut root_left = Some(root);
        for child in self.heaviest_first(self.children[&root].clone()) {
            if 2 * (listed.len() - first) + 1 >= weight {
                listed.extend(root_left.take());
            }
            self.list(child, listed);
        }
        listed.extend(root_left);
    }

    /// The roots, and all vertices in their order.
    fn enumerate(&mut self) -> (Vec<u32>, Vec<u32>) {
        let mut roots = Vec::new();
        for vertex in self.neighbours.keys().copied().collect::<Vec<_>>() {
            if !self.met.contains(&vertex) {
                roots.push(vertex);
                self.visit(vertex);
            }
        }
        let mut listed = Vec::new();
        self.heaviest_first(roots.clone())
            .into_iter()
            .for_each(|root| self.list(root, &mut listed));
        (roots, listed)
    }
}

/// Arcs between up to `vertices` vertices, whose ids have gaps.
fn random_arcs(seed: u64, vertices: u64, count: usize) -> Vec<[u32; 2]> {
    let mut state = seed;
    let mut draw = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (((state >> 33) * vertices) >> 31) as u32 * 3 + 1
    };
    (0..count).map(|_| [draw(), draw()]).collect()
}

#[test]
fn random_graphs_are_enumerated_as_by_recursion() {
    for seed in 0..60 {
        let vertices = 1 + seed * seed % 190;
        let arcs = random_arcs(seed, vertices, (seed * 7 % 400) as usize + 1);
        let mut oracle = Oracle::of(&arcs);
        let (_, listed) = oracle.enumerate();
        for (undirected, memory) in [(false, 1 << 24), (true, 1 << 24), (false, 1 << 16)] {
            let dense = dense_ids(&arcs, undirected, memory);
            let mut expected = vec![NONE; dense.len()];
            (0..).zip(&listed).for_each(|(number, &id)| expected[id as usize] = number);
            assert_eq!(dense, expected, "seed {seed}");
        }
    }
}

#[test]
fn a_subtree_lies_side_by_side_with_its_root_in_the_middle() {
    let arcs = random_arcs(7, 300, 360);
    let mut oracle = Oracle::of(&arcs);
    let (roots, _) = oracle.enumerate();
    let dense = dense_ids(&arcs, false, 1 << 24);
    assert!(roots.len() > 3);
    for &vertex in oracle.neighbours.keys() {
        let mut places: Vec<u32> =
            oracle.subtree(vertex).iter().map(|&id| dense[id as usize]).collect();
        let root = places[0];
        places.sort_unstable();
        let first = places[0];
        assert!(places.iter().zip(first..).all(|(&place, expected)| place == expected));
        let before = (root - first) as usize;
        assert!(2 * before + 1 >= places.len(), "{before} of {}", places.len());
        // It would not wait for another child.
        let mut ends: Vec<usize> = oracle.children[&vertex]
            .iter()
            .map(|&child| oracle.subtree(child).into_iter().map(|id| dense[id as usize]).max())
            .map(|last| (last.unwrap_or(0) + 1).saturating_sub(first) as usize)
            .filter(|&end| end < before)
            .collect();
        ends.sort_unstable();
        assert!(ends.iter().all(|&end| 2 * end + 1 < places.len()), "{ends:?} {before}");
    }
}

#[test]
fn neighbours_on_a_path_stay_neighbours() {
    // Its ids in no order: the path goes on from both sides of the root.
    let id = |place: u32| place * 7919 % 100_003;
    let arcs: Vec<[u32; 2]> = (0..100_002).map(|place| [id(place), id(place + 1)]).collect();
    let dense = dense_ids(&arcs, false, 1 << 26);
    let apart = arcs.iter().filter(|[s, t]| dense[*s as usize].abs_diff(dense[*t as usize]) != 1);
    assert!(apart.count() <= 1);
}

#[test]
fn lists_in_memory_and_on_disk_hold_the_same() {
    let mut arcs = random_arcs(3, 5_000, 60_000);
    // A hub, and an edge given again and again.
    arcs.extend((0..9_000).map(|id| [17, id]));
    arcs.extend(std::iter::repeat_n([2, 900], 200_000));
    let oracle = Oracle::of(&arcs);
    for (memory, is_on_disk) in [(1 << 24, false), (1 << 16, true)] {
        with_graph(&arcs, false, 1 << 24, |run, edges, degrees, summary| {
            let mut lists = lay_out(run, edges, degrees, summary, memory).unwrap();
            assert_eq!(lists.is_on_disk(), is_on_disk);
            lists.soon(&[17, 2, 0]);
            for id in 0..summary.id_end as u32 {
                let found = lists.of(id).unwrap();
                let expected = oracle.neighbours.get(&id).cloned().unwrap_or_default();
                assert!(
                    found.iter().copied().eq(expected.into_iter().filter(|&other| other != id))
                );
            }
        });
    }
}

#[test]
fn too_many_vertices_are_refused_with_both_numbers() {
    let error = with_graph(&[[0, 99_999]], false, 1 << 20, |run, edges, degrees, summary| {
        enumerate(run, edges, degrees, summary).unwrap_err()
    });
    match error {
        Error::Machine(MachineError::OverBudget { needed, budget, .. }) => {
            assert_eq!(budget, 1 << 20);
            let enough = dense_ids(&[[0, 99_999]], false, needed);
            assert_eq!((enough[0], enough[99_999]), (1, 0));
        }
        other => panic!("{other:?}"),
    }
}
