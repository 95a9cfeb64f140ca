//! Full disks, and files and folders without permission: the message names them, and nothing
//! half-made is left there.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::process::geteuid;
use tegula_testkit::data::skip;

use crate::shop::{Said, Shop, said};

/// Mounts a small disk at the folder `full`, runs the call, and lists the files that it left there.
/// All this happens in a namespace of its own, so the disk is gone afterwards.
const ON_A_SMALL_DISK: &str = "mount -t tmpfs -o size=$0 none full || exit 99
    \"$@\"; code=$?; ls -A full; exit $code";

/// Returns a shop with an empty folder `full`, if a disk can be mounted there; else says why not.
pub fn shop_with_a_disk() -> Option<Shop> {
    let shop = Shop::new();
    fs::create_dir(shop.path("full")).unwrap();
    let probe = said(&mut on_a_small_disk(&shop, 64, Command::new("true")));
    if probe.code != Some(0) {
        skip(&format!("no small disk can be mounted: {}", probe.err.trim()));
        return None;
    }
    Some(shop)
}

/// Returns a call with a disk of `kibibytes` KiB at `full`; its standard output ends with a list of
/// the files left there.
pub fn on_a_small_disk(shop: &Shop, kibibytes: u64, call: Command) -> Command {
    let mut command = Command::new("unshare");
    command.arg("--mount").current_dir(shop.path("."));
    if !geteuid().is_root() {
        command.arg("--map-root-user");
    }
    command.args(["sh", "-c", ON_A_SMALL_DISK]).arg(format!("{kibibytes}k"));
    command.arg(call.get_program()).args(call.get_args());
    command
}

/// Asserts that a call failed for lack of space in `full` and left nothing there, which would be
/// listed.
#[track_caller]
fn assert_full(said: Said) {
    said.failed(1, &["full", "No space left on device"]);
}

#[test]
fn an_import_to_a_disk_of_any_size_is_whole_or_leaves_nothing() {
    let Some(shop) = shop_with_a_disk() else { return };
    shop.tegula("generate rmat --scale 13 --weighted -o g.wel").done();
    let mut failures = 0;
    for kibibytes in (16..).step_by(48) {
        let call = shop.command("import g.wel -o full/g.tegula --weighted --quiet");
        let said = said(&mut on_a_small_disk(&shop, kibibytes, call));
        if said.code == Some(0) {
            assert_eq!(said.out, "g.tegula\n");
            break;
        }
        assert_full(said);
        failures += 1;
    }
    // Each file of a graph was too large for the disk at some size.
    assert!(failures > 10, "only {failures} sizes were too small");
}

#[test]
fn temporary_files_that_do_not_fit_end_an_import() {
    let Some(shop) = shop_with_a_disk() else { return };
    shop.tegula("generate rmat --scale 18 -o g.bin32").done();
    let words = "import g.bin32 -o g.tegula --memory 64MiB --spill-directory full --quiet";
    for kibibytes in [4, 1 << 10, 8 << 10] {
        let said = said(&mut on_a_small_disk(&shop, kibibytes, shop.command(words)));
        said.failed(1, &["full", "No space left on device", "take up to 96.0 MiB"]);
        assert_eq!(shop.names(), ["full", "g.bin32"]);
    }
    said(&mut on_a_small_disk(&shop, 96 << 10, shop.command(words))).done();
    shop.tegula("verify g.tegula").done();
}

#[test]
fn a_small_import_to_a_full_disk_says_no_size() {
    let Some(shop) = shop_with_a_disk() else { return };
    shop.write("g.txt", "0 1\n");
    let call = shop.command("import g.txt -o full/g.tegula --quiet");
    let said = said(&mut on_a_small_disk(&shop, 4, call));
    let said = said.failed(1, &["full", "No space left on device"]);
    assert!(!said.err.contains("take up to"), "{}", said.err);
}

#[test]
fn a_run_says_at_once_how_much_room_its_arrays_need() {
    let Some(shop) = shop_with_a_disk() else { return };
    shop.tegula("generate erdos-renyi --vertices 200000 --edges 400000 -o g.bin32").done();
    shop.tegula("import g.bin32 -o g.tegula --grid 14,14 --order degree").done();
    let run = "run pagerank g.tegula --arrays disk --spill-directory full --iterations 2 --quiet";
    let call = || shop.command(&format!("{run} -o -"));
    let refused = said(&mut on_a_small_disk(&shop, 1 << 10, call()));
    let refused = refused.failed(1, &["full", "no storage space", "MiB of free space"]);
    let (_, said_there) = refused.err.split_once("no storage space; this needs ").unwrap();
    let needed: f64 = said_there.split(' ').next().unwrap().parse().unwrap();
    // The figure is rounded, and a disk keeps some of its space for itself.
    let [too_little, enough] = [0.9, 1.1].map(|share| (share * needed * 1024.0) as u64);
    said(&mut on_a_small_disk(&shop, too_little, call())).failed(1, &["no storage space"]);
    let ranks = said(&mut on_a_small_disk(&shop, enough, call())).done().out;
    assert_eq!(ranks, shop.tegula("run pagerank g.tegula --iterations 2 -o -").done().out);
}

#[test]
fn checkpoints_that_do_not_fit_leave_no_folder() {
    let Some(shop) = shop_with_a_disk() else { return };
    shop.tegula("generate erdos-renyi --vertices 200000 --edges 400000 -o g.bin32").done();
    shop.tegula("import g.bin32 -o g.tegula").done();
    for arrays in ["memory", "disk"] {
        let words = format!("run pagerank g.tegula --checkpoint full/kept --arrays {arrays} -q");
        let said = said(&mut on_a_small_disk(&shop, 1 << 10, shop.command(&words)));
        said.failed(1, &["full/kept", "MiB of free space"]);
    }
}

#[test]
fn a_replacement_that_does_not_fit_leaves_the_old_graph() {
    let Some(shop) = shop_with_a_disk() else { return };
    shop.tegula("generate rmat --scale 13 -o g.el").done();
    shop.write("old.el", "1 2\n");
    let script = "$0 import old.el -o full/g.tegula -q; $0 import g.el -o full/g.tegula --force";
    let mut call = Command::new("sh");
    call.args(["-c", script, env!("CARGO_BIN_EXE_tegula")]);
    let said = said(&mut on_a_small_disk(&shop, 64, call));
    assert_eq!((said.code, said.out.as_str()), (Some(1), "g.tegula\n"), "{}", said.err);
    assert!(said.err.contains("No space left on device"), "{}", said.err);
}

#[test]
fn rows_that_do_not_fit_leave_the_graph_as_it_was() {
    let Some(shop) = shop_with_a_disk() else { return };
    shop.tegula("generate rmat --scale 13 --weighted -o g.wel").done();
    shop.tegula("import g.wel -o g.tegula --weighted").done();
    let size: u64 = shop.files("g.tegula").values().map(|bytes| bytes.len() as u64).sum();
    // After a failure the graph is compared byte by byte, and verified.
    let script =
        "cp -r g.tegula full/ && $0 run bfs full/g.tegula --source 1 --executor seek --top 0
        code=$?
        if test $code != 0; then diff -r g.tegula full/g.tegula || exit 98; fi
        $0 verify full/g.tegula --quiet || exit 97
        exit $code";
    let mut failures = 0;
    for kibibytes in (size / 1024 + 64..).step_by(96) {
        let mut call = Command::new("sh");
        call.args(["-c", script, env!("CARGO_BIN_EXE_tegula")]);
        let said = said(&mut on_a_small_disk(&shop, kibibytes, call));
        if said.code == Some(0) {
            break;
        }
        assert_eq!(said.code, Some(1), "{} {}", said.out, said.err);
        for words in ["No space left on device", "full/g.tegula", "--layouts tiles,rows"] {
            assert!(said.err.contains(words), "{}", said.err);
        }
        failures += 1;
    }
    assert!(failures > 5, "only {failures} sizes were too small");
}

#[test]
fn a_graph_that_may_not_be_changed_gets_rows_for_a_run_elsewhere() {
    let shop = open_shop();
    shop.write("u.el", "1 2\n2 3\n4 5\n");
    shop.tegula("import u.el -o u.tegula --undirected").done();
    permit(&shop, "u.tegula", 0o555);
    permit(&shop, "closed", 0o555);
    let before = shop.files("u.tegula");
    for words in [
        "run bfs u.tegula --source 1 --executor seek",
        "run astar u.tegula --source 1 --target 3",
        "run mis u.tegula",
        "run mst u.tegula",
    ] {
        let said = as_somebody(&shop, words).done();
        for word in ["Permission denied", "open for this run", "--layouts tiles,rows"] {
            assert!(said.err.contains(word), "no `{word}` in: {}", said.err);
        }
        // A named folder is used even if the graph could take rows.
        let there = as_somebody(&shop, &format!("{words} --spill-directory open")).done();
        assert_eq!(there.out, said.out);
        let closed = format!("{words} --spill-directory closed");
        let refusal = ["closed", "Permission denied", "they take about", "--spill-directory"];
        let refused = as_somebody(&shop, &closed).failed(1, &refusal);
        // Only useful advice is given.
        assert_eq!(refused.err.contains("--executor scan"), words.contains("bfs"));
        for folder in ["open", "closed"] {
            assert_eq!(fs::read_dir(shop.path(folder)).unwrap().count(), 0, "{words}");
        }
    }
    assert_eq!(shop.files("u.tegula"), before);
    permit(&shop, "u.tegula", 0o755);
    let said = shop.tegula("run mst u.tegula --spill-directory open").done();
    assert!(said.err.contains("open for this run") && shop.files("u.tegula") == before);
    assert_eq!(shop.tegula("run mst u.tegula").done().out, said.out);
}

#[test]
fn a_directed_graph_gets_the_rows_of_both_directions_elsewhere() {
    let shop = open_shop();
    shop.write("d.el", "1 2\n2 3\n3 1\n3 4\n");
    for name in ["d", "with_rows"] {
        shop.tegula(&format!("import d.el -o {name}.tegula")).done();
    }
    permit(&shop, "d.tegula", 0o555);
    let before = shop.files("d.tegula");
    for words in
        ["kcore", "triangles", "cdlp", "hits", "louvain", "bfs --source 1 --direction both"]
    {
        let expected = shop.tegula(&format!("run {words} with_rows.tegula")).done().out;
        for place in ["", " --spill-directory open"] {
            let words = format!("run {words} d.tegula{place}");
            assert_eq!(as_somebody(&shop, &words).done().out, expected, "{words}");
        }
        assert_eq!(fs::read_dir(shop.path("open")).unwrap().count(), 0, "{words}");
    }
    assert_eq!(shop.files("d.tegula"), before);
}

#[test]
fn a_graph_on_a_disk_that_cannot_be_written_to_gets_rows_for_a_run_elsewhere() {
    let Some(shop) = shop_with_a_disk() else { return };
    shop.tegula("generate rmat --scale 10 -o g.el").done();
    shop.tegula("import g.el -o g.tegula --undirected").done();
    fs::create_dir(shop.path("elsewhere")).unwrap();
    let script = "cp -r g.tegula full/ && mount -o remount,ro full || exit 99
        TMPDIR=elsewhere $0 run mst full/g.tegula --top 0";
    let mut call = Command::new("sh");
    call.args(["-c", script, env!("CARGO_BIN_EXE_tegula")]);
    let said = said(&mut on_a_small_disk(&shop, 4 << 10, call)).done();
    for word in ["Read-only file system", "elsewhere for this run"] {
        assert!(said.err.contains(word), "no `{word}` in: {}", said.err);
    }
    assert_eq!(fs::read_dir(shop.path("elsewhere")).unwrap().count(), 0);
}

#[test]
fn rows_for_a_run_that_do_not_fit_say_how_large_they_are() {
    let Some(shop) = shop_with_a_disk() else { return };
    shop.tegula("generate rmat --scale 13 -o g.el").done();
    shop.tegula("import g.el -o g.tegula --undirected").done();
    let call = shop.command("run mst g.tegula --spill-directory full");
    let said = said(&mut on_a_small_disk(&shop, 64, call));
    let words = ["full", "No space left on device", "they take about", "--spill-directory"];
    said.failed(1, &words);
}

#[test]
fn tables_and_edge_lists_that_do_not_fit_leave_nothing() {
    let Some(shop) = shop_with_a_disk() else { return };
    shop.tegula("generate rmat --scale 13 -o g.el").done();
    shop.tegula("import g.el -o g.tegula").done();
    for words in [
        "run pagerank g.tegula -o full/out.csv",
        "run pagerank g.tegula -o full/out.parquet",
        "run pagerank g.tegula -o full/out.npy",
        "run pagerank g.tegula -o full/out.tsv.zst",
        "generate rmat --scale 13 -o full/g.el",
        "generate rmat --scale 13 -o full/g.bin32",
        "generate rmat --scale 13 -o full/g.el.gz",
    ] {
        assert_full(said(&mut on_a_small_disk(&shop, 8, shop.command(words))));
    }
}

/// Returns a shop that anyone may read, with a graph, a folder `open` for everyone, and a folder
/// `closed`, which tests close.
fn open_shop() -> Shop {
    let shop = Shop::new();
    permit(&shop, ".", 0o755);
    shop.write("g.el", "1 2\n");
    shop.tegula("import g.el -o g.tegula").done();
    fs::create_dir(shop.path("open")).unwrap();
    permit(&shop, "open", 0o777);
    fs::create_dir(shop.path("closed")).unwrap();
    shop
}

fn permit(shop: &Shop, name: &str, mode: u32) {
    fs::set_permissions(shop.path(name), Permissions::from_mode(mode)).unwrap();
}

/// Calls the command as a user who is bound by permissions, unlike the superuser.
fn as_somebody(shop: &Shop, words: &str) -> Said {
    let mut command = shop.command(words);
    if geteuid().is_root() {
        // `nobody`. The command's folder may be closed to others, so the command is copied.
        let copy = shop.path("tegula");
        // Another process copies it. A file that this process has open for writing cannot be run,
        // and a process that another test starts meanwhile could keep it open.
        let mut cp = Command::new("cp");
        assert!(cp.arg(env!("CARGO_BIN_EXE_tegula")).arg(&copy).status().unwrap().success());
        let mut copied = Command::new(copy);
        copied.args(command.get_args()).current_dir(shop.path(".")).uid(65534).gid(65534);
        command = copied;
    }
    said(command.env("TMPDIR", "open"))
}

#[test]
fn an_unreadable_file_is_named() {
    let shop = open_shop();
    for (name, words) in [
        ("g.el", "import g.el -o open/g.tegula"),
        ("closed", "import closed -o open/g.tegula"),
        ("closed", "import closed/g.el -o open/g.tegula"),
        ("g.tegula/manifest.json", "info g.tegula"),
        ("g.tegula/tiles.data", "run wcc g.tegula -o open/out.csv"),
        ("g.tegula", "run wcc g.tegula -o open/out.csv"),
    ] {
        let mode = fs::metadata(shop.path(name)).unwrap().permissions().mode();
        permit(&shop, name, 0);
        let said = as_somebody(&shop, words);
        permit(&shop, name, mode);
        said.failed(1, &[name, "Permission denied"]);
        assert_eq!(fs::read_dir(shop.path("open")).unwrap().count(), 0, "{words}");
    }
}

#[test]
fn an_unwritable_folder_is_named() {
    let shop = open_shop();
    permit(&shop, "closed", 0o555);
    for words in [
        "import g.el -o closed/g.tegula",
        "import g.el -o closed/deep/g.tegula",
        "run wcc g.tegula -o closed/out.csv",
        "generate path --vertices 3 -o closed/g.el",
    ] {
        as_somebody(&shop, words).failed(1, &["closed", "Permission denied"]);
        assert_eq!(fs::read_dir(shop.path("closed")).unwrap().count(), 0, "{words}");
    }
    // This is checked before the graph is read.
    permit(&shop, "g.tegula/tiles.data", 0);
    let refused = as_somebody(&shop, "run wcc g.tegula -o closed/out.csv");
    permit(&shop, "g.tegula/tiles.data", 0o644);
    assert!(!refused.failed(1, &["closed/out.csv"]).err.contains("tiles.data"));
    as_somebody(&shop, "run wcc g.tegula -o /dev/null --format csv").done();
    // Temporary files are made on demand; this import needs none.
    as_somebody(&shop, "import g.el -o open/g.tegula --spill-directory closed --quiet").done();
    shop.tegula("generate rmat --scale 18 -o large.bin32").done();
    let words = "import large.bin32 -o open/h.tegula --memory 64MiB --spill-directory closed";
    as_somebody(&shop, words).failed(1, &["closed", "Permission denied"]);
    assert!(!shop.path("open/h.tegula").exists());
    assert_eq!(fs::read_dir(shop.path("open")).unwrap().count(), 1);
}

#[test]
fn a_file_larger_than_the_limit_of_the_shell_is_a_failed_write() {
    let shop = Shop::new();
    shop.tegula("generate rmat --scale 12 -o g.el").done();
    shop.tegula("import g.el -o g.tegula --layouts tiles,rows").done();
    let before = shop.names();
    for (words, file) in [
        ("run random-walks g.tegula --length 40 -o walks.csv", "walks.csv"),
        ("import g.el -o h.tegula", "h.tegula"),
    ] {
        let said = shop.shell(&format!("ulimit -f 20; exec $T {words}"));
        said.failed(1, &[file, "File too large"]);
        assert_eq!(shop.names(), before, "{words}");
    }
}
