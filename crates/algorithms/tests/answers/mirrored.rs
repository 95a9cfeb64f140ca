//! Components of directed graphs by propagation: the graph is written once more, with both
//! directions of every edge. The answer is that of union-find, and no file stays.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};
use tegula_algorithms::algorithm::Algorithm;
use tegula_algorithms::components::wcc::{Method, WccOptions};
use tegula_algorithms::{Error, Result};
use tegula_engine::{Arrays, Estimate, Graph, RunOptions, Scheduler, open_graph};
use tegula_import::ImportConfig;
use tegula_machine::Error as MachineError;
use tegula_machine::disk::{Backend, Fault, FaultPlan};
use tegula_machine::threads::{Cancel, Progress, ProgressUnit};
use tegula_store::graph::VertexOrder;
use tegula_store::tiles::Grid;
use tegula_testkit::{EdgeList, Scratch};

use crate::support::tables::{Kept, counts};
use crate::support::ways::{GRIDS, edges};
use crate::support::{AMPLE, import_with, open, threads};

const PROPAGATION: WccOptions = WccOptions { method: Method::Propagation, max_iterations: None };

/// A directed graph of several segments and columns.
fn directed(scratch: &Scratch) -> PathBuf {
    let edges = (0..3000u64).map(|number| (number * number % 1500, number * 7919 % 1700));
    let mut config = ImportConfig { order: Some(VertexOrder::Degree), ..Default::default() };
    config.tuning.grid = Grid { segment_log2: 8, column_log2: 9 };
    import_with(config, scratch.path(), "g", &EdgeList::new(edges.collect()))
}

fn names(folder: &Path) -> BTreeSet<OsString> {
    std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect()
}

/// Returns the estimate of propagation for arrays in memory or on disk.
fn estimate(graph: &Graph, options: &RunOptions<'_>) -> Estimate {
    let estimate = PROPAGATION.estimate(graph, &(), options.threads).unwrap();
    match options.arrays {
        Arrays::OnDisk => Estimate { vertex_bytes: u64::MAX, ..estimate },
        Arrays::InMemory => Estimate { on_disk: None, ..estimate },
        Arrays::Auto => estimate,
    }
}

/// Propagates labels; returns the rows of the answer as text.
fn propagated(graph: &Graph, options: &RunOptions<'_>) -> Result<String> {
    let found = PROPAGATION.run(graph, (), options)?;
    let mut kept = Kept::default();
    found.answer.write_rows(graph, &mut kept, &Cancel::default())?;
    Ok(format!("{:?}", kept.0))
}

/// Propagates labels within the least memory.
fn within_least(directory: &Path, backend: Backend) -> Result<String> {
    let options = RunOptions { arrays: Arrays::OnDisk, ..threads(2) };
    let memory = estimate(&open(directory), &options).needed();
    let graph = open_graph(directory, memory, backend)?;
    propagated(&graph, &RunOptions { memory, ..options })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..Default::default() })]

    #[test]
    fn propagation_finds_what_union_find_finds(
        edges in edges(1..=300, 0..=3),
        grid in select(&GRIDS[..]),
        weights in prop::option::of(0u64..1000),
    ) {
        let mut input = EdgeList::new(edges);
        if let Some(seed) = weights {
            input = input.weighted(seed);
        }
        for order in [VertexOrder::Given, VertexOrder::Degree, VertexOrder::Dfs] {
            let scratch = Scratch::new();
            let mut config = ImportConfig { order: Some(order), ..Default::default() };
            config.tuning.grid = grid;
            let directory = import_with(config, scratch.path(), "g", &input);
            let united = counts(&open(&directory), "wcc", json!({}), &threads(2));
            let before = names(&directory);
            for (count, arrays, has_least_memory) in [
                (1, Arrays::Auto, true),
                (2, Arrays::OnDisk, true),
                (3, Arrays::OnDisk, false),
                (3, Arrays::InMemory, true),
                (2, Arrays::Auto, false),
            ] {
                let options = RunOptions { arrays, ..threads(count) };
                let least = estimate(&open(&directory), &options).needed();
                let memory = if has_least_memory { least } else { AMPLE };
                let graph = open_graph(&directory, memory, Backend::Auto).unwrap();
                let options = RunOptions { memory, ..options };
                let wanted: Value = json!({ "method": "propagation" });
                let found = counts(&graph, "wcc", wanted, &options);
                prop_assert!(found == united, "{order:?}, {count} threads, {arrays:?}");
                prop_assert!(names(&directory) == before, "{order:?}: a file stays");
            }
        }
    }
}

#[test]
fn without_room_for_a_union_find_labels_are_propagated() {
    let scratch = Scratch::new();
    let directory = directed(&scratch);
    let graph = open(&directory);
    let of_union_find = |arrays| {
        let found =
            WccOptions::default().run(&graph, (), &RunOptions { arrays, ..threads(2) }).unwrap();
        let mut kept = Kept::default();
        found.answer.write_rows(&graph, &mut kept, &Cancel::default()).unwrap();
        (found.statistics.iterations, format!("{:?}", kept.0))
    };
    let (united, propagated) = (of_union_find(Arrays::Auto), of_union_find(Arrays::OnDisk));
    assert_eq!(united.0, 1);
    assert!(propagated.0 > 1 && propagated.1 == united.1);
}

#[test]
fn a_limit_of_iterations_counts_hops_in_both_directions() {
    let scratch = Scratch::new();
    // A path whose edges lead away from its middle.
    let path = EdgeList::new(vec![(2, 1), (1, 0), (2, 3), (3, 4)]);
    let directory = import_with(ImportConfig::default(), scratch.path(), "path", &path);
    let graph = open(&directory);
    for (most, expected) in [(0, [0, 1, 2, 3, 4]), (1, [0, 0, 1, 2, 3]), (4, [0; 5])] {
        let wanted = json!({ "method": "propagation", "max_iterations": most });
        let found = counts(&graph, "wcc", wanted, &threads(2));
        assert_eq!(found, (0..).zip(expected).collect::<Vec<_>>(), "{most}");
    }
}

#[test]
fn a_run_keeps_to_its_reserve_beside_another_job() {
    let scratch = Scratch::new();
    let directory = directed(&scratch);
    let expected = propagated(&open(&directory), &threads(2)).unwrap();
    let needed = estimate(&open(&directory), &threads(2));
    let memory = 2 * needed.needed();
    let graph = open_graph(&directory, memory, Backend::Auto).unwrap();
    let options = RunOptions { memory, ..threads(2) };
    Scheduler::scope(&graph, &options.resources(), |scheduler| {
        let _other = needed.reserve(scheduler, &options.cancel).unwrap();
        let reserve = needed.reserve(scheduler, &options.cancel).unwrap();
        let scheduler = Some(scheduler);
        let options = RunOptions { scheduler, reserve: Some(&reserve), ..options.clone() };
        assert!(propagated(&graph, &options).unwrap() == expected);
    });
}

#[test]
fn a_read_that_fails_is_the_error_of_the_run_and_no_file_stays() {
    let scratch = Scratch::new();
    let directory = directed(&scratch);
    let (expected, before) = (within_least(&directory, Backend::Auto).unwrap(), names(&directory));
    let mut errors = 0;
    // A run reads some hundred times. Each of these faults strikes in another step of it.
    for nth in (1..).step_by(7) {
        let plan = FaultPlan::new().nth(nth, Fault::Errno(5));
        let result = within_least(&directory, Backend::Auto.with_faults(&plan));
        assert_eq!(names(&directory), before, "fault {nth} left something");
        match result {
            Ok(answer) => assert!(answer == expected, "fault {nth}: a wrong answer"),
            Err(Error::Run(tegula_engine::Error::Machine(MachineError::Io { .. }))) => errors += 1,
            Err(other) => panic!("fault {nth}: {other}"),
        }
        if plan.struck() == 0 {
            break;
        }
    }
    assert!(errors > 10, "only {errors} errors");
}

/// Cancels a run when a stage begins.
struct CancelAt {
    stage: &'static str,
    has_begun: AtomicBool,
    cancel: Cancel,
}

impl Progress for CancelAt {
    fn begin(&self, stage: &str, _total: Option<u64>, _unit: ProgressUnit) {
        if stage == self.stage {
            self.has_begun.store(true, Ordering::Relaxed);
            self.cancel.cancel();
        }
    }

    fn advance(&self, _done: u64) {}

    fn end(&self) {}
}

#[test]
fn a_cancelled_run_leaves_no_file() {
    let scratch = Scratch::new();
    let directory = directed(&scratch);
    let (graph, before) = (open(&directory), names(&directory));
    for stage in ["copying edges", "building tiles", "iterating"] {
        let cancel = Cancel::default();
        let progress = CancelAt { stage, has_begun: AtomicBool::default(), cancel: cancel.clone() };
        let options = RunOptions { progress: &progress, cancel, ..threads(2) };
        match propagated(&graph, &options) {
            Err(Error::Run(tegula_engine::Error::Machine(MachineError::Cancelled))) => {}
            other => panic!("{stage}: {other:?}"),
        }
        assert!(progress.has_begun.load(Ordering::Relaxed), "{stage}");
        assert_eq!(names(&directory), before, "{stage}");
    }
}
