//! Text, with or without compression.

use std::io::{self, Write};
use std::path::Path;

use flate2::write::GzEncoder;

use super::file::NewFile;

/// This level takes a fraction of the memory of higher ones.
const ZSTD_LEVEL: i32 = 1;

/// How text is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compression {
    /// Not at all.
    None,
    /// As `gzip` does.
    Gzip,
    /// As `zstd` does.
    Zstd,
}

impl Compression {
    /// Returns the compression that a lower-case file name tells, and the name without its ending.
    pub fn of_name(name: &str) -> (Compression, &str) {
        if let Some(rest) = name.strip_suffix(".gz") {
            (Compression::Gzip, rest)
        } else if let Some(rest) = name.strip_suffix(".zst") {
            (Compression::Zstd, rest)
        } else {
            (Compression::None, name)
        }
    }
}

/// Returns the name of a file in lower case.
pub fn lower_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default()
}

/// A file, written through a compressor.
pub enum Compressor {
    /// Without compression.
    None(NewFile),
    /// Through gzip.
    Gzip(GzEncoder<NewFile>),
    /// Through zstd.
    Zstd(zstd::Encoder<'static, NewFile>),
}

impl Compressor {
    /// Compresses into a file.
    pub fn new(file: NewFile, compression: Compression) -> io::Result<Compressor> {
        Ok(match compression {
            Compression::None => Compressor::None(file),
            Compression::Gzip => {
                Compressor::Gzip(GzEncoder::new(file, flate2::Compression::default()))
            }
            Compression::Zstd => Compressor::Zstd(zstd::Encoder::new(file, ZSTD_LEVEL)?),
        })
    }

    /// Writes what is left and returns the file.
    pub fn finish(self) -> io::Result<NewFile> {
        match self {
            Compressor::None(file) => Ok(file),
            Compressor::Gzip(encoder) => encoder.finish(),
            Compressor::Zstd(encoder) => encoder.finish(),
        }
    }
}

impl Write for Compressor {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Compressor::None(file) => file.write(bytes),
            Compressor::Gzip(encoder) => encoder.write(bytes),
            Compressor::Zstd(encoder) => encoder.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Compressor::None(file) => file.flush(),
            Compressor::Gzip(encoder) => encoder.flush(),
            Compressor::Zstd(encoder) => encoder.flush(),
        }
    }
}
