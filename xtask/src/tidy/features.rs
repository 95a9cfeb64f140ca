//! Whether the Python module finds its dependencies compiled after the tests.
//!
//! `make test` builds the module last, with the feature `beside-tests`. It does so in seconds only
//! if its dependencies are compiled in the same way for the tests: with the same features, and for
//! the same use. Cargo compiles a dependency that only macros and build scripts use in another way
//! than one that programs use as well. Where anything differs, it compiles nearly all crates once
//! more, without a word.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use super::finding::{Finding, Rule};

const MANIFEST: &str = "crates/python/Cargo.toml";
const MODULE: [&str; 2] = ["--package=tegula-python", "--features=beside-tests"];

/// Finds dependencies of the module that are compiled in another way for the tests.
pub fn check(root: &Path) -> Result<Vec<Finding>, Box<dyn std::error::Error>> {
    let module = Dependencies::of(root, &MODULE, "")?;
    let tests = Dependencies::of(root, &["--workspace"], ",dev")?;
    Ok(module.unlike(&tests))
}

/// Dependencies, each with its version and features.
struct Dependencies {
    all: BTreeSet<String>,
    /// Those of programs. Only macros and build scripts use the others.
    of_programs: BTreeSet<String>,
}

impl Dependencies {
    fn of(root: &Path, what: &[&str], dev: &str) -> Result<Self, Box<dyn std::error::Error>> {
        let all = tree(root, what, &format!("normal,build{dev}"))?;
        let of_programs = tree(root, what, &format!("normal,no-proc-macro{dev}"))?;
        Ok(Dependencies { all, of_programs })
    }

    fn unlike(&self, tests: &Dependencies) -> Vec<Finding> {
        let others = self.all.difference(&tests.all);
        let not_of_programs = self.all.difference(&self.of_programs);
        let turned = not_of_programs.filter(|dependency| tests.of_programs.contains(*dependency));
        let finding = |dependency: &String| {
            let message = format!(
                "the tests need `{dependency}` in another way than the module: let `beside-tests` \
                 bring the crate that makes the difference",
            );
            Finding::new(Rule::BesideTests, MANIFEST, 1, message)
        };
        others.chain(turned).map(finding).collect()
    }
}

fn tree(
    root: &Path,
    what: &[&str],
    edges: &str,
) -> Result<BTreeSet<String>, Box<dyn std::error::Error>> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.current_dir(root).args(["tree", "--locked", "--prefix=none", "--format={p} {f}"]);
    let output = command.args(["--edges", edges]).args(what).output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    let text = String::from_utf8(output.stdout)?;
    // A star marks a repetition. The module itself is not among the tests.
    let lines = text.lines().map(|line| line.trim_end_matches(" (*)").trim_end());
    Ok(lines.filter(|line| !line.starts_with("tegula-python ")).map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dependencies(all: &[&str], of_programs: usize) -> Dependencies {
        let set = |lines: &[&str]| lines.iter().map(|&line| line.to_owned()).collect();
        Dependencies { all: set(all), of_programs: set(&all[..of_programs]) }
    }

    #[test]
    fn a_dependency_that_the_tests_need_in_another_way_is_a_finding() {
        let tests = dependencies(&["libc v0.2.1 std", "rustix v1.1.0 fs,time", "syn v3.0.0"], 2);
        for (all, of_programs, found) in [
            (&["libc v0.2.1 std", "syn v3.0.0"], 1, None),
            (&["libc v0.2.1 std", "rustix v1.1.0 fs"], 2, Some("rustix v1.1.0 fs")),
            (&["rustix v1.1.0 fs,time", "libc v0.2.1 std"], 1, Some("libc v0.2.1 std")),
        ] {
            let findings = dependencies(all, of_programs).unlike(&tests);
            let messages: Vec<&str> = findings.iter().map(|it| it.message.as_str()).collect();
            assert_eq!(messages.len(), usize::from(found.is_some()), "{messages:?}");
            let is_named = |name: &str| messages[0].contains(&format!("`{name}`"));
            assert!(found.is_none_or(is_named), "{messages:?}");
        }
    }
}
