//! Rows of a file in a random order, with run-ahead and without: reads per second, and what a row
//! costs once all of them are in memory.
//!
//! ```sh
//! cargo run --release -p tegula-store --example run_ahead -- [FOLDER [MIB]]
//! ```

#![expect(clippy::print_stdout, reason = "an example shows what it finds")]

use std::error::Error;
use std::fs::File;
use std::io::Write;
use std::ops::Range;
use std::path::Path;
use std::time::Instant;

use tegula_store::Cancel;
use tegula_store::read::{
    Backend, BlockFile, BlockFileWriter, Caching, PageCache, Pinned, Pool, Reader, Targets,
};

/// Bytes of a row: forty neighbours or so.
const ROW_LEN: u64 = 56;
/// Rows that are got together.
const BATCH: usize = 64;
/// Rows that are read in each measurement.
const ROWS: usize = 100_000;

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().unwrap_or_else(|| ".".to_owned());
    let len = arguments.next().map_or(Ok(1024), |mib| mib.parse::<u64>())? << 20;
    let folder = tempfile::tempdir_in(folder)?;
    let path = folder.path().join("rows");
    write(&path, len)?;
    let threads = Backend::Threads(64.try_into()?);
    for (name, backend) in [("auto", Backend::Auto), ("64 threads", threads)] {
        let reader = Reader::open(backend, Pool::new(64 << 20))?;
        let file = BlockFile::open(&reader, &path, Caching::Direct)?;
        for capacity in [len / 20, len / 4] {
            println!("{name}, capacity {} MiB of {} MiB", capacity >> 20, len >> 20);
            let cold = |ahead| -> Outcome<f64> {
                let cache = PageCache::new(&file, capacity, &Targets::default())?;
                let started = Instant::now();
                let count = if ahead { ROWS } else { ROWS / 5 };
                visit(&cache, &shuffled(len, count), if ahead { BATCH } else { 1 }, ahead)?;
                let rate = count as f64 / started.elapsed().as_secs_f64();
                let statistics = cache.statistics();
                let hit_rate = 100.0 * statistics.hit_rate();
                let requests = statistics.requests;
                let ready = 100.0 * statistics.ready as f64 / statistics.wanted as f64;
                println!(
                    "  run-ahead {ahead:5}: {rate:>8.0} rows/s, {requests} requests, \
                     hits {hit_rate:.2} %, ready {ready:.2} %"
                );
                Ok(rate)
            };
            let (off, on) = (cold(false)?, cold(true)?);
            println!("  speed-up {:.2}", on / off);
        }
    }
    in_memory(&path)
}

/// What a row costs when nothing is read.
fn in_memory(path: &Path) -> Outcome<()> {
    let reader = Reader::open(Backend::Auto, Pool::new(64 << 20))?;
    let file = BlockFile::open(&reader, path, Caching::PageCache)?;
    let cache = PageCache::new(&file, file.len() * 9 / 8 + (1 << 20), &Targets::default())?;
    cache.fill(&Cancel::default())?;
    let mut ranges = shuffled(file.len(), 1 << 20);
    let report = |name: &str, ranges: &[Range<u64>]| -> Outcome<()> {
        for batch in [1, 64, 256] {
            let started = Instant::now();
            visit(&cache, ranges, batch, false)?;
            let each = started.elapsed().as_nanos() as f64 / ranges.len() as f64;
            println!("{name}, {batch} at a time: {each:.1} ns a row");
        }
        Ok(())
    };
    report("all held, random rows", &ranges)?;
    ranges.sort_unstable_by_key(|range| range.start);
    report("all held, sorted rows", &ranges)?;
    let end = (ROW_LEN << 20).min(file.len());
    let dense: Vec<Range<u64>> =
        (0..end / ROW_LEN).map(|row| row * ROW_LEN..(row + 1) * ROW_LEN).collect();
    report("all held, every row", &dense)
}

/// Reads all rows in order and looks at the first byte of each.
fn visit(cache: &PageCache, ranges: &[Range<u64>], batch: usize, ahead: bool) -> Outcome<()> {
    let mut pinned = Pinned::default();
    let (mut next, mut announced, mut sum) = (0, 0, 0u64);
    while next < ranges.len() {
        if ahead {
            announced = announced.max(next);
            announced += cache.prefetch(ranges[announced..].iter().cloned());
        }
        let end = (next + batch).min(ranges.len());
        next += cache.get_batch(&ranges[next..end], &mut pinned)?;
        sum += pinned.iter().map(|row| u64::from(row[0])).sum::<u64>();
    }
    std::hint::black_box(sum);
    Ok(())
}

/// Rows in a random order, the same every time.
fn shuffled(len: u64, count: usize) -> Vec<Range<u64>> {
    let mut number = 1u64;
    let mut row = |_| {
        number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        let row = (number >> 20) % (len / ROW_LEN);
        row * ROW_LEN..(row + 1) * ROW_LEN
    };
    (0..count).map(&mut row).collect()
}

fn write(path: &Path, len: u64) -> Outcome<()> {
    let mut writer = BlockFileWriter::new(File::create_new(path)?, path, 12);
    let block: Vec<u8> =
        (0..1u64 << 20).map(|i| (i.wrapping_mul(0x9e37_79b9) >> 16) as u8).collect();
    for _ in 0..len >> 20 {
        writer.write_all(&block)?;
    }
    writer.finish()?;
    Ok(())
}
