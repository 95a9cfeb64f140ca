//! Shortest paths: distances by both methods, and paths with and without coordinates.

use tegula_generators::Grid;
use tegula_testkit::{EdgeList, XorShift, shortest_path, small_graphs};

use crate::shop::{Shop, lines};

/// Imports a weighted graph as `g.tegula`.
fn import(shop: &Shop, graph: &EdgeList, options: &str) {
    let weights = graph.weights.as_ref().unwrap();
    let line =
        |(&(source, target), weight): (&(u64, u64), &f32)| format!("{source} {target} {weight}\n");
    shop.write("g.wel", graph.edges.iter().zip(weights).map(line).collect::<String>());
    let words = "import g.wel -o g.tegula --force --weighted --ids integer";
    shop.tegula(&format!("{words} {options}")).done();
}

/// Parses the table of a path.
fn path(text: &str) -> Vec<(u64, f64)> {
    let (header, rows) = lines(text, '\t');
    assert_eq!(header, ["position", "vertex", "distance"]);
    for (position, row) in rows.iter().enumerate() {
        assert_eq!(row[0], position.to_string());
    }
    rows.iter().map(|row| (row[1].parse().unwrap(), row[2].parse().unwrap())).collect()
}

/// Returns a square grid whose edges are up to a quarter longer than a straight line.
fn grid(side: u64) -> EdgeList {
    let edges = tegula_generators::edges(&Grid::new(side, side).unwrap());
    let mut random = XorShift::new(side);
    let weights = edges.iter().map(|_| 1.0 + random.fraction() as f32 / 4.0).collect();
    EdgeList { weights: Some(weights), ..EdgeList::new(edges) }
}

#[test]
fn both_methods_give_the_same_distances() {
    let shop = Shop::new();
    for (name, graph) in small_graphs(9) {
        let Some(&source) = graph.vertices().last() else { continue };
        import(&shop, &graph.weighted(3), "");
        let words = format!("run sssp g.tegula --source {source}");
        let expected = shop.tegula(&words).done().out;
        for options in ["", "--memory 48MiB", "--io threads", "--executor seek"] {
            let found = shop.tegula(&format!("{words} --method dijkstra {options}")).done().out;
            assert_eq!(found, expected, "{name} {options}");
        }
    }
    let words = "run sssp g.tegula --source 0 --method dijkstra";
    shop.tegula(&format!("{words} --delta 1")).failed(2, &["--delta", "delta-stepping"]);
    shop.tegula(&format!("{words} --executor scan")).failed(2, &["rows", "seek"]);
}

#[test]
fn a_path_is_the_same_with_coordinates_and_found_sooner() {
    let shop = Shop::new();
    let (side, graph) = (50, grid(50));
    let place = |vertex: u64| format!("{} {}", vertex % side, vertex / side);
    let places = |first: &'static str| {
        let lines = (0..side * side).map(|vertex| format!("{first}{vertex} {}\n", place(vertex)));
        lines.collect::<String>()
    };
    shop.write("places.txt", format!("# where\r\n\n{}9999 1 1\n", places("")));
    shop.write("places.co", format!("c of 2500\np aux sp co 2500\n{}", places("v ")));
    let expected = shortest_path(&graph.undirected(), 510, 1930);
    for order in ["given", "degree", "dfs"] {
        import(&shop, &graph, &format!("--undirected --order {order}"));
        let words = "run astar g.tegula --source 510 --target 1930";
        assert_eq!(path(&shop.tegula(words).done().out), expected);
        let blind = shop.tegula(&format!("{words} --json")).done().json();
        assert_eq!(blind["summary"]["length"].as_f64(), Some(expected.last().unwrap().1));
        assert_eq!(blind["summary"]["edges"].as_u64(), Some(expected.len() as u64 - 1));
        let expanded = |json: &serde_json::Value| json["summary"]["expanded"].as_u64().unwrap();
        for options in [
            "--coordinates places.txt",
            "--coordinates places.co --io threads --memory 48MiB",
            "--coordinates places.txt --heuristic-scale 1",
        ] {
            let words = format!("{words} {options}");
            assert_eq!(path(&shop.tegula(&words).done().out), expected, "{options}");
            let json = shop.tegula(&format!("{words} --json --top 1")).done().json();
            assert_eq!(json["summary"]["length"], blind["summary"]["length"]);
            assert!(expanded(&json) < expanded(&blind) / 2, "{json}");
            let first = serde_json::json!([{"position": 0, "vertex": 510, "distance": 0.0}]);
            assert_eq!(json["summary"]["top"], first);
        }
    }
    let words = "run astar g.tegula --source 510 --target 1930";
    let words = format!("{words} --coordinates places.txt --heuristic-scale 3");
    shop.tegula(&words).failed(2, &["scale of 3", "a smaller one"]);
    let exact = grid(50).edges.into_iter().map(|(source, target)| format!("{source} {target} 1\n"));
    shop.write("exact.wel", exact.collect::<String>());
    shop.tegula("import exact.wel -o exact.tegula --weighted --undirected").done();
    let words = "run astar exact.tegula --source 510 --target 1930 --coordinates places.txt";
    shop.tegula(words).done();
    shop.tegula(&format!("{words} --heuristic-scale 1.00001")).failed(2, &["1.00001"]);
    assert!(shop.tegula("run astar --help").done().out.contains("refused"));
    let words = "run astar g.tegula --source 5 --target 5";
    assert_eq!(path(&shop.tegula(words).done().out), [(5, 0.0)]);
    assert_eq!(
        shop.tegula(&format!("{words} --top 3")).done().out,
        "position\tvertex\tdistance\n0\t5\t0\n"
    );
}

#[test]
fn without_a_path_the_table_is_empty() {
    let shop = Shop::new();
    shop.write("g.csv", "src,dst,weight\nann,bob,1.5\nbob,cy,0\ndan,ann,1\n");
    shop.tegula("import g.csv -o g.tegula --weighted").done();
    let said = shop.tegula("run astar g.tegula --source ann --target dan").done();
    assert_eq!(said.out, "position\tvertex\tdistance\n");
    assert!(said.err.contains("there is none"), "{}", said.err);
    let json = shop.tegula("run astar g.tegula --source ann --target dan --json").done().json();
    let summary = &json["summary"];
    assert!(summary["length"].is_null() && summary["edges"].is_null(), "{summary}");
    assert_eq!(summary["expanded"], 3);
    let said = shop.tegula("run astar g.tegula --source dan --target cy").done();
    let table = "position\tvertex\tdistance\n0\tdan\t0\n1\tann\t1\n2\tbob\t2.5\n3\tcy\t2.5\n";
    assert_eq!(said.out, table);
    for (source, target, missing) in [("eve", "ann", "`eve`"), ("ann", "7", "`7`")] {
        let words = format!("run astar g.tegula --source {source} --target {target}");
        shop.tegula(&words).failed(3, &["no vertex", missing]);
    }
}

#[test]
fn coordinates_that_make_no_sense_are_refused_with_their_line() {
    let shop = Shop::new();
    import(
        &shop,
        &EdgeList { weights: Some(vec![1.0, 2.0]), ..EdgeList::new(vec![(1, 2), (2, 4)]) },
        "",
    );
    let words = "run astar g.tegula --source 1 --target 4 --coordinates places.txt";
    for (text, message) in [
        ("1 0 0\n2 1 x\n4 0 0\n", "places.txt, line 2: `x`"),
        ("1 0 0\n\n2 1\n4 0 0\n", "places.txt, line 3: "),
        ("1 0 0\n2 1 1\n4 0 inf\n", "line 3: `inf`"),
        ("1 0 0\n+2 1 1\n4 0 0\n", "line 2: g.tegula has no vertex `+2`"),
        ("v 1 0 0\nw 2 1 1\n", "line 2: `w` does not begin a line of DIMACS"),
        ("1 0 0\nv2 1 1\n4 0 0\n", "line 2: g.tegula has no vertex `v2`"),
        ("1 0 0\n2 1 1\n2 1 2\n4 0 0\n", "line 3: vertex `2` already has the coordinates 1 1"),
        ("1 0 0\n3 1 1\n4 0 0\n", "places.txt: it does not say where vertex `2` lies"),
        ("", "vertex `1`"),
    ] {
        shop.write("places.txt", text);
        shop.tegula(words).failed(3, &[message]);
    }
    shop.write("places.txt", b"1 0 0\n2 \xff 0\n");
    shop.tegula(words).failed(3, &["line 2", "UTF-8"]);
    shop.write("places.txt", [b"1 0 0\n".to_vec(), vec![b'2'; 3 << 20]].concat());
    shop.tegula(words).failed(3, &["line 2", "longer than 1.0 MiB"]);
    shop.tegula(&words.replace("places.txt", "no.txt")).failed(3, &["no.txt"]);
    shop.write("places.txt", "1 0 0\n2 1 1\n2 1 1\n4 0 0");
    shop.tegula(words).done();
    let scale = "run astar g.tegula --source 1 --target 4 --heuristic-scale 1";
    shop.tegula(scale).failed(2, &["--coordinates"]);
}

#[test]
fn weights_below_zero_are_refused() {
    let shop = Shop::new();
    let weights = Some(vec![1.0, -0.5, 1.0]);
    import(&shop, &EdgeList { weights, ..EdgeList::new(vec![(1, 2), (2, 4), (4, 8)]) }, "");
    shop.write("places.txt", "1 0 0\n2 1 1\n4 0 0\n8 0 0\n");
    for words in [
        "run sssp g.tegula --source 1 --method dijkstra",
        "run astar g.tegula --source 1 --target 8",
        "run astar g.tegula --source 1 --target 8 --coordinates places.txt",
    ] {
        shop.tegula(words).failed(3, &["below 0", "g.tegula"]);
    }
}

#[test]
fn an_estimate_is_what_the_run_needs() {
    let shop = Shop::new();
    import(&shop, &grid(300), "--undirected");
    let place = |vertex: u64| format!("{vertex} {} {}\n", vertex % 300, vertex / 300);
    shop.write("places.txt", (0..90_000).map(place).collect::<String>());
    for words in [
        "run sssp g.tegula --source 1 --method dijkstra",
        "run astar g.tegula --source 1 --target 80000",
        "run astar g.tegula --source 1 --target 80000 --coordinates places.txt",
    ] {
        let before = shop.tegula(&format!("{words} --json --estimate")).done().json();
        let expected_table = shop.tegula(words).done().out;
        let estimate = shop.tegula(&format!("{words} --json --estimate")).done().json();
        let needed = estimate["needed_bytes"].as_u64().unwrap();
        // The first run builds rows; its estimate covers what they will need.
        let bytes = |name: &str| before[name].as_u64().unwrap();
        let expected = ["vertex_bytes", "stream_bytes_min", "overhead_bytes"].map(bytes);
        let expected_needed: u64 = expected.iter().sum();
        assert!((needed..needed + 4 * 90_000).contains(&expected_needed), "{needed} {before}");
        assert!(bytes("needed_bytes") >= expected_needed, "{before}");
        let said = shop.tegula(&format!("{words} --memory {needed}")).done();
        assert!(said.out == expected_table, "{words}");
        let report = shop.tegula(&format!("{words} --memory {needed} --json")).done().json();
        assert!(report["peak_memory_bytes"].as_u64().unwrap() <= needed, "{report}");
        shop.tegula(&format!("{words} --memory {}", needed - 1)).failed(4, &["--memory"]);
    }
}
