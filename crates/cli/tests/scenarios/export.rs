//! Edges written in the ids of their input (`export`): what is imported again is the same graph.

use crate::shop::{Shop, lines};

/// The cells of all rows of a text, sorted.
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
