//! Text, with or without compression.

use std::io::{self, Write};
use std::path::Path;

use flate2::write::GzEncoder;

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

/// An output, written through a compressor.
pub enum Compressor<O: Write> {
    /// Without compression.
    None(O),
    /// Through gzip.
    Gzip(GzEncoder<O>),
    /// Through zstd.
    Zstd(zstd::Encoder<'static, O>),
}

impl<O: Write> Compressor<O> {
    /// Compresses into an output.
    pub fn new(out: O, compression: Compression) -> io::Result<Compressor<O>> {
        Ok(match compression {
            Compression::None => Compressor::None(out),
            Compression::Gzip => {
                Compressor::Gzip(GzEncoder::new(out, flate2::Compression::default()))
            }
            Compression::Zstd => Compressor::Zstd(zstd::Encoder::new(out, ZSTD_LEVEL)?),
        })
    }

    /// Writes what is left and returns the output.
    pub fn finish(self) -> io::Result<O> {
        match self {
            Compressor::None(out) => Ok(out),
            Compressor::Gzip(encoder) => encoder.finish(),
            Compressor::Zstd(encoder) => encoder.finish(),
        }
    }
}

impl<O: Write> Write for Compressor<O> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Compressor::None(out) => out.write(bytes),
            Compressor::Gzip(encoder) => encoder.write(bytes),
            Compressor::Zstd(encoder) => encoder.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Compressor::None(out) => out.flush(),
            Compressor::Gzip(encoder) => encoder.flush(),
            Compressor::Zstd(encoder) => encoder.flush(),
        }
    }
}
