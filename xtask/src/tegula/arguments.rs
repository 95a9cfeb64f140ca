//! The arguments of a task.

use std::collections::VecDeque;
use std::str::FromStr;

use super::Result;

/// The arguments that are not read yet.
pub struct Arguments<'a> {
    rest: VecDeque<&'a str>,
    usage: &'a str,
}

impl<'a> Arguments<'a> {
    /// Takes all arguments, and the usage that errors show.
    pub fn new(arguments: &'a [String], usage: &'a str) -> Arguments<'a> {
        Arguments { rest: arguments.iter().map(String::as_str).collect(), usage }
    }

    /// Returns the next option.
    pub fn next(&mut self) -> Option<&'a str> {
        self.rest.pop_front()
    }

    /// Returns the value of the option that was read last.
    ///
    /// # Errors
    /// Where there is no value, or it does not parse as `T`.
    pub fn value<T: FromStr>(&mut self, option: &str) -> Result<T> {
        let Some(text) = self.rest.pop_front() else {
            return Err(format!("{option} needs a value\n{}", self.usage).into());
        };
        text.parse().map_err(|_| format!("{option} cannot be `{text}`\n{}", self.usage).into())
    }

    /// Returns the error of an unknown option.
    pub fn unknown<T>(&self, option: &str) -> Result<T> {
        Err(format!("there is no `{option}`\n{}", self.usage).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_and_their_values_come_in_turn() {
        let words = ["--scale", "20", "--quick", "--scale", "x", "--scale"].map(String::from);
        let mut arguments = Arguments::new(&words, "usage");
        assert_eq!(arguments.next(), Some("--scale"));
        assert_eq!(arguments.value::<u32>("--scale").unwrap(), 20);
        assert_eq!(arguments.next(), Some("--quick"));
        assert_eq!(arguments.next(), Some("--scale"));
        assert!(arguments.value::<u32>("--scale").is_err());
        assert_eq!(arguments.next(), Some("--scale"));
        let error = arguments.value::<u32>("--scale").unwrap_err();
        assert_eq!(error.to_string(), "--scale needs a value\nusage");
    }
}
