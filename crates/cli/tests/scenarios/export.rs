//! Edges written in the ids of their input (`export`): if imported again, they make the same graph.

use crate::shop::{Shop, lines};

/// Returns the cells of all rows of a text, sorted.
fn rows(text: &str, separator: char, has_header: bool) -> Vec<Vec<String>> {
    let split = |line: &str| line.split(separator).map(str::to_owned).collect();
    let mut rows: Vec<Vec<String>> =
        text.lines().skip(usize::from(has_header)).map(split).collect();
    rows.sort();
    rows
}

#[test]
fn every_format_holds_the_edges_of_the_input() {
    let shop = Shop::new();
    let edge = |n: u64| (n * 7919 % 997 + 5, n * 104_729 % 1009 + 5, n % 13);
    let text: String = (0..5000).map(edge).map(|(s, t, w)| format!("{s} {t} {w}\n")).collect();
    shop.write("g.wel", &text);
    for (weighted, order) in [("--weighted", "degree"), ("", "given")] {
        shop.tegula(&format!("import g.wel -o g.tegula --force --order {order} {weighted}")).done();
        let cells = if weighted.is_empty() { 2 } else { 3 };
        let mut expected = rows(&text, ' ', false);
        expected.iter_mut().for_each(|row| row.truncate(cells));
        expected.sort();
        for (name, separator, has_header) in [
            ("e.wel", ' ', false),
            ("e.txt", ' ', false),
            ("e.csv", ',', true),
            ("e.tsv", '\t', true),
        ] {
            let told =
                shop.tegula(&format!("export g.tegula -o {name} --force --json")).done().json();
            assert_eq!(
                (&told["schema"], &told["edges"]),
                (&"tegula.export.v1".into(), &5000.into())
            );
            let found = String::from_utf8(shop.read(name)).unwrap();
            assert_eq!(told["bytes"], found.len());
            assert_eq!(rows(&found, separator, has_header), expected, "{name}");
        }
        let printed = shop.tegula("export g.tegula -o -").done().out;
        let header = &lines(&printed, '\t').0[..];
        assert_eq!(header, &["source", "target", "weight"][..cells]);
        assert_eq!(rows(&printed, '\t', true), expected);
        let ranks = shop.tegula("run pagerank g.tegula -o -").done().out;
        for name in ["e.bin64", "e.parquet", "e.csv.zst"] {
            shop.tegula(&format!("export g.tegula -o {name} --force")).done();
            let import = format!("import {name} -o h.tegula --force --order {order} {weighted}");
            shop.tegula(&import).done();
            let info = shop.tegula("info h.tegula --json").done().json();
            assert_eq!(info["edges"], 5000, "{name}");
            assert_eq!(shop.tegula("run pagerank h.tegula -o -").done().out, ranks, "{name}");
        }
    }
}

#[test]
fn an_edge_of_an_undirected_graph_is_written_once() {
    let shop = Shop::new();
    shop.write("g.txt", "b a\na c\nc c\nb a\n");
    shop.tegula("import g.txt -o g.tegula --undirected").done();
    let out = shop.tegula("export g.tegula -o -").done().out;
    let expected = [["a", "b"], ["a", "b"], ["a", "c"], ["c", "c"]];
    assert_eq!(rows(&out, '\t', true), expected);
    shop.tegula("export g.tegula -o e.el").failed(2, &["string ids", ".csv"]);
    shop.tegula("export g.tegula -o e.npy").failed(2, &["names no format", ".bin64"]);
    shop.tegula("export g.tegula -o - --json").failed(2, &["standard output"]);
    assert_eq!(shop.names(), ["g.tegula", "g.txt"], "nothing is left");
}

#[test]
fn an_export_keeps_its_budget_and_does_not_depend_on_it() {
    let shop = Shop::new();
    shop.tegula("generate rmat --scale 15 -o g.el").done();
    shop.tegula("import g.el -o g.tegula --order dfs").done();
    for name in ["e.parquet", "e.tsv"] {
        shop.tegula(&format!("export g.tegula -o {name} --memory 1GiB")).done();
        let ample = shop.read(name);
        let told = format!("export g.tegula -o {name} --memory 48MiB --threads 1 --force --json");
        let told = shop.tegula(&told).done().json();
        assert!(told["peak_memory_bytes"].as_u64().unwrap() <= 48 << 20, "{told}");
        assert!(shop.read(name) == ample, "{name}");
    }
    shop.tegula("export g.tegula -o e.el --memory 1MiB").failed(4, &["the export"]);
}

#[test]
fn degrees_are_those_of_the_algorithm() {
    let shop = Shop::new();
    shop.write("g.txt", "a b\nb c\nb b\nd b\n");
    shop.tegula("import g.txt -o g.tegula").done();
    let degrees = shop.tegula("export g.tegula --degrees -o -").done().out;
    let expected = "vertex\tin_degree\tout_degree\na\t0\t1\nb\t3\t2\nc\t1\t0\nd\t0\t1\n";
    assert_eq!(degrees, expected);
    assert_eq!(degrees, shop.tegula("run degree g.tegula -o -").done().out);
    let told = shop.tegula("export g.tegula --degrees -o d.csv.gz --json").done().json();
    assert_eq!((&told["content"], &told["rows"]), (&"degrees".into(), &4.into()));
    assert!(told.get("edges").is_none(), "{told}");
    shop.tegula("export g.tegula --degrees -o d.el").failed(2, &["names no format", ".parquet"]);
    shop.tegula("export g.tegula --degrees --vertex a -o d.csv").failed(2, &["--vertex"]);
    shop.tegula("export g.tegula --degrees -o d.csv --memory 1MiB").failed(4, &["the export"]);
}

/// Returns the neighbour rows of some vertices by a scan of an edge list.
fn neighbours_in(edges: &[[u64; 3]], both_ways: bool, vertices: &[u64]) -> Vec<[u64; 3]> {
    let turned = edges.iter().filter(|[s, t, _]| both_ways && s != t).map(|&[s, t, w]| [t, s, w]);
    let all = edges.iter().copied().chain(turned);
    let mut rows: Vec<[u64; 3]> = all.filter(|[source, ..]| vertices.contains(source)).collect();
    rows.sort_unstable();
    rows
}

#[test]
fn neighbours_are_the_same_along_rows_and_from_tiles_within_any_budget() {
    let shop = Shop::new();
    let edge = |n: u64| {
        let source = if n.is_multiple_of(3) { 7 } else { n * 7919 % 997 + 5 };
        [source, n * 104_729 % 1009 + 5, n % 13]
    };
    let edges: Vec<[u64; 3]> = (0..120_000).map(edge).collect();
    let text: String = edges.iter().map(|[s, t, w]| format!("{s} {t} {w}\n")).collect();
    shop.write("g.wel", &text);
    shop.write("some.csv", "vertex\n900\n7\n12\n7\n1008\n");
    for direction in ["", "--undirected"] {
        let rows = neighbours_in(&edges, !direction.is_empty(), &[7, 12, 900, 1008]);
        let lines = rows.iter().map(|[s, t, w]| format!("{s}\t{t}\t{w}\n"));
        let expected: String =
            std::iter::once("vertex\tneighbour\tweight\n".to_owned()).chain(lines).collect();
        for (layouts, order) in [("tiles", "degree"), ("tiles,rows", "degree"), ("tiles", "given")]
        {
            let import = format!(
                "import g.wel -o g.tegula --force --weighted --layouts {layouts} --order {order}"
            );
            shop.tegula(&format!("{import} {direction}")).done();
            // The smaller budget does not hold all rows at once.
            for (mebibytes, threads) in [(1024, 2), (64, 1)] {
                let limits = format!("--memory {mebibytes}MiB --threads {threads}");
                let export = format!(
                    "export g.tegula --neighbours-of some.csv -o n.tsv --force {limits} --json"
                );
                let told = shop.tegula(&export).done().json();
                assert_eq!((&told["vertices"], &told["rows"]), (&4.into(), &rows.len().into()));
                assert!(told["peak_memory_bytes"].as_u64().unwrap() <= mebibytes << 20, "{told}");
                assert!(shop.read("n.tsv") == expected.as_bytes(), "{layouts} {order} {limits}");
            }
        }
        let of_one = shop.tegula("export g.tegula --vertex 12 --vertex 900 -o -").done().out;
        let two =
            |line: &&str| ["vertex", "12\t", "900\t"].iter().any(|start| line.starts_with(start));
        assert!(of_one.lines().eq(expected.lines().filter(two)));
    }
}

#[test]
fn neighbours_have_names_and_strangers_are_refused() {
    let shop = Shop::new();
    shop.write("g.txt", "b a\na c\nc c\nb a\nz b\n");
    shop.tegula("import g.txt -o g.tegula --undirected").done();
    let out = shop.tegula("export g.tegula --vertex c --vertex b -o -").done().out;
    assert_eq!(out, "vertex\tneighbour\nb\ta\nb\ta\nb\tz\nc\ta\nc\tc\n");
    shop.write("some.txt", "c\nq\n");
    shop.tegula("export g.tegula --neighbours-of some.txt -o n.csv")
        .failed(3, &["some.txt, line 2", "no vertex `q`"]);
    shop.tegula("export g.tegula --vertex q -o n.csv").failed(3, &["no vertex `q`"]);
    shop.tegula("export g.tegula --vertex b --neighbours-of some.txt -o n.csv").failed(2, &[]);
    shop.tegula("export g.tegula --vertex b -o n.el").failed(2, &["string ids"]);
    shop.tegula("export g.tegula --vertex b -o - --json").failed(2, &["standard output"]);
    assert_eq!(shop.names(), ["g.tegula", "g.txt", "some.txt"], "nothing is left");
}
