//! The memory and the time that a batch needs, as it says before and as it takes.

use serde_json::Value;

use super::{batch, fused_with, objects, shop};
use crate::shop::Shop;

#[test]
fn a_job_that_never_fits_is_refused_and_others_wait_for_their_turn() {
    let shop = Shop::new();
    shop.tegula("generate rmat --scale 18 -o g.bin32").done();
    shop.tegula("import g.bin32 -o g.tegula --layouts tiles,rows,reverse").done();
    let needed = |words: &str| {
        let estimate = shop.tegula(&format!("run {words} g.tegula --estimate --json")).json();
        estimate["needed_bytes"].as_u64().unwrap()
    };
    let (labels, paths) = (needed("label-propagation"), needed("betweenness --samples 3"));
    assert!(labels + (2 << 20) < paths, "{labels} and {paths}");
    let lines = [
        r#"{"name": "large", "algorithm": "betweenness", "options": {"samples": 3}}"#,
        r#"{"name": "a", "algorithm": "label-propagation", "format": "npy"}"#,
        r#"{"name": "b", "algorithm": "label-propagation", "options": {"seed": 1}, "format": "npy"}"#,
    ];
    let memory = paths - 1;
    let said = batch(&shop, &lines, &format!("--json --memory {memory}"));
    assert_eq!(said.code, Some(1), "{}", said.err);
    let (objects, total) = objects(&said);
    let large = objects.iter().find(|object| object["name"] == "large").unwrap();
    assert_eq!(large["kind"], "over_budget", "{large}");
    assert_eq!(total["failed"], 1);
    assert!(total["peak_memory_bytes"].as_u64().unwrap() <= memory, "{total}");
    shop.tegula("run label-propagation g.tegula -o a.npy").done();
    assert!(shop.read("a.npy") == shop.read("out/a.npy"));
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
fn an_estimate_waits_for_a_job_that_arrives_late() {
    let shop = shop();
    let late = r#"{"algorithm": "pagerank", "after_seconds": 100}"#;
    shop.write("jobs.jsonl", late);
    let late = shop.tegula("run --batch jobs.jsonl g.tegula --estimate --json").done().json();
    let seconds = late["seconds"].as_f64().unwrap();
    assert!((100.0..101.0).contains(&seconds), "{late}");
}

#[test]
fn an_estimate_counts_jobs_that_run_as_one_once() {
    let shop = shop();
    let ranks = r#"{"algorithm": "pagerank", "each": {"damping": [0.5, 0.6, 0.7, 0.8]}}"#;
    let lost =
        r#"{"name": "lost", "algorithm": "pagerank", "options": {"personalize": "none.csv"}}"#;
    let late = r#"{"name": "late", "algorithm": "pagerank", "after_seconds": 0.000001}"#;
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
