//! Formats that state their numbers of vertices and edges are refused if they have others.

use std::path::PathBuf;

use crate::input_support::folder;
use tegula_import::input::{ColumnChoice, IdKind, Input, InputOptions};
use tegula_import::{ImportConfig, ImportReport, import};
use tegula_machine::Error as MachineError;
use tegula_machine::threads::{Cancel, Silent};
use tegula_store::{Error, Result, VERTEX_COUNT_MAX};
use tegula_testkit::input_files::put;
use tempfile::TempDir;

fn import_one(folder: &TempDir, path: PathBuf) -> Result<ImportReport> {
    let config = ImportConfig { memory: 64 << 20, force: true, ..ImportConfig::default() };
    import(&[path], &folder.path().join("g.tegula"), &config, &Silent, &Cancel::default())
}

/// Asserts that a file is refused in words that include `says`.
#[track_caller]
fn assert_refused(folder: &TempDir, path: PathBuf, says: &str) {
    match import_one(folder, path) {
        Err(error @ Error::BadInput { .. }) => {
            assert!(error.to_string().contains(says), "`{says}` is not in `{error}`");
        }
        other => panic!("it is read as {other:?}"),
    }
}

#[test]
fn graphalytics_must_match_its_stated_counts() {
    let folder = folder();
    put(&folder, "a.v", b"1\n2\n3\n9\n");
    put(&folder, "a.e", b"1 2\n2 3\n");
    let properties = |more: &str| {
        let text = format!(
            "graph.a.vertex-file = a.v\ngraph.a.edge-file = a.e\ngraph.a.directed = false\n{more}"
        );
        put(&folder, "a.properties", text.as_bytes())
    };
    let good = properties("graph.a.meta.vertices = 4\ngraph.a.meta.edges = 2\n");
    let report = import_one(&folder, good).unwrap();
    assert_eq!((report.vertices, report.edges), (4, 4));
    import_one(&folder, properties("")).unwrap();
    for (more, says) in [
        ("graph.a.meta.edges = 3\n", "declares 3 edges but has 2"),
        ("graph.a.meta.edges = 1\n", "declares 1 edge but has 2"),
        ("graph.a.meta.vertices = 5\n", "declares 5 vertices but has 4"),
        ("graph.a.meta.vertices = 3\n", "declares 3 vertices but has 4"),
        ("graph.a.meta.vertices = x\n", "`x`, not a number"),
    ] {
        assert_refused(&folder, properties(more), says);
        assert_refused(&folder, properties(more), "a.properties");
    }
    let twice = [properties(""), folder.path().join("a.e")];
    let output = folder.path().join("g.tegula");
    let config = ImportConfig { memory: 64 << 20, force: true, ..ImportConfig::default() };
    let refused = import(&twice, &output, &config, &Silent, &Cancel::default());
    let says = |error: &Error| error.to_string().contains("a.e: this input is named twice");
    assert!(refused.as_ref().is_err_and(says), "{refused:?}");
}

#[test]
fn columns_are_chosen_only_where_a_format_has_them() {
    let folder = folder();
    let pairs: Vec<u8> = [1u64, 2].iter().flat_map(|id| id.to_le_bytes()).collect();
    let matrix = "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n";
    let graphml = "<graphml><graph edgedefault='directed'><node id='1'/></graph></graphml>";
    let cases = [
        ("g.bin64", &pairs[..], true),
        ("g.mtx", matrix.as_bytes(), true),
        ("g.gr", b"p sp 2 1\na 1 2 5\n", true),
        ("g.graphml", graphml.as_bytes(), true),
        ("g.csv", b"a,b,c\n1,2,3\n", false),
        ("g.txt", b"", false),
    ];
    for (name, bytes, is_refused) in cases {
        let path = put(&folder, name, bytes);
        let source_column = Some(ColumnChoice::Position(2));
        let target_column = Some(ColumnChoice::Position(1));
        // Weights of XML have names, but that says nothing of its ends.
        let weight_column = Some(ColumnChoice::Position(3)).filter(|_| name == "g.graphml");
        let options =
            InputOptions { source_column, target_column, weight_column, ..InputOptions::default() };
        match Input::resolve(&[path], &options) {
            Err(error) if is_refused => {
                assert!(error.to_string().contains("no columns to choose from"), "{error}");
            }
            read => assert!(read.is_ok() && !is_refused, "{name}: {:?}", read.err()),
        }
    }
}

#[test]
fn gexf_must_match_its_stated_counts() {
    let folder = folder();
    let document = |nodes: &str, edges: &str| {
        let text = format!(
            "<gexf><graph defaultedgetype='directed'>\n<nodes{nodes}><node id='a'/><node id='b'/></nodes>\n\
             <edges{edges}><edge source='a' target='b'/><edge source='b' target='a' type='directed'/>\n\
             <edge source='a' target='a'/></edges>\n</graph></gexf>"
        );
        put(&folder, "g.gexf", text.as_bytes())
    };
    let report = import_one(&folder, document(" count='2'", " count='3'")).unwrap();
    assert_eq!((report.vertices, report.edges), (2, 3));
    import_one(&folder, document("", "")).unwrap();
    for (nodes, edges, says) in [
        (" count='3'", "", "line 2: `nodes` declares 3 nodes but has 2"),
        (" count='1'", "", "line 2: `nodes` declares 1 nodes but has 2"),
        ("", " count='4'", "line 3: `edges` declares 4 edges but has 3"),
        ("", " count='0'", "line 3: `edges` declares 0 edges but has 3"),
        ("", " count='many'", "`count` is `many`, not a number"),
    ] {
        assert_refused(&folder, document(nodes, edges), says);
    }
}

#[test]
fn nested_nodes_may_be_counted_or_not() {
    let folder = folder();
    let document = |count: u64| {
        let text = format!(
            "<gexf><graph><nodes count='{count}'><node id='a'><nodes count='1'><node id='b'/></nodes></node>\
             <node id='c'/></nodes><edges><edge source='a' target='b'/></edges></graph></gexf>"
        );
        put(&folder, "g.gexf", text.as_bytes())
    };
    import_one(&folder, document(2)).unwrap();
    import_one(&folder, document(3)).unwrap();
    assert_refused(&folder, document(4), "`nodes` declares 4 nodes but has 3");
}

#[test]
fn a_mutual_edge_counts_as_one_edge() {
    let folder = folder();
    let text = "<gexf><graph defaultedgetype='directed'><nodes count='2'><node id='a'/><node id='b'/></nodes>\
                <edges count='1'><edge source='a' target='b' type='mutual'/></edges></graph></gexf>";
    let path = put(&folder, "g.gexf", text.as_bytes());
    assert_eq!(import_one(&folder, path).unwrap().edges, 2);
}

#[test]
fn more_vertices_than_a_graph_may_have_are_refused_before_their_ids_are_written() {
    let folder = folder();
    let count = VERTEX_COUNT_MAX + 1;
    let matrix =
        format!("%%MatrixMarket matrix coordinate pattern general\n{count} {count} 1\n1 2\n");
    let path = put(&folder, "g.mtx", matrix.as_bytes());
    for ids in [IdKind::Integer, IdKind::String] {
        let input = InputOptions { ids, ..InputOptions::default() };
        let config = ImportConfig { input, memory: 64 << 20, ..ImportConfig::default() };
        let output = folder.path().join("g.tegula");
        let refused =
            import(std::slice::from_ref(&path), &output, &config, &Silent, &Cancel::default());
        let is_limit = |error: &Error| matches!(error, Error::Machine(MachineError::Limit { found, .. }) if *found == count);
        assert!(refused.as_ref().is_err_and(is_limit), "{ids:?}: {refused:?}");
    }
}

#[test]
fn graphml_must_match_its_stated_counts() {
    let folder = folder();
    let document = |told: &str| {
        let text = format!(
            "<graphml><graph edgedefault='directed' {told}><node id='a'/><node id='b'/>\
             <edge source='a' target='b'/></graph></graphml>"
        );
        put(&folder, "g.graphml", text.as_bytes())
    };
    import_one(&folder, document("parse.nodes='2' parse.edges='1'")).unwrap();
    assert_refused(&folder, document("parse.nodes='3'"), "`graph` declares 3 nodes but has 2");
    assert_refused(&folder, document("parse.edges='2'"), "`graph` declares 2 edges but has 1");
}
