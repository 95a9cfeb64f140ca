//! Every failure has its exit code, says where and what, and leaves nothing behind.

use std::fs;

use tegula_testkit::{EdgeList, edit_manifest};

use crate::shop::{Shop, has_program, said};

#[test]
fn a_malformed_input_is_refused_with_its_place() {
    let shop = Shop::new();
    shop.write("letters.txt", "1 2\n2 3\n3 x\n");
    shop.write("short.txt", "1 2\n2\n");
    shop.write("cut.bin32", [0u8; 12]);
    shop.write("no.parquet", "PAR1 and nothing else");
    shop.write("weightless.wel", "1 2 0.5\n2 3\n");
    for (words, place) in [
        ("letters.txt", "letters.txt, line 3"),
        ("short.txt", "short.txt, line 2"),
        ("cut.bin32", "cut.bin32"),
        ("no.parquet", "no.parquet"),
        ("weightless.wel --weighted", "weightless.wel, line 2"),
        ("missing.txt", "missing.txt"),
    ] {
        let before = shop.names();
        shop.tegula(&format!("import {words} -o g.tegula")).failed(3, &[place]);
        assert_eq!(shop.names(), before, "{words}");
    }
}

#[test]
fn a_path_without_a_graph_is_refused_by_every_command() {
    let shop = Shop::new();
    shop.import(&EdgeList::new(vec![(0, 1)]), "");
    shop.write("file.tegula", "no folder");
    fs::create_dir(shop.path("empty.tegula")).unwrap();
    fs::create_dir(shop.path("newer.tegula")).unwrap();
    shop.write("newer.tegula/manifest.json", shop.read("g.tegula/manifest.json"));
    edit_manifest(&shop.path("newer.tegula"), |body| {
        body.replace("\"format_version\": 8,", "\"format_version\": 999,")
    });
    for command in ["info", "verify", "run pagerank", "run wcc"] {
        for (graph, words) in [
            ("file.tegula", "a file, not a folder"),
            ("empty.tegula", "has no manifest.json"),
            ("missing.tegula", "does not exist"),
            ("newer.tegula", "999"),
        ] {
            let said = shop.tegula(&format!("{command} {graph}")).failed(3, &[graph, words]);
            let help = "help: make a graph of an edge list with `tegula import`";
            assert_eq!(said.err.contains(help), graph != "newer.tegula", "{}", said.err);
        }
    }
    fs::remove_file(shop.path("g.tegula/degrees.out")).unwrap();
    shop.tegula("run pagerank g.tegula").failed(3, &["degrees.out", "missing"]);
}

#[test]
fn a_vertex_that_does_not_exist_is_named() {
    let shop = Shop::new();
    shop.import(&EdgeList::new(vec![(0, 1), (1, 5)]), "");
    for source in ["3", "6", "18446744073709551615", "-1", "x"] {
        let words = format!("run bfs g.tegula --source {source} -o out.csv");
        shop.tegula(&words).failed(3, &["no vertex", source]);
    }
    assert!(!shop.path("out.csv").exists());
}

#[test]
fn too_small_a_budget_is_refused_with_both_numbers() {
    let shop = Shop::new();
    shop.import(&EdgeList::new((0..5000).map(|v| (v, v / 3)).collect()), "");
    let said = shop.tegula("run pagerank g.tegula --memory 16MiB -o out.csv");
    let said = said.failed(4, &["16.0 MiB", "--memory"]);
    let needed: Vec<&str> = said.err.split("needs ").collect();
    let needed: f64 = needed[1].split(' ').next().unwrap().parse().unwrap();
    assert!((24.0..40.0).contains(&needed), "{}", said.err);
    shop.tegula("import g.el -o h.tegula --memory 10MiB").failed(4, &["64.0 MiB", "10.0 MiB"]);
    for memory in ["0 B", "1 B", "1.0 KiB"] {
        let words = memory.replace(' ', "");
        for run in ["run pagerank g.tegula", "run bfs g.tegula --source 1 --estimate"] {
            let said = shop.tegula(&format!("{run} --memory {words}"));
            assert_eq!(said.code, Some(4), "{}", said.err);
            let end = format!("but the budget is {memory}\n  help: raise --memory\n");
            assert!(said.err.contains(&end) && !said.err.contains("in one piece"), "{}", said.err);
        }
    }
    assert_eq!(shop.names(), ["g.el", "g.tegula"]);
}

#[test]
fn a_wrong_command_line_is_a_usage_error() {
    let shop = Shop::new();
    shop.import(&EdgeList::new(vec![(0, 1)]), "");
    for (words, answer) in [
        ("", "Usage"),
        ("pagerank g.tegula", "did you mean `tegula run pagerank g.tegula`?"),
        ("--json k-hop g.tegula", "did you mean `tegula --json run k-hop g.tegula`?"),
        ("help wcc", "did you mean `tegula help run wcc`?"),
        ("run info g.tegula", "did you mean `tegula info g.tegula`?"),
        ("fly", "import, info, verify, export, run, partition, gather, generate"),
        ("run walk g.tegula", "pagerank, degree, eigenvector"),
        ("--json run walk g.tegula", "pagerank, degree, eigenvector"),
        ("generate tree -o g.el", "rmat, erdos-renyi"),
        ("run", "Usage"),
        ("run pagerank", "<GRAPH>"),
        ("run pagerank g.tegula --memory much", "much"),
        ("run pagerank g.tegula --threads 0", "must be a whole number of at least 1"),
        ("run pagerank g.tegula --damping 1.5", "1.5"),
        ("run pagerank g.tegula -o ranks.xlsx", ".parquet"),
        ("run pagerank g.tegula --iterations -1", "it must be a whole number of at least 0"),
        ("run pagerank g.tegula --damping -0.5", "it must be a number from 0 to below 1"),
        ("run random-walks g.tegula --walks 0", "it must be at least 1"),
        ("run triangles g.tegula --approximate --hashes 0", "--hashes must be from 1 to 1024"),
        ("import g.el -o h.tegula --vertices -1", "the number of vertices cannot be negative"),
        ("generate path --vertices -3 -o p.el", "it must be a whole number of at least 0"),
        ("run bfs g.tegula", "<--source <ID>|--sources <FILE>>"),
        ("run k-hop g.tegula --hops 1", "<--source <ID>|--sources <FILE>>"),
        ("run similarity g.tegula", "<--sources <FILE>|--pairs <FILE>>"),
        ("run wcc g.tegula --method traversal", "--undirected"),
        ("import -o g.tegula", "INPUT"),
        ("import g.el -o h.tegula --layouts columns", "tiles, rows"),
        ("import g.el -o h.tegula --format spreadsheet", "parquet"),
    ] {
        shop.tegula(words).failed(2, &[answer]);
    }
    assert_eq!(shop.tegula("--help").done().err, "");
    assert!(shop.tegula("--version").done().out.starts_with("tegula "));
}

#[test]
fn a_program_is_told_of_every_failure_as_an_object() {
    let shop = Shop::new();
    shop.import(&EdgeList::new(vec![(0, 1)]), "");
    shop.write("bad.txt", "1 2\n2 x\n");
    for (words, kind, code, hint) in [
        ("fly", "usage", 2, "import, info"),
        ("", "usage", 2, "Usage"),
        ("run", "usage", 2, "Usage"),
        ("run bfs g.tegula", "usage", 2, "Usage"),
        ("run bfs g.tegula --source 7", "no_such_vertex", 3, "imported edge list"),
        ("info missing.tegula", "not_a_graph", 3, "make a graph"),
        ("verify missing.tegula", "not_a_graph", 3, "make a graph"),
        ("import bad.txt -o h.tegula", "bad_input", 3, "use --ids string if the ids are names"),
        ("import g.el -o g.tegula", "already_exists", 1, "use --force"),
        ("generate path --vertices 9 -o g.el", "already_exists", 1, "use --force"),
        ("generate path --vertices 9 -o none/g.el", "io", 1, ""),
        ("probe missing", "io", 3, ""),
        ("run wcc g.tegula --memory 1KiB", "over_budget", 4, "raise --memory"),
        ("run wcc g.tegula -o - --format parquet", "usage", 2, "-o"),
    ] {
        let said = shop.tegula(&format!("{words} --json")).failed(code, &[]);
        let told = said.json();
        assert_eq!(told["kind"], kind, "{told}");
        assert!(!said.err.is_empty() && told["message"].is_string(), "{words}: {}", said.err);
        match told["hint"].as_str() {
            Some(told) => assert!(!hint.is_empty() && told.contains(hint), "{words}: {told}"),
            None => assert_eq!(hint, "", "{words}"),
        }
    }
    assert!(shop.tegula("--json --help").done().out.contains("Usage"));
    assert!(shop.tegula("--json --version").done().out.starts_with("tegula "));
}

#[test]
fn names_that_would_command_a_terminal_are_shown_escaped() {
    let shop = Shop::new();
    let evil = "g\u{1b}[2J\u{9b}7m\nx.tegula";
    // A control of two bytes, because a single byte would be no UTF-8.
    shop.write("g.tsv", "a\u{9b}31m\tb\n");
    for (words, code) in [
        ("import g.tsv --no-header -o", 0),
        ("info", 0),
        ("verify", 0),
        ("run wcc", 0),
        ("run wcc --json", 0),
        ("run bfs --source 7", 3),
        ("run wcc --estimate", 0),
        ("info --json --io", 2),
        ("import -o", 2),
        ("import g.tsv --no-header -o", 1),
    ] {
        let said = said(shop.command(words).arg(evil));
        assert_eq!(said.code, Some(code), "{words}: {}", said.err);
        let shown = if words == "run wcc" { said.err } else { said.err + &said.out };
        assert!(!shown.contains(['\u{1b}', '\u{9b}']), "{words}: {shown:?}");
        assert!(!shown.contains("\nx.tegula") || code == 2, "{words}: {shown:?}");
    }
    // Data are never escaped.
    let table = said(shop.command("run wcc").arg(evil)).done().out;
    assert_eq!(table.lines().nth(1), Some("a\u{9b}31m\ta\u{9b}31m"));
}

#[test]
fn a_result_that_exists_is_replaced_only_by_force() {
    let shop = Shop::new();
    shop.import(&EdgeList::new(vec![(0, 1)]), "");
    shop.write("out.csv", "precious");
    shop.tegula("run wcc g.tegula -o out.csv").failed(1, &["out.csv", "--force"]);
    assert_eq!(shop.read("out.csv"), b"precious");
    shop.tegula("run wcc g.tegula -o out.csv --force").done();
    assert_eq!(shop.read("out.csv"), b"vertex,component\n0,0\n1,0\n");
    let graph = shop.files("g.tegula");
    for name in ["tiles.data --format csv --force", "out.csv"] {
        shop.tegula(&format!("run wcc g.tegula -o g.tegula/{name}"))
            .failed(2, &["g.tegula is a graph directory"]);
    }
    shop.write("few.el", "0 1\n");
    std::os::unix::fs::symlink("g.tegula", shop.path("link")).unwrap();
    std::os::unix::fs::symlink("g.tegula/tiles.data", shop.path("tiles.csv")).unwrap();
    for words in [
        "generate path --vertices 9 -o g.tegula/g.el",
        "import few.el -o g.tegula/few.tegula",
        "import few.el -o g.tegula/deep/er/few.tegula",
        "export g.tegula -o link/few.el",
        "run subgraph g.tegula --component 0 -o link/few.tegula",
        "run wcc g.tegula -o tiles.csv --force",
        "export g.tegula -o tiles.csv --force",
    ] {
        shop.tegula(words).failed(2, &["g.tegula is a graph directory"]);
    }
    shop.tegula("run wcc g.tegula -o g.tegula/../beside.csv").done();
    assert!(shop.files("g.tegula") == graph);
    shop.tegula("run wcc g.tegula -o no/such/folder/out.csv")
        .failed(1, &["folder no/such/folder does"]);
    let said = shop.tegula("generate path --vertices 9 -o none/g.el");
    said.failed(1, &["create none/g.el: folder none does not exist"]);
}

#[test]
fn colours_are_for_terminals_that_want_them() {
    let shop = Shop::new();
    let plain = shop.tegula("info missing.tegula").failed(3, &["missing.tegula"]).err;
    assert!(!plain.contains('\u{1b}'), "{plain}");
    if !has_program("script") {
        return;
    }
    // `script` gives the command a terminal.
    let on_terminal = |no_color: &str| {
        let call = format!("{} info missing.tegula", env!("CARGO_BIN_EXE_tegula"));
        let mut script = std::process::Command::new("script");
        script.args(["-qec", &call, "/dev/null"]).env("NO_COLOR", no_color).env("TERM", "xterm");
        said(&mut script).out
    };
    assert!(on_terminal("").contains('\u{1b}'));
    assert!(!on_terminal("1").contains('\u{1b}'));
}
