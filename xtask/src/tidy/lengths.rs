//! Limits the length of files and functions, so that each can be read in one go.

use super::finding::{Finding, Rule};
use super::source::Source;

/// The most lines of a file.
const FILE_LINES_MAX: usize = 500;
/// The most lines of a file of tests, which are read one test at a time.
const TEST_FILE_LINES_MAX: usize = 800;
/// The most lines of a function, from `fn` to its closing brace.
const FUNCTION_LINES_MAX: usize = 70;

/// Finds files and functions that are too long.
pub fn check(source: &Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    let max = if source.is_test_file() { TEST_FILE_LINES_MAX } else { FILE_LINES_MAX };
    let lines = source.text.lines().count();
    if lines > max {
        let message = format!("the file has {lines} lines; {max} are enough: split it by concept");
        let finding = Finding::new(Rule::FileLength, &source.path, max + 1, message);
        findings.push(Finding { amount: lines, ..finding });
    }
    for function in source.tokens.functions() {
        let first = source.tokens.line(function.start);
        let lines = source.tokens.line(function.body.end) + 1 - first;
        if lines > FUNCTION_LINES_MAX {
            let name = &function.name;
            let message = format!(
                "the function `{name}` has {lines} lines; {FUNCTION_LINES_MAX} are enough: name its parts"
            );
            let finding = Finding::new(Rule::FunctionLength, &source.path, first, message);
            findings.push(Finding { amount: lines, ..finding });
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(path: &str, text: &str) -> Vec<(Rule, usize, usize)> {
        let source = Source::new(path, text).unwrap();
        check(&source).into_iter().map(|found| (found.rule, found.line, found.amount)).collect()
    }

    #[test]
    fn a_function_may_have_70_lines_and_no_more() {
        let function = |lines: usize| format!("\nfn f() {{{}}}\n", "\n".repeat(lines - 1));
        assert_eq!(findings("crates/a/src/lib.rs", &function(70)), []);
        let expected = [(Rule::FunctionLength, 2, 71)];
        assert_eq!(findings("crates/a/src/lib.rs", &function(71)), expected);
        assert_eq!(findings("crates/a/tests/t.rs", &function(71)), expected);
    }

    #[test]
    fn a_file_may_have_500_lines_and_one_of_tests_800() {
        assert_eq!(findings("crates/a/src/lib.rs", &"\n".repeat(500)), []);
        let long = "\n".repeat(501);
        assert_eq!(findings("crates/a/src/lib.rs", &long), [(Rule::FileLength, 501, 501)]);
        assert_eq!(findings("crates/a/src/tests.rs", &long), []);
        let very_long = "\n".repeat(801);
        assert_eq!(findings("crates/a/tests/t.rs", &very_long), [(Rule::FileLength, 801, 801)]);
    }
}
