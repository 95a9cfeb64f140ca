//! Known answers, through the command: the six algorithms of LDBC Graphalytics on its validation
//! sets, by its rules. Then graphs of LAGraph and the GAP Benchmark Suite in their own formats.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use tegula_testkit::Table;
use tegula_testkit::data;
use tegula_testkit::graphalytics::{UNREACHED, read_table};
use tegula_testkit::matching::{self, GRAPHALYTICS_EPSILON};

use crate::shop::{Shop, column, numbers};

/// An algorithm: its key and file name in Graphalytics, its name here, and the column that is
/// compared.
const ALGORITHMS: [(&str, &str, &str, &str); 6] = [
    ("bfs", "BFS", "bfs", "distance"),
    ("cdlp", "CDLP", "cdlp", "label"),
    ("lcc", "LCC", "lcc", "coefficient"),
    ("pr", "PR", "pagerank", "rank"),
    ("sssp", "SSSP", "sssp", "distance"),
    ("wcc", "WCC", "wcc", "component"),
];

/// Compares the output of a run with a reference output.
fn compare(key: &str, expected: &Path, out: &str, name: &str) -> Result<(), String> {
    let integers = || read_table::<u64>(expected).unwrap();
    let floats = || read_table::<f64>(expected).unwrap();
    match key {
        "bfs" => {
            let cells = column(out, name).into_iter();
            let distance =
                |cell: Option<String>| cell.map_or(UNREACHED, |cell| cell.parse().unwrap());
            let found: Table<u64> = cells.map(|(id, cell)| (id, distance(cell))).collect();
            matching::exact(&integers(), &found)
        }
        "cdlp" => matching::exact(&integers(), &numbers::<u64>(out, name)),
        "wcc" => matching::equivalent(&integers(), &numbers::<u64>(out, name)),
        "sssp" => {
            let cells = column(out, name).into_iter();
            let distance =
                |cell: Option<String>| cell.map_or(f64::INFINITY, |cell| cell.parse().unwrap());
            let found: Table<f64> = cells.map(|(id, cell)| (id, distance(cell))).collect();
            matching::epsilon(&floats(), &found, GRAPHALYTICS_EPSILON)
        }
        _ => matching::epsilon(&floats(), &numbers::<f64>(out, name), GRAPHALYTICS_EPSILON),
    }
}

/// Returns the options of a run according to the properties of a set.
fn options(key: &str, told: &dyn Fn(&str) -> String) -> String {
    match key {
        "bfs" | "sssp" => format!("--source {}", told("source-vertex")),
        "cdlp" => format!("--iterations {}", told("max-iterations")),
        "pr" => {
            format!("--damping {} --iterations {}", told("damping-factor"), told("num-iterations"))
        }
        _ => String::new(),
    }
}

#[test]
fn the_sets_of_graphalytics_validate() {
    let Some(folder) = data::find("graphalytics") else { return };
    let shop = Shop::new();
    let mut runs = 0;
    let entries = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    for properties in entries.filter(|path| path.extension().is_some_and(|end| end == "properties"))
    {
        let text = fs::read_to_string(&properties).unwrap();
        let lines = text.lines().filter_map(|line| line.split_once('='));
        let told: BTreeMap<&str, &str> =
            lines.map(|(key, value)| (key.trim(), value.trim())).collect();
        let set = properties.file_stem().unwrap().to_str().unwrap();
        let algorithms = told[format!("graph.{set}.algorithms").as_str()].split(", ");
        for key in algorithms {
            let (_, output, name, column) =
                *ALGORITHMS.iter().find(|algorithm| algorithm.0 == key).unwrap();
            let weighted = if key == "sssp" { "--weighted" } else { "" };
            let rows = if runs % 2 == 0 { "--layouts rows,reverse" } else { "" };
            let path = properties.display();
            shop.tegula(&format!("import {path} -o g.tegula --force {weighted} {rows}")).done();
            let told =
                |option: &str| told[format!("graph.{set}.{key}.{option}").as_str()].to_owned();
            let options = options(key, &told);
            let out = shop.tegula(&format!("run {name} g.tegula {options} -o -")).done().out;
            let expected = folder.join(format!("{set}-{output}"));
            compare(key, &expected, &out, column)
                .unwrap_or_else(|told| panic!("{set} {key}: {told}"));
            runs += 1;
        }
    }
    assert_eq!(runs, 18, "two sets for all algorithms, six for one");
}

#[test]
fn a_peer_to_peer_network_validates_with_and_without_directions() {
    let Some(folder) = data::find("p2p-Gnutella31") else { return };
    let shop = Shop::new();
    let files =
        ["v", "e"].map(|ending| folder.join(format!("p2p-31.{ending}.zst")).display().to_string());
    let told = |option: &str| match option {
        "source-vertex" => "6".to_owned(),
        "damping-factor" => "0.85".to_owned(),
        _ => "10".to_owned(),
    };
    for (direction, suffixes) in
        [("--undirected", [".zst", ".zst"]), ("", ["-directed.zst", "-directed.computed.zst"])]
    {
        let import =
            format!("import {} -o g.tegula --force --weighted {direction}", files.join(" "));
        shop.tegula(&import).done();
        for (key, output, name, column) in ALGORITHMS {
            let output = suffixes.iter().find_map(|suffix| {
                Some(folder.join(format!("p2p-31-{output}{suffix}"))).filter(|path| path.exists())
            });
            // Components do not follow directions.
            let expected = output.unwrap_or_else(|| folder.join("p2p-31-WCC.zst"));
            let options = options(key, &told);
            let out = shop.tegula(&format!("run {name} g.tegula {options} -o -")).done().out;
            compare(key, &expected, &out, column)
                .unwrap_or_else(|told| panic!("{key} {direction}: {told}"));
        }
    }
}

/// Name, triangles and components; `None` is not compared.
const LAGRAPH: [(&str, Option<u64>, Option<u64>); 10] = [
    ("A", Some(11), Some(1)),
    ("jagmesh7", Some(2016), Some(1)),
    ("karate", Some(45), Some(1)),
    ("ldbc-cdlp-undirected-example", Some(6), None),
    ("ldbc-undirected-example", Some(4), None),
    ("ldbc-wcc-example", Some(5), None),
    ("LFAT5", Some(0), Some(3)),
    ("bcsstk13", Some(342_300), Some(1)),
    ("tree-example", Some(0), Some(1)),
    ("zenios", None, Some(1391)),
];

#[test]
fn matrices_have_their_triangles_components_and_ranks() {
    let Some(folder) = data::find("known/lagraph") else { return };
    let shop = Shop::new();
    let import = |name: &str| {
        let path = folder.join(format!("{name}.mtx"));
        shop.tegula(&format!("import {} -o g.tegula --force", path.display())).done();
    };
    let sparse = [("LFAT5_hypersparse", None, Some(1989)), ("LFAT5_two", None, Some(6))];
    for (name, triangles, components) in LAGRAPH.into_iter().chain(sparse) {
        import(name);
        for (algorithm, fact, expected) in
            [("triangles", "triangles", triangles), ("wcc", "components", components)]
        {
            let Some(expected) = expected else { continue };
            let run = shop.tegula(&format!("run {algorithm} g.tegula --json")).done().json();
            assert_eq!(run["summary"][fact], expected, "{name} {algorithm}");
        }
    }
    for name in ["karate", "west0067", "ldbc-directed-example"] {
        import(name);
        let out = shop.tegula("run pagerank g.tegula --tolerance 1e-9 --max-iterations 1000 -o -");
        let found = numbers::<f64>(&out.done().out, "rank");
        let expected = read_table::<f64>(&folder.join(format!("{name}.pagerank.txt"))).unwrap();
        matching::same_vertices(&expected, &found).unwrap();
        for ((id, expected), (_, found)) in expected.iter().zip(&found) {
            assert!((expected - found).abs() <= 1e-4, "{name}, {id}: {expected}, {found}");
        }
    }
}

#[test]
fn one_graph_in_seven_formats_is_one_graph() {
    let Some(folder) = data::find("known/gapbs") else { return };
    let shop = Shop::new();
    for weighted in [false, true] {
        let names = match weighted {
            false => ["4.el", "4.wel", "4.gr", "4.graph", "4.mtx"],
            true => ["4.wel", "4.gr", "4w.graph", "4w.mtx", "4.wel"],
        };
        let mut first: Option<Vec<(u64, f64)>> = None;
        for name in names {
            let path = folder.join(name);
            let option = if weighted { "--weighted" } else { "" };
            let import = format!(
                "import {} -o g.tegula --force --drop-loops --drop-duplicates {option}",
                path.display()
            );
            shop.tegula(&import).done();
            let info = shop.tegula("info g.tegula --json").done().json();
            assert_eq!(info["edges"], 53, "{name}");
            // Edge lists count from 0 and have no vertex without an edge.
            let offset = u64::from(!name.ends_with("el"));
            assert_eq!(info["vertices"], 13 + offset, "{name}");
            let source = offset;
            let run = format!("run sssp g.tegula --source {source} -o -");
            let cells = column(&shop.tegula(&run).done().out, "distance").into_iter();
            let reached =
                cells.filter_map(|(id, cell)| Some((id - offset, cell?.parse().unwrap())));
            let reached: Vec<(u64, f64)> = reached.collect();
            assert!(reached.len() > 5, "{name}");
            assert_eq!(first.get_or_insert(reached.clone()), &reached, "{name}");
        }
    }
}
