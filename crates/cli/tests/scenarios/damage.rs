//! Graph directories that are newer, incomplete or damaged: the fault is found and named, and no
//! answer is ever wrong. Also the smallest possible graphs.

use std::collections::BTreeMap;
use std::fs;

use tegula_testkit::{XorShift, edit_manifest};

use crate::shop::{Said, Shop};

/// The runs on each graph.
const RUNS: [&str; 5] = [
    "run pagerank g.tegula --iterations 5",
    "run bfs g.tegula --source 1 --parents --executor scan",
    "run wcc g.tegula",
    "run bfs g.tegula --source 1 --parents --executor seek",
    "run sssp g.tegula --source 1 --executor seek",
];
/// Bits flipped per file.
const FLIPS: u64 = 12;

/// Returns a graph with all files that the options ask for.
fn graph(options: &str) -> Shop {
    let shop = Shop::new();
    shop.tegula("generate rmat --scale 10 --weighted --seed 4 -o g.wel").done();
    shop.tegula(&format!("import g.wel -o g.tegula --layouts tiles,rows --order degree {options}"))
        .done();
    // Vertex 1 must have edges, so that searches reach many vertices.
    assert!(shop.tegula(RUNS[1]).done().out.lines().count() > 500);
    shop
}

/// Returns graphs that together have every kind of file.
fn graphs() -> [Shop; 2] {
    [graph("--ids integer --row-encoding ceesor --grid 8,7"), graph("--ids string --weighted")]
}

/// Asserts that a graph is refused with the name of the damaged file.
#[track_caller]
fn assert_refused(said: Said, name: &str) {
    said.failed(3, &["g.tegula", name]);
}

#[test]
fn a_newer_format_is_refused_with_both_versions() {
    let shop = graph("");
    // A newer version may have other fields than this one.
    for newer in [
        |body: &str| body.replace("\"format_version\": 8,", "\"format_version\": 12,"),
        |_: &str| "{\"format_version\": 12, \"shards\": [\"here\", \"there\"]".to_owned(),
    ] {
        edit_manifest(&shop.path("g.tegula"), newer);
        for command in ["info g.tegula", "verify g.tegula"].into_iter().chain(RUNS) {
            let said = shop.tegula(command);
            said.failed(3, &["g.tegula", "version 12", "reads version 11", "newer tegula"]);
        }
    }
}

#[test]
fn an_older_format_is_refused_with_what_to_do_and_may_be_replaced() {
    let shop = graph("");
    for older in ["{\"format_version\": 7, \"arrays\": \"packed\"", "{\"format_version\": 3"] {
        edit_manifest(&shop.path("g.tegula"), |_| older.to_owned());
        for command in ["info g.tegula", "verify g.tegula"].into_iter().chain(RUNS) {
            let said = shop.tegula(command);
            said.failed(3, &["g.tegula", "reads version 11", "import its edge list again"]);
        }
    }
    shop.tegula("import g.wel -o g.tegula --force").done();
    shop.tegula("verify g.tegula").done();
}

#[test]
fn a_manifest_is_json_as_others_read_it() {
    let shop = graph("--ids string");
    let manifest: serde_json::Value =
        serde_json::from_slice(&shop.read("g.tegula/manifest.json")).unwrap();
    assert_eq!((&manifest["format_version"], &manifest["ids"]), (&8.into(), &"string".into()));
    assert_eq!(manifest["crc32c"].as_str().unwrap().len(), 8);
}

#[test]
fn a_manifest_that_was_changed_by_hand_is_named() {
    let shop = graph("--ids integer");
    edit_manifest(&shop.path("g.tegula"), |body| body.replace("\"loops\": ", "\"loops\": 1"));
    shop.tegula("verify g.tegula").failed(3, &["manifest.json", "`loops`", "it says 1"]);
}

#[test]
fn any_missing_file_is_named() {
    for shop in graphs() {
        for (name, bytes) in shop.files("g.tegula") {
            let path = format!("g.tegula/{name}");
            fs::remove_file(shop.path(&path)).unwrap();
            for command in ["info g.tegula", "verify g.tegula"].into_iter().chain(RUNS) {
                assert_refused(shop.tegula(command), &name);
            }
            shop.write(&path, bytes);
        }
        shop.tegula("verify g.tegula").done();
    }
}

#[test]
fn a_file_that_is_cut_off_or_too_long_is_named() {
    for shop in graphs() {
        for (name, bytes) in shop.files("g.tegula") {
            let path = format!("g.tegula/{name}");
            let length = bytes.len();
            for cut in [0, 1, 31, 32, length / 2, length - 33, length - 1] {
                shop.write(&path, &bytes[..cut]);
                assert_refused(shop.tegula("verify g.tegula"), &name);
                assert_refused(shop.tegula(RUNS[0]), &name);
            }
            for more in [vec![0], bytes.clone()] {
                shop.write(&path, [bytes.clone(), more].concat());
                assert_refused(shop.tegula("verify g.tegula"), &name);
                assert_refused(shop.tegula(RUNS[0]), &name);
            }
            shop.write(&path, bytes);
        }
    }
}

#[test]
#[ignore = "long"]
fn a_flipped_bit_leads_to_an_error_or_has_no_effect_on_any_run() {
    let mut random = XorShift::new(4);
    for shop in graphs() {
        let right = RUNS.map(|words| shop.tegula(words).done().out);
        let mut found = BTreeMap::new();
        for (name, bytes) in shop.files("g.tegula") {
            let path = format!("g.tegula/{name}");
            for _ in 0..FLIPS {
                let bit = random.below(8 * bytes.len() as u64);
                let mut damaged = bytes.clone();
                damaged[(bit / 8) as usize] ^= 1 << (bit % 8);
                shop.write(&path, damaged);
                assert_refused(shop.tegula("verify g.tegula"), &name);
                for (words, right) in RUNS.iter().zip(&right) {
                    let said = shop.tegula(words);
                    // A run does not read all files: a search needs no degrees.
                    if said.code == Some(0) {
                        assert!(said.out == *right, "bit {bit} of {name}: {words} is wrong");
                    } else {
                        assert_refused(said, &name);
                        *found.entry(name.clone()).or_insert(0) += 1;
                    }
                }
            }
            shop.write(&path, bytes);
        }
        assert!(found.values().sum::<u64>() > 8 * FLIPS, "{found:?}");
    }
}

#[test]
fn files_of_another_graph_are_told_apart() {
    let shop = graph("--ids integer");
    shop.tegula("generate rmat --scale 10 --seed 5 -o h.el").done();
    shop.tegula("import h.el -o h.tegula --layouts tiles,rows --order degree").done();
    let (own, other) = (shop.files("g.tegula"), shop.files("h.tegula"));
    assert_eq!(own.keys().collect::<Vec<_>>(), other.keys().collect::<Vec<_>>());
    for (name, bytes) in own {
        shop.write(&format!("g.tegula/{name}"), &other[&name]);
        shop.tegula("verify g.tegula").failed(3, &["g.tegula"]);
        shop.tegula(RUNS[0]).failed(3, &["g.tegula"]);
        shop.tegula(RUNS[3]).failed(3, &["g.tegula"]);
        shop.write(&format!("g.tegula/{name}"), bytes);
    }
}

#[test]
fn a_graph_of_one_vertex_has_all_answers() {
    let shop = Shop::new();
    shop.write("g.el", "7 7\n");
    for order in ["given", "degree", "dfs", "auto"] {
        let words = "import g.el -o g.tegula --force --undirected --layouts tiles,rows --order";
        shop.tegula(&format!("{words} {order}")).done();
        let facts = shop.tegula("info g.tegula --json").done().json();
        assert_eq!((&facts["vertices"], &facts["edges"]), (&1.into(), &1.into()));
        shop.tegula("verify g.tegula").done();
        for (words, table) in [
            ("pagerank g.tegula", "vertex\trank\n7\t1\n"),
            ("bfs g.tegula --source 7 --parents", "vertex\tdistance\tparent\n7\t0\t7\n"),
            ("bfs g.tegula --source 7 --executor seek", "vertex\tdistance\n7\t0\n"),
            ("sssp g.tegula --source 7 --executor seek", "vertex\tdistance\n7\t0\n"),
            ("wcc g.tegula", "vertex\tcomponent\n7\t7\n"),
            ("wcc g.tegula --method propagation", "vertex\tcomponent\n7\t7\n"),
        ] {
            assert_eq!(shop.tegula(&format!("run {words}")).done().out, table, "{words}");
        }
        shop.tegula("run bfs g.tegula --source 0").failed(3, &["no vertex", "`0`"]);
    }
}

#[test]
fn a_graph_without_a_vertex_has_empty_answers() {
    let shop = Shop::new();
    shop.write("g.el", "# nobody\n");
    shop.tegula("import g.el -o g.tegula --undirected --layouts tiles,rows --allow-empty").done();
    let facts = shop.tegula("info g.tegula --json").done().json();
    assert_eq!((&facts["vertices"], &facts["edges"]), (&0.into(), &0.into()));
    shop.tegula("verify g.tegula").done();
    for (words, header) in [
        ("pagerank g.tegula", "vertex\trank\n"),
        ("wcc g.tegula", "vertex\tcomponent\n"),
        ("wcc g.tegula --method propagation", "vertex\tcomponent\n"),
        ("wcc g.tegula --method propagation --executor seek", "vertex\tcomponent\n"),
    ] {
        assert_eq!(shop.tegula(&format!("run {words}")).done().out, header, "{words}");
        for output in ["out.parquet", "out.npy", "out.csv.gz"] {
            shop.tegula(&format!("run {words} -o {output} --force")).done();
        }
    }
    shop.tegula("run bfs g.tegula --source 0").failed(3, &["no vertex", "`0`"]);
}
