//! A user or a container may have fewer threads than a command asks for: the command works with
//! those that it gets, and says so.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use rustix::process::geteuid;
use tegula_testkit::data::skip;

use crate::shop::{Said, Shop, has_program, said};

/// A user without other processes, so that only the command counts.
const USER: u32 = 48_611;

/// Whether the limit of another user can be tested here; if not, says so.
fn has_limits() -> bool {
    if !geteuid().is_root() {
        skip("only root can call a command as a user with a limit on processes");
        return false;
    }
    has_program("prlimit")
}

/// Returns a scratch folder that the user may write to.
fn shop() -> Shop {
    let shop = Shop::new();
    std::fs::set_permissions(shop.path("."), Permissions::from_mode(0o777)).unwrap();
    shop
}

/// Calls the command as a user who may have `threads` threads, the main one included.
fn limited(shop: &Shop, threads: usize, words: &str) -> Said {
    let command = shop.command(words);
    let mut limited = Command::new("prlimit");
    limited.arg(format!("--nproc={threads}")).arg(command.get_program()).args(command.get_args());
    limited.current_dir(shop.path(".")).uid(USER).gid(USER).stdin(Stdio::null());
    limited.env("XDG_CACHE_HOME", shop.path("cache"));
    said(&mut limited)
}

// Rings of a user with few threads read slowly from files in memory, where quick tests have theirs.
#[test]
#[ignore = "long"]
fn a_command_goes_on_with_the_threads_that_there_are() {
    if !has_limits() {
        return;
    }
    let shop = shop();
    shop.tegula("generate rmat --scale 10 -o g.el").done();
    let import = "import g.el --layouts tiles,rows,reverse --ids string";
    shop.tegula(&format!("{import} -o g.tegula")).done();
    let expected = shop.files("g.tegula");
    for threads in [1, 2, 3, 6] {
        limited(&shop, threads, "generate rmat --scale 10 -o h.el --threads 8 --force").done();
        assert!(shop.read("h.el") == shop.read("g.el"));
        limited(&shop, threads, &format!("{import} -o h.tegula --threads 8 --force")).done();
        assert!(shop.files("h.tegula") == expected, "{threads}");
    }
    for algorithm in ["pagerank", "scc", "kcore", "wcc", "wcc --io threads", "degree"] {
        let run = format!("run {algorithm} g.tegula -o t.csv --force");
        shop.tegula(&run).done();
        let expected = shop.read("t.csv");
        for (threads, wanted) in [(1, 2), (2, 8), (3, 2), (6, 8)] {
            let said = limited(&shop, threads, &format!("{run} --threads {wanted} --json")).done();
            assert!(shop.read("t.csv") == expected, "{algorithm}, {threads} of {wanted}");
            let told = said.json();
            let warning = told["warnings"][0].as_str().unwrap_or_default();
            let is_short = said.err.contains("warning: ");
            assert_eq!(is_short, !warning.is_empty(), "{said:?}");
            // Degrees are read by the main thread alone.
            let is_enough = threads > wanted || algorithm == "degree";
            assert!(is_short || is_enough, "{algorithm}, {threads} of {wanted}");
            assert!(!is_short || warning.contains("ulimit -u"), "{warning}");
        }
    }
    // The kernel does such large reads on threads of its own, if it gets any.
    shop.tegula("generate rmat --scale 14 -o large.bin32").done();
    shop.tegula("import large.bin32 -o large.tegula").done();
    let run = "run pagerank large.tegula -o t.csv --force";
    shop.tegula(run).done();
    let expected = shop.read("t.csv");
    for threads in 2..9 {
        limited(&shop, threads, &format!("{run} --threads 8")).done();
        assert!(shop.read("t.csv") == expected, "{threads} threads");
    }
    let said = limited(&shop, 1, "export g.tegula -o e.csv --threads 4 --json").done();
    assert!(said.json()["warnings"][0].as_str().unwrap().starts_with("only 1 of 4 workers"));
}

#[test]
fn workers_are_limited_to_those_that_a_process_can_have() {
    let shop = Shop::new();
    shop.tegula("generate path --vertices 1000 -o g.el").done();
    for words in ["import g.el -o g.tegula", "run wcc g.tegula -o t.csv"] {
        let said = shop.tegula(&format!("{words} --threads 20000 --json")).done();
        assert!(said.err.contains("only 4096 of 20000 workers were started"), "{}", said.err);
        assert_eq!(said.json()["warnings"].as_array().unwrap().len(), 1);
    }
}

#[test]
fn uring_without_a_thread_for_it_is_refused_with_advice() {
    if !has_limits() {
        return;
    }
    let shop = shop();
    shop.tegula("generate path --vertices 1000 -o g.el").done();
    shop.tegula("import g.el -o g.tegula").done();
    let said = limited(&shop, 1, "run wcc g.tegula --io uring -o t.csv");
    if said.err.contains("io_uring: the system") {
        said.failed(1, &["ulimit -u"]);
    } else {
        skip(&format!("there is no io_uring: {}", said.err));
    }
}
