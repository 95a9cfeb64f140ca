//! A budget is a promise: the process keeps it by its own count, and also works where the kernel
//! allows it no more.

use std::fs;
use std::io::{Read, Write};

use rustix::fs::statfs;
use serde_json::Value;
use tegula_algorithms::CATALOGUE;
use tegula_engine::RUN_OVERHEAD;
use tegula_generators::{Rmat, edges};
use tegula_testkit::MemoryGroup;
use tegula_testkit::data::skip;

use crate::shop::{Shop, said};

/// Bytes that the kernel holds for a process beyond those that the process sees: page tables,
/// stacks and sockets of the kernel, the ring of its reads, and a few pages of files that are being
/// written.
const KERNEL_BYTES: u64 = 4 << 20;

/// With debug assertions, a process has more code in memory than a run counts, up to this many
/// bytes. The system decides how much of it to keep, and can drop it.
const CODE_BYTES: u64 = if cfg!(debug_assertions) { 3 << 20 } else { 0 };

/// Returns a group whose processes the kernel keeps within a limit; says why if there is none.
fn memory_group(shop: &Shop, limit: u64) -> Option<MemoryGroup> {
    // `TMPFS_MAGIC` of linux/magic.h.
    if statfs(shop.path(".").as_path()).unwrap().f_type == 0x0102_1994 {
        skip("no memory limit by the kernel: scratch folders lie in memory, so files count");
        return None;
    }
    MemoryGroup::new(limit).map_err(|refused| skip(&refused)).ok()
}

/// Asserts that a call takes at most `memory` bytes by its own count, and works where it cannot get
/// more. Returns its report.
#[track_caller]
pub fn assert_within(shop: &Shop, words: &str, memory: u64) -> Value {
    let mut command = shop.command(&format!("{words} --json --memory {memory}"));
    let limit = memory + KERNEL_BYTES;
    let group = memory_group(shop, limit);
    if let Some(group) = &group {
        command = group.enclose(&command);
    }
    let said = said(&mut command);
    assert!(said.code.is_some(), "{words}: killed, for it takes more than {limit} bytes");
    let report = said.done().json();
    let peak = report["peak_memory_bytes"].as_u64().unwrap();
    assert!(peak <= memory + CODE_BYTES, "{words}: {peak} bytes of {memory}");
    report
}

/// Writes the edges of an R-MAT graph, one at a time.
fn write_edges(shop: &Shop, name: &str, scale: u32, write: impl Fn(&mut dyn Write, (u64, u64))) {
    let file = fs::File::create(shop.path(name)).unwrap();
    let mut out = std::io::BufWriter::new(file);
    let rmat = Rmat::new(scale, Rmat::EDGE_FACTOR, 7).unwrap();
    edges(&rmat).into_iter().for_each(|edge| write(&mut out, edge));
    out.flush().unwrap();
}

/// Asserts that an import works with little memory and with twice as much.
#[track_caller]
fn assert_imports(shop: &Shop, words: &str, edge_count: u64) {
    for memory in [64 << 20, 128 << 20] {
        let words = format!("import {words} -o g.tegula --force");
        let report = assert_within(shop, &words, memory);
        assert_eq!(report["edges"], edge_count, "{words}");
    }
}

#[test]
#[ignore = "long"]
fn raw_pairs_are_imported_within_the_budget() {
    let shop = Shop::new();
    shop.tegula("generate rmat --scale 20 -o g.bin32").done();
    assert_imports(&shop, "g.bin32", 16 << 20);
}

#[test]
#[ignore = "long"]
fn text_is_imported_within_the_budget() {
    let shop = Shop::new();
    shop.tegula("generate rmat --scale 19 -o g.el").done();
    assert_imports(&shop, "g.el", 8 << 20);
}

#[test]
#[ignore = "long"]
fn names_are_imported_within_the_budget() {
    let shop = Shop::new();
    write_edges(&shop, "g.tsv", 18, |out, (source, target)| {
        writeln!(out, "person-{source:07}\tperson-{target:07}").unwrap();
    });
    assert_imports(&shop, "g.tsv --no-header", 4 << 20);
}

#[test]
#[ignore = "long"]
fn sparse_ids_are_imported_within_the_budget() {
    let shop = Shop::new();
    // An odd factor keeps ids distinct and spreads them over all 64 bits.
    let sparse = |id: u64| id.wrapping_mul(0x9E37_79B9_7F4A_7C15).to_le_bytes();
    write_edges(&shop, "g.bin64", 19, |out, (source, target)| {
        out.write_all(&[sparse(source), sparse(target)].concat()).unwrap();
    });
    assert_imports(&shop, "g.bin64", 8 << 20);
}

#[test]
#[ignore = "long"]
fn rows_are_imported_within_the_budget() {
    let shop = Shop::new();
    shop.tegula("generate rmat --scale 19 --weighted -o g.wel").done();
    assert_imports(&shop, "g.wel --layouts tiles,rows,reverse", 8 << 20);
    assert_imports(&shop, "g.wel --layouts tiles,rows --weighted", 8 << 20);
}

/// Returns the sizes of the files in a folder.
fn sizes(shop: &Shop, folder: &str) -> impl Iterator<Item = u64> {
    let files = fs::read_dir(shop.path(folder)).unwrap();
    files.map(|file| file.unwrap().metadata().unwrap().len())
}

/// Threads and backends of the tested runs.
const WAYS: [&str; 4] = [
    "--threads 1 --io uring",
    "--threads 2 --io threads",
    "--threads 8 --io uring",
    "--threads 8 --io threads",
];

/// Budgets between the least one and one that also holds all tiles or rows, in sixteenths of the
/// way. Each is tested with two of the ways.
const SIXTEENTHS: [u64; 2] = [2, 9];

/// Asserts that a run on `g.tegula` keeps the least budget that it accepts, with all threads and
/// backends, and budgets above it. Returns the reports of the runs with the least budget.
#[track_caller]
fn assert_keeps_budgets(shop: &Shop, algorithm: &str) -> Vec<Value> {
    let mut with_least = Vec::new();
    for (way, sixteenths) in WAYS.into_iter().zip(SIXTEENTHS.into_iter().cycle()) {
        let words = format!("run {algorithm} g.tegula {way} -o out.parquet --force");
        let estimate = shop.tegula(&format!("{words} --estimate --json")).done().json();
        let [least, layout] =
            ["needed_bytes", "layout_bytes"].map(|name| estimate[name].as_u64().unwrap());
        with_least.push(assert_within(shop, &words, least));
        assert_within(shop, &words, least + layout * sixteenths / 16);
    }
    with_least
}

/// Asserts that every algorithm on tiles keeps its budgets from a source, and reads no less than it
/// must.
#[track_caller]
fn assert_runs(shop: &Shop, source: &str) {
    let tile_bytes = fs::metadata(shop.path("g.tegula/tiles.data")).unwrap().len();
    let once: u64 = sizes(shop, "g.tegula").sum();
    let searches =
        ["bfs --parents --source", "sssp --source"].map(|name| format!("{name} {source}"));
    for algorithm in ["pagerank --iterations 3"].into_iter().chain(searches.iter().map(|s| &s[..]))
    {
        // With one worker few tiles are kept: others are read more than once.
        let read = assert_keeps_budgets(shop, algorithm)[0]["bytes_read"].as_u64().unwrap();
        assert!(read > tile_bytes, "{algorithm}: {read} bytes of {tile_bytes}");
    }
    for report in assert_keeps_budgets(shop, "wcc") {
        // It reads nothing twice, and skips tiles without a use.
        let read = report["bytes_read"].as_u64().unwrap();
        assert!(read <= once, "wcc: {read} bytes of {once}");
    }
}

#[test]
#[ignore = "long"]
fn runs_from_the_disk_keep_every_budget_that_they_accept() {
    let shop = Shop::new();
    // At this scale, the arrays are large beside the process itself.
    shop.tegula("generate rmat --scale 22 -o g.bin32").done();
    let mut source = [0; 4];
    fs::File::open(shop.path("g.bin32")).unwrap().read_exact(&mut source).unwrap();
    shop.tegula("import g.bin32 -o g.tegula").done();
    fs::remove_file(shop.path("g.bin32")).unwrap();
    assert_runs(&shop, &u32::from_le_bytes(source).to_string());
}

/// Budgets between the least one with arrays on disk and one that holds them, in eighths of the
/// way.
const EIGHTHS: [u64; 3] = [0, 3, 7];

#[test]
#[ignore = "long"]
fn runs_with_arrays_on_disk_keep_every_budget_and_find_the_same() {
    let shop = Shop::new();
    shop.tegula("generate erdos-renyi --vertices 3000000 --edges 3000000 -o g.bin32").done();
    let import = "import g.bin32 --undirected --grid 18,17";
    shop.tegula(&format!("{import} --order degree -o g.tegula")).done();
    shop.tegula(&format!("{import} --order given -o given.tegula")).done();
    for (algorithm, graph, way) in [
        ("pagerank --iterations 3", "g.tegula", "--threads 2 --io uring"),
        ("bfs --source 7", "g.tegula", "--threads 1 --io threads"),
        ("wcc --method propagation --executor scan", "g.tegula", "--threads 2 --io uring"),
        // The original ids of parents exceed the least memory.
        ("bfs --source 7 --parents", "given.tegula", "--threads 2 --io uring"),
    ] {
        let words = format!("run {algorithm} {graph} {way}");
        let summary = |report: &Value| (report["summary"].clone(), report["iterations"].clone());
        let estimate = shop.tegula(&format!("{words} --estimate --json")).done().json();
        let bytes = |name: &str| estimate[name].as_u64().unwrap();
        let least = bytes("needed_bytes");
        let most: u64 =
            ["vertex_bytes", "stream_bytes_min", "overhead_bytes"].into_iter().map(bytes).sum();
        assert!(least + (2 << 20) < most, "{algorithm}: {least} of {most}");
        let expected =
            shop.tegula(&format!("{words} --arrays memory -o memory.npy --json --force"));
        let expected = summary(&expected.done().json());
        let mut groups = Vec::new();
        for eighths in EIGHTHS {
            let memory = least + (most - least) * eighths / 8;
            let said = shop.tegula(&format!("{words} --estimate --json --memory {memory}"));
            let planned = said.done().json()["arrays_on_disk"].clone();
            groups.push(planned["column_groups"].as_u64().unwrap());
            let report = assert_within(&shop, &format!("{words} -o disk.npy --force"), memory);
            assert_eq!(summary(&report), expected, "{words} within {memory}");
            assert!(shop.read("disk.npy") == shop.read("memory.npy"), "{words} within {memory}");
            assert!(report["bytes_written"].as_u64() > Some(shop.read("disk.npy").len() as u64));
        }
        assert!(groups[0] > 5, "{groups:?}");
        shop.tegula(&format!("{words} --memory {}", least - 1)).failed(4, &["needs", "--memory"]);
    }
    let left = fs::read_dir(shop.path("g.tegula")).unwrap().count();
    assert_eq!(left, 7, "manifest, tiles, their table, sources, degrees, ids and order");
}

#[test]
#[ignore = "long"]
fn runs_along_rows_keep_every_budget_that_they_accept() {
    let shop = Shop::new();
    shop.tegula("generate rmat --scale 19 --weighted -o g.wel").done();
    shop.tegula("import g.wel -o g.tegula --weighted --undirected --layouts tiles,rows").done();
    let text = String::from_utf8(shop.read("g.wel")).unwrap();
    let sources = text.lines().take(100).filter_map(|line| line.split_whitespace().next());
    shop.write(
        "sets.txt",
        sources.clone().map(|vertex| format!("{vertex} 1\n")).collect::<String>(),
    );
    let path = format!("astar --source 1 --target {}", sources.last().unwrap());
    for algorithm in [
        "bfs --source 1",
        "sssp --source 1",
        "sssp --source 1 --method dijkstra",
        &path,
        "wcc --method propagation",
        "wcc --method traversal",
        "mst",
        "mis",
        "conductance --sets sets.txt",
    ] {
        // Buffers for weights, also those of reading threads, are part of the budget.
        if algorithm == "sssp --source 1" {
            assert_keeps_budgets(&shop, "sssp --source 1 --executor scan");
        }
        for report in assert_keeps_budgets(&shop, &format!("{algorithm} --executor seek")) {
            let processes = report["processes"].as_array().unwrap();
            assert!(processes.iter().all(|process| process != "scan"), "{algorithm}");
        }
    }
    // Rows of both directions share the memory.
    shop.tegula("import g.wel -o g.tegula --force --layouts tiles,rows,reverse").done();
    assert_keeps_budgets(&shop, "bfs --source 1");
    assert_keeps_budgets(&shop, "bfs --source 1 --executor seek");
}

/// Asserts that algorithms keep the least budget on an R-MAT graph with rows of both directions.
#[track_caller]
fn assert_keep_least_budgets(scale: u32, algorithms: &[&str]) {
    let shop = Shop::new();
    shop.tegula(&format!("generate rmat --scale {scale} --weighted -o g.wel")).done();
    shop.tegula("import g.wel -o g.tegula --weighted --layouts tiles,rows,reverse").done();
    // With this potential, beliefs change in every iteration.
    shop.write("potential.txt", "2 1\n1 3\n");
    let edges = String::from_utf8(shop.read("g.wel")).unwrap();
    let pairs = edges.lines().take(200).filter_map(|line| line.rsplit_once(' '));
    shop.write("pairs.txt", pairs.map(|(pair, _)| format!("{pair}\n")).collect::<String>());
    for algorithm in algorithms {
        for way in &WAYS[1..3] {
            let words = format!("run {algorithm} g.tegula {way} -o out.parquet --force");
            let estimate = shop.tegula(&format!("{words} --estimate --json")).done().json();
            assert_within(&shop, &words, estimate["needed_bytes"].as_u64().unwrap());
        }
    }
}

#[test]
#[ignore = "long"]
fn runs_by_neighbours_keep_the_least_budget() {
    assert_keep_least_budgets(
        17,
        &[
            "belief-propagation --potential potential.txt --iterations 3",
            "belief-propagation --potential potential.txt --iterations 3 --tolerance 0",
            "degree",
            "spmv",
            "pagerank --iterations 2 --weighted",
            "eigenvector --max-iterations 2",
            "katz --alpha 0.0001",
            "triangles",
            "lcc",
            "similarity --pairs pairs.txt",
            "triangles --approximate --hashes 40",
            "cdlp --iterations 2",
            "label-propagation --max-iterations 2",
            "kcore",
            "scc",
            "hits --max-iterations 2",
            "betweenness --samples 3",
            "betweenness --samples 3 --weighted",
            "closeness --samples 64",
            "harmonic --samples 64",
            "diameter --max-searches 70",
            "bridges",
            "bridges --articulation-points",
            "k-hop --source 1 --hops 2",
            "random-walks --length 4 --walks 1 --p 0.5 --q 2",
        ],
    );
    // Rows are read by community: one by one where memory holds few of them.
    assert_keep_least_budgets(13, &["louvain", "leiden"]);
}

#[test]
fn every_algorithm_has_a_test_of_its_budgets() {
    let here = include_str!("memory.rs");
    for entry in CATALOGUE {
        // An order of a graph of random edges does not exist: it has cycles.
        let is_here = here.contains(&format!("\"{} ", entry.name))
            || here.contains(&format!("\"{}\"", entry.name))
            || here.contains(&format!("\"run {} ", entry.name));
        assert!(is_here || entry.name == "topological-order", "{} has none", entry.name);
    }
}

#[test]
#[ignore = "long"]
fn exports_and_subgraphs_keep_the_least_budget() {
    let shop = Shop::new();
    shop.tegula("generate rmat --scale 19 --weighted -o g.wel").done();
    shop.tegula("import g.wel -o g.tegula --weighted").done();
    let needed = |words: &str| {
        let refused = shop.tegula(&format!("{words} --memory 20MiB --json")).failed(4, &["needs"]);
        let message = refused.json()["message"].as_str().unwrap().to_owned();
        let number = message.split("needs ").nth(1).unwrap().split(' ').next().unwrap();
        // The number is rounded to a tenth.
        ((number.parse::<f64>().unwrap() + 0.1) * f64::from(1 << 20)) as u64
    };
    for name in ["e.wel", "e.parquet"] {
        let words = format!("export g.tegula --force -o {name}");
        let least = needed(&words);
        for memory in [least, least + (8 << 20), least + (64 << 20)] {
            assert_within(&shop, &words, memory);
        }
    }
    let text = String::from_utf8(shop.read("g.wel")).unwrap();
    let vertices = text.lines().take(3000).filter_map(|line| line.split_whitespace().next());
    shop.write("some.txt", vertices.map(|vertex| format!("{vertex}\n")).collect::<String>());
    let words = "run subgraph g.tegula --vertices some.txt -o part.parquet --force";
    let estimate = shop.tegula(&format!("{words} --estimate --json")).done().json();
    let least = estimate["needed_bytes"].as_u64().unwrap();
    for memory in [least, least + (8 << 20), least + (64 << 20)] {
        assert_within(&shop, words, memory);
    }
}

#[test]
#[ignore = "long"]
fn rows_that_a_run_builds_first_are_part_of_its_estimate() {
    let shop = Shop::new();
    // The hub's row is longer than the parts in which it is built and read.
    shop.tegula("generate star --vertices 2000001 -o g.bin32").done();
    shop.tegula("import g.bin32 -o bare.tegula --undirected").done();
    let bare = shop.files("bare.tegula");
    let renew = || {
        let _ = fs::remove_dir_all(shop.path("g.tegula"));
        fs::create_dir(shop.path("g.tegula")).unwrap();
        bare.iter().for_each(|(name, bytes)| shop.write(&format!("g.tegula/{name}"), bytes));
    };
    for algorithm in ["mis", "mst", "bfs --source 1 --executor seek"] {
        for way in WAYS {
            renew();
            let words = format!("run {algorithm} g.tegula {way} -o out.parquet --force");
            let estimate = shop.tegula(&format!("{words} --estimate --json")).done().json();
            let needed = estimate["needed_bytes"].as_u64().unwrap();
            let too_little = shop.tegula(&format!("{words} --memory {}", needed - 1));
            assert_eq!(too_little.code, Some(4), "{}", too_little.err);
            assert_within(&shop, &words, needed);
        }
    }
}

#[test]
#[ignore = "long"]
fn names_in_tables_are_within_the_budget() {
    let shop = Shop::new();
    write_edges(&shop, "g.tsv", 19, |out, (source, target)| {
        writeln!(out, "person-{source:07}\tperson-{target:07}").unwrap();
    });
    shop.tegula("import g.tsv -o g.tegula --no-header").done();
    let text = String::from_utf8(shop.read("g.tsv")).unwrap();
    assert_runs(&shop, text.split('\t').next().unwrap());
}

#[test]
fn the_limits_of_the_process_bound_the_budget() {
    let shop = Shop::new();
    shop.tegula("generate rmat --scale 12 -o g.bin32").done();
    shop.tegula("import g.bin32 -o g.tegula").done();
    for option in ["-v", "-d"] {
        for words in
            ["import g.bin32 -o h.tegula --force", "run pagerank g.tegula -o out.csv --force"]
        {
            for io in ["auto", "threads"] {
                let io =
                    if words.starts_with("run") { format!("--io {io}") } else { String::new() };
                let limited = format!("ulimit {option} 600000; exec $T {words} {io} --json");
                let report = shop.shell(&limited).done().json();
                let memory = report["memory_bytes"].as_u64();
                // An import does not report its budget.
                assert_eq!(memory.is_some(), words.starts_with("run"), "{report}");
                let is_half = memory.is_none_or(|memory| memory < 300_000 << 10);
                assert!(is_half, "half of the limit at most: {memory:?}");
                let said = shop.shell(&format!("{limited} --memory 2GiB"));
                let said = said.failed(4, &["--memory 2.0 GiB", " MiB that `ulimit "]);
                assert_eq!(said.json()["kind"], "over_limit");
            }
        }
        let said = shop.shell(&format!("ulimit {option} 100000; exec $T info g.tegula"));
        said.failed(4, &[&format!("{}.0 MiB", RUN_OVERHEAD >> 20), "`ulimit"]);
    }
}

#[test]
fn memory_that_the_system_does_not_have_is_refused_and_nothing_is_aborted() {
    let shop = Shop::new();
    // The buffers of a generator take some mebibytes that no budget bounds.
    let words = "generate rmat --scale 16 --threads 2 --json -o g.el";
    let mut codes = Vec::new();
    // From less than the program itself takes to more than enough.
    for limit in (20_000..400_000).step_by(5_000) {
        let said = shop.shell(&format!("ulimit -v {limit}; exec $T {words}"));
        if said.code == Some(4) {
            assert_eq!(said.json()["kind"], "out_of_memory");
            assert!(said.err.contains("ulimit -v"), "{}", said.err);
            assert!(shop.names().is_empty(), "{:?}", shop.names());
        }
        codes.push(said.code);
        if said.code == Some(0) {
            break;
        }
    }
    let first = codes.iter().position(|&code| code == Some(4));
    let first = first.expect("no limit was too small");
    assert!(!codes[first..].contains(&None), "one was aborted: {codes:?}");
    assert_eq!(codes.last(), Some(&Some(0)), "{codes:?}");
}
