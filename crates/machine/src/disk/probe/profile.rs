//! The measured profile of a device.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::statvfs;
use serde::{Deserialize, Serialize};

use crate::disk::pages::Targets;

/// The rate of random reads of 4 KiB, with [`in_flight`](Self::in_flight) of them at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RandomRate {
    /// Reads in flight.
    pub in_flight: u32,
    /// Reads per second.
    pub reads_per_second: u64,
}

/// The rate of sequential reads in requests of [`request_bytes`](Self::request_bytes), with
/// [`in_flight`](Self::in_flight) of them at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SequentialRate {
    /// Bytes of a request.
    pub request_bytes: u64,
    /// Requests in flight.
    pub in_flight: u32,
    /// Bytes per second.
    pub bytes_per_second: u64,
}

/// The measurements of a device, and the targets that follow from them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceProfile {
    /// Identifies the file system on the device: by its own id, which a restart does not change, or
    /// else by its device number, which may change.
    pub device: String,
    /// Where the file system is mounted. It may be mounted in several places.
    #[serde(default)]
    pub mount_point: String,
    /// Random reads, by ascending number in flight.
    pub random: Vec<RandomRate>,
    /// Sequential reads, by ascending size and number in flight.
    pub sequential: Vec<SequentialRate>,
    /// The least in flight that reaches 95 % of the best rate.
    pub targets: Targets,
}

/// Identifies a file system: by its own id, else by its device number.
pub(super) fn device_of(path: &Path) -> io::Result<String> {
    let id = statvfs(path)?.f_fsid;
    if id != 0 {
        return Ok(format!("file system {id:016x}"));
    }
    Ok(format!("device {:x}", fs::metadata(path)?.dev()))
}
