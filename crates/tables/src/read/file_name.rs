//! What the name of a file says about its content.

use std::path::Path;

use super::format::Format;
use crate::compression::{Compression, lower_name};

/// The name of a file in lower case, without the ending of its compression.
pub struct FileName(String);

/// What the ending of a name says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending<'a> {
    /// That the file has this format.
    Format(Format),
    /// Digits alone: the file is one of several parts.
    Number,
    /// An ending without its dot that belongs to no format.
    Other(&'a str),
    /// There is no ending.
    None,
}

impl FileName {
    /// Takes the name from a path.
    pub fn of(path: &Path) -> FileName {
        let name = lower_name(path);
        let (_, plain) = Compression::of_name(&name);
        FileName(plain.to_owned())
    }

    /// Returns what its ending says.
    pub fn ending(&self) -> Ending<'_> {
        let Some((_, ending)) = self.0.rsplit_once('.') else { return Ending::None };
        match Format::of_ending(ending) {
            Some(format) => Ending::Format(format),
            None if ending.bytes().all(|byte| byte.is_ascii_digit()) => Ending::Number,
            None => Ending::Other(ending),
        }
    }
}
