//! If the system refuses some threads, the remaining ones do all the work.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tegula_machine::Error;
use tegula_machine::disk::{
    Backend, BlockStore, Blocks, Caching, Directory, Pool, Reader, Request, WriteBehind,
};
use tegula_machine::threads::{
    Cancel, WORKERS_MAX, WorkerShortage, Workers, refuse, refuse_each, shortage,
    workers_within_limit,
};

/// Threads are refused for the whole process, so one test at a time does it.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

#[test]
fn the_started_workers_do_the_work_of_the_refused_ones() {
    let _alone = alone();
    let sum = || {
        let sum = AtomicUsize::new(0);
        Workers::scope(5, |workers| {
            let add = |number| {
                sum.fetch_add(number, Ordering::Relaxed);
                Ok::<_, Error>(())
            };
            workers.for_each(1000, &Cancel::default(), &add).unwrap();
        });
        assert_eq!(sum.into_inner(), 499_500);
    };
    assert_eq!(refuse_each(sum), 4);
}

#[test]
fn the_shortage_reports_the_fewest_workers_and_the_reason() {
    let _alone = alone();
    let scope = |count| Workers::scope(count, |workers| workers.count());
    refuse(0..0);
    assert_eq!((scope(3), shortage()), (3, None));
    for (refused, started) in [(3..usize::MAX, 4), (1..usize::MAX, 2), (0..usize::MAX, 1)] {
        refuse(refused);
        scope(5);
        let told = shortage().unwrap();
        assert_eq!(told.workers, Some(WorkerShortage { started, wanted: 5 }));
        let words = told.to_string();
        assert!(words.starts_with(&format!("only {started} of 5 workers were started")), "{words}");
        assert!(words.contains("ulimit -u") && words.contains("pids.max"), "{words}");
    }
    refuse(0..1);
    scope(2);
    scope(9);
    assert_eq!(shortage().unwrap().workers, Some(WorkerShortage { started: 1, wanted: 2 }));
    refuse(0..0);
}

#[test]
fn the_workers_of_a_process_are_limited_by_its_mappings() {
    let _alone = alone();
    refuse(0..0);
    assert_eq!([0, 1, WORKERS_MAX].map(workers_within_limit), [1, 1, WORKERS_MAX]);
    assert_eq!(shortage(), None);
    assert_eq!(workers_within_limit(20_000), WORKERS_MAX);
    let workers = shortage().unwrap().workers;
    assert_eq!(workers, Some(WorkerShortage { started: WORKERS_MAX, wanted: 20_000 }));
    refuse(0..0);
}

#[test]
fn without_background_threads_the_callers_read_and_write() {
    let _alone = alone();
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = folder.path().join("file");
    let bytes: Vec<u8> = (0..100_000).map(|index| (index / 7 % 251) as u8).collect();
    std::fs::write(&path, &bytes).unwrap();
    let directory = Directory::open(folder.path()).unwrap();
    let blocks = Blocks { what: "numbers", count: 7, size: 5000 };
    for backend in [Backend::Auto, Backend::Threads(NonZeroUsize::new(3).unwrap())] {
        let read_and_write = || {
            let reader = Reader::open(backend.clone(), Pool::new(64 << 10)).unwrap();
            let file = reader.open_file(&path, Caching::PageCache).unwrap();
            let request = |index: u64| Request { file: &file, offset: index * 10_000, len: 10_000 };
            let pending = reader.read_batch(&(0..10).map(request).collect::<Vec<_>>());
            let frames = pending.into_iter().flat_map(|frame| frame.wait().unwrap().to_vec());
            assert!(frames.eq(bytes.iter().copied()));
            let writer = WriteBehind::start(&reader, 2 * blocks.frame_size(), Caching::PageCache);
            let store =
                BlockStore::create(&directory, blocks, &reader, &writer, &|_| false).unwrap();
            for (block, part) in bytes.chunks(5000).take(7).enumerate() {
                store.write(block, &[part]).unwrap();
            }
            store.finish_writing().unwrap();
            for (block, part) in bytes.chunks(5000).take(7).enumerate() {
                let mut found = vec![0; 5000];
                store.read(block, &mut [&mut found]).unwrap();
                assert!(found == part, "block {block}");
            }
        };
        assert!(refuse_each(read_and_write) >= 3);
    }
}
