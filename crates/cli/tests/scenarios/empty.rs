//! Inputs without an edge: an empty file must not replace a good graph.

use std::fs;

use crate::shop::{Shop, said};

/// Returns a shop with the good graph `good.tegula`.
fn shop_with_graph() -> Shop {
    let shop = Shop::new();
    shop.write("good.txt", "1 2\n2 3\n");
    shop.tegula("import good.txt -o good.tegula").done();
    shop
}

#[test]
fn an_input_without_an_edge_is_refused_and_the_graph_stays_whole() {
    let shop = shop_with_graph();
    let graph = shop.files("good.tegula");
    for (name, text) in [
        ("empty.csv", ""),
        ("header.csv", "source,target\n"),
        ("comments.txt", "# nothing\n% here\n\n"),
        ("empty.bin32", ""),
        ("none.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 3 0\n"),
        ("none.graphml", "<graphml><graph edgedefault='directed'><node id='a'/></graph></graphml>"),
        ("none.gexf", "<gexf><graph><nodes><node id='a'/></nodes></graph></gexf>"),
    ] {
        shop.write(name, text);
        let import = format!("import {name} -o good.tegula --force");
        shop.tegula(&import).failed(3, &[name, "no edge", "use --allow-empty"]);
        assert!(shop.files("good.tegula") == graph, "{name}");
        let report = shop.tegula(&format!("{import} --allow-empty --json")).done().json();
        assert_eq!(report["edges"], 0, "{name}");
        shop.tegula("import good.txt -o good.tegula --force").done();
    }
}

#[test]
fn standard_input_and_lists_of_vertices_without_an_edge_are_refused() {
    let shop = shop_with_graph();
    let graph = shop.files("good.tegula");
    // Standard input of `said` is empty.
    let words = ["no edge", "use --allow-empty"];
    said(&mut shop.command("import - -o good.tegula --force")).failed(3, &words);
    shop.write("list.v", "1\n2\n");
    let words = ["list.v", "no edge", "use --allow-empty"];
    shop.tegula("import list.v -o good.tegula --force").failed(3, &words);
    let report = shop.tegula("import list.v -o list.tegula --allow-empty --json").done().json();
    assert_eq!((&report["vertices"], &report["edges"]), (&2.into(), &0.into()));
    fs::create_dir(shop.path("folder")).unwrap();
    shop.tegula("import folder -o good.tegula --force").failed(3, &["folder", "no files"]);
    assert!(shop.files("good.tegula") == graph);
}

#[test]
fn all_files_without_an_edge_are_named() {
    let shop = Shop::new();
    for name in ["a.csv", "b.csv", "c.csv", "d.csv", "e.csv", "f.csv"] {
        shop.write(name, "");
    }
    shop.tegula("import a.csv b.csv -o g.tegula").failed(3, &["a.csv", "b.csv"]);
    let said = shop.tegula("import a.csv b.csv c.csv d.csv e.csv f.csv -o g.tegula");
    said.failed(3, &["a.csv", "b.csv", "c.csv", "and 2 others"]);
    // One edge in any of the files is enough.
    shop.write("c.csv", "1,2\n");
    shop.tegula("import a.csv b.csv c.csv -o g.tegula").done();
}

#[test]
fn inputs_whose_rows_are_all_skipped_have_no_edge() {
    let shop = Shop::new();
    shop.write("bad.txt", "1 2x\n3\n");
    let import = "import bad.txt -o g.tegula --ids integer --skip-bad-rows 9";
    shop.tegula(import).failed(3, &["bad.txt", "no edge", "bad rows skipped: 2"]);
    assert_eq!(shop.names(), ["bad.txt"]);
    // Edges that the user left out count as edges of the input.
    shop.write("loop.txt", "1 1\n");
    shop.tegula("import loop.txt -o h.tegula --drop-loops").done();
}
