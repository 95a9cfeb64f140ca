//! Algorithms that follow rows: against oracles, with other kinds of tables, and refused.

use tegula_testkit::{EdgeList, conductance, mis, mst, small_graphs, verify_mis, verify_mst, wcc};

use crate::shop::{Shop, column, lines, numbers};

fn weighted(graph: &EdgeList) -> EdgeList {
    let weight = |edge: usize| (edge * 7919 % 5) as f32 - 0.5;
    EdgeList { weights: Some((0..graph.edges.len()).map(weight).collect()), ..graph.clone() }
}

#[test]
fn every_small_graph_has_the_oracles_answers_in_both_orders() {
    let shop = Shop::new();
    for (name, graph) in small_graphs(5) {
        let graph = weighted(&graph);
        for order in ["given --layouts tiles,rows", "degree"] {
            shop.import(&graph, &format!("--undirected --order {order}"));
            let components = shop.tegula("run wcc g.tegula --method traversal").done().out;
            assert_eq!(numbers::<u64>(&components, "component"), wcc(&graph), "{name} {order}");
            let members = shop.tegula("run mis g.tegula --seed 9").done().out;
            let members = numbers::<bool>(&members, "in_set");
            verify_mis(&graph, &members).expect(name);
            assert_eq!(members, mis(&graph, 9), "{name} {order}");
            let (header, rows) = lines(&shop.tegula("run mst g.tegula").done().out, '\t');
            assert_eq!(header, ["u", "v", "weight"]);
            let end = |cell: &String| cell.parse::<u64>().unwrap();
            let edge = |row: &Vec<String>| (end(&row[0]), end(&row[1]), row[2].parse().unwrap());
            let forest: Vec<(u64, u64, f32)> = rows.iter().map(edge).collect();
            verify_mst(&graph, &forest).expect(name);
            assert_eq!(forest, mst(&graph), "{name} {order}");
        }
    }
}

#[test]
fn every_set_has_its_conductance() {
    let shop = Shop::new();
    for (name, graph) in small_graphs(5) {
        let sets: Vec<(u64, u64)> = graph
            .vertices()
            .into_iter()
            .enumerate()
            .map(|(i, v)| (v, 10 * (i as u64 % 3)))
            .collect();
        let sets = &sets[sets.len() / 5..];
        shop.write(
            "sets.txt",
            sets.iter().map(|(v, set)| format!("{v} {set}\n")).collect::<String>(),
        );
        for undirected in [false, true] {
            shop.import(&graph, if undirected { "--undirected" } else { "" });
            let said = shop.tegula("run conductance g.tegula --sets sets.txt").done().out;
            let (header, rows) = lines(&said, '\t');
            assert_eq!(header, ["set", "vertices", "volume", "cut", "conductance"]);
            let number = |cell: &String| cell.parse::<u64>().unwrap();
            let found: Vec<_> = rows
                .iter()
                .map(|row| (number(&row[0]), number(&row[1]), number(&row[2]), number(&row[3])))
                .collect();
            assert_eq!(found, conductance(&graph, undirected, sets), "{name}");
        }
    }
    shop.import(&EdgeList::new(vec![(1, 2), (2, 3), (3, 1), (3, 4), (5, 5)]), "--undirected");
    shop.write("sets.txt", "# two\n1 1\n2  1\n3\t1\n\n4 2\n");
    let words = "run conductance g.tegula --sets sets.txt --json -o sets.csv";
    let report = shop.tegula(words).done().json();
    let figures = |set, vertices, volume, cut, conductance: f64| {
        serde_json::json!({"set": set, "vertices": vertices, "volume": volume, "cut": cut,
            "conductance": conductance})
    };
    let sets = [figures(1, 3, 7, 1, 0.5), figures(2, 1, 1, 1, 1.0)];
    assert_eq!(report["summary"], serde_json::json!({"volume": 9, "set_count": 2, "sets": sets}));
    let table = String::from_utf8(shop.read("sets.csv")).unwrap();
    assert_eq!(table, "set,vertices,volume,cut,conductance\n1,3,7,1,0.5\n2,1,1,1,1\n");
    let report = shop.tegula(&format!("{words} --force --top 1")).done().json();
    assert_eq!(
        report["summary"],
        serde_json::json!({"volume": 9, "set_count": 2, "sets": sets[..1]})
    );
    assert_eq!(String::from_utf8(shop.read("sets.csv")).unwrap(), table);
    let top = shop.tegula("run conductance g.tegula --sets sets.txt --top 1").done().out;
    assert_eq!(top, "set\tvertices\tvolume\tcut\tconductance\n1\t3\t7\t1\t0.5\n");
    shop.write("sets.txt", "1 1\n2 1\n3 1\n4 1\n5 1\n");
    let report = shop.tegula("run conductance g.tegula --sets sets.txt --json").done().json();
    assert!(report["summary"]["sets"][0]["conductance"].is_null(), "{report}");
}

#[test]
fn sets_that_make_no_sense_are_refused_with_their_line() {
    let shop = Shop::new();
    shop.import(&EdgeList::new(vec![(1, 2), (2, 4)]), "");
    for (text, words) in [
        ("1 0\n3 0\n", "sets.txt, line 2: g.tegula has no vertex `3`"),
        ("1\n", "sets.txt, line 1: expected 2 columns separated by blanks, found 1"),
        (
            "1 0\n\n2 x\n7.0 x\n",
            "sets.txt, line 4: g.tegula has no vertex `7.0`, as its ids are integers",
        ),
        ("1;0\n;1\n", "sets.txt, line 2: the id is empty"),
        ("1,\"a\n", "sets.txt, line 1: a quote is opened but not closed"),
        ("1 0\n9 1\n2\n", "sets.txt, line 2: g.tegula has no vertex `9`"),
        ("vertices of sets\n1 0\n", "a header is known by the column names `vertex`, `set`"),
        ("vertex,size,level\n1,0,0\n", "sets.txt, line 1: no column is known as the set"),
    ] {
        shop.write("sets.txt", text);
        shop.tegula("run conductance g.tegula --sets sets.txt").failed(3, &[words]);
    }
    shop.tegula("run conductance g.tegula --sets no.txt").failed(3, &["no.txt"]);
    shop.tegula("run conductance g.tegula").failed(2, &["--sets"]);
}

#[test]
fn tables_of_edges_and_of_members_have_every_format() {
    let shop = Shop::new();
    let mut graph = EdgeList::new(vec![(1, 2), (2, 3), (3, 1)]);
    graph.weights = Some(vec![0.5, 2.0, 1.0]);
    shop.import(&graph, "--undirected");
    shop.tegula("run mst g.tegula -o out.csv").done();
    assert_eq!(shop.read("out.csv"), b"u,v,weight\n1,2,0.5\n1,3,1\n");
    shop.tegula("run mst g.tegula -o out.npy").done();
    let bytes = shop.read("out.npy");
    let header = String::from_utf8_lossy(&bytes[..128]).into_owned();
    assert!(header.contains("('weight', '<f4')") && header.contains("'shape': (2,)"), "{header}");
    assert_eq!(bytes.len() % 64, 2 * 20);
    shop.tegula("run mst g.tegula -o out.parquet").done();
    shop.tegula("run mis g.tegula -o mis.npy").done();
    let bytes = shop.read("mis.npy");
    assert!(String::from_utf8_lossy(&bytes[..128]).contains("('in_set', '|b1')"));
    assert_eq!(bytes[bytes.len() - 27..].chunks(9).filter(|row| row[8] == 1).count(), 1);
    let report = shop.tegula("run mst g.tegula --json").done().json();
    let heaviest = serde_json::json!([
        {"u": 1, "v": 3, "weight": 1.0},
        {"u": 1, "v": 2, "weight": 0.5},
    ]);
    let expected = serde_json::json!({"edges": 2, "trees": 1, "weight": 1.5, "top": heaviest});
    assert_eq!(report["summary"], expected);
    let top = shop.tegula("run mst g.tegula --top 1").done().out;
    assert_eq!(top, "u\tv\tweight\n1\t3\t1\n");
    let ties = EdgeList::new(vec![(4, 3), (3, 2), (2, 1), (1, 5)]);
    shop.import(&ties, "--undirected");
    let top = shop.tegula("run mst g.tegula --top 2").done().out;
    assert_eq!(top, "u\tv\tweight\n1\t2\t1\n1\t5\t1\n");
    assert_eq!(shop.tegula("run mst g.tegula --top 0").done().out.lines().count(), 1);
    shop.write("s.tsv", "bob\tann\ncy\tbob\n");
    shop.tegula("import s.tsv -o s.tegula --no-header --ids string --undirected").done();
    let forest = shop.tegula("run mst s.tegula").done().out;
    assert_eq!(forest, "u\tv\tweight\nann\tbob\t1\nbob\tcy\t1\n");
    shop.tegula("run mst s.tegula -o s.npy").failed(2, &[".npy", "string"]);
}

#[test]
fn results_depend_on_neither_threads_nor_memory_nor_backend() {
    let shop = Shop::new();
    shop.tegula("generate rmat --scale 11 -o g.el").done();
    shop.tegula("import g.el -o g.tegula --undirected --layouts tiles,rows").done();
    shop.write("sets.txt", "1 1\n2 1\n3 2\n");
    for algorithm in [
        "mis g.tegula",
        "mst g.tegula",
        "wcc g.tegula --method traversal",
        "conductance g.tegula --sets sets.txt",
    ] {
        let expected = shop.tegula(&format!("run {algorithm} --threads 1")).done().out;
        for options in ["--threads 3 --io threads", "--threads 2 --memory 48MiB", "--executor seek"]
        {
            let words = format!("run {algorithm} {options}");
            assert!(shop.tegula(&words).done().out == expected, "{words}");
        }
        let said = shop.tegula(&format!("run {algorithm} --estimate --json --memory 8MiB"));
        assert_eq!(said.code, Some(4), "{}", said.err);
        let needed = said.json()["needed_bytes"].as_u64().unwrap();
        assert!(needed < 64 << 20, "{needed}");
        let least = shop.tegula(&format!("run {algorithm} --memory {needed}")).done().out;
        assert!(least == expected, "{algorithm} within {needed} bytes");
        let less = needed - 1;
        shop.tegula(&format!("run {algorithm} --memory {less}")).failed(4, &["budget"]);
    }
    let first = column(&shop.tegula("run mis g.tegula").done().out, "in_set");
    assert_ne!(first, column(&shop.tegula("run mis g.tegula --seed 2").done().out, "in_set"));
}

#[test]
fn a_directed_graph_and_a_scan_are_refused() {
    let shop = Shop::new();
    shop.import(&EdgeList::new(vec![(1, 2)]), "");
    for algorithm in ["mis g.tegula", "mst g.tegula", "wcc g.tegula --method traversal"] {
        shop.tegula(&format!("run {algorithm}")).failed(2, &["directed", "--undirected"]);
        let words = format!("run {algorithm} --executor scan");
        shop.tegula(&words).failed(2, &["follows rows", "--executor"]);
    }
}
