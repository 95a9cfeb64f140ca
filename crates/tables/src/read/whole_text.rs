//! Reads a text as a whole.

use std::path::Path;

use tegula_machine::threads::Cancel;
use tegula_store::{At, Result};

use super::fault::bad_at;
use super::format::Format;
use super::input_stream::InputStream;
use super::opened::Opened;

/// Bytes to read at a time.
const PIECE_SIZE: usize = 64 << 10;

/// Reads a text, which may be compressed; `-` is standard input. Returns `None` if the text is
/// longer than `size_max` bytes.
///
/// # Errors
/// [`BadInput`](tegula_store::Error::BadInput) if it is not UTF-8;
/// [`Cancelled`](tegula_machine::Error::Cancelled) while it waits for a stream.
pub fn read_text(path: &Path, size_max: u64, cancel: &Cancel) -> Result<Option<String>> {
    let window_log_max = InputStream::WINDOW_LOG_USUAL;
    let opened = Opened::at(path, Format::Text, window_log_max, cancel)?;
    let mut stream = opened.stored.stream(path, window_log_max)?;
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
