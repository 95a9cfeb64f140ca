//! Like jobs that run as one: each has the bytes of a run of its own.

use tegula_generators::{Rmat, edges};
use tegula_testkit::EdgeList;

use super::{batch, fused_with, objects, shop};
use crate::shop::Shop;

#[test]
fn like_jobs_run_as_one_with_the_bytes_of_single_runs() {
    let shop = shop();
    shop.write("seeds.csv", "vertex,weight\n0,2\n3,0.5\n");
    let jobs = [
        (r#"{"name": "a", "algorithm": "pagerank"}"#, "pagerank"),
        (
            r#"{"name": "b", "algorithm": "pagerank", "options": {"damping": 0.5, "tolerance": 0.01}}"#,
            "pagerank --damping 0.5 --tolerance 0.01",
        ),
        (
            r#"{"name": "c", "algorithm": "pagerank", "options": {"iterations": 3}}"#,
            "pagerank --iterations 3",
        ),
        (
            r#"{"name": "d", "algorithm": "pagerank", "options": {"personalize": "seeds.csv"}}"#,
            "pagerank --personalize seeds.csv",
        ),
    ];
    let lost = r#"{"name": "lost", "algorithm": "pagerank", "options": {"personalize": "no.csv"}}"#;
    let mut lines: Vec<&str> = jobs.iter().map(|(line, _)| *line).collect();
    lines.insert(2, lost);
    for options in ["", "--jobs 1 --threads 1", "--no-fuse"] {
        let said = batch(&shop, &lines, &format!("--json --force {options}"));
        assert_eq!(said.code, Some(1), "{}", said.err);
        let (objects, total) = objects(&said);
        assert_eq!((total["jobs"].as_u64(), total["failed"].as_u64()), (Some(5), Some(1)));
        for (name, (_, words)) in ["a", "b", "c", "d"].into_iter().zip(jobs) {
            let alone =
                shop.tegula(&format!("run {words} g.tegula -o alone.parquet --force --json"));
            let alone = alone.done().json();
            let path = format!("out/{name}.parquet");
            assert!(shop.read("alone.parquet") == shop.read(&path), "{words}, {options}");
            let others = fused_with(&objects, name);
            let all = if options == "--no-fuse" { 0 } else { 3 };
            assert!(others.len() == all && !others.contains(&name.to_owned()), "{others:?}");
            let job = objects.iter().find(|object| object["name"] == name).unwrap();
            for field in ["iterations", "summary"] {
                assert_eq!(job[field], alone[field], "{words}, {options}");
            }
        }
    }
    let said = batch(&shop, &lines, "--force");
    assert!(said.err.contains("a: pagerank took"), "{}", said.err);
    assert!(said.err.contains("as one run with 3 others"), "{}", said.err);
}

#[test]
fn a_like_job_joins_a_run_and_leaves_it_with_the_bytes_of_a_single_run() {
    let shop = shop();
    shop.write("seeds.csv", "vertex,weight\n0,2\n3,0.5\n");
    // The first three run for seconds, in four lanes. The others arrive meanwhile, one by one.
    let lines = [
        r#"{"name": "long", "algorithm": "pagerank", "options": {"iterations": 20000}, "each": {"damping": [0.5, 0.6, 0.7]}}"#,
        r#"{"name": "a", "algorithm": "pagerank", "options": {"iterations": 3}, "after_seconds": 0.5}"#,
        r#"{"name": "lost", "algorithm": "pagerank", "options": {"personalize": "no.csv"}, "after_seconds": 0.7}"#,
        r#"{"name": "b", "algorithm": "pagerank", "options": {"personalize": "seeds.csv"}, "after_seconds": 0.9}"#,
        r#"{"name": "other", "algorithm": "wcc", "after_seconds": 0.9}"#,
    ];
    let jobs: [(&str, &str, &[&str]); 5] = [
        ("long-1", "pagerank --iterations 20000 --damping 0.5", &["a", "b", "long-2", "long-3"]),
        ("long-3", "pagerank --iterations 20000 --damping 0.7", &["a", "b", "long-1", "long-2"]),
        ("a", "pagerank --iterations 3", &["long-1", "long-2", "long-3"]),
        // The one that joined before has left.
        ("b", "pagerank --personalize seeds.csv", &["long-1", "long-2", "long-3"]),
        ("other", "wcc", &[]),
    ];
    let alone = jobs.map(|(name, words, _)| {
        shop.tegula(&format!("run {words} g.tegula -o alone-{name}.parquet --json")).done().json()
    });
    for options in ["", "--threads 1"] {
        let said = batch(&shop, &lines, &format!("--json --force {options}"));
        assert_eq!(said.code, Some(1), "{}", said.err);
        let (objects, total) = objects(&said);
        assert_eq!((total["jobs"].as_u64(), total["failed"].as_u64()), (Some(7), Some(1)));
        let place = |name: &str| objects.iter().position(|object| object["name"] == name).unwrap();
        for ((name, words, expected), alone) in jobs.iter().zip(&alone) {
            let table = shop.read(&format!("alone-{name}.parquet"));
            assert!(table == shop.read(&format!("out/{name}.parquet")), "{words}, {options}");
            let job = &objects[place(name)];
            for field in ["iterations", "summary"] {
                assert!(*name == "other" || job[field] == alone[field], "{words}, {options}");
            }
            let mut others = fused_with(&objects, name);
            others.sort();
            assert_eq!(others, *expected, "{name}, {options}");
        }
        assert!(place("a") < place("long-1"), "{}", said.out);
        let queued = objects[place("a")]["queued_seconds"].as_f64().unwrap();
        assert!((0.0..60.0).contains(&queued), "{queued}");
    }
}

#[test]
fn searches_run_as_one_with_the_bytes_of_single_runs() {
    let shop = Shop::new();
    let edges = edges(&Rmat::new(9, 8, 5).unwrap());
    let sources: Vec<u64> = edges.iter().step_by(400).map(|&(source, _)| source).collect();
    let edges = EdgeList::new(edges).weighted(7);
    let each = format!(r#""each": {{"source": {sources:?}}}"#);
    for (layouts, searches) in [
        ("tiles", vec!["bfs", "bfs --cutoff 2", "sssp", "sssp --cutoff 9.5"]),
        ("tiles,rows", vec!["bfs"]),
    ] {
        shop.import(&edges, &format!("--layouts {layouts}"));
        for search in searches {
            let (algorithm, cutoff) = search.split_once(" --cutoff ").unwrap_or((search, "1e9"));
            let options = match search.contains("cutoff") {
                true => format!(r#""options": {{"cutoff": {cutoff}}}, "#),
                false => String::new(),
            };
            let line = format!(
                r#"{{"name": "s", "algorithm": "{algorithm}", "format": "npy", {options}{each}}}"#
            );
            let lost = format!(
                r#"{{"name": "lost", "algorithm": "{algorithm}", "options": {{"source": 99999}}}}"#
            );
            let said = batch(&shop, &[&line, &lost], "--json --force");
            let (objects, total) = objects(&said);
            assert_eq!(total["failed"], 1, "{}", said.err);
            for (index, source) in sources.iter().enumerate() {
                let words = format!("run {search} g.tegula --source {source} -o alone.npy --force");
                shop.tegula(&words).done();
                let name = format!("s-{}", index + 1);
                let path = format!("out/{name}.npy");
                assert!(
                    shop.read("alone.npy") == shop.read(&path),
                    "{search}, {source}, {layouts}"
                );
                let others = fused_with(&objects, &name);
                assert!(!others.is_empty(), "{search}, {layouts}");
            }
        }
    }
}

#[test]
fn searches_over_equal_weights_that_run_as_one_tell_no_width_of_buckets() {
    let shop = Shop::new();
    let mut graph = EdgeList::new(edges(&Rmat::new(9, 8, 5).unwrap()));
    graph.weights = Some(vec![0.5; graph.edges.len()]);
    let sources: Vec<u64> = graph.edges.iter().step_by(400).map(|&(source, _)| source).collect();
    shop.import(&graph, "--layouts tiles");
    let each = format!(r#""each": {{"source": {sources:?}}}"#);
    let line = format!(r#"{{"name": "s", "algorithm": "sssp", {each}}}"#);
    let said = batch(&shop, &[&line], "--json");
    let (objects, _) = objects(&said);
    for (index, source) in sources.iter().enumerate() {
        let name = format!("s-{}", index + 1);
        assert!(!fused_with(&objects, &name).is_empty(), "{name}");
        let job = objects.iter().find(|job| job["name"] == name.as_str()).unwrap();
        let alone = shop.tegula(&format!("run sssp g.tegula --source {source} --json"));
        let alone = alone.done().json();
        assert!(alone["summary"]["delta"].is_null(), "{alone}");
        assert_eq!(job["summary"], alone["summary"], "{source}");
    }
}

#[test]
fn parents_of_searches_that_run_as_one_are_those_of_single_runs() {
    let shop = Shop::new();
    let edges = EdgeList::new(edges(&Rmat::new(9, 8, 5).unwrap()));
    let sources: Vec<u64> = edges.edges.iter().step_by(200).map(|&(source, _)| source).collect();
    assert!(sources.len() > 18, "more than one pass finds their parents");
    let each = format!(r#""each": {{"source": {sources:?}}}"#);
    let kinds = [
        ("all", r#"{"parents": true}"#, "--parents"),
        ("near", r#"{"parents": true, "cutoff": 2}"#, "--parents --cutoff 2"),
        ("hops", "{}", ""),
    ];
    let lines = kinds.map(|(name, options, _)| {
        format!(r#"{{"name": "{name}", "algorithm": "bfs", "options": {options}, {each}}}"#)
    });
    for settings in ["", "--undirected", "--order given"] {
        shop.import(&edges, &format!("--layouts tiles {settings}"));
        let said = batch(&shop, &lines.each_ref().map(|line| &**line), "--json --force").done();
        let (objects, _) = objects(&said);
        for (name, _, words) in kinds {
            for (index, source) in sources.iter().enumerate() {
                let name = format!("{name}-{}", index + 1);
                let words = format!("bfs {words} --source {source}");
                let alone = format!("run {words} g.tegula -o alone.parquet --force");
                shop.tegula(&alone).done();
                let path = format!("out/{name}.parquet");
                assert!(shop.read("alone.parquet") == shop.read(&path), "{words}, {settings}");
                assert!(fused_with(&objects, &name).len() > 20, "{words}, {settings}");
            }
        }
    }
}

#[test]
fn products_of_several_vectors_run_as_one_with_the_bytes_of_single_runs() {
    let shop = Shop::new();
    let edges = EdgeList::new(edges(&Rmat::new(9, 8, 5).unwrap())).weighted(7);
    let vector = |step: usize| -> String {
        let sources = edges.edges.iter().step_by(step).enumerate();
        let row = |(number, (source, _)): (usize, &(u64, u64))| format!("{source},0.{number}\n");
        sources.map(row).collect()
    };
    shop.write("few.csv", vector(300));
    shop.write("many.csv", vector(7));
    let jobs = [
        ("few", "--vector few.csv", r#"{"vector": "few.csv"}"#),
        ("many", "--vector many.csv --iterations 3", r#"{"vector": "many.csv", "iterations": 3}"#),
        ("ones", "--iterations 2", r#"{"iterations": 2}"#),
    ];
    let line = |(name, _, options): &(&str, &str, &str)| {
        format!(r#"{{"name": "{name}", "algorithm": "spmv", "options": {options}}}"#)
    };
    let lines: Vec<String> = jobs.iter().map(line).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    for edges in [EdgeList { weights: None, ..edges.clone() }, edges] {
        shop.import(&edges, "");
        let (objects, _) = objects(&batch(&shop, &lines, "--json --force").done());
        for (name, words, _) in jobs {
            shop.tegula(&format!("run spmv g.tegula {words} -o alone.parquet --force")).done();
            let path = format!("out/{name}.parquet");
            assert!(shop.read("alone.parquet") == shop.read(&path), "{words}");
            assert_eq!(fused_with(&objects, name).len(), 2, "{name}");
        }
    }
}
