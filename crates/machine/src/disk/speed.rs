//! The speed of a device.

use super::pages::Targets;
use super::probe::DeviceProfile;

/// How fast a device can be read, and how many reads keep it busy.
#[derive(Debug, Clone, PartialEq)]
pub struct Speed {
    /// Random reads of single pages per second, with as many in flight as the targets say.
    pub random_pages_per_second: f64,
    /// Bytes per second in sequential reads.
    pub sequential_bytes_per_second: f64,
    /// Seconds for a single read of one page.
    pub latency_seconds: f64,
    /// How many reads to keep in flight.
    pub targets: Targets,
}

impl Speed {
    /// Returns the approximate speed of the page cache: a copy into memory that is touched for the
    /// first time, which keeps a core busy.
    pub fn of_page_cache() -> Speed {
        Speed {
            random_pages_per_second: 250e3,
            sequential_bytes_per_second: 1e9,
            latency_seconds: 5e-6,
            ..Speed::default()
        }
    }

    /// Returns the speed of a measured device.
    pub fn of(profile: &DeviceProfile) -> Speed {
        let unknown = Speed::default();
        let targets = profile.targets.clamped();
        let rate = |in_flight: u32| {
            let reached = profile.random.iter().rfind(|rate| rate.in_flight <= in_flight);
            reached.map(|rate| rate.reads_per_second as f64).filter(|&rate| rate > 0.0)
        };
        let sequential = profile.sequential.iter().map(|rate| rate.bytes_per_second).max();
        Speed {
            random_pages_per_second: rate(targets.random_requests)
                .unwrap_or(unknown.random_pages_per_second),
            sequential_bytes_per_second: sequential
                .filter(|&rate| rate > 0)
                .map_or(unknown.sequential_bytes_per_second, |rate| rate as f64),
            latency_seconds: rate(1).map_or(unknown.latency_seconds, |rate| 1.0 / rate),
            targets,
        }
    }
}

impl Default for Speed {
    /// A mid-range NVMe SSD.
    fn default() -> Speed {
        Speed {
            random_pages_per_second: 80e3,
            sequential_bytes_per_second: 1.2e9,
            latency_seconds: 80e-6,
            targets: Targets::default(),
        }
    }
}
