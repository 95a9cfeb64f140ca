//! A file as a flat list of tokens. Rules search it for short patterns, so that they also see code
//! in macros, but neither strings nor comments.

use std::ops::Range;

use proc_macro2::{Delimiter, LexError, TokenStream, TokenTree};

/// A token: a word, one character of punctuation, a literal, or one end of a group.
#[derive(Debug, Clone)]
pub struct Token {
    /// As written; empty for a literal, because patterns do not look into literals.
    pub text: String,
    /// A literal as written, with its quotes; empty for other tokens.
    pub literal: String,
    /// The line on which it begins, from 1.
    pub line: usize,
    /// For the opening token of a group, the index of the closing one; else its own index.
    pub close: usize,
}

/// The tokens of a file.
#[derive(Debug, Clone, Default)]
pub struct Tokens(pub Vec<Token>);

/// A function with a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// The index of the token `fn`.
    pub start: usize,
    /// The indices of the tokens in its body, without the braces.
    pub body: Range<usize>,
}

impl Tokens {
    /// Parses a text.
    ///
    /// # Errors
    /// Where the text is not Rust.
    pub fn parse(text: &str) -> Result<Tokens, LexError> {
        let stream: TokenStream = text.parse()?;
        let mut tokens = Tokens::default();
        tokens.flatten(stream);
        Ok(tokens)
    }

    fn flatten(&mut self, stream: TokenStream) {
        for tree in stream {
            let line = tree.span().start().line;
            match tree {
                TokenTree::Ident(word) => self.push(word.to_string(), line),
                TokenTree::Punct(punct) => self.push(punct.as_char().to_string(), line),
                TokenTree::Literal(literal) => {
                    let (close, literal) = (self.0.len(), literal.to_string());
                    self.0.push(Token { text: String::new(), literal, line, close });
                }
                TokenTree::Group(group) => {
                    let (open, close) = match group.delimiter() {
                        Delimiter::Parenthesis => ("(", ")"),
                        Delimiter::Brace => ("{", "}"),
                        Delimiter::Bracket => ("[", "]"),
                        Delimiter::None => ("", ""),
                    };
                    let index = self.0.len();
                    self.push(open.to_owned(), group.span_open().start().line);
                    self.flatten(group.stream());
                    self.push(close.to_owned(), group.span_close().start().line);
                    self.0[index].close = self.0.len() - 1;
                }
            }
        }
    }

    fn push(&mut self, text: String, line: usize) {
        let close = self.0.len();
        self.0.push(Token { text, literal: String::new(), line, close });
    }

    /// Returns the text of a token; empty after the last one.
    pub fn text(&self, index: usize) -> &str {
        self.0.get(index).map_or("", |token| &token.text)
    }

    /// Returns the text of a token, or the literal that it is.
    fn word(&self, index: usize) -> &str {
        let Token { text, literal, .. } = &self.0[index];
        if text.is_empty() { literal } else { text }
    }

    /// Returns the line of a token.
    pub fn line(&self, index: usize) -> usize {
        self.0.get(index).map_or(0, |token| token.line)
    }

    /// Whether `pattern` occurs at `index`.
    pub fn matches(&self, index: usize, pattern: &[&str]) -> bool {
        pattern.iter().enumerate().all(|(offset, text)| self.text(index + offset) == *text)
    }

    /// Returns the indices at which a pattern occurs.
    pub fn find_all<'t>(&'t self, pattern: &'t [&str]) -> impl Iterator<Item = usize> + 't {
        (0..self.0.len()).filter(move |&index| self.matches(index, pattern))
    }

    /// Returns the body of an item: the first group in braces at or after `index`. `None` if the
    /// item ends before it.
    fn body_from(&self, index: usize) -> Option<Range<usize>> {
        let mut at = index;
        while let Some(token) = self.0.get(at) {
            match token.text.as_str() {
                "{" => return Some(at + 1..token.close),
                ";" | "}" => return None,
                "(" | "[" => at = token.close + 1,
                _ => at += 1,
            }
        }
        None
    }

    /// Returns all functions with a body, including those in macros.
    pub fn functions(&self) -> Vec<Function> {
        let is_name = |text: &str| text.starts_with(|c: char| c.is_alphabetic() || c == '_');
        let starts = self.find_all(&["fn"]).filter(|&start| is_name(self.text(start + 1)));
        starts
            .filter_map(|start| {
                let body = self.body_from(start + 2)?;
                Some(Function { name: self.text(start + 1).to_owned(), start, body })
            })
            .collect()
    }

    /// Returns the attributes right before an item whose keyword is at `index`, as tokens: `cfg`,
    /// `(`, `test` and `)` for `#[cfg(test)]`. Visibility and the like are skipped.
    pub fn attributes(&self, index: usize) -> Vec<Vec<&str>> {
        let mut attributes = Vec::new();
        let mut at = index;
        while at > 0 {
            at -= 1;
            match self.text(at) {
                "pub" | "async" | "const" | "unsafe" | "extern" | "" => {}
                "]" | ")" => {
                    let close = at;
                    let open = (0..close).rev().find(|&i| self.0[i].close == close);
                    let Some(open) = open else { break };
                    at = open;
                    if self.text(open) == "[" {
                        if open == 0 || self.text(open - 1) != "#" {
                            break;
                        }
                        at = open - 1;
                        attributes.push((open + 1..close).map(|i| self.word(i)).collect());
                    }
                }
                _ => break,
            }
        }
        attributes
    }

    /// Returns the lines that are compiled for tests only: items under `#[cfg(test)]` and
    /// `#[test]`.
    pub fn test_lines(&self) -> Vec<Range<usize>> {
        let cfg = self.find_all(&["#", "[", "cfg", "(", "test", ")", "]"]).map(|at| at + 7);
        let test = self.find_all(&["#", "[", "test", "]"]).map(|at| at + 4);
        cfg.chain(test)
            .filter_map(|at| {
                let body = self.body_from(at)?;
                Some(self.line(at)..self.line(body.end) + 1)
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_found_wherever_they_are() {
        let text = "trait T { fn none(); fn f<const N: usize>(x: [u8; N]) where u8: Copy { a() } }\n\
                    my_macro! { fn inner() { } } type F = fn(u8);";
        let tokens = Tokens::parse(text).unwrap();
        let names: Vec<_> = tokens.functions().into_iter().map(|f| f.name).collect();
        assert_eq!(names, ["f", "inner"]);
    }

    #[test]
    fn strings_and_comments_are_no_tokens() {
        let tokens = Tokens::parse("// x.unwrap()\nlet s = \"x.unwrap()\"; y.unwrap()").unwrap();
        let lines: Vec<_> =
            tokens.find_all(&[".", "unwrap", "("]).map(|at| tokens.line(at)).collect();
        assert_eq!(lines, [2]);
    }

    #[test]
    fn attributes_are_read_backwards_past_visibility() {
        let tokens = Tokens::parse("x; #[cfg(test)] #[inline] pub(crate) const fn f() {}").unwrap();
        let start = tokens.functions()[0].start;
        assert_eq!(tokens.attributes(start), [vec!["inline"], vec!["cfg", "(", "test", ")"]]);
        let tokens = Tokens::parse("#[ignore = \"long\"] fn f() {}").unwrap();
        let start = tokens.functions()[0].start;
        assert_eq!(tokens.attributes(start), [vec!["ignore", "=", "\"long\""]]);
    }

    #[test]
    fn lines_of_tests_end_with_their_item() {
        let text = "fn a() {}\n#[cfg(test)]\nmod tests {\n fn b() {}\n}\nfn c() {}\n\
                    #[cfg(test)]\nmod other;\nfn d() {\n}";
        let lines = Tokens::parse(text).unwrap().test_lines();
        assert_eq!((lines.len(), lines[0].clone()), (1, 3..6));
    }
}
