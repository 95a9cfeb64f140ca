//! The reads that a probe makes, and how long they take.

use std::collections::VecDeque;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::disk::backend::Backend;
use crate::disk::file::{Caching, FileHandle};
use crate::disk::pool::Pool;
use crate::disk::reader::Reader;
use crate::error::{Error, Result};
use crate::threads::{Cancel, Progress, ProgressUnit};

use super::profile::{RandomRate, SequentialRate};

/// A smaller file tells little about its device.
pub(super) const FILE_BYTES_MIN: u64 = 16 << 20;
/// Bytes of a random read.
pub(super) const PAGE: u64 = 4096;
/// Random reads in flight, for each point of the curve.
const RANDOM_IN_FLIGHT: [u32; 8] = [1, 2, 4, 8, 16, 32, 64, 128];
/// Sizes of sequential requests, each measured with all of `SEQUENTIAL_IN_FLIGHT`.
const REQUEST_BYTES: [u64; 3] = [64 << 10, 256 << 10, 1 << 20];
const SEQUENTIAL_IN_FLIGHT: [u32; 4] = [1, 4, 8, 32];
const WARM_UP_IN_FLIGHT: u32 = 32;
/// Memory for the reads in flight.
const BUDGET: u64 = 64 << 20;

/// Measures how long the reads of a file take.
pub(super) struct Measurement {
    reader: Reader,
    file: FileHandle,
    point_time: Duration,
}

impl Measurement {
    pub(super) fn open(
        path: &Path,
        backend: &Backend,
        point_time: Duration,
    ) -> Result<Measurement> {
        let reader = Reader::open(backend.clone(), Pool::new(BUDGET))?;
        let file = reader.open_file(path, Caching::Direct)?;
        if file.len() < PAGE {
            let detail = format!("it has {} bytes, less than a page", file.len());
            let (path, part) = (path.to_owned(), "file".to_owned());
            return Err(Error::Corrupt { path, part, detail });
        }
        if file.len() < FILE_BYTES_MIN {
            tracing::warn!(path = %path.display(), "the file is too small for a reliable measurement");
        }
        Ok(Measurement { reader, file, point_time })
    }

    /// Measures the rate of random reads for each number in flight.
    pub(super) fn random(
        &self,
        progress: &dyn Progress,
        cancel: &Cancel,
    ) -> Result<Vec<RandomRate>> {
        let pages = self.file.len() / PAGE;
        let mut noise = Noise(0x2545_f491_4f6c_dd1d);
        progress.begin("reading at random", None, ProgressUnit::Bytes);
        let mut offset = || noise.next() % pages * PAGE;
        // The device may still be busy with earlier writes.
        self.point(PAGE, WARM_UP_IN_FLIGHT, &mut offset, progress, cancel)?;
        let rate = |in_flight| {
            let rate = self.point(PAGE, in_flight, &mut offset, progress, cancel)?;
            Ok(RandomRate { in_flight, reads_per_second: rate.round() as u64 })
        };
        let rates = RANDOM_IN_FLIGHT.map(rate).into_iter().collect();
        progress.end();
        rates
    }

    /// Measures the rate of sequential reads for each size and number in flight.
    pub(super) fn sequential(
        &self,
        progress: &dyn Progress,
        cancel: &Cancel,
    ) -> Result<Vec<SequentialRate>> {
        let mut rates = Vec::new();
        let mut at = 0;
        progress.begin("reading in sequence", None, ProgressUnit::Bytes);
        for request_bytes in REQUEST_BYTES.map(|bytes| bytes.min(self.file.len())) {
            for in_flight in SEQUENTIAL_IN_FLIGHT {
                let offset = || {
                    let start = at;
                    at += request_bytes;
                    if at + request_bytes > self.file.len() {
                        at = 0;
                    }
                    start.min(self.file.len() - request_bytes)
                };
                let rate = self.point(request_bytes, in_flight, offset, progress, cancel)?;
                let bytes_per_second = (rate * request_bytes as f64).round() as u64;
                rates.push(SequentialRate { request_bytes, in_flight, bytes_per_second });
            }
        }
        progress.end();
        Ok(rates)
    }

    /// Keeps `in_flight` requests of `len` bytes on their way for `point_time`, and returns how
    /// many are done per second.
    fn point(
        &self,
        len: u64,
        in_flight: u32,
        mut offset: impl FnMut() -> u64,
        progress: &dyn Progress,
        cancel: &Cancel,
    ) -> Result<f64> {
        // At most a MiB.
        let mut request = || self.reader.read(&self.file, offset(), len as usize);
        let mut pending: VecDeque<_> = (0..in_flight).map(|_| request()).collect();
        let started = Instant::now();
        let mut done = 0u64;
        while started.elapsed() < self.point_time {
            cancel.check()?;
            let Some(first) = pending.pop_front() else { break };
            drop(first.wait()?);
            done += 1;
            progress.advance(len);
            pending.push_back(request());
        }
        let elapsed = started.elapsed().as_secs_f64();
        pending.into_iter().try_for_each(|rest| rest.wait().map(drop))?;
        Ok(done as f64 / elapsed.max(1e-9))
    }
}

/// Pseudo-random numbers: xorshift (G. Marsaglia, 2003).
pub(super) struct Noise(pub(super) u64);

impl Noise {
    pub(super) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}
