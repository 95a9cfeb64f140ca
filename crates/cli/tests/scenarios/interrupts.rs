//! Ctrl-C and other signals, and readers that leave early.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Stdio};
use std::time::Duration;

use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustix::process::{Pid, Signal, kill_process};
use tegula_testkit::input_files::gzip;
use tegula_testkit::{EdgeList, data};

use crate::shop::{Shop, wait_until};

/// Waits until the process catches interrupts: earlier ones would end it at once.
pub fn wait_for_handler(child: &mut Child) {
    wait_for_handler_of(child, Signal::INT);
}

fn wait_for_handler_of(child: &mut Child, signal: Signal) {
    let status = format!("/proc/{}/status", child.id());
    let has_signal = |status: &str, field: &str| {
        let mask = status.lines().find_map(|line| line.strip_prefix(field)).unwrap();
        u64::from_str_radix(mask.trim(), 16).unwrap() >> (signal.as_raw() - 1) & 1 == 1
    };
    wait_until(child, || {
        let status = std::fs::read_to_string(&status).unwrap();
        // A shell starts jobs in the background so, and the tests hand it down to each child.
        assert!(
            !has_signal(&status, "SigIgn:"),
            "{signal:?} is ignored: run the tests in the foreground"
        );
        has_signal(&status, "SigCgt:")
    });
}

/// Sends what Ctrl-C sends.
pub fn interrupt(child: &Child) {
    kill_process(Pid::from_child(child), Signal::INT).unwrap();
}

#[track_caller]
fn assert_interrupted(child: Child) {
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(said.contains("interrupted"), "{said}");
}

/// Starts an import that has begun to read and waits for more input.
fn waiting_import(shop: &Shop) -> (Child, ChildStdin) {
    import_waiting_after(shop, EDGES.repeat(200_000).as_bytes())
}

const EDGES: &str = "1 2\n";

fn import_waiting_after(shop: &Shop, bytes: &[u8]) -> (Child, ChildStdin) {
    let mut child = shop.start("import - -o g.tegula");
    let mut input = child.stdin.take().unwrap();
    input.write_all(bytes).unwrap();
    wait_until(&mut child, || !shop.names().is_empty());
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
fn an_import_that_waits_for_compressed_input_is_interrupted() {
    let edges = EDGES.repeat(200_000);
    let zstd = zstd::encode_all(edges.as_bytes(), 1).unwrap();
    for whole in [gzip(edges.as_bytes()), zstd] {
        let shop = Shop::new();
        let (child, _input) = import_waiting_after(&shop, &whole[..whole.len() - 1]);
        interrupt(&child);
        assert_interrupted(child);
        assert!(shop.names().is_empty(), "{:?}", shop.names());
    }
}

#[test]
fn a_batch_that_waits_for_its_jobs_is_interrupted() {
    let shop = Shop::new();
    shop.write("e.txt", "1 2\n");
    shop.tegula("import e.txt -o g.tegula").done();
    let mut child = shop.start("run --batch - g.tegula -o out");
    let _input = child.stdin.take();
    wait_for_handler(&mut child);
    interrupt(&child);
    assert_interrupted(child);
}

#[test]
fn an_import_without_any_input_is_interrupted() {
    let shop = Shop::new();
    mknodat(CWD, shop.path("pipe"), FileType::Fifo, Mode::RWXU, 0).unwrap();
    for source in ["-", "pipe"] {
        let mut child = shop.start(&format!("import {source} -o g.tegula"));
        let _input = child.stdin.take();
        wait_for_handler(&mut child);
        interrupt(&child);
        assert_interrupted(child);
        assert_eq!(shop.names(), ["pipe"]);
    }
}

#[test]
fn a_second_interrupt_leaves_nothing_either() {
    let shop = Shop::new();
    let (child, _input) = waiting_import(&shop);
    // Two equal signals might be merged into one.
    interrupt(&child);
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(130));
    assert!(shop.names().is_empty(), "{:?}", shop.names());
}

#[test]
fn a_program_is_told_of_an_interrupt() {
    let shop = Shop::new();
    for signals in [&[Signal::INT][..], &[Signal::INT, Signal::TERM]] {
        let mut child = shop.start("import - -o g.tegula --json");
        let _input = child.stdin.take();
        wait_for_handler(&mut child);
        signals.iter().for_each(|&signal| kill_process(Pid::from_child(&child), signal).unwrap());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(130));
        let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!((&told["kind"], &told["exit_code"]), (&"cancelled".into(), &130.into()));
    }
}

#[test]
fn term_and_hup_end_an_import_in_good_order() {
    let shop = Shop::new();
    for signal in [Signal::TERM, Signal::HUP] {
        let (child, _input) = waiting_import(&shop);
        kill_process(Pid::from_child(&child), signal).unwrap();
        assert_interrupted(child);
        assert!(shop.names().is_empty(), "{:?}", shop.names());
    }
}

#[test]
fn a_signal_that_was_ignored_before_stays_ignored() {
    let shop = Shop::new();
    let mut shell = shop.shell_command("trap '' HUP INT; exec $T import - -o g.tegula");
    let mut child = shell.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all("1 2\n".repeat(200_000).as_bytes()).unwrap();
    wait_until(&mut child, || !shop.names().is_empty());
    for signal in [Signal::HUP, Signal::INT, Signal::HUP] {
        kill_process(Pid::from_child(&child), signal).unwrap();
    }
    drop(input);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(shop.names(), ["g.tegula"]);
    let mut shell = shop.shell_command("trap '' HUP INT; exec $T import - -o h.tegula");
    let mut child = shell.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let _input = child.stdin.take();
    wait_for_handler_of(&mut child, Signal::TERM);
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    assert_interrupted(child);
}

#[test]
fn the_next_import_removes_the_files_of_a_killed_one() {
    let shop = Shop::new();
    let (mut killed, _input) = waiting_import(&shop);
    killed.kill().unwrap();
    killed.wait().unwrap();
    let left = shop.names();
    let (mut running, input) = waiting_import(&shop);
    wait_until(&mut running, || shop.names().len() == 1 && shop.names() != left);
    let in_work = shop.names().remove(0);
    shop.import(&EdgeList::new(vec![(1, 2)]), "");
    assert_eq!(shop.names(), [&in_work, "g.el", "g.tegula"]);
    drop(input);
    // The name is taken by now.
    assert_eq!(running.wait().unwrap().code(), Some(1));
    assert_eq!(shop.names(), ["g.el", "g.tegula"]);
}

#[test]
fn an_interrupted_run_leaves_no_result() {
    let shop = Shop::new();
    shop.tegula("generate rmat --scale 10 -o g.el").done();
    shop.tegula("import g.el -o g.tegula").done();
    let mut child = shop.start("run pagerank g.tegula --iterations 1000000000 -o out.csv");
    wait_for_handler(&mut child);
    interrupt(&child);
    assert_interrupted(child);
    assert_eq!(shop.names(), ["g.el", "g.tegula"]);
}

/// Returns a shop with a graph whose tables are larger than a pipe's buffer, and with a pipe.
fn graph_and_pipe() -> Shop {
    let shop = Shop::new();
    shop.tegula("generate path --vertices 200000 -o g.el").done();
    shop.tegula("import g.el -o g.tegula").done();
    // Parquet stores the components of a path in some kilobytes, so it gets ranks that differ.
    shop.tegula("generate rmat --scale 16 -o r.el").done();
    shop.tegula("import r.el -o r.tegula").done();
    std::fs::remove_file(shop.path("r.el")).unwrap();
    mknodat(CWD, shop.path("pipe"), FileType::Fifo, Mode::RWXU, 0).unwrap();
    shop
}

/// Commands that write a table to the path that follows.
const WRITERS: [&str; 5] = [
    "run wcc g.tegula --format tsv -o",
    "run pagerank r.tegula --iterations 4 --format parquet -o",
    "run wcc g.tegula --format arrow -o",
    "export g.tegula --format csv -o",
    "export g.tegula --degrees --format npy -o",
];

#[test]
fn a_table_for_a_pipe_without_a_reader_is_interrupted() {
    let shop = graph_and_pipe();
    for (words, signal) in WRITERS.into_iter().zip([Signal::TERM, Signal::INT].into_iter().cycle())
    {
        let mut child = shop.start(&format!("{words} pipe"));
        wait_for_handler(&mut child);
        // By now it is still at work, or waits for the reader.
        std::thread::sleep(Duration::from_millis(200));
        kill_process(Pid::from_child(&child), signal).unwrap();
        assert_interrupted(child);
    }
    assert_eq!(shop.names(), ["g.el", "g.tegula", "pipe", "r.tegula"]);
}

#[test]
fn a_socket_that_cannot_be_opened_is_refused_at_once() {
    let shop = graph_and_pipe();
    let _socket = std::os::unix::net::UnixListener::bind(shop.path("socket")).unwrap();
    shop.tegula("run wcc g.tegula --format tsv -o socket").failed(1, &["socket"]);
}

#[test]
fn a_table_for_a_reader_that_reads_no_further_is_interrupted() {
    let shop = graph_and_pipe();
    for words in WRITERS {
        for place in ["pipe", "/dev/stdout", "-"] {
            let mut child = shop.start(&format!("{words} {place}"));
            // It opens the pipe once there is a reader. When the first byte has arrived, it fills
            // the pipe.
            let mut stdout = child.stdout.take().unwrap();
            let mut pipe = (place == "pipe").then(|| File::open(shop.path("pipe")).unwrap());
            let mut first = [0];
            match &mut pipe {
                Some(pipe) => pipe.read_exact(&mut first).unwrap(),
                None => stdout.read_exact(&mut first).unwrap(),
            }
            kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
            assert_interrupted(child);
        }
    }
    assert_eq!(shop.names(), ["g.el", "g.tegula", "pipe", "r.tegula"]);
}

#[test]
fn a_pipe_gets_the_whole_table_as_a_file_does() {
    let shop = graph_and_pipe();
    for (words, name) in WRITERS.into_iter().zip(["a", "b", "c", "d", "e"]) {
        shop.tegula(&format!("{words} {name}")).done();
        for place in ["pipe", "/dev/stdout", "-"] {
            let line = format!("$T {words} {place} | cat > got");
            let line = if place == "pipe" {
                format!("cat pipe > got & $T {words} pipe; wait")
            } else {
                line
            };
            shop.shell(&line).done();
            assert!(shop.read("got") == shop.read(name), "{words} {place}");
        }
    }
}

#[test]
fn an_interrupted_generator_leaves_no_file() {
    let shop = Shop::new();
    let mut child = shop.start("generate rmat --scale 30 -o g.el");
    wait_until(&mut child, || !shop.names().is_empty());
    interrupt(&child);
    assert_interrupted(child);
    assert!(shop.names().is_empty(), "{:?}", shop.names());
}

#[test]
fn a_reader_that_leaves_ends_the_run_quietly_but_as_a_failure() {
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
    assert_eq!(output.status.code(), Some(1), "the table was not delivered");
}

#[test]
fn an_interrupted_run_of_a_model_leaves_nothing() {
    let Some(model) = data::find("bp/Grids_15.uai") else { return };
    let shop = Shop::new();
    let swings = "--iterations 100000000 --tolerance 0 --spill-directory .";
    let words = format!("run belief-propagation --model {} {swings}", model.display());
    let mut child = shop.start(&words);
    wait_until(&mut child, || !shop.names().is_empty());
    interrupt(&child);
    assert_interrupted(child);
    assert!(shop.names().is_empty(), "{:?}", shop.names());
}
