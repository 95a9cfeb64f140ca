//! The folder of checkpoints: where it may lie, and why a run cannot use it.

use std::path::Path;

use serde_json::{Map, Value};
use tegula_store::{Error, Unresumable};
use tegula_tables::{check_is_in_no_graph, check_parent};

use crate::errors::{Failure, Result};
use crate::hints;

/// Refuses a folder that is or lies in a graph directory, and one that cannot be made.
pub fn check(path: &Path) -> Result<()> {
    check_is_in_no_graph(path)?;
    Ok(check_parent(path)?)
}

/// Rewords the failure of a run with such a folder for the command line.
pub fn explained(failure: Failure) -> Failure {
    match failure {
        Failure::Store(Error::NotResumable { path, why }) => {
            Error::NotResumable { path, why: with_options(why) }.into()
        }
        other => other,
    }
}

/// Says what a folder holds, with the options that help.
fn with_options(why: Unresumable) -> Unresumable {
    let words = match &why {
        Unresumable::NoCheckpoint => {
            Some("no undamaged checkpoint; start anew, without --resume".to_owned())
        }
        Unresumable::Checkpoints => Some(
            "checkpoints already; resume from them with --resume, or choose another folder"
                .to_owned(),
        ),
        Unresumable::OtherRun { found, wanted } => of_another_run(found, wanted),
        Unresumable::InUse | Unresumable::Other(_) => None,
    };
    words.map_or(why, Unresumable::Other)
}

/// Says which options of two runs differ, or that the algorithms do. A run is described by its
/// algorithm and its options as a JSON object.
fn of_another_run(found: &str, wanted: &str) -> Option<String> {
    let ((other, others), (this, own)) = (run_of(found)?, run_of(wanted)?);
    if other != this {
        return Some(format!("a checkpoint of {other}, but this is {this}"));
    }
    let differing: Vec<&String> =
        own.keys().filter(|&name| own.get(name) != others.get(name)).collect();
    let told = |options: &Map<String, Value>| {
        let each: Vec<String> =
            differing.iter().map(|&name| given(name, options.get(name))).collect();
        each.join(" and ")
    };
    let (then, now) = (told(&others), told(&own));
    (!differing.is_empty()).then(|| format!("a checkpoint of a run {then}, but this one is {now}"))
}

/// Parses the description of a run into its algorithm and options.
fn run_of(description: &str) -> Option<(&str, Map<String, Value>)> {
    let (algorithm, options) = description.split_once(' ')?;
    Some((algorithm, serde_json::from_str(options).ok()?))
}

/// Says how an option was given: `with --iterations 5`.
fn given(name: &str, value: Option<&Value>) -> String {
    let flag = hints::flag(name);
    match value {
        None | Some(Value::Null | Value::Bool(false)) => format!("without {flag}"),
        Some(Value::Bool(true)) => format!("with {flag}"),
        Some(Value::String(text)) => format!("with {flag} {text}"),
        Some(other) => format!("with {flag} {other}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_that_differ_are_told_and_no_others() {
        let five = r#"bfs {"cutoff":null,"depth":5,"parents":true,"source":"1"}"#;
        for (this, expected) in [
            (
                r#"bfs {"cutoff":null,"depth":5,"parents":true,"source":"2"}"#,
                "a run with --source 1, but this one is with --source 2",
            ),
            (
                r#"bfs {"cutoff":7,"depth":5,"parents":true,"source":"1"}"#,
                "a run without --cutoff, but this one is with --cutoff 7",
            ),
            (
                r#"bfs {"cutoff":null,"depth":6,"parents":false,"source":"1"}"#,
                "a run with --depth 5 and with --parents, but this one is with --depth 6 and without --parents",
            ),
            ("wcc {}", "bfs, but this is wcc"),
        ] {
            assert_eq!(of_another_run(five, this).unwrap(), format!("a checkpoint of {expected}"));
        }
        assert_eq!(of_another_run("what is no run", five), None);
    }
}
