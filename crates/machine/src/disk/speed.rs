//! What a device does.

use super::pages::Targets;
use super::probe::DeviceProfile;

/// How fast a device is read, and how much it wants to be asked for at once.
#[derive(Debug, Clone, PartialEq)]
pub struct Speed {
    /// Reads of single pages a second, as many in flight as the targets say.
    pub random_pages_per_second: f64,
    /// Bytes a second, in order.
    pub sequential_bytes_per_second: f64,
    /// Seconds that one page takes to come, alone.
    pub latency_seconds: f64,
    /// How much is to be asked for at once.
    pub targets: Targets,
}

impl Speed {
    /// The speed of the page cache, about: a copy into memory that is touched for the first time, which keeps
    /// a core busy.
    pub fn of_page_cache() -> Speed {
        Speed {
            random_pages_per_second: 250e3,
            sequential_bytes_per_second: 1e9,
            latency_seconds: 5e-6,
            ..Speed::default()
        }
    }

    /// The speed of a device that was measured.
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
    /// A middling NVMe SSD.
    fn default() -> Speed {
        Speed {
            random_pages_per_second: 80e3,
            sequential_bytes_per_second: 1.2e9,
            latency_seconds: 80e-6,
            targets: Targets::default(),
        }
    }
}
