//! Every format and compression gives the same edges.

use std::fs;
use std::sync::Arc;

use crate::input_support::{Edge, folder, import, read, sorted};
use arrow_array::{
    ArrayRef, Float64Array, Int32Array, Int64Array, LargeStringArray, StringArray, UInt64Array,
};
use tegula_import::input::{Format, IdKind, Input, InputOptions};
use tegula_testkit::input_files::{gzip, put, put_table};

/// Edges with ids and weights of many lengths; enough for several blocks.
fn sample() -> Vec<(u64, u64, f32)> {
    let edge = |n: u64| {
        let wide = n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (wide >> (32 + n % 32), (n * 7) % 1000, (n % 17) as f32 / 4.0 - 2.0)
    };
    (0..20_000).map(edge).collect()
}

fn expected(weighted: bool) -> Vec<Edge> {
    let edge = |(s, t, w): (u64, u64, f32)| (s.to_string(), t.to_string(), weighted.then_some(w));
    sorted(sample().into_iter().map(edge).collect())
}

fn text(separator: &str, line_end: &str) -> Vec<u8> {
    let lines =
        sample().into_iter().map(|(s, t, w)| format!("{s}{separator}{t}{separator}{w}{line_end}"));
    lines.collect::<String>().into_bytes()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 1).expect("memory takes it")
}

/// Two members or frames, one after the other.
fn twice(bytes: &[u8], compress: fn(&[u8]) -> Vec<u8>) -> Vec<u8> {
    let (first, second) = bytes.split_at(bytes.len() / 3);
    [compress(first), compress(second)].concat()
}

#[test]
fn every_text_and_compression_gives_the_same_edges() {
    let folder = folder();
    for (name, separator) in [
        ("a.txt", " "),
        ("b.el", "\t"),
        ("c.csv", ","),
        ("d.tsv", "\t"),
        ("e.wel", ";"),
        ("f", ", "),
    ] {
        for line_end in ["\n", "\r\n"] {
            let plain = text(separator, line_end);
            let stored = [
                (name.to_owned(), plain.clone()),
                (format!("{name}.gz"), twice(&plain, gzip)),
                (format!("{name}.zst"), twice(&plain, zstd)),
                (format!("unnamed-gz-{name}"), gzip(&plain)),
            ];
            for (name, bytes) in stored {
                let path = put(&folder, &name, &bytes);
                for weighted in [false, true] {
                    let options =
                        InputOptions { weighted, memory: 1 << 20, ..InputOptions::default() };
                    let edges =
                        import(&path, &options).unwrap_or_else(|error| panic!("{name}: {error}"));
                    assert!(edges == expected(weighted), "{name}, weighted {weighted}");
                }
            }
        }
    }
}

#[test]
fn raw_pairs_of_both_widths_give_the_same_edges() {
    let folder = folder();
    for weighted in [false, true] {
        let weight = |w: f32| if weighted { w.to_le_bytes().to_vec() } else { Vec::new() };
        let narrow = |(s, t, w): (u64, u64, f32)| {
            [&(s as u32).to_le_bytes()[..], &(t as u32).to_le_bytes(), &weight(w)].concat()
        };
        let wide = |(s, t, w): (u64, u64, f32)| {
            [&s.to_le_bytes()[..], &t.to_le_bytes(), &weight(w)].concat()
        };
        let narrow =
            put(&folder, "x.bin32", &sample().into_iter().flat_map(narrow).collect::<Vec<u8>>());
        let wide =
            put(&folder, "x.bin64", &sample().into_iter().flat_map(wide).collect::<Vec<u8>>());
        let options = InputOptions { weighted, ..InputOptions::default() };
        for (path, width) in [(&narrow, 32), (&wide, 64)] {
            let input =
                Input::resolve(std::slice::from_ref(path), &options).expect("whole records");
            assert!(input.is_quick_to_reread());
            assert!(
                read(&input).expect("well-formed") == expected(weighted),
                "{width} bits, weighted {weighted}"
            );
        }
        let input = Input::resolve(&[narrow, wide], &options).expect("whole records");
        assert!(input.is_quick_to_reread());
        let twice = sorted([expected(weighted), expected(weighted)].concat());
        assert!(read(&input).expect("well-formed") == twice, "both, weighted {weighted}");
    }
}

#[test]
fn parquet_gives_the_same_edges_whatever_its_types_and_names() {
    let folder = folder();
    let sources = || sample().into_iter().map(|(s, _, _)| s);
    let targets = || sample().into_iter().map(|(_, t, _)| t);
    let weights: ArrayRef = Arc::new(Float64Array::from_iter_values(
        sample().into_iter().map(|(_, _, w)| f64::from(w)),
    ));
    let unsigned: ArrayRef = Arc::new(UInt64Array::from_iter_values(sources()));
    let signed: ArrayRef = Arc::new(Int64Array::from_iter_values(targets().map(|t| t as i64)));
    let short: ArrayRef = Arc::new(Int32Array::from_iter_values(targets().map(|t| t as i32)));
    let extra: ArrayRef =
        Arc::new(StringArray::from_iter_values(targets().map(|t| format!("x{t}"))));
    let named: ArrayRef = Arc::new(StringArray::from_iter_values(sources().map(|s| s.to_string())));
    let large: ArrayRef =
        Arc::new(LargeStringArray::from_iter_values(targets().map(|t| t.to_string())));
    let tables = [
        vec![("src", unsigned.clone()), ("dst", signed.clone()), ("weight", weights.clone())],
        vec![
            ("Weight", weights.clone()),
            ("target", short.clone()),
            ("note", extra.clone()),
            ("source", unsigned.clone()),
        ],
        vec![
            (":START_ID", named.clone()),
            (":TYPE", extra),
            (":END_ID", large),
            ("weight:float", weights.clone()),
        ],
        vec![("src", named), ("dst", short), ("w", weights)],
    ];
    for (number, columns) in tables.into_iter().enumerate() {
        for group_rows in [7_001, 1 << 20] {
            let path = put_table(&folder, "table.parquet", columns.clone(), group_rows);
            for (weighted, threads) in [(false, 1), (true, 3)] {
                let options = InputOptions { weighted, threads, ..InputOptions::default() };
                let edges = import(&path, &options)
                    .unwrap_or_else(|error| panic!("table {number}: {error}"));
                assert!(edges == expected(weighted), "table {number}, weighted {weighted}");
            }
        }
    }
}

#[test]
fn integer_columns_can_be_read_as_strings() {
    let folder = folder();
    let column: ArrayRef = Arc::new(Int32Array::from(vec![5, -6]));
    let path = put_table(&folder, "x.pq", vec![("src", column.clone()), ("dst", column)], 10);
    let options = InputOptions { ids: IdKind::String, ..InputOptions::default() };
    let edges = import(&path, &options).expect("strings may be anything");
    assert_eq!(edges, [("-6".into(), "-6".into(), None), ("5".into(), "5".into(), None)]);
}

#[test]
fn every_number_of_threads_gives_the_same_edges() {
    let folder = folder();
    let paths = [
        put(&folder, "a.txt", &text(" ", "\n")),
        put(&folder, "b.txt.gz", &gzip(&text("\t", "\n"))),
        put(&folder, "c.bin32", &[0; 8000]),
    ];
    let one = |threads| {
        let options = InputOptions { threads, memory: 1 << 20, ..InputOptions::default() };
        let input = Input::resolve(&paths, &options).expect("three files");
        read(&input).expect("well-formed")
    };
    let expected = one(1);
    assert_eq!(expected.len(), 41_000);
    for threads in [2, 3, 8] {
        assert!(one(threads) == expected, "{threads} threads");
    }
}

#[test]
fn a_folder_is_its_files_and_those_of_subfolders_without_hidden_ones() {
    let folder = folder();
    put(&folder, "b.txt", b"1 2\n");
    put(&folder, "a.csv", b"src,dst\n3,4\n");
    put(&folder, ".hidden", b"not a graph\n");
    put(&folder, "_SUCCESS", b"");
    fs::create_dir_all(folder.path().join("year=2020/_temporary")).expect("writable");
    put(&folder, "year=2020/part-0", b"5 6\n");
    put(&folder, "year=2020/_temporary/part-1", b"not yet a graph\n");
    let one_more = put(&folder, ".more", b"7 8");
    let paths = [folder.path().to_owned(), one_more];
    let input = Input::resolve(&paths, &InputOptions::default()).expect("four files");
    assert_eq!(input.total_bytes(), Some(4 + 12 + 4 + 3));
    assert!(!input.is_quick_to_reread());
    let ends: Vec<_> =
        read(&input).expect("well-formed").into_iter().map(|(s, t, _)| (s, t)).collect();
    let expected = [("1", "2"), ("3", "4"), ("5", "6"), ("7", "8")];
    assert_eq!(ends, expected.map(|(s, t)| (s.to_owned(), t.to_owned())));
}

#[test]
fn a_folder_with_other_files_is_refused_unless_told_what_they_are() {
    let folder = folder();
    put(&folder, "a.txt", b"1 2\n");
    put(&folder, "b.1", b"2 3\n");
    put(&folder, "notes.md", b"3 4\n");
    let paths = [folder.path().to_owned()];
    let refused = Input::resolve(&paths, &InputOptions::default()).expect_err("notes are no edges");
    assert!(refused.to_string().contains("notes.md: `.md` is not known"), "{refused}");
    let told = InputOptions { format: Format::Text, ..InputOptions::default() };
    let input = Input::resolve(&paths, &told).expect("three texts");
    assert_eq!(read(&input).expect("well-formed").len(), 3);
    fs::remove_file(folder.path().join("notes.md")).expect("it was there");
    std::os::unix::fs::symlink(folder.path(), folder.path().join("loop")).expect("writable");
    let refused = Input::resolve(&paths, &told).expect_err("it has no end");
    assert!(refused.to_string().contains("linked into itself"), "{refused}");
    fs::remove_file(folder.path().join("loop")).expect("it was there");
    fs::create_dir(folder.path().join("_delta_log")).expect("writable");
    let refused = Input::resolve(&paths, &told).expect_err("old versions may be there");
    assert!(refused.to_string().contains("Delta Lake"), "{refused}");
}

#[test]
fn a_named_pipe_is_read_like_standard_input() {
    let folder = folder();
    let path = folder.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&path).status().expect("mkfifo runs");
    assert!(made.success());
    let writer = std::thread::spawn({
        let path = path.clone();
        move || fs::write(path, gzip(&text(" ", "\n")))
    });
    let input = Input::resolve(&[path], &InputOptions::default()).expect("a text");
    assert_eq!(input.total_bytes(), None);
    assert!(read(&input).expect("well-formed") == expected(false));
    writer.join().expect("the writer lives").expect("the pipe takes all");
}

#[test]
fn formats_have_names() {
    for (name, format) in Format::NAMES {
        assert_eq!(name.parse(), Ok(format));
    }
    let unknown = "xml".parse::<Format>().expect_err("there is no such format");
    assert!(unknown.contains("parquet"), "{unknown}");
}
