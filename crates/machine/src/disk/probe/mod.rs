//! Measures how fast a device can be read, and how many reads in flight that takes.
//!
//! [`probe`] measures through the same [`Reader`](super::Reader) as all other reads, in a few
//! seconds: random reads of a page with 1, 2, 4 .. 128 in flight, and sequential reads in requests
//! of several sizes. It chooses the least that comes close to the best rate, since more reads in
//! flight only take memory and make each read wait longer. [`KnownDevices`] remembers the result.

mod known;
mod measure;
mod profile;

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::statvfs;

use crate::disk::{Unfinished, durable};
use crate::error::{Error, Result};
use crate::threads::{Cancel, Progress, ProgressUnit};

pub use known::{KnownDevices, speed_of};
pub use profile::{DeviceProfile, RandomRate, SequentialRate};

use super::backend::Backend;
use super::pages::Targets;
use measure::{FILE_BYTES_MIN, Measurement, Noise, PAGE};
use profile::device_of;

/// The share of the best rate that is good enough.
const GOOD_ENOUGH: f64 = 0.95;
/// Bytes that are written at once.
const CHUNK: u64 = 1 << 20;

/// Limits on the space and time of a probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProbeConfig {
    /// Most bytes of the temporary file, which also takes at most a tenth of the free space.
    /// Default 1 GiB.
    pub file_bytes_max: u64,
    /// Time to measure each point of the curves. Default 200 ms.
    pub point_time: Duration,
}

impl Default for ProbeConfig {
    fn default() -> ProbeConfig {
        ProbeConfig { file_bytes_max: 1 << 30, point_time: Duration::from_millis(200) }
    }
}

/// Measures the device of `path`, past the page cache. `path` is a file, which is read, or a
/// folder, in which a temporary file is written first.
///
/// # Errors
/// [`Error::Io`], also of the kind [`StorageFull`](io::ErrorKind::StorageFull) before writing,
/// where there is little free space; [`Error::Corrupt`] for a file of less than a page;
/// [`Error::Cancelled`].
pub fn probe(
    path: &Path,
    backend: &Backend,
    config: &ProbeConfig,
    progress: &dyn Progress,
    cancel: &Cancel,
) -> Result<DeviceProfile> {
    let metadata = fs::metadata(path).map_err(Error::io("open", path))?;
    let device = device_of(path).map_err(Error::io("look at", path))?;
    let mount_point = mount_point(path).map_err(Error::io("look at", path))?.display().to_string();
    let unfinished = if metadata.is_dir() {
        Some(write_file(path, config.file_bytes_max, progress, cancel)?)
    } else {
        None
    };
    let file = unfinished.as_ref().map_or(path, Unfinished::path);
    let measurement = Measurement::open(file, backend, config.point_time)?;
    let random = measurement.random(progress, cancel)?;
    let sequential = measurement.sequential(progress, cancel)?;
    let targets = choose(&random, &sequential);
    Ok(DeviceProfile { device, mount_point, random, sequential, targets })
}

/// Chooses the least in flight that is good enough.
fn choose(random: &[RandomRate], sequential: &[SequentialRate]) -> Targets {
    let reads_best = random.iter().map(|rate| rate.reads_per_second).max().unwrap_or(0);
    let bytes_best = sequential.iter().map(|rate| rate.bytes_per_second).max().unwrap_or(0);
    let is_enough = |rate: u64, best: u64| rate as f64 >= GOOD_ENOUGH * best as f64;
    let mut targets = Targets::default();
    let least = random.iter().find(|rate| is_enough(rate.reads_per_second, reads_best));
    if let Some(rate) = least {
        targets.random_requests = rate.in_flight;
    }
    let in_flight = |rate: &&SequentialRate| rate.request_bytes * u64::from(rate.in_flight);
    let enough = sequential.iter().filter(|rate| is_enough(rate.bytes_per_second, bytes_best));
    if let Some(rate) = enough.min_by_key(in_flight) {
        targets.sequential_bytes = in_flight(&rate);
        targets.request_bytes_max = rate.request_bytes;
    }
    if let Some(bytes) = bytes_best.checked_div(reads_best) {
        // In the time of one request, the device reads this many bytes in sequence. One page of
        // them is the wanted one.
        targets.gap_bytes_max = bytes.saturating_sub(PAGE) / PAGE * PAGE;
    }
    targets.clamped()
}

/// Returns the topmost folder above a path that lies on the same device.
fn mount_point(path: &Path) -> io::Result<PathBuf> {
    let path = fs::canonicalize(path)?;
    let device = fs::metadata(&path)?.dev();
    let is_on_it = |above: &&Path| fs::metadata(above).is_ok_and(|found| found.dev() == device);
    Ok(path.ancestors().take_while(is_on_it).last().unwrap_or(&path).to_owned())
}

/// Writes a file of bytes that no device can compress.
fn write_file(
    folder: &Path,
    bytes_max: u64,
    progress: &dyn Progress,
    cancel: &Cancel,
) -> Result<Unfinished> {
    let space = statvfs(folder).map_err(|error| Error::io("look at", folder)(error.into()))?;
    let free = space.f_bavail.saturating_mul(space.f_frsize);
    let len = bytes_max.min(free / 10) / CHUNK * CHUNK;
    if len < FILE_BYTES_MIN.min(bytes_max) {
        let full = io::Error::new(io::ErrorKind::StorageFull, "its device is nearly full");
        return Err(Error::io("probe", folder)(full));
    }
    let unfinished = Unfinished::file(&folder.join("tegula-probe"))?;
    let failed = || Error::io("write", unfinished.path());
    let mut file = fs::OpenOptions::new().write(true).open(unfinished.path()).map_err(failed())?;
    progress.begin("writing a file", Some(len), ProgressUnit::Bytes);
    let mut noise = Noise(0x9e37_79b9_7f4a_7c15);
    let mut chunk = vec![0u8; CHUNK as usize];
    for _ in 0..len / CHUNK {
        cancel.check()?;
        chunk
            .chunks_exact_mut(8)
            .for_each(|word| word.copy_from_slice(&noise.next().to_le_bytes()));
        file.write_all(&chunk).map_err(failed())?;
        progress.advance(CHUNK);
    }
    durable::sync(&file).map_err(failed())?;
    progress.end();
    Ok(unfinished)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn random(rates: [u64; 4]) -> Vec<RandomRate> {
        let rate =
            |(index, &reads_per_second)| RandomRate { in_flight: 1u32 << index, reads_per_second };
        rates.iter().enumerate().map(rate).collect()
    }

    fn sequential(rates: &[(u64, u32, u64)]) -> Vec<SequentialRate> {
        let rate = |&(request_bytes, in_flight, bytes_per_second)| SequentialRate {
            request_bytes,
            in_flight,
            bytes_per_second,
        };
        rates.iter().map(rate).collect()
    }

    #[test]
    fn the_least_in_flight_that_is_nearly_the_best_is_chosen() {
        let curve = [
            (64 << 10, 4, 1_000_000_000),
            (256 << 10, 4, 1_970_000_000),
            (256 << 10, 16, 2_000_000_000),
        ];
        let targets = choose(&random([10_000, 50_000, 96_000, 100_000]), &sequential(&curve));
        assert_eq!(targets.random_requests, 4);
        assert_eq!((targets.sequential_bytes, targets.request_bytes_max), (1 << 20, 256 << 10));
        // One request takes as long as 20,000 bytes in sequence: three pages and its own.
        assert_eq!(targets.gap_bytes_max, 3 * PAGE);
    }

    #[test]
    fn without_measurements_the_defaults_are_chosen() {
        assert_eq!(choose(&[], &[]), Targets::default());
    }
}
