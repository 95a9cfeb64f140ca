//! Belief propagation against published answers, sums over all states, and a reference that passes
//! messages one by one as numbers between 0 and 1, in every way to run.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use crate::support::ways::{GRIDS, edges, with_rows};
use crate::support::{AMPLE, import_with, open, tables, threads};
use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};
use tegula_algorithms::side_table::LocalPaths;
use tegula_algorithms::{Error, find};
use tegula_engine::{Arrays, Error as RunError, Graph, RunOptions, open_graph};
use tegula_import::ImportConfig;
use tegula_import::input::Vertices;
use tegula_machine::Error as MachineError;
use tegula_machine::disk::Backend;
use tegula_store::graph::VertexOrder;
use tegula_testkit::{EdgeList, Scratch, XorShift, data};

const NAME: &str = "belief-propagation";

/// A Markov random field: the number of states of each variable, and the weights of states and
/// pairs.
#[derive(Debug, Default)]
struct Field {
    states: Vec<usize>,
    own: Vec<(usize, Vec<f64>)>,
    pairs: Vec<(usize, usize, Vec<f64>)>,
}

impl Field {
    /// Variables with 1 to 4 states. Each but the first is joined with an earlier one; `more` pairs
    /// are added.
    fn random(variables: u64, more: u64, random: &mut XorShift) -> Field {
        let states = (0..variables).map(|_| 1 + random.below(4) as usize).collect();
        let mut field = Field { states, ..Field::default() };
        for variable in 0..variables {
            for _ in 0..random.below(3) {
                let weights = weights(field.states[variable as usize], random);
                field.own.push((variable as usize, weights));
            }
        }
        let mut ends: Vec<_> =
            (1..variables).map(|variable| (random.below(variable), variable)).collect();
        ends.extend((0..more).map(|_| (random.below(variables), random.below(variables))));
        for (one, other) in ends {
            // Either variable may be the first.
            let swap = random.below(2) == 0;
            let (one, other) = if swap { (other, one) } else { (one, other) };
            let (one, other) = (one as usize, other as usize);
            if one != other {
                let count = field.states[one] * field.states[other];
                field.pairs.push((one, other, weights(count, random)));
            }
        }
        field
    }

    fn text(&self) -> String {
        let words = |words: &[f64]| words.iter().map(|word| format!(" {word}")).collect::<String>();
        let mut text = format!("MARKOV\n{}\n", self.states.len());
        self.states.iter().for_each(|count| write!(text, "{count} ").unwrap());
        writeln!(text, "\n{}", self.own.len() + self.pairs.len() + 1).unwrap();
        self.own.iter().for_each(|(variable, _)| writeln!(text, "1 {variable}").unwrap());
        text.push_str("0\n");
        self.pairs.iter().for_each(|(one, other, _)| writeln!(text, "2 {one} {other}").unwrap());
        let all = self.own.iter().map(|(_, own)| own);
        all.for_each(|own| writeln!(text, "{}\n{}", own.len(), words(own)).unwrap());
        text.push_str("1 5.5\n");
        let all = self.pairs.iter().map(|(_, _, pair)| pair);
        all.for_each(|pair| writeln!(text, "{}\n{}", pair.len(), words(pair)).unwrap());
        text
    }

    /// The probabilities of all states, summed over all combinations of states.
    fn exact(&self) -> Vec<Vec<f64>> {
        let mut sums: Vec<Vec<f64>> = self.states.iter().map(|&count| vec![0.0; count]).collect();
        let combinations = self.states.iter().product();
        for mut number in 0..combinations {
            let chosen: Vec<usize> = self
                .states
                .iter()
                .map(|count| {
                    let state = number % count;
                    number /= count;
                    state
                })
                .collect();
            let own = self.own.iter().map(|(variable, weights)| weights[chosen[*variable]]);
            let pairs = self
                .pairs
                .iter()
                .map(|(one, other, all)| all[chosen[*one] * self.states[*other] + chosen[*other]]);
            let weight: f64 = own.chain(pairs).product();
            sums.iter_mut().zip(chosen).for_each(|(sums, state)| sums[state] += weight);
        }
        sums.into_iter().map(scaled).collect()
    }

    /// The beliefs after some rounds in which all variables pass messages at once. Weights of pairs
    /// of the same variables are multiplied.
    fn passed(&self, rounds: usize, damping: f64) -> Vec<Vec<f64>> {
        let mut potentials: BTreeMap<(usize, usize), Vec<f64>> = BTreeMap::new();
        for (one, other, weights) in &self.pairs {
            let (a, b) = (self.states[*one], self.states[*other]);
            for (at, weight) in weights.iter().enumerate() {
                for (key, at, count) in
                    [((*one, *other), at, a * b), ((*other, *one), at % b * a + at / b, a * b)]
                {
                    potentials.entry(key).or_insert_with(|| vec![1.0; count])[at] *= weight;
                }
            }
        }
        let mut own: Vec<Vec<f64>> = self.states.iter().map(|&count| vec![1.0; count]).collect();
        for (variable, weights) in &self.own {
            own[*variable].iter_mut().zip(weights).for_each(|(own, weight)| *own *= weight);
        }
        let uniform = |&(_, to): &(usize, usize)| vec![1.0; self.states[to]];
        let mut messages: BTreeMap<(usize, usize), Vec<f64>> =
            potentials.keys().map(|key| (*key, uniform(key))).collect();
        let told = |messages: &BTreeMap<(usize, usize), Vec<f64>>, variable: usize, but: usize| {
            let mut product = own[variable].clone();
            for ((from, to), message) in messages {
                if *to == variable && *from != but {
                    product.iter_mut().zip(message).for_each(|(own, message)| *own *= message);
                }
            }
            product
        };
        for _ in 0..rounds {
            let next = potentials.iter().map(|(&(from, to), potential)| {
                let product = told(&messages, from, to);
                let count = self.states[to];
                let sum = |state: usize| {
                    let terms = product.iter().enumerate();
                    terms.map(|(i, weight)| weight * potential[i * count + state]).sum::<f64>()
                };
                let new = scaled((0..count).map(sum).collect());
                let before = scaled(messages[&(from, to)].clone());
                let mixed = new
                    .iter()
                    .zip(before)
                    .map(|(new, before)| new.powf(1.0 - damping) * before.powf(damping));
                ((from, to), scaled(mixed.collect()))
            });
            messages = next.collect();
        }
        (0..own.len()).map(|variable| scaled(told(&messages, variable, variable))).collect()
    }
}

fn weights(count: usize, random: &mut XorShift) -> Vec<f64> {
    (0..count).map(|_| 0.05 + random.below(1000) as f64 / 1000.0).collect()
}

fn scaled(weights: Vec<f64>) -> Vec<f64> {
    let sum: f64 = weights.iter().sum();
    weights.into_iter().map(|weight| weight / sum).collect()
}

/// The beliefs of all vertices by ascending id, checked to be the same in every way to run.
#[track_caller]
fn beliefs(graph: &Graph, wanted: &Value) -> Vec<Vec<f64>> {
    let mut found: Option<Vec<Vec<f64>>> = None;
    let ways = [
        threads(1),
        threads(3),
        RunOptions { arrays: Arrays::OnDisk, ..threads(2) },
        RunOptions { memory: 96 << 20, ..threads(2) },
    ];
    for options in ways {
        let mut rows = Vec::new();
        for batch in tables::answer(graph, NAME, wanted.clone(), &options) {
            let columns = batch.columns()[1..].iter();
            let columns: Vec<_> =
                columns.map(|column| column.as_primitive::<Float64Type>()).collect();
            for row in 0..batch.num_rows() {
                let cells = columns.iter().filter(|column| column.is_valid(row));
                rows.push(cells.map(|column| column.value(row)).collect());
            }
        }
        let bits = |rows: &Vec<Vec<f64>>| -> Vec<Vec<u64>> {
            rows.iter().map(|row| row.iter().map(|cell| cell.to_bits()).collect()).collect()
        };
        assert_eq!(bits(found.get_or_insert_with(|| rows.clone())), bits(&rows), "{wanted}");
    }
    found.unwrap()
}

/// The beliefs of a model.
fn of_model(folder: &Path, model: &Path, mut wanted: Value) -> Vec<Vec<f64>> {
    wanted["model"] = json!(model);
    let request = find(NAME).unwrap().request(wanted.clone()).unwrap();
    let directory = folder.join("model.tegula");
    let _ = std::fs::remove_dir_all(&directory);
    let options = RunOptions { memory: AMPLE, ..threads(2) };
    request.model.as_ref().unwrap().import(&directory, &options, &LocalPaths).unwrap();
    beliefs(&open(&directory), &wanted)
}

fn of_text(folder: &Path, text: &str, wanted: Value) -> Vec<Vec<f64>> {
    let file = folder.join("model.uai");
    std::fs::write(&file, text).unwrap();
    of_model(folder, &file, wanted)
}

/// Reads the probabilities in a file of answers. The file has a word, the number of variables, and
/// for each variable its number of states and their probabilities.
fn answers(path: &Path) -> Vec<Vec<f64>> {
    let text = data::read_text(path).unwrap();
    let mut words = text.split_whitespace().skip(1);
    let mut number = || words.next().unwrap().parse::<f64>().unwrap();
    let count = number() as usize;
    (0..count).map(|_| (0..number() as usize).map(|_| number()).collect()).collect()
}

/// The greatest difference of two probabilities.
fn difference(found: &[Vec<f64>], expected: &[Vec<f64>]) -> f64 {
    let shape = |all: &[Vec<f64>]| all.iter().map(Vec::len).collect::<Vec<_>>();
    assert_eq!(shape(found), shape(expected));
    // `f64::max` ignores NaN.
    assert!(found.iter().flatten().all(|belief| belief.is_finite()), "{found:?}");
    let pairs = found.iter().flatten().zip(expected.iter().flatten());
    pairs.map(|(found, expected)| (found - expected).abs()).fold(0.0, f64::max)
}

#[test]
fn published_models_have_their_known_answers() {
    let Some(folder) = data::find("bp") else { return };
    let scratch = Scratch::new();
    let wanted = || json!({ "tolerance": 1e-13, "iterations": 500 });
    // The allowed distance of the fixed point from the true probabilities, where they are known.
    for (name, from_truth) in [
        ("Segmentation_12", 9.1e-5),
        ("Segmentation_14", 8.6e-2),
        ("DBN_14", 2e-11),
        ("ObjectDetection_25", 4.4e-4),
        ("ObjectDetection_28", 1.6e-4),
    ] {
        let found = of_model(scratch.path(), &folder.join(format!("{name}.uai")), wanted());
        let fixed_point = answers(&folder.join(format!("{name}.uai.LBP")));
        // The published search went on until nothing changed by more than 10^-9.
        let from_fixed_point = difference(&found, &fixed_point);
        assert!(from_fixed_point < 2e-9, "{name}: {from_fixed_point}");
        let truth = answers(&folder.join(format!("{name}.uai.MAR")));
        let found = difference(&found, &truth);
        assert!(found < from_truth, "{name}: {found}");
    }
    for name in ["tiny-tree-10x3", "tiny-tree-12x2"] {
        let found = of_model(scratch.path(), &folder.join(format!("{name}.uai")), wanted());
        let truth = answers(&folder.join(format!("{name}.uai.MAR")));
        assert!(difference(&found, &truth) < 1e-11, "{name}");
    }
}

#[test]
fn beliefs_that_do_not_converge_are_reported() {
    let Some(model) = data::find("bp/Grids_15.uai") else { return };
    let scratch = Scratch::new();
    let request = find(NAME).unwrap().request(json!({ "model": model })).unwrap();
    let directory = scratch.path().join("grid");
    request.model.as_ref().unwrap().import(&directory, &threads(2), &LocalPaths).unwrap();
    let graph = open(&directory);
    let found = request
        .prepare(&graph, &threads(2), &LocalPaths)
        .unwrap()
        .run(&graph, &threads(2))
        .unwrap();
    assert_eq!(found.statistics.iterations, 100);
    let warning = found.answer.warning().unwrap();
    assert!(format!("{warning:?}").contains("iterations"), "{warning:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn beliefs_on_trees_are_sums_over_all_states(seed in any::<u64>(), variables in 1u64..9) {
        let field = Field::random(variables, 0, &mut XorShift::new(seed));
        let scratch = Scratch::new();
        let wanted = json!({ "iterations": 10, "tolerance": 0.0 });
        let found = of_text(scratch.path(), &field.text(), wanted);
        prop_assert!(difference(&found, &field.exact()) < 1e-12);
    }

    #[test]
    fn beliefs_are_those_of_messages_passed_one_by_one(
        seed in any::<u64>(),
        variables in 2u64..20,
        damping in select(&[0.0, 0.3][..]),
        rounds in 0usize..6,
    ) {
        let mut random = XorShift::new(seed);
        let field = Field::random(variables, variables, &mut random);
        let scratch = Scratch::new();
        let wanted = json!({ "iterations": rounds, "tolerance": 0.0, "damping": damping });
        let found = of_text(scratch.path(), &field.text(), wanted);
        prop_assert!(difference(&found, &field.passed(rounds, damping)) < 1e-10);
    }

    #[test]
    fn beliefs_are_those_of_the_simple_undirected_graph(
        edges in edges(2..=40, 1..=3),
        choices in (any::<bool>(), 0..GRIDS.len(), 2usize..4, any::<u64>()),
        order in select(&[VertexOrder::Given, VertexOrder::Degree][..]),
        // Two states use single precision where the tolerance allows it.
        (tolerance, off_max) in select(&[(0.0, 1e-10), (1e-6, 1e-5)][..]),
    ) {
        let (undirected, grid, states, seed) = choices;
        prop_assume!(!edges.is_empty());
        let (list, mut random) = (EdgeList::new(edges), XorShift::new(seed));
        let vertices = list.vertices();
        let place = |id: u64| vertices.binary_search(&id).unwrap();
        let mut potential = weights(states * states, &mut random);
        for row in 0..states {
            for column in 0..row {
                potential[row * states + column] = potential[column * states + row];
            }
        }
        let mut ends: Vec<(usize, usize)> = list
            .edges
            .iter()
            .map(|&(one, other)| (place(one.min(other)), place(one.max(other))))
            .filter(|(one, other)| one != other)
            .collect();
        ends.sort_unstable();
        ends.dedup();
        let pairs = ends.into_iter().map(|(one, other)| (one, other, potential.clone())).collect();
        let mut field = Field { states: vec![states; vertices.len()], pairs, own: Vec::new() };
        let scratch = Scratch::new();
        let mut lines = String::new();
        for (vertex, id) in vertices.iter().enumerate() {
            if random.below(2) == 0 {
                // A state without a row is impossible.
                let mut own = weights(states, &mut random);
                own[random.below(states as u64) as usize] = 0.0;
                for (state, weight) in own.iter().enumerate().filter(|(_, weight)| **weight > 0.0) {
                    writeln!(lines, "{id} {state} {weight}").unwrap();
                }
                field.own.push((vertex, own));
            }
        }
        let rows: String = potential
            .chunks(states)
            .map(|row| row.iter().map(|cell| format!("{cell} ")).collect::<String>() + "# a row\n")
            .collect();
        let [potential, priors] = ["potential.txt", "priors.txt"].map(|name| scratch.path().join(name));
        std::fs::write(&potential, rows).unwrap();
        std::fs::write(&priors, lines).unwrap();
        let mut config = with_rows(order, undirected);
        config.tuning.grid = GRIDS[grid];
        let graph = open(&import_with(config, scratch.path(), "g", &list));
        let wanted = json!({
            "potential": potential, "priors": priors, "iterations": 5, "tolerance": tolerance
        });
        let found = beliefs(&graph, &wanted);
        prop_assert!(difference(&found, &field.passed(5, 0.0)) < off_max);
    }
}

#[test]
fn a_vertex_hears_all_neighbours_even_if_a_block_has_no_room_for_them() {
    let scratch = Scratch::new();
    // A block has 65,536 entries of two states, and 262,144 in single precision.
    let leaves = 300_000u64;
    let star = EdgeList::new((1..=leaves).map(|leaf| (0, leaf)).collect());
    let config = with_rows(VertexOrder::Given, true);
    let graph = open(&import_with(config, scratch.path(), "star", &star));
    let [potential, priors] = ["potential.txt", "priors.txt"].map(|name| scratch.path().join(name));
    std::fs::write(&potential, "3 2\n2 3\n").unwrap();
    // The same number of leaves is known in each state, but for one.
    let known = (1..=10_001).map(|leaf| format!("{leaf} {} 1\n", leaf % 2)).collect::<String>();
    std::fs::write(&priors, known).unwrap();
    for (tolerance, off_max) in [(1e-7, 1e-9), (1e-6, 1e-6)] {
        let wanted = json!({ "potential": potential, "priors": priors, "tolerance": tolerance });
        let found = beliefs(&graph, &wanted);
        assert!((found[0][1] - 0.6).abs() < off_max, "{:?}", found[0]);
        let expected = 0.6 * 0.6 + 0.4 * 0.4;
        assert!((found[leaves as usize][1] - expected).abs() < off_max);
        assert_eq!(found[1], [0.0, 1.0]);
    }
}

#[test]
fn vertices_without_edges_may_lie_between_others() {
    let scratch = Scratch::new();
    // The second of four chunks of degrees is left out, as none of its vertices has an edge.
    let starts = [0, 2 << 16, 3 << 16];
    let chain = |start: u64| (start..start + 1000).map(|vertex| (vertex, vertex + 1));
    let chains = EdgeList::new(starts.into_iter().flat_map(chain).collect());
    let [potential, priors] = ["potential.txt", "priors.txt"].map(|name| scratch.path().join(name));
    std::fs::write(&potential, "3 2 1\n2 3 1\n1 1 4\n").unwrap();
    let known = starts.map(|start| format!("{} 1 1\n{} 2 0.75\n", start + 300, start + 700));
    std::fs::write(&priors, known.concat()).unwrap();
    let wanted = json!({ "potential": potential, "priors": priors, "iterations": 40 });
    let [given, by_degree] = [VertexOrder::Given, VertexOrder::Degree].map(|order| {
        let vertices = Some(Vertices::Count(4 << 16));
        let config = ImportConfig { vertices, ..with_rows(order, true) };
        let graph = open(&import_with(config, scratch.path(), &format!("{order:?}"), &chains));
        beliefs(&graph, &wanted)
    });
    assert_eq!(given.len(), 4 << 16);
    assert!(difference(&given, &by_degree) < 1e-9);
    for start in starts {
        assert_eq!(given[start as usize + 300], [0.0, 1.0, 0.0]);
        assert!(given[start as usize + 301][1] > 0.4, "{:?}", given[start as usize + 301]);
    }
}

#[test]
fn the_estimated_memory_is_enough() {
    let scratch = Scratch::new();
    let ring = EdgeList::new((0..300_000u64).flat_map(|v| [(v, v + 1), (v, v + 2)]).collect());
    let config = with_rows(VertexOrder::Degree, false);
    let directory = import_with(config, scratch.path(), "ring", &ring);
    let potential = scratch.path().join("potential.txt");
    for weights in ["3 2 1\n2 3 2\n1 2 3\n", "3 2\n2 3\n"] {
        std::fs::write(&potential, weights).unwrap();
        let wanted = json!({ "potential": potential, "iterations": 2 });
        let request = find(NAME).unwrap().request(wanted.clone()).unwrap();
        let graph = open_graph(&directory, AMPLE, Backend::Auto).unwrap();
        let prepared = request.prepare(&graph, &threads(2), &LocalPaths).unwrap();
        let needed = prepared.estimate(&graph, 2).unwrap().needed();
        let expected = tables::answer(&graph, NAME, wanted.clone(), &threads(2));
        for memory in [needed, needed + (30 << 20)] {
            let graph = open_graph(&directory, memory, Backend::Auto).unwrap();
            let options = RunOptions { memory, ..threads(2) };
            assert_eq!(tables::answer(&graph, NAME, wanted.clone(), &options), expected);
        }
        let graph = open_graph(&directory, needed, Backend::Auto).unwrap();
        let options = RunOptions { memory: needed - 1, ..threads(2) };
        match tables::try_answer(&graph, NAME, wanted, &options) {
            Err(Error::Run(RunError::Machine(MachineError::OverBudget {
                needed: found, ..
            }))) => {
                assert_eq!(found, needed);
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn an_invalid_model_is_refused_with_its_line() {
    let scratch = Scratch::new();
    let file = scratch.path().join("bad.uai");
    for (text, words) in [
        ("", "line 1: the text ends before `MARKOV`"),
        ("GRAPH\n2\n", "line 1: a model begins with"),
        ("MARKOV\n0\n0\n", "line 2: the model has no variables"),
        ("MARKOV\n2\n2 x\n", "line 3: `x` is not"),
        ("MARKOV\n1\n0\n0\n", "line 3: variable 0 has 0 states"),
        ("MARKOV\n1\n5000\n0\n", "line 3: variable 0 has 5000 states"),
        ("MARKOV\n3\n2 2 2\n1\n3 0 1 2\n8 1 1 1 1 1 1 1 1\n", "line 5: factor 0 has 3 variables"),
        ("MARKOV\n2\n2 2\n1\n2 0 2\n", "line 5: there is no variable 2"),
        ("MARKOV\n2\n2 2\n1\n2 1 1\n", "line 5: factor 0 has variable 1 twice"),
        ("MARKOV\n2\n2 2\n1\n1 0\n3 1 1 1\n", "line 6: factor 0 has 3 weights"),
        ("MARKOV\n2\n2 2\n1\n1 0\n2 1 -1\n", "line 6: the weights of factor 0"),
        ("MARKOV\n2\n2 2\n1\n1 0\n2 0 0\n", "line 6: the weights of factor 0"),
        ("MARKOV\n2\n2 2\n1\n1 0\n2 inf 0\n", "line 6: the weights of factor 0"),
        ("MARKOV\n2\n2 2\n1\n1 0\n2 1\n", "line 6: the text ends before a weight"),
        ("MARKOV\n1\n2\n1\n1 0\n2 1 1\n7\n", "line 7: `7` follows"),
        (
            "MARKOV\n1\n2\n2\n1 0\n1 0\n2 1 0\n2 0 1\n",
            "line 8: factor 1 rules out all states of variable 0",
        ),
    ] {
        std::fs::write(&file, text).unwrap();
        let request = find(NAME).unwrap().request(json!({ "model": file })).unwrap();
        let (model, directory) = (request.model.unwrap(), scratch.path().join("g"));
        let error = model.import(&directory, &threads(1), &LocalPaths).unwrap_err();
        assert!(error.to_string().contains(words), "{error}, not {words}");
    }
}
