//! Checks that documents match the code: links lead to files, and examples are compiled.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::finding::{Finding, Rule};
use super::source::Source;

/// Folders of the checked documents; the first is the root.
const FOLDERS: [&str; 5] = ["", "docs", "docs/architecture", "bench", "fuzz"];

/// Checks all documents of the workspace.
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
                let is_crate = |name: &str| root.join("crates").join(name).is_dir();
                findings.extend(missing_dependencies(&path.to_string_lossy(), &text, &is_crate));
            }
        }
    }
    Ok(findings)
}

/// Finds relative links to missing files.
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

/// Finds Rust code that no example contains line for line; examples are compiled.
fn stale_examples(path: &str, text: &str, sources: &[Source]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (number, code) in blocks(text, "rust") {
        let is_example = |source: &Source| source.is_example() && source.text.contains(&code);
        if !sources.iter().any(is_example) {
            let message =
                "the code is in no file of an `examples` folder: what is not compiled goes stale";
            findings.push(Finding::new(Rule::StaleDocument, path, number, message));
        }
    }
    findings
}

/// Finds packages that do not depend on just the crates of this workspace that the code after them
/// names.
fn missing_dependencies(path: &str, text: &str, is_crate: &dyn Fn(&str) -> bool) -> Vec<Finding> {
    let mut findings = Vec::new();
    let packages = blocks(text, "toml").filter(|(_, package)| package.contains("[dependencies]"));
    for (number, package) in packages {
        let declared: BTreeSet<String> = package.lines().filter_map(crate_by_path).collect();
        let code = blocks(text, "rust").find(|(other, _)| *other > number);
        let used = code.map_or_else(BTreeSet::new, |(_, code)| crates_named_in(&code));
        if declared != used || !declared.iter().all(|name| is_crate(name)) {
            let message = format!(
                "the package depends on {declared:?} by path, but the code behind it uses {used:?}"
            );
            findings.push(Finding::new(Rule::StaleDocument, path, number, message));
        }
    }
    findings
}

/// Returns the blocks of code in a language, each with the number of its first line.
fn blocks<'t>(text: &'t str, language: &'t str) -> impl Iterator<Item = (usize, String)> + 't {
    let mut lines = text.lines().zip(1..);
    std::iter::from_fn(move || {
        let fence = |line: &str| line.trim().strip_prefix("```") == Some(language);
        let (_, number) = lines.find(|(line, _)| fence(line))?;
        let code: Vec<&str> =
            lines.by_ref().map(|(line, _)| line).take_while(|line| *line != "```").collect();
        Some((number, code.join("\n")))
    })
}

/// Returns the crate that a dependency by path names, if its path ends in the same name.
fn crate_by_path(line: &str) -> Option<String> {
    let (name, value) = line.split_once('=')?;
    let name = name.trim().strip_prefix("tegula-")?;
    value.contains(&format!("/crates/{name}\"")).then(|| name.to_owned())
}

/// Returns the crates of this workspace that code names.
fn crates_named_in(code: &str) -> BTreeSet<String> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let words = code.split(|c| !is_part(c));
    words.filter_map(|word| word.strip_prefix("tegula_")).map(str::to_owned).collect()
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

    #[test]
    fn a_package_in_a_document_depends_on_what_its_code_uses() {
        let document = |path: &str, used: &str| {
            let package = format!("[dependencies]\ntegula-engine = {{ path = \"{path}\" }}");
            format!("Text.\n\n```toml\n{package}\n```\n\n```rust\nuse {used};\n```\n")
        };
        let found = |path: &str, used: &str| {
            missing_dependencies("README.md", &document(path, used), &|name| name == "engine")
        };
        assert!(found("../tegula/crates/engine", "tegula_engine::Graph").is_empty());
        assert_eq!(found("../tegula/crates/engines", "tegula_engine::Graph")[0].line, 3);
        assert_eq!(found("../tegula/crates/engine", "tegula_machine::Error").len(), 1);
        let elsewhere = document("../tegula/crates/engine", "tegula_engine::Graph");
        assert_eq!(missing_dependencies("README.md", &elsewhere, &|_| false).len(), 1);
    }
}
