//! Runs that keep checkpoints and are killed outright. A run that resumes from a checkpoint has the
//! same table as a run that was never interrupted, byte for byte.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;
use tegula_testkit::XorShift;

use crate::shop::Shop;

/// The number of kills, spread over the time of a whole run.
const KILLS: u32 = 12;

/// Returns a shop with a skewed graph, on which each run takes a while.
fn shop() -> Shop {
    let shop = Shop::new();
    shop.tegula("generate rmat --scale 14 --seed 1 -o g.el").done();
    shop.tegula("import g.el -o g.tegula --undirected").done();
    shop
}

/// Returns the words of a run with arrays in memory, and of one with arrays on disk.
fn ways(run: &str) -> [String; 2] {
    ["memory", "disk"].map(|arrays| format!("run {run} --arrays {arrays} --executor scan"))
}

#[test]
#[ignore = "long"]
fn a_run_that_is_killed_at_any_moment_resumes_to_the_same_bytes() {
    let shop = shop();
    let mut random = XorShift::new(3);
    for run in ["pagerank g.tegula --iterations 40", "sssp g.tegula --source 1 --delta 0.01"] {
        let [in_memory, on_disk] = ways(run);
        shop.tegula(&format!("{in_memory} -o whole.tsv --force")).done();
        let whole = shop.read("whole.tsv");
        let (mut killed, mut gone_on) = (0, 0);
        for (keep, go_on) in [(&in_memory, &on_disk), (&on_disk, &in_memory)] {
            let _ = fs::remove_dir_all(shop.path("kept"));
            let started = Instant::now();
            shop.tegula(&format!("{keep} --checkpoint kept -o found.tsv --force")).done();
            let lasts = started.elapsed();
            for moment in 0..KILLS {
                let _ = fs::remove_dir_all(shop.path("kept"));
                let mut child =
                    shop.start(&format!("{keep} --checkpoint kept -o found.tsv --force"));
                sleep(lasts.mul_f64((f64::from(moment) + random.fraction()) / f64::from(KILLS)));
                child.kill().unwrap();
                killed += u32::from(child.wait().unwrap().signal() == Some(9));
                let has_one = shop.path("kept").exists()
                    && shop.files("kept").keys().any(|name| name.starts_with("version-"));
                gone_on += u32::from(has_one);
                let words = format!("{go_on} --resume kept -o found.tsv --force");
                if has_one {
                    shop.tegula(&words).done();
                    assert!(shop.read("found.tsv") == whole, "{words}");
                } else if shop.path("kept").exists() {
                    shop.tegula(&words).failed(3, &["kept holds no undamaged checkpoint"]);
                } else {
                    shop.tegula(&words).failed(3, &["kept"]);
                }
            }
        }
        assert!(killed > 0 && gone_on > 0, "{killed} killed, {gone_on} gone on");
    }
}

#[test]
fn a_resumed_run_keeps_checkpoints_and_can_be_killed_again() {
    let shop = shop();
    let [in_memory, on_disk] = ways("pagerank g.tegula --iterations 200");
    shop.tegula(&format!("{in_memory} -o whole.tsv")).done();
    shop.tegula(&format!("{on_disk} --checkpoint kept -o found.tsv")).done();
    fs::remove_dir_all(shop.path("kept")).unwrap();
    let mut child = shop.start(&format!("{on_disk} --checkpoint kept -o found.tsv --force"));
    let mut resumed = 0;
    loop {
        sleep(Duration::from_millis(150));
        child.kill().unwrap();
        if child.wait().unwrap().signal() != Some(9) {
            break;
        }
        let has_one = shop.files("kept").keys().any(|name| name.starts_with("version-"));
        resumed += u32::from(has_one);
        let go_on = if has_one { "--resume kept --checkpoint kept" } else { "--checkpoint kept" };
        let way = if resumed % 2 == 0 { &on_disk } else { &in_memory };
        child = shop.start(&format!("{way} {go_on} -o found.tsv --force"));
        if resumed > 30 {
            assert!(child.wait().unwrap().success());
            break;
        }
    }
    assert!(resumed > 0, "every run was quicker than the kill");
    assert!(shop.read("found.tsv") == shop.read("whole.tsv"));
}

#[test]
fn a_run_resumes_from_the_checkpoint_before_a_damaged_one() {
    let shop = shop();
    let [in_memory, on_disk] = ways("pagerank g.tegula --iterations 9");
    shop.tegula(&format!("{in_memory} -o whole.tsv")).done();
    let keep = format!("{in_memory} --checkpoint kept -o found.tsv --force");
    let go_on = |said: &str| {
        let words = format!("{on_disk} --resume kept -o found.tsv --force --json -v");
        let done = shop.tegula(&words).done();
        assert!(done.err.contains(said), "{}", done.err);
        assert!(shop.read("found.tsv") == shop.read("whole.tsv"));
        assert_eq!(done.json()["iterations"], Value::from(9));
        9 - done.json()["iterations_before"].as_u64().unwrap()
    };
    let damages: [&dyn Fn(); 3] = [
        &|| shop.write("kept/version-8", []),
        &|| {
            let list = shop.read("kept/version-8");
            shop.write("kept/version-8", &list[..list.len() - 1]);
        },
        &|| {
            let mut list = shop.read("kept/version-8");
            list[40] ^= 1;
            shop.write("kept/version-8", list);
        },
    ];
    for damage in damages {
        let _ = fs::remove_dir_all(shop.path("kept"));
        shop.tegula(&keep).done();
        let names: Vec<String> = shop.files("kept").into_keys().collect();
        assert_eq!(names, ["blocks", "version-7", "version-8"]);
        assert_eq!(go_on(""), 1, "the last iteration is left");
        damage();
        assert_eq!(go_on("version-8"), 2, "that before it too");
    }
    shop.write("kept/blocks", []);
    let words = format!("{on_disk} --resume kept");
    let none = ["kept holds no undamaged checkpoint", "start anew, without --resume"];
    shop.tegula(&words).failed(3, &none);
}

#[test]
fn a_run_that_cannot_resume_says_why() {
    let shop = shop();
    let ranks = "run pagerank g.tegula --iterations 5 -o found.tsv --force";
    shop.tegula(&format!("{ranks} --checkpoint kept")).done();
    let before = shop.files("kept");
    shop.tegula("generate rmat --scale 14 --seed 2 -o other.el").done();
    shop.tegula("import other.el -o other.tegula").done();
    for (words, why) in [
        (format!("{ranks} --checkpoint kept"), "holds checkpoints already"),
        ("run pagerank other.tegula --iterations 5 --resume kept".to_owned(), "another graph"),
        (
            "run pagerank g.tegula --iterations 6 --resume kept".to_owned(),
            "kept holds a checkpoint of a run with --iterations 5, but this one is with --iterations 6",
        ),
        (
            "run katz g.tegula --resume kept".to_owned(),
            "kept holds a checkpoint of pagerank, but this is katz",
        ),
        (format!("{ranks} --resume missing"), "missing"),
        (format!("{ranks} --resume g.tegula"), "holds no undamaged checkpoint"),
    ] {
        shop.tegula(&words).failed(3, &[why]);
    }
    let said = shop.tegula("run katz g.tegula --resume kept --json");
    assert_eq!(said.json()["kind"], "not_resumable");
    assert!(shop.files("kept") == before, "it is what it was");
    // An incomplete command line is refused, and algorithms without checkpoints say so before any
    // folder is made.
    shop.tegula(&format!("{ranks} --checkpoint-every 2")).failed(2, &["--checkpoint"]);
    shop.tegula(&format!("{ranks} --checkpoint new --checkpoint-every 0")).failed(2, &[]);
    for words in ["wcc g.tegula", "louvain g.tegula", "sssp g.tegula --source 1 --method dijkstra"]
    {
        let words = format!("run {words} --checkpoint new");
        shop.tegula(&words).failed(2, &["keeps no checkpoints", "without --checkpoint"]);
    }
    assert!(!shop.path("new").exists());
}

#[test]
fn a_refused_resume_changes_nothing_in_the_folder() {
    let shop = shop();
    shop.tegula("run pagerank g.tegula --iterations 5 --checkpoint kept -o found.tsv").done();
    for damaged in ["version-3", "version-4"] {
        let list = shop.read(&format!("kept/{damaged}"));
        shop.write(&format!("kept/{damaged}"), &list[1..]);
        let before = shop.files("kept");
        for words in
            ["--iterations 6 --resume kept", "--iterations 6 --resume kept --checkpoint kept"]
        {
            shop.tegula(&format!("run pagerank g.tegula {words}")).failed(3, &["kept holds"]);
            assert!(shop.files("kept") == before, "{damaged}, {words}");
        }
        shop.write(&format!("kept/{damaged}"), list);
    }
}

#[test]
fn a_folder_of_checkpoints_is_removed_if_none_was_kept() {
    let shop = shop();
    // The graph is damaged, so the run fails before its first checkpoint.
    let mut tiles = shop.read("g.tegula/tiles.data");
    tiles[9] ^= 1;
    shop.write("g.tegula/tiles.data", tiles);
    for arrays in ["memory", "disk"] {
        let words = format!("run pagerank g.tegula --checkpoint kept --arrays {arrays}");
        shop.tegula(&words).failed(3, &["tiles.data"]);
        assert!(!shop.path("kept").exists(), "{arrays}");
    }
    fs::create_dir(shop.path("kept")).unwrap();
    shop.tegula("run pagerank g.tegula --checkpoint kept").failed(3, &["tiles.data"]);
    assert!(shop.path("kept").exists(), "it was there before");
}

#[test]
fn a_folder_of_checkpoints_is_no_graph_and_belongs_to_one_run_at_a_time() {
    let shop = shop();
    let ranks = "run pagerank g.tegula --iterations 5 -o found.tsv --force";
    let graph = shop.files("g.tegula");
    for folder in ["g.tegula", "g.tegula/kept", "g.tegula/kept/here"] {
        let words = format!("{ranks} --checkpoint {folder}");
        shop.tegula(&words).failed(2, &["g.tegula is a graph directory"]);
    }
    assert!(shop.files("g.tegula") == graph);
    fs::create_dir(shop.path("mine")).unwrap();
    shop.write("mine/notes", "precious");
    shop.write("mine/blocks", "as precious");
    let mine = shop.files("mine");
    shop.tegula(&format!("{ranks} --checkpoint mine"))
        .failed(3, &["mine holds notes, which is no"]);
    assert!(shop.files("mine") == mine);
    // A run that is killed before its first checkpoint leaves such a folder.
    fs::create_dir(shop.path("kept")).unwrap();
    shop.write("kept/blocks", "");
    let none = ["kept holds no undamaged checkpoint", "start anew, without --resume"];
    shop.tegula(&format!("{ranks} --resume kept")).failed(3, &none);
    let blocks = fs::File::open(shop.path("kept/blocks")).unwrap();
    blocks.lock().unwrap();
    let words = format!("{ranks} --checkpoint kept");
    shop.tegula(&words).failed(3, &["kept is in use by another run for its checkpoints"]);
    drop(blocks);
    shop.tegula(&words).done();
}

#[test]
fn an_estimate_has_room_for_checkpoints() {
    let shop = shop();
    let needed = |words: &str| {
        let words = format!("run pagerank g.tegula --estimate --json {words}");
        shop.tegula(&words).done().json()["vertex_bytes"].as_u64().unwrap()
    };
    let (without, with) = (needed(""), needed("--checkpoint kept"));
    assert!(without < with && with < 2 * without, "{without} bytes, {with} with checkpoints");
    assert!(!shop.path("kept").exists(), "an estimate makes nothing");
}

#[test]
fn a_run_resumes_only_with_the_tables_of_its_beginning() {
    let shop = Shop::new();
    shop.write("g.el", "0 1\n1 2\n2 3\n3 0\n1 3\n");
    shop.tegula("import g.el -o g.tegula").done();
    for (run, option, table, changed) in [
        ("pagerank g.tegula --iterations 9", "--personalize", "0\n1\n", "0\n2\n"),
        ("pagerank g.tegula --iterations 9 --damping 0.5", "--personalize", "0,1\n", "0,1\n1,2\n"),
        ("spmv g.tegula --iterations 9", "--vector", "0,1\n1,2\n", "0,1\n1,3\n"),
        ("bfs g.tegula", "--sources", "0\n", "1\n"),
        ("bfs g.tegula --source 0", "--targets", "3\n", "2\n"),
        ("sssp g.tegula", "--sources", "0\n", "1\n"),
        ("sssp g.tegula --source 0", "--targets", "3\n", "2\n"),
    ] {
        for arrays in ["memory", "disk"] {
            let _ = fs::remove_dir_all(shop.path("kept"));
            shop.write("table.csv", table);
            let words = format!("run {run} --executor scan {option} table.csv");
            // Paths to targets have their arrays in memory.
            let arrays = if option == "--targets" { "memory" } else { arrays };
            let whole = shop.tegula(&format!("{words} --arrays {arrays} --checkpoint kept")).done();
            assert!(shop.files("kept").keys().any(|name| name.starts_with("version-")), "{run}");
            let go_on = format!("{words} --arrays {arrays} --resume kept");
            assert_eq!(shop.tegula(&go_on).done().out, whole.out, "{run}");
            shop.write("table.csv", changed);
            let of_other = format!("kept holds a checkpoint of a run with {option} (");
            let but_this = format!("but this one is with {option} (");
            shop.tegula(&go_on).failed(3, &[&of_other, &but_this, "checksum"]);
            // Neither another name of a table nor another format makes it another table.
            shop.write("same.tsv", format!("# the same\n{}", table.replace(',', "\t")));
            let renamed = go_on.replace("table.csv", "same.tsv");
            assert_eq!(shop.tegula(&renamed).done().out, whole.out, "{run}");
        }
    }
}
