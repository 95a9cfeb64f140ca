//! Tests must run, and must be able to fail.

use std::collections::BTreeSet;

use super::finding::{Finding, Rule};
use super::source::Source;
use super::tokens::{Function, Tokens};

/// Words that make a test fail when something is wrong.
const ASSERTIONS: [&str; 8] =
    ["unwrap", "unwrap_err", "expect", "expect_err", "panic", "unreachable", "should_panic", "?"];
/// Prefixes of functions and macros that make a test fail.
const ASSERTION_PREFIXES: [&str; 6] =
    ["assert", "debug_assert", "prop_assert", "check_", "verify_", "round_trip"];

/// Returns the names of test functions that assert something themselves, in any file. A function
/// that merely unwraps what it sets up is none.
pub fn helpers(sources: &[Source]) -> BTreeSet<String> {
    let asserts = |source: &Source, function: &Function| {
        let mut words = function.body.clone().map(|at| source.tokens.text(at));
        function.name != "new" && words.any(|word| word.starts_with("assert") || word == "panic")
    };
    let mut helpers = BTreeSet::new();
    for source in sources {
        for function in source.tokens.functions() {
            let is_in_test = source.is_test_line(source.tokens.line(function.start));
            if is_in_test && asserts(source, &function) {
                helpers.insert(function.name);
            }
        }
    }
    helpers
}

/// Finds tests that are ignored or cannot fail.
pub fn check(source: &Source, helpers: &BTreeSet<String>) -> Vec<Finding> {
    let tokens = &source.tokens;
    let mut findings = Vec::new();
    for function in tokens.functions() {
        let attributes = tokens.attributes(function.start);
        let has = |name: &str| attributes.iter().any(|words| words.first() == Some(&name));
        let (line, name) = (tokens.line(function.start), &function.name);
        // `make test-long` runs these.
        let is_long = attributes.iter().any(|words| words == &["ignore", "=", "\"long\""]);
        if has("ignore") && !is_long {
            let message = format!("the test `{name}` is ignored, and not as \"long\": run it");
            findings.push(Finding::new(Rule::IgnoredTest, &source.path, line, message));
        }
        if has("test") && !has("should_panic") && !can_fail(tokens, &function, helpers) {
            let message = format!("the test `{name}` asserts nothing, so it cannot fail");
            findings.push(Finding::new(Rule::TestWithoutAssertion, &source.path, line, message));
        }
    }
    findings.extend(discarded_matches(source));
    findings
}

fn can_fail(tokens: &Tokens, function: &Function, helpers: &BTreeSet<String>) -> bool {
    function.body.clone().map(|at| tokens.text(at)).any(|word| {
        ASSERTIONS.contains(&word)
            || helpers.contains(word)
            || ASSERTION_PREFIXES.iter().any(|prefix| word.starts_with(prefix))
    })
}

fn discarded_matches(source: &Source) -> Vec<Finding> {
    let tokens = &source.tokens;
    let is_discarded = |at: &usize| {
        // `let _ =` hides the value, but does no more with it.
        let is_hidden =
            *at >= 3 && ["let", "_", "="].into_iter().eq((at - 3..*at).map(|it| tokens.text(it)));
        let first = if is_hidden { at - 3 } else { *at };
        let before = first.checked_sub(1).map_or(";", |before| tokens.text(before));
        let behind = tokens.text(tokens.0[at + 2].close + 1);
        matches!(before, ";" | "{" | "}") && behind == ";"
    };
    let message = "the value of `matches!` is discarded: assert it";
    let found = tokens
        .find_all(&["matches", "!", "("])
        .filter(is_discarded)
        .map(|at| Finding::new(Rule::TestWithoutAssertion, &source.path, tokens.line(at), message));
    found.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(text: &str) -> Vec<(Rule, usize)> {
        let source = Source::new("crates/a/src/tests.rs", text).unwrap();
        let helpers = helpers(std::slice::from_ref(&source));
        check(&source, &helpers).into_iter().map(|found| (found.rule, found.line)).collect()
    }

    #[test]
    fn a_test_without_an_assertion_is_found() {
        let missing = [(Rule::TestWithoutAssertion, 2)];
        assert_eq!(findings("#[test]\nfn f() { g(); }"), missing);
        assert_eq!(findings("proptest! { #[test]\nfn f(x in 0..9) { g(x); } }"), missing);
        assert_eq!(findings("#[test]\nfn f() { g(\"assert!(x)\"); }"), missing);
        assert_eq!(findings("fn no_test() { g(); }"), []);
    }

    #[test]
    fn every_way_to_fail_counts() {
        for body in [
            "assert_eq!(a, b);",
            "prop_assert!(a);",
            "a.unwrap();",
            "a.expect(\"it is there\");",
            "a?;",
            "check_answer(a);",
            "verify_bfs(a);",
            "round_trip(a);",
        ] {
            assert_eq!(findings(&format!("#[test]\nfn f() {{ {body} }}")), []);
        }
        assert_eq!(findings("#[test]\n#[should_panic(expected = \"x\")]\nfn f() { g(); }"), []);
    }

    #[test]
    fn a_helper_that_asserts_counts_and_one_that_only_sets_up_does_not() {
        let test = "#[test]\nfn f() { g(); }";
        assert_eq!(findings(&format!("{test} fn g() {{ assert!(a); }}")), []);
        let missing = [(Rule::TestWithoutAssertion, 2)];
        assert_eq!(findings(&format!("{test} fn g() {{ a.unwrap(); }}")), missing);
    }

    #[test]
    fn an_ignored_test_is_found() {
        let ignored = [(Rule::IgnoredTest, 2)];
        assert_eq!(findings("#[test] #[ignore]\nfn f() { assert!(a); }"), ignored);
        assert_eq!(findings("#[ignore = \"slow\"] #[test]\nfn f() { assert!(a); }"), ignored);
        assert_eq!(findings("#[ignore = \"long\"] #[test]\nfn f() { assert!(a); }"), []);
    }

    #[test]
    fn a_discarded_match_is_found() {
        let code = "#[test]\nfn f() { a.unwrap();\n matches!(a, Some(_));\n}";
        assert_eq!(findings(code), [(Rule::TestWithoutAssertion, 3)]);
        let hidden = "#[test]\nfn f() { a.unwrap();\n let _ = matches!(a, Some(_));\n}";
        assert_eq!(findings(hidden), [(Rule::TestWithoutAssertion, 3)]);
        assert_eq!(findings("fn f() -> bool { matches!(a, Some(_)) }"), []);
        assert_eq!(findings("fn f() { let _a = matches!(a, Some(_)); g(_a); }"), []);
    }
}
