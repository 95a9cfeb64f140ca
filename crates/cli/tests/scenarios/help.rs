//! The contents of `--help`, and their order.

use crate::shop::Shop;

/// Asserts that a text has these lines, in this order.
#[track_caller]
fn assert_in_order(text: &str, expected: &[&str]) {
    let mut lines = text.lines();
    for wanted in expected {
        assert!(lines.any(|line| line.trim() == *wanted), "{wanted} is missing in {text}");
    }
}

#[test]
fn options_stand_under_headings_those_of_the_algorithm_first() {
    let shop = Shop::new();
    let text = shop.tegula("run pagerank --help").done().out;
    let headings = ["Arguments:", "Options:", "Table:", "Machine:", "General options:"];
    let is_heading = |line: &&str| line.ends_with(':') && !line.starts_with(' ');
    assert_eq!(text.lines().filter(is_heading).collect::<Vec<_>>(), headings);
    let place = |words: &str| text.find(words).unwrap_or_else(|| panic!("{words} in {text}"));
    for (option, before) in [
        ("--damping", "Table:"),
        ("--output", "Machine:"),
        ("--memory", "General options:"),
        ("--resume", "General options:"),
    ] {
        assert!(place(&format!("{option} <")) < place(before), "{option}");
    }
    assert!(place("General options:") < place("--help"));
    let text = shop.tegula("run scc -h").done().out;
    assert!(!text.contains("\nOptions:"), "scc has none of its own: {text}");
}

#[test]
fn the_help_of_run_lists_algorithms_by_family() {
    let shop = Shop::new();
    let text = shop.tegula("run --help").done().out;
    let titles = ["Centrality:", "Paths and distances:", "Components:", "Communities:"];
    assert_in_order(&text, &titles);
    let place = |words: &str| text.find(words).unwrap_or_else(|| panic!("{words} in {text}"));
    let (paths, components) = (place("Paths and distances:"), place("Components:"));
    assert!((paths..components).contains(&place("  bfs ")), "{text}");
    assert!(text.contains("General options:") && text.contains("--json"), "{text}");
    assert_eq!(text, shop.tegula("help run").done().out);
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
}

#[test]
fn the_version_and_help_are_there_for_every_command() {
    let shop = Shop::new();
    for command in ["", "import", "run", "run bfs", "generate rmat", "info"] {
        let version = shop.tegula(&format!("{command} --version")).done().out;
        assert!(version.contains(env!("CARGO_PKG_VERSION")), "{command}: {version}");
        for help in ["-h", "--help"] {
            let text = shop.tegula(&format!("{command} {help}")).done().out;
            assert!(text.contains("Usage: tegula"), "{command} {help}: {text}");
        }
    }
}

#[test]
fn help_begins_with_what_the_algorithm_finds() {
    let shop = Shop::new();
    for (name, summary) in [
        ("pagerank", "PageRank: how likely"),
        ("subgraph", "Induced subgraph: "),
        ("mst", "Minimum or maximum spanning forest: "),
        ("belief-propagation", "Belief propagation: "),
    ] {
        for help in ["-h", "--help"] {
            let text = shop.tegula(&format!("run {name} {help}")).done().out;
            assert!(text.starts_with(summary), "{name}: {text}");
        }
    }
}
