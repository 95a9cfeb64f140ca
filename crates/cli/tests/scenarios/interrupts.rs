//! Ctrl-C, and readers that leave early.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command};

use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustix::process::{Pid, Signal, kill_process};
use tegula_testkit::EdgeList;

use crate::shop::{Shop, has_program, said, wait_until};

/// Waits until the process catches interrupts: before that they end it at once.
fn wait_for_handler(child: &Child) {
    let status = format!("/proc/{}/status", child.id());
    let is_caught = |mask: &str| {
        let mask = u64::from_str_radix(mask.trim(), 16).unwrap();
        mask >> (Signal::INT.as_raw() - 1) & 1 == 1
    };
    wait_until(|| {
        let status = std::fs::read_to_string(&status).unwrap();
        status.lines().find_map(|line| line.strip_prefix("SigCgt:")).is_some_and(is_caught)
    });
}

fn interrupt(child: &Child) {
    kill_process(Pid::from_child(child), Signal::INT).unwrap();
}

#[track_caller]
fn assert_interrupted(child: Child) {
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(said.contains("interrupted"), "{said}");
}

/// An import that has begun and waits for more of its input.
fn waiting_import(shop: &Shop) -> (Child, ChildStdin) {
    let mut child = shop.start("import - -o g.tegula");
    let mut input = child.stdin.take().unwrap();
    input.write_all("1 2\n".repeat(200_000).as_bytes()).unwrap();
    wait_until(|| !shop.names().is_empty());
    (child, input)
}

#[test]
fn an_import_that_waits_for_input_is_interrupted() {
    let shop = Shop::new();
    let (child, _input) = waiting_import(&shop);
    interrupt(&child);
    assert_interrupted(child);
    assert!(shop.names().is_empty(), "{:?}", shop.names());
}

#[test]
fn an_import_to_which_nothing_comes_is_interrupted() {
    let shop = Shop::new();
    mknodat(CWD, shop.path("pipe"), FileType::Fifo, Mode::RWXU, 0).unwrap();
    for source in ["-", "pipe"] {
        let mut child = shop.start(&format!("import {source} -o g.tegula"));
        let _input = child.stdin.take();
        wait_for_handler(&child);
        interrupt(&child);
        assert_interrupted(child);
        assert_eq!(shop.names(), ["pipe"]);
    }
}

#[test]
fn a_second_interrupt_leaves_nothing_either() {
    let shop = Shop::new();
    let (child, _input) = waiting_import(&shop);
    // Two signals of one kind may become one.
    interrupt(&child);
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(130));
    assert!(shop.names().is_empty(), "{:?}", shop.names());
}

#[test]
fn what_a_killed_import_left_is_removed_by_the_next() {
    let shop = Shop::new();
    let (mut killed, _input) = waiting_import(&shop);
    killed.kill().unwrap();
    killed.wait().unwrap();
    let left = shop.names();
    let (mut running, input) = waiting_import(&shop);
    wait_until(|| shop.names().len() == 1 && shop.names() != left);
    let in_work = shop.names().remove(0);
    shop.import(&EdgeList::new(vec![(1, 2)]), "");
    assert_eq!(shop.names(), [&in_work, "g.el", "g.tegula"]);
    drop(input);
    // It finds the place taken.
    assert_eq!(running.wait().unwrap().code(), Some(1));
    assert_eq!(shop.names(), ["g.el", "g.tegula"]);
}

#[test]
fn an_interrupted_run_leaves_no_result() {
    let shop = Shop::new();
    shop.tegula("generate rmat --scale 10 -o g.el").done();
    shop.tegula("import g.el -o g.tegula").done();
    let child = shop.start("run pagerank g.tegula --iterations 1000000000 -o out.csv");
    wait_for_handler(&child);
    interrupt(&child);
    assert_interrupted(child);
    assert_eq!(shop.names(), ["g.el", "g.tegula"]);
}

#[test]
fn an_interrupted_generator_leaves_no_file() {
    let shop = Shop::new();
    let child = shop.start("generate rmat --scale 30 -o g.el");
    wait_until(|| !shop.names().is_empty());
    interrupt(&child);
    assert_interrupted(child);
    assert!(shop.names().is_empty(), "{:?}", shop.names());
}

#[test]
fn a_closed_pipe_ends_the_table_quietly() {
    let shop = Shop::new();
    shop.tegula("generate path --vertices 100000 -o g.el").done();
    shop.tegula("import g.el -o g.tegula").done();
    let mut child = shop.start("run wcc g.tegula --quiet");
    let mut reader = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    assert_eq!(line, "vertex\tcomponent\n");
    drop(reader);
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
    assert_eq!(output.status.code(), Some(0));
}

/// What the command says on a terminal of 80 columns; `script` gives it one.
fn on_terminal(shop: &Shop, words: &str) -> Option<String> {
    if !has_program("script") {
        return None;
    }
    let call = format!("stty cols 80; {} {words}", env!("CARGO_BIN_EXE_tegula"));
    let mut script = Command::new("script");
    script.args(["-qec", &call, "/dev/null"]).current_dir(shop.path("")).env("TERM", "xterm");
    Some(said(&mut script).out)
}

#[test]
fn a_terminal_is_shown_the_first_rows_and_told_of_the_rest() {
    let shop = Shop::new();
    shop.tegula("generate path --vertices 1234 -o g.el").done();
    shop.tegula("import g.el -o g.tegula").done();
    let Some(text) = on_terminal(&shop, "run wcc g.tegula") else { return };
    let rows = text.lines().filter(|line| line.contains("\t0"));
    assert_eq!(rows.count(), 20, "{text}");
    assert!(text.contains("… 1,214 more rows; -o FILE writes all of them"), "{text}");
    let piped = shop.tegula("run wcc g.tegula").done();
    assert_eq!(piped.out.lines().count(), 1235);
    assert!(!piped.err.contains("more rows"), "{}", piped.err);
}
