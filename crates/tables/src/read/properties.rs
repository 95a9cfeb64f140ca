//! Files of properties, which describe a graph. A line is `key = value` or `key: value`, or a
//! comment that begins with `#` or `!`.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use tegula_store::{Error, Result};

use super::fault::{bad_file, not_opened};

/// The most bytes of such a file.
const SIZE_MAX: u64 = 1 << 20;

/// Keys and values, in the order of the lines.
#[derive(Debug)]
pub struct Properties(Vec<(String, String)>);

impl Properties {
    /// Reads a file.
    pub fn read(path: &Path) -> Result<Properties> {
        let file = File::open(path).map_err(|error| not_opened(path, error))?;
        let mut text = Vec::new();
        // One byte more, by which a text is found to be too long. A pipe does not tell its size.
        file.take(SIZE_MAX + 1).read_to_end(&mut text).map_err(Error::io("read", path))?;
        if text.len() as u64 > SIZE_MAX {
            return Err(bad_file(path, "it is too long for the properties of a graph"));
        }
        // Java writes properties in ISO 8859-1, so a comment need not be UTF-8.
        Ok(Properties::parse(&String::from_utf8_lossy(&text)))
    }

    /// Reads the lines of a text.
    pub fn parse(text: &str) -> Properties {
        let lines = text.lines().map(str::trim).filter(|line| !line.starts_with(['#', '!']));
        let pairs = lines.filter_map(|line| line.split_once(['=', ':']));
        Properties(
            pairs.map(|(key, value)| (key.trim().to_owned(), value.trim().to_owned())).collect(),
        )
    }

    /// Returns the value of the only key that `is_meant` accepts; `None` if it accepts no key, an
    /// error if it accepts several.
    pub fn only(&self, is_meant: impl Fn(&str) -> bool) -> Result<Option<&str>, RepeatedKey> {
        let mut found = self.0.iter().filter(|(key, _)| is_meant(key)).map(|(_, value)| &**value);
        match (found.next(), found.next()) {
            (value, None) => Ok(value),
            (_, Some(_)) => Err(RepeatedKey),
        }
    }

    /// Returns the path of the properties that describe a file of coded lists.
    pub fn path_of(lists: &Path) -> PathBuf {
        lists.with_extension("properties")
    }

    /// Whether they describe a graph of WebGraph, of this or another class.
    pub fn are_of_webgraph(&self) -> bool {
        // A repeated key is a fault, but it still tells whose file this is.
        !matches!(self.only(|key| key == "graphclass"), Ok(None))
    }
}

/// The error if a key occurs several times.
#[derive(Debug)]
pub struct RepeatedKey;
