//! Properties of every algorithm of the catalogue.

use std::collections::HashSet;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::support::ways::with_rows;
use crate::support::{AMPLE, import_with, open, threads};
use arrow_array::RecordBatch;
use arrow_schema::{DataType, Schema};
use serde_json::{Map, Value, json};
use tegula_algorithms::algorithm::{Column, ColumnType, Edges, Entry, Needs, Rate, Request};
use tegula_algorithms::answer::RowSink;
use tegula_algorithms::side_table::LocalPaths;
use tegula_algorithms::{CATALOGUE, Error, catalogue, find};
use tegula_engine::{Graph, RunOptions, Scheduler, Speed, open_graph};
use tegula_machine::disk::Backend;
use tegula_store::graph::VertexOrder;
use tegula_testkit::{EdgeList, Scratch};

/// Number of entries of a list.
const TOP: usize = 2;

/// Two triangles joined by an edge, and a separate pair, with weights.
fn graph() -> EdgeList {
    let edges = vec![(1, 2), (2, 3), (3, 1), (3, 4), (4, 5), (5, 6), (6, 4), (8, 9)];
    let weights = (1..=edges.len()).map(|weight| weight as f32).collect();
    EdgeList { weights: Some(weights), ..EdgeList::new(edges) }
}

/// Values for required options.
fn samples(scratch: &Scratch) -> Map<String, Value> {
    let sets = scratch.path().join("sets.txt");
    std::fs::write(&sets, "1 one\n2 one\n4 other\n").unwrap();
    let pairs = scratch.path().join("pairs.txt");
    std::fs::write(&pairs, "1 4\n2 3\n").unwrap();
    let potential = scratch.path().join("potential.txt");
    std::fs::write(&potential, "3 1\n1 2\n").unwrap();
    let samples = json!({
        "potential": potential,
        "source": "1", "target": "6", "sets": sets, "hops": 3, "pairs": pairs, "component": "4"
    });
    let Value::Object(samples) = samples else {
        unreachable!("it is an object");
    };
    samples
}

/// Checks that an answer has the columns that the catalogue tells, in their order.
fn check_columns(entry: &Entry, schema: &Schema) {
    let mut told = entry.description.columns.iter().peekable();
    for field in schema.fields() {
        let is_meant = |column: &&Column| match field.name().strip_prefix(column.name) {
            Some("") => !column.repeats,
            Some(number) => column.repeats && number.bytes().all(|byte| byte.is_ascii_digit()),
            None => false,
        };
        while told.peek().is_some_and(|column| !is_meant(column)) {
            let column = told.next().unwrap();
            assert!(column.when.is_some() || column.repeats, "{}: no {}", entry.name, column.name);
        }
        let name = field.name();
        let column = told.peek().unwrap_or_else(|| panic!("{}: {name} is not told", entry.name));
        let is_of_kind = match column.kind {
            // Of the test, ids are integers and the names of sets are text.
            ColumnType::Id | ColumnType::Integer => field.data_type().is_integer(),
            ColumnType::Name => *field.data_type() == DataType::LargeUtf8,
            ColumnType::Number => field.data_type().is_numeric(),
            ColumnType::Boolean => *field.data_type() == DataType::Boolean,
        };
        assert!(is_of_kind, "{}: {name} is {}", entry.name, field.data_type());
        if !column.repeats {
            told.next();
        }
    }
    let missing = told.find(|column| column.when.is_none() && !column.repeats);
    assert!(missing.is_none(), "{}: no {missing:?}", entry.name);
}

/// The options of an algorithm, by their own names.
fn options_of(entry: &Entry, samples: &Map<String, Value>) -> Value {
    let names = entry.option_names();
    let own = samples.iter().filter(|(name, _)| names.contains(&name.as_str()));
    Value::Object(own.map(|(name, value)| (name.clone(), value.clone())).collect())
}

/// Keeps all rows.
#[derive(Default)]
pub struct Kept(pub Vec<RecordBatch>);

impl RowSink for Kept {
    fn write(&mut self, rows: &RecordBatch) -> tegula_engine::Result<()> {
        self.0.push(rows.clone());
        Ok(())
    }
}

fn import(scratch: &Scratch) -> Graph {
    let config = with_rows(VertexOrder::Degree, true);
    open(&import_with(config, scratch.path(), "graph", &graph()))
}

/// The graph without its edges backward, and directed, so that it has no cycle.
fn import_acyclic(scratch: &Scratch) -> Graph {
    let config = with_rows(VertexOrder::Degree, false);
    let forward = graph().edges.into_iter().filter(|(source, target)| source < target);
    open(&import_with(config, scratch.path(), "acyclic", &EdgeList::new(forward.collect())))
}

/// Calls `test` with each algorithm, a graph for it and its request.
fn for_each_algorithm(test: impl Fn(&Entry, &Graph, &Request)) {
    let scratch = Scratch::new();
    let (graph, acyclic, samples) = (import(&scratch), import_acyclic(&scratch), samples(&scratch));
    for entry in CATALOGUE {
        let graph = if entry.name == "topological-order" { &acyclic } else { &graph };
        let request = entry.request(options_of(entry, &samples)).unwrap();
        test(entry, graph, &request);
    }
}

#[test]
fn names_are_unique_and_every_algorithm_has_a_summary() {
    let names: HashSet<&str> = CATALOGUE.iter().map(|entry| entry.name).collect();
    assert_eq!(names.len(), CATALOGUE.len());
    for entry in CATALOGUE {
        let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte == b'-';
        assert!(!entry.name.is_empty() && entry.name.bytes().all(is_plain), "{}", entry.name);
        let summary = entry.description.summary;
        assert!(summary.len() > 20 && !summary.ends_with('.'), "{summary}");
        assert_eq!(find(entry.name).map(|found| found.description.summary), Some(summary));
    }
    assert!(find("nothing").is_none());
}

/// Checks the times of an algorithm. One whose rate was not measured yet has no times.
fn check_times(name: &str, needs: &Needs) {
    let Some(rate) = Rate::of(needs.work().kind) else {
        assert!(needs.seconds(AMPLE, 2, &Speed::default()).is_none(), "{name} has no rate");
        return;
    };
    let seconds = |threads| needs.work().seconds(needs.edge_bytes, threads).unwrap();
    let (alone, together) = (seconds(1), seconds(2));
    assert!(needs.seconds(AMPLE, 2, &Speed::default()).unwrap() >= together, "{name}");
    let is_shared = !matches!(name, "scc" | "astar" | "subgraph");
    assert_eq!(alone > together, is_shared, "{name}: {alone} s, {together} s");
    let work_seconds = rate.edge_seconds + rate.byte_seconds + rate.vertex_seconds;
    assert!(together > 0.0 && work_seconds > 0.0, "{name}");
}

#[test]
fn every_algorithm_runs_within_its_estimate_and_gives_its_declared_table() {
    for_each_algorithm(|entry, graph, request| {
        let name = entry.name;
        assert_eq!(request.name, name);
        let ample = threads(2);
        let prepared = request.prepare(graph, &ample, &LocalPaths).unwrap();
        let needs_rows = !matches!(request.edges, Edges::None | Edges::Tiles { .. });
        let needs = Needs::of(&prepared, graph, ample.threads, needs_rows).unwrap();
        assert!(needs.build_bytes.is_none(), "{name}: the graph has rows");
        check_times(name, &needs);
        assert!(needs.check("it", needs.needed()).is_ok());
        assert!(needs.check("it", needs.needed() - 1).is_err());
        assert!(needs.needed() < AMPLE && needs.estimate.vertex_bytes > 0, "{name}: {needs:?}");
        request.check_input(graph).unwrap();

        let memory = needs.needed();
        let graph = open_graph(graph.directory(), memory, Backend::Auto).unwrap();
        let found = prepared.run(&graph, &RunOptions { memory, ..threads(2) });
        let found = found.unwrap_or_else(|error| panic!("{name} in {memory} bytes: {error}"));
        let mut kept = Kept::default();
        found.answer.write_rows(&graph, &mut kept, &ample.cancel).unwrap();
        let schema = found.answer.schema(&graph);
        let columns: HashSet<&String> = schema.fields().iter().map(|field| field.name()).collect();
        assert_eq!(columns.len(), schema.fields().len(), "{name}: {columns:?}");
        check_columns(entry, &schema);
        assert!(!kept.0.is_empty() && kept.0.iter().all(|rows| rows.schema() == schema), "{name}");
        let row_count: usize = kept.0.iter().map(RecordBatch::num_rows).sum();
        assert_eq!(row_count as u64, found.answer.row_count(&graph), "{name}");

        let summary = found.answer.summary(&graph, TOP, &ample.cancel).unwrap();
        let told = serde_json::to_value(&*summary).unwrap();
        assert!(told.as_object().is_some_and(|figures| !figures.is_empty()), "{name}: {told}");
        assert!(summary.facts().into_iter().count() > 0, "{name}");
        let rows = TOP.min(row_count);
        assert_eq!(summary.list().rows.len(), rows, "{name}: {:?}", summary.list());
    });
}

#[test]
fn every_algorithm_runs_within_its_reserve_while_another_job_waits() {
    for_each_algorithm(|entry, graph, request| {
        let name = entry.name;
        let ample = threads(2);
        let prepared = request.prepare(graph, &ample, &LocalPaths).unwrap();
        let needs_rows = !matches!(request.edges, Edges::None | Edges::Tiles { .. });
        let needs = Needs::of(&prepared, graph, ample.threads, needs_rows).unwrap();
        let (memory, estimate) = (needs.needed(), &needs.estimate);
        let graph = open_graph(graph.directory(), memory, Backend::Auto).unwrap();
        let options = RunOptions { memory, ..threads(2) };
        Scheduler::scope(&graph, &options.resources(), |scheduler| {
            let reserve = estimate.reserve(scheduler, &ample.cancel).unwrap();
            let (is_written, comes) = (AtomicBool::new(false), Barrier::new(2));
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    comes.wait();
                    let _other = estimate.reserve(scheduler, &ample.cancel).unwrap();
                    assert!(is_written.load(Ordering::SeqCst), "{name}: there is room for one");
                });
                comes.wait();
                let (scheduler, reserve) = (Some(scheduler), reserve);
                let options = RunOptions { scheduler, reserve: Some(&reserve), ..options.clone() };
                let found = prepared.run(&graph, &options);
                let found = found.unwrap_or_else(|error| panic!("{name}: {error}"));
                found.answer.write_rows(&graph, &mut Kept::default(), &ample.cancel).unwrap();
                is_written.store(true, Ordering::SeqCst);
            });
        });
    });
}

#[test]
fn unknown_and_missing_options_are_refused() {
    let samples = samples(&Scratch::new());
    for entry in CATALOGUE {
        let mut options = options_of(entry, &samples);
        let needs_some = options.as_object().is_some_and(|options| !options.is_empty());
        assert_eq!(entry.request(json!({})).is_err(), needs_some, "{}", entry.name);
        options["no_such_option"] = json!(1);
        match entry.request(options) {
            Err(Error::BadOptions { algorithm, detail }) => {
                assert_eq!(algorithm, entry.name);
                assert!(detail.contains("no_such_option"), "{detail}");
            }
            other => panic!("{}: {other:?}", entry.name),
        }
    }
}

#[test]
fn an_error_names_the_option_that_causes_it_beside_a_required_one() {
    let entry = find("k-hop").unwrap();
    for (options, expected) in [
        (json!({ "source": 1.5, "hops": 2 }), "source: invalid type"),
        (json!({ "source": "1", "hops": "x" }), "hops: invalid type"),
        (json!({ "source": "1", "hops": 2, "parents": true }), "unknown field `parents`"),
    ] {
        match entry.request(options) {
            Err(Error::BadOptions { detail, .. }) => {
                assert!(detail.starts_with(expected), "{detail}");
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn only_algorithms_that_read_tables_have_table_options() {
    let samples = samples(&Scratch::new());
    for entry in CATALOGUE {
        let names = entry.option_names();
        assert!(entry.tables.iter().all(|table| names.contains(table)), "{}", entry.name);
        for (option, value, other) in
            [("header", json!(true), json!(2)), ("missing", json!("skip"), json!("keep"))]
        {
            let has_it = !entry.tables.is_empty();
            assert_eq!(names.contains(&option), has_it, "{}", entry.name);
            let mut options = options_of(entry, &samples);
            options[option] = value;
            assert_eq!(entry.request(options.clone()).is_ok(), has_it, "{}", entry.name);
            options[option] = other;
            assert!(entry.request(options).is_err(), "{}", entry.name);
        }
    }
}

#[test]
fn limits_and_combinations_of_options_are_checked() {
    for (name, options) in [
        ("pagerank", json!({ "damping": 1.0 })),
        ("pagerank", json!({ "tolerance": -1.0 })),
        ("sssp", json!({ "source": "1", "delta": 0.0 })),
        ("triangles", json!({ "hashes": 8 })),
        ("triangles", json!({ "approximate": true, "hashes": 0 })),
        ("triangles", json!({ "approximate": true, "hashes": 1025 })),
        ("belief-propagation", json!({})),
        ("belief-propagation", json!({ "model": "a", "priors": "b" })),
        ("belief-propagation", json!({ "potential": "a", "damping": 1.0 })),
        ("sssp", json!({ "source": "1", "method": "dijkstra", "delta": 1.0 })),
        ("sssp", json!({ "source": "1", "method": "bellman" })),
        ("sssp", json!({ "source": "1", "parents": true, "targets": "a" })),
        ("bfs", json!({ "source": "1", "parents": true, "targets": "a" })),
        ("astar", json!({ "source": "1", "target": "2", "heuristic_scale": 1.0 })),
    ] {
        assert!(find(name).unwrap().request(options.clone()).is_err(), "{name} {options}");
    }
}

#[test]
fn schemas_describe_every_option() {
    for entry in CATALOGUE {
        let schema = entry.schema();
        let properties = schema["properties"].as_object().unwrap();
        let mut described: Vec<&str> = properties.keys().map(String::as_str).collect();
        let mut options = entry.option_names();
        described.sort_unstable();
        options.sort_unstable();
        assert_eq!(described, options, "{}", entry.name);
        for (name, option) in properties {
            let help = option["description"].as_str();
            assert!(help.is_some_and(|help| !help.is_empty()), "{} {name}", entry.name);
            let has_type =
                ["type", "enum", "oneOf", "anyOf"].iter().any(|key| option.get(key).is_some());
            assert!(has_type, "{} {name}: {option}", entry.name);
            let is_table = entry.tables.contains(&name.as_str());
            assert_eq!(option["format"] == "table", is_table, "{} {name}", entry.name);
        }
        assert_eq!(schema["additionalProperties"], json!(false), "{}", entry.name);
        assert_eq!(schema["title"], entry.name);
        let columns = schema["columns"].as_array().map(Vec::len);
        assert_eq!(columns, Some(entry.description.columns.len()), "{}", entry.name);
    }
    let schema = find("pagerank").unwrap().schema();
    let damping = &schema["properties"]["damping"];
    assert_eq!([&damping["minimum"], &damping["exclusiveMaximum"]], [&json!(0), &json!(1)]);
    assert_eq!(damping["default"], json!(0.85));
    let rank = &schema["columns"][1];
    assert_eq!([&rank["name"], &rank["type"]], [&json!("rank"), &json!("number")]);
    let schema = find("k-hop").unwrap().schema();
    assert_eq!(schema["properties"]["source"]["format"], "vertex");
    assert_eq!(schema["required"], json!(["hops"]));
}

#[test]
fn the_page_of_algorithms_is_the_catalogue() {
    let page = include_str!("../../../../docs/ALGORITHMS.md");
    assert!(page == catalogue::page(), "docs/ALGORITHMS.md is stale: run `cargo xtask algorithms`");
}
