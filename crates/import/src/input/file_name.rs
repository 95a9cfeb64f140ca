//! What the name of a file says about its content.

use std::path::Path;

use super::options::Format;

/// The name of a file in lower case, without the ending of its compression.
pub(super) struct Name(String);

/// What the ending of a name says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending<'a> {
    Format(Format),
    /// Digits alone: the file is one of several parts.
    Number,
    /// An ending without its dot that belongs to no format.
    Other(&'a str),
    None,
}

impl Name {
    pub fn of(path: &Path) -> Name {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        let plain = name.strip_suffix(".gz").or_else(|| name.strip_suffix(".zst"));
        Name(plain.unwrap_or(&name).to_owned())
    }

    pub fn ending(&self) -> Ending<'_> {
        let Some((_, ending)) = self.0.rsplit_once('.') else { return Ending::None };
        match Format::of_ending(ending) {
            Some(format) => Ending::Format(format),
            None if ending.bytes().all(|byte| byte.is_ascii_digit()) => Ending::Number,
            None => Ending::Other(ending),
        }
    }
}
