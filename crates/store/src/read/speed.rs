//! What a device does.

use super::pages::Targets;

/// How fast a device is read, and how much it wants to be asked for at once.
#[derive(Debug, Clone, PartialEq)]
pub struct Speed {
    /// Reads of single pages a second, as many in flight as the targets say.
    pub random_pages_per_second: f64,
    /// Bytes a second, in order.
    pub sequential_bytes_per_second: f64,
    /// Seconds that one page takes to come, alone.
    pub latency_seconds: f64,
    /// Bytes of a page.
    pub page_bytes: u64,
    /// How much is to be asked for at once.
    pub targets: Targets,
}

impl Default for Speed {
    /// A middling NVMe SSD.
    fn default() -> Speed {
        Speed {
            random_pages_per_second: 80e3,
            sequential_bytes_per_second: 1.2e9,
            latency_seconds: 80e-6,
            page_bytes: 4096,
            targets: Targets::default(),
        }
    }
}
