//! Rows: imported, or built when a run first needs them; built by several runs at once, by killed
//! ones, and on full disks.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;
use std::thread::sleep;
use std::time::Instant;

use rustix::fs::{FlockOperation, flock};
use rustix::process::{Pid, Signal, kill_process};
use tegula_testkit::{EdgeList, XorShift, small_graphs, verify_bfs, verify_sssp, wcc};

use crate::shop::{Said, Shop, assert_shape, column, numbers, numbers_with_gaps, wait_until};

const ENCODINGS: [&str; 4] = ["plain", "ceesor", "gap", "copy"];
const SEEK: &str = "run bfs g.tegula --source 1 --executor seek";

/// The number of kills, spread over the time of a whole build.
const KILLS: u32 = 14;

#[test]
fn rows_are_imported_in_every_encoding_and_info_tells_their_size() {
    let shop = Shop::new();
    shop.tegula("generate rmat --scale 12 --weighted -o g.wel").done();
    for weighted in ["", "--weighted"] {
        for encoding in ENCODINGS {
            let options = format!("--layouts tiles,rows --row-encoding {encoding} {weighted}");
            let words = format!("import g.wel -o g.tegula --force --json {options}");
            let report = shop.tegula(&words).done().json();
            assert_shape(&report["stage_seconds"], &[("rows", "number")]);
            let facts = shop.tegula("info g.tegula --json").done().json();
            assert_eq!(facts["bytes_per_edge"], report["bytes_per_edge"]);
            assert_eq!(facts["format_version"], 8);
            let files = shop.files("g.tegula");
            assert_eq!(files.contains_key("rows.weights"), !weighted.is_empty());
            let bytes = files["rows.data"].len() + files["rows.index"].len();
            let expected = bytes as f64 / facts["edges"].as_f64().unwrap();
            let found = facts["bytes_per_edge"]["rows"].as_f64().unwrap();
            assert!((found - expected).abs() < 1e-4, "{found} and {expected}");
            shop.tegula("verify g.tegula").done();
            let text = shop.tegula("info g.tegula").done().out;
            assert!(text.lines().any(|line| line.trim_start().starts_with("rows")), "{text}");
        }
    }
    // An encoding alone asks for rows; without it there are none.
    shop.tegula("import g.wel -o g.tegula --force --row-encoding gap").done();
    assert!(shop.files("g.tegula").contains_key("rows.index"));
    shop.tegula("import g.wel -o g.tegula --force").done();
    let facts = shop.tegula("info g.tegula --json").done().json();
    assert_eq!(facts["bytes_per_edge"]["rows"], serde_json::Value::Null);
    shop.tegula("import g.wel -o g.tegula --force --layouts columns").failed(2, &["columns"]);
    shop.tegula("import g.wel -o g.tegula --force --row-encoding zip").failed(2, &["zip"]);
}

#[test]
fn a_directed_graph_is_imported_with_rows_by_target_and_a_search_pulls_along_them() {
    let shop = Shop::new();
    shop.tegula("generate rmat --scale 13 --edge-factor 150 -o g.bin32").done();
    shop.tegula("import g.bin32 -o g.tegula --layouts tiles,rows").done();
    const SEARCH: &str = "run bfs g.tegula --source 1 --threads 2 --json --force -o hops.tsv";
    let seek = format!("{SEARCH} --executor seek");
    let without = shop.tegula(&seek).done().json();
    assert!(!without["processes"].to_string().contains("pull"), "{without}");
    let hops = shop.read("hops.tsv");
    let words = "import g.bin32 -o g.tegula --force --json --layouts tiles,rows,reverse";
    let report = shop.tegula(words).done().json();
    assert_shape(&report["bytes_per_edge"], &[("reverse", "number"), ("rows", "number")]);
    let facts = shop.tegula("info g.tegula --json").done().json();
    assert_eq!(facts["bytes_per_edge"], report["bytes_per_edge"]);
    let text = shop.tegula("info g.tegula").done().out;
    let line = text.lines().find(|line| line.trim_start().starts_with("reverse ")).unwrap();
    assert!(line.contains("bytes per edge, copy in"), "{text}");
    shop.tegula("verify g.tegula").done();
    let with = shop.tegula(&seek).done().json();
    assert!(with["processes"].to_string().contains("pull"), "{with}");
    assert_eq!(shop.read("hops.tsv"), hops);
    // With an encoding and `reverse`, no other rows are built.
    let options = "--layouts tiles,reverse --row-encoding gap";
    shop.tegula(&format!("import g.bin32 -o g.tegula --force {options}")).done();
    let files = shop.files("g.tegula");
    assert!(files.contains_key("reverse.data") && !files.contains_key("rows.data"));
    shop.tegula(SEARCH).done();
    assert_eq!(shop.read("hops.tsv"), hops);
    // An undirected graph has its rows once.
    let options = "--undirected --layouts tiles,reverse";
    shop.tegula(&format!("import g.bin32 -o g.tegula --force {options}")).done();
    let files = shop.files("g.tegula");
    assert!(files.contains_key("rows.data") && !files.contains_key("reverse.data"));
}

#[test]
fn every_executor_has_the_oracles_answers() {
    let shop = Shop::new();
    let mut encodings = ENCODINGS.into_iter().cycle();
    for (name, graph) in small_graphs(5) {
        let undirected = graph.undirected();
        let encoding = encodings.next().unwrap();
        shop.import(&graph, &format!("--undirected --row-encoding {encoding}"));
        let Some(&source) = graph.vertices().first() else { continue };
        for executor in ["scan", "seek", "auto"] {
            let run =
                |words: &str| shop.tegula(&format!("run {words} --executor {executor}")).done().out;
            let found = run(&format!("bfs g.tegula --parents --source {source}"));
            let distances = numbers_with_gaps(&found, "distance");
            let parents = numbers_with_gaps(&found, "parent");
            verify_bfs(&undirected, source, &distances, Some(&parents)).expect(name);
            let found = run(&format!("sssp g.tegula --source {source}"));
            verify_sssp(&undirected, source, &lengths(&found)).expect(name);
            let found = run("wcc g.tegula --method propagation");
            assert_eq!(numbers::<u64>(&found, "component"), wcc(&graph), "{name}");
        }
    }
}

/// Returns lengths of paths by vertex, infinite where the cell is empty.
fn lengths(text: &str) -> Vec<(u64, f64)> {
    let length = |cell: Option<String>| cell.map_or(f64::INFINITY, |cell| cell.parse().unwrap());
    column(text, "distance").into_iter().map(|(vertex, cell)| (vertex, length(cell))).collect()
}

#[test]
fn a_report_names_the_process_of_each_iteration() {
    let shop = Shop::new();
    shop.import(&EdgeList::new(vec![(1, 2), (2, 3), (3, 1), (4, 1)]), "--layouts tiles,rows");
    for (words, processes) in [
        ("bfs g.tegula --source 1 --executor scan", ["scan"; 3]),
        ("bfs g.tegula --source 1 --executor seek", ["seek"; 3]),
        ("bfs g.tegula --source 1", ["seek"; 3]),
        ("sssp g.tegula --source 1 --executor scan", ["scan"; 3]),
        ("sssp g.tegula --source 1 --executor seek", ["seek"; 3]),
    ] {
        let report = shop.tegula(&format!("run {words} --json")).done().json();
        assert_eq!(report["processes"], serde_json::json!(processes), "{words}");
        assert_eq!(report["iterations"], 3);
    }
    let report = shop.tegula("run sssp g.tegula --source 1 --json").done().json();
    let summary = [
        ("reached", "number"),
        ("distance_max", "number"),
        ("delta", "null"),
        ("farthest", "array"),
    ];
    assert_shape(&report["summary"], &summary);
    assert_eq!(report["summary"]["farthest"][0]["vertex"], 3);
    shop.tegula("run bfs g.tegula --source 1 --executor walk").failed(2, &["walk", "auto"]);
}

#[test]
fn seek_is_refused_for_algorithms_that_only_scan() {
    let shop = without_rows(8);
    let before = shop.files("g.tegula");
    let words = "run pagerank g.tegula --executor seek";
    shop.tegula(words).failed(2, &["pagerank", "--executor scan or auto"]);
    for words in ["run wcc g.tegula", "run wcc g.tegula --method union-find --estimate"] {
        let said = shop.tegula(&format!("{words} --executor seek"));
        said.failed(2, &["union-find", "--method propagation or traversal", "--executor scan"]);
    }
    assert_eq!(shop.files("g.tegula"), before);
}

#[test]
fn sssp_refuses_negative_weights_wrong_deltas_and_unknown_sources() {
    let shop = Shop::new();
    shop.write("g.wel", "1 2 1\n2 3 -0.5\n5 6 1\n");
    shop.tegula("import g.wel -o g.tegula --weighted --layouts tiles,rows").done();
    for executor in ["scan", "seek", "auto"] {
        let run = |source: u64| {
            shop.tegula(&format!("run sssp g.tegula --source {source} --executor {executor}"))
        };
        run(1).failed(3, &["g.tegula", "below 0"]);
        assert_eq!(run(5).done().out, "vertex\tdistance\n1\t\n2\t\n3\t\n5\t0\n6\t1\n");
    }
    for delta in ["0", "-1", "inf", "nan", "x"] {
        let words = format!("run sssp g.tegula --source 5 --delta={delta}");
        shop.tegula(&words).failed(2, &["--delta"]);
    }
    let near = shop.tegula("run sssp g.tegula --source 5 --delta 1e-9").done().out;
    assert_eq!(shop.tegula("run sssp g.tegula --source 5 --delta 1e9").done().out, near);
    shop.tegula("run sssp g.tegula --source 9").failed(3, &["no vertex", "`9`"]);
}

/// Returns a graph without rows that has a vertex 1.
fn without_rows(scale: u32) -> Shop {
    let shop = Shop::new();
    shop.tegula(&format!("generate rmat --scale {scale} --weighted --seed 3 -o g.wel")).done();
    shop.write("g.wel", [shop.read("g.wel"), b"1 0 1\n".to_vec()].concat());
    shop.tegula("import g.wel -o g.tegula --weighted").done();
    shop
}

/// Restores the files of the graph.
fn put_back(shop: &Shop, files: &BTreeMap<String, Vec<u8>>) {
    std::fs::remove_dir_all(shop.path("g.tegula")).unwrap();
    std::fs::create_dir(shop.path("g.tegula")).unwrap();
    files.iter().for_each(|(name, bytes)| shop.write(&format!("g.tegula/{name}"), bytes));
}

/// Asserts that a graph is whole and has rows, and no hidden files.
#[track_caller]
fn assert_has_rows(shop: &Shop) {
    shop.tegula("verify g.tegula").done();
    let files = shop.files("g.tegula");
    assert!(files.contains_key("rows.index") && files.contains_key("rows.weights"));
    let hidden: Vec<&String> = files.keys().filter(|name| name.starts_with('.')).collect();
    assert!(hidden.is_empty(), "{hidden:?}");
}

#[test]
fn rows_are_built_when_a_run_first_needs_them() {
    let shop = without_rows(10);
    let before = shop.files("g.tegula");
    let scanned = shop.tegula("run bfs g.tegula --source 1").done().out;
    // An estimate builds nothing.
    shop.tegula(&format!("{SEEK} --estimate")).done();
    assert_eq!(shop.files("g.tegula"), before);
    let first = shop.tegula(SEEK).done();
    assert!(first.err.contains("built once"), "{}", first.err);
    assert_eq!(first.out, scanned);
    assert_has_rows(&shop);
    let second = shop.tegula(SEEK).done();
    assert!(!second.err.contains("built"), "{}", second.err);
    assert_eq!(second.out, scanned);
    // Of the older files only the manifest has changed.
    for (name, bytes) in before.iter().filter(|(name, _)| *name != "manifest.json") {
        assert!(shop.files("g.tegula")[name] == *bytes, "{name}");
    }
    let built = shop.files("g.tegula");
    // A build for a waiting run does not search for rows to copy from.
    let options = "--force --weighted --layouts tiles,rows --row-encoding gap";
    shop.tegula(&format!("import g.wel -o g.tegula {options}")).done();
    assert!(shop.files("g.tegula") == built, "an import makes the same");
}

#[test]
fn wrong_requests_are_refused_before_rows_are_built() {
    let shop = without_rows(10);
    let before = shop.files("g.tegula");
    shop.write("s.tsv", "bob\tann\n");
    shop.tegula("import s.tsv -o s.tegula --no-header --ids string").done();
    shop.write("sets.txt", "1 1\nnobody 1\n");
    shop.write("places.txt", "1 0 0\n");
    for (algorithm, code, word) in [
        ("bfs g.tegula --source nobody --executor seek", 3, "no vertex `nobody`"),
        ("sssp g.tegula --source nobody --executor seek", 3, "no vertex `nobody`"),
        ("sssp g.tegula --source nobody --method dijkstra", 3, "no vertex `nobody`"),
        ("astar g.tegula --source nobody --target 1", 3, "no vertex `nobody`"),
        ("astar g.tegula --source 1 --target nobody", 3, "no vertex `nobody`"),
        ("astar g.tegula --source 1 --target 0 --coordinates no.txt", 3, "no.txt"),
        ("astar g.tegula --source 1 --target 0 --coordinates places.txt", 3, "does not say where"),
        ("conductance g.tegula --sets no.txt", 3, "no.txt"),
        ("conductance g.tegula --sets sets.txt", 3, "line 2: g.tegula has no vertex `nobody`"),
        ("mis g.tegula", 2, "import it with --undirected"),
        ("mst g.tegula", 2, "import it with --undirected"),
        ("wcc g.tegula --method traversal", 2, "or use --method union-find"),
        ("wcc g.tegula --method propagation --executor seek", 2, "or use --method union-find"),
        ("mst g.tegula --memory 1MiB", 4, "the budget is 1.0 MiB"),
        ("bfs s.tegula --source bob --executor seek -o s.npy", 2, ".npy"),
    ] {
        let said = shop.tegula(&format!("run {algorithm}")).failed(code, &[word]);
        assert!(!said.err.contains("built once"), "{}", said.err);
        if code != 4 {
            shop.tegula(&format!("run {algorithm} --estimate")).failed(code, &[word]);
        }
    }
    assert_eq!(shop.files("g.tegula"), before);
}

#[test]
fn an_estimate_for_an_algorithm_on_rows_names_rows() {
    let shop = Shop::new();
    shop.tegula("generate rmat --scale 12 -o g.el").done();
    shop.tegula("import g.el -o g.tegula --undirected").done();
    let edges = shop.tegula("info g.tegula --json").done().json()["edges"].as_u64().unwrap();
    let said = |words: &str| shop.tegula(&format!("run {words} --estimate")).done().out;
    let before = said("mis g.tegula");
    for words in
        ["streaming of rows", "all rows, about", "building the rows first", "rows are read once"]
    {
        assert!(before.contains(words), "no `{words}` in: {before}");
    }
    assert!(!before.contains("tiles"), "{before}");
    let json = shop.tegula("run mis g.tegula --estimate --json").done().json();
    assert_eq!(json["layout_bytes"].as_u64(), Some(2 * edges));
    shop.tegula("run mis g.tegula").done();
    let after = said("mis g.tegula");
    assert!(!after.contains("rows, about") && !after.contains("first"), "{after}");
    assert!(said("wcc g.tegula").contains("streaming of tiles"));
}

#[test]
fn a_summary_tells_scans_and_seeks_apart_and_hints_at_rows_after_many_scans() {
    let shop = Shop::new();
    shop.tegula("generate path --vertices 200 -o g.el").done();
    shop.tegula("import g.el -o g.tegula").done();
    let words = "run bfs g.tegula --source 0";
    let scanned = shop.tegula(words).done();
    for words in ["edges scanned", "--layouts tiles,rows, or run with --executor seek once"] {
        assert!(scanned.err.contains(words), "no `{words}` in: {}", scanned.err);
    }
    let place = |words| scanned.err.find(words).unwrap();
    assert!(place("hint: ") < place("bfs on"), "it comes during the run: {}", scanned.err);
    let hint = |words: &str| shop.tegula(words).done().err.contains("hint");
    assert!(!hint(&format!("{words} --executor scan")) && !hint(&format!("{words} --json")));
    assert!(!hint("run bfs g.tegula --source 190"), "a few scans");
    let sought = shop.tegula("run sssp g.tegula --source 0 --executor seek").done();
    for words in ["edges followed", "1 for every edge", "greatest distance"] {
        assert!(sought.err.contains(words), "no `{words}` in: {}", sought.err);
    }
    assert!(!sought.err.contains("scan") && !hint(words), "{}", sought.err);
    let nothing = shop.tegula("run astar g.tegula --source 199 --target 0").done();
    assert!(!nothing.err.contains("edges/s"), "{}", nothing.err);
}

#[test]
fn an_estimate_knows_about_rows() {
    let shop = without_rows(12);
    shop.tegula(SEEK).done();
    let needed = |words: &str| {
        let estimate = shop.tegula(&format!("{words} --estimate --json --threads 2"));
        estimate.done().json()["needed_bytes"].as_u64().unwrap()
    };
    let (seeking, scanning) = (needed(SEEK), needed("run bfs g.tegula --source 1"));
    assert!(seeking > scanning);
    let with = |memory: u64| shop.tegula(&format!("{SEEK} --threads 2 --memory {memory}"));
    with(seeking).done();
    with(seeking - 1).failed(4, &["--memory"]);
    let said = shop.tegula(&format!("{SEEK} --estimate --threads 2 --memory {scanning}"));
    assert_eq!(said.code, Some(4), "{}", said.err);
}

#[test]
fn several_runs_that_need_rows_at_once_build_them_once() {
    let shop = without_rows(14);
    let expected = shop.tegula("run bfs g.tegula --source 1").done().out;
    let children: Vec<_> = (0..4)
        .map(|_| {
            let mut command = shop.command(SEEK);
            command
                .stdin(Stdio::null())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        let said = Said {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        };
        assert!(said.done().out == expected);
    }
    assert_has_rows(&shop);
}

#[test]
#[ignore = "long"]
fn a_build_killed_at_any_moment_leaves_the_graph_and_the_next_one_completes() {
    let shop = without_rows(16);
    let plain = shop.files("g.tegula");
    let words = format!("{SEEK} --top 1");
    let started = Instant::now();
    let expected = shop.tegula(&words).done().out;
    let whole = started.elapsed();
    let built = shop.files("g.tegula");
    let mut random = XorShift::new(8);
    let mut killed = 0;
    for moment in 0..KILLS {
        put_back(&shop, &plain);
        let mut child = shop.start(&words);
        sleep(whole.mul_f64((f64::from(moment) + random.fraction()) / f64::from(KILLS)));
        child.kill().unwrap();
        killed += u32::from(!child.wait().unwrap().success());
        shop.tegula("verify g.tegula").done();
        assert_eq!(shop.tegula(&words).done().out, expected);
        assert_has_rows(&shop);
        assert!(shop.files("g.tegula") == built);
    }
    assert!(killed > 0, "every run was quicker than the kill");
}

#[test]
fn a_build_that_is_interrupted_leaves_the_graph_as_it_was() {
    let shop = without_rows(17);
    let before = shop.files("g.tegula");
    let is_interrupted = || {
        put_back(&shop, &before);
        let mut child = shop.start(SEEK);
        let is_building =
            || std::fs::read_dir(shop.path("g.tegula")).unwrap().count() > before.len();
        wait_until(&mut child, is_building);
        kill_process(Pid::from_child(&child), Signal::INT).unwrap();
        let code = child.wait_with_output().unwrap().status.code();
        assert!(matches!(code, Some(130 | 0)), "{code:?}");
        code == Some(130)
    };
    // A run that was nearly done may complete.
    assert!((0..KILLS).any(|_| is_interrupted()), "every run was quicker than the interrupt");
    assert!(shop.files("g.tegula") == before);
    shop.tegula(SEEK).done();
    assert_has_rows(&shop);
}

#[test]
fn a_run_whose_graph_is_replaced_before_it_adds_rows_leaves_the_new_graph_alone() {
    let shop = without_rows(8);
    // A run that adds rows waits for this lock; by then it has opened the graph.
    let manifest = File::open(shop.path("g.tegula/manifest.json")).unwrap();
    flock(&manifest, FlockOperation::LockExclusive).unwrap();
    let mut child = shop.start(SEEK);
    let mut said = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    said.read_line(&mut line).unwrap();
    assert!(line.contains("built once"), "{line}");
    shop.write("new.el", "1 2\n2 3\n");
    shop.tegula("import new.el -o g.tegula --force").done();
    let new = shop.files("g.tegula");
    drop(manifest);
    said.read_to_string(&mut line).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1), "{line}");
    assert!(line.contains("g.tegula was replaced while it was being read; run again"), "{line}");
    assert!(shop.files("g.tegula") == new);
    shop.tegula("verify g.tegula").done();
    shop.tegula(SEEK).done();
}
