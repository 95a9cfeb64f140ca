//! The files that may break a rule, how far, and why. The list may only get shorter.

use super::finding::{Finding, Rule};

/// A file that may break a rule.
#[derive(Debug, Clone, Copy)]
pub struct Exception {
    /// The rule.
    pub rule: Rule,
    /// The file, from the root of the workspace.
    pub file: &'static str,
    /// The most lines for a length, the most files for a circle, else the most findings.
    pub at_most: usize,
    /// Why that is right, or what has to happen first.
    pub reason: &'static str,
}

/// Every exception.
pub const KNOWN: &[Exception] = &[
    Exception {
        rule: Rule::BannedCall,
        file: "crates/testkit/src/data.rs",
        at_most: 1,
        reason: "a test that is skipped must say so where the developer looks",
    },
    Exception {
        rule: Rule::BannedCall,
        file: "crates/machine/src/disk/faulty.rs",
        at_most: 1,
        reason: "a slow disk is one of the faults that it stands for",
    },
    Exception {
        rule: Rule::BannedCall,
        file: "crates/machine/src/disk/unfinished.rs",
        at_most: 1,
        reason: "the wait for a lock of another process, as an event, cannot be called off",
    },
    Exception {
        rule: Rule::BannedCall,
        file: "crates/cli/src/output/patient.rs",
        at_most: 1,
        reason: "nothing but another try tells that a pipe has a reader",
    },
];

/// Removes known findings, and adds one for each exception without a use.
pub fn apply(known: &[Exception], findings: Vec<Finding>) -> Vec<Finding> {
    let mut findings = findings;
    for exception in known {
        let is_meant =
            |found: &Finding| found.rule == exception.rule && found.file == exception.file;
        let amounts = findings.iter().filter(|found| is_meant(found)).map(|found| found.amount);
        let is_size =
            matches!(exception.rule, Rule::FileLength | Rule::FunctionLength | Rule::ImportCircle);
        let amount = if is_size { amounts.max().unwrap_or(0) } else { amounts.sum() };
        if amount == 0 {
            let message = format!(
                "the exception from {} is no longer needed ({}): remove it",
                exception.rule.name(),
                exception.reason
            );
            findings.push(Finding::new(Rule::IdleException, exception.file, 1, message));
        } else if amount <= exception.at_most {
            findings.retain(|found| !is_meant(found));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exception(rule: Rule, at_most: usize) -> Exception {
        Exception { rule, file: "a.rs", at_most, reason: "for the test" }
    }

    fn finding(rule: Rule, file: &str, amount: usize) -> Finding {
        Finding { amount, ..Finding::new(rule, file, 1, "") }
    }

    #[test]
    fn known_findings_pass_and_worse_ones_do_not() {
        let known = [exception(Rule::FileLength, 600)];
        let found = |lines| apply(&known, vec![finding(Rule::FileLength, "a.rs", lines)]);
        assert_eq!(found(600), []);
        assert_eq!(found(601).len(), 1);
        let known = [exception(Rule::BannedCall, 1)];
        let calls = |count| apply(&known, vec![finding(Rule::BannedCall, "a.rs", 1); count]);
        assert_eq!(calls(1), []);
        assert_eq!(calls(2).len(), 2);
    }

    #[test]
    fn an_exception_is_for_one_file_and_one_rule() {
        let known = [exception(Rule::BannedCall, 1)];
        let own = finding(Rule::BannedCall, "a.rs", 1);
        let others =
            [finding(Rule::BannedCall, "b.rs", 1), finding(Rule::UnfinishedNote, "a.rs", 1)];
        let left = apply(&known, [own].into_iter().chain(others.clone()).collect());
        assert_eq!(left, others);
    }

    #[test]
    fn an_idle_exception_is_a_finding() {
        let left = apply(&[exception(Rule::BannedCall, 1)], Vec::new());
        assert_eq!(left.len(), 1);
        assert_eq!(left[0].rule, Rule::IdleException);
    }
}
