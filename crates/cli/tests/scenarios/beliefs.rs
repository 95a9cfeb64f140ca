//! Belief propagation (`run belief-propagation`): on a model instead of a graph, and on a graph
//! with a potential.

use crate::shop::{Shop, lines};

/// Two variables that tend to be equal; the first is more likely in its second state.
const MODEL: &str = "MARKOV\n2\n2 2\n2\n1 0\n2 0 1\n\n2\n 1 3\n4\n 2 1\n 1 2\n";

/// Their beliefs.
const BELIEFS: [[f64; 2]; 2] = [[0.25, 0.75], [5.0 / 12.0, 7.0 / 12.0]];

/// Returns the vertices of a table and their beliefs.
fn beliefs(table: &str) -> (Vec<String>, Vec<Vec<Option<f64>>>) {
    let (_, rows) = lines(table, '\t');
    let beliefs = |cells: &[String]| cells.iter().map(|cell| cell.parse().ok()).collect();
    rows.iter().map(|cells| (cells[0].clone(), beliefs(&cells[1..]))).unzip()
}

/// Asserts that a table has these vertices and beliefs.
#[track_caller]
fn assert_believes(table: &str, vertices: [&str; 2], expected: [[f64; 2]; 2], off_max: f64) {
    let (named, found) = beliefs(table);
    assert_eq!(named, vertices);
    for (found, expected) in found.iter().flatten().zip(expected.iter().flatten()) {
        assert!((found.unwrap() - expected).abs() < off_max, "{table}");
    }
}

#[test]
fn a_model_stands_in_the_place_of_a_graph_and_leaves_nothing_behind() {
    let shop = Shop::new();
    shop.write("pair.uai", MODEL);
    let words = "run belief-propagation --model pair.uai --spill-directory .";
    assert_believes(&shop.tegula(words).done().out, ["0", "1"], BELIEFS, 1e-12);
    assert_eq!(shop.names(), ["pair.uai"]);

    let report = shop.tegula(&format!("{words} --json --top 1")).done().json();
    assert_eq!(report["vertices"], 2);
    let top = &report["summary"]["top"][0];
    assert_eq!((&top["vertex"], &top["state"]), (&0.into(), &1.into()));
    let said = shop.tegula(&format!("{words} --top 1")).done();
    assert!(said.err.contains("belief-propagation on pair.uai: 2 vertices"), "{}", said.err);
    let said = shop.tegula(&format!("{words} --estimate")).done();
    assert!(said.out.contains("belief-propagation on pair.uai needs"), "{}", said.out);
    shop.tegula(&format!("{words} --memory 29MiB")).failed(4, &["--memory"]);
    assert_eq!(shop.names(), ["pair.uai"]);
}

#[test]
fn variables_of_fewer_states_have_empty_cells_for_the_others() {
    let shop = Shop::new();
    shop.write("odd.uai", "MARKOV\n2\n2 3\n1\n2 0 1\n\n6\n 1 2 3\n 2 2 2\n");
    let table = shop.tegula("run belief-propagation --model odd.uai").done().out;
    let (_, found) = beliefs(&table);
    assert_eq!(found[0].iter().map(Option::is_some).collect::<Vec<_>>(), [true, true, false]);
    assert!(found[1].iter().all(Option::is_some), "{table}");
}

#[test]
fn beliefs_that_have_not_converged_may_be_damped() {
    let shop = Shop::new();
    shop.write("pair.uai", MODEL);
    let words = "run belief-propagation --model pair.uai --iterations 1";
    let said = shop.tegula(words).done();
    let advice = "use --damping 0.5 if they swing, or raise --iterations";
    assert!(said.err.contains(advice), "{}", said.err);
    let said = shop.tegula(&format!("{words} --damping 0.5")).done();
    assert!(said.err.contains("raise --iterations"), "{}", said.err);
    assert!(!said.err.contains("--damping"), "{}", said.err);
}

#[test]
fn a_graph_needs_a_potential_and_a_model_needs_no_graph() {
    let shop = Shop::new();
    shop.write("pair.uai", MODEL);
    shop.write("g.tsv", "no\tyes\n");
    shop.tegula("import g.tsv -o g.tegula --no-header").done();
    shop.write("potential.txt", "# what goes with what\n2 1\n1 2\n");
    shop.write("priors.csv", "person,state,probability\nno,0,0.25\nno,1,0.75\n");
    let words = "run belief-propagation g.tegula --potential potential.txt --priors priors.csv";
    // By default messages have single precision.
    for (tolerance, off_max) in [("", 1e-6), (" --tolerance 1e-9", 1e-12)] {
        let table = shop.tegula(&format!("{words}{tolerance}")).done().out;
        assert_believes(&table, ["no", "yes"], BELIEFS, off_max);
    }

    let refused = |words: &str, code, said: &[&str]| {
        shop.tegula(&format!("run belief-propagation {words}")).failed(code, said);
    };
    refused("", 2, &["<GRAPH|--model <FILE>>"]);
    refused("g.tegula", 2, &["give a --potential", "or a --model in its place"]);
    refused("g.tegula --model pair.uai", 2, &["--model"]);
    refused("--model pair.uai --priors priors.csv", 2, &["priors"]);
    refused("--model pair.uai --prior 0.5,0.5", 2, &["priors"]);
    refused("g.tegula --potential potential.txt --damping 1", 2, &["damping"]);
    shop.write("bytes.uai", b"MARKOV\n\xff\n");
    refused("--model bytes.uai", 3, &["bytes.uai, line 2", "UTF-8"]);
    shop.write("text.uai.gz", MODEL);
    refused("--model text.uai.gz", 3, &["text.uai.gz", "gzip"]);
    refused("--model nowhere.uai", 3, &["nowhere.uai"]);
    refused("--model potential.txt", 3, &["potential.txt, line 1", "MARKOV"]);
    shop.write("potential.txt", "2 1\n3 2\n");
    refused("g.tegula --potential potential.txt", 3, &["potential.txt", "not symmetric"]);
    shop.write("potential.txt", "2 1\n1 two\n");
    refused("g.tegula --potential potential.txt", 3, &["potential.txt, line 2", "two"]);
    shop.write("potential.txt", "2 1\n1 2\n");
    for (row, said) in [
        ("no,2,1", "`2` is not a state from 0 to 1"),
        ("no,0,-1", "`-1` is not a finite number of at least 0"),
        ("maybe,0,1", "maybe"),
        ("no,0,0", "all states of `no` have the weight 0"),
    ] {
        shop.write("priors.csv", format!("person,state,probability\n{row}\n"));
        let words = "g.tegula --potential potential.txt --priors priors.csv";
        refused(words, 3, &["priors.csv", said]);
    }
    // No other algorithm takes a model.
    shop.tegula("run wcc --model pair.uai").failed(2, &["--model"]);
}

#[test]
fn a_vertex_without_a_row_of_priors_has_the_default_prior() {
    let shop = Shop::new();
    shop.write("g.tsv", "a\tb\nb\tc\n");
    shop.tegula("import g.tsv -o g.tegula --no-header").done();
    shop.write("potential.txt", "3 2\n2 3\n");
    shop.write("one.csv", "vertex,state,prior\na,0,0.5\na,1,0.25\n");
    let others = "b,0,0.99\nb,1,0.01\nc,0,0.99\nc,1,0.01\n";
    shop.write("all.csv", [&shop.read("one.csv")[..], others.as_bytes()].concat());
    let words = "run belief-propagation g.tegula --potential potential.txt";
    let table = |options: &str| shop.tegula(&format!("{words} {options}")).done().out;
    let told_apart = table("--priors all.csv");
    assert_eq!(table("--priors one.csv --prior 0.99,0.01"), told_apart);
    assert_ne!(table("--priors one.csv"), told_apart);
    assert_ne!(table("--prior 0.99,0.01"), table(""));

    let of_two = "--prior takes a weight for each of the 2 states, and one must be above 0";
    for (prior, said) in [("1", of_two), ("1,2,3", of_two), ("0,0", of_two), ("1,-1", "--prior")] {
        shop.tegula(&format!("{words} --prior {prior}")).failed(2, &[said]);
    }
}

#[test]
fn the_top_of_a_state_are_the_vertices_most_likely_in_it() {
    let shop = Shop::new();
    shop.write("g.tsv", "a\tb\nb\tc\nc\td\n");
    shop.tegula("import g.tsv -o g.tegula --no-header").done();
    shop.write("potential.txt", "3 2\n2 3\n");
    shop.write("priors.csv", "vertex,state,prior\na,0,0.1\na,1,0.9\nd,0,0.8\nd,1,0.2\n");
    let words =
        "run belief-propagation g.tegula --potential potential.txt --priors priors.csv --top 4";
    let listed = |options: &str| -> Vec<(String, String)> {
        let (header, rows) = lines(&shop.tegula(&format!("{words} {options}")).done().out, '\t');
        assert_eq!(header, ["vertex", "state", "belief"]);
        rows.into_iter().map(|row| (row[0].clone(), row[1].clone())).collect()
    };
    let row = |vertex: &str, state: &str| (vertex.to_owned(), state.to_owned());
    assert_eq!(listed("")[..2], [row("a", "1"), row("d", "0")]);
    assert_eq!(listed("--state 0"), ["d", "c", "b", "a"].map(|vertex| row(vertex, "0")));
    assert_eq!(listed("--state 1"), ["a", "b", "c", "d"].map(|vertex| row(vertex, "1")));
    let said = "--state is 2, but states are 0 to 1";
    shop.tegula(&format!("{words} --state 2")).failed(2, &[said]);
}

#[test]
fn beliefs_that_a_strong_potential_makes_certain_are_warned_of() {
    let shop = Shop::new();
    shop.tegula("generate erdos-renyi --vertices 200 --edges 2000 --seed 1 -o g.bin32").done();
    shop.tegula("import g.bin32 -o g.tegula").done();
    shop.write("priors.csv", "vertex,state,prior\n7,0,0.01\n7,1,0.99\n");
    let words = "run belief-propagation g.tegula --priors priors.csv --potential alike.txt --json";
    let warnings = |options: &str| {
        let report = shop.tegula(&format!("{words} {options}")).done().json();
        report["warnings"].as_array().unwrap().iter().map(ToString::to_string).collect::<String>()
    };
    shop.write("alike.txt", "0.9 0.1\n0.1 0.9\n");
    let said = warnings("");
    for words in [
        "199 of 199 vertices without a prior have a belief above 0.999",
        "returns around loops and is counted again",
        "grows if s is above about 0.02",
        "use --potential with more equal weights",
    ] {
        assert!(said.contains(words), "{said}");
    }
    let said = warnings("--iterations 1");
    assert!(!said.contains("0.999") && said.contains("raise --iterations"), "{said}");
    // A vertex with a certain prior is no surprise if its belief is certain.
    assert_eq!(warnings("--prior 0.0001,0.9999"), "");
    shop.write("alike.txt", "0.51 0.49\n0.49 0.51\n");
    assert_eq!(warnings(""), "");
}

#[test]
fn the_weights_of_a_potential_may_stand_between_commas() {
    let shop = Shop::new();
    shop.write("g.el", "1 2\n2 3\n");
    shop.write("known.csv", "1,1,0.9\n");
    shop.tegula("import g.el -o g.tegula --undirected").done();
    let beliefs =
        ["0.7 0.3\n0.3 0.7\n", "0.7,0.3\n0.3,0.7\n", "0.7; 0.3\n0.3; 0.7\n"].map(|rows| {
            shop.write("alike.csv", rows);
            let words = "run belief-propagation g.tegula --potential alike.csv --priors known.csv";
            shop.tegula(words).done().out
        });
    assert!(beliefs[0].lines().count() > 3 && beliefs.iter().all(|told| *told == beliefs[0]));
}
