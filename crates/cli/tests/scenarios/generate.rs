//! Synthetic graphs.

use std::io::Read;

use flate2::read::GzDecoder;
use tegula_testkit::EdgeList;

use crate::shop::{Shop, assert_shape};

fn edges(text: &str) -> Vec<(u64, u64)> {
    let edge = |line: &str| {
        let mut ends = line.split(' ').map(|end| end.parse().unwrap());
        (ends.next().unwrap(), ends.next().unwrap())
    };
    text.lines().map(edge).collect()
}

#[test]
fn every_model_writes_the_edges_that_it_promises() {
    let shop = Shop::new();
    for (model, vertices, edge_count) in [
        ("rmat --scale 7 --edge-factor 5", 128, 640),
        ("erdos-renyi --vertices 50 --edges 300", 50, 300),
        ("watts-strogatz --vertices 40 --neighbours 4 --rewiring 0.2", 40, 80),
        ("scale-free --vertices 40 --edges-per-vertex 2", 40, 78),
        ("grid --width 3 --height 4", 12, 17),
        ("path --vertices 10", 10, 9),
        ("star --vertices 10", 10, 9),
    ] {
        let words = format!("generate {model} -o g.el --force --json --threads 2");
        let report = shop.tegula(&words).done().json();
        assert_shape(&report, &[("seconds", "number"), ("bytes", "number")]);
        assert_eq!(report["schema"], "tegula.generate.v1");
        assert_eq!(report["vertices"], vertices, "{model}");
        assert_eq!(report["edges"], edge_count, "{model}");
        let text = String::from_utf8(shop.read("g.el")).unwrap();
        let edges = edges(&text);
        assert_eq!(edges.len(), edge_count, "{model}");
        let end = EdgeList::new(edges).vertices().last().copied();
        assert!(end < Some(vertices), "{model}: {end:?}");
    }
}

#[test]
fn a_seed_makes_the_same_graph_on_any_number_of_threads_and_in_any_format() {
    let shop = Shop::new();
    shop.tegula("generate rmat --scale 8 --seed 5 --threads 1 -o a.el").done();
    shop.tegula("generate rmat --scale 8 --seed 5 --threads 3 -o b.el.gz").done();
    shop.tegula("generate rmat --scale 8 --seed 6 -o c.el").done();
    shop.tegula("generate rmat --scale 8 --seed 5 -o d.bin32").done();
    let plain = shop.read("a.el");
    let mut unpacked = Vec::new();
    GzDecoder::new(&shop.read("b.el.gz")[..]).read_to_end(&mut unpacked).unwrap();
    assert_eq!(unpacked, plain);
    assert_ne!(shop.read("c.el"), plain);
    let pairs: Vec<(u64, u64)> = shop
        .read("d.bin32")
        .chunks_exact(8)
        .map(|pair| {
            let end = |at: usize| u32::from_le_bytes(pair[at..at + 4].try_into().unwrap());
            (u64::from(end(0)), u64::from(end(4)))
        })
        .collect();
    assert_eq!(pairs, edges(&String::from_utf8(plain).unwrap()));
}

#[test]
fn weights_are_a_third_column_that_imports_back() {
    let shop = Shop::new();
    shop.tegula("generate grid --width 4 --height 4 --weighted -o g.wel").done();
    let text = String::from_utf8(shop.read("g.wel")).unwrap();
    assert!(text.lines().all(|line| line.split(' ').count() == 3), "{text}");
    let report = shop.tegula("import g.wel -o g.tegula --weighted --undirected --json").done();
    assert_eq!(report.json()["edges"], 48);
    assert_eq!(shop.tegula("info g.tegula --json").json()["weighted"], true);
}

#[test]
fn impossible_graphs_and_formats_are_refused() {
    let shop = Shop::new();
    for (words, said) in [
        ("path --vertices 3 -o g.csv", "g.csv"),
        ("path --vertices 3 --weighted -o g.bin64", "weights"),
        ("rmat --scale 60 -o g.el", "scale is 60"),
        ("watts-strogatz --vertices 10 --neighbours 3 -o g.el", "even"),
        ("grid --width 3 -o g.el", "--height"),
    ] {
        shop.tegula(&format!("generate {words}")).failed(2, &[said]);
    }
    assert!(shop.names().is_empty());
    shop.write("g.el", "precious");
    shop.tegula("generate path --vertices 3 -o g.el").failed(1, &["--force"]);
    assert_eq!(shop.read("g.el"), b"precious");
}
