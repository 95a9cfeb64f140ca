//! Tables on standard output and on terminals, a standard output that takes nothing, and files that
//! others make during a run.

use std::fs::{self, File};
use std::io::Write;
use std::process::Command;

use arrow_ipc::reader::StreamReader;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use tegula_testkit::EdgeList;

use crate::shop::{Said, Shop, has_program, said};

fn shop() -> Shop {
    let shop = Shop::new();
    shop.import(&EdgeList::new(vec![(0, 1), (1, 5), (7, 7)]), "");
    shop
}

const TABLE: &str = "vertex,component\n0,0\n1,0\n5,0\n7,7\n";

#[test]
fn a_standard_output_that_takes_nothing_is_a_failure() {
    let shop = shop();
    for words in [
        "run wcc g.tegula",
        "run wcc g.tegula -o - --format parquet",
        "run wcc g.tegula -o - --format arrow",
        "run wcc g.tegula --top 1",
        "run wcc g.tegula --json",
        "run wcc g.tegula --estimate",
        "info g.tegula",
        "verify g.tegula",
        "import g.el -o h.tegula --force --json",
        "generate path --vertices 9 -o p.el --force --json",
        "--help",
        "run wcc --help",
        "--version",
    ] {
        for place in [">&-", ">/dev/full", "1</dev/null"] {
            let said = shop.shell(&format!("$T {words} {place}"));
            said.failed(1, &["standard output"]);
        }
    }
}

#[test]
fn commands_without_output_run_with_standard_output_closed() {
    let shop = shop();
    for words in [
        "run wcc g.tegula -o out.csv",
        "verify g.tegula --quiet",
        "import g.el -o h.tegula",
        "generate path --vertices 9 -o p.el",
    ] {
        shop.shell(&format!("$T {words} >&-")).done();
    }
    assert_eq!(shop.read("out.csv"), TABLE.as_bytes());
}

#[test]
fn a_run_that_cannot_write_its_table_does_not_start() {
    let shop = shop();
    let words = "$T run pagerank g.tegula --iterations 1000000000000";
    shop.shell(&format!("{words} >&-")).failed(1, &["standard output"]);
    shop.shell(&format!("{words} --json -o out.csv >&-")).failed(1, &["standard output"]);
    assert_eq!(shop.names(), ["g.el", "g.tegula"]);
}

#[test]
fn standard_output_takes_a_table_in_every_format() {
    let shop = shop();
    for (format, name) in [
        ("csv", "a.csv"),
        ("tsv", "a.tsv"),
        ("parquet", "a.parquet"),
        ("arrow", "a.arrows"),
        ("npy", "a.npy"),
    ] {
        shop.tegula(&format!("run wcc g.tegula -o {name}")).done();
        shop.tegula(&format!("run wcc g.tegula -o named --format {format} --force")).done();
        assert_eq!(shop.read("named"), shop.read(name), "{format}");
        for words in [format!("-o - --format {format}"), format!("--format {format}")] {
            shop.shell(&format!("$T run wcc g.tegula {words} > piped")).done();
            assert_eq!(shop.read("piped"), shop.read(name), "{words}");
        }
    }
    assert_eq!(shop.read("a.csv"), TABLE.as_bytes());
    let table = TABLE.replace(',', "\t");
    for words in ["", "-o -", "-o /dev/stdout"] {
        assert_eq!(shop.tegula(&format!("run wcc g.tegula {words}")).done().out, table, "{words}");
    }
    let stream = StreamReader::try_new(File::open(shop.path("a.arrows")).unwrap(), None).unwrap();
    let batches: Vec<_> = stream.map(Result::unwrap).collect();
    assert_eq!(batches.iter().map(|rows| rows.num_rows()).sum::<usize>(), 4);
    assert_eq!(batches[0].schema().field(1).name(), "component");
}

#[test]
fn only_one_output_goes_to_standard_output() {
    let shop = shop();
    for words in
        ["-o - --json", "-o /dev/stdout --format csv --json", "-o - --top 3", "--format csv --json"]
    {
        shop.tegula(&format!("run wcc g.tegula {words}")).failed(2, &["both want standard output"]);
    }
}

#[test]
fn a_file_that_appears_during_a_run_is_not_replaced() {
    let shop = shop();
    mknodat(CWD, shop.path("pipe"), FileType::Fifo, Mode::RWXU, 0).unwrap();
    for (force, name) in [("", "out-1.csv"), (" --force", "out.csv")] {
        let words = format!("run pagerank g.tegula --personalize pipe -o out.csv{force}");
        let child = shop.start(&words);
        // This opens once the run reads the pipe; by then it has checked the output.
        let mut seeds = File::options().write(true).open(shop.path("pipe")).unwrap();
        shop.write("out.csv", "precious");
        seeds.write_all(b"0\n").unwrap();
        drop(seeds);
        let output = child.wait_with_output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        let expected = if force.is_empty() { 1 } else { 0 };
        assert_eq!(output.status.code(), Some(expected), "{err}");
        if force.is_empty() {
            assert_eq!(shop.read("out.csv"), b"precious");
            assert!(err.contains("out.csv was created during the run"), "{err}");
            assert!(err.contains("out-1.csv"), "{err}");
            fs::remove_file(shop.path("out.csv")).unwrap();
        }
        assert!(shop.read(name).starts_with(b"vertex,rank\n"), "{err}");
    }
    assert_eq!(shop.names(), ["g.el", "g.tegula", "out-1.csv", "out.csv", "pipe"]);
}

#[test]
fn only_one_of_several_runs_gets_the_same_output() {
    let shop = shop();
    for (words, name) in [
        ("run wcc g.tegula -o out.csv", "out"),
        ("generate path --vertices 90000 -o path.el", "path"),
    ] {
        let started: Vec<_> = (0..4).map(|_| shop.start(words)).collect();
        let codes =
            started.into_iter().map(|child| child.wait_with_output().unwrap().status.code());
        let mut codes: Vec<_> = codes.collect();
        codes.sort_unstable();
        assert_eq!(codes, [Some(0), Some(1), Some(1), Some(1)]);
        let names = shop.names().into_iter().filter(|file| file.contains(name));
        let written: Vec<Vec<u8>> = names.map(|file| shop.read(&file)).collect();
        assert!(written.iter().all(|table| *table == written[0]), "all that is there is whole");
    }
    assert!(!shop.names().iter().any(|name| name.starts_with('.')), "{:?}", shop.names());
}

#[test]
fn an_output_that_is_no_plain_file_is_used_or_refused() {
    let shop = shop();
    fs::create_dir(shop.path("folder.csv")).unwrap();
    for (words, name) in
        [("run wcc g.tegula", "folder.csv"), ("generate path --vertices 9", "f.el")]
    {
        fs::create_dir_all(shop.path("f.el")).unwrap();
        for force in ["", "--force"] {
            shop.tegula(&format!("{words} -o {name} {force}")).failed(1, &["is a directory"]);
        }
    }
    shop.write("plain.csv", "precious");
    std::os::unix::fs::symlink("plain.csv", shop.path("link.csv")).unwrap();
    std::os::unix::fs::symlink("nowhere", shop.path("lost.csv")).unwrap();
    for name in ["link.csv", "lost.csv"] {
        shop.tegula(&format!("run wcc g.tegula -o {name}")).failed(1, &[name, "--force"]);
    }
    shop.tegula("run wcc g.tegula -o link.csv --force").done();
    assert_eq!(shop.read("plain.csv"), TABLE.as_bytes());
    assert!(shop.path("link.csv").is_symlink());
    shop.tegula("run wcc g.tegula -o /dev/null --format csv").done();
    let words = "mkfifo p.csv; cat p.csv & $T run wcc g.tegula -o p.csv --quiet; wait";
    assert_eq!(shop.shell(words).done().out, TABLE);
}

/// Returns the output of the command on a terminal of 80 columns, which `script` provides.
fn on_terminal(shop: &Shop, words: &str) -> Option<Said> {
    if !has_program("script") {
        return None;
    }
    let call = format!("stty cols 80; {} {words}", env!("CARGO_BIN_EXE_tegula"));
    let mut script = Command::new("script");
    script.args(["-qec", &call, "/dev/null"]).current_dir(shop.path("")).env("TERM", "xterm");
    Some(said(script.env("NO_COLOR", "1")))
}

#[test]
fn a_terminal_is_shown_no_controls_and_no_binary_table() {
    let shop = Shop::new();
    shop.write("g.tsv", "a\u{1b}[31m\tb\n");
    shop.tegula("import g.tsv --format tsv -o g.tegula --no-header").done();
    for words in ["run wcc g.tegula", "run wcc g.tegula -o -", "run wcc g.tegula --top 1 --quiet"] {
        let Some(said) = on_terminal(&shop, words) else { return };
        assert!(said.out.contains("a\\u{1b}[31m") && !said.out.contains("a\u{1b}"), "{}", said.out);
    }
    for format in ["parquet", "arrow", "npy"] {
        let words = format!("run wcc g.tegula -o - --format {format}");
        let said = on_terminal(&shop, &words).unwrap();
        assert_eq!(said.code, Some(2), "{}", said.out);
        assert!(said.out.contains("a terminal shows only tables of text"), "{}", said.out);
    }
}

#[test]
fn a_terminal_is_shown_the_first_rows_and_told_of_the_rest() {
    let shop = Shop::new();
    shop.tegula("generate path --vertices 1234 -o g.el").done();
    shop.tegula("import g.el -o g.tegula").done();
    let Some(Said { out: text, .. }) = on_terminal(&shop, "run wcc g.tegula") else { return };
    let rows = text.lines().filter(|line| line.contains("\t0"));
    assert_eq!(rows.count(), 20, "{text}");
    assert!(text.contains("… 1,214 more rows; -o FILE writes all of them"), "{text}");
    let piped = shop.tegula("run wcc g.tegula").done();
    assert_eq!(piped.out.lines().count(), 1235);
    assert!(!piped.err.contains("more rows"), "{}", piped.err);
}
