//! Tables that options name: they are read like inputs, and may be tables of other runs.

use std::io::Write;

use proptest::prelude::*;
use tegula_testkit::{EdgeList, conductance, small_graphs};

use crate::shop::{Said, Shop, lines};

/// Ids that are hard to write in some format.
const AWKWARD: [&str; 10] =
    ["New York", "a,b", "say \"hi\"", "\"", "Ünïcode ☃", " blank ", "#1", "%", "a;b\tc", "vertex"];

/// Returns a cell in quotes.
fn quoted(cell: &str) -> String {
    format!("\"{}\"", cell.replace('"', "\"\""))
}

/// Imports edges between strings as `g.tegula`.
fn import_strings(shop: &Shop, edges: &[(&str, &str)]) {
    let rows = edges.iter().map(|(a, b)| format!("{},{}\n", quoted(a), quoted(b)));
    shop.write("g.csv", format!("src,dst\n{}", rows.collect::<String>()));
    let words = "import g.csv --format csv -o g.tegula --ids string --undirected --layouts tiles,rows --force";
    shop.tegula(words).done();
}

/// Calls the command with a file as standard input.
fn piped(shop: &Shop, words: &str, input: &[u8]) -> Said {
    let mut child = shop.start(words);
    let mut stdin = child.stdin.take().unwrap();
    // A command that refuses the first line does not read the rest.
    let _ = stdin.write_all(input);
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    Said {
        code: output.status.code(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

#[test]
fn the_table_of_another_run_names_sets_and_seeds() {
    let shop = Shop::new();
    let edges: Vec<(&str, &str)> = AWKWARD.windows(2).step_by(2).map(|w| (w[0], w[1])).collect();
    import_strings(&shop, &edges);
    let mut tables = Vec::new();
    for ending in ["csv", "tsv", "parquet", "csv.zst", "tsv.gz"] {
        shop.tegula(&format!("run wcc g.tegula -o components.{ending}")).done();
        let words = format!("run conductance g.tegula --sets components.{ending} --json");
        let summary = shop.tegula(&words).done().json()["summary"].take();
        let sets = summary["sets"].as_array().unwrap();
        assert_eq!(sets.len(), edges.len(), "{ending}: {summary}");
        for set in sets {
            let figures = (&set["vertices"], &set["volume"], &set["cut"]);
            assert_eq!(figures, (&2.into(), &2.into(), &0.into()), "{ending}: {set}");
            let name = set["set"].as_str().unwrap();
            assert!(edges.iter().any(|(a, b)| name == *a.min(b)), "{ending}: {name}");
        }
        tables.push(summary);
        shop.tegula(&format!("run pagerank g.tegula -o ranks.{ending} --force")).done();
        let words = format!("run pagerank g.tegula --personalize ranks.{ending}");
        // The graph is symmetric, so ranks stay the same with ranks as preferences.
        let again = shop.tegula(&words).done().out;
        let ranks = again.lines().skip(1).map(|row| row.rsplit('\t').next().unwrap());
        for rank in ranks {
            assert!((rank.parse::<f64>().unwrap() - 0.1).abs() < 1e-5, "{ending}: {again}");
        }
    }
    assert!(tables.windows(2).all(|pair| pair[0] == pair[1]), "{tables:?}");
    for name in ["components.csv", "components.csv.zst"] {
        let words = "run conductance g.tegula --json --sets -";
        let summary = piped(&shop, words, &shop.read(name)).done().json()["summary"].take();
        // A stream has no ending, and is read as text.
        assert_eq!(summary, tables[0], "{name}");
    }
}

#[test]
fn every_way_to_write_a_table_says_the_same() {
    let shop = Shop::new();
    import_strings(&shop, &[("New York", "a,b"), ("a,b", "07"), ("07", "x")]);
    let expected = "set\tvertices\tvolume\tcut\tconductance\nred\t2\t3\t1\t0.3333333333333333\n\
                    royal blue\t2\t3\t1\t0.3333333333333333\n";
    let csv = "vertex,set\nNew York,red\n\"a,b\",red\n07,royal blue\nx,royal blue\n";
    for (name, text) in [
        ("s.csv", csv.to_owned()),
        ("bom.csv", format!("\u{feff}# sets\r\n{}", csv.replace('\n', "\r\n"))),
        ("s.txt", csv.replace("07,", "% passed over\n\n07,")),
        ("bare.csv", csv.split_once('\n').unwrap().1.to_owned()),
        ("semicolons.csv", csv.replace("\"a,b\"", "a|b").replace(',', ";").replace('|', ",")),
        ("s.tsv", csv.replace("\"a,b\"", "a|b").replace(',', "\t").replace('|', ",")),
        ("tabs", csv.replace("\"a,b\"", "a|b").replace(',', "\t").replace('|', ",")),
        (
            "columns.csv",
            "of,Community,name,id\n1,red,,New York\n1,red,\"\"\"\",\"a,b\"\n,royal blue,,07\n\
             2,royal blue,,x\n"
                .to_owned(),
        ),
    ] {
        shop.write(name, text);
        let found = shop.tegula(&format!("run conductance g.tegula --sets {name}")).done().out;
        assert_eq!(found, expected, "{name}");
    }
    for (name, text) in [
        ("one.csv", "New York\n\"a,b\"\n"),
        ("header.csv", "node\nNew York\n\"a,b\"\n"),
        ("two.csv", "weight,id\n2,New York\n2e0,\"a,b\"\n"),
        ("three.tsv", "vertex\tkind\tweight\nNew York\t-\t3\na,b\t\t3\n"),
    ] {
        shop.write(name, text);
        let words =
            format!("run pagerank g.tegula --iterations 1 --damping 0 --personalize {name}");
        let found = shop.tegula(&words).done().out;
        assert_eq!(found, "vertex\trank\n07\t0\nNew York\t0.5\na,b\t0.5\nx\t0\n", "{name}");
    }
    shop.write("places.csv", "lat,id,lon\n0,x,1\n0,07,2\n0,\"a,b\",3\n0,New York,4\n");
    let words = "run astar g.tegula --source x --target 07 --coordinates places.csv --json";
    let summary = shop.tegula(words).done().json()["summary"].take();
    assert_eq!((&summary["length"], &summary["heuristic_scale"]), (&1.0.into(), &1.0.into()));
}

#[test]
fn overlapping_sets_have_the_oracles_figures() {
    let shop = Shop::new();
    for (name, graph) in small_graphs(8) {
        let some = |&vertex: &u64| [(vertex, vertex % 3), (vertex, 1 + vertex % 2), (vertex, 11)];
        let sets: Vec<(u64, u64)> = graph.vertices().iter().flat_map(some).collect();
        let rows = sets.iter().map(|(vertex, set)| format!("{vertex},{set}\n"));
        shop.write("sets.csv", rows.collect::<String>());
        for undirected in [false, true] {
            shop.import(&graph, if undirected { "--undirected" } else { "" });
            let said = shop.tegula("run conductance g.tegula --sets sets.csv").done().out;
            let number = |cell: &String| cell.parse::<u64>().unwrap();
            let rows = lines(&said, '\t').1;
            let found: Vec<_> = rows
                .iter()
                .map(|row| (number(&row[0]), number(&row[1]), number(&row[2]), number(&row[3])))
                .collect();
            assert_eq!(found, conductance(&graph, undirected, &sets), "{name}");
        }
    }
}

#[test]
fn sets_are_listed_by_number_and_other_names_by_their_bytes() {
    let shop = Shop::new();
    shop.import(&EdgeList::new(vec![(1, 2), (2, 3)]), "");
    let names = |text: &str| {
        shop.write("sets.tsv", text);
        let report = shop.tegula("run conductance g.tegula --sets sets.tsv --json").done().json();
        let sets = report["summary"]["sets"].as_array().unwrap().iter();
        sets.map(|set| set["set"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(names("1\t10\n2\t9\n3\t10\n"), [9, 10]);
    assert_eq!(names("1\t10\n2\tb\n3\t9\n1\tB c\n"), ["9", "10", "B c", "b"]);
    shop.tegula("run conductance g.tegula --sets sets.tsv -o sets.npy").failed(2, &[".npy"]);
    assert!(!shop.names().contains(&"sets.npy".to_owned()));
    shop.tegula("run conductance g.tegula --sets sets.tsv -o sets.parquet").done();
}

/// Returns many lines of text, compressed.
fn compressed(line: &str, count: usize) -> Vec<u8> {
    let mut out = zstd::Encoder::new(Vec::new(), 1).unwrap();
    let lines = line.repeat(1 << 10);
    (0..count >> 10).for_each(|_| out.write_all(lines.as_bytes()).unwrap());
    out.finish().unwrap()
}

#[test]
#[ignore = "long"]
fn a_small_file_of_many_rows_is_refused_by_the_budget() {
    let shop = Shop::new();
    shop.import(&EdgeList::new(vec![(1, 2), (2, 3)]), "--layouts tiles,rows");
    shop.write("many.csv.zst", compressed("1,2\n", 8 << 20));
    let bytes = shop.read("many.csv.zst");
    assert!(bytes.len() < 1 << 20, "{}", bytes.len());
    for words in
        ["run conductance g.tegula --sets", "run pagerank g.tegula --iterations 1 --personalize"]
    {
        let small = format!("{words} many.csv.zst --memory 64MiB");
        shop.tegula(&small).failed(4, &["so far needs", "the budget is 64.0"]);
        let said = shop.tegula(&format!("{small} --estimate"));
        assert_eq!(said.code, Some(4), "{}", said.err);
        assert!(said.out.contains("does not fit"), "{}", said.out);
        let said = piped(&shop, &format!("{words} - --memory 64MiB"), &bytes);
        said.failed(4, &["the budget is 64.0"]);
    }
    // Coordinates of a vertex are held once, however often they are given.
    shop.write("places.csv.zst", compressed("1,2,3\n2,3,4\n3,1,1\n", 1 << 20));
    let words = "run astar g.tegula --source 1 --target 3 --coordinates places.csv.zst";
    let report = shop.tegula(&format!("{words} --memory 64MiB --json")).done().json();
    assert!(report["peak_memory_bytes"].as_u64().unwrap() < 64 << 20, "{report}");
}

#[test]
fn quotes_between_blanks_are_refused_as_in_inputs() {
    let shop = Shop::new();
    shop.write("g.txt", "1 2\n2 3\n");
    shop.tegula("import g.txt -o g.tegula --undirected").done();
    shop.write("sets.txt", "1 \"a b\"\n2 \"a c\"\n");
    shop.tegula("run conductance g.tegula --sets sets.txt")
        .failed(3, &["sets.txt, line 1", "begins with a quote"]);
    shop.write("sets.csv", "1,\"a b\"\n2,\"a c\"\n");
    let found = shop.tegula("run conductance g.tegula --sets sets.csv -o - --format csv").done();
    assert!(found.out.contains("a b,1,") && found.out.contains("a c,1,"), "{}", found.out);
}

#[test]
fn one_set_per_vertex_keeps_within_the_estimate() {
    let shop = Shop::new();
    let edges = (0..1u64 << 17).map(|edge| format!("{} {}\n", 2 * edge, 2 * edge + 1));
    shop.write("g.el", edges.collect::<String>());
    shop.tegula("import g.el -o g.tegula --undirected --layouts tiles,rows").done();
    shop.tegula("run wcc g.tegula -o components.parquet").done();
    let words = "run conductance g.tegula --sets components.parquet -o sets.csv --json --force";
    let estimate = shop.tegula(&format!("{words} --estimate")).done().json();
    let needed = estimate["needed_bytes"].as_u64().unwrap();
    let report = shop.tegula(&format!("{words} --memory {needed}")).done().json();
    assert!(report["peak_memory_bytes"].as_u64().unwrap() <= needed, "{needed} {report}");
    assert_eq!(report["summary"]["set_count"], 1 << 17);
    assert_eq!(report["summary"]["sets"].as_array().unwrap().len(), 10);
    shop.tegula(&format!("{} --memory {}", words.replace("--json", ""), needed - 1))
        .failed(4, &["--memory"]);
}

#[test]
fn the_levels_of_a_search_are_sets_of_the_vertices_that_it_reached() {
    let shop = Shop::new();
    shop.import(&EdgeList::new(vec![(1, 2), (1, 3), (4, 5)]), "--layouts tiles,rows");
    for ending in ["csv", "tsv", "parquet"] {
        shop.tegula(&format!("run bfs g.tegula --source 1 -o levels.{ending}")).done();
        let said = shop.tegula(&format!("run conductance g.tegula --sets levels.{ending}")).done();
        let rows = lines(&said.out, '\t').1;
        let sizes: Vec<_> = rows.iter().map(|row| (&*row[0], &*row[1])).collect();
        assert_eq!(sizes, [("0", "1"), ("1", "2")], "{ending}");
    }
    shop.write("sets.csv", "vertex,set\n1,0\n7,\n");
    let strange = shop.tegula("run conductance g.tegula --sets sets.csv");
    strange.failed(3, &["has no vertex `7`"]);
}

#[test]
fn a_vertex_named_like_a_comment_is_not_skipped() {
    let shop = Shop::new();
    import_strings(&shop, &[("#1 Shop", "ann"), ("%", "bob")]);
    for (text, line) in [
        ("vertex,set\nann,red\n#1 Shop,red\n", "line 3"),
        ("# a comment, of two columns\n%,blue\nann,red\n", "line 2"),
    ] {
        shop.write("sets.csv", text);
        let said = shop.tegula("run conductance g.tegula --sets sets.csv");
        said.failed(3, &[line, "is a vertex; put the id in quotes"]);
    }
    shop.write("sets.csv", "vertex,set\n# ann,red\n\"#1 Shop\",red\n%x,blue\n");
    let said = shop.tegula("run conductance g.tegula --sets sets.csv").done().out;
    assert_eq!(lines(&said, '\t').1.len(), 1, "{said}");
}

#[test]
fn a_folder_and_raw_pairs_are_no_tables() {
    let shop = Shop::new();
    shop.import(&EdgeList::new(vec![(1, 2)]), "");
    shop.write("s.bin32", [0; 8]);
    for (name, words) in [("g.tegula", "folder"), ("s.bin32", "raw pairs")] {
        let call = format!("run conductance g.tegula --sets {name}");
        shop.tegula(&call).failed(3, &[name, words]);
    }
    let said = piped(&shop, "run conductance g.tegula --sets -", b"PAR1\0\0\0\0PAR1");
    said.failed(3, &["this format cannot be read from a stream; give it as a file"]);
    let said = piped(&shop, "import - -o h.tegula", b"PAR1\0\0\0\0PAR1");
    said.failed(3, &["this format cannot be read from a stream; give it as a file"]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, failure_persistence: None, ..Default::default() })]

    #[test]
    fn components_of_any_names_come_back_as_sets(
        names in proptest::collection::vec("[^\n\r\0]{1,12}", 1..12),
        ending in prop_oneof!["csv", "tsv", "parquet"],
    ) {
        let shop = Shop::new();
        let edges: Vec<(&str, &str)> = names.iter().map(|name| (&**name, &*names[0])).collect();
        import_strings(&shop, &edges);
        shop.tegula(&format!("run wcc g.tegula -o components.{ending}")).done();
        let words = format!("run conductance g.tegula --json --sets components.{ending}");
        let sets = shop.tegula(&words).done().json()["summary"]["sets"].take();
        let least = names.iter().min().unwrap();
        let mut distinct: Vec<&String> = names.iter().collect();
        distinct.sort_unstable();
        distinct.dedup();
        let set = &sets.as_array().unwrap()[0];
        prop_assert_eq!(&set["vertices"], distinct.len());
        let name = set["set"].as_str().map_or_else(|| set["set"].to_string(), str::to_owned);
        prop_assert_eq!(&name, least);
        prop_assert_eq!(&set["cut"], 0);
    }
}

#[test]
fn tiny_numbers_in_tables_have_an_exponent_and_every_reader_takes_it() {
    let shop = Shop::new();
    let [tiny, plain] = ["1.5e-20", "0.000000000000000000015"];
    shop.write("potential.txt", "3 2\n2 3\n");
    for (name, value) in [("tiny", tiny), ("plain", plain)] {
        shop.write(&format!("{name}.csv"), format!("src,dst,weight\n0,1,{value}\n1,2,0.5\n"));
        let import = format!("import {name}.csv -o {name}.tegula --weighted --layouts tiles,rows");
        shop.tegula(&import).done();
        shop.write(&format!("{name}.vector"), format!("vertex,value\n0,{value}\n1,1\n"));
        shop.write(&format!("{name}.seeds"), format!("vertex,weight\n0,{value}\n1,1\n"));
        shop.write(&format!("{name}.priors"), format!("vertex,state,prior\n0,0,{value}\n0,1,1\n"));
        shop.write(&format!("{name}.places"), format!("id,x,y\n0,{value},0\n1,0,0\n2,1,0\n"));
    }
    let exported = shop.tegula("export tiny.tegula -o - --format csv").done().out;
    assert!(exported.contains(&format!("0,1,{tiny}\n")), "{exported}");
    assert_eq!(exported, shop.tegula("export plain.tegula -o - --format csv").done().out);
    for words in [
        "spmv tiny.tegula --vector X.vector",
        "pagerank tiny.tegula --personalize X.seeds",
        "belief-propagation tiny.tegula --potential potential.txt --priors X.priors",
        "astar tiny.tegula --source 0 --target 2 --coordinates X.places",
        "sssp X.tegula --source 0",
    ] {
        let [tiny, plain] = ["tiny", "plain"]
            .map(|name| shop.tegula(&format!("run {} -o -", words.replace('X', name))).done().out);
        assert_eq!(tiny, plain, "{words}");
    }
    // The table of one run is the input of another.
    let table = shop.tegula("run spmv tiny.tegula --vector tiny.vector -o spmv.tsv").done();
    assert!(table.err.contains("spmv"), "{}", table.err);
    let table = String::from_utf8(shop.read("spmv.tsv")).unwrap();
    assert!(table.contains("e-40\n"), "{table}");
    shop.tegula("run spmv tiny.tegula --vector spmv.tsv").done();
    // Printed numbers do not have 40 digits either.
    let top = shop.tegula("run spmv tiny.tegula --vector tiny.vector --top 3").done().out;
    assert!(top.lines().all(|line| line.len() < 24), "{top}");
}
