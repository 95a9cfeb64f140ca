//! Reads that fail while rows are followed, scanned or built. The result is one error, nothing
//! hangs, and the graph stays as it was.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::support::{AMPLE, import_with, open, with_executor};
use tegula_algorithms::paths::bfs::Bfs;
use tegula_algorithms::paths::sssp::{self, SsspConfig};
use tegula_engine::{Error, Executor, ProcessKind, RunOptions, Speed, VertexId, open_graph};
use tegula_generators::{Rmat, edges};
use tegula_import::ImportConfig;
use tegula_machine::Error as MachineError;
use tegula_machine::disk::{Backend, Fault, FaultPlan, Targets};
use tegula_machine::threads::{Cancel, Silent};
use tegula_store::graph::VertexOrder;
use tegula_store::rows::{self, ChunkCut, Direction, RowEncoding, RowsConfig};
use tegula_testkit::{EdgeList, Scratch, edit_manifest};

const EIO: i32 = 5;

/// The settings to build rows by source with ample memory.
fn config(encoding: RowEncoding, threads: usize) -> RowsConfig {
    RowsConfig {
        direction: Direction::Forward,
        encoding,
        memory: 256 << 20,
        threads,
        cut: ChunkCut::STANDARD,
    }
}

/// Whether an error is the injected fault, with its place.
fn is_eio(error: &Error) -> bool {
    matches!(error, Error::Machine(MachineError::Io { .. }))
        && error.to_string().contains("os error 5")
}

/// An undirected graph with weights, in which the rows of hubs have many pieces.
fn import(scratch: &Scratch, scale: u32, rows: Option<RowEncoding>) -> PathBuf {
    let graph = EdgeList::new(edges(&Rmat::new(scale, 8, 5).unwrap())).weighted(1);
    let order = Some(VertexOrder::Degree);
    let row_cut = ChunkCut { edges_max: 300, window_log2: 8 };
    let mut config = ImportConfig { order, rows, undirected: true, ..Default::default() };
    config.tuning.row_cut = row_cut;
    import_with(config, scratch.path(), "g", &graph)
}

/// The results along rows, in enough detail to tell any wrong answer.
#[derive(Debug, PartialEq)]
struct Found {
    hops: Vec<Option<u32>>,
    lengths: Vec<u64>,
    processes: Vec<ProcessKind>,
}

/// Searches with each page in a read of its own, so that many reads can fail.
fn search(directory: &Path, backend: Backend) -> Result<Found, Error> {
    let graph = open_graph(directory, AMPLE, backend)?;
    let targets = Targets { request_bytes_max: 4096, gap_bytes_max: 0, ..Targets::default() };
    let speed = Speed { targets, ..Speed::default() };
    let options = RunOptions { speed, ..with_executor(Executor::Seek, 2) };
    let bfs = Bfs::run(&graph, VertexId(3), &options)?;
    let paths = match sssp::run(&graph, VertexId(3), SsspConfig::default(), &options) {
        Ok(paths) => paths,
        Err(tegula_algorithms::Error::Run(error)) => return Err(error),
        Err(other) => panic!("{other}"),
    };
    Ok(Found {
        hops: bfs.states.iter().map(|state| state.distance()).collect(),
        lengths: paths.distances.iter().map(|length| length.to_bits()).collect(),
        processes: bfs.statistics.processes,
    })
}

/// Lets one read after another fail. The result is right, or an error accepted by `is_expected`.
/// Returns the number of errors.
fn strike_each(
    directory: &Path,
    fault: impl Fn(u64) -> Fault,
    is_expected: impl Fn(&Error) -> bool,
) -> u64 {
    let expected = search(directory, Backend::Auto).unwrap();
    let mut errors = 0;
    for n in 1.. {
        let plan = FaultPlan::new().nth(n, fault(n));
        let result = search(directory, Backend::Auto.with_faults(&plan));
        match result {
            Err(error) => {
                assert!(plan.struck() == 1 && is_expected(&error), "read {n}: {error}");
                errors += 1;
            }
            // The page was read ahead and never used.
            Ok(found) => {
                assert_eq!(
                    (found.hops, found.lengths),
                    (expected.hops.clone(), expected.lengths.clone())
                );
                if plan.struck() == 0 {
                    break;
                }
            }
        }
    }
    errors
}

#[test]
fn a_read_that_fails_along_rows_ends_the_run_that_needs_it() {
    let scratch = Scratch::new();
    let directory = import(&scratch, 13, Some(RowEncoding::Gap));
    let errors = strike_each(&directory, |_| Fault::Errno(EIO), is_eio);
    assert!(errors > 20, "only {errors} reads");
}

#[test]
fn a_bit_that_flips_on_the_way_to_rows_is_found() {
    let scratch = Scratch::new();
    let directory = import(&scratch, 13, Some(RowEncoding::Ceesor));
    let errors = strike_each(
        &directory,
        |n| Fault::FlipBit(7919 * n),
        |error| matches!(error, Error::Machine(MachineError::Corrupt { path, .. }) if path.starts_with(&directory)),
    );
    assert!(errors > 20, "only {errors} reads");
}

#[test]
fn a_thread_that_dies_with_the_read_of_a_row_hangs_nobody() {
    let scratch = Scratch::new();
    let directory = import(&scratch, 10, Some(RowEncoding::Plain));
    let is_loss =
        |error: &Error| matches!(error, Error::Machine(MachineError::WorkerFailed { .. }));
    let errors = strike_each(&directory, |_| Fault::Lose, is_loss);
    assert!(errors > 10, "only {errors} reads");
}

#[test]
fn reads_that_come_short_or_late_change_nothing() {
    let scratch = Scratch::new();
    let directory = import(&scratch, 12, Some(RowEncoding::Gap));
    let expected = search(&directory, Backend::Auto).unwrap();
    for fault in [Fault::Short(700), Fault::Delay(std::time::Duration::from_micros(300))] {
        let plan = FaultPlan::new().every(3, fault);
        let found = search(&directory, Backend::Auto.with_faults(&plan)).unwrap();
        assert!(plan.struck() > 10);
        assert_eq!((found.hops, found.lengths), (expected.hops.clone(), expected.lengths.clone()));
    }
}

#[test]
#[ignore = "long"]
fn a_read_that_fails_while_rows_are_pulled_ends_the_run() {
    let scratch = Scratch::new();
    // Large enough that pulling from unreached vertices is quicker for some levels.
    let directory = import(&scratch, 15, Some(RowEncoding::Gap));
    let expected = search(&directory, Backend::Auto).unwrap();
    assert!(expected.processes.contains(&ProcessKind::Pull), "{:?}", expected.processes);
    let errors = strike_each(&directory, |_| Fault::Errno(EIO), is_eio);
    assert!(errors > 20, "only {errors} reads");
}

/// The files of a directory and their contents.
fn files(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let paths = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    paths.map(|path| (path.clone(), std::fs::read(path).unwrap_or_default())).collect()
}

#[test]
fn a_read_that_fails_while_rows_are_built_leaves_the_graph_as_it_was() {
    let scratch = Scratch::new();
    let directory = import(&scratch, 14, None);
    let before = files(&directory);
    let build = |backend| {
        let graph = open_graph(&directory, AMPLE, backend)?;
        let config = config(RowEncoding::Gap, 2);
        rows::build(&graph, &config, &Silent, &Cancel::default())
    };
    let mut errors = 0;
    for n in 1.. {
        let fault = if n % 2 == 0 { Fault::Errno(EIO) } else { Fault::FlipBit(31 * n) };
        let plan = FaultPlan::new().nth(n, fault);
        match build(Backend::Auto.with_faults(&plan)) {
            Err(error) => {
                assert!(
                    matches!(
                        error,
                        Error::Machine(MachineError::Io { .. })
                            | Error::Machine(MachineError::Corrupt { .. })
                    ),
                    "{error}"
                );
                assert!(files(&directory) == before, "read {n}");
                errors += 1;
            }
            Ok(_) if plan.struck() == 0 => break,
            // The flipped bit was in an unused part of a page: start again.
            Ok(_) => {
                open(&directory).verify(&Silent, &Cancel::default()).unwrap();
                for path in files(&directory).keys().filter(|path| !before.contains_key(*path)) {
                    std::fs::remove_file(path).unwrap();
                }
                before.iter().for_each(|(path, bytes)| std::fs::write(path, bytes).unwrap());
            }
        }
    }
    assert!(errors > 5, "only {errors} reads");
    open(&directory).verify(&Silent, &Cancel::default()).unwrap();
    assert!(open(&directory).manifest().rows.is_some());
}

#[test]
fn a_build_that_is_cancelled_leaves_the_graph_as_it_was() {
    let scratch = Scratch::new();
    let directory = import(&scratch, 12, None);
    let before = files(&directory);
    let cancel = Cancel::default();
    cancel.cancel();
    let config = config(RowEncoding::Gap, 2);
    let result = rows::build(&open(&directory), &config, &Silent, &cancel);
    assert!(matches!(result, Err(Error::Machine(MachineError::Cancelled))));
    assert!(files(&directory) == before);
}

#[test]
fn concurrent_and_repeated_builds_build_once() {
    let scratch = Scratch::new();
    let directory = import(&scratch, 13, None);
    // Each would use another encoding; the first build wins, as a whole.
    let graphs: Vec<_> = RowEncoding::ALL.map(|_| open(&directory)).into();
    let built: Vec<_> = std::thread::scope(|scope| {
        let builds: Vec<_> = graphs
            .iter()
            .zip(RowEncoding::ALL)
            .map(|(graph, encoding)| {
                let config = config(encoding, 1);
                scope.spawn(move || {
                    rows::build(graph, &config, &Silent, &Cancel::default()).unwrap()
                })
            })
            .collect();
        builds.into_iter().map(|build| build.join().unwrap()).collect()
    });
    assert!(built.iter().all(|manifest| *manifest == built[0]));
    let after = files(&directory);
    open(&directory).verify(&Silent, &Cancel::default()).unwrap();
    let config = config(RowEncoding::Plain, 1);
    rows::build(&open(&directory), &config, &Silent, &Cancel::default()).unwrap();
    assert!(files(&directory) == after);
}

#[test]
fn a_build_does_not_touch_a_graph_that_replaced_its_own() {
    let scratch = Scratch::new();
    let directory = import(&scratch, 10, None);
    let graph = open(&directory);
    let path = EdgeList::new((0..100).map(|vertex| (vertex, vertex + 1)).collect());
    std::fs::remove_dir_all(&directory).unwrap();
    import_with(ImportConfig::default(), scratch.path(), "g", &path);
    let before = files(&directory);
    let config = config(RowEncoding::Gap, 1);
    let error = rows::build(&graph, &config, &Silent, &Cancel::default()).map(drop).unwrap_err();
    assert!(error.to_string().contains("g.tegula"), "{error}");
    assert!(files(&directory) == before);
}

#[test]
fn a_piece_of_a_row_that_leads_elsewhere_ends_the_run() {
    let scratch = Scratch::new();
    // In both graphs the row of the first vertex has pieces of 3, 4 and 3 edges, but with different
    // targets.
    let [own, other] = [[1, 2, 3, 4, 5, 6, 7, 8, 9, 10], [4, 5, 6, 8, 9, 10, 11, 12, 13, 14]];
    let [own, other] = [("own", own), ("other", other)].map(|(name, targets)| {
        let ring = (1..16).map(|vertex| (vertex, vertex % 15 + 1));
        let hub = targets.iter().map(|&target| (0, target));
        let (order, rows) = (Some(VertexOrder::Given), Some(RowEncoding::Plain));
        let row_cut = ChunkCut { edges_max: 4, window_log2: 2 };
        let mut config = ImportConfig { order, rows, ..Default::default() };
        config.tuning.row_cut = row_cut;
        let graph = EdgeList::new(hub.chain(ring).collect());
        import_with(config, scratch.path(), name, &graph)
    });
    let checksums = [&own, &other]
        .map(|graph| open(graph).manifest().file("rows.data").unwrap().checksum.unwrap());
    std::fs::copy(other.join("rows.data"), own.join("rows.data")).unwrap();
    let [ours, theirs] = checksums.map(|checksum| checksum.to_string());
    edit_manifest(&own, |body| body.replace(&ours, &theirs));
    for threads in [1, 2] {
        let graph = open(&own);
        let options = with_executor(Executor::Seek, threads);
        let error = Bfs::run(&graph, VertexId(0), &options).map(drop).unwrap_err();
        assert!(matches!(error, Error::Machine(MachineError::Corrupt { .. })), "{error}");
        assert!(error.to_string().contains("a piece has no edges, or targets outside"), "{error}");
    }
}
