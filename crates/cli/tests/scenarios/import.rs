//! From edge lists to graph directories.

use std::io::Write;

use crate::shop::{Shop, assert_shape};

/// Two triangles, one with a loop and a duplicate, and a pair.
const EDGES: &str = "# a comment\r\n1 2\r\n2 3\n3 1\n3 1\n3 3\n10 20\n20 30\n30 10\n7 8\n";

#[test]
fn an_import_reports_itself_as_json() {
    let shop = Shop::new();
    shop.write("g.txt", EDGES);
    let report = shop.tegula("import g.txt -o g.tegula --json").done().json();
    assert_shape(
        &report,
        &[
            ("schema", "string"),
            ("vertices", "number"),
            ("edges", "number"),
            ("bytes", "number"),
            ("bytes_per_edge", "object"),
            ("seconds", "number"),
            ("peak_memory_bytes", "number"),
            ("order", "string"),
        ],
    );
    assert_shape(&report["bytes_per_edge"], &[("tiles", "number")]);
    assert_eq!(report["schema"], "tegula.import.v1");
    assert_eq!((&report["vertices"], &report["edges"]), (&8.into(), &9.into()));
    assert_eq!((&report["loops"], &report["duplicates"]), (&1.into(), &1.into()));
    assert!(report["peak_memory_bytes"].as_u64() > Some(1 << 20));
    assert_eq!(shop.names(), ["g.tegula", "g.txt"]);
}

#[test]
fn a_person_reads_the_same_on_standard_error_unless_quiet() {
    let shop = Shop::new();
    shop.write("g.txt", EDGES);
    let said = shop.tegula("import g.txt -o g.tegula").done();
    assert_eq!(said.out, "");
    for words in ["vertices", "bytes per edge", "order", "edges/s", "peak memory"] {
        assert!(said.err.contains(words), "{words} in {}", said.err);
    }
    let said = shop.tegula("import g.txt -o other.tegula --quiet").done();
    assert_eq!(said.out + &said.err, "");
}

#[test]
fn options_decide_what_is_stored() {
    let shop = Shop::new();
    shop.write("g.txt", EDGES);
    for (options, edges) in [
        ("", 9),
        ("--drop-loops", 8),
        ("--drop-duplicates", 8),
        ("--undirected", 17),
        ("--undirected --drop-loops --drop-duplicates", 14),
    ] {
        let report = shop.tegula(&format!("import g.txt -o g.tegula --force --json {options}"));
        assert_eq!(report.done().json()["edges"], edges, "{options}");
    }
    for order in ["given", "degree"] {
        let words = format!("import g.txt -o g.tegula --force --json --order {order}");
        assert_eq!(shop.tegula(&words).done().json()["order"], order);
    }
}

#[test]
fn a_format_is_known_by_its_name_and_by_its_ending() {
    let shop = Shop::new();
    shop.write("edges", "1\t2\n2\t3\n");
    shop.write("pairs", [1u32, 2, 2, 3].map(u32::to_le_bytes).concat());
    for (words, format) in [
        ("edges", "auto"),
        ("edges", "text"),
        ("edges", "el"),
        ("edges", "txt"),
        ("edges", "tsv"),
        ("pairs", "bin32"),
    ] {
        let words = format!("import {words} --format {format} -o g.tegula --force --json");
        assert_eq!(shop.tegula(&words).done().json()["vertices"], 3, "{format}");
    }
    shop.tegula("import pairs -o h.tegula").failed(3, &["pairs", "--format"]);
}

#[test]
fn several_files_folders_and_standard_input_are_one_graph() {
    let shop = Shop::new();
    shop.write("a.txt", "1 2\n");
    std::fs::create_dir(shop.path("more")).unwrap();
    shop.write("more/b.csv", "src,dst\n2,3\n");
    let report = shop.tegula("import a.txt more -o g.tegula --json").done().json();
    assert_eq!((&report["vertices"], &report["edges"]), (&3.into(), &2.into()));

    let mut child = shop.start("import - -o piped.tegula --json");
    child.stdin.take().unwrap().write_all(EDGES.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["edges"], 9);
}

#[test]
fn columns_are_found_by_the_names_given() {
    let shop = Shop::new();
    shop.write("g.csv", "cost,payer,payee\n0.5,ann,bob\n1.5,bob,cy\n");
    let words = "import g.csv -o g.tegula --json --weighted --source-column payer \
                 --target-column payee --weight-column cost";
    let report = shop.tegula(words).done().json();
    assert_eq!((&report["vertices"], &report["edges"]), (&3.into(), &2.into()));
    assert_eq!(report["ids"], "string");
    let wrong = words.replace("payer", "buyer").replace("g.tegula", "h.tegula");
    shop.tegula(&wrong).failed(3, &["g.csv", "`buyer`", "`payer`"]);
}

#[test]
fn a_graph_that_exists_is_replaced_only_by_force() {
    let shop = Shop::new();
    shop.write("a.txt", "1 2\n");
    shop.write("b.txt", "1 2\n2 3\n");
    shop.tegula("import a.txt -o g.tegula").done();
    shop.tegula("import b.txt -o g.tegula").failed(1, &["g.tegula", "--force"]);
    assert_eq!(shop.tegula("info g.tegula --json").json()["edges"], 1);
    shop.tegula("import b.txt -o g.tegula --force").done();
    assert_eq!(shop.tegula("info g.tegula --json").json()["edges"], 2);
    assert_eq!(shop.names(), ["a.txt", "b.txt", "g.tegula"]);
}
