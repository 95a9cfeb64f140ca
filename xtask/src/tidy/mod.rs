//! Style as code: rules that no compiler checks and that every reviewer would otherwise have to.
//!
//! The rules are ratcheted: [`exceptions`] names each file that broke a rule when the rule was
//! made, with a reason and a limit, which may only shrink. An exception that is no longer needed is
//! an error.

mod arrows;
mod calls;
mod circles;
mod command_line_words;
mod comments;
mod documents;
mod exceptions;
mod features;
mod finding;
mod imports;
mod lengths;
mod plain_english;
mod source;
mod tests_that_fail;
mod tokens;

use std::path::Path;

use crate::outcome::Outcome;

/// Checks the whole workspace and prints what is wrong with it.
pub fn run(root: &Path, arguments: &[String]) -> Outcome {
    if let Some(argument) = arguments.first() {
        return Err(format!("`tidy` takes no argument, but there is `{argument}`").into());
    }
    let mut findings = arrows::check(root)?;
    let sources = source::read_all(root)?;
    findings.extend(documents::check(root, &sources)?);
    findings.extend(circles::check(&sources));
    findings.extend(features::check(root)?);
    let helpers = tests_that_fail::helpers(&sources);
    for source in &sources {
        findings.extend(lengths::check(source));
        findings.extend(calls::check(source));
        findings.extend(comments::check(source));
        findings.extend(command_line_words::check(source));
        findings.extend(plain_english::check(source));
        findings.extend(tests_that_fail::check(source, &helpers));
    }
    let mut findings = exceptions::apply(exceptions::KNOWN, findings);
    findings.sort();
    for finding in &findings {
        println!("{finding}");
    }
    match findings.len() {
        0 => {
            println!("tidy: {} files, nothing to complain about", sources.len());
            Ok(())
        }
        count => Err(format!("{count} findings in {} files", sources.len()).into()),
    }
}
