//! Who loads a shared value, who waits, and what it counts.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Barrier, Mutex};

use tegula_import::{ImportConfig, import};
use tegula_machine::Error as MachineError;
use tegula_machine::threads::Silent;
use tegula_store::Error;
use tegula_store::graph::VertexOrder;
use tegula_store::rows::{ChunkCut, RowEncoding, RowReader};
use tegula_testkit::{EdgeList, Scratch};

use super::*;
use crate::graph_for_tests::graph_with_rows;
use crate::job::shared_rows::WantedRows;
use crate::job::traversal::{RowsJob, run};
use crate::memory::overhead;
use crate::options::RunOptions;
use crate::scheduler::{MemoryDemand, Scheduler};
use crate::traverse::{Held, RowsWanted, Sequential};
use crate::{Backend, open_graph};

const VERTICES: u64 = 3000;

/// Makes the directory of an undirected graph of 30,000 edges.
fn directory(scratch: &Scratch) -> std::path::PathBuf {
    let edges = (0..10 * VERTICES).map(|edge| (edge % VERTICES, edge * edge % VERTICES));
    let edges = EdgeList::new(edges.collect());
    graph_with_rows(scratch, &edges, RowEncoding::default(), ChunkCut::STANDARD)
}

#[test]
fn after_a_failed_load_the_next_user_loads() {
    let (value, cancel) = (LoadOnce::default(), Cancel::default());
    let failed = value.get(&cancel, || Err::<u32, _>(Error::cancelled()));
    assert!(matches!(failed, Err(Error::Machine(MachineError::Cancelled))), "{failed:?}");
    let panicking = std::panic::AssertUnwindSafe(|| {
        value.get(&cancel, || std::panic::resume_unwind(Box::new("on purpose")))
    });
    assert!(std::panic::catch_unwind(panicking).is_err());
    assert_eq!(value.get(&cancel, || Ok(7)).unwrap(), 7);
    assert_eq!(value.get(&cancel, || unreachable!("it is loaded")).unwrap(), 7);
}

#[test]
fn a_user_that_waits_for_a_load_can_be_cancelled_or_load_after_its_failure() {
    let (value, cancel, other) = (LoadOnce::default(), Cancel::default(), Cancel::default());
    let (is_loading, may_fail) = (AtomicBool::new(false), AtomicBool::new(false));
    let wait_for = |flag: &AtomicBool| {
        while !flag.load(Ordering::SeqCst) {
            std::thread::yield_now();
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let failed = value.get(&cancel, || {
                is_loading.store(true, Ordering::SeqCst);
                wait_for(&may_fail);
                Err(Error::cancelled())
            });
            assert!(failed.is_err(), "{failed:?}");
        });
        wait_for(&is_loading);
        other.cancel();
        let waited = value.get(&other, || unreachable!("another user loads"));
        assert!(matches!(waited, Err(Error::Machine(MachineError::Cancelled))), "{waited:?}");
        let patient = scope.spawn(|| value.get(&cancel, || Ok(3)).unwrap());
        may_fail.store(true, Ordering::SeqCst);
        assert_eq!(patient.join().unwrap(), 3);
    });
}

#[test]
fn a_shared_value_is_counted_once_and_freed_with_its_last_job() {
    let scratch = Scratch::new();
    let memory = 64 << 20;
    let graph = open_graph(&directory(&scratch), memory, Backend::Auto).unwrap();
    let resources = RunOptions { memory, threads: 1, ..Default::default() }.resources();
    Scheduler::scope(&graph, &resources, |scheduler| {
        let (pool, cancel) = (graph.reader().pool(), Cancel::default());
        let share = Share::out_degrees(&graph);
        let admit = || {
            let demand = MemoryDemand::rows("a job", 1000).with_share(Some(share));
            scheduler.ledger().admit(&[demand], None, &cancel).unwrap()
        };
        let loads = Cell::new(0);
        let load = |_| {
            loads.set(loads.get() + 1);
            graph.out_degrees()
        };
        let left = pool.available();
        let taken = || left - pool.available();
        let first = admit();
        assert_eq!(taken(), 1000 + share.least);
        let second = admit();
        assert_eq!(taken(), 2000 + share.least, "the degrees are counted once");
        let failed = first.load::<Vec<u32>>(share.key, &cancel, |_| Err(Error::cancelled()));
        assert!(failed.is_err());
        let degrees = second.load(share.key, &cancel, load).unwrap();
        drop(second);
        assert_eq!(taken(), 1000 + share.least, "the first one still needs the degrees");
        assert!(Arc::ptr_eq(&first.load(share.key, &cancel, load).unwrap(), &degrees));
        assert_eq!(loads.get(), 1);
        drop((degrees, first));
        assert_eq!(taken(), 0);
        let later = admit();
        assert_eq!(*later.load(share.key, &cancel, load).unwrap(), graph.out_degrees().unwrap());
        assert_eq!(loads.get(), 2, "nobody held them meanwhile");
    });
}

#[test]
fn jobs_use_one_copy_of_the_id_positions() {
    let scratch = Scratch::new();
    let (edges, ordered) = (scratch.join("edges.el"), scratch.join("ordered.tegula"));
    let line = |vertex| format!("{vertex} {}\n", vertex * vertex % VERTICES);
    std::fs::write(&edges, (0..VERTICES).map(line).collect::<String>()).unwrap();
    let (order, rows) = (Some(VertexOrder::Degree), Some(RowEncoding::default()));
    let config = ImportConfig { order, rows, undirected: true, ..Default::default() };
    import(&[edges], &ordered, &config, &Silent, &Cancel::default()).unwrap();
    let graph = open_graph(&ordered, 64 << 20, Backend::Auto).unwrap();
    let options = RunOptions { memory: 64 << 20, threads: 2, ..Default::default() };
    let held = Held::with_id_positions(&graph, 1000).unwrap();
    assert_eq!(held, Held { own: 1000, id_positions: 4 * VERTICES });
    let wanted = RowsWanted::forward(false);
    let together = Barrier::new(2);
    Scheduler::scope(&graph, &options.resources(), |scheduler| {
        let options = &RunOptions { scheduler: Some(scheduler), ..options.clone() };
        let (pool, left) = (graph.reader().pool(), graph.reader().pool().available());
        let caches = 2 * RowReader::size_min(&graph, Direction::Forward, false);
        let read = || {
            run(&graph, wanted, held, options, |job| {
                together.wait();
                let taken = left - pool.available();
                assert!(taken < 2 * 1000 + held.id_positions + caches, "{taken} bytes");
                let id_positions = graph.original_ids()?.id_positions(job.cancel())?;
                together.wait();
                Ok::<_, Error>(id_positions.expect("the order is not that of the ids"))
            })
        };
        let [one, other] = std::thread::scope(|scope| {
            [scope.spawn(read), scope.spawn(read)].map(|job| job.join().unwrap().unwrap())
        });
        assert!(Arc::ptr_eq(&one, &other));
        let mut expected = vec![0; VERTICES as usize];
        let ids = graph.original_ids().unwrap();
        ids.write_id_positions(&mut expected, &Cancel::default()).unwrap();
        assert_eq!(one[..], expected[..]);
    });
}

/// Adds up the neighbours of all vertices, and returns the bytes that were read for it.
fn read_rows(job: &RowsJob<'_>) -> Result<(u64, u64)> {
    let before = job.rows().bytes_read();
    let mut traversal = job.traversal(Sequential::new(0..VERTICES as u32));
    let mut sum = 0;
    while let Some((row, _)) = traversal.next_row()? {
        row.for_each(|target| sum += u64::from(target.0))?;
    }
    Ok((sum, job.rows().bytes_read() - before))
}

/// Runs two jobs within memory for the arrays of both and one copy of the rows. The second comes
/// while the first is at work.
#[test]
fn two_jobs_with_room_for_one_copy_of_the_rows_run_together() {
    let scratch = Scratch::new();
    let directory = directory(&scratch);
    let (wanted, cancel) = (RowsWanted::forward(false), Cancel::default());
    let held = 5 << 20;
    let (needed, rows_size) = {
        let graph = open_graph(&directory, 1 << 30, Backend::Auto).unwrap();
        let rows = RowReader::size_min(&graph, Direction::Forward, false)
            + RowReader::cache_size_max(&graph, Direction::Forward, false)
            - RowReader::CACHE_SIZE_MIN;
        (overhead(&graph) + 2 * held + rows, rows)
    };
    assert!(rows_size < 2 * held);
    let graph = open_graph(&directory, needed, Backend::Auto).unwrap();
    let options = RunOptions { memory: needed, threads: 2, ..Default::default() };
    Scheduler::scope(&graph, &options.resources(), |scheduler| {
        let options = &RunOptions { scheduler: Some(scheduler), ..options.clone() };
        let (is_first_in, second) = (AtomicBool::new(false), Mutex::new(None));
        std::thread::scope(|scope| {
            let first = scope.spawn(|| {
                run(&graph, wanted, held, options, |job| {
                    is_first_in.store(true, Ordering::SeqCst);
                    while lock(&second).is_none() {
                        assert_eq!(scheduler.ledger().waiting_count(), 0, "it was to get in");
                        std::thread::yield_now();
                    }
                    read_rows(job)
                })
            });
            while !is_first_in.load(Ordering::SeqCst) {
                assert!(!first.is_finished());
                std::thread::yield_now();
            }
            let read = graph.reader().statistics().bytes_read;
            let opened =
                WantedRows::of(scheduler, &graph, Direction::Forward, false, &cancel).unwrap();
            assert!(opened.is_some());
            assert_eq!(graph.reader().statistics().bytes_read, read, "the index is read once");
            let found = run(&graph, wanted, held, options, read_rows).unwrap();
            assert!(found.0 > 0 && found.1 > 0, "{found:?}");
            *lock(&second) = Some(found);
            let again = first.join().unwrap().unwrap();
            assert_eq!(again, (found.0, 0), "all rows are in the cache of the second job");
        });
    });
}
