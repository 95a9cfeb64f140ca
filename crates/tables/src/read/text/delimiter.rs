//! What a user or a text names as the separator of columns.

use std::str::FromStr;

/// The separator of a text's columns: one byte, or any run of blanks and tabs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delimiter(u8);

impl Delimiter {
    /// The separating byte; a blank stands for any run of blanks and tabs.
    pub fn byte(self) -> u8 {
        self.0
    }

    /// The delimiter that a first line such as `sep=;` tells spreadsheets; `None` for another line.
    pub(super) fn told_by(line: &[u8]) -> Option<Delimiter> {
        let (key, delimiter) = line.split_at_checked(4)?;
        let delimiter = match delimiter {
            b"\t" => "tab",
            b" " => "blank",
            // Words such as `tab` are for users. In a file, `sep=tab` is an ordinary line.
            _ => str::from_utf8(delimiter).ok().filter(|text| text.len() == 1)?,
        };
        key.eq_ignore_ascii_case(b"sep=").then(|| delimiter.parse().ok()).flatten()
    }
}

impl FromStr for Delimiter {
    type Err = String;

    /// Takes `tab`, `blank`, or an ASCII character that is not part of numbers or words.
    fn from_str(text: &str) -> Result<Delimiter, String> {
        let byte = match text {
            "tab" | "\\t" => b'\t',
            "blank" | "space" => b' ',
            _ => match text.as_bytes() {
                &[byte] => byte,
                _ => return Err(format!("`{text}` is not one character; also: tab, blank")),
            },
        };
        let is_taken = b"\0\r\n\"'#%+-._".contains(&byte);
        if is_taken || byte.is_ascii_alphanumeric() || !byte.is_ascii() {
            return Err(format!("`{}` cannot separate columns", text.escape_debug()));
        }
        Ok(Delimiter(byte))
    }
}
