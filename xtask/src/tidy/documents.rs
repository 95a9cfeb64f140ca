//! Documents that keep up with the code: links that lead somewhere, examples that compile.

use std::fs;
use std::path::{Path, PathBuf};

use super::finding::{Finding, Rule};
use super::source::Source;

/// Folders whose documents are checked, the root among them.
const FOLDERS: [&str; 3] = ["", "docs", "bench"];

/// Checks all documents of the workspace.
///
/// # Errors
/// Where a document cannot be read.
pub fn check(root: &Path, sources: &[Source]) -> Result<Vec<Finding>, Box<dyn std::error::Error>> {
    let mut findings = Vec::new();
    for folder in FOLDERS {
        let Ok(entries) = fs::read_dir(root.join(folder)) else { continue };
        for entry in entries {
            let name = entry?.file_name().to_string_lossy().into_owned();
            if name.ends_with(".md") {
                let path = Path::new(folder).join(&name);
                let text = fs::read_to_string(root.join(&path))?;
                let exists = |link: &Path| root.join(folder).join(link).exists();
                findings.extend(dead_links(&path.to_string_lossy(), &text, &exists));
                findings.extend(stale_examples(&path.to_string_lossy(), &text, sources));
            }
        }
    }
    Ok(findings)
}

/// Relative links to files that are not there.
fn dead_links(path: &str, text: &str, exists: &dyn Fn(&Path) -> bool) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        for link in line.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let file = link.split('#').next().unwrap_or(link);
            let is_relative = !file.is_empty() && !file.contains(':');
            if is_relative && !exists(&PathBuf::from(file)) {
                let message = format!("the link leads to `{file}`, which is not there");
                findings.push(Finding::new(Rule::StaleDocument, path, number, message));
            }
        }
    }
    findings
}

/// Rust code that is not, line for line, part of an example, which the compiler sees.
fn stale_examples(path: &str, text: &str, sources: &[Source]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut lines = text.lines().zip(1..);
    while let Some((line, number)) = lines.next() {
        if line.trim() != "```rust" {
            continue;
        }
        let code: Vec<&str> =
            lines.by_ref().map(|(line, _)| line).take_while(|line| *line != "```").collect();
        let code = code.join("\n");
        let is_example = |source: &Source| source.is_example() && source.text.contains(&code);
        if !sources.iter().any(is_example) {
            let message =
                "the code is in no file of an `examples` folder: what is not compiled goes stale";
            findings.push(Finding::new(Rule::StaleDocument, path, number, message));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_must_lead_somewhere() {
        let text =
            "[a](there.md), [b](https://x.org/), [c](#part)\n[d](there.md#part) and [e](gone.md)";
        let exists = |link: &Path| link == Path::new("there.md");
        let found = dead_links("README.md", text, &exists);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].line, 2);
    }

    #[test]
    fn code_in_a_document_must_be_compiled_somewhere() {
        let example =
            Source::new("crates/a/examples/e.rs", "//! E.\nfn main() {\n    go();\n}\n").unwrap();
        let document = |code: &str| format!("Text.\n\n```rust\n{code}\n```\n");
        let found = |code: &str| {
            stale_examples("README.md", &document(code), std::slice::from_ref(&example))
        };
        assert!(found("fn main() {\n    go();\n}").is_empty());
        assert_eq!(found("fn main() {\n    went();\n}")[0].line, 3);
    }
}
