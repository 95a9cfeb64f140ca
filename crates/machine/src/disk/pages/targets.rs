//! How many reads keep a device busy.

use serde::{Deserialize, Serialize};

/// How to issue reads so that a device is busy. [`probe`](crate::disk::probe()) measures this for a
/// device; the defaults suit an NVMe SSD.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Targets {
    /// Reads in flight for random reads of single pages. At least 1; default 64.
    pub random_requests: u32,
    /// Bytes in flight for sequential reads. Default 8 MiB.
    pub sequential_bytes: u64,
    /// Most bytes of one request. Default 256 KiB.
    pub request_bytes_max: u64,
    /// Largest gap that costs less to read than another request. Default 16 KiB.
    pub gap_bytes_max: u64,
}

impl Default for Targets {
    fn default() -> Targets {
        Targets {
            random_requests: 64,
            sequential_bytes: 8 << 20,
            request_bytes_max: 256 << 10,
            gap_bytes_max: 16 << 10,
        }
    }
}

impl Targets {
    /// Returns these targets, limited to sensible values: they may come from a file.
    pub(crate) fn clamped(self) -> Targets {
        Targets {
            random_requests: self.random_requests.clamp(1, 1024),
            sequential_bytes: self.sequential_bytes.clamp(64 << 10, 1 << 30),
            request_bytes_max: self.request_bytes_max.clamp(4 << 10, 16 << 20),
            gap_bytes_max: self.gap_bytes_max.min(256 << 10),
        }
    }
}
