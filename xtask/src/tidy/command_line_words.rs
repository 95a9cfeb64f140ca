//! Words of the command line in messages of libraries: other faces show these messages too.

use super::finding::{Finding, Rule};
use super::source::Source;

/// Crates of the command line and of developers.
const COMMAND_LINE_CRATES: [&str; 3] = ["cli", "xtask", "testkit"];

/// Finds options in messages. A command of another program, in backticks, may have options: every
/// face shows it as it is.
pub fn check(source: &Source) -> Vec<Finding> {
    if COMMAND_LINE_CRATES.contains(&source.crate_name()) || source.is_example() {
        return Vec::new();
    }
    let tokens = &source.tokens;
    let found = (0..tokens.0.len()).filter_map(|at| {
        let is_comment = at >= 2 && tokens.matches(at - 2, &["doc", "="]);
        let line = tokens.line(at);
        if is_comment || source.is_test_line(line) {
            return None;
        }
        let option = typed_option(&tokens.0[at].literal)?;
        let message = format!("`{option}` is a word of the command line: give a typed `Hint`");
        Some(Finding::new(Rule::CommandLineWord, &source.path, line, message))
    });
    found.collect()
}

/// Returns the first word that is an option and not part of a command.
fn typed_option(literal: &str) -> Option<&str> {
    let pieces = literal.split('`').enumerate();
    let plain = pieces
        .filter(|(number, piece)| number % 2 == 0 || piece.trim_start().starts_with("--"))
        .map(|(_, piece)| piece);
    let mut words = plain.flat_map(|text| text.split(|c: char| !c.is_alphanumeric() && c != '-'));
    words.find(|word| {
        let name = word.strip_prefix("--").unwrap_or_default();
        name.starts_with(|c: char| c.is_ascii_lowercase())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(path: &str, text: &str) -> Vec<usize> {
        let source = Source::new(path, text).unwrap();
        check(&source).into_iter().map(|found| found.line).collect()
    }

    #[test]
    fn an_option_in_backticks_is_no_command() {
        let text = "const A: &str = \"pass `--ids string`\";";
        assert_eq!(lines("crates/import/src/lib.rs", text), [1]);
    }

    const MESSAGE: &str = "fn f() {\n format!(\"it is {x}; pass --ids string\")\n}";

    #[test]
    fn a_library_types_no_options_and_the_command_line_does() {
        assert_eq!(lines("crates/import/src/lib.rs", MESSAGE), [2]);
        assert!(lines("crates/cli/src/hints.rs", MESSAGE).is_empty());
        assert!(lines("crates/import/tests/t.rs", MESSAGE).is_empty());
        assert!(lines("crates/engine/examples/e.rs", MESSAGE).is_empty());
    }

    #[test]
    fn commands_in_backticks_arrows_and_comments_pass() {
        for text in [
            "const A: &str = \"run `zstd --long`, and then\";",
            "const A: [&[u8]; 2] = [b\"--\", b\"<->\"];",
            "/// `--force` replaces it: pass --force.\nconst A: u8 = 1;",
            "//! edges --sorted--> lists\n",
        ] {
            assert!(lines("crates/import/src/lib.rs", text).is_empty(), "{text}");
        }
    }
}
