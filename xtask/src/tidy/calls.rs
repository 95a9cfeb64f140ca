//! Calls that are banned in some part of the code.

use super::finding::{Finding, Rule};
use super::source::Source;

/// A call that is banned.
struct Ban {
    /// Its tokens.
    pattern: &'static [&'static str],
    /// Where it is banned.
    place: Place,
    /// Why.
    reason: &'static str,
}

/// Parts of the code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// All crates that do not print to a terminal, with their tests but without examples.
    Libraries,
    /// All code except tests.
    Product,
    /// The engine and the algorithms, without their tests.
    AboveTheDoor,
    /// All code of tegula except the module that waits for the disk.
    BesideDurable,
    /// All code of tegula except the module that starts threads.
    BesideStart,
}

const PRINTS: &str = "a library prints nothing: return it, report it as progress, or trace it";
const DOOR: &str =
    "the engine reads through `tegula_machine::disk` only, so that budgets and faults hold";
const DURABLE: &str = "wait for the disk by `durable::sync`, so that tests see what a crash leaves";
const STARTS: &str = "start threads by `machine::threads`: the system may refuse them";
const UNWRAPS: &str = "return the error, or say with `expect` why there is none";
const SLEEPS: &str = "wait for the event itself, not for some time";
const DEBUGGING: &str = "left over from debugging";

const BANS: &[Ban] = &[
    Ban { pattern: &["println", "!"], place: Place::Libraries, reason: PRINTS },
    Ban { pattern: &["eprintln", "!"], place: Place::Libraries, reason: PRINTS },
    Ban { pattern: &["print", "!"], place: Place::Libraries, reason: PRINTS },
    Ban { pattern: &["eprint", "!"], place: Place::Libraries, reason: PRINTS },
    Ban { pattern: &["dbg", "!"], place: Place::Product, reason: DEBUGGING },
    Ban { pattern: &[".", "unwrap", "("], place: Place::Product, reason: UNWRAPS },
    Ban { pattern: &["thread", ":", ":", "sleep"], place: Place::Product, reason: SLEEPS },
    Ban { pattern: &["File", ":", ":", "open"], place: Place::AboveTheDoor, reason: DOOR },
    Ban { pattern: &["OpenOptions"], place: Place::AboveTheDoor, reason: DOOR },
    Ban { pattern: &["fs", ":", ":", "read"], place: Place::AboveTheDoor, reason: DOOR },
    Ban { pattern: &["fs", ":", ":", "read_to_string"], place: Place::AboveTheDoor, reason: DOOR },
    Ban { pattern: &["sync_all", "("], place: Place::BesideDurable, reason: DURABLE },
    Ban { pattern: &["sync_data", "("], place: Place::BesideDurable, reason: DURABLE },
    Ban { pattern: &["fsync", "("], place: Place::BesideDurable, reason: DURABLE },
    Ban { pattern: &["thread", ":", ":", "spawn"], place: Place::BesideStart, reason: STARTS },
    Ban { pattern: &["thread", ":", ":", "Builder"], place: Place::BesideStart, reason: STARTS },
    Ban { pattern: &["scope", ".", "spawn", "("], place: Place::BesideStart, reason: STARTS },
];

/// Crates that talk to a person.
const TERMINAL_CRATES: [&str; 2] = ["cli", "xtask"];
/// Crates that are not part of tegula itself.
const TOOLS: [&str; 2] = ["testkit", "xtask"];
/// Crates that read files through the reading door only.
const CRATES_ABOVE_THE_DOOR: [&str; 2] = ["engine", "algorithms"];

impl Place {
    fn contains(self, source: &Source, line: usize) -> bool {
        let is_test = source.is_test_line(line);
        match self {
            Place::Libraries => {
                !TERMINAL_CRATES.contains(&source.crate_name()) && !source.is_example()
            }
            Place::Product => !is_test,
            Place::AboveTheDoor => CRATES_ABOVE_THE_DOOR.contains(&source.crate_name()) && !is_test,
            Place::BesideDurable => {
                !is_test && source.crate_name() != "xtask" && !source.path.ends_with("/durable.rs")
            }
            Place::BesideStart => {
                let is_tool = TOOLS.contains(&source.crate_name()) || source.is_example();
                !is_test && !is_tool && !source.path.ends_with("/threads/start.rs")
            }
        }
    }
}

/// Finds banned calls.
pub fn check(source: &Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    for ban in BANS {
        for at in source.tokens.find_all(ban.pattern) {
            let line = source.tokens.line(at);
            if ban.place.contains(source, line) && !is_constant(source, at) {
                let call = ban.pattern.concat();
                let message = format!("`{}`: {}", call.trim_end_matches('('), ban.reason);
                findings.push(Finding::new(Rule::BannedCall, &source.path, line, message));
            }
        }
    }
    findings
}

/// Whether a token belongs to the value of a `const`: a failure there fails to compile.
fn is_constant(source: &Source, at: usize) -> bool {
    let tokens = &source.tokens;
    let before = (0..at).rev().take_while(|&index| !matches!(tokens.text(index), ";" | "{" | "}"));
    before.into_iter().any(|index| tokens.text(index) == "const" && tokens.text(index + 2) == ":")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(path: &str, text: &str) -> Vec<usize> {
        let source = Source::new(path, text).unwrap();
        check(&source).into_iter().map(|found| found.line).collect()
    }

    /// A use of each banned call.
    const EXAMPLES: [&str; BANS.len()] = [
        "println!()",
        "eprintln!(\"{x}\")",
        "print!()",
        "std::eprint!(x)",
        "dbg!(x)",
        "x.unwrap()",
        "std::thread::sleep(x)",
        "File::open(x)",
        "OpenOptions::new()",
        "std::fs::read(x)",
        "fs::read_to_string(x)",
        "file.sync_all()",
        "file.sync_data()",
        "rustix::fs::fsync(x)",
        "std::thread::spawn(f)",
        "thread::Builder::new()",
        "scope.spawn(f)",
    ];

    #[test]
    fn every_ban_is_enforced_and_only_where_it_holds() {
        for (ban, example) in BANS.iter().zip(EXAMPLES) {
            let code = format!("fn f() {{\n {example};\n}}");
            assert_eq!(lines("crates/engine/src/lib.rs", &code), [2], "{example}");
            let in_xtask = lines("xtask/src/main.rs", &code).len();
            assert_eq!(in_xtask, usize::from(ban.place == Place::Product), "{example}");
            let in_tests = lines("crates/engine/tests/t.rs", &code).len();
            assert_eq!(in_tests, usize::from(ban.place == Place::Libraries), "{example}");
        }
    }

    #[test]
    fn a_unit_test_may_unwrap_but_code_after_it_may_not() {
        let code = "#[cfg(test)]\nmod tests {\n fn t() { a.unwrap(); }\n}\nfn f() { a.unwrap(); }";
        assert_eq!(lines("crates/store/src/lib.rs", code), [5]);
    }

    #[test]
    fn a_constant_may_unwrap() {
        let code = "const A: NonZero<u8> = NonZero::new(8).unwrap();\nfn f() { a.unwrap(); }";
        assert_eq!(lines("crates/store/src/lib.rs", code), [2]);
    }

    #[test]
    fn an_example_may_print_but_not_unwrap() {
        let code = "fn main() {\n println!();\n a.unwrap();\n}";
        assert_eq!(lines("crates/store/examples/a.rs", code), [3]);
    }

    #[test]
    fn a_call_in_a_macro_is_seen() {
        let code = "fn f() { tracing::info!(\"{}\", a.unwrap()); }";
        assert_eq!(lines("crates/store/src/lib.rs", code), [1]);
    }

    #[test]
    fn names_that_only_begin_like_a_banned_call_pass() {
        let code =
            "fn f() { a.unwrap_or(1); fs::read_dir(p); fs::metadata(p); BlockFile::open(p); }";
        assert!(lines("crates/engine/src/lib.rs", code).is_empty());
    }
}
