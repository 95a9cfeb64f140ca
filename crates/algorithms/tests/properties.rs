//! Any small graph, in any order, with any number of threads, any budget and any backend: the answers
//! of the oracles, and the same bits.

mod support;

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use proptest::sample::{Index, select};
use support::{AMPLE, components, find, import_with, open, table};
use tegula_algorithms::bfs::{Bfs, Reached};
use tegula_algorithms::pagerank::{PageRank, PageRankConfig, Stop};
use tegula_algorithms::wcc::{self, Method, SmallestId, WccConfig};
use tegula_engine::{Estimate, Graph, RunOptions, VertexId, estimate, open_graph};
use tegula_store::import::{ImportConfig, VertexOrder};
use tegula_store::read::Backend;
use tegula_testkit::{EdgeList, Scratch, bfs, matching, verify_pagerank, wcc as wcc_oracle};

const ITERATIONS: usize = 6;
const CONFIG: PageRankConfig =
    PageRankConfig { damping: PageRankConfig::DAMPING, stop: Stop::Iterations(ITERATIONS as u64) };

/// What becomes of the numbers from 0 on: ids without gaps, with a few, and all over the 64 bits with
/// the smallest and the greatest among them.
const IDS: [fn(u64) -> u64; 4] = [
    |number| number,
    |number| 3 * number + 1000,
    |number| number.wrapping_mul(0x9E37_79B9_7F4A_7C15),
    |number| u64::MAX - number.wrapping_mul(0x9E37_79B9_7F4A_7C15),
];

/// Graphs of 0 to 200 vertices: uniform or skewed, some with loops, with some edges many times, some
/// with both directions of every edge.
fn graphs() -> impl Strategy<Value = Case> {
    let edges = (1u32..=200, 1..=4, 0usize..=4).prop_flat_map(|(vertices, skew, density)| {
        let end = (0.0..1.0f64)
            .prop_map(move |fraction| (fraction.powi(skew) * f64::from(vertices)) as u64);
        prop::collection::vec((end.clone(), end), 0..=density * vertices as usize)
    });
    let repeated = prop::collection::vec((any::<Index>(), 1usize..20), 0..4);
    (edges, repeated, select(&IDS[..]), any::<bool>(), any::<Index>()).prop_map(
        |(mut edges, repeated, id, is_undirected, source)| {
            for (index, times) in repeated {
                if !edges.is_empty() {
                    let edge = *index.get(&edges);
                    edges.extend(std::iter::repeat_n(edge, times));
                }
            }
            let edges = edges.into_iter().map(|(source, target)| (id(source), id(target)));
            let input = EdgeList::new(edges.collect());
            let graph = if is_undirected { input.undirected() } else { input.clone() };
            let vertices = graph.vertices();
            let source = (!vertices.is_empty()).then(|| *source.get(&vertices));
            Case { input, is_undirected, graph, source }
        },
    )
}

/// A graph, and where a search begins if it has a vertex.
#[derive(Debug, Clone)]
struct Case {
    input: EdgeList,
    is_undirected: bool,
    /// What is to be made of the input: with both directions of every edge if it is undirected.
    graph: EdgeList,
    source: Option<u64>,
}

/// All answers by dense id, to the bit.
#[derive(Debug, PartialEq)]
struct Answers {
    ranks: Vec<u32>,
    reached: Option<Vec<Reached>>,
    roots: Vec<VertexId>,
    propagated: Option<Vec<VertexId>>,
}

/// One way to run.
#[derive(Debug, Clone)]
struct Way {
    threads: usize,
    has_least_memory: bool,
    backend: Backend,
}

impl Way {
    /// Every combination, for a graph directory.
    fn all(directory: &Path) -> Vec<Way> {
        let backends = [
            Backend::Uring,
            Backend::Threads(NonZeroUsize::new(2).unwrap()),
            Backend::Memory(in_memory(directory)),
        ];
        let mut ways = Vec::new();
        for threads in [1, 2, 3, 8] {
            for has_least_memory in [true, false] {
                ways.extend(backends.iter().map(|backend| {
                    let backend = backend.clone();
                    Way { threads, has_least_memory, backend }
                }));
            }
        }
        ways
    }

    /// Opens the graph for a run that needs so much.
    fn open(&self, directory: &Path, needed: Estimate) -> (Graph, RunOptions<'static>) {
        let memory = if self.has_least_memory { needed.needed() } else { AMPLE };
        let graph = open_graph(directory, memory, self.backend.clone()).unwrap();
        (graph, RunOptions { memory, threads: self.threads, ..Default::default() })
    }

    fn run(&self, directory: &Path, case: &Case) -> Answers {
        let probe = open(directory);
        let pagerank = estimate::<PageRank>(&probe, self.threads);
        let search = estimate::<Bfs>(&probe, self.threads);
        let propagation = estimate::<SmallestId>(&probe, self.threads);
        let union_find = Estimate { vertex_bytes: wcc::size(&probe), ..propagation };

        let (graph, options) = self.open(directory, pagerank);
        let ranks = PageRank::run(&graph, CONFIG, &options).unwrap().states;
        let (graph, options) = self.open(directory, search);
        let reached = case
            .source
            .map(|source| Bfs::run(&graph, find(&graph, source), &options).unwrap().states);
        let roots = |method, needed| {
            let (graph, options) = self.open(directory, needed);
            wcc::run(&graph, WccConfig { method }, &options).unwrap().roots
        };
        Answers {
            ranks: ranks.iter().map(|rank| rank.to_bits()).collect(),
            reached,
            roots: roots(Method::UnionFind, union_find),
            propagated: case.is_undirected.then(|| roots(Method::Propagation, propagation)),
        }
    }
}

/// The files of a graph directory, for the backend that has no disk.
fn in_memory(directory: &Path) -> HashMap<PathBuf, Vec<u8>> {
    let paths = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    paths.map(|path| (path.clone(), std::fs::read(path).unwrap())).collect()
}

/// Compares answers with those of programs that share no code with what gave them.
fn verify_answers(case: &Case, graph: &Graph, answers: &Answers) -> Result<(), String> {
    let ranks = table(graph, &answers.ranks, |bits| f64::from(f32::from_bits(bits)));
    verify_pagerank(&case.graph, CONFIG.damping, ITERATIONS, &ranks)?;
    if let (Some(source), Some(reached)) = (case.source, &answers.reached) {
        let hops = table(graph, reached, |state| state.distance().map(u64::from));
        matching::exact(&bfs(&case.graph, source), &hops)?;
    }
    let expected = wcc_oracle(&case.graph);
    matching::exact(&expected, &components(graph, &answers.roots))?;
    match &answers.propagated {
        Some(roots) => matching::exact(&expected, &components(graph, roots)),
        None => Ok(()),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..Default::default() })]

    #[test]
    fn every_way_to_run_gives_the_answers_of_the_oracles(case in graphs()) {
        for order in [VertexOrder::Given, VertexOrder::Degree, VertexOrder::Dfs] {
            let scratch = Scratch::new();
            let undirected = case.is_undirected;
            let config = ImportConfig { order: Some(order), undirected, ..Default::default() };
            let directory = import_with(config, scratch.path(), "g", &case.input);
            let mut ways = Way::all(&directory).into_iter();
            let expected = ways.next().unwrap().run(&directory, &case);
            let checked = verify_answers(&case, &open(&directory), &expected);
            prop_assert_eq!(checked, Ok(()), "{:?}", order);
            for way in ways {
                prop_assert!(way.run(&directory, &case) == expected, "{order:?}, {way:?}");
            }
        }
    }
}
