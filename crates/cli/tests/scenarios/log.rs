//! What `-v` logs while a command works.

use crate::shop::Shop;

#[test]
fn a_log_has_the_plan_of_memory_every_stage_and_every_iteration() {
    let shop = Shop::new();
    shop.tegula("generate rmat --scale 10 -o g.bin32").done();
    let import = "import g.bin32 -o g.tegula --layouts tiles,rows --memory 256MiB";
    let quiet = shop.tegula(import).done().err;
    assert!(!quiet.contains("INFO"), "{quiet}");
    let log = shop.tegula(&format!("{import} --force -v --threads 1")).done().err;
    for words in ["memory: 256.0 MiB allowed; workers: 1", "reading edges: ", "building tiles: "] {
        assert!(log.contains(&format!("INFO {words}")), "{words} in {log}");
    }
    let run = "run pagerank g.tegula --iterations 3 --memory 64MiB --json";
    let quiet = shop.tegula(run).done().err;
    assert_eq!(quiet, "");
    let log = shop.tegula(&format!("{run} -v")).done().err;
    for words in [
        "memory: ",
        "64.0 MiB allowed; the run fits; tiles are read once and stay in memory",
        "iteration 0: scan, ",
        "iteration 2: scan, ",
        "iterating: 3 iterations in ",
    ] {
        assert!(log.contains(words), "{words} in {log}");
    }
    assert_eq!(log.matches(": scan, ").count(), 3, "{log}");
    let on_disk = shop.tegula(&format!("{run} -v --arrays disk")).done().err;
    assert!(on_disk.contains("iteration 2: arrays on disk; took "), "{on_disk}");
}
