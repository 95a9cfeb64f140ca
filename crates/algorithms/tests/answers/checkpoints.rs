//! Checkpoints: a run that resumes from one gives the bits of an uninterrupted run.

use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::support::{AMPLE, import_with, open, original_of, tables, threads, ways::with_rows};
use serde_json::{Value, json};
use tegula_algorithms::centrality::pagerank::PageRank;
use tegula_algorithms::side_table::LocalPaths;
use tegula_algorithms::{Error, find};
use tegula_engine::{
    Arrays, Cancel, Checkpoints, Executor, Graph, Messages, RunOptions, Tuning, checkpoint_size,
    estimate, open_graph,
};
use tegula_generators::{Rmat, edges};
use tegula_import::ImportConfig;
use tegula_machine::Error as MachineError;
use tegula_machine::disk::{Backend, FaultPlan};
use tegula_machine::threads::{Progress, ProgressUnit};
use tegula_store::graph::VertexOrder;
use tegula_store::tiles::Grid;
use tegula_testkit::{EdgeList, Scratch};

/// A skewed graph of four segments by several columns, with weights and rows.
fn skewed(scratch: &Scratch, name: &str, seed: u64) -> PathBuf {
    let graph = EdgeList::new(edges(&Rmat::new(10, 8, seed).unwrap())).weighted(2);
    let grid = Grid { segment_log2: 8, column_log2: 7 };
    let mut config = with_rows(VertexOrder::Degree, true);
    config.tuning.grid = grid;
    import_with(config, scratch.path(), name, &graph)
}

/// The programs that keep checkpoints, with options under which they take several iterations.
fn programs(graph: &Graph) -> Vec<(&'static str, Value)> {
    let source = original_of(graph)[3].to_string();
    vec![
        ("pagerank", json!({ "iterations": 5 })),
        ("pagerank", json!({ "tolerance": 1e-4 })),
        ("pagerank", json!({ "iterations": 5, "weighted": true })),
        ("katz", json!({ "tolerance": 1e-7 })),
        ("eigenvector", json!({ "tolerance": 1e-2 })),
        ("spmv", json!({ "iterations": 4 })),
        ("bfs", json!({ "source": source })),
        ("bfs", json!({ "source": source, "parents": true })),
        ("sssp", json!({ "source": source })),
        // With this delta most vertices wait in buckets.
        ("sssp", json!({ "source": source, "delta": 0.02 })),
        ("wcc", json!({ "method": "propagation" })),
    ]
}

/// Stops a run after a number of iterations.
struct StopAfter {
    left: AtomicU64,
    is_iterating: AtomicBool,
    cancel: Cancel,
}

impl StopAfter {
    fn new(iterations: u64) -> StopAfter {
        let (left, is_iterating) = (AtomicU64::new(iterations), AtomicBool::default());
        StopAfter { left, is_iterating, cancel: Cancel::default() }
    }
}

impl Progress for StopAfter {
    fn begin(&self, _stage: &str, _total: Option<u64>, unit: ProgressUnit) {
        self.is_iterating.store(unit == ProgressUnit::Iterations, Ordering::Relaxed);
    }

    fn advance(&self, done: u64) {
        let is_iterating = self.is_iterating.load(Ordering::Relaxed);
        if is_iterating && self.left.fetch_sub(done, Ordering::Relaxed) == done {
            self.cancel.cancel();
        }
    }

    fn end(&self) {}
}

/// Runs a program; returns its number of iterations and its rows as text.
fn answer(
    graph: &Graph,
    (name, wanted): &(&str, Value),
    options: &RunOptions<'_>,
) -> Result<(u64, String), Error> {
    let request = find(name).unwrap().request(wanted.clone()).unwrap();
    let found = request.prepare(graph, options, &LocalPaths)?.run(graph, options)?;
    let mut kept = tables::Kept::default();
    found.answer.write_rows(graph, &mut kept, &Cancel::default())?;
    Ok((found.statistics.iterations, format!("{:?}", kept.0)))
}

/// The same with checkpoints before every iteration in `folder`, from which it resumes if `resume`
/// is set.
fn answer_in(
    folder: &Path,
    resume: bool,
    graph: &Graph,
    program: &(&str, Value),
    options: &RunOptions<'_>,
) -> Result<(u64, String), Error> {
    let run = format!("{} {}", program.0, program.1);
    let (every, resume) = (NonZeroU64::MIN, resume.then_some(folder));
    let checkpoints = Some(Checkpoints { folder: Some(folder), every, resume, run: &run });
    answer(graph, program, &RunOptions { checkpoints, ..options.clone() })
}

/// Runs until `iterations` are done, with checkpoints in a folder.
#[track_caller]
fn stop_after(
    iterations: u64,
    (folder, resume): (&Path, bool),
    graph: &Graph,
    program: &(&str, Value),
    options: &RunOptions<'_>,
) {
    let stop = StopAfter::new(iterations);
    let options = RunOptions { progress: &stop, cancel: stop.cancel.clone(), ..options.clone() };
    let stopped = answer_in(folder, resume, graph, program, &options);
    assert!(
        matches!(stopped, Err(Error::Run(tegula_engine::Error::Machine(MachineError::Cancelled)))),
        "{program:?} after {iterations} iterations"
    );
}

/// Ways to run; the answer must not depend on them.
fn ways() -> [RunOptions<'static>; 4] {
    let on_disk = Arrays::OnDisk;
    [
        threads(2),
        RunOptions { executor: Executor::Scan, ..threads(3) },
        RunOptions { arrays: on_disk, executor: Executor::Scan, ..threads(2) },
        RunOptions {
            arrays: on_disk,
            executor: Executor::Scan,
            tuning: Tuning { messages: Messages::Dispatched, ..Tuning::default() },
            ..threads(1)
        },
    ]
}

#[test]
fn a_run_goes_on_from_each_iteration_wherever_its_arrays_lie() {
    let scratch = Scratch::new();
    let graph = open(&skewed(&scratch, "skewed", 5));
    for program in &programs(&graph) {
        let (_, expected) = answer(&graph, program, &threads(1)).unwrap();
        for (number, kept) in ways().iter().enumerate() {
            // The number of iterations differs between ways.
            let (iterations, _) = answer(&graph, program, kept).unwrap();
            assert!(iterations > 3, "{program:?}: {iterations} iterations");
            for (number, gone_on) in ways().iter().enumerate().map(|(n, way)| (4 * number + n, way))
            {
                // Each checkpoint is tried in some of the ways; the last is from before the last
                // iteration.
                let done = 2 + (number as u64) % (iterations - 1);
                let folder = Scratch::new();
                stop_after(done, (folder.path(), false), &graph, program, kept);
                let found = answer_in(folder.path(), true, &graph, program, gone_on).unwrap();
                assert!(found.1 == expected, "{program:?} after {done}, in way {number}");
            }
        }
    }
}

#[test]
fn a_run_that_is_interrupted_again_and_again_comes_to_its_end() {
    let scratch = Scratch::new();
    let graph = open(&skewed(&scratch, "skewed", 5));
    for program in &programs(&graph) {
        let expected = answer(&graph, program, &threads(1)).unwrap();
        for way in ways() {
            let folder = Scratch::new();
            stop_after(2, (folder.path(), false), &graph, program, &way);
            // Each resumed run gets one iteration further. The number of iterations differs between
            // ways.
            let found = (0..100).find_map(|_| {
                let stop = StopAfter::new(2);
                let cancel = stop.cancel.clone();
                let options = RunOptions { progress: &stop, cancel, ..way.clone() };
                answer_in(folder.path(), true, &graph, program, &options).ok()
            });
            assert!(found.is_some_and(|found| found.1 == expected.1), "{program:?}");
        }
    }
}

#[test]
fn a_run_goes_on_without_checkpoints_of_its_own_or_with_others() {
    let scratch = Scratch::new();
    let graph = open(&skewed(&scratch, "skewed", 5));
    let program = &programs(&graph)[0];
    let expected = answer(&graph, program, &threads(1)).unwrap();
    let run = format!("{} {}", program.0, program.1);
    for way in ways() {
        let [kept, other] = [Scratch::new(), Scratch::new()];
        stop_after(4, (kept.path(), false), &graph, program, &way);
        let before = names(kept.path());
        let every = NonZeroU64::MIN;
        for folder in [None, Some(other.path())] {
            let resume = Some(kept.path());
            let checkpoints = Some(Checkpoints { folder, every, resume, run: &run });
            let options = RunOptions { checkpoints, ..way.clone() };
            assert!(answer(&graph, program, &options).unwrap() == expected);
            assert_eq!(names(kept.path()), before, "they are only read");
        }
        let found = answer_in(other.path(), true, &graph, program, &way).unwrap();
        assert!(found == expected, "the others are as good");
    }
}

#[test]
fn a_checkpoint_is_written_every_n_iterations_and_the_last_two_stay() {
    let scratch = Scratch::new();
    let graph = open(&skewed(&scratch, "skewed", 5));
    let program = &("pagerank", json!({ "iterations": 9 }));
    let run = "ranks";
    for (every, versions) in [(1, 2), (4, 2), (5, 1), (9, 0)] {
        let folder = Scratch::new();
        let every = NonZeroU64::new(every).unwrap();
        let checkpoints = Checkpoints { folder: Some(folder.path()), every, resume: None, run };
        let options = RunOptions { checkpoints: Some(checkpoints), ..threads(2) };
        answer(&graph, program, &options).unwrap();
        let names = names(folder.path());
        let found = names.iter().filter(|name| name.starts_with("version-")).count();
        assert_eq!(found, versions, "every {every}: {names:?}");
    }
}

/// The file names of a folder, in ascending order.
fn names(folder: &Path) -> Vec<String> {
    let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_checkpoint_of_another_graph_or_run_is_refused() {
    let scratch = Scratch::new();
    let graph = open(&skewed(&scratch, "skewed", 5));
    let ranks = ("pagerank", json!({ "iterations": 5 }));
    let folder = Scratch::new();
    #[track_caller]
    fn assert_refused(result: Result<(u64, String), Error>, why: &str) {
        match result {
            Err(Error::Run(error @ tegula_engine::Error::NotResumable { .. })) => {
                assert!(error.to_string().contains(why), "{error}");
            }
            other => panic!("{:?}", other.map(|(iterations, _)| iterations)),
        }
    }
    for way in ways() {
        let folder = Scratch::new();
        let go_on = |graph, program| answer_in(folder.path(), true, graph, program, &way);
        assert_refused(go_on(&graph, &ranks), "holds no undamaged checkpoint");
        assert_eq!(names(folder.path()), [""; 0], "nothing is left in it");
    }
    stop_after(3, (folder.path(), false), &graph, &ranks, &threads(2));
    let before = names(folder.path());
    let other = open(&skewed(&scratch, "other", 6));
    let smaller = EdgeList::new(edges(&Rmat::new(7, 8, 5).unwrap())).weighted(2);
    let smaller = open(&import_with(ImportConfig::default(), scratch.path(), "smaller", &smaller));
    let longer = ("pagerank", json!({ "iterations": 6 }));
    let katz = ("katz", json!({}));
    for way in ways() {
        let go_on = |graph, program| answer_in(folder.path(), true, graph, program, &way);
        assert_refused(go_on(&other, &ranks), "of another graph");
        assert_refused(go_on(&smaller, &ranks), "of another graph");
        assert_refused(go_on(&graph, &longer), "\"iterations\":5");
        assert_refused(go_on(&graph, &katz), "pagerank");
        let anew = answer_in(folder.path(), false, &graph, &ranks, &way);
        assert_refused(anew, "already holds checkpoints");
    }
    assert_eq!(names(folder.path()), before);
    let expected = answer(&graph, &ranks, &threads(1)).unwrap();
    let found = answer_in(folder.path(), true, &graph, &ranks, &threads(2)).unwrap();
    assert!(found == expected, "it is what it was");
}

#[test]
fn a_checkpoint_that_cannot_be_written_ends_the_run_and_those_before_it_stay() {
    const NO_SPACE: i32 = 28;
    let scratch = Scratch::new();
    let directory = skewed(&scratch, "skewed", 5);
    let program = &("pagerank", json!({ "iterations": 5 }));
    let expected = answer(&open(&directory), program, &threads(1)).unwrap();
    for way in [&ways()[0], &ways()[2]] {
        let (mut failed, mut gone_on) = (0, 0);
        for nth in 1.. {
            let folder = Scratch::new();
            let plan = FaultPlan::new().nth_write(nth, NO_SPACE);
            let faulty = open_graph(&directory, AMPLE, Backend::Auto.with_faults(&plan)).unwrap();
            match answer_in(folder.path(), false, &faulty, program, way) {
                Ok(found) => assert!(found == expected),
                Err(error) => {
                    assert!(error.to_string().contains("No space left"), "{error}");
                    failed += 1;
                    let resume = names(folder.path()).iter().any(|name| name.contains("version"));
                    gone_on += usize::from(resume);
                    let graph = open(&directory);
                    let found = answer_in(folder.path(), resume, &graph, program, way).unwrap();
                    assert!(found == expected, "after write {nth}");
                }
            }
            if plan.struck() == 0 {
                break;
            }
        }
        assert!(failed > 10 && gone_on > 5, "{failed} failed, {gone_on} had a checkpoint");
    }
}

#[test]
fn the_estimated_memory_of_checkpoints_is_enough() {
    let scratch = Scratch::new();
    let directory = skewed(&scratch, "skewed", 5);
    let program = &("pagerank", json!({ "iterations": 3 }));
    let graph = open(&directory);
    let estimate = estimate::<PageRank>(&graph, 2);
    let least = |budget| estimate.needed() + checkpoint_size(&graph, 4, budget, 2);
    let needed = least(estimate.needed() + (1 << 20));
    let run = |memory| {
        let folder = Scratch::new();
        let graph = open_graph(&directory, memory, Backend::Auto).unwrap();
        let options = RunOptions { memory, arrays: Arrays::InMemory, ..threads(2) };
        answer_in(folder.path(), false, &graph, program, &options)
    };
    assert!(run(needed).unwrap() == answer(&graph, program, &threads(1)).unwrap());
    let refused = run(estimate.needed()).expect_err("there is no room for copies");
    assert!(
        matches!(
            refused,
            Error::Run(tegula_engine::Error::Machine(MachineError::OverBudget { .. }))
        ),
        "{refused}"
    );
}
