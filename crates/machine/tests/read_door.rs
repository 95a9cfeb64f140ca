//! The reader: frames hold the bytes of the file, within the budget, with every backend.

use std::collections::HashMap;
use std::fs::{self, OpenOptions};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use tegula_machine::Error;
use tegula_machine::disk::{
    Backend, Caching, Fault, FaultPlan, FileHandle, Frame, Pool, Reader, Request,
};
use tegula_testkit::XorShift;

const MIB: u64 = 1 << 20;
const EINVAL: i32 = 22;

/// Bytes that depend on their offset.
fn pattern(len: usize) -> Vec<u8> {
    (0..len as u64).map(|i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect()
}

/// A file on disk in a temporary folder.
struct OnDisk {
    _folder: tempfile::TempDir,
    path: PathBuf,
    bytes: Vec<u8>,
}

impl OnDisk {
    fn new(len: usize) -> OnDisk {
        OnDisk::in_folder(Path::new(env!("CARGO_TARGET_TMPDIR")), len)
    }

    fn in_folder(parent: &Path, len: usize) -> OnDisk {
        let folder = tempfile::tempdir_in(parent).expect("a folder");
        let (path, bytes) = (folder.path().join("file"), pattern(len));
        fs::write(&path, &bytes).expect("a file");
        OnDisk { _folder: folder, path, bytes }
    }
}

/// Every backend that this machine has, each able to read `file`.
fn backends(file: &OnDisk) -> Vec<Backend> {
    let in_memory = HashMap::from([(file.path.clone(), file.bytes.clone())]);
    let mut all = vec![
        Backend::Auto,
        Backend::Threads(NonZeroUsize::MIN),
        threads(4),
        Backend::Memory(in_memory),
        threads(2).with_faults(&FaultPlan::new()),
    ];
    if Reader::open(Backend::Uring, Pool::new(0)).is_ok() {
        all.push(Backend::Uring);
    }
    all
}

fn threads(count: usize) -> Backend {
    Backend::Threads(NonZeroUsize::new(count).expect("some threads"))
}

/// Calls `check` for each backend and each caching, with a reader with a fresh pool, and the file
/// opened by it.
fn each_reader(file: &OnDisk, budget: u64, check: impl Fn(&Reader, &FileHandle)) {
    for backend in backends(file) {
        for caching in [Caching::Direct, Caching::PageCache] {
            let reader = Reader::open(backend.clone(), Pool::new(budget)).expect("a reader");
            let handle = reader.open_file(&file.path, caching).expect("the file");
            check(&reader, &handle);
            assert!(reader.pool().peak() <= budget);
            returns_all_memory(reader.pool());
        }
    }
}

/// Waits until all memory is back: cancelled reads may take a moment to return theirs.
fn returns_all_memory(pool: &Pool) {
    let deadline = Instant::now() + Duration::from_secs(10);
    while pool.available() != pool.frames_max() {
        assert!(Instant::now() < deadline, "{pool:?}");
        thread::yield_now();
    }
}

fn is_corrupt_at(error: &Error, path: &Path, byte: u64) -> bool {
    matches!(error, Error::Corrupt { path: at, part, .. } if at == path && *part == format!("byte {byte}"))
}

#[test]
fn every_backend_reads_any_range_of_a_file() {
    let file = OnDisk::new(300_000);
    let len = file.bytes.len() as u64;
    each_reader(&file, MIB, |reader, handle| {
        let mut random = XorShift::new(1);
        for _ in 0..20 {
            let mut range = |_| {
                let offset = random.below(len + 1);
                (offset, random.below((len - offset).min(40_000) + 1) as usize)
            };
            let mut ranges: Vec<(u64, usize)> = (0..30).map(&mut range).collect();
            ranges.extend([(0, 0), (0, len as usize), (len, 0), (len - 1, 1), (4096, 4096)]);
            let requests: Vec<Request<'_>> =
                ranges.iter().map(|&(offset, len)| Request { file: handle, offset, len }).collect();
            for (pending, (offset, len)) in reader.read_batch(&requests).into_iter().zip(ranges) {
                let frame = pending.wait().expect("a frame");
                assert!(*frame == file.bytes[offset as usize..][..len], "{len} bytes at {offset}");
                assert!(len == 0 || frame.as_ptr() as u64 % 4096 == offset % 4096);
            }
        }
    });
}

#[test]
fn a_request_past_the_end_names_file_and_byte() {
    let file = OnDisk::new(10_000);
    each_reader(&file, MIB, |reader, handle| {
        let past = [
            (9_999, 2, 10_000),
            (10_001, 0, 10_001),
            (u64::MAX, 5, u64::MAX),
            (0, usize::MAX, 10_000),
        ];
        for (offset, len, byte) in past {
            let error = reader.read(handle, offset, len).wait().expect_err("it is past the end");
            assert!(is_corrupt_at(&error, &file.path, byte), "{error}");
        }
        // Its neighbours in a batch succeed.
        let good = Request { file: handle, offset: 0, len: 100 };
        let batch = reader.read_batch(&[good, Request { offset: 10_000, len: 1, ..good }, good]);
        let answers: Vec<bool> = batch.into_iter().map(|pending| pending.wait().is_ok()).collect();
        assert_eq!(answers, [true, false, true]);
    });
}

#[test]
fn a_file_that_shrinks_after_it_was_opened_is_an_error() {
    let file = OnDisk::new(100_000);
    for backend in [threads(1), Backend::Auto] {
        fs::write(&file.path, &file.bytes).expect("the whole file");
        let reader = Reader::open(backend, Pool::new(MIB)).expect("a reader");
        let handle = reader.open_file(&file.path, Caching::Direct).expect("the file");
        let shrunk = OpenOptions::new().write(true).open(&file.path).expect("the file");
        shrunk.set_len(50_000).expect("a shorter file");
        let error = reader.read(&handle, 0, 100_000).wait().expect_err("half of it is gone");
        assert!(is_corrupt_at(&error, &file.path, 50_000), "{error}");
        assert!(reader.read(&handle, 0, 50_000).wait().is_ok());
    }
}

#[test]
fn a_missing_file_or_a_folder_cannot_be_opened() {
    let folder = tempfile::tempdir().expect("a folder");
    let reader = Reader::open(Backend::Auto, Pool::new(MIB)).expect("a reader");
    for path in [folder.path().join("missing"), folder.path().to_owned()] {
        let error = reader.open_file(&path, Caching::Direct).expect_err("no regular file");
        assert!(matches!(error, Error::Io { action: "open", .. }), "{error}");
    }
}

#[test]
fn a_file_system_that_refuses_direct_io_is_read_through_the_page_cache() {
    let mut files = vec![OnDisk::new(200_000)];
    if Path::new("/dev/shm").is_dir() {
        files.push(OnDisk::in_folder(Path::new("/dev/shm"), 200_000));
    }
    for file in &files {
        for backend in [threads(3), Backend::Auto] {
            // The first reads answer as a file system without direct I/O does.
            let refusals =
                FaultPlan::new().nth(1, Fault::Errno(EINVAL)).nth(2, Fault::Errno(EINVAL));
            let backend = backend.with_faults(&refusals);
            let reader = Reader::open(backend, Pool::new(MIB)).expect("a reader");
            let handle = reader.open_file(&file.path, Caching::Direct).expect("the file");
            let first = reader.read(&handle, 777, 150_001).wait().expect("a second attempt");
            assert!(*first == file.bytes[777..][..150_001]);
            let refused_again = reader.read(&handle, 0, 100).wait();
            assert!(refused_again.is_err(), "it was not direct, so EINVAL means something else");
            let last = reader.read(&handle, 199_000, 1000).wait().expect("a frame");
            assert!(*last == file.bytes[199_000..]);
        }
    }
}

#[test]
fn a_read_of_more_than_the_whole_budget_is_refused() {
    let file = OnDisk::new(64 * 1024);
    each_reader(&file, 16 * 1024, |reader, handle| {
        assert!(reader.read(handle, 0, 16 * 1024).wait().is_ok());
        // One byte to either side widens it by a page.
        let error = reader.read(handle, 1, 16 * 1024).wait().expect_err("it takes five pages");
        assert!(
            matches!(error, Error::OverBudget { needed: 20_480, budget: 16_384, .. }),
            "{error}"
        );
    });
}

#[test]
fn a_batch_far_above_the_budget_streams_through_it() {
    let file = OnDisk::new(1 << 20);
    each_reader(&file, 20 * 1024, |reader, handle| {
        let requests: Vec<Request<'_>> =
            (0..250).map(|i| Request { file: handle, offset: i * 4111, len: 5000 }).collect();
        for (pending, request) in reader.read_batch(&requests).into_iter().zip(&requests) {
            let frame = pending.wait().expect("a frame");
            assert!(*frame == file.bytes[request.offset as usize..][..request.len]);
        }
    });
}

#[test]
fn try_read_batch_gets_all_or_nothing_and_never_queues() {
    let file = OnDisk::new(64 * 1024);
    each_reader(&file, 16 * 1024, |reader, handle| {
        let page = |i: u64| Request { file: handle, offset: i * 4096, len: 4096 };
        let batch = reader.try_read_batch(&[page(0), page(1), page(2)]).expect("room for three");
        let kept: Vec<Frame> = batch.into_iter().map(|p| p.wait().expect("a frame")).collect();
        assert!(reader.try_read_batch(&[page(3), page(4)]).is_none());
        assert_eq!(reader.pool().available(), 4096);
        let fourth = reader.try_read_batch(&[page(3)]).expect("room for one");
        assert!(reader.try_read_batch(&[]).is_some_and(|none| none.is_empty()));
        let queued = reader.read(handle, 0, 8192);
        drop(fourth);
        assert!(!queued.is_ready());
        assert!(reader.try_read_batch(&[page(5)]).is_none(), "somebody waits already");
        drop(kept);
        assert!(*queued.wait().expect("its turn") == file.bytes[..8192]);
    });
}

#[test]
fn many_threads_stay_within_the_budget_and_none_starves() {
    let file = OnDisk::new(1 << 20);
    let budget = 256 * 1024;
    each_reader(&file, budget, |reader, handle| {
        let held = AtomicU64::new(0);
        thread::scope(|scope| {
            for seed in 0..4 {
                let (held, file) = (&held, &file);
                scope.spawn(move || {
                    let mut random = XorShift::new(seed);
                    for _ in 0..40 {
                        let request = |_| {
                            let offset = random.below(900_000);
                            Request { file: handle, offset, len: random.below(60_000) as usize }
                        };
                        let requests: Vec<Request<'_>> = (0..8).map(request).collect();
                        let batch = reader.read_batch(&requests);
                        for (pending, request) in batch.into_iter().zip(&requests) {
                            let frame = pending.wait().expect("a frame");
                            let len = frame.len() as u64;
                            assert!(held.fetch_add(len, Ordering::SeqCst) + len <= budget);
                            assert!(*frame == file.bytes[request.offset as usize..][..request.len]);
                            held.fetch_sub(len, Ordering::SeqCst);
                        }
                    }
                });
            }
        });
    });
}

#[test]
fn dropped_reads_are_cancelled_and_return_their_memory() {
    let file = OnDisk::new(1 << 20);
    each_reader(&file, 64 * 1024, |reader, handle| {
        let request = |i: u64| Request { file: handle, offset: i * 977, len: 20_000 };
        for round in 0..20 {
            let requests: Vec<Request<'_>> = (0..50).map(request).collect();
            let mut batch = reader.read_batch(&requests);
            let kept = batch.swap_remove(round);
            drop(batch);
            let frame = kept.wait().expect("a frame");
            assert!(*frame == file.bytes[round * 977..][..20_000]);
        }
    });
}

#[test]
fn a_cancelled_request_at_the_head_of_the_queue_lets_others_pass() {
    let file = OnDisk::new(64 * 1024);
    each_reader(&file, 16 * 1024, |reader, handle| {
        let kept = reader.read(handle, 0, 8192).wait().expect("a frame");
        let too_large_for_now = reader.read(handle, 0, 16 * 1024);
        let small = reader.read(handle, 8192, 4096);
        assert!(!small.is_ready());
        drop(too_large_for_now);
        assert!(*small.wait().expect("its turn") == file.bytes[8192..][..4096]);
        drop(kept);
    });
}

#[test]
fn frames_and_pending_reads_outlive_the_reader() {
    let file = OnDisk::new(200_000);
    for backend in backends(&file) {
        let pool = Pool::new(60 * 1024);
        let reader = Reader::open(backend, Arc::clone(&pool)).expect("a reader");
        let handle = reader.open_file(&file.path, Caching::Direct).expect("the file");
        let frame = reader.read(&handle, 5, 10_000).wait().expect("a frame");
        let on_its_way = reader.read(&handle, 100_000, 30_000);
        let queued = reader.read(&handle, 7, 50_000);
        drop((reader, handle));
        assert!(*on_its_way.wait().expect("a frame") == file.bytes[100_000..][..30_000]);
        assert!(!queued.is_ready());
        assert!(*frame == file.bytes[5..][..10_000]);
        drop(frame);
        assert!(*queued.wait().expect("a frame") == file.bytes[7..][..50_000]);
        returns_all_memory(&pool);
    }
}

#[test]
fn statistics_count_requests_and_whole_pages() {
    let file = OnDisk::new(64 * 1024);
    each_reader(&file, MIB, |reader, handle| {
        for offset in [0, 4095, 8000] {
            reader.read(handle, offset, 2).wait().expect("a frame");
        }
        let statistics = reader.statistics();
        assert_eq!((statistics.requests, statistics.bytes_read), (3, 4 * 4096));
    });
}
