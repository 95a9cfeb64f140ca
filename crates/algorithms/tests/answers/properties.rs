//! Any small graph, in any order and on any grid, with or without weights, with rows in any
//! encoding, with any executor, number of threads, budget and backend: the answers are those of the
//! oracles, with the same bits.

use std::num::NonZeroUsize;
use std::path::Path;

use crate::support::ways::{GRIDS, ROW_CUTS, edges, in_memory};
use crate::support::{AMPLE, EXECUTORS, components, find, import_with, open, table, with_executor};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use tegula_algorithms::centrality::pagerank::{PageRank, Stop};
use tegula_algorithms::components::wcc::{self, Method, SmallestId};
use tegula_algorithms::paths::bfs::{Bfs, Reached};
use tegula_algorithms::paths::sssp::{self, Sssp, SsspConfig};
use tegula_engine::{
    Arrays, Estimate, Executor, Graph, Messages, Program, RunOptions, ShortId, Tuning, estimate,
    estimate_anywhere, open_graph, rows_size,
};
use tegula_import::ImportConfig;
use tegula_machine::disk::Backend;
use tegula_store::graph::VertexOrder;
use tegula_store::rows::{ChunkCut, RowEncoding};
use tegula_store::tiles::Grid;
use tegula_testkit::{
    EdgeList, Scratch, bfs, match_pagerank, matching, sssp as sssp_oracle, verify_sssp,
    wcc as wcc_oracle,
};

const ITERATIONS: usize = 6;
const STOP: Stop = Stop::Iterations(ITERATIONS as u64);

/// Maps from the numbers 0, 1, 2, .. to ids: without gaps, with small gaps, and spread over all 64
/// bits with the smallest or the greatest id among them.
const IDS: [fn(u64) -> u64; 4] = [
    |number| number,
    |number| 3 * number + 1000,
    |number| number.wrapping_mul(0x9E37_79B9_7F4A_7C15),
    |number| u64::MAX - number.wrapping_mul(0x9E37_79B9_7F4A_7C15),
];

/// Graphs of 0 to 200 vertices: uniform or skewed, some with loops, some with parallel edges, some
/// with both directions of every edge.
fn graphs() -> impl Strategy<Value = Case> {
    let edges = edges(1..=200, 0..=4);
    let repeated = prop::collection::vec((any::<Index>(), 1usize..20), 0..4);
    let weights = prop::option::of(0u64..1000);
    let layout = (select(&RowEncoding::ALL[..]), select(&GRIDS[..]), select(&ROW_CUTS[..]));
    let choices = (select(&IDS[..]), any::<bool>(), any::<Index>(), weights, layout);
    (edges, repeated, choices).prop_map(
        |(mut edges, repeated, (id, is_undirected, source, weights, (rows, grid, row_cut)))| {
            for (index, times) in repeated {
                if !edges.is_empty() {
                    let edge = *index.get(&edges);
                    edges.extend(std::iter::repeat_n(edge, times));
                }
            }
            let edges = edges.into_iter().map(|(source, target)| (id(source), id(target)));
            let mut input = EdgeList::new(edges.collect());
            if let Some(seed) = weights {
                input = input.weighted(seed);
            }
            let graph = if is_undirected { input.undirected() } else { input.clone() };
            let vertices = graph.vertices();
            let source = (!vertices.is_empty()).then(|| *source.get(&vertices));
            Case { input, is_undirected, rows, grid, row_cut, graph, source }
        },
    )
}

/// A graph, and the source of searches if it has a vertex.
#[derive(Debug, Clone)]
struct Case {
    input: EdgeList,
    is_undirected: bool,
    rows: RowEncoding,
    grid: Grid,
    row_cut: ChunkCut,
    /// The graph expected from the input; if undirected, with both directions of every edge.
    graph: EdgeList,
    source: Option<u64>,
}

/// All answers by dense id, as bits.
#[derive(Debug, PartialEq)]
struct Answers {
    ranks: Vec<u32>,
    reached: Option<Vec<Reached>>,
    /// The distances of shortest paths.
    lengths: Option<Vec<u64>>,
    roots: Vec<ShortId>,
    propagated: Option<Vec<ShortId>>,
}

/// One way to run.
#[derive(Debug, Clone)]
struct Way {
    threads: usize,
    has_least_memory: bool,
    executor: Executor,
    arrays: Arrays,
    backend: Backend,
}

impl Way {
    /// All combinations for a graph directory.
    fn all(directory: &Path) -> Vec<Way> {
        let backends =
            [Backend::Uring, Backend::Threads(NonZeroUsize::new(2).unwrap()), in_memory(directory)];
        let mut ways = Vec::new();
        for (step, threads) in [1, 2, 3, 8].into_iter().enumerate() {
            for (index, backend) in backends.iter().enumerate() {
                let executor = EXECUTORS[(step + index) % EXECUTORS.len()];
                for has_least_memory in [true, false] {
                    let backend = backend.clone();
                    let arrays = Arrays::InMemory;
                    ways.push(Way { threads, has_least_memory, executor, arrays, backend });
                }
            }
            // Arrays on disk read files that are not in the memory backend.
            for backend in backends.iter().take(2) {
                for has_least_memory in [true, false] {
                    let (executor, arrays) = (Executor::Scan, Arrays::OnDisk);
                    let backend = backend.clone();
                    ways.push(Way { threads, has_least_memory, executor, arrays, backend });
                }
            }
        }
        ways
    }

    /// Opens the graph for a run that needs `needed` bytes.
    fn open(&self, directory: &Path, needed: u64) -> (Graph, RunOptions<'static>) {
        let memory = if self.has_least_memory { needed } else { AMPLE };
        let graph = open_graph(directory, memory, self.backend.clone()).unwrap();
        let arrays = self.arrays;
        // Each way of sending is used with some number of threads.
        let messages = [Messages::Auto, Messages::Reread, Messages::Dispatched][self.threads % 3];
        let options = with_executor(self.executor, self.threads);
        (
            graph,
            RunOptions { memory, arrays, tuning: Tuning { messages, ..options.tuning }, ..options },
        )
    }

    /// Bytes for a run that may follow rows.
    fn needed<P: Program>(&self, graph: &Graph) -> u64 {
        let rows = match self.executor {
            Executor::Seek => rows_size::<P>(graph, self.threads),
            _ => 0,
        };
        self.estimate::<P>(graph).needed() + rows
    }

    /// The estimate for a run whose arrays are in memory or on disk.
    fn estimate<P: Program>(&self, graph: &Graph) -> Estimate {
        let estimate = estimate_anywhere::<P>(graph, self.threads);
        match self.arrays {
            Arrays::OnDisk => Estimate { vertex_bytes: u64::MAX, ..estimate },
            Arrays::Auto | Arrays::InMemory => Estimate { on_disk: None, ..estimate },
        }
    }

    fn run(&self, directory: &Path, case: &Case) -> Answers {
        let probe = open(directory);
        let pagerank = self.estimate::<PageRank>(&probe).needed();
        let search = self.needed::<Bfs>(&probe);
        let paths = self.needed::<Sssp>(&probe);
        let propagation = self.needed::<SmallestId>(&probe);
        let tiles = estimate::<SmallestId>(&probe, self.threads);
        let union_find = Estimate { vertex_bytes: wcc::size(&probe), ..tiles }.needed();

        let (graph, options) = self.open(directory, pagerank);
        let ranks = PageRank::run(&graph, STOP, &options).unwrap().states;
        let (graph, options) = self.open(directory, search);
        let reached = case
            .source
            .map(|source| Bfs::run(&graph, find(&graph, source), &options).unwrap().states);
        let (graph, options) = self.open(directory, paths);
        let lengths = case.source.map(|source| {
            let found = sssp::run(&graph, find(&graph, source), SsspConfig::default(), &options);
            found.unwrap().distances.iter().map(|length| length.to_bits()).collect()
        });
        let roots = |method, needed| {
            let (graph, options) = self.open(directory, needed);
            wcc::run(&graph, method, &options).unwrap().roots
        };
        Answers {
            ranks: ranks.iter().map(|rank| rank.to_bits()).collect(),
            reached,
            lengths,
            roots: roots(Method::UnionFind, union_find),
            propagated: case.is_undirected.then(|| roots(Method::Propagation, propagation)),
        }
    }
}

/// Compares answers with those of programs that share no code with the algorithms.
fn verify_answers(case: &Case, graph: &Graph, answers: &Answers) -> Result<(), String> {
    let ranks = table(graph, &answers.ranks, |bits| f64::from(f32::from_bits(bits)));
    match_pagerank(&case.graph, PageRank::DAMPING, ITERATIONS, &ranks)?;
    if let Some(source) = case.source {
        let (reached, lengths) = (answers.reached.as_ref(), answers.lengths.as_ref());
        let (reached, lengths) = reached.zip(lengths).ok_or("there is a source and no answer")?;
        let hops = table(graph, reached, |state| state.distance().map(u64::from));
        matching::exact(&bfs(&case.graph, source), &hops)?;
        let lengths = table(graph, lengths, f64::from_bits);
        verify_sssp(&case.graph, source, &lengths)?;
        matching::exact(&sssp_oracle(&case.graph, source), &lengths)?;
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
    #[ignore = "long"]
    fn every_way_to_run_gives_the_answers_of_the_oracles(case in graphs()) {
        for order in [VertexOrder::Given, VertexOrder::Degree, VertexOrder::Dfs] {
            let scratch = Scratch::new();
            let undirected = case.is_undirected;
            let (order, rows) = (Some(order), Some(case.rows));
            let grid = case.grid;
            let mut config =
                ImportConfig { order, rows, reverse: rows, undirected, ..Default::default() };
            (config.tuning.grid, config.tuning.row_cut) = (grid, case.row_cut);
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
