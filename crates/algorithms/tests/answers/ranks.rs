//! Runs on ranks: the answer of one machine to the bit, or a plain refusal.

use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::thread;

use crate::catalogue::Kept;
use crate::support::ways::GRIDS;
use crate::support::{AMPLE, import_with, open, threads};
use arrow_array::RecordBatch;
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use tegula_algorithms::side_table::LocalPaths;
use tegula_algorithms::{CATALOGUE, find};
use tegula_comm::{AbortOnPanic, Comm, Loss, Sim, SimConfig, Threads};
use tegula_engine::{Arrays, Checkpoints, Graph, RunOptions, open_graph};
use tegula_generators::{Rmat, edges};
use tegula_import::ImportConfig;
use tegula_machine::disk::Backend;
use tegula_machine::threads::{Cancel, Silent};
use tegula_store::commit::UnfinishedGraph;
use tegula_store::graph::VertexOrder;
use tegula_store::partition::{Balance, Shards, shard_paths, split};
use tegula_testkit::{EdgeList, Scratch};

/// Lines of a list in a summary.
const TOP: usize = 5;

/// The algorithms that run on ranks, as `docs/CLUSTER.md` lists them.
const ON_RANKS: [&str; 12] = [
    "bfs",
    "closeness",
    "degree",
    "eigenvector",
    "harmonic",
    "hits",
    "katz",
    "kcore",
    "pagerank",
    "spmv",
    "sssp",
    "wcc",
];

/// Cuts a graph into a shard for each rank.
pub fn partition(graph: &Path, ranks: usize, balance: Balance) -> PathBuf {
    let output = graph.with_extension(format!("{ranks}"));
    let graphs = [open(graph)];
    let shards = Shards::of(&graphs).unwrap();
    let unfinished = UnfinishedGraph::create(&output, true).unwrap();
    let into = (&*vec![1.0; ranks], balance);
    split(shards, into, unfinished, AMPLE, &Silent, &Cancel::default()).unwrap();
    output
}

/// The table and the summary of an algorithm.
pub type Answer = (Vec<RecordBatch>, Value);

pub fn answer(
    graph: &Graph,
    (name, options): (&str, &Value),
    run: &RunOptions<'_>,
) -> tegula_algorithms::Result<Answer> {
    let request = find(name).unwrap().request(options.clone()).unwrap();
    let found = request.prepare(graph, run, &LocalPaths)?.run(graph, run)?;
    let mut rows = Kept::default();
    found.answer.write_rows(graph, &mut rows, &run.cancel)?;
    let summary = found.answer.summary(graph, TOP, &run.cancel)?;
    let mut summary = serde_json::to_value(&*summary).unwrap();
    // Ranks have no buckets.
    summary.as_object_mut().unwrap().remove("delta");
    Ok((rows.0, summary))
}

/// How ranks run.
#[derive(Debug, Clone, Copy)]
struct Way<'a> {
    /// Threads of each rank.
    threads: usize,
    /// A bit for each rank that has its arrays on disk.
    on_disk: u32,
    /// A folder of checkpoints for each rank: to keep them, and to resume from them.
    keep: Option<&'a [PathBuf]>,
    resume: Option<&'a [PathBuf]>,
}

impl Way<'_> {
    fn new(threads: usize, on_disk: u32) -> Self {
        Way { threads, on_disk, keep: None, resume: None }
    }

    /// All ranks have their arrays in memory.
    fn in_memory(threads: usize) -> Self {
        Way::new(threads, 0)
    }

    fn checkpoints(&self, rank: usize) -> Option<Checkpoints<'_>> {
        let [folder, resume] = [self.keep, self.resume].map(|all| all.map(|all| &*all[rank]));
        let every = NonZeroU64::MIN;
        folder.or(resume).map(|_| Checkpoints { folder, every, resume, run: "a run" })
    }
}

/// Runs an algorithm on all ranks at the same time.
fn answers_on_ranks<C: Comm>(
    shards: &Path,
    algorithm: (&str, &Value),
    ranks: &[C],
    way: Way<'_>,
) -> Vec<tegula_algorithms::Result<Answer>> {
    let paths = shard_paths(shards).unwrap();
    thread::scope(|scope| {
        let run = |(comm, path): (&C, &PathBuf)| {
            let _guard = AbortOnPanic::new(comm);
            let graph = open_graph(path, AMPLE, Backend::Auto).unwrap().for_ranks().unwrap();
            let is_on_disk = way.on_disk >> comm.rank() & 1 == 1;
            let arrays = if is_on_disk { Arrays::OnDisk } else { Arrays::Auto };
            let checkpoints = way.checkpoints(comm.rank());
            let ranks: Option<&dyn Comm> = Some(comm);
            let options = RunOptions { ranks, arrays, checkpoints, ..threads(way.threads) };
            answer(&graph, algorithm, &options).inspect_err(|error| comm.abort(&error.to_string()))
        };
        let all =
            ranks.iter().zip(paths).map(|(comm, path)| scope.spawn(move || run((comm, &path))));
        let all: Vec<_> = all.collect();
        all.into_iter().map(|rank| rank.join().unwrap()).collect()
    })
}

/// Algorithms that run on ranks, with options for a graph that has the vertex 1.
fn algorithms() -> Vec<(&'static str, Value)> {
    vec![
        ("pagerank", json!({"iterations": 4})),
        ("pagerank", json!({"tolerance": 1e-3})),
        ("pagerank", json!({"iterations": 3, "weighted": true})),
        ("bfs", json!({"source": "1"})),
        ("bfs", json!({"source": "1", "parents": true})),
        ("sssp", json!({"source": "1"})),
        ("sssp", json!({"source": "1", "parents": true})),
        ("spmv", json!({"iterations": 3})),
        ("katz", json!({})),
        ("eigenvector", json!({"max_iterations": 5})),
        ("degree", json!({})),
        ("closeness", json!({"samples": 3})),
        ("harmonic", json!({"samples": 3})),
        ("wcc", json!({})),
        ("wcc", json!({"method": "propagation"})),
        ("wcc", json!({"method": "propagation", "max_iterations": 2})),
        ("hits", json!({"max_iterations": 3, "method": "passes"})),
        ("kcore", json!({"method": "passes"})),
    ]
}

/// Asserts that ranks and one machine give the same answers.
#[track_caller]
fn assert_same_answers<C: Comm>(
    graph: &Path,
    shards: &Path,
    make: impl Fn() -> Vec<C>,
    way: Way<'_>,
) {
    let whole = open(graph);
    for (name, options) in algorithms() {
        let expected = answer(&whole, (name, &options), &threads(way.threads)).unwrap();
        let ranks = make();
        for (rank, found) in
            answers_on_ranks(shards, (name, &options), &ranks, way).into_iter().enumerate()
        {
            let found = found.unwrap_or_else(|error| panic!("{name}, rank {rank}: {error}"));
            assert!(found == expected, "{name} {options}, rank {rank} of {}, {way:?}", ranks.len());
        }
    }
}

/// Settings for many small cells and batches.
fn small_cells(grid: usize, undirected: bool, order: VertexOrder) -> ImportConfig {
    let mut config = ImportConfig { undirected, order: Some(order), ..Default::default() };
    config.tuning.grid = GRIDS[grid % GRIDS.len()];
    config.tuning.batch_edges = 50;
    config
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn ranks_give_the_bits_of_one_machine(
        edges in prop::collection::vec((0..700u64, 0..700u64, 1..9u32), 1..900),
        grid in 0..GRIDS.len(),
        ranks in 1..8usize,
        (undirected, is_simulated) in any::<(bool, bool)>(),
        (order, message_size_max) in (0..3usize, 64..300usize),
        (count, seed) in (1..4usize, 0..1000u64),
        (vertex, on_disk) in (0..3u32, 0..128u32),
    ) {
        let scratch = Scratch::new();
        let order = [VertexOrder::Given, VertexOrder::Degree, VertexOrder::Dfs][order];
        let mut weights: Vec<f32> = edges.iter().map(|edge| edge.2 as f32 / 4.0).collect();
        let mut edges: Vec<_> = edges.into_iter().map(|(source, target, _)| (source, target)).collect();
        edges.push((1, 2));
        weights.push(1.0);
        let list = EdgeList { weights: Some(weights), ..EdgeList::new(edges) };
        let graph = import_with(small_cells(grid, undirected, order), scratch.path(), "g", &list);
        let balance = Balance { edge: 1.0, vertex: f64::from(vertex) };
        let shards = partition(&graph, ranks, balance);
        let way = Way::new(count, on_disk);
        if is_simulated {
            let config = SimConfig { seed, message_size_max, ..SimConfig::default() };
            assert_same_answers(&graph, &shards, || Sim::ranks(ranks, &config), way);
        } else {
            assert_same_answers(&graph, &shards, || Threads::ranks(ranks), way);
        }
    }
}

#[test]
#[ignore = "long"]
fn ranks_give_the_bits_of_one_machine_on_a_skewed_graph() {
    let scratch = Scratch::new();
    let list = EdgeList::new(edges(&Rmat::new(15, 12, 3).unwrap()));
    let mut config = ImportConfig { undirected: true, ..Default::default() };
    config.tuning.batch_edges = 1 << 14;
    let graph = import_with(config, scratch.path(), "skewed", &list);
    for (ranks, on_disk) in [(2, 0), (3, 0b101), (5, 0b11111)] {
        let shards = partition(&graph, ranks, Balance { edge: 2.0, vertex: 1.0 });
        let way = Way::new(2, on_disk);
        assert_same_answers(&graph, &shards, || Threads::ranks(ranks), way);
    }
}

#[test]
fn every_other_algorithm_is_refused_or_gives_the_answer_of_one_machine() {
    let scratch = Scratch::new();
    let (sets, pairs) = (scratch.path().join("sets.txt"), scratch.path().join("pairs.txt"));
    let potential = scratch.path().join("potential.txt");
    let vertices = scratch.path().join("vertices.txt");
    std::fs::write(&vertices, "1\n2\n3\n").unwrap();
    std::fs::write(&sets, "1 one\n2 one\n4 other\n").unwrap();
    std::fs::write(&pairs, "1 4\n2 3\n").unwrap();
    std::fs::write(&potential, "3 1\n1 2\n").unwrap();
    let samples = json!({
        "potential": potential,
        "source": "1", "target": "6", "sets": sets, "hops": 3, "pairs": pairs, "component": "4"
    });
    let list = EdgeList::new((1..300).flat_map(|v| [(v, v * 7 % 300 + 1), (v, v + 1)]).collect());
    let mut config = small_cells(1, true, VertexOrder::Degree);
    config.rows = Some(Default::default());
    let graph = import_with(config, scratch.path(), "g", &list);
    let shards = partition(&graph, 3, Balance::EDGES);
    let whole = open(&graph);
    let mut on_ranks = Vec::new();
    for entry in CATALOGUE {
        let names = entry.option_names();
        let own = samples.as_object().unwrap().iter();
        let own = own.filter(|(name, _)| names.contains(&name.as_str()));
        let mut options: Map<String, Value> = own.map(|(n, v)| (n.clone(), v.clone())).collect();
        if entry.name == "subgraph" {
            // A component needs a search; a set of vertices does not.
            options.remove("component");
            options.insert("vertices".to_owned(), json!(vertices));
        }
        let options = Value::Object(options);
        let algorithm = (entry.name, &options);
        let expected = answer(&whole, algorithm, &threads(2));
        let found = answers_on_ranks(&shards, algorithm, &Threads::ranks(3), Way::in_memory(2));
        if found.iter().all(Result::is_ok) {
            let expected = expected.unwrap();
            assert!(found.into_iter().all(|found| found.unwrap() == expected), "{}", entry.name);
            on_ranks.push(entry.name);
            continue;
        }
        let errors: Vec<String> =
            found.into_iter().map(|found| found.map(drop).unwrap_err().to_string()).collect();
        let says = |words: &str| errors.iter().all(|error| error.contains(words));
        // A graph that has no answer on one machine has none on ranks.
        let is_unfit = expected.is_err_and(|error| says(&error.to_string()));
        assert!(says("does not run on ranks") || is_unfit, "{}: {errors:?}", entry.name);
    }
    on_ranks.sort_unstable();
    assert_eq!(on_ranks, ON_RANKS);
}

#[test]
#[ignore = "long"]
fn a_rank_that_is_lost_at_any_step_ends_all_and_no_answer_is_wrong() {
    let scratch = Scratch::new();
    let list = EdgeList::new((1..300).flat_map(|v| [(v, v * 7 % 300 + 1), (v, v + 1)]).collect());
    let config = small_cells(1, true, VertexOrder::Degree);
    let graph = import_with(config, scratch.path(), "g", &list);
    let shards = partition(&graph, 3, Balance::EDGES);
    let options = json!({"source": "1"});
    let algorithm = ("bfs", &options);
    let expected = answer(&open(&graph), algorithm, &threads(1)).unwrap();
    for lost in 0..3 {
        let mut failed = 0;
        for step in 0.. {
            let loss = Some(Loss { rank: lost, step });
            let config = SimConfig { seed: step, loss, ..SimConfig::default() };
            // One rank writes its arrays to disk.
            let way = Way::new(1, 0b010);
            let found = answers_on_ranks(&shards, algorithm, &Sim::ranks(3, &config), way);
            if found.iter().all(Result::is_ok) {
                break;
            }
            failed += 1;
            // A rank that is lost after its last message has done its part.
            for found in found.into_iter().flatten() {
                assert!(found == expected, "rank {lost} at step {step}");
            }
        }
        assert!(failed > 10, "rank {lost} has only {failed} steps");
    }
}

#[test]
fn a_run_resumes_after_a_rank_was_lost_at_any_step() {
    let scratch = Scratch::new();
    let list = EdgeList::new((1..300).flat_map(|v| [(v, v * 7 % 300 + 1), (v, v + 1)]).collect());
    let config = small_cells(1, true, VertexOrder::Degree);
    let graph = import_with(config, scratch.path(), "g", &list);
    let shards = partition(&graph, 3, Balance::EDGES);
    let options = json!({"iterations": 5});
    let algorithm = ("pagerank", &options);
    let expected = answer(&open(&graph), algorithm, &threads(1)).unwrap();
    let (mut resumed, mut began_anew) = (0, 0);
    for step in 0.. {
        let above = scratch.join(format!("kept-{step}"));
        std::fs::create_dir(&above).unwrap();
        let folders: Vec<PathBuf> = (0..3).map(|rank| above.join(format!("rank-{rank}"))).collect();
        let lost = step as usize % 3;
        let loss = Some(Loss { rank: lost, step });
        let config = SimConfig { seed: step, loss, ..SimConfig::default() };
        let way = Way { keep: Some(&folders), ..Way::new(1, 0b010) };
        let found = answers_on_ranks(&shards, algorithm, &Sim::ranks(3, &config), way);
        if found.iter().all(Result::is_ok) {
            break;
        }
        // Other ranks have their arrays on disk now, and there are more threads.
        let keep = (step % 2 == 0).then_some(&*folders);
        let way = Way { keep, resume: Some(&folders), ..Way::new(2, 0b100) };
        let found = answers_on_ranks(&shards, algorithm, &Threads::ranks(3), way);
        if found.iter().all(Result::is_ok) {
            assert!(found.into_iter().all(|found| found.unwrap() == expected), "step {step}");
            resumed += 1;
        } else {
            let errors = found.into_iter().map(|found| found.map(drop).unwrap_err().to_string());
            let errors: Vec<String> = errors.collect();
            let has_none = |error: &String| {
                error.contains("no undamaged checkpoint") || error.contains("No such file")
            };
            assert!(errors.iter().any(has_none), "{errors:?}");
            // Near the first such step, the timing of the writers decides whether all ranks have
            // one.
            assert!(resumed < 10, "step {step}: there were checkpoints at {resumed} earlier steps");
            began_anew += 1;
        }
    }
    assert!(resumed > 10 && began_anew > 10, "{resumed} resumed, {began_anew} began anew");
}

#[test]
fn a_negative_weight_on_one_rank_is_refused_on_all() {
    let scratch = Scratch::new();
    let edges: Vec<(u64, u64)> = (1..300).map(|v| (v, v + 1)).collect();
    let mut weights = vec![1.0; edges.len()];
    // Far from the source, so that ranks have run some iterations together.
    weights[280] = -1.0;
    let list = EdgeList { weights: Some(weights), ..EdgeList::new(edges) };
    let config = small_cells(1, false, VertexOrder::Given);
    let graph = import_with(config, scratch.path(), "g", &list);
    let shards = partition(&graph, 3, Balance::EDGES);
    for parents in [false, true] {
        let options = json!({"source": "1", "parents": parents});
        let (ranks, way) = (Threads::ranks(3), Way::new(1, 0b110));
        for found in answers_on_ranks(&shards, ("sssp", &options), &ranks, way) {
            let error = found.map(drop).unwrap_err().to_string();
            assert!(error.contains("whose weight is below 0"), "{error}");
        }
    }
}
