//! How many edges of a list stand both ways, which matters if the graph is to be undirected.

use crate::input_support::folder;
use tegula_import::settings::DROP_DUPLICATES;
use tegula_import::{Combine, ImportConfig, ImportReport, import};
use tegula_machine::threads::{Cancel, Silent};
use tegula_testkit::input_files::put;

fn import_text(text: &str, config: &ImportConfig) -> ImportReport {
    let folder = folder();
    let path = put(&folder, "x.txt", text.as_bytes());
    let config = ImportConfig { memory: 64 << 20, ..config.clone() };
    import(&[path], &folder.path().join("g"), &config, &Silent, &Cancel::default()).unwrap()
}

fn undirected() -> ImportConfig {
    ImportConfig { undirected: true, ..ImportConfig::default() }
}

/// Whether a warning advises to drop duplicates.
fn warns(report: &ImportReport) -> bool {
    let hints = |warning: &tegula_store::Diagnostic| warning.hints.clone();
    let mut hints = report.warnings.iter().flat_map(hints);
    hints.any(|hint| format!("{:?}", hint.action).contains(DROP_DUPLICATES.option))
}

#[test]
fn the_share_of_edges_that_stand_both_ways_is_told() {
    for (text, share) in [
        ("1 2\n2 1\n2 3\n3 2\n", Some(1.0)),
        ("1 2\n2 1\n2 3\n3 4\n", Some(0.5)),
        ("1 2\n2 3\n3 1\n", Some(0.0)),
        // Loops do not count, and neither does the repeat of an edge in one direction.
        ("1 2\n1 2\n1 2\n3 3\n", Some(0.0)),
        ("1 2\n1 2\n2 1\n4 5\n", Some(2.0 / 3.0)),
        ("ann bob\nbob ann\ncy dan\ncy eve\n", Some(0.5)),
        ("1 1\n", None),
    ] {
        let config = ImportConfig {
            input: tegula_import::input::InputOptions { no_header: true, ..Default::default() },
            ..undirected()
        };
        let report = import_text(text, &config);
        assert_eq!(report.both_ways_share, share, "{text}");
        assert_eq!(warns(&report), share.is_some_and(|share| share >= 1.0 / 3.0), "{text}");
        let dropped = ImportConfig { drop_duplicates: Some(Combine::Min), ..config };
        let report = import_text(text, &dropped);
        assert_eq!(report.both_ways_share, share, "{text}");
        assert!(!warns(&report), "{text}");
        assert_eq!(
            import_text(text, &ImportConfig { undirected: false, ..dropped }).both_ways_share,
            None
        );
    }
}

#[test]
fn the_estimated_share_does_not_depend_on_threads() {
    // Nine of ten pairs of vertices have edges both ways: 18 of 19 edges.
    let mut text = String::new();
    for number in 0..200_000u64 {
        let (a, b) = (number % 1000, 1000 + number / 1000 + number % 7 * 300);
        text += &format!("{a} {b}\n");
        if number % 10 != 3 {
            text += &format!("{b} {a}\n");
        }
    }
    let shares = [1, 3].map(|threads| {
        let report = import_text(&text, &ImportConfig { threads, ..undirected() });
        assert!(warns(&report));
        report.both_ways_share.unwrap()
    });
    assert_eq!(shares[0], shares[1]);
    assert!((shares[0] - 18.0 / 19.0).abs() < 0.01, "{shares:?}");
}
