//! Graph directories of earlier versions of the format open, verify and have the answers that they
//! always had.
//!
//! `tests/data/format-N` holds what the first tegula with format N made, and what it made it from.
//! Such a folder is never changed; a new version of the format gets a folder of its own. Of version 1,
//! by tegula 0.1.0:
//!
//! ```sh
//! tegula import few.txt -o weighted --weighted --order degree    # ids, their order, weights
//! tegula import few.txt -o names --ids string --order given      # strings
//! tegula import dense.txt -o dense --order given                 # ids are the ranks; rows and masks
//! ```
//!
//! Of version 2, which has added rows, the same with each encoding of rows:
//!
//! ```sh
//! tegula import few.txt -o weighted --weighted --order degree --row-encoding gap
//! tegula import few.txt -o names --ids string --order given --row-encoding ceesor
//! tegula import dense.txt -o dense --order given --row-encoding plain
//! ```
//!
//! Of version 3, whose manifest is JSON to its last byte, and of version 4, which packs the numbers of
//! vertices, the same once more. Of version 5, which has added rows by target, with
//! `--layouts tiles,rows,reverse`.

use std::fs;
use std::path::Path;

use tegula_testkit::{EdgeList, bfs, match_pagerank, sssp, wcc};

use crate::shop::{Shop, column, numbers, numbers_with_gaps};

/// The versions of which there are graphs.
const FORMATS: [u32; 5] = [1, 2, 3, 4, 5];

/// A shop with one of the graphs of a format, as `g.tegula`, and one of the edge lists, as `g.txt`.
fn shop_with(format: u32, graph: &str, edges: &str) -> Shop {
    let shop = Shop::new();
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/data/format-{format}"));
    shop.write("g.txt", fs::read(data.join(edges)).unwrap());
    fs::create_dir(shop.path("g.tegula")).unwrap();
    for entry in fs::read_dir(data.join(graph)).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, shop.path("g.tegula").join(path.file_name().unwrap())).unwrap();
    }
    shop.tegula("verify g.tegula").done();
    shop
}

/// PageRank with ranks that single precision holds exactly, in whatever order they are added up: 16
/// vertices, out-degrees and a damping factor that are powers of two.
const PAGERANK: &str = "run pagerank g.tegula --damping 0.5 --iterations 3";

/// Of `few.txt`: vertex, rank, distance from vertex 10, component.
const FEW: [(u64, f32, &str, u64); 16] = [
    (0, 0.09594154, "2", 0),
    (1, 0.039346695, "4", 0),
    (2, 0.077531815, "2", 0),
    (7, 0.054193497, "3", 0),
    (10, 0.06714821, "0", 0),
    (99, 0.0946064, "3", 0),
    (1000, 0.04255867, "5", 0),
    (4096, 0.04078865, "", 0),
    (65535, 0.03259468, "", 0),
    (65536, 0.062036514, "1", 0),
    (123456789, 0.06777382, "3", 0),
    (4294967295, 0.09639931, "", 4294967295),
    (4294967296, 0.043535233, "", 4294967295),
    (1099511627777, 0.04459572, "", 4294967295),
    (9223372036854775808, 0.080034256, "", 4294967295),
    (18446744073709551615, 0.060914993, "", 4294967295),
];

/// The table of an algorithm on `few.txt`, in the order of the ids.
fn table(header: &str, are_strings: bool, row: impl Fn(usize) -> String) -> String {
    let mut rows: Vec<usize> = (0..FEW.len()).collect();
    if are_strings {
        rows.sort_by_key(|&row| FEW[row].0.to_string());
    }
    let lines = rows.into_iter().map(|index| format!("{}\t{}\n", FEW[index].0, row(index)));
    format!("vertex\t{header}\n{}", lines.collect::<String>())
}

/// That every algorithm has the answers of `few.txt`.
#[track_caller]
fn assert_answers_of_few(shop: &Shop, are_strings: bool) {
    let ranks = shop.tegula(PAGERANK).done().out;
    assert_eq!(ranks, table("rank", are_strings, |row| FEW[row].1.to_string()));
    for executor in ["scan", "auto"] {
        let hops = shop.tegula(&format!("run bfs g.tegula --source 10 --executor {executor}"));
        let expected = table("distance", are_strings, |row| FEW[row].2.to_owned());
        assert_eq!(hops.done().out, expected);
    }
    // The smallest name of a component is the first in the order of bytes.
    let name = |row: usize| match FEW[row].3 {
        4294967295 if are_strings => "1099511627777".to_owned(),
        id => id.to_string(),
    };
    let components = shop.tegula("run wcc g.tegula").done().out;
    assert_eq!(components, table("component", are_strings, name));
}

#[test]
fn graphs_of_every_format_say_what_they_hold() {
    for format in FORMATS {
        for (graph, edges, vertices, ids, is_weighted) in [
            ("weighted", "few.txt", 16, "integer", true),
            ("names", "few.txt", 16, "string", false),
            ("dense", "dense.txt", 512, "range", false),
        ] {
            let shop = shop_with(format, graph, edges);
            let facts = shop.tegula("info g.tegula --json").done().json();
            let text = String::from_utf8(shop.read("g.txt")).unwrap();
            let count = text.lines().filter(|line| !line.starts_with('#')).count();
            assert_eq!(facts["format_version"], format, "{graph}");
            assert_eq!((&facts["vertices"], &facts["edges"]), (&vertices.into(), &count.into()));
            assert_eq!((&facts["ids"], &facts["weighted"]), (&ids.into(), &is_weighted.into()));
            assert_eq!(facts["bytes_per_edge"]["rows"].is_number(), format > 1);
            assert_eq!(facts["bytes_per_edge"]["reverse"].is_number(), format > 4);
        }
    }
}

#[test]
fn graphs_of_every_format_have_the_answers_that_they_always_had() {
    for format in FORMATS {
        assert_answers_of_few(&shop_with(format, "weighted", "few.txt"), false);
        assert_answers_of_few(&shop_with(format, "names", "few.txt"), true);
    }
}

#[test]
fn what_they_were_made_from_still_has_the_same_answers() {
    let shop = shop_with(1, "weighted", "few.txt");
    shop.tegula("import g.txt -o g.tegula --force --weighted").done();
    assert_answers_of_few(&shop, false);
    shop.tegula("import g.txt -o g.tegula --force --ids string").done();
    assert_answers_of_few(&shop, true);
}

#[test]
fn what_they_were_made_from_becomes_the_same_rows() {
    for (graph, edges, options) in [
        ("weighted", "few.txt", "--weighted --order degree --row-encoding gap"),
        ("names", "few.txt", "--ids string --order given --row-encoding ceesor"),
        ("dense", "dense.txt", "--order given --row-encoding plain"),
    ] {
        let shop = shop_with(2, graph, edges);
        let rows = |shop: &Shop| {
            let files = shop.files("g.tegula").into_iter();
            files.filter(|(name, _)| name.starts_with("rows.")).collect::<Vec<_>>()
        };
        let before = rows(&shop);
        assert!(before.len() >= 2);
        let layouts = "--layouts tiles,rows,reverse";
        shop.tegula(&format!("import g.txt -o g.tegula --force {layouts} {options}")).done();
        assert!(rows(&shop) == before, "{graph}: a change of the bytes is a new version");
        let newest = shop_with(5, graph, edges).files("g.tegula");
        assert!(
            shop.files("g.tegula") == newest,
            "{graph}: a change of the bytes is a new version"
        );
    }
}

#[test]
fn rows_are_added_to_a_graph_of_the_first_format_which_becomes_one_of_the_newest() {
    for (graph, edges, source) in
        [("weighted", "few.txt", 10), ("names", "few.txt", 10), ("dense", "dense.txt", 509)]
    {
        let shop = shop_with(1, graph, edges);
        let before = shop.files("g.tegula");
        let run = |executor: &str| {
            let words = format!("run bfs g.tegula --source {source} --executor {executor}");
            shop.tegula(&words).done().out
        };
        assert_eq!(run("scan"), run("seek"));
        assert_eq!(run("scan"), run("auto"));
        let facts = shop.tegula("info g.tegula --json").done().json();
        assert_eq!(facts["format_version"], 5);
        assert!(facts["bytes_per_edge"]["rows"].is_number());
        shop.tegula("verify g.tegula").done();
        let after = shop.files("g.tegula");
        let mut kept = before.iter().filter(|(name, _)| *name != "manifest.json");
        assert!(kept.all(|(name, bytes)| after[name] == *bytes), "{graph}");
    }
}

/// The edges of a list, with their weights if it has any.
fn edges_of(shop: &Shop) -> EdgeList {
    let text = String::from_utf8(shop.read("g.txt")).unwrap();
    let mut graph = EdgeList::default();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let mut words = line.split(' ');
        let mut id = || words.next().unwrap().parse().unwrap();
        graph.edges.push((id(), id()));
        if let Some(weight) = words.next() {
            graph.weights.get_or_insert_default().push(weight.parse().unwrap());
        }
    }
    graph
}

#[test]
fn shortest_paths_of_every_format_are_those_of_the_oracle() {
    for format in FORMATS {
        let shop = shop_with(format, "weighted", "few.txt");
        let expected = sssp(&edges_of(&shop), 10);
        assert!(expected.iter().filter(|row| row.1 < f64::INFINITY).count() > 8);
        for executor in ["scan", "seek", "auto"] {
            let words = format!("run sssp g.tegula --source 10 --executor {executor}");
            let found = column(&shop.tegula(&words).done().out, "distance").into_iter();
            let found: Vec<(u64, f64)> = found
                .map(|(id, cell)| (id, cell.map_or(f64::INFINITY, |cell| cell.parse().unwrap())))
                .collect();
            assert_eq!(found, expected, "format {format}, {executor}");
        }
    }
}

#[test]
fn dense_graphs_of_every_format_have_the_answers_of_the_oracles() {
    for format in FORMATS {
        let shop = shop_with(format, "dense", "dense.txt");
        let graph = edges_of(&shop);
        let ranks = shop.tegula("run pagerank g.tegula --iterations 10").done().out;
        match_pagerank(&graph, 0.85, 10, &numbers(&ranks, "rank")).unwrap();
        for executor in ["scan", "seek"] {
            let words = format!("run bfs g.tegula --source 509 --executor {executor}");
            let hops = shop.tegula(&words).done().out;
            assert_eq!(numbers_with_gaps(&hops, "distance"), bfs(&graph, 509));
            let reached = column(&hops, "distance").iter().filter(|row| row.1.is_some()).count();
            assert!(reached > 50);
        }
        let components = shop.tegula("run wcc g.tegula").done().out;
        assert_eq!(numbers(&components, "component"), wcc(&graph));
    }
}
