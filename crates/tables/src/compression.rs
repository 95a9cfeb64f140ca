//! How text is compressed, and how that is known.

use std::path::Path;

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
    /// Bytes from the start of a file that [`Compression::of_content`] looks at.
    pub(crate) const MAGIC_BYTES: usize = 4;

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

    /// Returns the compression that the ending of `path` names, if any.
    pub(crate) fn of_ending(path: &Path) -> Option<Compression> {
        let (compression, _) = Compression::of_name(&lower_name(path));
        (compression != Compression::None).then_some(compression)
    }

    /// Finds the compression from the first bytes of a file.
    pub(crate) fn of_content(head: &[u8]) -> Compression {
        if head.starts_with(&[0x1f, 0x8b]) {
            Compression::Gzip
        } else if head.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
            Compression::Zstd
        } else {
            Compression::None
        }
    }

    /// Returns what is wrong if a file's name says `self` and its first bytes say otherwise.
    pub(crate) fn mismatch(self, head: &[u8]) -> Option<String> {
        let found = Compression::of_content(head);
        // Without an ending for a compression, the content alone decides. What is shorter than the
        // magic bytes is left to the decoder, which says where the data ends.
        if self == Compression::None || found == self || head.len() < Compression::MAGIC_BYTES {
            return None;
        }
        let (named, found) = (self.name(), found.name());
        Some(format!(
            "not valid {named} data: the name says {named}, but the content is {found}; rename the file"
        ))
    }

    /// Its name for messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Compression::None => "plain",
            Compression::Gzip => "gzip",
            Compression::Zstd => "zstd",
        }
    }
}

/// Returns the name of a file in lower case.
pub fn lower_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default()
}
