//! Many jobs on one graph: each has the result of a run of its own, whatever the others do.

use std::io::Write;
use std::time::{Duration, Instant};

use serde_json::Value;
use tegula_generators::{Rmat, edges};
use tegula_testkit::{EdgeList, XorShift};

use crate::interrupts::{interrupt, wait_for_handler};
use crate::shop::{Said, Shop};

/// Makes a graph of some hundred vertices as `g.tegula`, among them 0 and 3.
fn shop() -> Shop {
    let shop = Shop::new();
    let mut edges = edges(&Rmat::new(9, 8, 5).unwrap());
    edges.extend([(0, 3), (3, 0), (0, edges[0].0)]);
    shop.import(&EdgeList::new(edges), "--layouts tiles,rows,reverse");
    shop
}

/// Runs the jobs of some lines into the folder `out`.
fn batch(shop: &Shop, lines: &[&str], options: &str) -> Said {
    shop.write("jobs.jsonl", lines.join("\n"));
    shop.tegula(&format!("run --batch jobs.jsonl g.tegula -o out {options}"))
}

/// Returns the objects that a batch has printed, the last one apart.
fn objects(said: &Said) -> (Vec<Value>, Value) {
    let mut objects: Vec<Value> =
        said.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let total = objects.pop().unwrap();
    assert_eq!(total["schema"], "tegula.batch.v1");
    (objects, total)
}

#[test]
fn every_job_has_the_bytes_of_a_run_of_its_own() {
    let shop = shop();
    let jobs = [
        (r#"{"name": "a", "algorithm": "pagerank"}"#, "pagerank", "a.parquet"),
        (
            r#"{"name": "b", "algorithm": "pagerank", "options": {"damping": 0.5}, "format": "csv"}"#,
            "pagerank --damping 0.5",
            "b.csv",
        ),
        (r#"{"name": "c", "algorithm": "wcc", "format": "npy"}"#, "wcc", "c.npy"),
        (r#"{"algorithm": "triangles", "format": "arrow"}"#, "triangles", "4.arrows"),
        (
            r#"{"name": "d", "algorithm": "bfs", "options": {"parents": true}, "each": {"source": [0, 3]}}"#,
            "bfs --parents --source 0",
            "d-1.parquet",
        ),
        (r#"{"name": "e", "algorithm": "kcore", "after_seconds": 0.2}"#, "kcore", "e.parquet"),
    ];
    let lines: Vec<&str> = jobs.iter().map(|(line, ..)| *line).collect();
    for options in
        ["", "--jobs 1 --threads 1", "--threads 2 --memory 64MiB", "--jobs 7 --io threads"]
    {
        let said = batch(&shop, &lines, &format!("--json --force {options}")).done();
        let (objects, total) = objects(&said);
        assert_eq!(objects.len(), 7, "{}", said.out);
        assert_eq!((total["jobs"].as_u64(), total["failed"].as_u64()), (Some(7), Some(0)));
        for (_, words, file) in jobs {
            shop.tegula(&format!("run {words} g.tegula -o alone-{file} --force")).done();
            let (alone, together) =
                (shop.read(&format!("alone-{file}")), shop.read(&format!("out/{file}")));
            assert!(alone == together, "{words}, {options}");
            let name = file.split('.').next().unwrap();
            let job = objects.iter().find(|object| object["name"] == name).unwrap();
            assert_eq!(job["schema"], "tegula.run.v1");
            assert_eq!(job["algorithm"], words.split(' ').next().unwrap());
            assert!(job["queued_seconds"].as_f64().unwrap() >= 0.0, "{job}");
        }
        assert_eq!(shop.files("out").len(), 7);
    }
}

/// Returns the names of the jobs that ran as one with a job.
fn fused_with(objects: &[Value], name: &str) -> Vec<String> {
    let object = objects.iter().find(|object| object["name"] == name).unwrap();
    let names = object["fused_with"].as_array().unwrap().iter();
    names.map(|name| name.as_str().unwrap().to_owned()).collect()
}

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

#[test]
fn a_job_that_fails_ends_alone() {
    let shop = shop();
    let lines = [
        r#"{"name": "good", "algorithm": "pagerank"}"#,
        r#"{"name": "lost", "algorithm": "bfs", "options": {"source": 123456789}}"#,
        r#"{"name": "unfit", "algorithm": "mst"}"#,
        r#"{"name": "no-table", "algorithm": "pagerank", "options": {"personalize": "none.csv"}}"#,
    ];
    let said = batch(&shop, &lines, "--json");
    assert_eq!(said.code, Some(1), "{}", said.err);
    let (objects, total) = objects(&said);
    assert_eq!((total["jobs"].as_u64(), total["failed"].as_u64()), (Some(4), Some(3)));
    let kind = |name: &str| {
        let object = objects.iter().find(|object| object["name"] == name).unwrap();
        object.get("kind").map(|kind| kind.as_str().unwrap().to_owned())
    };
    assert_eq!(kind("good"), None);
    assert_eq!(kind("lost").as_deref(), Some("no_such_vertex"));
    assert_eq!(kind("no-table").as_deref(), Some("io"));
    assert!(kind("unfit").is_some());
    assert!(
        said.err.contains("lost:") && said.err.contains("has no vertex `123456789`"),
        "{}",
        said.err
    );
    assert!(said.err.contains("3 of 4 jobs failed"), "{}", said.err);
    assert_eq!(shop.files("out").keys().collect::<Vec<_>>(), ["good.parquet"]);
}

#[test]
fn a_job_that_never_fits_is_refused_and_others_wait_for_their_turn() {
    let shop = Shop::new();
    shop.tegula("generate rmat --scale 18 -o g.bin32").done();
    shop.tegula("import g.bin32 -o g.tegula --layouts tiles,rows,reverse").done();
    let needed = |words: &str| {
        let estimate = shop.tegula(&format!("run {words} g.tegula --estimate --json")).json();
        estimate["needed_bytes"].as_u64().unwrap()
    };
    let (ranks, paths) = (needed("pagerank"), needed("betweenness --samples 3"));
    assert!(ranks + (2 << 20) < paths, "{ranks} and {paths}");
    let lines = [
        r#"{"name": "large", "algorithm": "betweenness", "options": {"samples": 3}}"#,
        r#"{"name": "a", "algorithm": "pagerank", "format": "npy"}"#,
        r#"{"name": "b", "algorithm": "pagerank", "options": {"damping": 0.5}, "format": "npy"}"#,
    ];
    let memory = paths - 1;
    let said = batch(&shop, &lines, &format!("--json --memory {memory}"));
    assert_eq!(said.code, Some(1), "{}", said.err);
    let (objects, total) = objects(&said);
    let large = objects.iter().find(|object| object["name"] == "large").unwrap();
    assert_eq!(large["kind"], "over_budget", "{large}");
    assert_eq!(total["failed"], 1);
    assert!(total["peak_memory_bytes"].as_u64().unwrap() <= memory, "{total}");
    shop.tegula("run pagerank g.tegula -o a.npy").done();
    assert!(shop.read("a.npy") == shop.read("out/a.npy"));
}

#[test]
fn tiles_are_read_once_for_all_jobs() {
    let shop = Shop::new();
    shop.tegula("generate rmat --scale 18 -o g.bin32").done();
    shop.tegula("import g.bin32 -o g.tegula").done();
    let tiles = std::fs::metadata(shop.path("g.tegula/tiles.data")).unwrap().len();
    let line = r#"{"algorithm": "pagerank", "each": {"damping": [0.1, 0.3, 0.5, 0.7]}}"#;
    let said = batch(&shop, &[line], "--json --memory 1GiB").done();
    let (_, total) = objects(&said);
    let bytes = |name: &str| total[name].as_u64().unwrap();
    // Beside the tiles, each job reads degrees and ids.
    assert!(bytes("bytes_read") < 2 * tiles, "{} of {tiles}", bytes("bytes_read"));
    // Three jobs share the tiles of the fourth.
    assert!(bytes("bytes_saved") >= 3 * tiles * 9 / 10, "{} of {tiles}", bytes("bytes_saved"));
}

#[test]
fn bad_lines_are_refused_before_anything_runs() {
    let shop = shop();
    let good = r#"{"algorithm": "pagerank"}"#;
    let said = batch(&shop, &[good, "{", good, r#"{"algorithm": "none"}"#], "--json");
    said.failed(2, &["jobs.jsonl, line 2", "no job was run", "line 4 is wrong too"]);
    assert!(!shop.path("out").exists());
    batch(&shop, &["", " "], "").failed(2, &["has no job"]);
    let twice = [good, r#"{"name": "1", "algorithm": "wcc"}"#];
    batch(&shop, &twice, "").failed(2, &["line 2", "the name `1`"]);
    batch(&shop, &["\u{feff}[1"], "").failed(2, &["line 1", "column"]);
    shop.write("jobs.jsonl", [0xff, b'\n']);
    shop.tegula("run --batch jobs.jsonl g.tegula -o out").failed(3, &["no text in UTF-8"]);
    shop.write("jobs.jsonl", good);
    shop.tegula("run --batch jobs.jsonl g.tegula -o jobs.jsonl").failed(1, &["create jobs.jsonl"]);
    let help = shop.tegula("run --batch --help").done();
    assert!(help.out.contains("Run many jobs on one graph at the same time"), "{}", help.out);
    let missing = shop.tegula("run --batch none.jsonl g.tegula -o out");
    missing.failed(3, &["none.jsonl"]);
    shop.tegula("run --batch jobs.jsonl g.tegula").failed(2, &["--output <FOLDER>"]);
    shop.write("jobs.jsonl", good);
    shop.tegula("run --batch jobs.jsonl g.tegula -o g.tegula/out").failed(2, &["graph"]);
    batch(&shop, &[good], "").done();
    batch(&shop, &[good], "").failed(1, &["1.parquet", "exists"]);
    batch(&shop, &[good], "--force").done();
}

#[test]
fn an_estimate_tells_the_needs_of_each_job() {
    let shop = shop();
    let lines = [r#"{"name": "a", "algorithm": "pagerank"}"#, r#"{"algorithm": "wcc"}"#];
    shop.write("jobs.jsonl", lines.join("\n"));
    let said = shop.tegula("run --batch jobs.jsonl g.tegula --estimate").done();
    for words in ["a  ", "pagerank", "wcc", "2 of 2 fit", "at the peak, about"] {
        assert!(said.out.contains(words), "no `{words}` in {}", said.out);
    }
    let told = shop.tegula("run --batch jobs.jsonl g.tegula --estimate --json").done().json();
    let alone = shop.tegula("run pagerank g.tegula --estimate --json").done().json();
    assert_eq!(told["jobs"][0]["needed_bytes"], alone["needed_bytes"]);
    assert!(told["peak_memory_bytes"].as_u64() <= told["memory_bytes"].as_u64());
    let late = r#"{"algorithm": "pagerank", "after_seconds": 100}"#;
    shop.write("jobs.jsonl", late);
    let late = shop.tegula("run --batch jobs.jsonl g.tegula --estimate --json").done().json();
    let seconds = late["seconds"].as_f64().unwrap();
    assert!((100.0..101.0).contains(&seconds), "{late}");
    shop.write(
        "jobs.jsonl",
        r#"{"name": "lost", "algorithm": "bfs", "options": {"source": 99999}}"#,
    );
    let lost = shop.tegula("run --batch jobs.jsonl g.tegula --estimate");
    assert_eq!(lost.code, Some(1), "{}", lost.out);
    assert!(lost.err.contains("has no vertex `99999`"), "{}", lost.err);
    shop.write("jobs.jsonl", lines.join("\n"));
    let little = shop.tegula("run --batch jobs.jsonl g.tegula --estimate --memory 31MiB");
    assert_eq!(little.code, Some(1), "{}", little.out);
}

#[test]
fn an_estimate_counts_jobs_that_run_as_one_once() {
    let shop = shop();
    let ranks = r#"{"algorithm": "pagerank", "each": {"damping": [0.5, 0.6, 0.7, 0.8]}}"#;
    let lost =
        r#"{"name": "lost", "algorithm": "pagerank", "options": {"personalize": "none.csv"}}"#;
    let late = r#"{"name": "late", "algorithm": "pagerank", "after_seconds": 9}"#;
    shop.write("jobs.jsonl", [ranks, lost, late].join("\n"));
    let estimate = |more: &str| {
        let said =
            shop.tegula(&format!("run --batch jobs.jsonl g.tegula --estimate --json {more}"));
        assert_eq!(said.code, Some(1), "one job cannot run: {}", said.err);
        let told: Vec<Value> =
            said.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let [failed, told] = &told[..] else { panic!("{}", said.out) };
        assert_eq!(failed["name"], "lost");
        let jobs = told["jobs"].as_array().unwrap();
        let names = |job: &Value| fused_with(jobs, job["name"].as_str().unwrap());
        let names: Vec<Vec<String>> = jobs.iter().map(names).collect();
        (names, told["seconds"].as_f64().unwrap(), told["peak_memory_bytes"].as_u64().unwrap())
    };
    let (with, seconds, peak) = estimate("--jobs 1");
    let (alone, seconds_alone, peak_alone) = estimate("--jobs 1 --no-fuse");
    assert_eq!(with[0], ["1-2", "1-3", "1-4"]);
    assert_eq!(with[4], Vec::<String>::new(), "it arrives later");
    assert_eq!(alone, vec![Vec::<String>::new(); 5]);
    assert!(seconds < seconds_alone, "{seconds} s as one run, {seconds_alone} s alone");
    assert!(peak > peak_alone, "{peak} bytes as one run, {peak_alone} alone");
}

#[test]
fn a_bad_table_from_a_pipe_is_read_once_and_fails_its_job_alone() {
    let shop = shop();
    shop.write("good.csv", "vertex,value\n0,1\n3,2\n");
    let job = |name: &str, vector: &str| {
        format!(r#"{{"name": "{name}", "algorithm": "spmv", "options": {{"vector": "{vector}"}}}}"#)
    };
    let lines = [job("a", "good.csv"), job("bad", "-"), job("b", "good.csv"), job("c", "good.csv")];
    shop.write("jobs.jsonl", lines.join("\n"));
    let mut child = shop.start("run --batch jobs.jsonl g.tegula -o out --json");
    let mut input = child.stdin.take().unwrap();
    input.write_all(b"vertex,value\n0,many\n").unwrap();
    drop(input);
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    let told: Vec<Value> = said.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let bad = told.iter().find(|object| object["name"] == "bad").unwrap();
    assert!(bad.to_string().contains("`many` is no finite number"), "{bad}");
    assert_eq!(fused_with(&told, "a"), ["b", "c"]);
}

#[test]
fn rows_that_the_graph_lacks_are_built_once() {
    let shop = shop();
    shop.tegula("import g.el -o g.tegula --force --undirected --ids integer").done();
    let lines = [r#"{"algorithm": "mis"}"#, r#"{"algorithm": "mst"}"#];
    let said = batch(&shop, &lines, "").done();
    assert_eq!(said.err.matches("they are built once").count(), 1, "{}", said.err);
    assert_eq!(shop.files("out").len(), 2);
}

#[test]
fn an_interrupt_ends_all_jobs() {
    let shop = Shop::new();
    shop.tegula("generate grid --width 700 --height 700 -o g.bin32").done();
    shop.tegula("import g.bin32 -o g.tegula").done();
    let line = r#"{"algorithm": "pagerank", "options": {"iterations": 100000000}, "each": {"damping": [0.2, 0.9]}}"#;
    let later = r#"{"algorithm": "wcc", "after_seconds": 1000}"#;
    shop.write("jobs.jsonl", [line, later].join("\n"));
    let mut child = shop.start("run --batch jobs.jsonl g.tegula -o out --json");
    wait_for_handler(&mut child);
    std::thread::sleep(Duration::from_millis(500));
    let sent = Instant::now();
    interrupt(&child);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(sent.elapsed() < Duration::from_secs(10));
    assert!(shop.files("out").is_empty());
}

#[test]
fn a_damaged_tile_fails_the_jobs_that_need_it_and_no_other() {
    let shop = shop();
    let mut tiles = shop.read("g.tegula/tiles.data");
    let middle = tiles.len() / 2;
    tiles[middle] ^= 1;
    shop.write("g.tegula/tiles.data", tiles);
    let lines = [
        r#"{"name": "scans", "algorithm": "pagerank", "each": {"damping": [0.5, 0.85]}}"#,
        r#"{"name": "follows-rows", "algorithm": "triangles"}"#,
        r#"{"name": "reads-no-edge", "algorithm": "degree"}"#,
    ];
    let said = batch(&shop, &lines, "--json");
    assert_eq!(said.code, Some(1), "{}", said.err);
    let (objects, total) = objects(&said);
    assert_eq!(total["failed"], 2, "{}", said.out);
    for object in &objects {
        let is_damaged = object["name"].as_str().unwrap().starts_with("scans");
        assert_eq!(object["kind"] == "corrupt", is_damaged, "{object}");
    }
}

#[test]
#[ignore = "long"]
fn random_mixes_of_jobs_have_the_bytes_of_single_runs() {
    const KINDS: [(&str, &str); 9] = [
        ("pagerank", r#""damping": 0.3, "iterations": 4"#),
        ("pagerank", r#""damping": 0.8, "tolerance": 0.001"#),
        ("wcc", r#""method": "propagation""#),
        ("wcc", ""),
        ("sssp", r#""source": 0"#),
        ("bfs", r#""source": 3"#),
        ("bfs", r#""source": 0, "cutoff": 3"#),
        ("kcore", ""),
        ("katz", ""),
    ];
    let shop = Shop::new();
    let mut edges = edges(&Rmat::new(16, 8, 5).unwrap());
    edges.extend([(0, 3), (3, edges[0].0)]);
    shop.import(&EdgeList::new(edges), "--undirected");
    let option = |pair: &str| {
        let (name, value) = pair.split_once(": ").unwrap();
        format!(" --{} {}", name.trim_matches('"'), value.trim_matches('"'))
    };
    for (kind, (algorithm, options)) in KINDS.iter().enumerate() {
        let options: String = options.split(", ").filter(|it| !it.is_empty()).map(option).collect();
        shop.tegula(&format!("run {algorithm} g.tegula -o alone-{kind}.npy{options}")).done();
    }
    let mut random = XorShift::new(21);
    for round in 0..12 {
        let kinds: Vec<usize> = (0..14).map(|_| random.below(9) as usize).collect();
        let line = |(job, &kind): (usize, &usize)| {
            let ((algorithm, options), after) = (KINDS[kind], random.fraction() * 0.3);
            format!(
                r#"{{"name": "{job}", "algorithm": "{algorithm}", "options": {{{options}}}, "format": "npy", "after_seconds": {after}}}"#
            )
        };
        let lines: Vec<String> = kinds.iter().enumerate().map(line).collect();
        shop.write("jobs.jsonl", lines.join("\n"));
        let fuse = if round % 2 == 0 { "" } else { "--no-fuse" };
        let order = if round % 3 == 0 { "--part-order priority" } else { "" };
        let stretch = if round % 4 == 0 { "--stretch-size 1" } else { "" };
        let memory = ["56MiB", "64MiB", "1GiB"][round % 3];
        let (threads, jobs) = (1 + random.below(3), 1 + random.below(16));
        let options = format!(
            "--force --json --memory {memory} --threads {threads} --jobs {jobs} {fuse} {order} {stretch}"
        );
        shop.tegula(&format!("run --batch jobs.jsonl g.tegula -o out {options}")).done();
        for (job, kind) in kinds.iter().enumerate() {
            let (alone, together) =
                (shop.read(&format!("alone-{kind}.npy")), shop.read(&format!("out/{job}.npy")));
            assert!(alone == together, "{}, {options}", KINDS[*kind].0);
        }
    }
}

#[test]
fn a_warning_that_holds_for_many_jobs_is_printed_once() {
    let shop = Shop::new();
    shop.write("g.txt", "1 2 0.5\n2 3 0.5\n");
    shop.tegula("import g.txt --weighted -o g.tegula").done();
    let line =
        r#"{"name": "ranks", "algorithm": "pagerank", "each": {"damping": [0.5, 0.6, 0.7]}}"#;
    let said = batch(&shop, &[line], "--json --no-fuse").done();
    assert_eq!(said.err.matches("passes over the weights").count(), 1, "{}", said.err);
    let (objects, _) = objects(&said);
    for object in &objects {
        assert!(object["warnings"].to_string().contains("passes over the weights"), "{object}");
    }
}

#[test]
#[ignore = "long"]
fn jobs_side_by_side_stay_within_the_memory_of_the_largest() {
    let shop = Shop::new();
    shop.tegula("generate rmat --scale 17 -o g.bin32").done();
    shop.tegula("import g.bin32 -o g.tegula").done();
    let lines = [
        r#"{"name": "ranks", "algorithm": "pagerank", "options": {"iterations": 3}, "each": {"damping": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]}}"#,
        r#"{"name": "hops", "algorithm": "bfs", "each": {"source": [0, 3, 0, 3, 0, 3, 0, 3, 0]}}"#,
        r#"{"name": "cores", "algorithm": "kcore"}"#,
    ];
    shop.write("jobs.jsonl", lines.join("\n"));
    let estimate = "run --batch jobs.jsonl g.tegula --estimate --json --threads 1";
    let estimate = shop.tegula(estimate).done().json();
    let needed = estimate["jobs"].as_array().unwrap().iter().map(|job| &job["needed_bytes"]);
    let memory = needed.filter_map(|bytes| bytes.as_u64()).max().unwrap();
    for fuse in ["", "--no-fuse"] {
        let options = format!("--json --force --threads 1 --memory {memory} {fuse}");
        let (_, total) = objects(&batch(&shop, &lines, &options).done());
        assert!(total["peak_memory_bytes"].as_u64().unwrap() <= memory, "{memory}: {total}");
    }
}

#[test]
#[ignore = "long"]
fn two_thousand_jobs_take_no_more_memory_than_fifty() {
    let shop = shop();
    let peak = |jobs: usize| {
        let sources: Vec<String> = (0..jobs).map(|_| "0".to_owned()).collect();
        let line = format!(
            r#"{{"name": "j", "algorithm": "bfs", "format": "npy", "each": {{"source": [{}]}}}}"#,
            sources.join(",")
        );
        let said = batch(&shop, &[&line], "--json --force --memory 256MiB").done();
        let (objects, total) = objects(&said);
        assert_eq!(objects.len(), jobs);
        let first = shop.read("out/j-1.npy");
        assert!((1..=jobs).all(|job| shop.read(&format!("out/j-{job}.npy")) == first));
        total["peak_memory_bytes"].as_u64().unwrap()
    };
    let few = peak(50);
    let many = peak(2000);
    // A job that waits or has ended takes less than 6 KiB.
    assert!(many < few + 1950 * (6 << 10), "{few} bytes for 50 jobs, {many} for 2000");
}

#[test]
fn a_batch_ends_when_nobody_reads_its_reports() {
    let shop = shop();
    let line = r#"{"algorithm": "bfs", "each": {"source": [0, 3, 0, 3, 0, 3, 0, 3]}}"#;
    let later = r#"{"name": "later", "algorithm": "wcc", "after_seconds": 1}"#;
    let never = r#"{"name": "never", "algorithm": "wcc", "after_seconds": 6000}"#;
    shop.write("jobs.jsonl", [line, later, never].join("\n"));
    let said =
        shop.shell("($T run --batch - g.tegula -o out --json < jobs.jsonl; echo $? >&2) | head -1");
    assert!(said.err.lines().any(|line| line == "1"), "{}", said.err);
    assert!(!shop.path("out/never.parquet").exists());
}
