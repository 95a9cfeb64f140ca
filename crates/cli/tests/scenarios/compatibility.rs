//! Graph directories of every readable version of the format open, verify, and have the same
//! answers as ever. A change of the bytes needs a new version.
//!
//! `tests/data/format-8` holds graphs that the first tegula with this format made, and their edge
//! lists:
//!
//! ```sh
//! tegula import few.txt -o weighted --weighted --order degree --row-encoding gap   # ids, their order, weights
//! tegula import few.txt -o names --ids string --order given --row-encoding ceesor  # strings
//! tegula import dense.txt -o dense --order given --row-encoding plain    # ids are the ranks; rows and masks
//! ```
//!
//! All have `--layouts tiles,rows,reverse`. `cells` is `dense.txt` in cells of 64 by 128 vertices,
//! and `tests/data/format-9` is `dense.txt` with rows in pieces of some 40 edges: only the library
//! can make these two. `tests/data/format-10` has `cells` and `weighted` as shards, which `tegula
//! partition --ranks 2 --balance edges` made. `tests/data/format-11` has `equal`, which is `few.txt`
//! with equal weights, made as `weighted`, and its `shards`. Such a folder is never changed; a new
//! version of the format gets a folder of its own.

use std::fs;
use std::path::Path;

use tegula_import::{ImportConfig, import};
use tegula_machine::threads::{Cancel, Silent};
use tegula_store::graph::VertexOrder;
use tegula_store::rows::{ChunkCut, RowEncoding};
use tegula_store::tiles::Grid;
use tegula_testkit::{EdgeList, bfs, match_pagerank, sssp, wcc};

use crate::shop::{Shop, column, numbers, numbers_with_gaps};

/// Returns a shop with one of the graphs as `g.tegula`, and one of the edge lists as `g.txt`.
fn shop_with(graph: &str, edges: &str) -> Shop {
    shop_of_version(8, graph, edges)
}

/// Returns the same for a version of the format.
fn shop_of_version(version: u32, graph: &str, edges: &str) -> Shop {
    let shop = Shop::new();
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    shop.write("g.txt", fs::read(data.join("format-8").join(edges)).unwrap());
    copy(&shop, &data.join(format!("format-{version}")).join(graph), "g.tegula");
    shop
}

/// Copies a graph, and verifies it.
fn copy(shop: &Shop, graph: &Path, name: &str) {
    fs::create_dir_all(shop.path(name)).unwrap();
    for entry in fs::read_dir(graph).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, shop.path(name).join(path.file_name().unwrap())).unwrap();
    }
    shop.tegula(&format!("verify {name}")).done();
}

/// PageRank whose ranks are exact in single precision, in any order of summation: 16 vertices, and
/// out-degrees and a damping factor that are powers of two.
const PAGERANK: &str = "run pagerank g.tegula --damping 0.5 --iterations 3";

/// Rows for `few.txt`: vertex, rank, distance from vertex 10, component.
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

/// Returns the table of an algorithm on `few.txt`, in the order of the ids.
fn table(header: &str, are_strings: bool, row: impl Fn(usize) -> String) -> String {
    let mut rows: Vec<usize> = (0..FEW.len()).collect();
    if are_strings {
        rows.sort_by_key(|&row| FEW[row].0.to_string());
    }
    let lines = rows.into_iter().map(|index| format!("{}\t{}\n", FEW[index].0, row(index)));
    format!("vertex\t{header}\n{}", lines.collect::<String>())
}

/// Asserts that every algorithm has the answers for `few.txt`.
#[track_caller]
fn assert_answers_of_few(shop: &Shop, are_strings: bool) {
    let ranks = shop.tegula(PAGERANK).done().out;
    assert_eq!(ranks, table("rank", are_strings, |row| FEW[row].1.to_string()));
    for executor in ["scan", "auto"] {
        let hops = shop.tegula(&format!("run bfs g.tegula --source 10 --executor {executor}"));
        let expected = table("distance", are_strings, |row| FEW[row].2.to_owned());
        assert_eq!(hops.done().out, expected);
    }
    // The name of a component is its smallest name in byte order.
    let name = |row: usize| match FEW[row].3 {
        4294967295 if are_strings => "1099511627777".to_owned(),
        id => id.to_string(),
    };
    let components = shop.tegula("run wcc g.tegula").done().out;
    assert_eq!(components, table("component", are_strings, name));
}

#[test]
fn graphs_say_what_they_hold() {
    for (graph, edges, vertices, ids, is_weighted) in [
        ("weighted", "few.txt", 16, "integer", true),
        ("names", "few.txt", 16, "string", false),
        ("dense", "dense.txt", 512, "range", false),
    ] {
        let shop = shop_with(graph, edges);
        let facts = shop.tegula("info g.tegula --json").done().json();
        let text = String::from_utf8(shop.read("g.txt")).unwrap();
        let count = text.lines().filter(|line| !line.starts_with('#')).count();
        assert_eq!(facts["format_version"], 8, "{graph}");
        assert_eq!((&facts["vertices"], &facts["edges"]), (&vertices.into(), &count.into()));
        assert_eq!((&facts["ids"], &facts["weighted"]), (&ids.into(), &is_weighted.into()));
        assert!(facts["bytes_per_edge"]["rows"].is_number());
        assert!(facts["bytes_per_edge"]["reverse"].is_number());
    }
}

#[test]
fn graphs_have_the_answers_that_they_always_had() {
    assert_answers_of_few(&shop_with("weighted", "few.txt"), false);
    assert_answers_of_few(&shop_with("names", "few.txt"), true);
}

#[test]
fn their_edge_lists_still_have_the_same_answers() {
    let shop = shop_with("weighted", "few.txt");
    shop.tegula("import g.txt -o g.tegula --force --weighted").done();
    assert_answers_of_few(&shop, false);
    shop.tegula("import g.txt -o g.tegula --force --ids string").done();
    assert_answers_of_few(&shop, true);
}

#[test]
fn their_edge_lists_still_become_the_same_files() {
    for (graph, edges, options) in [
        ("weighted", "few.txt", "--weighted --order degree --row-encoding gap"),
        ("names", "few.txt", "--ids string --order given --row-encoding ceesor"),
        ("dense", "dense.txt", "--order given --row-encoding plain"),
    ] {
        let shop = shop_with(graph, edges);
        let before = shop.files("g.tegula");
        // The manifest says how large cells are; these graphs were made when columns were larger.
        let layouts = "--layouts tiles,rows,reverse --grid 24,24";
        shop.tegula(&format!("import g.txt -o g.tegula --force {layouts} {options}")).done();
        assert!(
            shop.files("g.tegula") == before,
            "{graph}: a change of the bytes is a new version"
        );
    }
}

#[test]
fn cells_are_filed_as_they_always_were() {
    let shop = shop_with("cells", "dense.txt");
    let before = shop.files("g.tegula");
    let grid = Grid { segment_log2: 6, column_log2: 7 };
    let (order, rows, memory) = (Some(VertexOrder::Given), Some(RowEncoding::Gap), 64 << 20);
    let mut config = ImportConfig { order, rows, memory, force: true, ..Default::default() };
    config.tuning.grid = grid;
    let (edges, graph) = (shop.path("g.txt"), shop.path("g.tegula"));
    import(&[edges], &graph, &config, &Silent, &Cancel::default()).unwrap();
    assert!(shop.files("g.tegula") == before, "a change of the bytes is a new version");
    let hops = shop.tegula("run bfs g.tegula --source 509 --executor scan").done().out;
    assert_eq!(numbers_with_gaps(&hops, "distance"), bfs(&edges_of(&shop), 509));
}

#[test]
fn rows_are_in_pieces_as_they_always_were() {
    let shop = shop_of_version(9, "pieces", "dense.txt");
    let facts = shop.tegula("info g.tegula --json").done().json();
    assert_eq!(facts["format_version"], 9);
    let graph = edges_of(&shop);
    for executor in ["scan", "seek", "auto"] {
        let words = format!("run bfs g.tegula --source 509 --executor {executor}");
        let hops = shop.tegula(&words).done().out;
        assert_eq!(numbers_with_gaps(&hops, "distance"), bfs(&graph, 509), "{executor}");
    }
    let before = shop.files("g.tegula");
    let (order, rows) = (Some(VertexOrder::Given), Some(RowEncoding::Gap));
    let row_cut = ChunkCut { edges_max: 40, window_log2: 5 };
    let grid = Grid { segment_log2: 24, column_log2: 22 };
    let mut config = ImportConfig { order, rows, reverse: rows, ..Default::default() };
    (config.tuning.grid, config.tuning.row_cut) = (grid, row_cut);
    let config = ImportConfig { memory: 64 << 20, force: true, ..config };
    let (edges, output) = (shop.path("g.txt"), shop.path("g.tegula"));
    import(&[edges], &output, &config, &Silent, &Cancel::default()).unwrap();
    assert!(shop.files("g.tegula") == before, "a change of the bytes is a new version");
}

#[test]
fn shards_are_cut_and_put_together_as_they_always_were() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/format-10");
    for (graph, edges, search) in
        [("cells", "dense.txt", "bfs --source 509"), ("weighted", "few.txt", "sssp --source 10")]
    {
        let shop = shop_with(graph, edges);
        for rank in 0..2 {
            let shard = format!("cut/rank-{rank}.tegula");
            copy(&shop, &data.join(graph).join(format!("rank-{rank}")), &shard);
            let facts = shop.tegula(&format!("info {shard} --json")).done().json();
            assert_eq!(facts["format_version"], 10, "{graph}");
        }
        shop.tegula("gather cut -o back.tegula").done();
        assert!(shop.files("back.tegula") == shop.files("g.tegula"), "{graph}");
        for algorithm in ["pagerank --damping 0.5 --iterations 3", search] {
            shop.tegula(&format!("run {algorithm} g.tegula -o one.csv --force")).done();
            shop.tegula(&format!("run {algorithm} cut --ranks 2 -o ranks.csv --force")).done();
            assert!(shop.read("one.csv") == shop.read("ranks.csv"), "{graph}, {algorithm}");
        }
        shop.tegula("partition g.tegula --ranks 2 --balance edges -o again").done();
        for rank in 0..2 {
            let [before, now] =
                ["cut", "again"].map(|folder| shop.files(&format!("{folder}/rank-{rank}.tegula")));
            assert!(before == now, "{graph}: a change of the bytes is a new version");
        }
    }
}

#[test]
fn sssp_counts_hops_if_all_weights_are_equal() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/format-11");
    let shop = Shop::new();
    shop.write("g.txt", fs::read(data.join("equal.txt")).unwrap());
    copy(&shop, &data.join("equal"), "g.tegula");
    for rank in ["rank-0", "rank-1"] {
        copy(&shop, &data.join("shards").join(rank), &format!("cut/{rank}.tegula"));
    }
    for name in ["g.tegula", "cut/rank-0.tegula"] {
        let facts = shop.tegula(&format!("info {name} --json")).done().json();
        assert_eq!(facts["format_version"], 11, "{name}");
    }
    assert!(shop.tegula("info g.tegula").done().out.contains("all 0.3\n"));
    let expected = sssp(&edges_of(&shop), 10);
    for way in ["g.tegula", "g.tegula --method dijkstra", "g.tegula --delta 1", "cut --ranks 2"] {
        let table = shop.tegula(&format!("run sssp {way} --source 10")).done().out;
        assert_eq!(distances(&table), expected, "{way}");
    }
    // 0.6 is less than twice the `f32` nearest to 0.3.
    for (cutoff, reached) in [("0", 1), ("0.3", 1), ("0.300001", 2), ("0.6", 2), ("0.600001", 4)] {
        let words = format!("run sssp g.tegula --source 10 --cutoff {cutoff} --json");
        for method in ["", "--delta 1", "--method dijkstra"] {
            let found = shop.tegula(&format!("{words} {method}")).done().json();
            assert_eq!(found["summary"]["reached"], reached, "{cutoff} {method}");
            // Hops need no buckets.
            assert_eq!(found["summary"]["delta"].is_number(), method == "--delta 1");
        }
    }
    let before = shop.files("g.tegula");
    shop.tegula("gather cut -o back.tegula").done();
    assert!(shop.files("back.tegula") == before);
    shop.tegula("partition g.tegula --ranks 2 --balance edges -o again").done();
    for rank in ["rank-0", "rank-1"] {
        let [cut, again] =
            ["cut", "again"].map(|folder| shop.files(&format!("{folder}/{rank}.tegula")));
        assert!(cut == again, "{rank}: a change of the bytes is a new version");
    }
    let options = "--layouts tiles,rows,reverse --weighted --order degree --row-encoding gap";
    shop.tegula(&format!("import g.txt -o g.tegula --force {options}")).done();
    assert!(shop.files("g.tegula") == before, "a change of the bytes is a new version");
}

/// Returns the edges of `g.txt`, with weights if it has any.
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
fn shortest_paths_are_those_of_the_oracle() {
    let shop = shop_with("weighted", "few.txt");
    let expected = sssp(&edges_of(&shop), 10);
    assert!(expected.iter().filter(|row| row.1 < f64::INFINITY).count() > 8);
    for executor in ["scan", "seek", "auto"] {
        let words = format!("run sssp g.tegula --source 10 --executor {executor}");
        assert_eq!(distances(&shop.tegula(&words).done().out), expected, "{executor}");
    }
}

/// Parses a table of distances; those of unreached vertices are infinite.
fn distances(table: &str) -> Vec<(u64, f64)> {
    column(table, "distance")
        .into_iter()
        .map(|(id, cell)| (id, cell.map_or(f64::INFINITY, |cell| cell.parse().unwrap())))
        .collect()
}

#[test]
fn dense_graphs_have_the_answers_of_the_oracles() {
    let shop = shop_with("dense", "dense.txt");
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
