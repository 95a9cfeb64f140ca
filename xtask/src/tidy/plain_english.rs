//! Plain English in comments and in the names of tests.
//!
//! The rules catch what had to be read twice most often: quantities and people without a name, and
//! long fragments without a verb. They know a list of verbs and no grammar, so a fragment with a
//! verb in a relative clause passes.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::comments::{Comment, comments};
use super::finding::{Finding, Rule};
use super::source::Source;

/// Words that stand for something that has a name, and what to write instead.
const VAGUE: [(&str, &str); 5] = [
    ("so many", "name the quantity"),
    ("whoever", "name the caller or the reader"),
    ("that of which", "name the noun"),
    ("those of which", "name the noun"),
    ("that there is", "say what is there, with a verb"),
];

/// The most words between two commas that a sentence without a verb may have.
const FRAGMENT_WORDS_MAX: usize = 10;

/// Words that follow a noun at the beginning of a fragment, and hardly ever a verb.
const PREPOSITIONS: [&str; 13] = [
    "of", "for", "with", "without", "in", "from", "per", "by", "beside", "at", "on", "and",
    "between",
];

/// Words with which no name of a test may begin. Such a name asks, and does not say what holds.
const QUESTIONS: [&str; 3] = ["whatever", "whoever", "what"];

/// Verbs in the forms that comments use: auxiliaries, and forms that are seldom nouns.
static VERBS: LazyLock<HashSet<&str>> =
    LazyLock::new(|| include_str!("verbs.txt").split_whitespace().collect());

/// Finds comments that have to be read twice, and names of tests that ask.
pub fn check(source: &Source) -> Vec<Finding> {
    let sentences = sentences(&comments(&source.text));
    let mut findings: Vec<Finding> = sentences
        .iter()
        .filter_map(|sentence| {
            let message = sentence.problem()?;
            Some(Finding::new(Rule::PlainEnglish, &source.path, sentence.line, message))
        })
        .collect();
    findings.extend(names_that_ask(source));
    findings
}

fn names_that_ask(source: &Source) -> Vec<Finding> {
    let tokens = &source.tokens;
    let tests = tokens.functions().into_iter().filter(|function| {
        tokens.attributes(function.start).iter().any(|words| words.first() == Some(&"test"))
    });
    let asking = tests.filter(|function| {
        let first = function.name.split('_').next().unwrap_or_default();
        QUESTIONS.contains(&first)
    });
    asking
        .map(|function| {
            let message = format!("the test `{}` asks: name it by what holds", function.name);
            Finding::new(Rule::PlainEnglish, &source.path, tokens.line(function.start), message)
        })
        .collect()
}

/// A sentence of a comment. Code in backticks is the word `code`.
#[derive(Debug, PartialEq, Eq)]
struct Sentence {
    line: usize,
    text: String,
}

impl Sentence {
    fn problem(&self) -> Option<String> {
        let words: Vec<String> = words(&self.text).map(str::to_lowercase).collect();
        let text = format!(" {} ", words.join(" "));
        if let Some((vague, instead)) =
            VAGUE.into_iter().find(|(vague, _)| text.contains(&format!(" {vague} ")))
        {
            return Some(format!("\"{vague}\" is vague: {instead}"));
        }
        // Each "as many" needs its own "as", before the next one. The blank behind "many" may be
        // the one before "as".
        if text.split(" as many").skip(1).any(|rest| !rest.contains(" as ")) {
            return Some("\"as many\" without \"as\": name the quantity".to_owned());
        }
        let has_verb =
            begins_with_verb(&words) || words.iter().any(|word| VERBS.contains(word.as_str()));
        let longest = self.longest_clause();
        (longest > FRAGMENT_WORDS_MAX && !has_verb)
            .then(|| format!("{longest} words without a verb: make it a sentence, or shorter"))
    }

    /// Returns the number of words of the longest piece between commas, without parentheses.
    fn longest_clause(&self) -> usize {
        let (mut depth, mut plain) = (0usize, String::new());
        for character in self.text.chars() {
            match character {
                '(' => depth += 1,
                ')' => depth = depth.saturating_sub(1),
                _ if depth == 0 => plain.push(character),
                _ => {}
            }
        }
        plain.split(',').map(|clause| words(clause).count()).max().unwrap_or(0)
    }
}

/// Returns whether the first word is a verb in the third person, as in "Copies the cells", and no
/// plural, as in "Cells of".
fn begins_with_verb(words: &[String]) -> bool {
    let is_preposition = |word: &str| PREPOSITIONS.contains(&word);
    match words {
        [first, second, ..] => {
            first.ends_with('s') && !first.ends_with("ss") && !is_preposition(second)
        }
        _ => false,
    }
}

/// Returns the words of a text, without numbers.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '\'');
    words.filter(|word| word.contains(char::is_alphabetic))
}

/// Returns the sentences of the comments of a file, without headings, tables and blocks of code. An
/// item of a list begins a sentence, and so does a comment behind a line of code.
fn sentences(comments: &[Comment]) -> Vec<Sentence> {
    let mut found = Sentences::default();
    for comment in comments {
        found.add(comment);
    }
    found.end_paragraph();
    found.all
}

#[derive(Default)]
struct Sentences {
    all: Vec<Sentence>,
    /// The lines of the paragraph so far.
    paragraph: Vec<(usize, String)>,
    is_code: bool,
    last_line: usize,
}

impl Sentences {
    fn add(&mut self, comment: &Comment) {
        if comment.line != self.last_line + 1 {
            self.end_paragraph();
            self.is_code = false;
        }
        self.last_line = comment.line;
        let text = comment.text.trim_start_matches(['/', '!', '*']).trim();
        if text.starts_with("```") {
            self.end_paragraph();
            self.is_code = !self.is_code;
            return;
        }
        let begins_item = ["* ", "- ", "1. "].iter().any(|item| text.starts_with(item));
        let is_prose = !text.is_empty() && !text.starts_with(['#', '|', '[']) && !self.is_code;
        if !is_prose || begins_item {
            self.end_paragraph();
        }
        if is_prose {
            self.paragraph.push((comment.line, text.to_owned()));
        }
    }

    fn end_paragraph(&mut self) {
        let mut sentence = Sentence { line: 0, text: String::new() };
        let mut is_code = false;
        for (line, text) in self.paragraph.drain(..) {
            let mut characters = text.chars().peekable();
            while let Some(character) = characters.next() {
                if sentence.text.trim().is_empty() {
                    sentence.line = line;
                }
                match character {
                    '`' => {
                        is_code = !is_code;
                        if is_code {
                            sentence.text.push_str("code");
                        }
                    }
                    _ if is_code => {}
                    '.' | '?' | '!' | ':' | ';'
                        if characters.peek().is_none_or(|next| next.is_whitespace()) =>
                    {
                        let text = std::mem::take(&mut sentence.text);
                        self.all.push(Sentence { line: sentence.line, text });
                    }
                    _ => sentence.text.push(character),
                }
            }
            sentence.text.push(' ');
        }
        if !sentence.text.trim().is_empty() {
            self.all.push(sentence);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(text: &str) -> Vec<usize> {
        let source = Source::new("crates/a/src/lib.rs", text).unwrap();
        check(&source).into_iter().map(|found| found.line).collect()
    }

    #[test]
    fn a_quantity_without_a_name_is_refused() {
        assert_eq!(findings("// Waits.\n// It reads so many pages."), [2]);
        assert_eq!(findings("/// It reads\n/// as many of\n/// them."), [1]);
        assert!(findings("// It reads as many pages as `limit` says.").is_empty());
        assert_eq!(findings("// It reads as many as there are, and writes as many."), [1]);
        assert_eq!(findings("// Whoever waits is woken."), [1]);
    }

    #[test]
    fn a_long_fragment_is_refused_and_a_long_sentence_passes() {
        let fragment = "/// Bytes of the first and the last block of each column of `part`";
        assert_eq!(findings(&format!("{fragment}.")), [1]);
        assert!(findings(&format!("{fragment}, which is never empty.")).is_empty());
        assert!(findings("/// Bytes of the blocks of a column.").is_empty());
        // Two fragments of seven words each.
        assert!(
            findings("/// The first block of a wide column. The last block of a wide column.")
                .is_empty()
        );
    }

    #[test]
    fn code_and_headings_are_no_prose() {
        assert!(
            findings("/// ```\n/// so many\n/// ```\n/// # so many\n/// `so many` counts.")
                .is_empty()
        );
        assert!(findings("const A: &str = \"so many\";").is_empty());
    }

    #[test]
    fn a_test_is_named_by_what_holds() {
        assert_eq!(findings("#[test]\nfn what_is_read_is_kept() {}"), [2]);
        assert!(findings("#[test]\nfn pages_are_kept() {}\nfn what_is_read() {}").is_empty());
    }
}
