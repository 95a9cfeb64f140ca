//! A broken rule, and where it is broken.

use std::fmt;

/// A rule of this workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// An arrow between crates that does not point down.
    CrateArrow,
    /// A dependency of the Python module that is compiled in another way for the tests.
    BesideTests,
    /// Files that import each other, too many or across folders.
    ImportCircle,
    /// A file that is too long.
    FileLength,
    /// A function that is too long.
    FunctionLength,
    /// A call that is banned in its place.
    BannedCall,
    /// A message that names an option of the command line.
    CommandLineWord,
    /// A test that is not run.
    IgnoredTest,
    /// A test that cannot fail.
    TestWithoutAssertion,
    /// `unsafe` without a comment on why it is sound.
    UnsafeWithoutSafety,
    /// A note about unfinished work.
    UnfinishedNote,
    /// A comment that has to be read twice, or the name of a test that asks.
    PlainEnglish,
    /// A document that no longer matches the code.
    StaleDocument,
    /// An exception that is not needed.
    IdleException,
}

impl Rule {
    /// The name that is printed with a finding.
    pub fn name(self) -> &'static str {
        match self {
            Rule::CrateArrow => "crate-arrow",
            Rule::BesideTests => "beside-tests",
            Rule::ImportCircle => "import-circle",
            Rule::FileLength => "file-length",
            Rule::FunctionLength => "function-length",
            Rule::BannedCall => "banned-call",
            Rule::CommandLineWord => "command-line-word",
            Rule::IgnoredTest => "ignored-test",
            Rule::TestWithoutAssertion => "test-without-assertion",
            Rule::UnsafeWithoutSafety => "unsafe-without-safety",
            Rule::UnfinishedNote => "unfinished-note",
            Rule::PlainEnglish => "plain-english",
            Rule::StaleDocument => "stale-document",
            Rule::IdleException => "idle-exception",
        }
    }
}

/// A place where a rule is broken.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// Path from the root of the workspace.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// The rule.
    pub rule: Rule,
    /// How far it is broken: the lines of a length, the files of a circle, else 1.
    pub amount: usize,
    /// What is wrong and why that matters.
    pub message: String,
}

impl Finding {
    /// A finding that counts once.
    pub fn new(
        rule: Rule,
        file: impl Into<String>,
        line: usize,
        message: impl Into<String>,
    ) -> Finding {
        Finding { file: file.into(), line, rule, amount: 1, message: message.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Finding { file, line, rule, message, .. } = self;
        write!(f, "{file}:{line}: {message} [{}]", rule.name())
    }
}
