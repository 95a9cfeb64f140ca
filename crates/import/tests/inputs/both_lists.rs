//! Undirected graphs as lists of neighbours: an edge must be in the lists of both its ends, with
//! the same weight.

use std::fmt::Write;
use std::path::Path;

use crate::input_support::folder;
use tegula_import::settings::UNDIRECTED;
use tegula_import::{ImportConfig, ImportReport, import};
use tegula_machine::threads::{Cancel, Silent};
use tegula_store::{Error, Hint, Result};
use tegula_testkit::input_files::put;

fn import_lists(path: &Path, weighted: bool, threads: usize) -> Result<ImportReport> {
    let folder = folder();
    let mut config =
        ImportConfig { memory: 64 << 20, threads, undirected: true, ..ImportConfig::default() };
    config.input.weighted = weighted;
    let output = folder.path().join("g.tegula");
    import(&[path.to_owned()], &output, &config, &Silent, &Cancel::default())
}

/// Asserts that lists are refused in words that include `says`.
#[track_caller]
fn assert_refused(name: &str, bytes: &[u8], weighted: bool, says: &str) -> Vec<Hint> {
    let folder = folder();
    let path = put(&folder, name, bytes);
    let mut hints = Vec::new();
    for threads in [1, 3] {
        match import_lists(&path, weighted, threads) {
            Err(Error::BadInput { place, problem }) => {
                assert_eq!(place.file, path);
                assert!(problem.message.contains(says), "`{says}` is not in `{problem}`");
                hints = problem.hints;
            }
            other => panic!("{name} is read as {other:?}"),
        }
    }
    hints
}

#[test]
fn an_edge_in_one_list_alone_is_refused_and_its_ends_are_named() {
    for (text, says) in [
        ("3 2\n2 3\n1\n2\n", ["1 has the neighbour 3,", "3 has the neighbour 2,"]),
        ("3 2\n2\n3\n2\n", ["1 has the neighbour 2,"; 2]),
        ("3 2\n2\n1 3\n\n", ["2 has the neighbour 3,"; 2]),
        ("3 2\n2\n1 3\n", ["2 has the neighbour 3,"; 2]),
        ("3 2\n2\n\n1\n", ["1 has the neighbour 2,", "3 has the neighbour 1,"]),
    ] {
        let folder = folder();
        let path = put(&folder, "x.graph", text.as_bytes());
        let error = import_lists(&path, false, 2).expect_err(text).to_string();
        assert!(says.iter().any(|says| error.contains(says)), "{text}: {error}");
    }
    let hints = assert_refused("x.graph", b"3 2\n2\n3\n2\n", false, "in the lists of both");
    assert_eq!(hints.len(), 1);
    assert_eq!(hints[0].action, Hint::leave_out(UNDIRECTED.option).action);
}

#[test]
fn an_edge_with_two_weights_is_refused() {
    let text = b"2 1 1\n2 5\n1 6\n";
    assert_refused("x.graph", text, true, "with the weight ");
    let folder = folder();
    // Weights that are not read are not compared.
    let path = put(&folder, "x.graph", text);
    assert_eq!(import_lists(&path, false, 1).unwrap().edges, 2);
    let path = put(&folder, "y.graph", b"2 1 1\n2 -0\n1 0\n");
    assert_eq!(import_lists(&path, true, 1).unwrap().edges, 2);
    // A weight of 0 is a weight.
    assert_refused("z.graph", b"2 1 1\n2 0\n1 5\n", true, "with the weight ");
}

/// A METIS ring of `count` vertices with chords, without the arcs for which `is_left_out` is true.
fn ring(count: u64, is_left_out: impl Fn(u64, u64) -> bool) -> String {
    let mut text = format!("{count} {}\n", 2 * count);
    for vertex in 0..count {
        for step in [1, count - 1, 7, count - 7] {
            let neighbour = (vertex + step) % count;
            if !is_left_out(vertex + 1, neighbour + 1) {
                write!(text, "{} ", neighbour + 1).unwrap();
            }
        }
        text.push('\n');
    }
    text
}

#[test]
fn one_of_many_mentions_that_is_missing_is_found() {
    let folder = folder();
    let path = put(&folder, "whole.graph", ring(100_000, |_, _| false).as_bytes());
    assert_eq!(import_lists(&path, false, 3).unwrap().edges, 400_000);
    let text = ring(100_000, |source, target| (source, target) == (70_008, 70_001));
    assert_refused("x.graph", text.as_bytes(), false, "70001 has the neighbour 70008, but 70008");
}

#[test]
fn an_error_names_two_ends_for_any_number_of_missing_mentions() {
    for share in [2, 3, 10, 1000, 50_000] {
        let text = ring(100_000, |source, target| source > target && target % share == 1);
        let folder = folder();
        let path = put(&folder, "x.graph", text.as_bytes());
        let error = import_lists(&path, false, 2).expect_err("lists differ").to_string();
        let (_, rest) = error.split_once(": ").unwrap();
        let ends: Vec<u64> =
            rest.split(' ').filter_map(|w| w.trim_end_matches(',').parse().ok()).collect();
        assert!(ends[0] < ends[1] && ends[0] % share == 1 % share, "{error}");
        let apart = ends[1] - ends[0];
        assert!([1, 7, 99_999, 99_993].contains(&apart), "{error}");
    }
}

/// A serialized undirected graph of GAPBS.
fn serialized(lists: &[&[u32]]) -> Vec<u8> {
    let edges: usize = lists.iter().map(|list| list.len()).sum();
    let mut bytes = vec![0];
    bytes.extend([edges as u64, lists.len() as u64, 0].map(u64::to_le_bytes).as_flattened());
    let mut offset = 0;
    for list in lists {
        offset += list.len() as u64;
        bytes.extend(offset.to_le_bytes());
    }
    bytes.extend(lists.concat().into_iter().flat_map(u32::to_le_bytes));
    bytes
}

#[test]
fn serialized_graphs_whose_lists_differ_are_refused() {
    let folder = folder();
    let path = put(&folder, "x.sg", &serialized(&[&[1], &[0, 2], &[1]]));
    assert_eq!(import_lists(&path, false, 1).unwrap().edges, 4);
    let hints =
        assert_refused("x.sg", &serialized(&[&[1], &[2], &[1]]), false, "0 has the neighbour 1");
    assert_eq!(hints, []);
}
