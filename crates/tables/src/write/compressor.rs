//! Text, with or without compression.

use std::io::{self, Write};

use flate2::write::GzEncoder;

use crate::compression::Compression;

/// This level takes a fraction of the memory of higher ones.
const ZSTD_LEVEL: i32 = 1;

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
