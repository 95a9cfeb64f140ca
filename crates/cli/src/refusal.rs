//! Command lines that do not parse, and the help that they may ask for.

use std::error::Error;
use std::ffi::{OsStr, OsString};
use std::io::{self, IsTerminal};
use std::num::{IntErrorKind, ParseFloatError, ParseIntError};

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, CommandFactory};

use crate::command_line::Cli;
use crate::errors::{Failure, Result};
use crate::{escape, session, stdout};

/// Adds what may have been meant to an error about an unknown command.
pub fn with_choices(mut error: clap::Error, words: &[OsString]) -> clap::Error {
    if error.kind() != ErrorKind::InvalidSubcommand {
        return error;
    }
    if let Some(text) = with_run_moved(&error, words) {
        return clap::Error::raw(error.kind(), text).with_cmd(&Cli::command());
    }
    let cli = Cli::command();
    let command = words.iter().skip(1).find_map(|word| cli.find_subcommand(word)).unwrap_or(&cli);
    let names: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
    let tip = StyledStr::from(format!("choose one of: {}", names.join(", ")));
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip]));
    error
}

/// Returns a corrected command line where an algorithm stands in the place of a command, or a
/// command after `run`.
fn with_run_moved(error: &clap::Error, words: &[OsString]) -> Option<String> {
    let Some(ContextValue::String(wrong)) = error.get(ContextKind::InvalidSubcommand) else {
        return None;
    };
    let place = 1 + words.iter().skip(1).position(|word| word == wrong.as_str())?;
    let mut meant = words.to_vec();
    let what = if tegula_algorithms::find(wrong).is_some() {
        meant.insert(place, "run".into());
        "an algorithm, which `tegula run` runs"
    } else if Cli::command().find_subcommand(wrong).is_some() && words[place - 1] == "run" {
        meant.remove(place - 1);
        "a command of its own, not an algorithm"
    } else {
        return None;
    };
    // The program may have been called by a long path.
    meant[0] = "tegula".into();
    let meant: Vec<String> = meant.iter().map(|word| typed(word)).collect();
    let meant = meant.join(" ");
    Some(format!("`{wrong}` is {what}\n\n  tip: did you mean `{meant}`?\n"))
}

/// Returns a word as it is typed in a shell.
fn typed(word: &OsStr) -> String {
    let word = word.to_string_lossy();
    let is_plain = |c: char| c.is_alphanumeric() || "-_./=:,@%+".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.into_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// Replaces what Rust's parsers say of a wrong number by plain words.
pub fn in_plain_words(error: clap::Error) -> clap::Error {
    match plain_words(&error) {
        Some(words) => clap::Error::raw(error.kind(), words).with_cmd(&Cli::command()),
        None => error,
    }
}

fn plain_words(error: &clap::Error) -> Option<String> {
    let shown = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text),
        _ => None,
    };
    let (value, option) = (shown(ContextKind::InvalidValue)?, shown(ContextKind::InvalidArg)?);
    let why = why_no_number(error.source()?)?;
    let more = "For more information, try '--help'.";
    Some(format!("invalid value '{value}' for '{option}': {why}\n\n{more}\n"))
}

/// Returns why an option does not take a value as its number, if that is the cause.
fn why_no_number(cause: &(dyn Error + 'static)) -> Option<String> {
    if let Some(cause) = cause.downcast_ref::<ParseIntError>() {
        let why = match cause.kind() {
            IntErrorKind::PosOverflow => "it is too large",
            IntErrorKind::Zero => "it must be at least 1",
            // No option takes numbers below 0.
            _ => "it must be a whole number of at least 0",
        };
        return Some(why.to_owned());
    }
    if cause.is::<ParseFloatError>() {
        return Some("it is not a number".to_owned());
    }
    // The parser of ranges has no error type of its own, only this text.
    let said = cause.to_string();
    let (least, most) = said.split_once(" is not in ")?.1.split_once("..=")?;
    Some(format!("it must be from {least} to {most}"))
}

/// Prints the help that was asked for, or says what is wrong with the command line.
///
/// # Errors
/// [`Failure::Usage`], which has been reported.
pub fn answer(error: clap::Error) -> Result<()> {
    let json = session::is_json_asked_for();
    let text = error.render();
    // Help is an answer that was asked for, so it goes to standard output, and must arrive there.
    if !error.use_stderr() {
        let text =
            if io::stdout().is_terminal() { text.ansi().to_string() } else { text.to_string() };
        return stdout::write(&text).inspect_err(|failure| session::report(failure, json));
    }
    let failure = failure(error.kind(), &text.to_string());
    session::tell_program(&failure, json);
    // The message repeats words of the command line. Only its plain text can be escaped, so it is
    // printed in colour only where nothing has to be.
    if std::env::args_os().all(is_plain) {
        // In colour where the user wants that. If standard error is closed, nobody can be told.
        let _ = error.print();
    } else {
        session::to_stderr(&escape::lines(text.to_string().trim_end()));
    }
    Err(failure)
}

/// Whether a word can be shown as it is.
fn is_plain(word: OsString) -> bool {
    word.to_str().is_some_and(|word| escape::line(word) == word)
}

/// Splits clap's text into a message and help: `error: MESSAGE`, then paragraphs of tips and usage.
fn failure(kind: ErrorKind, text: &str) -> Failure {
    // The text of this error is the whole help.
    if kind == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        return Failure::usage_with("no command given", "--help lists all commands");
    }
    let joined = |part: &str| part.lines().map(str::trim).collect::<Vec<_>>().join(" ");
    let mut parts = text.trim().split("\n\n").map(joined);
    let message = parts.next().unwrap_or_default();
    let message = message.strip_prefix("error: ").unwrap_or(&message).to_owned();
    let help: Vec<String> =
        parts.filter(|part| !part.starts_with("For more information")).collect();
    Failure::Usage { message, help: Some(help.join("\n")).filter(|help| !help.is_empty()) }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[test]
    fn the_text_of_clap_becomes_a_message_and_a_hint() {
        let parts = |words: &str| {
            let words = std::iter::once("tegula").chain(words.split_whitespace());
            let error = Cli::try_parse_from(words).unwrap_err();
            match failure(error.kind(), &error.render().to_string()) {
                Failure::Usage { message, help } => (message, help),
                other => panic!("{other}"),
            }
        };
        let (message, help) = parts("info g.tegula --jsn");
        assert_eq!(message, "unexpected argument '--jsn' found");
        let help = help.unwrap();
        assert!(help.starts_with("tip: a similar argument exists: '--json'\nUsage: "), "{help}");
        let (message, help) = parts("run");
        assert_eq!(message, "no command given");
        assert_eq!(help.as_deref(), Some("--help lists all commands"));
        let (message, _) = parts("info");
        assert_eq!(message, "the following required arguments were not provided: <GRAPH>");
        let (message, _) = parts("run bfs g.tegula");
        assert!(message.ends_with("<--source <ID>|--sources <FILE>>"), "{message}");
    }

    #[test]
    fn an_algorithm_without_run_is_recognised() {
        let told = |words: &[&str]| {
            let words: Vec<OsString> = words.iter().map(OsString::from).collect();
            let error = Cli::of_words(words.clone()).unwrap_err();
            with_choices(error, &words).render().to_string()
        };
        for entry in tegula_algorithms::CATALOGUE {
            let name = entry.name;
            let expected = format!(
                "error: `{name}` is an algorithm, which `tegula run` runs\n\n  \
                 tip: did you mean `tegula run {name} g --top 3`?\n"
            );
            assert_eq!(told(&["/bin/tegula", name, "g", "--top", "3"]), expected);
        }
        let text = told(&["tegula", "--json", "bfs", "my graph", "it's"]);
        assert!(text.contains(r"`tegula --json run bfs 'my graph' 'it'\''s'`?"), "{text}");
        let text = told(&["tegula", "run", "import", "g.el", "-o", "g"]);
        assert!(text.contains("mean `tegula import g.el -o g`?"), "{text}");
        let text = told(&["tegula", "run", "fly", "g"]);
        assert!(text.contains("choose one of: pagerank, degree"), "{text}");
        let text = told(&["tegula", "fly", "g"]);
        assert!(text.contains("choose one of: import, info"), "{text}");
    }

    #[test]
    fn a_wrong_number_is_refused_in_plain_words() {
        for (words, expected) in [
            ("pagerank g --iterations -1", "it must be a whole number of at least 0"),
            ("pagerank g --top x", "it must be a whole number of at least 0"),
            ("random-walks g --walks 0", "it must be at least 1"),
            ("random-walks g --seed 18446744073709551616", "it is too large"),
            ("k-hop g --source 1 --hops -2", "it must be from 0 to 4294967295"),
            ("pagerank g --damping -0.5", "it must be a number from 0 to below 1"),
        ] {
            let words = ["tegula", "run"].into_iter().chain(words.split_whitespace());
            let error = Cli::of_words(words.map(OsString::from)).unwrap_err();
            let text = in_plain_words(error).render().to_string();
            assert!(text.contains(&format!("': {expected}\n\nFor more")), "{text}");
        }
    }
}
