//! Ctrl-C, and readers that leave early.

use std::io::{BufRead, BufReader, Write};
use std::process::Child;
use std::thread::sleep;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::shop::{Shop, wait_until};

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

#[test]
fn an_interrupted_import_leaves_nothing() {
    let shop = Shop::new();
    let mut child = shop.start("import - -o g.tegula");
    let mut input = child.stdin.take().unwrap();
    input.write_all("1 2\n".repeat(200_000).as_bytes()).unwrap();
    wait_until(|| !shop.names().is_empty());
    interrupt(&child);
    // The reader notices at the latest when more input or its end comes.
    sleep(Duration::from_millis(50));
    drop(input);
    assert_interrupted(child);
    assert!(shop.names().is_empty(), "{:?}", shop.names());
}

#[test]
fn an_interrupted_run_leaves_no_result() {
    let shop = Shop::new();
    shop.tegula("generate rmat --scale 10 -o g.el").done();
    shop.tegula("import g.el -o g.tegula").done();
    let child = shop.start("run pagerank g.tegula --iterations 1000000000 -o out.csv");
    // The handler is there once the process reads: it then has several threads.
    let threads = format!("/proc/{}/task", child.id());
    wait_until(|| std::fs::read_dir(&threads).is_ok_and(|tasks| tasks.count() > 1));
    sleep(Duration::from_millis(100));
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
fn a_second_interrupt_ends_it_at_once() {
    let shop = Shop::new();
    let mut child = shop.start("import - -o g.tegula");
    // Nothing ever comes: the first interrupt is not noticed.
    wait_until(|| {
        let threads = std::fs::read_dir(format!("/proc/{}/task", child.id()));
        threads.is_ok_and(|tasks| tasks.count() > 1)
    });
    interrupt(&child);
    sleep(Duration::from_millis(50));
    interrupt(&child);
    wait_until(|| !matches!(child_state(&child), Some('R' | 'S' | 'D')));
    assert_eq!(child.wait().unwrap().code(), Some(130));
}

/// The state of a process in `/proc`.
fn child_state(child: &Child) -> Option<char> {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).ok()?;
    stat.rsplit_once(") ")?.1.chars().next()
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
