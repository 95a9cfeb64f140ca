//! Components of directed graphs with labels on disk: both directions of every edge are written
//! first.

use std::fs;

use rustix::process::{Pid, Signal, kill_process};

use crate::disks::{on_a_small_disk, shop_with_a_disk};
use crate::interrupts::{interrupt, wait_for_handler};
use crate::memory::assert_within;
use crate::shop::{Shop, said, wait_until};

/// Returns a shop with a directed graph of some segments.
fn shop() -> Shop {
    let shop = Shop::new();
    shop.tegula("generate erdos-renyi --vertices 60000 --edges 50000 -o g.bin32").done();
    shop.tegula("import g.bin32 -o g.tegula --grid 13,12 --order degree").done();
    shop
}

/// Returns the names in the folder of the graph.
fn names(shop: &Shop) -> Vec<String> {
    shop.files("g.tegula").into_keys().collect()
}

#[test]
fn components_of_a_directed_graph_have_the_same_bytes_with_labels_on_disk() {
    let shop = shop();
    fs::create_dir(shop.path("spill")).unwrap();
    let (before, folder) = (names(&shop), shop.names());
    let expected = shop.tegula("run wcc g.tegula -o -").done().out;
    for more in [
        "--arrays disk",
        "--arrays disk --spill-directory spill",
        "--method propagation",
        "--method propagation --arrays memory --threads 3",
        "--method propagation --checkpoint kept",
        "--method propagation --resume kept --arrays disk",
    ] {
        let found = shop.tegula(&format!("run wcc g.tegula {more} -o -")).done().out;
        assert!(found == expected, "{more}");
        assert_eq!(names(&shop), before, "{more}");
        assert!(fs::read_dir(shop.path("spill")).unwrap().next().is_none(), "{more}");
    }
    fs::remove_dir_all(shop.path("kept")).unwrap();
    assert_eq!(shop.names(), folder);
}

#[test]
fn an_estimate_counts_the_graph_that_is_built_first() {
    let shop = shop();
    let estimate = |more: &str| {
        shop.tegula(&format!("run wcc g.tegula --estimate --json {more}")).done().json()
    };
    let edges = 50_000.0;
    let (united, spread) = (estimate(""), estimate("--method propagation"));
    assert_eq!(united["work"]["built_edges"], 0.0);
    assert_eq!(spread["work"]["built_edges"], 2.0 * edges);
    assert!(spread["moved_bytes"].as_f64() > united["moved_bytes"].as_f64());
    // An import needs 64 MiB.
    assert!(spread["needed_bytes"].as_u64() > Some(56 << 20), "{spread}");
    shop.tegula("run wcc g.tegula --memory 31MiB").failed(4, &["help: raise --memory\n"]);
    let seek = shop.tegula("run wcc g.tegula --method propagation --executor seek --estimate");
    seek.failed(2, &["import it with --undirected, or use --method union-find"]);
}

#[test]
#[ignore = "long"]
fn components_are_found_within_less_memory_than_a_union_find_takes() {
    let shop = Shop::new();
    shop.tegula("generate erdos-renyi --vertices 30000000 --edges 30000000 -o g.bin32").done();
    shop.tegula("import g.bin32 -o g.tegula --grid 22,20 --order given").done();
    fs::remove_file(shop.path("g.bin32")).unwrap();
    let before = shop.names();
    let files = fs::read_dir(shop.path("g.tegula")).unwrap().count();
    let words = "run wcc g.tegula --threads 2";
    let estimate = shop.tegula(&format!("{words} --estimate --json")).done().json();
    let bytes = |name: &str| estimate[name].as_u64().unwrap();
    let least = bytes("needed_bytes");
    let in_memory: u64 =
        ["vertex_bytes", "stream_bytes_min", "overhead_bytes"].into_iter().map(bytes).sum();
    assert!(least + (16 << 20) < in_memory, "{least} of {in_memory}");
    let expected = shop.tegula(&format!("{words} --json")).done().json()["summary"].clone();
    for memory in [least, in_memory - 1] {
        let told = shop.tegula(&format!("{words} --estimate --json --memory {memory}"));
        let told = told.done().json();
        assert!(told["arrays_on_disk"]["file_bytes"].as_u64() > Some(24 * 30_000_000));
        assert!(told["work"]["built_edges"].as_f64() > Some(0.0));
        let report = assert_within(&shop, words, memory);
        assert_eq!(report["summary"], expected, "{memory}");
        assert_eq!(fs::read_dir(shop.path("g.tegula")).unwrap().count(), files);
    }
    let less = shop.tegula(&format!("{words} --memory {}", least - 1));
    less.failed(4, &["help: raise --memory\n"]);
    assert_eq!(shop.names(), before);
}

#[test]
fn a_disk_without_room_for_both_directions_is_refused_at_once() {
    let Some(shop) = shop_with_a_disk() else { return };
    shop.tegula("generate erdos-renyi --vertices 60000 --edges 200000 -o g.bin32").done();
    shop.tegula("import g.bin32 -o g.tegula --grid 13,12").done();
    let words = "run wcc g.tegula --arrays disk --spill-directory full --quiet -o -";
    let call = || shop.command(words);
    // The pairs alone take 1.6 MB.
    let refused = said(&mut on_a_small_disk(&shop, 1 << 10, call()));
    refused.failed(1, &["full", "no storage space", "MiB of free space"]);
    let found = said(&mut on_a_small_disk(&shop, 64 << 10, call())).done().out;
    assert_eq!(found, shop.tegula("run wcc g.tegula -o -").done().out);
}

/// Returns whether a run is building its graph.
fn is_building(shop: &Shop) -> bool {
    fs::read_dir(shop.path("g.tegula"))
        .unwrap()
        .any(|entry| entry.unwrap().file_name().as_encoded_bytes().starts_with(b".tegula-run"))
}

#[test]
fn an_interrupted_run_leaves_nothing_and_a_killed_one_what_others_remove() {
    let shop = Shop::new();
    shop.tegula("generate rmat --scale 20 -o g.bin32").done();
    shop.tegula("import g.bin32 -o g.tegula --order given").done();
    let before = names(&shop);
    let run = "run wcc g.tegula --method propagation --threads 1 -o out.npy";
    let mut child = shop.start(run);
    wait_for_handler(&mut child);
    wait_until(&mut child, || is_building(&shop));
    interrupt(&child);
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(130));
    assert_eq!(names(&shop), before);

    let mut child = shop.start(run);
    wait_until(&mut child, || is_building(&shop));
    kill_process(Pid::from_child(&child), Signal::KILL).unwrap();
    child.wait().unwrap();
    assert!(is_building(&shop), "its folder is left");
    // A graph with such a folder can be replaced.
    shop.tegula("import g.bin32 -o g.tegula --order given --force").done();
    assert_eq!(names(&shop), before);
}
