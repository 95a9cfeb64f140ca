//! Reads a text as a whole.

use std::path::Path;

use tegula_store::{At, Result};

use super::fault::bad_at;
use super::input_stream::InputStream;
use crate::compression::Compression;

/// Bytes to read at a time.
const PIECE_SIZE: usize = 64 << 10;

/// Reads a text, which may be compressed; `None` if it is longer than `size_max` bytes.
///
/// # Errors
/// [`BadInput`](tegula_store::Error::BadInput) if it is not UTF-8.
pub fn read_text(path: &Path, size_max: u64) -> Result<Option<String>> {
    let compression = Compression::of_ending(path).unwrap_or(Compression::None);
    let mut stream = InputStream::open(path, compression, InputStream::WINDOW_LOG_USUAL)?;
    let (mut bytes, mut piece) = (Vec::new(), vec![0; PIECE_SIZE]);
    loop {
        let (filled, result) = stream.fill(&mut piece);
        result?;
        bytes.extend_from_slice(&piece[..filled]);
        // Checked on the way, since a few compressed bytes may become any number of bytes.
        if bytes.len() as u64 > size_max {
            return Ok(None);
        }
        if filled < piece.len() {
            break;
        }
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let line = error.as_bytes()[..error.utf8_error().valid_up_to()].split(|&b| b == b'\n');
        bad_at(path, At::Line(line.count() as u64), "the text is not UTF-8")
    })?;
    Ok(Some(text))
}
