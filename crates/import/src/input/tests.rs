//! Tests that need private parts: block boundaries, streams, and buffers smaller than users can
//! set.

use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use proptest::prelude::*;
use tegula_machine::Error as MachineError;
use tegula_machine::threads::{Cancel, Progress, ProgressUnit, Silent};
use tegula_store::{At, Diagnostic, Error, Hint, Place, Result};
use tegula_testkit::input_files::gzip;

use super::reader::Sizes;
use super::{EdgeChunk, Ends, Format, IdKind, Input, InputOptions};

/// An edge in the widest types that a chunk can have.
type Edge = (String, String, Option<f32>);

fn edges_of(chunk: EdgeChunk<'_>) -> Vec<Edge> {
    let ends: Vec<(String, String)> = match chunk.ends {
        Ends::Pairs32(pairs) => pairs.iter().map(|[s, t]| (s.to_string(), t.to_string())).collect(),
        Ends::Pairs64(pairs) => pairs.iter().map(|[s, t]| (s.to_string(), t.to_string())).collect(),
        Ends::Strings { sources, targets } => {
            let text = |bytes: &[u8]| std::str::from_utf8(bytes).expect("ids are UTF-8").to_owned();
            sources.iter().zip(targets.iter()).map(|(s, t)| (text(s), text(t))).collect()
        }
    };
    let weight = |index| chunk.weights.map(|weights| weights[index]);
    ends.into_iter().enumerate().map(|(index, (s, t))| (s, t, weight(index))).collect()
}

/// Reads with the given sizes. With one worker the edges are in the order of the input.
fn read(input: &Input, sizes: Sizes) -> Result<Vec<Edge>> {
    let edges = Mutex::new(Vec::new());
    input.read_sized(sizes, &Silent, &Cancel::default(), &|chunk| {
        assert!(!chunk.is_empty() && chunk.len() <= sizes.chunk_edges);
        edges.lock().expect("no sink panics").extend(edges_of(chunk));
        Ok(())
    })?;
    Ok(edges.into_inner().expect("no sink panics"))
}

fn sizes(workers: usize, block_bytes: usize, chunk_edges: usize) -> Sizes {
    Sizes { workers, block_bytes, chunk_edges, line_bytes_max: 1 << 20 }
}

/// The text format with blanks as separators, parsed in the plainest way.
fn naive(text: &str, weighted: bool) -> Vec<Edge> {
    let lines = text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line).trim());
    let edges = lines.filter(|line| !line.is_empty() && !line.starts_with(['#', '%']));
    let edge = |line: &str| {
        let fields: Vec<&str> = line.split([' ', '\t']).filter(|field| !field.is_empty()).collect();
        let weight = weighted.then(|| fields[2].parse().expect("the test's weights are numbers"));
        (fields[0].to_owned(), fields[1].to_owned(), weight)
    };
    edges.map(edge).collect()
}

fn text_input(text: &str, options: &InputOptions) -> Input {
    Input::from_reader(Box::new(Cursor::new(text.as_bytes().to_vec())), options)
        .expect("a readable text")
}

const LINES: &str = "# a header\r\n1 2 0.5\n\n  33\t444 \t 1e3 extra\r\n%c\n\
    5 18446744073709551615 -2\n\n123456789 1234567890123456 7\n#\n7 8 9";

#[test]
fn every_block_size_and_chunk_size_gives_the_same_edges() {
    let expected = naive(LINES, true);
    assert_eq!(expected.len(), 5);
    for ids in [IdKind::Integer, IdKind::String] {
        for block_bytes in 1..LINES.len() + 2 {
            for chunk_edges in [1, 2, 100] {
                let options = InputOptions { weighted: true, ids, ..InputOptions::default() };
                let input = text_input(LINES, &options);
                let edges = read(&input, sizes(1, block_bytes, chunk_edges))
                    .expect("the text is well-formed");
                assert_eq!(edges, expected, "blocks of {block_bytes} bytes");
            }
        }
    }
}

#[test]
fn a_fault_keeps_its_line_at_every_block_size_and_number_of_workers() {
    let text = "# c\n1 2\r\n\n3 4\n5 oops\n6 7\n8 also\n9 10\n";
    for block_bytes in 1..text.len() + 2 {
        for workers in [1, 2, 3, 8] {
            let input = text_input(text, &InputOptions::default());
            match read(&input, sizes(workers, block_bytes, 4)) {
                Err(Error::BadInput { place, problem }) => {
                    assert_eq!(place, Place { file: PathBuf::from("-"), at: At::Line(5) });
                    assert_eq!(problem.message, "the id `oops` is not an integer");
                }
                other => panic!("expected a fault in line 5, got {other:?}"),
            }
        }
    }
}

/// Gives `bytes` a few at a time, then fails.
struct Broken {
    bytes: Cursor<Vec<u8>>,
}

impl Read for Broken {
    fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        let most = space.len().min(3);
        match self.bytes.read(&mut space[..most])? {
            0 => Err(io::Error::from_raw_os_error(5)),
            read => Ok(read),
        }
    }
}

/// A text whose fault comes after its head, which is read before any edge.
fn long_text(fault: &str) -> Vec<u8> {
    let lines: String = (0..5000).map(|line| format!("{line} {}\n", line + 1)).collect();
    (lines + fault).into_bytes()
}

#[test]
fn a_stream_that_breaks_off_is_reported_after_the_faults_before_it() {
    for block_bytes in [7, 1 << 10, 1 << 20] {
        let outcome = |fault| {
            let broken = Broken { bytes: Cursor::new(long_text(fault)) };
            let input = Input::from_reader(Box::new(broken), &InputOptions::default())
                .expect("the head is fine");
            read(&input, sizes(3, block_bytes, 64)).expect_err("the stream breaks off")
        };
        assert!(matches!(outcome("1 "), Error::Machine(MachineError::Io { action: "read", .. })));
        assert!(
            matches!(outcome("1 x\n2"), Error::BadInput { place, .. } if place.at == At::Line(5001))
        );
    }
}

#[test]
fn a_compressed_stream_is_recognised_and_can_be_read_once() {
    let stored = gzip(LINES.as_bytes());
    let input = Input::from_reader(Box::new(Cursor::new(stored)), &InputOptions::default())
        .expect("a text");
    assert_eq!(input.total_bytes(), None);
    assert!(!input.is_repeatable());
    assert_eq!(read(&input, sizes(2, 8, 1)).expect("well-formed").len(), 5);
    let again = read(&input, sizes(1, 8, 1)).expect_err("the stream is used up");
    assert!(again.to_string().contains("only once"), "{again}");
}

#[test]
fn a_line_that_never_ends_is_refused_where_it_begins() {
    for (before, line) in [("", 1), ("# c\n1 2\n3 4\n", 4)] {
        let endless = Cursor::new(before.to_owned().into_bytes()).chain(io::repeat(b'1'));
        let input = Input::from_reader(Box::new(endless), &InputOptions::default());
        let error = input.and_then(|input| read(&input, sizes(2, 1 << 16, 64)));
        match error.expect_err("there is no line") {
            Error::BadInput { place, problem: Diagnostic { message, .. } } => {
                assert_eq!(place.at, At::Line(line));
                assert!(message.contains("the line is longer than"), "{message}");
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn edges_are_found_after_any_number_of_comments() {
    let comments = "# a long licence\n".repeat(300_000);
    let options = InputOptions { memory: 1 << 20, ..InputOptions::default() };
    for (text, line) in [("src,dst\n1,2\n3,4\n3,x\n", 300_004), ("1 2\n3 4\n3 x\n", 300_003)] {
        let input = text_input(&format!("\u{feff}{comments}{text}"), &options);
        let edges = Mutex::new(Vec::new());
        let error = input.read_sized(sizes(1, 64, 1), &Silent, &Cancel::default(), &|chunk| {
            edges.lock().expect("no sink panics").extend(edges_of(chunk));
            Ok(())
        });
        let error = error.expect_err("the last line is no edge");
        assert!(matches!(error, Error::BadInput { place, .. } if place.at == At::Line(line)));
        let edges = edges.into_inner().expect("no sink panics");
        let expected = [("1", "2"), ("3", "4")].map(|(s, t)| (s.to_owned(), t.to_owned(), None));
        assert_eq!(edges, expected);
    }
}

#[test]
fn skipped_rows_are_the_same_for_every_block_size_and_number_of_workers() {
    let text = "# c\n1 2\n3\n4 5\nx y\n\n6 7\n8 -1\n9 10\n";
    for ids in [IdKind::Integer, IdKind::String] {
        let bad = if ids == IdKind::Integer { 3 } else { 1 };
        for skip_bad_rows in 1..=3 {
            for block_bytes in 1..text.len() + 2 {
                for workers in [1, 2, 5] {
                    let options = InputOptions { ids, skip_bad_rows, ..InputOptions::default() };
                    let input = text_input(text, &options);
                    let sizes = sizes(workers, block_bytes, 2);
                    let count = Mutex::new(0);
                    let read = input.read_sized(sizes, &Silent, &Cancel::default(), &|chunk| {
                        *count.lock().expect("no sink panics") += chunk.len();
                        Ok(())
                    });
                    match read {
                        Ok(rows) => {
                            assert!(bad <= skip_bad_rows);
                            assert_eq!(rows.bad_rows.count, bad);
                            let (place, _) = rows.bad_rows.first.expect("there are some");
                            assert_eq!(place.at, At::Line(3));
                            let edges = if ids == IdKind::Integer { 4 } else { 6 };
                            assert_eq!(count.into_inner().expect("no sink panics"), edges);
                        }
                        Err(Error::BadInput { place, problem: Diagnostic { message, hints } }) => {
                            assert!(bad > skip_bad_rows);
                            let too_many = [5, 8][skip_bad_rows as usize - 1];
                            assert_eq!(place.at, At::Line(too_many), "{message}");
                            assert!(message.contains("the first is -, line 3: expected 2 columns"));
                            assert_eq!(hints.last(), Some(&Hint::raise("skip_bad_rows")));
                        }
                        Err(other) => panic!("{other:?}"),
                    }
                }
            }
        }
    }
}

#[test]
fn the_first_failure_of_the_sink_ends_the_reading() {
    let text: String = (0..10_000).map(|line| format!("{line} 0\n")).collect();
    for workers in [1, 2, 8] {
        let input = text_input(&text, &InputOptions::default());
        let refuse = |chunk: EdgeChunk<'_>| match chunk.ends {
            Ends::Pairs64(pairs) if pairs.iter().any(|[source, _]| *source >= 500) => {
                Err(Error::io("write", "out")(io::Error::from_raw_os_error(28)))
            }
            _ => Ok(()),
        };
        let result = input.read_sized(sizes(workers, 64, 8), &Silent, &Cancel::default(), &refuse);
        assert!(
            matches!(result, Err(Error::Machine(MachineError::Io { action: "write", .. }))),
            "{result:?}"
        );
    }
}

#[test]
fn a_sink_that_panics_is_an_error() {
    let input = text_input("1 2\n3 4\n", &InputOptions::default());
    let panics = |_: EdgeChunk<'_>| -> Result<()> { panic!("the sink broke") };
    let result = input.read_sized(sizes(2, 4, 1), &Silent, &Cancel::default(), &panics);
    assert!(
        matches!(result, Err(Error::Machine(MachineError::WorkerFailed { detail })) if detail == "the sink broke")
    );
}

#[test]
fn cancelling_stops_before_the_next_block() {
    let text: String = (0..1000).map(|line| format!("{line} 0\n")).collect();
    let input = text_input(&text, &InputOptions::default());
    let cancel = Cancel::default();
    let chunks = Mutex::new(0);
    let result = input.read_sized(sizes(1, 16, 1000), &Silent, &cancel, &|_| {
        *chunks.lock().expect("no sink panics") += 1;
        cancel.cancel();
        Ok(())
    });
    assert!(matches!(result, Err(Error::Machine(MachineError::Cancelled))));
    assert_eq!(*chunks.lock().expect("no sink panics"), 1);
}

/// Adds up the reported progress.
#[derive(Default)]
struct Watch(Mutex<(Option<u64>, u64, u32)>);

impl Progress for Watch {
    fn begin(&self, _stage: &str, total: Option<u64>, unit: ProgressUnit) {
        assert_eq!(unit, ProgressUnit::Bytes);
        self.0.lock().expect("no panics").0 = total;
    }
    fn advance(&self, done: u64) {
        self.0.lock().expect("no panics").1 += done;
    }
    fn end(&self) {
        self.0.lock().expect("no panics").2 += 1;
    }
}

#[test]
fn progress_adds_up_to_the_size_of_the_files() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let put = |name: &str, bytes: &[u8]| {
        std::fs::write(folder.path().join(name), bytes).expect("writable")
    };
    put("a.txt", LINES.as_bytes());
    put("b.txt.zst", &zstd::encode_all(LINES.as_bytes(), 1).expect("memory takes it"));
    put("c.bin32", &[0; 800]);
    let input =
        Input::resolve(&[folder.path().to_owned()], &InputOptions::default()).expect("three files");
    let watch = Watch::default();
    let ignore = |_: EdgeChunk<'_>| Ok(());
    input.read_sized(sizes(2, 64, 10), &watch, &Cancel::default(), &ignore).expect("well-formed");
    let (total, done, ends) = *watch.0.lock().expect("no panics");
    assert_eq!((total, ends), (input.total_bytes(), 1));
    assert_eq!(Some(done), total);
}

#[test]
fn the_sizes_stay_within_the_memory_given() {
    for memory in [1 << 10, 1 << 20, 64 << 20] {
        let options = InputOptions { threads: 8, memory, ..InputOptions::default() };
        let sizes = Sizes::for_options(&options, 0);
        assert!(sizes.workers >= 1);
        let worker = sizes.block_bytes as u64 + 20 * sizes.chunk_edges as u64;
        assert!(sizes.workers as u64 * worker <= memory.max(64 << 10), "{sizes:?} in {memory}");
    }
}

#[test]
fn raw_pairs_are_cut_at_records_of_any_block_size() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path: &Path = &folder.path().join("x.bin64");
    let bytes: Vec<u8> =
        (0..10u64).flat_map(|id| [id, id + 1]).flat_map(u64::to_le_bytes).collect();
    std::fs::write(path, bytes).expect("writable");
    let input =
        Input::resolve(&[path.to_owned()], &InputOptions::default()).expect("whole records");
    for block_bytes in [1, 15, 16, 33, 1000] {
        let edges = read(&input, sizes(1, block_bytes, 4)).expect("well-formed");
        let expected: Vec<Edge> =
            (0..10).map(|id| (format!("{id}"), format!("{}", id + 1), None)).collect();
        assert_eq!(edges, expected);
    }
}

/// A line of text as people write them.
fn line() -> impl Strategy<Value = String> {
    let id = prop_oneof![any::<u64>(), 0..1000u64, 10_000_000..100_000_000u64, 0..1u64 << 53];
    let gap = prop_oneof![Just(" "), Just("\t"), Just("  "), Just(" \t")];
    let edge = (id.clone(), gap.clone(), id, gap, -1000i32..1000, 0..4u8, "[ #a-z0-9.]{0,6}")
        .prop_map(|(source, first, target, second, weight, scale, rest)| {
            let weight = f64::from(weight) / 10f64.powi(i32::from(scale));
            format!("{source}{first}{target}{second}{weight} {rest}")
        });
    let ends = prop_oneof![4 => Just(""), 1 => Just("\r"), 1 => Just(" \r")];
    let passed = prop_oneof![Just(String::new()), Just("  ".to_owned()), "[#%][ a-z]{0,9}"];
    (prop_oneof![6 => edge, 1 => passed], prop_oneof![6 => Just(""), 1 => Just("  ")], ends)
        .prop_map(|(line, indent, end)| format!("{indent}{line}{end}"))
}

/// Any byte, mostly one with a meaning in the format.
fn byte() -> impl Strategy<Value = u8> {
    let telling = b"19 \n\r\t,;\"#-";
    prop_oneof![8 => proptest::sample::select(&telling[..]), 1 => any::<u8>()]
}

proptest! {
    #[test]
    fn any_text_gives_what_a_naive_parser_gives(
        lines in proptest::collection::vec(line(), 0..40),
        newline_at_end: bool,
        weighted: bool,
        strings: bool,
        block_bytes in 1usize..300,
        chunk_edges in 1usize..10,
        workers in 1usize..4,
    ) {
        let mut text = lines.join("\n");
        if newline_at_end {
            text.push('\n');
        }
        let ids = if strings { IdKind::String } else { IdKind::Integer };
        let format = Format::Text;
        // Otherwise, further integers in some lines would look like adjacency lists.
        let no_header = true;
        let options = InputOptions { weighted, ids, format, no_header, ..InputOptions::default() };
        let input = text_input(&text, &options);
        let edges = read(&input, sizes(workers, block_bytes, chunk_edges));
        let mut edges = edges.expect("the text is well-formed");
        let mut expected = naive(&text, weighted);
        if workers > 1 {
            edges.sort_by(|a, b| format!("{a:?}").cmp(&format!("{b:?}")));
            expected.sort_by(|a, b| format!("{a:?}").cmp(&format!("{b:?}")));
        }
        prop_assert_eq!(edges, expected);
    }

    #[test]
    fn no_bytes_make_the_readers_panic(
        bytes in proptest::collection::vec(byte(), 0..200),
        block_bytes in 1usize..50,
        csv: bool,
        strings: bool,
    ) {
        let format = if csv { Format::Csv } else { Format::Text };
        let ids = if strings { IdKind::String } else { IdKind::Auto };
        let options = InputOptions { format, ids, ..InputOptions::default() };
        if let Ok(input) = Input::from_reader(Box::new(Cursor::new(bytes)), &options) {
            let result = read(&input, sizes(1, block_bytes, 3));
            prop_assert!(!matches!(result, Err(Error::Machine(MachineError::WorkerFailed { .. }))), "{:?}", result);
        }
    }
}
