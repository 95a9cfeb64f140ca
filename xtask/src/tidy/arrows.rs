//! Which crate may use which: an arrow always points down.

use std::path::Path;

use cargo_metadata::{DependencyKind, MetadataCommand};

use super::finding::{Finding, Rule};

/// A crate, and the crates of the workspace that it may use.
struct Floor {
    name: &'static str,
    may_use: &'static [&'static str],
}

/// The house, lowest floor first.
const HOUSE: &[Floor] = &[
    Floor { name: "tegula-machine", may_use: &[] },
    Floor { name: "tegula-store", may_use: &["tegula-machine"] },
    Floor { name: "tegula-tables", may_use: &["tegula-store", "tegula-machine"] },
    Floor { name: "tegula-import", may_use: &["tegula-tables", "tegula-store", "tegula-machine"] },
    Floor { name: "tegula-comm", may_use: &["tegula-machine"] },
    Floor { name: "tegula-engine", may_use: &["tegula-store", "tegula-machine", "tegula-comm"] },
    Floor {
        name: "tegula-algorithms",
        may_use: &[
            "tegula-engine",
            "tegula-comm",
            "tegula-import",
            "tegula-tables",
            "tegula-store",
            "tegula-machine",
        ],
    },
    Floor { name: "tegula-generators", may_use: &[] },
    Floor {
        name: "tegula-server",
        may_use: &[
            "tegula-algorithms",
            "tegula-engine",
            "tegula-tables",
            "tegula-store",
            "tegula-machine",
        ],
    },
    Floor {
        name: "tegula-cli",
        may_use: &[
            "tegula-server",
            "tegula-algorithms",
            "tegula-engine",
            "tegula-comm",
            "tegula-import",
            "tegula-tables",
            "tegula-store",
            "tegula-machine",
            "tegula-generators",
        ],
    },
    Floor {
        name: "tegula-python",
        may_use: &[
            "tegula-cli",
            "tegula-algorithms",
            "tegula-engine",
            "tegula-import",
            "tegula-tables",
            "tegula-store",
            "tegula-machine",
        ],
    },
    Floor { name: "tegula-mpi", may_use: &["tegula-cli", "tegula-comm", "tegula-machine"] },
    Floor { name: "tegula-testkit", may_use: &["tegula-generators"] },
    Floor { name: "xtask", may_use: &[] },
];

/// Crates that tests of every floor may use in addition.
const FOR_TESTS: [&str; 2] = ["tegula-testkit", "tegula-generators"];

/// The crate that makes graphs on disk, for tests of crates that may use the store.
const MAKER: &str = "tegula-import";

/// An arrow between two crates of the workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Arrow {
    manifest: String,
    from: String,
    to: String,
    for_tests: bool,
}

/// Finds crates without a floor, and arrows that do not point down.
pub fn check(root: &Path) -> Result<Vec<Finding>, Box<dyn std::error::Error>> {
    let metadata =
        MetadataCommand::new().manifest_path(root.join("Cargo.toml")).no_deps().exec()?;
    let packages = metadata.workspace_packages();
    let ours: Vec<&str> = packages.iter().map(|package| package.name.as_str()).collect();
    let mut findings = Vec::new();
    for package in &packages {
        let path = package.manifest_path.as_std_path();
        let manifest = path.strip_prefix(root).unwrap_or(path).display().to_string();
        let dependencies = package.dependencies.iter();
        let arrows = dependencies.filter(|to| ours.contains(&to.name.as_str())).map(|to| Arrow {
            manifest: manifest.clone(),
            from: package.name.to_string(),
            to: to.name.clone(),
            for_tests: to.kind == DependencyKind::Development,
        });
        findings.extend(without_floor(&manifest, package.name.as_str()));
        findings.extend(arrows.filter_map(|arrow| check_arrow(&arrow)));
    }
    Ok(findings)
}

fn without_floor(manifest: &str, name: &str) -> Option<Finding> {
    let has_floor = HOUSE.iter().any(|floor| floor.name == name);
    (!has_floor).then(|| {
        let message = format!("`{name}` has no place in the house: see xtask/src/tidy/arrows.rs");
        Finding::new(Rule::CrateArrow, manifest, 1, message)
    })
}

fn check_arrow(arrow: &Arrow) -> Option<Finding> {
    let Arrow { manifest, from, to, for_tests } = arrow;
    let floor = HOUSE.iter().find(|floor| floor.name == from)?;
    let is_for_tests = FOR_TESTS.contains(&to.as_str())
        || (to == MAKER && floor.may_use.contains(&"tegula-store"));
    let is_allowed = floor.may_use.contains(&to.as_str()) || (*for_tests && is_for_tests);
    (!is_allowed).then(|| {
        let message = if to == "tegula-testkit" {
            format!("`{from}` uses `{to}`, which is for tests: make it a dev-dependency")
        } else {
            format!("`{from}` uses `{to}`, but arrows between crates only point down")
        };
        Finding::new(Rule::CrateArrow, manifest, 1, message)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_allowed(from: &str, to: &str, for_tests: bool) -> bool {
        let (from, to) = (from.to_owned(), to.to_owned());
        check_arrow(&Arrow { manifest: String::new(), from, to, for_tests }).is_none()
    }

    #[test]
    fn the_house_is_listed_lowest_floor_first() {
        for (index, floor) in HOUSE.iter().enumerate() {
            for used in floor.may_use {
                assert!(HOUSE[..index].iter().any(|lower| lower.name == *used), "{used}");
            }
        }
    }

    #[test]
    fn an_arrow_down_passes_and_one_up_does_not() {
        assert!(is_allowed("tegula-engine", "tegula-store", false));
        assert!(!is_allowed("tegula-store", "tegula-engine", false));
        assert!(!is_allowed("tegula-store", "tegula-engine", true));
        assert!(!is_allowed("tegula-store", "tegula-generators", false));
    }

    #[test]
    fn the_testkit_is_for_tests_only() {
        assert!(is_allowed("tegula-store", "tegula-testkit", true));
        assert!(!is_allowed("tegula-store", "tegula-testkit", false));
        assert!(!is_allowed("tegula-testkit", "tegula-store", false));
    }

    #[test]
    fn tests_of_crates_that_read_graphs_may_import_some() {
        assert!(is_allowed("tegula-engine", "tegula-import", true));
        assert!(!is_allowed("tegula-engine", "tegula-import", false));
        assert!(!is_allowed("tegula-store", "tegula-import", true));
        assert!(!is_allowed("tegula-testkit", "tegula-import", true));
    }

    #[test]
    fn a_crate_without_a_floor_is_a_finding() {
        assert!(without_floor("crates/misc/Cargo.toml", "tegula-utils").is_some());
        assert!(without_floor("crates/store/Cargo.toml", "tegula-store").is_none());
    }
}
