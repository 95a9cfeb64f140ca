//! Many jobs on one graph: each has the result of a run of its own, whatever the others do.

mod faults;
mod fused;
mod needs;

use serde_json::Value;
use tegula_generators::{Rmat, edges};
use tegula_testkit::{EdgeList, XorShift};

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

/// Returns the names of the jobs that ran as one with a job.
fn fused_with(objects: &[Value], name: &str) -> Vec<String> {
    let object = objects.iter().find(|object| object["name"] == name).unwrap();
    let names = object["fused_with"].as_array().unwrap().iter();
    names.map(|name| name.as_str().unwrap().to_owned()).collect()
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
fn rows_that_the_graph_lacks_are_built_once() {
    let shop = shop();
    shop.tegula("import g.el -o g.tegula --force --undirected --ids integer").done();
    let lines = [r#"{"algorithm": "mis"}"#, r#"{"algorithm": "mst"}"#];
    let said = batch(&shop, &lines, "").done();
    assert_eq!(said.err.matches("they are built once").count(), 1, "{}", said.err);
    assert_eq!(shop.files("out").len(), 2);
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
