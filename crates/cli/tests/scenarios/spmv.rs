//! Products of a graph's matrix and a vector: against an oracle, and refused inputs.

use tegula_testkit::matching::epsilon;
use tegula_testkit::{EdgeList, small_graphs, spmv};

use crate::shop::{Shop, numbers};

/// The relative error of a few iterations in single precision, if no value is negative.
const TOLERANCE: f64 = 1e-5;

#[test]
#[ignore = "long"]
fn every_small_graph_has_the_oracles_products() {
    let shop = Shop::new();
    for (name, graph) in small_graphs(5) {
        let vector: Vec<(u64, f64)> =
            graph.vertices().into_iter().step_by(2).map(|id| (id, (id % 7) as f64 / 2.0)).collect();
        let rows = vector.iter().map(|(id, value)| format!("{id},{value}\n"));
        shop.write("x.csv", format!("vertex,value\n{}", rows.collect::<String>()));
        let weights = (0..graph.edges.len()).map(|edge| (edge * 31 % 9) as f32 / 4.0).collect();
        let weighted = EdgeList { weights: Some(weights), ..graph.clone() };
        for iterations in [0, 1, 3] {
            for is_weighted in [false, true] {
                let graph = if is_weighted { &weighted } else { &graph };
                let order = if is_weighted { "--order degree" } else { "" };
                shop.import(graph, &format!("--grid 6,7 {order}"));
                for (option, vector) in [("", None), ("--vector x.csv", Some(&vector[..]))] {
                    let words = format!("run spmv g.tegula --iterations {iterations} {option}");
                    let found = shop.tegula(&words).done().out;
                    let on_disk = shop.tegula(&format!("{words} --arrays disk --threads 1"));
                    assert_eq!(on_disk.done().out, found, "{name} {words}");
                    let expected = spmv(graph, vector, iterations);
                    let found = numbers::<f64>(&found, "value");
                    epsilon(&expected, &found, TOLERANCE).expect(name);
                }
            }
        }
    }
}

#[test]
fn walks_are_counted_in_both_directions_of_undirected_edges() {
    let shop = Shop::new();
    shop.write("g.el", "1 2\n2 3\n3 1\n3 4\n");
    shop.tegula("import g.el -o g.tegula --undirected").done();
    let walks = shop.tegula("run spmv g.tegula --iterations 2").done().out;
    assert_eq!(numbers::<f64>(&walks, "value"), [(1, 5.0), (2, 5.0), (3, 5.0), (4, 3.0)]);
    let report = shop.tegula("run spmv g.tegula --iterations 2 --json --top 1").done().json();
    assert_eq!(report["summary"]["sum"], 18.0);
    assert_eq!(report["summary"]["top"][0]["value"], 5.0);
}

#[test]
fn values_of_one_vertex_are_added_up_and_may_be_negative() {
    let shop = Shop::new();
    shop.write("g.el", "1 2\n1 3\n2 3\n");
    shop.tegula("import g.el -o g.tegula").done();
    shop.write("x.txt", "1 2.5\n2 -4\n1 0.5\n");
    let found = shop.tegula("run spmv g.tegula --vector x.txt").done().out;
    assert_eq!(numbers::<f64>(&found, "value"), [(1, 0.0), (2, 3.0), (3, -1.0)]);
}

#[test]
fn values_beyond_the_range_of_floats_are_warned_of() {
    let shop = Shop::new();
    shop.write("g.el", "1 1\n".repeat(1000));
    shop.tegula("import g.el -o g.tegula").done();
    let said = shop.tegula("run spmv g.tegula --iterations 14").done();
    assert!(said.err.contains("1 values are beyond the range of 32-bit floats"), "{}", said.err);
}

#[test]
fn vectors_that_make_no_sense_are_refused_with_their_line() {
    let shop = Shop::new();
    shop.write("g.el", "1 2\n");
    shop.tegula("import g.el -o g.tegula").done();
    for (table, words) in [
        ("1 one\n", ["x.txt", "line 1", "`one` is no finite number"]),
        ("1 1\n2 inf\n", ["x.txt", "line 2", "`inf` is no finite number"]),
        ("1 1\n3 1\n", ["x.txt", "line 2", "3"]),
    ] {
        shop.write("x.txt", table);
        shop.tegula("run spmv g.tegula --vector x.txt").failed(3, &words);
    }
    shop.tegula("run spmv g.tegula --executor seek").failed(2, &["fixed order"]);
}
