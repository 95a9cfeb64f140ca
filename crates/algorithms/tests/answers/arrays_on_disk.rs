//! Arrays on disk under failed reads and writes, flipped bits and full disks. A run ends in one
//! error or the right answer, and leaves no file behind.

use std::path::{Path, PathBuf};

use crate::support::{AMPLE, import_with};
use tegula_algorithms::centrality::pagerank::{PageRank, Stop};
use tegula_algorithms::paths::bfs::Bfs;
use tegula_engine::{
    Arrays, Error, Executor, Messages, RunOptions, Tuning, VertexId, estimate_anywhere, open_graph,
};
use tegula_generators::{Rmat, edges};
use tegula_import::ImportConfig;
use tegula_machine::Error as MachineError;
use tegula_machine::disk::{Backend, Fault, FaultPlan};
use tegula_store::graph::VertexOrder;
use tegula_store::rows::RowEncoding;
use tegula_store::tiles::Grid;
use tegula_testkit::{EdgeList, Scratch};

const STOP: Stop = Stop::Iterations(2);

/// Bytes for sending messages to groups of columns, beside all else. One group fewer would need
/// more than this in addition.
const SENDING: u64 = 24 << 10;

/// A skewed graph of some four segments by eight columns.
fn skewed(scratch: &Scratch) -> PathBuf {
    let graph = EdgeList::new(edges(&Rmat::new(12, 8, 5).unwrap()));
    let grid = Grid { segment_log2: 10, column_log2: 9 };
    let mut config = ImportConfig { order: Some(VertexOrder::Degree), ..Default::default() };
    config.tuning.grid = grid;
    import_with(config, scratch.path(), "skewed", &graph)
}

/// The results: ranks as bits, and hops.
type Answers = (Vec<u32>, Vec<Option<u32>>);

/// Opens a graph with a backend and runs in the least memory.
fn run(directory: &Path, backend: Backend, arrays: Arrays) -> Result<Answers, Error> {
    let memory = match arrays {
        Arrays::OnDisk => {
            let graph = open_graph(directory, AMPLE, Backend::Auto)?;
            let estimate = estimate_anywhere::<PageRank>(&graph, 2);
            let on_disk = estimate.on_disk.expect("it may lie there").least();
            assert!(on_disk.groups > 1, "{on_disk:?}");
            on_disk.bytes + SENDING + estimate.stream_bytes_min + estimate.overhead_bytes
        }
        Arrays::Auto | Arrays::InMemory => AMPLE,
    };
    let graph = open_graph(directory, memory, backend)?;
    let options = RunOptions { memory, threads: 2, arrays, ..Default::default() };
    // Both ways to bring messages to further groups of columns.
    let sending = RunOptions {
        tuning: Tuning { messages: Messages::Dispatched, ..Tuning::default() },
        ..options.clone()
    };
    let ranks = PageRank::run(&graph, STOP, &sending)?.states;
    let rereading = RunOptions {
        tuning: Tuning { messages: Messages::Reread, ..Tuning::default() },
        ..options
    };
    let reached = Bfs::run(&graph, VertexId(0), &rereading)?.states;
    let hops = reached.iter().map(|reached| reached.distance()).collect();
    Ok((ranks.iter().map(|rank| rank.to_bits()).collect(), hops))
}

/// Runs with each fault in turn until none strikes. Checks errors with `is_expected`; returns their
/// number.
fn strike(fault: impl Fn(u64) -> FaultPlan, is_expected: impl Fn(&Error) -> bool) -> u64 {
    let scratch = Scratch::new();
    let directory = skewed(&scratch);
    let names = || std::fs::read_dir(&directory).unwrap().count();
    let (expected, files) = (run(&directory, Backend::Auto, Arrays::InMemory).unwrap(), names());
    let mut errors = 0;
    for nth in 1.. {
        let plan = fault(nth);
        let result = run(&directory, Backend::Auto.with_faults(&plan), Arrays::OnDisk);
        assert_eq!(names(), files, "fault {nth} left something");
        match result {
            Ok(answers) => assert!(answers == expected, "fault {nth}: a wrong answer"),
            Err(error) => {
                assert!(is_expected(&error), "fault {nth}: {error}");
                errors += 1;
            }
        }
        if plan.struck() == 0 {
            break;
        }
    }
    errors
}

#[test]
fn the_nth_read_fails_for_every_n() {
    let plan = |nth| FaultPlan::new().nth(nth, Fault::Errno(5));
    let errors = strike(plan, |error| matches!(error, Error::Machine(MachineError::Io { .. })));
    assert!(errors > 100, "only {errors} errors");
}

#[test]
fn a_bit_that_flips_on_the_way_is_found_in_every_read() {
    let plan = |nth| FaultPlan::new().nth(nth, Fault::FlipBit(7919 * nth));
    let is_named = |error: &Error| match error {
        Error::Machine(MachineError::Corrupt { .. }) => true,
        other => other.to_string().contains("is not what was written"),
    };
    let errors = strike(plan, is_named);
    assert!(errors > 100, "only {errors} errors");
}

#[test]
fn the_nth_write_fails_for_every_n() {
    const NO_SPACE: i32 = 28;
    let plan = |nth| FaultPlan::new().nth_write(nth, NO_SPACE);
    let is_expected = |error: &Error| error.to_string().contains("No space left");
    let errors = strike(plan, is_expected);
    assert!(errors > 30, "only {errors} errors");
}

#[test]
fn late_and_short_reads_change_nothing() {
    let scratch = Scratch::new();
    let directory = skewed(&scratch);
    let expected = run(&directory, Backend::Auto, Arrays::InMemory).unwrap();
    for seed in 0..4 {
        let late = Fault::Delay(std::time::Duration::from_millis(2));
        let plan = FaultPlan::new().one_in(5, seed, late).one_in(7, seed + 9, Fault::Short(700));
        let backend = Backend::Auto.with_faults(&plan);
        assert!(run(&directory, backend, Arrays::OnDisk).unwrap() == expected);
        assert!(plan.struck() > 20);
    }
}

#[test]
fn a_search_that_seeks_finds_the_same_whatever_arrays_are_asked_for() {
    let scratch = Scratch::new();
    let graph = EdgeList::new(edges(&Rmat::new(10, 8, 5).unwrap()));
    let rows = Some(RowEncoding::default());
    let config = ImportConfig { rows, undirected: true, ..Default::default() };
    let directory = import_with(config, scratch.path(), "rows", &graph);
    let graph = open_graph(&directory, AMPLE, Backend::Auto).unwrap();
    let reached = |executor, arrays| {
        let options = RunOptions { memory: AMPLE, executor, arrays, ..Default::default() };
        Bfs::run(&graph, VertexId(0), &options).unwrap().states
    };
    let expected = reached(Executor::Scan, Arrays::OnDisk);
    for arrays in [Arrays::OnDisk, Arrays::Auto, Arrays::InMemory] {
        assert!(reached(Executor::Seek, arrays) == expected, "{arrays:?}");
    }
}
