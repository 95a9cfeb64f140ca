//! What GraphML and GEXF share: text in XML, and the names of types.

use super::kind::Kind;
use super::syntax::{Spelled, Unfit, append};

/// The first line, before the outermost element.
pub const DECLARATION: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";

/// The name that both formats have for a kind of values.
pub fn type_of(kind: Kind) -> &'static str {
    match kind {
        Kind::Integer => "long",
        Kind::Number => "double",
        Kind::Text => "string",
    }
}

/// Appends a text between tags, or between double quotes within a tag. A reader of the document
/// gets every character back, even tabs and line ends.
///
/// # Errors
/// [`Unfit`] for a character that XML 1.0 forbids in every spelling: most control characters,
/// U+FFFE and U+FFFF.
pub fn append_text(text: &str, out: &mut Vec<u8>) -> Spelled {
    for character in text.chars() {
        match character {
            '&' => append("&amp;", out),
            '<' => append("&lt;", out),
            '>' => append("&gt;", out),
            '"' => append("&quot;", out),
            '\t' => append("&#9;", out),
            '\n' => append("&#10;", out),
            '\r' => append("&#13;", out),
            '\0'..=' ' if character != ' ' => return Err(unfit(text, character)),
            '\u{fffe}' | '\u{ffff}' => return Err(unfit(text, character)),
            other => append(other.encode_utf8(&mut [0; 4]), out),
        }
    }
    Ok(())
}

/// Appends an attribute of an element, after a blank.
///
/// # Errors
/// [`Unfit`] for its value.
pub fn append_attribute(name: &str, value: &str, out: &mut Vec<u8>) -> Spelled {
    out.push(b' ');
    append(name, out);
    append("=\"", out);
    append_text(value, out)?;
    out.push(b'"');
    Ok(())
}

fn unfit(text: &str, character: char) -> Unfit {
    Unfit { text: text.to_owned(), character }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_with_a_meaning_in_xml_are_escaped() {
        let mut out = Vec::new();
        append_attribute("id", "a&b <\"é'>\t\r\n\u{85}", &mut out).unwrap();
        let expected = " id=\"a&amp;b &lt;&quot;é'&gt;&#9;&#13;&#10;\u{85}\"";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn characters_that_xml_forbids_are_refused() {
        for character in ['\0', '\u{1}', '\u{b}', '\u{1f}', '\u{fffe}', '\u{ffff}'] {
            let text = format!("a{character}b");
            let told = append_text(&text, &mut Vec::new());
            assert_eq!(told, Err(Unfit { text, character }));
        }
        for character in [' ', '\u{7f}', '\u{9f}', '\u{fffd}', '\u{10ffff}'] {
            assert_eq!(append_text(&character.to_string(), &mut Vec::new()), Ok(()));
        }
    }
}
