//! `info` and `verify`.

use tegula_engine::RUN_OVERHEAD;
use tegula_testkit::EdgeList;

use crate::shop::{Shop, assert_shape};

#[test]
fn info_counts_vertices_edges_loops_and_duplicates() {
    let shop = Shop::new();
    // A star of 9 vertices, a loop, a duplicate.
    let mut edges: Vec<(u64, u64)> = (1..9).map(|leaf| (0, leaf)).collect();
    edges.extend([(3, 3), (0, 1)]);
    shop.import(&EdgeList::new(edges), "");
    let info = shop.tegula("info g.tegula --json").done().json();
    assert_shape(
        &info,
        &[
            ("bytes", "number"),
            ("bytes_per_edge", "object"),
            ("order", "string"),
            ("files", "object"),
            ("weighted", "bool"),
        ],
    );
    assert_eq!(info["schema"], "tegula.info.v1");
    for (name, number) in
        [("vertices", 9), ("edges", 10), ("loops", 1), ("duplicates", 1), ("snapshots", 1)]
    {
        assert_eq!(info[name], number, "{name}");
    }
    assert_eq!(info["isolated"], 0);
    let out = &info["out_degree"];
    assert_eq!((&out["min"], &out["max"]), (&0.into(), &9.into()));
    assert_eq!(out["log2_bins"], serde_json::json!([7, 1, 0, 0, 1]));
    assert_eq!(info["in_degree"]["log2_bins"], serde_json::json!([1, 6, 2]));
    let files = info["files"].as_object().unwrap().values();
    assert_eq!(info["bytes"].as_u64(), files.map(serde_json::Value::as_u64).sum());
}

#[test]
fn info_draws_the_degrees() {
    let shop = Shop::new();
    shop.import(&EdgeList::new(vec![(0, 1), (0, 2), (0, 3), (1, 2)]), "");
    let text = shop.tegula("info g.tegula").done().out;
    for words in ["out-degrees", "in-degrees", "2-3", "█", "bytes per edge", "directed"] {
        assert!(text.contains(words), "{words} in {text}");
    }
    shop.import(&EdgeList::new(vec![(0, 1)]), "--undirected");
    let text = shop.tegula("info g.tegula").done().out;
    assert!(text.contains("undirected") && !text.contains("in-degrees"), "{text}");
}

#[test]
fn a_sound_graph_is_verified_and_a_damaged_one_refused_naming_the_tile() {
    let shop = Shop::new();
    shop.import(&EdgeList::new((0..500).map(|v| (v, v * 7 % 500)).collect()), "");
    let report = shop.tegula("verify g.tegula --json").done().json();
    assert_eq!((&report["schema"], &report["edges"]), (&"tegula.verify.v1".into(), &500.into()));
    assert!(shop.tegula("verify g.tegula").done().out.contains("is sound"));
    assert_eq!(shop.tegula("verify g.tegula --quiet").done().out, "");

    let mut tiles = shop.read("g.tegula/tiles.data");
    let middle = tiles.len() / 2;
    tiles[middle] ^= 0x10;
    shop.write("g.tegula/tiles.data", &tiles);
    for words in ["verify g.tegula", "run pagerank g.tegula", "run wcc g.tegula -o out.csv"] {
        shop.tegula(words).failed(3, &["tiles.data", "tile 0"]);
    }
    assert!(!shop.names().contains(&"out.csv".to_owned()));
}

#[test]
fn verify_refuses_a_budget_that_its_tables_exceed() {
    let shop = Shop::new();
    shop.import(&EdgeList::new(vec![(0, 1)]), "");
    let least = format!("{}.0 MiB", RUN_OVERHEAD >> 20);
    shop.tegula("verify g.tegula --memory 8MiB").failed(4, &[&least, "8.0 MiB", "--memory"]);
}
