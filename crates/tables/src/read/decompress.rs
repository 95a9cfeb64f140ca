//! Decompresses what was stored with gzip or zstd, and says what is wrong with it.

use std::io::{self, BufReader, Read};

use tegula_machine::Error as MachineError;

use crate::compression::Compression;

/// Returns a reader of the decompressed bytes of `stored`. A zstd window of more than
/// 2^`window_log_max` bytes is refused.
pub(super) fn decompress(
    stored: impl Read + Send + 'static,
    compression: Compression,
    window_log_max: u32,
) -> io::Result<Box<dyn Read + Send>> {
    Ok(match compression {
        Compression::None => Box::new(stored),
        Compression::Gzip => {
            // Several gzip files in a row are one, as `bgzip` and `cat` make them. A decoder of
            // single members would end after the first one without an error.
            let buffered = BufReader::with_capacity(64 << 10, stored);
            Box::new(flate2::bufread::MultiGzDecoder::new(buffered))
        }
        Compression::Zstd => {
            let mut decoder = zstd::Decoder::new(stored)?;
            decoder.window_log_max(window_log_max)?;
            Box::new(decoder)
        }
    })
}

/// Returns what is wrong with compressed data, and what to do, if `error` comes from the decoder.
/// `plain_read` is the number of bytes that were decompressed before.
pub(super) fn damage(
    error: &io::Error,
    compression: Compression,
    plain_read: u64,
) -> Option<String> {
    // A reader that waits for a pipe reports cancellation through the decoder.
    let is_of_decoder = error.raw_os_error().is_none()
        && !error.get_ref().is_some_and(|inner| inner.is::<MachineError>());
    if !is_of_decoder || compression == Compression::None {
        return None;
    }
    let compression = compression.name();
    let after = format!("after {plain_read} bytes of text");
    let remedy = "download it or compress it again";
    Some(match error.kind() {
        io::ErrorKind::UnexpectedEof => {
            format!("the {compression} data is cut off {after}; {remedy}")
        }
        // The library has no error kind for this.
        _ if error.to_string().contains("too much memory") => {
            "decompressing it takes too much memory; compress it again, and not with `zstd --long` or `zstd --ultra`"
                .to_owned()
        }
        _ => format!("not valid {compression} data {after}: {error}; {remedy}"),
    })
}
