//! Faults behind the reader: each surfaces once, at the request that it struck, and nothing hangs.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tegula_machine::disk::{Backend, Caching, Fault, FaultPlan, Frame, Pool, Reader, Request};
use tegula_machine::{Error, Result};

const EIO: i32 = 5;
const EINTR: i32 = 4;
const READS: u64 = 60;
const READ_LEN: usize = 10_000;

/// A folder with one file of `READS * READ_LEN` bytes, and the bytes.
fn file() -> (tempfile::TempDir, PathBuf, Vec<u8>) {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let path = folder.path().join("file");
    let bytes: Vec<u8> = (0..READS as usize * READ_LEN).map(|i| (i / 7 % 251) as u8).collect();
    std::fs::write(&path, &bytes).expect("a file");
    (folder, path, bytes)
}

fn backends(path: &Path, bytes: &[u8]) -> [Backend; 3] {
    [
        Backend::Auto,
        Backend::Threads(NonZeroUsize::new(3).expect("some threads")),
        Backend::Memory(HashMap::from([(path.to_owned(), bytes.to_vec())])),
    ]
}

/// Reads all pieces in one batch through a pool that holds few of them at a time.
fn read_pieces(reader: &Reader, path: &Path, check: impl FnMut((usize, Result<Frame>))) {
    let handle = reader.open_file(path, Caching::Direct).expect("the file");
    let piece = |i| Request { file: &handle, offset: i * READ_LEN as u64, len: READ_LEN };
    let batch = reader.read_batch(&(0..READS).map(piece).collect::<Vec<_>>());
    batch.into_iter().map(|pending| pending.wait()).enumerate().for_each(check);
}

/// Reads the pieces under a plan on every backend. `check` gets the number, the answer and the true
/// bytes.
fn under(plan: impl Fn() -> FaultPlan, check: impl Fn(u64, Result<Frame>, &[u8])) {
    let (_folder, path, bytes) = file();
    for backend in backends(&path, &bytes) {
        let plan = plan();
        let pool = Pool::new(64 * 1024);
        let reader = Reader::open(backend.with_faults(&plan), pool).expect("a reader");
        read_pieces(&reader, &path, |(i, answer)| {
            check(i as u64, answer, &bytes[i * READ_LEN..][..READ_LEN])
        });
        assert_eq!(plan.reads(), READS);
        assert!(plan.struck() > 0);
        assert_eq!(reader.pool().available(), 64 * 1024, "all memory is back");
    }
}

#[test]
fn each_failing_read_fails_alone_and_once() {
    let (_folder, path, bytes) = file();
    for backend in backends(&path, &bytes) {
        for n in 1..=READS {
            let plan = FaultPlan::new().nth(n, Fault::Errno(EIO));
            let reader = Reader::open(backend.clone().with_faults(&plan), Pool::new(64 * 1024));
            read_pieces(&reader.expect("a reader"), &path, |(i, answer)| match answer {
                Ok(frame) => {
                    assert!(i as u64 + 1 != n && *frame == bytes[i * READ_LEN..][..READ_LEN])
                }
                Err(error) => {
                    assert_eq!(i as u64 + 1, n);
                    let Error::Io { action: "read", path: at, source } = error else {
                        panic!("{error}")
                    };
                    assert_eq!(at, path);
                    let page = i * READ_LEN / 4096 * 4096;
                    assert!(source.to_string().contains(&format!("at byte {page}: ")), "{source}");
                }
            });
        }
    }
}

#[test]
fn all_reads_may_fail() {
    under(
        || FaultPlan::new().every(1, Fault::Errno(EIO)),
        |_, answer, _| assert!(matches!(answer, Err(Error::Io { .. }))),
    );
}

#[test]
fn a_dead_worker_fails_its_reads_instead_of_hanging_them() {
    under(
        || FaultPlan::new().every(2, Fault::Lose),
        |i, answer, bytes| match answer {
            Ok(frame) => assert!(i % 2 == 0 && *frame == *bytes),
            Err(error) => assert!(i % 2 == 1 && matches!(error, Error::WorkerFailed { .. })),
        },
    );
}

#[test]
fn short_and_interrupted_reads_are_continued() {
    for short in [1, 4095, 4096, 5000, 9999] {
        under(
            || FaultPlan::new().every(1, Fault::Short(short)).every(3, Fault::Errno(EINTR)),
            |_, answer, bytes| assert!(*answer.expect("a frame") == *bytes),
        );
    }
}

#[test]
fn late_reads_arrive_at_their_own_requests() {
    let late = Fault::Delay(Duration::from_millis(2));
    under(
        || FaultPlan::new().one_in(3, 42, late),
        |_, answer, bytes| assert!(*answer.expect("a frame") == *bytes),
    );
}

#[test]
fn a_flipped_bit_changes_one_bit_of_one_frame() {
    under(
        || FaultPlan::new().nth(17, Fault::FlipBit(54_321)),
        |i, answer, bytes| {
            let frame = answer.expect("a frame");
            let pairs = frame.iter().zip(bytes);
            let flipped: u32 = pairs.map(|(read, written)| (read ^ written).count_ones()).sum();
            assert_eq!(flipped, u32::from(i == 16));
        },
    );
}

#[test]
fn the_same_seed_strikes_the_same_reads() {
    let failures = || {
        let (_folder, path, bytes) = file();
        let plan = FaultPlan::new().one_in(5, 7, Fault::Errno(EIO));
        let [_, _, memory] = backends(&path, &bytes);
        let reader = Reader::open(memory.with_faults(&plan), Pool::new(64 * 1024));
        let mut failed = Vec::new();
        read_pieces(&reader.expect("a reader"), &path, |(i, answer)| {
            failed.extend(answer.is_err().then_some(i));
        });
        failed
    };
    let first = failures();
    assert!((3..30).contains(&first.len()), "{first:?}");
    assert_eq!(first, failures());
}
