//! Escapes names of files and vertices. Anybody may choose these names: on a terminal they must not
//! move the cursor, change colours, or look like a line of our own.

use std::borrow::Cow;
use std::io;

use serde_json::ser::Formatter;

/// Whether a character acts instead of being seen: controls of both sets, and characters that turn
/// the direction of the text after them.
fn is_control(character: char) -> bool {
    let turns_direction = matches!(character,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    character.is_control() || turns_direction
}

/// Escapes the controls of a line as Rust does: `\u{1b}`, `\n`.
pub fn line(text: &str) -> Cow<'_, str> {
    escape(text, is_control, |control| control.escape_default().to_string())
}

/// Escapes the same in several lines, but keeps line ends and tabs.
pub fn lines(text: &str) -> Cow<'_, str> {
    let is_escaped = |character| is_control(character) && !matches!(character, '\n' | '\t');
    escape(text, is_escaped, |control| control.escape_default().to_string())
}

/// Formats JSON with the controls in its strings escaped.
pub struct Visible;

impl Formatter for Visible {
    fn write_string_fragment<W>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()>
    where
        W: ?Sized + io::Write,
    {
        let visible =
            escape(fragment, is_control, |control| format!("\\u{:04x}", u32::from(control)));
        writer.write_all(visible.as_bytes())
    }
}

fn escape(
    text: &str,
    is_escaped: impl Fn(char) -> bool,
    escaped: impl Fn(char) -> String,
) -> Cow<'_, str> {
    if !text.contains(&is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        if is_escaped(character) {
            plain.push_str(&escaped(character));
        } else {
            plain.push(character);
        }
    }
    Cow::Owned(plain)
}

#[cfg(test)]
mod tests {
    use serde::Serialize;
    use serde_json::Serializer;

    use super::*;

    #[test]
    fn controls_are_seen_and_letters_stay() {
        assert!(matches!(line("Zürich 東京 …"), Cow::Borrowed("Zürich 東京 …")));
        assert_eq!(line("a\u{1b}[31mb\r\n"), "a\\u{1b}[31mb\\r\\n");
        assert_eq!(line("\u{9b}2J\u{7f}\u{202e}"), "\\u{9b}2J\\u{7f}\\u{202e}");
        assert_eq!(lines("a\tb\nc\u{8}"), "a\tb\nc\\u{8}");
    }

    #[test]
    fn escaped_json_means_the_same() {
        let value = serde_json::json!({ "name": "a\u{1b}\u{9b}\u{7f}\u{202e}ü" });
        let mut plain = Vec::new();
        value.serialize(&mut Serializer::with_formatter(&mut plain, Visible)).unwrap();
        let plain = String::from_utf8(plain).unwrap();
        assert!(!plain.contains(is_control) && plain.contains("\\u009b"), "{plain}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&plain).unwrap(), value);
    }
}
