//! Partitioned graphs: cut, put together again, and run on ranks that are threads.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::Value;
use tegula_testkit::edit_manifest;

use crate::shop::{Lines, Shop, assert_shape, lines};

/// A skewed graph with weights, in several batches, in a shop with its shards.
fn shop_with(ranks: usize, options: &str) -> Shop {
    let shop = Shop::new();
    shop.tegula("generate rmat --scale 20 --edge-factor 1 --weighted -o g.wel").done();
    let mut edges = shop.read("g.wel");
    edges.extend_from_slice(b"1 2 0.5\n");
    shop.write("g.wel", edges);
    shop.tegula(&format!("import g.wel -o g.tegula --weighted -q {options}")).done();
    shop.tegula(&format!("partition g.tegula --ranks {ranks} -o cut -q")).done();
    shop
}

#[test]
fn a_partitioned_graph_comes_back_byte_for_byte() {
    for options in ["--order given", "--undirected", "--layouts tiles,rows,reverse"] {
        let shop = shop_with(3, options);
        for rank in 0..3 {
            shop.tegula(&format!("verify cut/rank-{rank}.tegula")).done();
        }
        shop.tegula("gather cut -o back.tegula").done();
        assert!(shop.files("back.tegula") == shop.files("g.tegula"), "{options}");
        shop.tegula("partition cut --ranks 2 -o again --balance edges").done();
        shop.tegula("gather again -o back.tegula --force").done();
        assert!(shop.files("back.tegula") == shop.files("g.tegula"), "{options}");
    }
}

#[test]
fn verify_refuses_a_shard_whose_degrees_of_the_whole_graph_are_swapped() {
    let shop = shop_with(2, "");
    let path = |name: &str| shop.path(&format!("cut/rank-0.tegula/whole.degrees.{name}"));
    edit_manifest(&shop.path("cut/rank-0.tegula"), |body| {
        let body = body.replace("whole.degrees.in", "whole.degrees.before");
        let body = body.replace("whole.degrees.out", "whole.degrees.in");
        body.replace("whole.degrees.before", "whole.degrees.out")
    });
    for (from, to) in [("in", "before"), ("out", "in"), ("before", "out")] {
        fs::rename(path(from), path(to)).unwrap();
    }
    let said = shop.tegula("verify cut/rank-0.tegula");
    said.failed(3, &["the shard has", "the whole graph has"]);
}

#[test]
fn a_rank_with_a_larger_share_gets_more_edges_and_the_answer_is_the_same() {
    let shop = shop_with(2, "");
    let cut = "partition g.tegula --ranks 3 --balance edges -o shared";
    shop.tegula(&format!("{cut} --shares 4,1,1")).done();
    let edges = |rank: u32| {
        let shard = shop.tegula(&format!("info shared/rank-{rank}.tegula --json")).done().json();
        shard["edges"].as_u64().unwrap()
    };
    assert!(edges(0) > 2 * edges(1).max(edges(2)), "{:?}", [edges(0), edges(1), edges(2)]);
    shop.tegula("run pagerank g.tegula -o one.csv").done();
    shop.tegula("run pagerank shared --ranks 3 -o ranks.csv").done();
    assert!(shop.read("one.csv") == shop.read("ranks.csv"));
    for (shares, said) in [
        ("1,2", "--shares needs 3 numbers"),
        ("1,0,2", "from 0.001 to 1000"),
        ("1,NaN,2", "from 0.001 to 1000"),
    ] {
        shop.tegula(&format!("{cut} --force --shares {shares}")).failed(2, &[said]);
    }
}

#[test]
fn a_shard_of_a_partition_is_known_and_its_edges_add_up() {
    let shop = shop_with(2, "");
    let whole = shop.tegula("info g.tegula --json").done().json();
    let (mut vertices, mut edges) = (0, 0);
    for rank in 0..2 {
        let shard = shop.tegula(&format!("info cut/rank-{rank}.tegula --json")).done().json();
        assert_eq!(shard["format_version"], 10);
        assert_eq!((&shard["shard"]["rank"], &shard["shard"]["ranks"]), (&rank.into(), &2.into()));
        assert_eq!(shard["shard"]["whole_edges"], whole["edges"]);
        vertices += shard["shard"]["vertices"].as_u64().unwrap();
        edges += shard["edges"].as_u64().unwrap();
    }
    assert_eq!(
        (Some(vertices), Some(edges)),
        (whole["vertices"].as_u64(), whole["edges"].as_u64())
    );
    let text = shop.tegula("info cut/rank-1.tegula").done().out;
    assert!(text.contains("rank 1 of 2, which has"), "{text}");
}

#[test]
fn ranks_write_the_table_of_one_machine() {
    let shop = shop_with(3, "--undirected");
    for algorithm in [
        "pagerank --iterations 5",
        "bfs --source 1 --parents",
        "sssp --source 1",
        "wcc",
        "spmv --iterations 2",
        "degree",
        "hits --max-iterations 2 --method passes",
        "kcore --method passes --executor scan",
    ] {
        shop.tegula(&format!("run {algorithm} g.tegula -o one.csv --force -q")).done();
        shop.tegula(&format!("run {algorithm} cut --ranks 3 -o ranks.csv --force -q")).done();
        assert!(shop.read("one.csv") == shop.read("ranks.csv"), "{algorithm}");
    }
}

/// Returns the header and the rows of the file of each rank.
fn tables_of_ranks<const N: usize>(shop: &Shop) -> [Lines; N] {
    std::array::from_fn(|rank| {
        let text = String::from_utf8(shop.read(&format!("part-{rank}.csv"))).unwrap();
        lines(&text, ',')
    })
}

#[test]
fn the_files_of_ranks_have_the_rows_of_one_table_each_those_of_its_own_vertices() {
    let shop = shop_with(3, "--undirected");
    for algorithm in ["pagerank --iterations 3", "bfs --source 1 --parents", "wcc", "degree"] {
        shop.tegula(&format!("run {algorithm} cut --ranks 3 -o whole.csv --force -q")).done();
        let run = format!("run {algorithm} cut --ranks 3 -o part-{{rank}}.csv --force --json");
        let report = shop.tegula(&run).done().json();
        assert_eq!(report["output"], "part-{rank}.csv");
        let bytes: usize = (0..3).map(|rank| shop.read(&format!("part-{rank}.csv")).len()).sum();
        assert_eq!(report["bytes_written"], bytes);
        let mut merged = Vec::new();
        let (header, whole) = lines(&String::from_utf8(shop.read("whole.csv")).unwrap(), ',');
        for (rank, (own_header, rows)) in tables_of_ranks::<3>(&shop).into_iter().enumerate() {
            assert_eq!(own_header, header, "{algorithm}");
            let shard = shop.tegula(&format!("info cut/rank-{rank}.tegula --json")).done().json();
            assert_eq!(shard["shard"]["vertices"], rows.len(), "{algorithm}, rank {rank}");
            let rows = rows.into_iter().map(|row| (row[0].parse::<u64>().unwrap(), row));
            let rows: Vec<_> = rows.collect();
            assert!(rows.is_sorted_by_key(|row| row.0), "{algorithm}, rank {rank}");
            merged.extend(rows);
        }
        merged.sort_by_key(|row| row.0);
        let merged: Vec<_> = merged.into_iter().map(|(_, row)| row).collect();
        assert!(merged == whole, "{algorithm}");
    }
}

#[test]
fn the_path_to_a_target_is_in_the_file_of_its_rank() {
    let shop = shop_with(3, "--undirected");
    shop.tegula("run bfs g.tegula --source 1 -o hops.csv -q").done();
    let (_, hops) = lines(&String::from_utf8(shop.read("hops.csv")).unwrap(), ',');
    let reached = hops.into_iter().filter(|row| !row[1].is_empty());
    let targets: String = reached.step_by(97).map(|row| format!("{}\n", row[0])).collect();
    shop.write("targets.txt", targets);
    let run = "run bfs cut --ranks 3 --source 1 --targets targets.txt -q -o";
    shop.tegula(&format!("{run} whole.csv")).done();
    shop.tegula(&format!("{run} part-{{rank}}.csv")).done();
    let (header, mut whole) = lines(&String::from_utf8(shop.read("whole.csv")).unwrap(), ',');
    let mut merged = Vec::new();
    let tables = tables_of_ranks::<3>(&shop);
    assert!(tables.iter().filter(|(_, rows)| !rows.is_empty()).count() > 1);
    for (own_header, rows) in tables {
        assert_eq!(own_header, header);
        // The order is that of the whole table.
        let places: Vec<usize> =
            rows.iter().map(|row| whole.iter().position(|other| other == row).unwrap()).collect();
        assert!(places.is_sorted());
        merged.extend(rows);
    }
    merged.sort_unstable();
    whole.sort_unstable();
    assert!(merged == whole);
}

#[test]
fn files_of_ranks_are_all_there_or_none_is() {
    let shop = shop_with(2, "");
    let run = "run pagerank cut --ranks 2 --iterations 2 -o part-{rank}.csv";
    let alone = shop.tegula("run pagerank g.tegula -o part-{rank}.csv");
    alone.failed(2, &["`part-{rank}.csv` names a file for each rank", "--ranks"]);
    shop.write("part-1.csv", "old");
    shop.tegula(run).failed(1, &["part-1.csv exists already", "--force"]);
    assert!(!shop.path("part-0.csv").exists());
    // The disk of one rank is full, and the other one has written its rows.
    fs::remove_file(shop.path("part-1.csv")).unwrap();
    symlink("/dev/full", shop.path("part-1.csv")).unwrap();
    let full = shop.tegula(run);
    let full = full.failed(1, &["cannot write part-1.csv"]);
    assert!(!full.err.contains("rank 1 failed"), "{}", full.err);
    let names = shop.names();
    let parts = names.iter().filter(|name| name.contains("part-")).collect::<Vec<_>>();
    assert_eq!(parts, ["part-1.csv"], "{names:?}");
    fs::remove_file(shop.path("part-1.csv")).unwrap();
    // NumPy's header says how many rows follow, of 8 bytes for the id and 4 for the rank.
    shop.tegula(&run.replace(".csv", ".npy")).done();
    for rank in 0..2 {
        let shard = shop.tegula(&format!("info cut/rank-{rank}.tegula --json")).done().json();
        let rows = shard["shard"]["vertices"].as_u64().unwrap();
        let array = shop.read(&format!("part-{rank}.npy"));
        let header = String::from_utf8_lossy(&array[..128]);
        assert!(header.contains(&format!("'shape': ({rows},)")), "{header}");
        assert_eq!(array.len() as u64, 128 + 12 * rows);
    }
}

#[test]
fn ranks_within_the_least_memory_have_their_arrays_on_disk() {
    let shop = shop_with(2, "--undirected");
    for algorithm in ["pagerank --iterations 3", "bfs --source 1", "wcc"] {
        let run = format!("run {algorithm} cut --ranks 2");
        let needs = shop.tegula(&format!("{run} --estimate --json")).done().json();
        let most = |name: &str| {
            let ranks = needs["ranks"].as_array().unwrap().iter();
            ranks.map(|rank| rank[name].as_u64().unwrap()).max().unwrap()
        };
        let (least, in_memory) = (most("needed_bytes"), most("needed_in_memory_bytes"));
        assert!(least < in_memory && most("received_bytes") > 0, "{needs}");
        shop.tegula(&format!("run {algorithm} g.tegula -o one.csv --force -q")).done();
        let of = |output: &str| format!("{run} --memory {least}B -o {output} --force --json");
        let report = shop.tegula(&of("ranks.csv")).done().json();
        assert!(report["bytes_written"].as_u64() > Some(0), "{report}");
        assert!(shop.read("one.csv") == shop.read("ranks.csv"), "{algorithm}");
        shop.tegula(&of("part-{rank}.csv")).done();
        let mut rows = tables_of_ranks::<2>(&shop).map(|(_, rows)| rows).concat();
        rows.sort_by_key(|row| row[0].parse::<u64>().unwrap());
        let one = String::from_utf8(shop.read("one.csv")).unwrap();
        assert!(rows == lines(&one, ',').1, "{algorithm}");
    }
    let estimate = shop.tegula("run pagerank cut --ranks 2 --estimate").done().out;
    assert!(
        estimate.contains("pagerank on 2 ranks") && estimate.contains("received"),
        "{estimate}"
    );
    let few = shop.tegula("run pagerank cut --ranks 2 --estimate --memory 1MiB");
    assert_eq!(few.code, Some(4), "{}", few.err);
    assert!(few.err.contains("a rank of the run needs"), "{}", few.err);
}

#[test]
fn ranks_resume_from_checkpoints_that_all_of_them_have() {
    let shop = shop_with(3, "");
    let run = "run pagerank cut --ranks 3 --iterations 6";
    shop.tegula(&format!("{run} -o whole.csv -q")).done();
    shop.tegula(&format!("{run} --checkpoint kept -q -o kept.csv")).done();
    assert!(shop.read("whole.csv") == shop.read("kept.csv"));
    let names = |folder: &str| shop.files(folder).into_keys().collect::<Vec<_>>();
    // One rank has lost its newest checkpoint, so all resume from the one before.
    assert_eq!(names("kept/rank-1"), ["blocks", "version-4", "version-5"]);
    fs::remove_file(shop.path("kept/rank-1/version-5")).unwrap();
    let resumed = shop.tegula(&format!("{run} --resume kept --json -o again.csv")).done().json();
    assert_eq!((&resumed["iterations"], &resumed["iterations_before"]), (&6.into(), &4.into()));
    assert!(shop.read("whole.csv") == shop.read("again.csv"));
    let resume = format!("{run} --resume kept --checkpoint kept -q -o again.csv --force");
    shop.tegula(&resume).done();
    assert_eq!(names("kept/rank-0"), names("kept/rank-1"));
    assert!(shop.read("whole.csv") == shop.read("again.csv"));
    let other = shop.tegula("run pagerank cut --ranks 3 --iterations 7 --resume kept");
    other.failed(3, &["kept/rank-", "with --iterations 6", "with --iterations 7"]);
    fs::remove_dir_all(shop.path("kept/rank-2")).unwrap();
    shop.tegula(&format!("{run} --resume kept")).failed(3, &["kept/rank-2"]);
    shop.tegula(&format!("{run} --checkpoint missing/kept")).failed(1, &["missing"]);
    shop.tegula("run degree cut --ranks 3 --checkpoint new").failed(2, &["keeps no checkpoints"]);
    assert!(!shop.names().contains(&"new".to_owned()), "{:?}", shop.names());
}

#[test]
fn an_import_may_cut_the_graph_at_once() {
    let shop = shop_with(2, "--undirected");
    let import = "import g.wel --weighted --undirected --ranks 2 -o once";
    let report = shop.tegula(&format!("{import} --json")).done().json();
    assert_eq!(report["ranks"].as_array().unwrap().len(), 2);
    for rank in 0..2 {
        let name = format!("rank-{rank}.tegula");
        assert!(
            shop.files(&format!("once/{name}")) == shop.files(&format!("cut/{name}")),
            "{rank}"
        );
    }
    shop.tegula(import).failed(1, &["once exists already", "--force"]);
    assert!(shop.tegula(&format!("{import} --force")).done().err.contains("rank"));
    shop.tegula("import missing.el --ranks 2 -o never").failed(3, &["missing.el"]);
    let names = shop.names();
    assert!(
        !names.iter().any(|name| name.contains("never") || name.contains("whole")),
        "{names:?}"
    );
}

#[test]
fn a_run_tells_what_each_rank_has_done() {
    let shop = shop_with(2, "");
    let report = shop.tegula("run pagerank cut --ranks 2 --iterations 3 --json").done().json();
    let ranks = report["ranks"].as_array().unwrap();
    assert_eq!(ranks.len(), 2);
    let sum = |name: &str| ranks.iter().map(|rank| rank[name].as_u64().unwrap()).sum::<u64>();
    assert_eq!(Some(sum("edges_processed")), report["edges_processed"].as_u64());
    assert_eq!(sum("bytes_sent"), sum("bytes_received"));
    assert!(sum("bytes_sent") > 0);
    for time in ["exchanging", "exchanging_alone", "waiting", "agreeing"] {
        assert_shape(&ranks[0], &[(&*format!("{time}_seconds"), "number")]);
    }
    // With arrays in memory, all messages travel before the scan.
    let seconds = |name: &str| ranks[0][name].as_f64().unwrap();
    assert!(seconds("exchanging_alone_seconds") >= seconds("exchanging_seconds"));
    let alone = shop.tegula("run pagerank g.tegula --iterations 3 --json").done().json();
    assert_eq!(alone["summary"], report["summary"]);
    assert_eq!(alone["edges_processed"], report["edges_processed"]);
    assert!(alone.get("ranks").is_none());
}

#[test]
fn a_run_tells_what_each_rank_has_moved_in_each_iteration() {
    let shop = shop_with(2, "");
    let fields = ["bytes_read", "bytes_written", "bytes_sent", "bytes_received"];
    let bytes = |of: &Value, field: &str| of[field].as_u64().unwrap();
    for arrays in ["memory", "disk"] {
        let report = |iterations: u64| {
            let run = format!("run pagerank cut --ranks 2 --arrays {arrays}");
            shop.tegula(&format!("{run} --iterations {iterations} --json")).done().json()
        };
        let (short, long) = (report(3), report(4));
        for rank in 0..2 {
            let [short, long] = [&short, &long].map(|report| &report["ranks"][rank]);
            let intervals = long["intervals"].as_array().unwrap();
            assert_eq!(intervals.len(), 5, "four iterations, and the end of the run");
            let ended = |at: &Value| at["ended_seconds"].as_f64().unwrap();
            assert!(ended(&intervals[0]) > 0.0, "{long}");
            assert!(intervals.is_sorted_by(|one, next| ended(one) <= ended(next)), "{long}");
            for field in fields {
                let sum: u64 = intervals.iter().map(|interval| bytes(interval, field)).sum();
                assert_eq!(sum, bytes(long, field), "{field}, arrays in {arrays}");
            }
            // A further iteration of PageRank sends and receives the same bytes again.
            for field in ["bytes_sent", "bytes_received"] {
                let further = bytes(long, field) - bytes(short, field);
                assert!(further > 0, "{field}, arrays in {arrays}");
                assert_eq!(bytes(&intervals[2], field), further, "{field}, arrays in {arrays}");
            }
            let is_written = bytes(&intervals[2], "bytes_written") > 0;
            assert_eq!(is_written, arrays == "disk", "{long}");
        }
    }
}

#[test]
fn shards_may_lie_apart() {
    let shop = shop_with(2, "");
    fs::rename(shop.path("cut/rank-0.tegula"), shop.path("first")).unwrap();
    fs::create_dir(shop.path("disk-1")).unwrap();
    fs::rename(shop.path("cut/rank-1.tegula"), shop.path("disk-1/first")).unwrap();
    fs::create_dir(shop.path("disk-0")).unwrap();
    fs::rename(shop.path("first"), shop.path("disk-0/first")).unwrap();
    let run = "run bfs cut --source 1 --ranks 2 --rank-directory";
    shop.tegula(&format!("{run} disk-{{rank}}/first --json")).done();
    shop.tegula(&format!("{run} disk-0/first")).failed(2, &["no place for the number", "{rank}"]);
    shop.tegula(&format!("{run} disk-{{rank}}/last")).failed(3, &["disk-0/last", "does not exist"]);
}

#[test]
fn a_run_that_does_not_fit_its_shards_is_refused_once_with_advice() {
    let shop = shop_with(2, "");
    let ranks = "run pagerank cut --ranks";
    shop.tegula(&format!("{ranks} 3")).failed(2, &["cut into 2 shards, not 3", "2 ranks"]);
    shop.tegula("run pagerank cut").failed(2, &["cut is cut into 2 shards", "--ranks 2"]);
    let whole = shop.tegula("run pagerank g.tegula --ranks 2");
    whole.failed(2, &["a graph of one machine", "tegula partition g.tegula --ranks 2"]);
    shop.tegula("run scc cut --ranks 2").failed(1, &["does not run on ranks", "tegula gather"]);
    shop.tegula("run pagerank cut --ranks 2 --memory 1MiB").failed(4, &["budget"]);
    let rows = shop.tegula("run bfs cut --ranks 2 --source 1 --executor seek");
    rows.failed(2, &["cannot follow rows"]);
    shop.tegula("run pagerank cut --ranks 4097").failed(2, &["from 1 to 4096"]);
    shop.tegula("run pagerank cut --rank-directory {rank}").failed(2, &["--ranks"]);
    let missing = shop.tegula("run bfs cut --ranks 2 --source 999999999");
    let missing = missing.failed(3, &["no vertex `999999999`"]);
    assert_eq!(missing.err.matches("no vertex").count(), 1, "{}", missing.err);
    shop.tegula("gather g.tegula -o x.tegula").failed(3, &["a whole graph already"]);
    shop.tegula("partition cut --ranks 2 -o cut").failed(1, &["cut exists already", "--force"]);
    assert!(!shop.names().iter().any(|name| name.starts_with("x.")), "{:?}", shop.names());
}

#[test]
fn shards_of_different_graphs_are_refused() {
    let shop = shop_with(2, "");
    shop.tegula("generate rmat --scale 20 --edge-factor 1 --seed 9 --weighted -o h.wel").done();
    shop.tegula("import h.wel -o h.tegula --weighted -q").done();
    shop.tegula("partition h.tegula --ranks 2 -o other -q").done();
    fs::rename(shop.path("cut/rank-1.tegula"), shop.path("kept")).unwrap();
    fs::rename(shop.path("other/rank-1.tegula"), shop.path("cut/rank-1.tegula")).unwrap();
    for command in ["gather cut -o x.tegula", "run pagerank cut --ranks 2"] {
        shop.tegula(command).failed(3, &["rank-1.tegula", "another graph"]);
    }
    fs::remove_dir_all(shop.path("cut/rank-1.tegula")).unwrap();
    fs::rename(shop.path("other/rank-0.tegula"), shop.path("cut/rank-1.tegula")).unwrap();
    shop.tegula("run pagerank cut --ranks 2").failed(3, &["rank-1.tegula", "rank 0"]);
}

#[test]
fn a_damaged_shard_ends_all_ranks() {
    let shop = shop_with(2, "");
    let tiles = shop.path("cut/rank-1.tegula/tiles.data");
    let mut bytes = fs::read(&tiles).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&tiles, bytes).unwrap();
    let failed = shop.tegula("run pagerank cut --ranks 2 --iterations 3");
    let failed = failed.failed(3, &["rank-1.tegula", "tile"]);
    assert!(!failed.err.contains("rank 1 failed"), "{}", failed.err);
}

#[test]
fn a_manifest_with_a_partition_that_does_not_fit_is_refused() {
    let shop = shop_with(2, "");
    let whole = String::from_utf8(shop.read("g.tegula/manifest.json")).unwrap();
    assert!(whole.contains("\"name\": \"vertices.ids\""));
    let sound = shop.read("cut/rank-0.tegula/manifest.json");
    let edits: [fn(&str) -> String; 6] = [
        |body| body.replacen("\"rank\": 0,", "\"rank\": 2,", 1),
        // A cut within a batch, one that is no multiple of 64, and cuts that do not ascend.
        |body| body.replacen("262144,", "131072,", 1),
        |body| body.replacen("262144,", "262145,", 1),
        |body| body.replacen("262144,", "999999999,", 1),
        // The whole graph has a file outside of its directory, or a format that is unknown.
        |body| body.replacen("\"name\": \"vertices.ids\"", "\"name\": \"../vertices.ids\"", 1),
        |body| {
            body.replacen(
                "\"whole\": {\n      \"format_version\": 8",
                "\"whole\": {\n      \"format_version\": 7",
                1,
            )
        },
    ];
    for (number, edit) in edits.into_iter().enumerate() {
        fs::write(shop.path("cut/rank-0.tegula/manifest.json"), &sound).unwrap();
        let before = String::from_utf8(sound.clone()).unwrap();
        assert_ne!(edit(&before), before, "edit {number} changes something");
        edit_manifest(&shop.path("cut/rank-0.tegula"), edit);
        for command in ["info cut/rank-0.tegula", "gather cut -o x.tegula"] {
            let said = shop.tegula(command);
            assert_eq!(said.code, Some(3), "edit {number}, {command}: {} {}", said.out, said.err);
        }
    }
    assert!(!shop.names().iter().any(|name| name.starts_with("x.")), "{:?}", shop.names());
}
