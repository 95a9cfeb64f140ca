//! Belief propagation (`run belief-propagation`): a model in the place of a graph, and a graph with a potential.

use crate::shop::{Shop, lines};

/// Two variables that go together, of which the first is more likely in its second state.
const MODEL: &str = "MARKOV\n2\n2 2\n2\n1 0\n2 0 1\n\n2\n 1 3\n4\n 2 1\n 1 2\n";

/// What is believed of them.
const BELIEFS: [[f64; 2]; 2] = [[0.25, 0.75], [5.0 / 12.0, 7.0 / 12.0]];

/// The beliefs in a table, and the vertices that they are of.
fn beliefs(table: &str) -> (Vec<String>, Vec<Vec<Option<f64>>>) {
    let (_, rows) = lines(table, '\t');
    let beliefs = |cells: &[String]| cells.iter().map(|cell| cell.parse().ok()).collect();
    rows.iter().map(|cells| (cells[0].clone(), beliefs(&cells[1..]))).unzip()
}

/// That a table tells of vertices, and of their beliefs.
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
fn beliefs_that_have_not_come_to_rest_may_be_damped() {
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
    // By default messages are of single precision.
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
        ("no,2,1", "`2` is no state; they are 0 to 1"),
        ("no,0,-1", "`-1` is no finite number of at least 0"),
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
