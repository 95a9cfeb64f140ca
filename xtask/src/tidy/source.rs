//! The source files of the workspace, and what their paths tell.

use std::fs;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::tokens::Tokens;

/// A source file.
#[derive(Debug, Clone)]
pub struct Source {
    /// Path from the root of the workspace, with slashes.
    pub path: String,
    /// The whole text.
    pub text: String,
    /// Its tokens.
    pub tokens: Tokens,
    test_lines: Vec<Range<usize>>,
}

impl Source {
    /// Parses a file.
    ///
    /// # Errors
    /// Where the file is not Rust.
    pub fn new(path: &str, text: &str) -> Result<Source, String> {
        let tokens = Tokens::parse(text).map_err(|error| format!("{path} is not Rust: {error}"))?;
        let test_lines = tokens.test_lines();
        Ok(Source { path: path.to_owned(), text: text.to_owned(), tokens, test_lines })
    }

    /// Returns the folder of the crate in `crates/`, or `fuzz` or `xtask`.
    pub fn crate_name(&self) -> &str {
        let path = self.path.strip_prefix("crates/").unwrap_or(&self.path);
        path.split('/').next().unwrap_or(path)
    }

    /// Whether the whole file serves tests or measurements only.
    pub fn is_test_file(&self) -> bool {
        ["fuzz", "testkit"].contains(&self.crate_name()) || self.is_only_for_tests()
    }

    /// Whether the file is compiled for tests or measurements only. Files of `fuzz` and
    /// `testkit` are not: those are crates.
    pub fn is_only_for_tests(&self) -> bool {
        let file = self.path.rsplit('/').next().unwrap_or(&self.path);
        self.is_in_folder("tests")
            || self.is_in_folder("benches")
            || file == "tests.rs"
            || file.ends_with("_tests.rs")
    }

    /// Whether the file is an example: a program that a reader copies from.
    pub fn is_example(&self) -> bool {
        self.is_in_folder("examples")
    }

    fn is_in_folder(&self, name: &str) -> bool {
        self.path.split('/').any(|part| part == name)
    }

    /// Whether a line serves tests only.
    pub fn is_test_line(&self, line: usize) -> bool {
        self.is_test_file() || self.test_lines.iter().any(|lines| lines.contains(&line))
    }
}

/// Reads all source files of the workspace, sorted by path.
pub fn read_all(root: &Path) -> Result<Vec<Source>, Box<dyn std::error::Error>> {
    let mut paths = Vec::new();
    for folder in ["crates", "fuzz", "xtask"] {
        collect(&root.join(folder), &mut paths)?;
    }
    paths.sort();
    let mut sources = Vec::new();
    for path in paths {
        let text = fs::read_to_string(&path)?;
        let name = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().replace('\\', "/");
        sources.push(Source::new(&name, &text)?);
    }
    Ok(sources)
}

fn collect(folder: &Path, paths: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            if entry.file_name() != "target" {
                collect(&path, paths)?;
            }
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            paths.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_tells_the_crate_and_whether_it_serves_tests() {
        let of = |path: &str| Source::new(path, "").unwrap();
        assert_eq!(of("crates/store/src/tiles/mod.rs").crate_name(), "store");
        assert_eq!(of("xtask/src/main.rs").crate_name(), "xtask");
        assert!(of("crates/store/tests/read.rs").is_test_file());
        assert!(of("crates/store/src/tiles/tests.rs").is_test_file());
        assert!(of("crates/testkit/src/lib.rs").is_test_file());
        assert!(of("fuzz/src/lib.rs").is_test_file());
        assert!(!of("crates/store/src/latest.rs").is_test_file());
    }
}
