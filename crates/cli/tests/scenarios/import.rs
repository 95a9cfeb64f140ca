//! From edge lists to graph directories.

use std::fs;
use std::io::Write;
use std::os::unix::fs::symlink;

use crate::shop::{Shop, assert_shape, wait_until};

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
    let said = shop.tegula("import g.txt -o g.tegula --force --undirected").done().err;
    for words in [
        "9 (undirected, stored as 17 arcs, unweighted)",
        "duplicate arcs",
        "bytes per arc",
        "arcs/s",
    ] {
        assert!(said.contains(words), "{words} in {said}");
    }
    let said = shop.tegula("info g.tegula").done().out;
    assert!(said.contains("9 (undirected, stored as 17 arcs, unweighted)"), "{said}");
    for order in ["given", "degree", "dfs"] {
        let words = format!("import g.txt -o g.tegula --force --json --order {order}");
        assert_eq!(shop.tegula(&words).done().json()["order"], order);
    }
}

#[test]
fn the_summary_tells_whether_edges_lead_both_ways() {
    let shop = Shop::new();
    shop.write("g.txt", "1 2\n2 1\n2 3\n");
    let said = shop.tegula("import g.txt -o g.tegula").done().err;
    assert!(said.contains("3 (directed, unweighted)"), "{said}");
    assert!(!said.contains("both ways"), "{said}");
    let import = "import g.txt -o g.tegula --undirected --force";
    let said = shop.tegula(import).done().err;
    for words in [
        "3 (undirected, stored as 6 arcs, unweighted)",
        "66.7 % of the listed edges",
        "warning: 66.7 % of the edges are in the list in both directions",
        "use --drop-duplicates to keep one edge of each such pair",
    ] {
        assert!(said.contains(words), "{words} in {said}");
    }
    let report = shop.tegula(&format!("{import} --json --drop-duplicates")).done().json();
    assert_eq!(report["undirected"], true);
    assert!((report["both_ways_share"].as_f64().unwrap() - 2.0 / 3.0).abs() < 1e-12, "{report}");
    assert_eq!((&report["edges"], &report["warnings"]), (&4.into(), &serde_json::json!([])));
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
fn a_table_of_names_is_not_imported_with_its_header() {
    let shop = Shop::new();
    shop.write("m.csv", "follower,followee,kind\nann,bob,old\nbob,cy,new\n");
    shop.tegula("import m.csv -o g.tegula")
        .failed(3, &["m.csv, line 1", "`follower,followee,kind`", "--no-header"]);
    let words = "import m.csv -o g.tegula --source-column follower --target-column followee";
    let said = shop.tegula(words).done();
    assert!(said.err.contains("follower, followee (from the header)"), "{}", said.err);
    let said = shop.tegula("import m.csv -o h.tegula --no-header").done();
    assert!(said.err.contains("first two, no header"), "{}", said.err);
    assert_eq!(shop.tegula("info g.tegula --json").json()["vertices"], 3);
    assert_eq!(shop.tegula("info h.tegula --json").json()["vertices"], 5);
    shop.tegula(&format!("{words} --no-header")).failed(2, &["--no-header"]);
}

#[test]
fn the_summary_tells_which_columns_were_read() {
    let shop = Shop::new();
    std::fs::create_dir(shop.path("more")).unwrap();
    for (name, text) in [("a", "1 2 3\n"), ("b", "source,target,w\n2,3,1\n"), ("c", "3 4 1\n")] {
        shop.write(&format!("more/{name}"), text);
    }
    let said = shop.tegula("import more -o g.tegula --weighted").done();
    let words = "first three, no header in 2 files; source, target, w (from the header) in 1 file";
    assert!(said.err.contains(words), "{}", said.err);
    shop.write("pairs.bin32", [0; 8]);
    let said = shop.tegula("import pairs.bin32 -o h.tegula").done();
    assert!(!said.err.contains("columns"), "{}", said.err);
    let help = shop.tegula("import --help").done().out;
    for names in ["src, source, from, :START_ID", "dst, target, to, :END_ID", "weight, w, value"] {
        assert!(help.contains(names), "{help}");
    }
}

#[test]
fn the_summary_tells_what_the_ids_are() {
    let shop = Shop::new();
    for (text, ids) in [
        ("0 1\n1 2\n", "integers from 0, without gaps"),
        ("7 9\n", "integers"),
        ("a 9\n", "strings"),
    ] {
        shop.write("g.txt", text);
        let said = shop.tegula("import g.txt -o g.tegula --force").done();
        let line = said.err.lines().find(|line| line.trim_start().starts_with("ids"));
        assert!(line.is_some_and(|line| line.ends_with(ids)), "{}", said.err);
    }
}

#[test]
fn weights_are_32_bit_floats_and_help_says_so() {
    let shop = Shop::new();
    assert!(shop.tegula("import --help").done().out.contains("32-bit"));
    shop.write("g.wel", "1 2 0.5\n2 3 1e300\n");
    let said = shop.tegula("import g.wel -o g.tegula --weighted");
    let said = said.failed(3, &["g.wel, line 2", "`1e300` is too large", "32-bit floats"]);
    assert!(!said.err.contains("infinite"), "{}", said.err);
    shop.write("g.wel", "1 2 inf\n");
    shop.tegula("import g.wel -o g.tegula --weighted").failed(3, &["`inf` is infinite"]);
}

#[test]
fn a_header_with_usual_names_is_known_in_standard_input() {
    let shop = Shop::new();
    for text in ["source,target\n1,2\n", "from\tto\n1\t2\n", "src dst\n1 2\n"] {
        let mut child = shop.start("import - -o g.tegula --force --json");
        child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success());
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!((&report["vertices"], &report["edges"]), (&2.into(), &1.into()), "{text:?}");
    }
}

#[test]
fn names_with_quotes_come_back_as_they_were_written() {
    let shop = Shop::new();
    shop.write("g.csv", "source,target\n\"A \"\"x\"\" B\",\"c, d\"\n");
    shop.tegula("import g.csv -o g.tegula").done();
    shop.tegula("run bfs g.tegula --source c,d").failed(3, &["c,d"]);
    shop.tegula("run wcc g.tegula -o out.csv").done();
    let table = String::from_utf8(shop.read("out.csv")).unwrap();
    assert!(table.contains("\n\"A \"\"x\"\" B\","), "{table}");
    let words = "import out.csv -o back.tegula --source-column vertex --target-column component";
    let report = shop.tegula(&format!("{words} --json")).done().json();
    assert_eq!((&report["vertices"], &report["edges"]), (&2.into(), &2.into()));
}

#[test]
fn force_is_not_advised_where_it_would_not_help() {
    let shop = Shop::new();
    shop.write("g.txt", "1 2\n");
    for force in ["", "--force"] {
        let said = shop.tegula(&format!("import g.txt -o g.txt {force}"));
        let said = said.failed(1, &["g.txt", "so it is not replaced"]);
        assert!(!said.err.contains("--force"), "{}", said.err);
    }
    assert_eq!(shop.read("g.txt"), b"1 2\n");
    shop.tegula("import g.txt -o g.tegula").done();
    shop.tegula("import g.txt -o g.tegula").failed(1, &["exists already", "use --force"]);
}

#[test]
fn a_vertex_with_dropped_loops_alone_is_left_out() {
    let shop = Shop::new();
    shop.write("names.csv", "a,a\nb,c\nb,b\nd,d\n");
    shop.write("numbers.csv", "1,1\n2,3\n2,2\n4,4\n");
    for (input, first) in [("names.csv", "b"), ("numbers.csv", "2")] {
        for further in ["", "--drop-duplicates", "--undirected", "--layouts tiles,rows"] {
            let words = format!("import {input} -o g.tegula --force --no-header --drop-loops");
            let report = shop.tegula(&format!("{words} {further} --json")).done().json();
            assert_eq!(report["vertices"], 2, "{input} {further}");
            shop.tegula("verify g.tegula").done();
            let found = shop.tegula("run wcc g.tegula -o - --format csv").done().out;
            assert_eq!(found.lines().nth(1).map(|line| line.split(',').next()), Some(Some(first)));
        }
    }
}

#[test]
fn an_input_without_an_edge_has_no_figures_per_edge() {
    let shop = Shop::new();
    shop.write("none.txt", "# nothing\n");
    shop.write("loop.txt", "1 1\n");
    let said = shop.tegula("import none.txt -o g.tegula --allow-empty").done();
    assert!(said.err.contains("warning: the input has no edge"), "{}", said.err);
    assert!(!said.err.contains("per edge") && !said.err.contains("edges/s"), "{}", said.err);
    assert!(!said.err.contains("left out"), "{}", said.err);
    let said = shop.tegula("import loop.txt -o h.tegula --drop-loops").done();
    assert!(said.err.contains("all were left out"), "{}", said.err);
    for graph in ["g.tegula", "h.tegula"] {
        let shown = shop.tegula(&format!("info {graph}")).done().out;
        assert!(shown.contains("the graph has no edge"), "{shown}");
        assert!(!shown.contains("per edge") && !shown.contains("average"), "{shown}");
    }
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

#[test]
fn only_a_graph_is_replaced_and_anything_else_is_named() {
    let shop = Shop::new();
    shop.write("a.txt", "1 2\n");
    fs::create_dir(shop.path("site")).unwrap();
    shop.write("site/manifest.json", "{\"manifest_version\": 3}");
    shop.write("site/index.html", "home");
    let words = ["site holds no graph", "not replaced", "choose another name"];
    shop.tegula("import a.txt -o site --force").failed(1, &words);
    assert_eq!(shop.files("site").len(), 2);
    shop.tegula("import a.txt -o g.tegula").done();
    shop.write("g.tegula/thesis.txt", "text");
    let words = ["g.tegula also holds thesis.txt", "not replaced", "move that away"];
    shop.tegula("import a.txt -o g.tegula --force").failed(1, &words);
    assert_eq!(shop.read("g.tegula/thesis.txt"), b"text");
    fs::rename(shop.path("g.tegula/thesis.txt"), shop.path("thesis.txt")).unwrap();
    symlink("g.tegula", shop.path("link")).unwrap();
    shop.tegula("import a.txt -o link --force").failed(1, &["link is a symbolic link"]);
    assert!(shop.path("link").is_symlink());
    shop.tegula("import a.txt -o g.tegula --force").done();
    // A damaged graph still counts as a graph.
    shop.write("g.tegula/manifest.json", "");
    shop.tegula("import a.txt -o g.tegula --force").done();
    shop.tegula("verify g.tegula").done();
}

#[test]
fn a_graph_is_not_replaced_if_a_file_was_put_into_it_meanwhile() {
    let shop = Shop::new();
    shop.write("a.txt", "1 2\n");
    shop.tegula("import a.txt -o g.tegula").done();
    let graph = shop.files("g.tegula");
    // The import checks the output before it reads on, and reads on until its input ends.
    let mut child = shop.start("import - -o g.tegula --force");
    let mut input = child.stdin.take().unwrap();
    input.write_all("3 4\n".repeat(1_000_000).as_bytes()).unwrap();
    let is_at_work = || shop.names().iter().any(|name| name.starts_with(".g.tegula.unfinished-"));
    wait_until(&mut child, is_at_work);
    shop.write("g.tegula/thesis.txt", "text");
    drop(input);
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("g.tegula also holds thesis.txt"), "{said}");
    assert_eq!(shop.names(), ["a.txt", "g.tegula"]);
    assert_eq!(shop.read("g.tegula/thesis.txt"), b"text");
    fs::remove_file(shop.path("g.tegula/thesis.txt")).unwrap();
    assert!(shop.files("g.tegula") == graph);
}

#[test]
fn edges_with_the_same_ends_become_one_whose_weight_is_combined() {
    let shop = Shop::new();
    shop.write("g.wel", "1 2 0.5\n2 1 4\n1 2 0.25\n3 3 1\n1 2 2\n2 3 -1\n3 3 7\n");
    for (options, directed, undirected) in [
        ("sum", ["1 2 2.75", "2 1 4", "2 3 -1", "3 3 8"], ["6.75", "-1", "8"]),
        ("min", ["1 2 0.25", "2 1 4", "2 3 -1", "3 3 1"], ["0.25", "-1", "1"]),
        ("max", ["1 2 2", "2 1 4", "2 3 -1", "3 3 7"], ["4", "-1", "7"]),
    ] {
        let import = format!("import g.wel -o g.tegula --weighted --force --combine {options}");
        let edges = |import: &str| {
            shop.tegula(import).done();
            shop.tegula("export g.tegula -o found.wel --force").done();
            let text = String::from_utf8(shop.read("found.wel")).unwrap();
            let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
            lines.sort();
            lines
        };
        assert_eq!(edges(&import), directed, "{options}");
        let [one, two, three] = undirected;
        let mut expected = vec![format!("1 2 {one}"), format!("2 3 {two}"), format!("3 3 {three}")];
        let found = edges(&format!("{import} --undirected"));
        // An edge may be exported once or in both directions, with the same weight.
        if found.len() > 3 {
            expected.extend([format!("2 1 {one}"), format!("3 2 {two}")]);
            expected.sort();
        }
        assert_eq!(found, expected, "{options}");
    }
    let said = shop.tegula("import g.wel -o g.tegula --weighted --force --combine sum").done();
    assert!(said.err.contains("0, 3 combined") && !said.err.contains("left out"), "{}", said.err);
    shop.write("huge.wel", "1 2 3e38\n1 2 3e38\n");
    let huge = "import huge.wel -o h.tegula --weighted --combine";
    shop.tegula(&format!("{huge} sum")).failed(3, &["add up to more than 3.4e38"]);
    shop.tegula(&format!("{huge} max")).done();
    shop.tegula("import g.wel -o h.tegula --combine sum").failed(2, &["--weighted"]);
    shop.tegula("import g.wel -o h.tegula --weighted --combine sum --drop-duplicates")
        .failed(2, &["--drop-duplicates"]);
}
