//! Parts of a graph (`run subgraph`): the edges of the input between chosen vertices, as a table
//! and as a graph.

use std::collections::{BTreeSet, HashMap};

use tegula_testkit::XorShift;

use crate::shop::Shop;

/// An edge as text: its ends, and its weight if there is one.
type Edge = (String, String, String);

/// Returns 150 edges between few vertices, with some duplicates and loops.
fn edges(name: fn(u64) -> String, seed: u64) -> Vec<Edge> {
    let mut random = XorShift::new(seed);
    let mut vertex = || name(random.below(60) * 7);
    let ends: Vec<_> = (0..150).map(|_| (vertex(), vertex())).collect();
    (0..).zip(ends).map(|(n, (one, other)): (u64, _)| (one, other, (n % 9).to_string())).collect()
}

fn text(edges: &[Edge]) -> String {
    edges.iter().map(|(one, other, weight)| format!("{one},{other},{weight}\n")).collect()
}

/// Returns the rows of a table of edges in the form of an input; the ends of undirected edges are
/// ordered.
fn rows(table: &str, weighted: bool, undirected: bool) -> Vec<Edge> {
    let mut rows: Vec<Edge> = table
        .lines()
        .skip(1)
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            let weight = if weighted { cells[2].to_owned() } else { String::new() };
            (cells[0].to_owned(), cells[1].to_owned(), weight)
        })
        .collect();
    normalise(&mut rows, weighted, undirected);
    rows
}

fn normalise(edges: &mut [Edge], weighted: bool, undirected: bool) {
    for (one, other, weight) in edges.iter_mut() {
        if undirected && *one > *other {
            std::mem::swap(one, other);
        }
        if !weighted {
            weight.clear();
        }
    }
    edges.sort();
}

/// Returns the vertices in the weakly connected component of `start`.
fn component(edges: &[Edge], start: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::from([start.to_owned()]);
    loop {
        let before = found.len();
        for (one, other, _) in edges {
            if found.contains(one) || found.contains(other) {
                found.extend([one.clone(), other.clone()]);
            }
        }
        if found.len() == before {
            return found;
        }
    }
}

#[test]
fn the_edges_between_chosen_vertices_are_those_of_the_input() {
    let shop = Shop::new();
    let names: [fn(u64) -> String; 2] = [|id| id.to_string(), |id| format!("v{id}")];
    for (seed, (name, weighted, undirected)) in (0..).zip([
        (names[0], false, false),
        (names[0], true, true),
        (names[1], true, false),
        (names[1], false, true),
    ]) {
        let edges = edges(name, seed);
        shop.write("g.csv", text(&edges));
        let flags = [(weighted, "--weighted"), (undirected, "--undirected")];
        let flags: Vec<&str> = flags.iter().filter(|flag| flag.0).map(|flag| flag.1).collect();
        let flags = flags.join(" ");
        shop.tegula(&format!("import g.csv -o g.tegula --no-header --force {flags}")).done();
        let all: BTreeSet<String> =
            edges.iter().flat_map(|(one, other, _)| [one.clone(), other.clone()]).collect();
        let some: BTreeSet<String> = all.iter().step_by(2).cloned().collect();
        shop.write("some.txt", some.iter().map(|id| format!("{id}\n")).collect::<String>());
        let start = all.iter().next().unwrap();
        for (words, chosen) in [
            ("--vertices some.txt".to_owned(), some.clone()),
            (format!("--component {start}"), component(&edges, start)),
        ] {
            let mut expected: Vec<Edge> = edges
                .iter()
                .filter(|(one, other, _)| chosen.contains(one) && chosen.contains(other))
                .cloned()
                .collect();
            normalise(&mut expected, weighted, undirected);
            let run = format!("run subgraph g.tegula {words}");
            shop.tegula(&format!("{run} -o part.csv --force")).done();
            let table = String::from_utf8(shop.read("part.csv")).unwrap();
            assert_eq!(rows(&table, weighted, undirected), expected, "{words} {flags}");
            let told = shop.tegula(&format!("{run} -o part.tegula --force --json")).done().json();
            assert_eq!(told["summary"]["vertices"], chosen.len(), "{words}");
            assert_eq!(told["summary"]["edges"], expected.len(), "{words}");
            assert_eq!(told["output"], "part.tegula");
            shop.tegula("verify part.tegula").done();
            let info = shop.tegula("info part.tegula --json").done().json();
            assert_eq!(info["vertices"], chosen.len(), "{words}: also those without an edge");
            shop.tegula("export part.tegula -o again.csv --force").done();
            let table = String::from_utf8(shop.read("again.csv")).unwrap();
            assert_eq!(rows(&table, weighted, undirected), expected, "{words} {flags}");
            let degrees = shop.tegula("run degree part.tegula -o -").done().out;
            let named: HashMap<&str, &str> =
                degrees.lines().skip(1).map(|line| line.split_once('\t').unwrap()).collect();
            assert!(chosen.iter().all(|id| named.contains_key(id.as_str())), "{words}");
        }
    }
    assert!(!shop.names().iter().any(|name| name.starts_with('.')), "{:?}", shop.names());
}

#[test]
fn an_impossible_subgraph_is_refused_and_leaves_nothing() {
    let shop = Shop::new();
    shop.write("g.el", "1 2\n2 3\n");
    shop.tegula("import g.el -o g.tegula").done();
    shop.write("some.txt", "1\n9\n");
    shop.write("two.txt", "1\n2\n");
    let before = shop.names();
    for (words, code, why) in [
        ("--vertices some.txt -o part.tegula", 3, "no vertex `9`"),
        ("--component 9 -o part.tegula", 3, "no vertex `9`"),
        ("--vertices missing.txt -o part.tegula", 3, "missing.txt"),
        ("--vertices two.txt --component 1", 2, "--component"),
        ("-o part.tegula", 2, "<--vertices <FILE>|--component <ID>>"),
        ("--vertices two.txt -o part.cvs", 2, "end it with .tegula for a graph directory"),
        ("--vertices two.txt -o part.npy", 2, ".csv, .tsv, .parquet"),
        ("--vertices two.txt -o g.tegula", 1, "g.tegula"),
        ("--vertices two.txt -o g.tegula --force", 2, "g.tegula is the graph that is read"),
        ("--vertices two.txt -o no/part.tegula", 1, "folder no does not exist"),
        ("--vertices two.txt -o part.tegula --memory 40MiB", 4, "writing the graph"),
    ] {
        shop.tegula(&format!("run subgraph g.tegula {words}")).failed(code, &[why]);
        assert_eq!(shop.names(), before, "{words}");
    }
    shop.tegula("run subgraph g.tegula --vertices two.txt -o part.tegula --memory 100MiB").done();
    // No vertices make an empty graph. A name without an ending also names a graph directory.
    shop.write("none.txt", "");
    shop.tegula("run subgraph g.tegula --vertices none.txt -o none").done();
    let info = shop.tegula("info none --json").done().json();
    assert_eq!((info["vertices"].as_u64(), info["edges"].as_u64()), (Some(0), Some(0)));
}
