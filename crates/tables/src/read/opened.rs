//! Opens files, standard input and pipes, and finds what they contain.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use tegula_machine::threads::Cancel;
use tegula_store::{Error, Result};

use super::fault::{bad_file, not_opened};
use super::file_name::{Ending, FileName};
use super::format::Format;
use super::input_stream::{InputStream, Patient};
use super::parquet;
use super::properties::Properties;
use super::xml_form::XmlForm;
use crate::compression::Compression;

/// The refusal of a stream where a format is read twice or out of order.
const STREAM_REFUSAL: &str = "this format cannot be read from a stream; give it as a file";

/// Bytes at the start of a file that show its format.
const HEAD_BYTES: usize = 512;

/// A file or a stream that was opened.
pub struct Opened {
    /// Its format, never [`Format::Auto`].
    pub format: Format,
    /// How it is stored.
    pub stored: Stored,
}

/// How a file or a stream is stored.
pub enum Stored {
    /// A regular file, which can be opened again.
    File {
        /// Its size as it is stored.
        bytes: u64,
        /// How it is compressed.
        compression: Compression,
    },
    /// Standard input or a pipe, which can be read once.
    Once(InputStream),
}

impl Stored {
    /// Returns the stream of its decompressed bytes. `window_log_max` is that of
    /// [`InputStream::new`].
    pub fn stream(self, path: &Path, window_log_max: u32) -> Result<InputStream> {
        match self {
            Stored::File { compression, .. } => {
                InputStream::open(path, compression, window_log_max)
            }
            Stored::Once(stream) => Ok(stream),
        }
    }
}

impl Opened {
    /// Opens `path`, where `-` is standard input, and finds its format unless `wanted` gives it.
    /// `window_log_max` is that of [`InputStream::new`].
    pub fn at(path: &Path, wanted: Format, window_log_max: u32, cancel: &Cancel) -> Result<Opened> {
        if path.as_os_str() == "-" {
            // A copy, because the reader closes its descriptor when it is dropped.
            let input = io::stdin().as_fd().try_clone_to_owned();
            let input = input.map_err(Error::io("open", path))?;
            let input = Box::new(Patient::new(input.into(), cancel));
            return Opened::once(path, input, wanted, window_log_max);
        }
        // Opening a pipe without a writer would block.
        let unblocked = rustix::fs::OFlags::NONBLOCK.bits() as i32;
        let opened = File::options().read(true).custom_flags(unblocked).open(path);
        let mut file = opened.map_err(|error| not_opened(path, error))?;
        let metadata = file.metadata().map_err(Error::io("read", path))?;
        if !metadata.is_file() {
            let input = Box::new(Patient::new(file, cancel));
            return Opened::once(path, input, wanted, window_log_max);
        }
        let mut head = [0; HEAD_BYTES];
        let filled = fill(&mut file, &mut head).map_err(Error::io("read", path))?;
        let head = &head[..filled];
        // An ending that tells a compression is believed, so that a file of another content is
        // refused with both named.
        let compression = Compression::of_ending(path).unwrap_or(Compression::of_content(head));
        if let Some(detail) = compression.mismatch(head) {
            return Err(bad_file(path, detail));
        }
        let format = match wanted {
            Format::Auto => detect(path, head),
            given => given,
        };
        // The other formats are binary, and their readers decompress nothing.
        if !format.may_be_compressed() && compression != Compression::None {
            return Err(bad_file(path, "only text may be compressed; decompress the file first"));
        }
        Ok(Opened { format, stored: Stored::File { bytes: metadata.len(), compression } })
    }

    /// Makes a stream of the text from `reader`, which messages call `path`.
    pub fn once(
        path: &Path,
        mut reader: Box<dyn Read + Send>,
        wanted: Format,
        window_log_max: u32,
    ) -> Result<Opened> {
        let format = match wanted {
            // All formats but text are refused here, so there is nothing to find out.
            Format::Auto => Format::Text,
            _ if wanted.is_text() => wanted,
            _ => return Err(bad_file(path, STREAM_REFUSAL)),
        };
        let mut head = [0; Compression::MAGIC_BYTES];
        let filled = fill(&mut reader, &mut head).map_err(Error::io("read", path))?;
        if head[..filled].starts_with(parquet::MAGIC) {
            return Err(bad_file(path, STREAM_REFUSAL));
        }
        let compression = Compression::of_content(&head[..filled]);
        let whole = io::Cursor::new(head).take(filled as u64).chain(reader);
        let stream = InputStream::new(path, Box::new(whole), compression, window_log_max)?;
        Ok(Opened { format, stored: Stored::Once(stream) })
    }
}

/// Finds the format of a file from its ending, or else from its first bytes.
fn detect(path: &Path, head: &[u8]) -> Format {
    match FileName::of(path).ending() {
        // METIS and WebGraph share the ending `.graph`.
        Ending::Format(Format::Metis) if is_bvgraph(path) => Format::BvGraph,
        Ending::Format(format) => format,
        Ending::Other(_) | Ending::Number | Ending::None if head.starts_with(parquet::MAGIC) => {
            Format::Parquet
        }
        Ending::Other(_) | Ending::Number | Ending::None => {
            XmlForm::of_content(head).map_or(Format::Text, XmlForm::format)
        }
    }
}

/// Whether a file of lists belongs to WebGraph, according to the properties beside it.
fn is_bvgraph(lists: &Path) -> bool {
    let beside = Properties::path_of(lists);
    beside.exists()
        && Properties::read(&beside).is_ok_and(|properties| properties.are_of_webgraph())
}

/// Fills `space`, or as much of it as `reader` has bytes for.
fn fill(reader: &mut dyn Read, space: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < space.len() {
        match reader.read(&mut space[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}
