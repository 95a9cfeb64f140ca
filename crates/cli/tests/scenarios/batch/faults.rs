//! Jobs that fail, and batches that end early.

use std::io::Write;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::{batch, fused_with, objects, shop};
use crate::interrupts::{interrupt, wait_for_handler};
use crate::shop::Shop;

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
    shop.tegula("run --batch jobs.jsonl g.tegula -o out").failed(3, &["line 1", "not UTF-8"]);
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
fn a_refused_batch_leaves_no_folder() {
    let shop = Shop::new();
    shop.write("names.csv", "source,target\nann,bob\n");
    shop.tegula("import names.csv -o g.tegula").done();
    let said = batch(&shop, &[r#"{"algorithm": "pagerank", "format": "npy"}"#], "");
    said.failed(2, &["npy"]);
    assert!(!shop.path("out").exists());
}

#[test]
fn one_job_of_a_batch_may_name_standard_input() {
    let shop = shop();
    let job = r#"{"algorithm": "spmv", "options": {"vector": "-"}}"#;
    shop.write("jobs.jsonl", [job, job].join("\n"));
    shop.write("values.csv", "vertex,value\n0,1\n3,2\n");
    let said = shop.shell("$T run --batch jobs.jsonl g.tegula -o out --no-fuse < values.csv");
    let said = said.failed(1, &["1 of 2 jobs failed", "read only once"]);
    assert_eq!(shop.files("out").len(), 1, "{}", said.err);
    shop.write("one.jsonl", job);
    let said = shop.shell("$T run --batch - g.tegula -o from-pipe < one.jsonl");
    said.failed(1, &["the batch or another job names it too"]);
    assert!(!shop.path("from-pipe").exists());
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
    assert!(!shop.path("out").exists());
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
