//! Colours, where they are wanted.

use std::io::{self, IsTerminal};

/// Colours text, or leaves it as it is.
#[derive(Debug, Clone, Copy)]
pub struct Paint {
    is_coloured: bool,
}

impl Paint {
    /// Detects whether to use colours: on a terminal that has them, unless `NO_COLOR` is set
    /// (<https://no-color.org>).
    pub fn detect() -> Paint {
        let is_refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let is_dumb = std::env::var_os("TERM").is_some_and(|terminal| terminal == "dumb");
        Paint { is_coloured: io::stdout().is_terminal() && !is_refused && !is_dumb }
    }

    /// Sets whether to use colours.
    #[cfg(test)]
    pub fn new(is_coloured: bool) -> Paint {
        Paint { is_coloured }
    }

    pub fn bold(&self, text: &str) -> String {
        self.with("1", text)
    }

    pub fn dim(&self, text: &str) -> String {
        self.with("2", text)
    }

    pub fn heading(&self, text: &str) -> String {
        self.with("1;36", text)
    }

    pub fn bar(&self, text: &str) -> String {
        self.with("36", text)
    }

    pub fn other_bar(&self, text: &str) -> String {
        self.with("35", text)
    }

    pub fn good(&self, text: &str) -> String {
        self.with("32", text)
    }

    fn with(&self, code: &str, text: &str) -> String {
        if self.is_coloured { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_left_alone_without_colours() {
        assert_eq!(Paint::new(false).bold("a"), "a");
        assert_eq!(Paint::new(true).bold("a"), "\u{1b}[1ma\u{1b}[0m");
    }
}
