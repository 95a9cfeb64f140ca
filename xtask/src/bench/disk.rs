//! Measures how fast the disk delivers a file that is read in order, bypassing the page cache.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use rustix::fs::OFlags;

use crate::tegula::Result;

/// Bytes per read.
const CHUNK: usize = 4 << 20;
/// Reads in flight; on an SSD neither more nor fewer were faster.
const READS: usize = 4;
/// The alignment of direct reads.
const ALIGNMENT: usize = 4096;

/// A file that was read once.
#[derive(Debug, Clone, Copy)]
pub struct SequentialRead {
    pub bytes: u64,
    pub seconds: f64,
    /// Whether the page cache was bypassed.
    pub is_direct: bool,
}

/// Reads a file in order, a few chunks at a time.
pub fn read_sequentially(path: &Path) -> Result<SequentialRead> {
    let direct = i32::try_from(OFlags::DIRECT.bits()).unwrap_or(0);
    let opened = OpenOptions::new().read(true).custom_flags(direct).open(path);
    let (file, is_direct) = match opened {
        Ok(file) => (file, true),
        // Some file systems have no direct reads.
        Err(_) => (File::open(path)?, false),
    };
    let next = AtomicU64::new(0);
    let started = Instant::now();
    let counts = std::thread::scope(|scope| {
        let readers: Vec<_> =
            (0..READS).map(|_| scope.spawn(|| read_chunks(&file, &next))).collect();
        let counts = readers.into_iter().map(|reader| reader.join().map_err(|_| "a reader died"));
        counts.collect::<Vec<_>>()
    });
    let seconds = started.elapsed().as_secs_f64();
    let mut bytes = 0;
    for count in counts {
        bytes += count??;
    }
    Ok(SequentialRead { bytes, seconds, is_direct })
}

/// Reads chunks that no other thread has taken.
fn read_chunks(file: &File, next: &AtomicU64) -> std::io::Result<u64> {
    let mut space = vec![0; CHUNK + ALIGNMENT];
    let aligned = space.as_ptr().align_offset(ALIGNMENT);
    let buffer = &mut space[aligned..aligned + CHUNK];
    let mut bytes = 0;
    loop {
        let mut at = next.fetch_add(CHUNK as u64, Ordering::Relaxed);
        let end = at + CHUNK as u64;
        while at < end {
            let read = file.read_at(&mut buffer[..(end - at) as usize], at)?;
            bytes += read as u64;
            at += read as u64;
            // A read of a partial block is the end of the file.
            if !read.is_multiple_of(ALIGNMENT) || read == 0 {
                return Ok(bytes);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_read_once() {
        let path = std::env::temp_dir().join(format!("tegula-disk-{}", std::process::id()));
        for length in [0, 1, CHUNK, 9 * CHUNK + 5] {
            std::fs::write(&path, vec![1; length]).unwrap();
            assert_eq!(read_sequentially(&path).unwrap().bytes, length as u64);
        }
        std::fs::remove_file(&path).unwrap();
    }
}
