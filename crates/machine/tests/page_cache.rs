//! The page cache: ranges have the bytes of the file, within the capacity, and each page is read
//! once.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::Write;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use tegula_machine::disk::{
    Backend, BlockFile, BlockFileWriter, Caching, Fault, FaultPlan, PageCache, Pinned, Pool,
    Reader, Targets,
};
use tegula_machine::threads::Cancel;
use tegula_machine::{Error, Result};

const PAGE: u64 = 4096;
const EIO: i32 = 5;

/// A block file of 4 KiB blocks, and its payload.
struct Pages {
    _folder: tempfile::TempDir,
    path: PathBuf,
    bytes: Vec<u8>,
}

impl Pages {
    fn new(len: u64) -> Pages {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
        let path = folder.path().join("file");
        let byte = |i: u64| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8;
        let bytes: Vec<u8> = (0..len).map(byte).collect();
        let file = File::create_new(&path).expect("a file");
        let mut writer = BlockFileWriter::new(file, &path, 12);
        writer.write_all(&bytes).expect("written");
        writer.finish().expect("finished");
        Pages { _folder: folder, path, bytes }
    }

    fn len(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn backends(&self) -> [Backend; 3] {
        let bytes = fs::read(&self.path).expect("the file");
        [Backend::Auto, threads(4), Backend::Memory(HashMap::from([(self.path.clone(), bytes)]))]
    }

    fn open(&self, backend: Backend) -> BlockFile {
        let reader = Reader::open(backend, Pool::new(1 << 20)).expect("a reader");
        BlockFile::open(&reader, &self.path, Caching::Direct).expect("a block file")
    }

    fn cache(&self, backend: Backend, capacity: u64, targets: &Targets) -> PageCache {
        PageCache::new(&self.open(backend), capacity, targets).expect("a cache")
    }

    fn bytes(&self, range: &Range<u64>) -> &[u8] {
        &self.bytes[range.start as usize..range.end as usize]
    }

    /// Gets all the ranges, a batch at a time, and compares each with the file.
    fn assert_got(&self, cache: &PageCache, ranges: &[Range<u64>], pinned: &mut Pinned) {
        let mut rest = ranges;
        while !rest.is_empty() {
            let taken = cache.get_batch(rest, pinned).expect("the batch");
            assert!(taken > 0 && taken == pinned.len());
            for (index, range) in rest[..taken].iter().enumerate() {
                assert!(pinned.bytes(index) == self.bytes(range), "bytes {range:?}");
                let padded = pinned.padded(index);
                assert!(padded.len() >= pinned.bytes(index).len() + PageCache::SLACK);
            }
            rest = &rest[taken..];
        }
    }

    /// Gets the ranges in batches of `batch`, with run-ahead.
    fn assert_run_ahead(&self, cache: &PageCache, ranges: &[Range<u64>], batch: usize) {
        let (mut pinned, mut ahead) = (Pinned::default(), 0);
        for start in (0..ranges.len()).step_by(batch) {
            ahead = ahead.max(start);
            ahead += cache.prefetch(ranges[ahead..].iter().cloned());
            let end = (start + batch).min(ranges.len());
            self.assert_got(cache, &ranges[start..end], &mut pinned);
        }
    }
}

fn threads(count: usize) -> Backend {
    Backend::Threads(NonZeroUsize::new(count).expect("some threads"))
}

/// Targets that read page by page.
fn single_pages() -> Targets {
    Targets { request_bytes_max: PAGE, gap_bytes_max: 0, ..Targets::default() }
}

/// A repeatable stream of numbers.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    /// Ranges of up to `len_max` bytes anywhere in a file.
    fn ranges(&mut self, count: usize, len: u64, len_max: u64) -> Vec<Range<u64>> {
        let mut range = |_| {
            let start = self.below(len + 1);
            start..start + self.below((len - start).min(len_max) + 1)
        };
        (0..count).map(&mut range).collect()
    }

    fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i as u64 + 1) as usize);
        }
    }
}

/// Rows of `len` bytes, one after the other over the file.
fn rows(file: &Pages, len: u64) -> Vec<Range<u64>> {
    (0..file.len() / len).map(|row| row * len..(row + 1) * len).collect()
}

#[test]
fn every_range_has_the_bytes_of_the_file_at_any_capacity() {
    let file = Pages::new(200 * PAGE + 777);
    for backend in file.backends() {
        for capacity_pages in [0, 1, 2, 5, 16, 300] {
            let capacity = capacity_pages * PAGE;
            let cache = file.cache(backend.clone(), capacity, &Targets::default());
            let mut dice = Dice(capacity_pages);
            let mut ranges = dice.ranges(150, file.len(), 300);
            ranges.extend(dice.ranges(50, file.len(), 40_000));
            ranges.extend([0..0, 0..file.len(), file.len() - 1..file.len(), PAGE..2 * PAGE]);
            file.assert_got(&cache, &ranges, &mut Pinned::default());
            dice.shuffle(&mut ranges);
            file.assert_run_ahead(&cache, &ranges, 16);
            assert!(cache.peak() <= capacity, "{} of {capacity}", cache.peak());
            let statistics = cache.statistics();
            assert_eq!(statistics.hits + statistics.misses, statistics.wanted);
        }
    }
}

#[test]
fn several_threads_share_a_small_cache_and_none_waits_forever() {
    let file = Pages::new(300 * PAGE + 5);
    for backend in file.backends() {
        for capacity in [2 * PAGE, 9 * PAGE, 100 * PAGE] {
            let cache = file.cache(backend.clone(), capacity, &Targets::default());
            thread::scope(|scope| {
                for seed in 0..4 {
                    let (file, cache) = (&file, &cache);
                    scope.spawn(move || {
                        let mut dice = Dice(seed);
                        let ranges = dice.ranges(400, file.len(), 5000);
                        file.assert_run_ahead(cache, &ranges, 1 + seed as usize * 13);
                    });
                }
            });
            assert!(cache.peak() <= capacity);
        }
    }
}

#[test]
fn each_page_is_read_once_where_all_fit() {
    let file = Pages::new(256 * PAGE);
    for backend in file.backends() {
        let cache = file.cache(backend.clone(), 257 * PAGE, &single_pages());
        assert!(cache.fits());
        let mut ranges = rows(&file, 100);
        Dice(3).shuffle(&mut ranges);
        for _ in 0..2 {
            file.assert_run_ahead(&cache, &ranges, 64);
        }
        let statistics = cache.statistics();
        assert_eq!((statistics.requests, statistics.pages_read), (256, 256));
        assert_eq!(statistics.bytes_past, 0);
    }
}

#[test]
fn the_page_table_is_part_of_the_capacity() {
    let file = Pages::new(256 * PAGE);
    let [_, _, memory] = file.backends();
    let cache_of = |pages: u64| file.cache(memory.clone(), pages * PAGE, &single_pages());
    assert!(!cache_of(256).fits());
    let all = cache_of(257);
    assert!(all.fits() && all.capacity() == 256 * PAGE);
    let some = cache_of(200);
    let pages = some.capacity() / PAGE;
    assert!(some.capacity() + 100 * pages <= 200 * PAGE && pages > 180, "{pages} pages");
    let enough = PageCache::capacity_max(file.len());
    assert!(file.cache(memory.clone(), enough, &Targets::default()).fits());
}

#[test]
fn about_a_mib_of_ranges_that_cross_requests_is_copied_at_a_time() {
    let file = Pages::new(600 * PAGE);
    let [_, _, memory] = file.backends();
    let cache = file.cache(memory, 700 * PAGE, &single_pages());
    cache.fill(&Cancel::default()).expect("all of it");
    let mut pinned = Pinned::default();
    let within: Vec<_> = (0..599).map(|page| page * PAGE..page * PAGE + PAGE / 2).collect();
    assert_eq!(cache.get_batch(&within, &mut pinned).expect("all"), 599);
    let across: Vec<_> = (0..599).map(|page| page * PAGE + 1..(page + 2) * PAGE).collect();
    let taken = cache.get_batch(&across, &mut pinned).expect("some") as u64;
    let bytes = taken * (2 * PAGE - 1);
    assert!(bytes > 1 << 19 && bytes <= Pinned::size_max(2 * PAGE - 1), "{taken} ranges");
    file.assert_got(&cache, &across, &mut pinned);
}

#[test]
fn a_filled_cache_reads_nothing_more() {
    let file = Pages::new(500 * PAGE + 9);
    for backend in file.backends() {
        let cache = file.cache(backend.clone(), 600 * PAGE, &Targets::default());
        assert!(cache.fits());
        cache.fill(&Cancel::default()).expect("all of it");
        let filled = cache.statistics();
        // Each request takes a quarter of the capacity.
        assert_eq!((filled.requests, filled.bytes_read), (4, file.len()));
        let ranges = Dice(8).ranges(1000, file.len(), 9000);
        file.assert_got(&cache, &ranges, &mut Pinned::default());
        assert_eq!(cache.statistics().requests, filled.requests);
        assert_eq!(cache.statistics().misses, 0);
    }
}

#[test]
fn ranges_of_one_page_and_of_its_neighbours_become_one_request() {
    let file = Pages::new(1000 * PAGE);
    let page = |number: u64| number * PAGE + 10..number * PAGE + 20;
    let gap = Targets { gap_bytes_max: 2 * PAGE, ..Targets::default() };
    let requests_of = |pages: &[u64], targets: &Targets| {
        let [_, _, memory] = file.backends();
        let cache = file.cache(memory, 500 * PAGE, targets);
        assert_eq!(cache.prefetch(pages.iter().copied().map(page)), pages.len());
        let ranges: Vec<Range<u64>> = pages.iter().copied().map(page).collect();
        file.assert_got(&cache, &ranges, &mut Pinned::default());
        let statistics = cache.statistics();
        assert_eq!(statistics.misses, 0);
        (statistics.requests, statistics.pages_read)
    };
    assert_eq!(requests_of(&[7, 7, 7], &gap), (1, 1));
    assert_eq!(requests_of(&[7, 8, 9, 6], &gap), (1, 4));
    assert_eq!(requests_of(&[7, 10], &gap), (1, 4), "a gap of two is read through");
    assert_eq!(requests_of(&[7, 11], &gap), (2, 2), "one of three is not");
    assert_eq!(requests_of(&[20, 300, 17, 301], &gap), (2, 6));
    assert_eq!(requests_of(&(100..164).collect::<Vec<_>>(), &gap), (1, 64));
    assert_eq!(requests_of(&(100..165).collect::<Vec<_>>(), &gap), (2, 65));
    assert_eq!(requests_of(&[1, 2, 3], &single_pages()), (3, 3));
}

#[test]
fn a_gap_over_a_held_page_is_not_read_through() {
    let file = Pages::new(100 * PAGE);
    let [_, _, memory] = file.backends();
    let cache = file.cache(memory, 100 * PAGE, &Targets::default());
    let held = 5 * PAGE..5 * PAGE + 1;
    file.assert_got(&cache, &[held], &mut Pinned::default());
    cache.prefetch([4 * PAGE..4 * PAGE + 1, 6 * PAGE..6 * PAGE + 1]);
    let statistics = cache.statistics();
    assert_eq!((statistics.requests, statistics.pages_read), (3, 3));
}

#[test]
fn no_more_than_the_target_is_in_flight() {
    let file = Pages::new(400 * PAGE);
    let slow = FaultPlan::new().every(1, Fault::Delay(Duration::from_micros(50)));
    let targets = Targets { random_requests: 5, ..single_pages() };
    for backend in file.backends() {
        let cache = file.cache(backend.with_faults(&slow), 400 * PAGE, &targets);
        let mut ranges = rows(&file, PAGE);
        Dice(5).shuffle(&mut ranges);
        assert_eq!(cache.prefetch(ranges.iter().cloned()), 5);
        file.assert_run_ahead(&cache, &ranges, 3);
        assert_eq!(cache.statistics().in_flight_max, 5);
    }
    let few_bytes = Targets {
        random_requests: 3,
        sequential_bytes: 5 * PAGE,
        request_bytes_max: 8 * PAGE,
        ..Targets::default()
    };
    let [_, _, memory] = file.backends();
    let cache = file.cache(memory.with_faults(&slow), 400 * PAGE, &few_bytes);
    assert_eq!(cache.prefetch(rows(&file, PAGE)), 16, "the last request is a whole one");
}

#[test]
fn exact_run_ahead_hits_nearly_always() {
    let file = Pages::new(4000 * PAGE);
    for backend in file.backends() {
        let cache = file.cache(backend, 400 * PAGE, &Targets::default());
        let mut ranges = rows(&file, 700);
        Dice(11).shuffle(&mut ranges);
        file.assert_run_ahead(&cache, &ranges, 32);
        let statistics = cache.statistics();
        assert!(statistics.hit_rate() >= 0.99, "{statistics:?}");
        assert!(statistics.wanted >= ranges.len() as u64);
    }
}

#[test]
fn pages_that_were_read_ahead_stay_until_they_are_used() {
    let file = Pages::new(300 * PAGE);
    let [_, _, memory] = file.backends();
    let cache = file.cache(memory, 16 * PAGE, &single_pages());
    let ranges = rows(&file, PAGE);
    let mut pinned = Pinned::default();
    let mut ahead = cache.prefetch(ranges.iter().cloned());
    while cache.prefetch(ranges[ahead..].iter().cloned()) > 0 {
        ahead += 1;
    }
    let full = cache.statistics();
    assert_eq!(cache.prefetch([ranges[200].clone()]), 0, "there is no room any more");
    file.assert_got(&cache, &ranges[..full.pages_read as usize], &mut pinned);
    assert_eq!((cache.statistics().misses, cache.statistics().requests), (0, full.requests));
}

#[test]
fn a_prefetch_that_nobody_needs_leaves_no_trace() {
    let file = Pages::new(300 * PAGE);
    for backend in file.backends() {
        let failing = FaultPlan::new().nth(3, Fault::Errno(EIO)).nth(4, Fault::Errno(EIO));
        let cache = file.cache(backend.with_faults(&failing), 20 * PAGE, &single_pages());
        // Opening took two reads, so both faults strike pages that nobody asks for.
        assert!(cache.prefetch((0..20).map(|page| page * PAGE..page * PAGE + 1)) >= 2);
        // Needed pages evict them, and nobody gets their errors.
        let ranges: Vec<Range<u64>> = rows(&file, PAGE).split_off(20);
        for _ in 0..3 {
            file.assert_run_ahead(&cache, &ranges, 4);
        }
        let before = cache.statistics();
        file.assert_run_ahead(&cache, &ranges, 4);
        let after = cache.statistics();
        assert!(after.hits - before.hits >= (after.wanted - before.wanted) * 9 / 10);
        assert_eq!(failing.struck(), 2);
        file.assert_got(&cache, &rows(&file, PAGE)[..20], &mut Pinned::default());
    }
}

#[test]
fn a_range_outside_of_the_file_fails_only_when_it_is_needed() {
    let file = Pages::new(10 * PAGE);
    let [_, _, memory] = file.backends();
    let cache = file.cache(memory, 10 * PAGE, &Targets::default());
    let mut pinned = Pinned::default();
    #[expect(clippy::reversed_empty_ranges, reason = "damaged offsets may be in any order")]
    for bad in [0..file.len() + 1, u64::MAX - 1..u64::MAX, 5..4, u64::MAX..0] {
        assert_eq!(cache.prefetch([bad.clone(), 0..1]), 2);
        let error = cache.get(bad, &mut pinned).expect_err("not in the file");
        assert!(matches!(error, Error::Corrupt { .. }), "{error}");
        assert!(pinned.is_empty());
    }
    assert_eq!(cache.get(0..1, &mut pinned).expect("a byte"), &file.bytes[..1]);
}

/// Reads a file with run-ahead on a disk with faults, and returns the errors; each of them is
/// followed by another attempt.
fn errors_under(file: &Pages, backend: Backend, plan: &FaultPlan) -> Vec<Error> {
    let targets = Targets { request_bytes_max: 4 * PAGE, ..Targets::default() };
    let cache = file.cache(backend.with_faults(plan), 12 * PAGE, &targets);
    let mut ranges = rows(file, 900);
    Dice(17).shuffle(&mut ranges);
    let (mut pinned, mut ahead, mut next) = (Pinned::default(), 0, 0);
    let mut errors = Vec::new();
    while next < ranges.len() {
        ahead = ahead.max(next) + cache.prefetch(ranges[ahead.max(next)..].iter().cloned());
        let end = (next + 8).min(ranges.len());
        let answer: Result<usize> = cache.get_batch(&ranges[next..end], &mut pinned);
        match answer {
            Ok(taken) => {
                for (bytes, range) in pinned.iter().zip(&ranges[next..]) {
                    assert!(bytes == file.bytes(range), "bytes {range:?}");
                }
                next += taken;
            }
            Err(error) => errors.push(error),
        }
    }
    assert!(cache.peak() <= 12 * PAGE);
    errors
}

#[test]
#[ignore = "long"]
fn any_failed_read_fails_once_and_its_second_attempt_succeeds() {
    let file = Pages::new(40 * PAGE);
    for backend in file.backends() {
        for fault in [Fault::Errno(EIO), Fault::Lose, Fault::FlipBit(99_999)] {
            let (mut reads, mut failed) = (3, 0);
            loop {
                let plan = FaultPlan::new().nth(reads, fault);
                let errors = errors_under(&file, backend.clone(), &plan);
                if plan.struck() == 0 {
                    break;
                }
                // No error, where the page was never needed.
                assert!(errors.len() <= 1, "{errors:?}");
                failed += errors.len();
                for error in errors {
                    match fault {
                        Fault::Errno(_) => assert!(matches!(error, Error::Io { .. }), "{error}"),
                        Fault::Lose => assert!(matches!(error, Error::WorkerFailed { .. })),
                        _ => assert!(matches!(error, Error::Corrupt { .. }), "{error}"),
                    }
                }
                reads += 1;
            }
            assert!(reads > 20 && failed > 10, "{failed} of {reads}");
        }
    }
}

#[test]
fn many_faults_and_many_threads_cause_no_hang() {
    let file = Pages::new(60 * PAGE);
    for backend in file.backends() {
        let plan = FaultPlan::new()
            .one_in(9, 1, Fault::Errno(EIO))
            .one_in(11, 2, Fault::Lose)
            .one_in(4, 3, Fault::Delay(Duration::from_micros(200)));
        let targets = Targets { request_bytes_max: 2 * PAGE, ..Targets::default() };
        let open = || {
            let reader = Reader::open(backend.clone().with_faults(&plan), Pool::new(1 << 20))?;
            let file = BlockFile::open(&reader, &file.path, Caching::Direct)?;
            PageCache::new(&file, 10 * PAGE, &targets)
        };
        let cache = (0..100).find_map(|_| open().ok()).expect("an attempt without fault");
        thread::scope(|scope| {
            for seed in 0..4 {
                let (file, cache) = (&file, &cache);
                scope.spawn(move || {
                    let (mut pinned, mut failed) = (Pinned::default(), 0);
                    for range in Dice(seed).ranges(300, file.len(), 6000) {
                        cache.prefetch([range.clone()]);
                        while !got(file, cache, &range, &mut pinned) {
                            failed += 1;
                        }
                    }
                    assert!(failed > 0);
                });
            }
        });
    }
}

/// Returns whether a range was read; if so, checks its bytes.
fn got(file: &Pages, cache: &PageCache, range: &Range<u64>, pinned: &mut Pinned) -> bool {
    match cache.get(range.clone(), pinned) {
        Ok(bytes) => {
            assert!(bytes == file.bytes(range));
            true
        }
        Err(_) => false,
    }
}

#[test]
fn every_flipped_bit_on_disk_is_found() {
    let file = Pages::new(6 * PAGE + 100);
    let whole = fs::read(&file.path).expect("the file");
    for bit in (0..file.len() * 8).step_by(1009) {
        let mut damaged = whole.clone();
        damaged[bit as usize / 8] ^= 1 << (bit % 8);
        let backend = Backend::Memory(HashMap::from([(file.path.clone(), damaged)]));
        let cache = file.cache(backend, 20 * PAGE, &Targets::default());
        let (at, mut pinned) = (bit / 8, Pinned::default());
        cache.prefetch(std::iter::once(at..at + 1));
        for _ in 0..2 {
            let error = cache.get(at..at + 1, &mut pinned).expect_err("it is damaged");
            let block = format!("block {}", at / PAGE);
            assert!(matches!(&error, Error::Corrupt { part, .. } if *part == block), "{error}");
        }
    }
}

#[test]
fn pinned_bytes_outlive_eviction_and_the_cache() {
    let file = Pages::new(100 * PAGE);
    let [_, _, memory] = file.backends();
    let cache = file.cache(memory, 4 * PAGE, &single_pages());
    let (mut kept, mut pinned) = (Pinned::default(), Pinned::default());
    let ranges = [PAGE..PAGE + 50, 3 * PAGE - 20..3 * PAGE + 20];
    assert_eq!(cache.get_batch(&ranges, &mut kept).expect("both"), 2);
    file.assert_got(&cache, &rows(&file, PAGE), &mut pinned);
    drop(cache);
    for (bytes, range) in kept.iter().zip(&ranges) {
        assert!(bytes == file.bytes(range));
    }
}
