//! What comments must say, and what they must not say.

use super::finding::{Finding, Rule};
use super::source::Source;

/// Words that mark unfinished work.
const UNFINISHED: [&str; 3] = ["TODO", "FIXME", "XXX"];

/// Finds notes about unfinished work, and `unsafe` without a reason.
pub fn check(source: &Source) -> Vec<Finding> {
    let comments = comments(&source.text);
    let mut findings = unfinished_notes(source, &comments);
    findings.extend(unsafe_without_safety(source, &comments));
    findings
}

fn unfinished_notes(source: &Source, comments: &[Comment]) -> Vec<Finding> {
    let found = comments.iter().filter_map(|comment| {
        let mut words = comment.text.split(|c: char| !c.is_alphanumeric());
        let word = words.find(|word| UNFINISHED.contains(word))?;
        let message = format!("`{word}`: do it now, or open an issue that says what is missing");
        Some(Finding::new(Rule::UnfinishedNote, &source.path, comment.line, message))
    });
    found.collect()
}

/// Every `unsafe` needs a comment right above its statement or on its own line. `SAFETY:` says why
/// a use is sound, `# Safety` what a caller must ensure.
fn unsafe_without_safety(source: &Source, comments: &[Comment]) -> Vec<Finding> {
    let lines: Vec<&str> = source.text.lines().collect();
    let explained: Vec<usize> = comments
        .iter()
        .filter(|comment| comment.text.contains("SAFETY:") || comment.text.contains("# Safety"))
        .map(|comment| comment.line)
        .collect();
    let is_explained = |line: usize| {
        // Search up to the nearest empty line, or the end of the previous statement.
        let mut at = line;
        loop {
            if explained.contains(&at) {
                return true;
            }
            at -= 1;
            let Some(text) = at.checked_sub(1).and_then(|index| lines.get(index)) else {
                return false;
            };
            let text = text.trim();
            let is_comment = text.starts_with("//");
            if text.is_empty() || (!is_comment && text.ends_with([';', '{', '}'])) {
                return false;
            }
        }
    };
    let found = source.tokens.find_all(&["unsafe"]).filter_map(|at| {
        // `#[unsafe(..)]` and function types are no uses.
        let is_use =
            source.tokens.text(at + 1) != "(" && !source.tokens.matches(at, &["unsafe", "fn", "("]);
        let line = source.tokens.line(at);
        (is_use && !is_explained(line)).then(|| {
            let message =
                "`unsafe` without `SAFETY:` (or `# Safety`): name the invariant and who upholds it";
            Finding::new(Rule::UnsafeWithoutSafety, &source.path, line, message)
        })
    });
    found.collect()
}

/// One line of a comment.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Comment {
    pub line: usize,
    pub text: String,
}

/// Returns the comments of a file, line by line. Knows just enough Rust to tell comments from
/// strings.
pub(super) fn comments(text: &str) -> Vec<Comment> {
    let mut comments = Vec::new();
    let mut line = 1;
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let (length, is_comment) = if rest.starts_with("//") {
            (rest.find('\n').unwrap_or(rest.len()), true)
        } else if rest.starts_with("/*") {
            (block_comment_length(rest), true)
        } else {
            (string_length(rest).unwrap_or(first.len_utf8()), false)
        };
        let piece = &rest[..length];
        if is_comment {
            let lines = piece.lines().zip(line..);
            comments.extend(lines.map(|(text, line)| Comment { line, text: text.to_owned() }));
        }
        line += piece.matches('\n').count();
        rest = &rest[length..];
    }
    comments
}

/// Returns the length of a block comment; block comments nest.
fn block_comment_length(text: &str) -> usize {
    let (mut depth, mut at) = (0usize, 0);
    loop {
        let rest = &text[at..];
        if rest.starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest.starts_with("*/") {
            depth -= 1;
            at += 2;
        } else {
            at += rest.chars().next().map_or(0, char::len_utf8);
        }
        if depth == 0 || at >= text.len() {
            return at;
        }
    }
}

/// Returns the length of the string, raw string, character or word at the beginning of the text. A
/// word is taken whole, so that its last letter is not mistaken for a prefix.
fn string_length(text: &str) -> Option<usize> {
    let word = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    let (prefix, rest) = text.split_at(word);
    let hashes = rest.bytes().take_while(|&byte| byte == b'#').count();
    if prefix.ends_with('r') && rest[hashes..].starts_with('"') {
        let end = format!("\"{}", "#".repeat(hashes));
        let content = word + hashes + 1;
        let length = text[content..].find(&end).map_or(text.len() - content, |at| at + end.len());
        return Some(content + length);
    }
    if word > 0 {
        return Some(word);
    }
    match text.as_bytes()[0] {
        b'"' => Some(quoted_length(text, '"')),
        // `'a'` and `'\n'` are characters, `'a` alone is a lifetime.
        b'\'' if text[1..].starts_with('\\') || text[1..].chars().nth(1) == Some('\'') => {
            Some(quoted_length(text, '\''))
        }
        _ => None,
    }
}

fn quoted_length(text: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, character) in text.char_indices().skip(1) {
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            _ if character == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(text: &str) -> Vec<(Rule, usize)> {
        let source = Source::new("crates/a/src/lib.rs", text).unwrap();
        check(&source).into_iter().map(|found| (found.rule, found.line)).collect()
    }

    #[test]
    fn comments_are_told_from_strings() {
        let text = "let a = \"// no\"; // one\nlet b = r#\"\" // no\"#; /* two\n/* three */ four */ '\"' // five\n\
                    'a // six\n'\\'' // seven";
        let found: Vec<_> = comments(text).into_iter().map(|c| (c.line, c.text)).collect();
        let expected = [
            (1, "// one"),
            (2, "/* two"),
            (3, "/* three */ four */"),
            (3, "// five"),
            (4, "// six"),
            (5, "// seven"),
        ];
        assert_eq!(found, expected.map(|(line, text)| (line, text.to_owned())));
    }

    #[test]
    fn unfinished_work_is_found_in_comments_only() {
        for word in UNFINISHED {
            assert_eq!(findings(&format!("// {word}: later")), [(Rule::UnfinishedNote, 1)]);
            assert_eq!(
                findings(&format!("\n/// {word} more.\nfn f() {{}}")),
                [(Rule::UnfinishedNote, 2)]
            );
            assert_eq!(findings(&format!("const A: &str = \"{word}\"; // A{word}")), []);
        }
    }

    #[test]
    fn unsafe_needs_a_reason_right_above() {
        let missing = [(Rule::UnsafeWithoutSafety, 2)];
        assert_eq!(findings("fn f() {\n unsafe { g() };\n}"), missing);
        assert_eq!(findings("// SAFETY: for another one\n unsafe { g() }; unsafe { h() }"), []);
        assert_eq!(
            findings("// SAFETY: for `f`;\n\nfn f() { unsafe { g() } }"),
            [(Rule::UnsafeWithoutSafety, 3)]
        );
        assert_eq!(findings("// an unsafe thing\nunsafe impl Send for A {}"), missing);
    }

    #[test]
    fn unsafe_with_a_reason_passes() {
        assert_eq!(findings("fn f() {\n // SAFETY: `g` is.\n let x =\n  unsafe { g() };\n}"), []);
        assert_eq!(findings("// SAFETY: it is plain.\n#[allow(x)]\nunsafe impl Send for A {}"), []);
        assert_eq!(
            findings("/// Does.\n///\n/// # Safety\n/// Be careful.\npub unsafe fn f() {}"),
            []
        );
        assert_eq!(findings("match x {\n // SAFETY: proven.\n A => unsafe { g() },\n}"), []);
        assert_eq!(findings("#[unsafe(no_mangle)]\nfn f(g: unsafe fn(u8)) {}"), []);
    }
}
