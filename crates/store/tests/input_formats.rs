//! Every format and compression gives the same edges.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use arrow_array::{
    ArrayRef, Float64Array, Int32Array, Int64Array, LargeStringArray, RecordBatch, StringArray, UInt64Array,
};
use parquet::arrow::ArrowWriter;
use parquet::file::properties::WriterProperties;
use tegula_store::import::input::{EdgeChunk, Ends, Format, IdKind, Input, InputOptions, PairWidth};
use tegula_store::{Cancel, Result, Silent};
use tempfile::TempDir;

/// Source, target and weight, as text so that all kinds of ids compare.
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

/// All edges, sorted, as the readers give them in any order.
fn read(input: &Input) -> Result<Vec<Edge>> {
    let edges = Mutex::new(Vec::new());
    input.read(&Silent, &Cancel::default(), &|chunk| {
        edges.lock().expect("no sink panics").extend(edges_of(chunk));
        Ok(())
    })?;
    Ok(sorted(edges.into_inner().expect("no sink panics")))
}

fn sorted(mut edges: Vec<Edge>) -> Vec<Edge> {
    edges.sort_by(|a, b| (&a.0, &a.1).cmp(&(&b.0, &b.1)).then(a.2.partial_cmp(&b.2).expect("weights are finite")));
    edges
}

fn import(path: &Path, options: &InputOptions) -> Result<Vec<Edge>> {
    read(&Input::resolve(&[path.to_owned()], options)?)
}

/// Edges with ids and weights of many lengths; enough for several blocks.
fn sample() -> Vec<(u64, u64, f32)> {
    let edge = |n: u64| {
        let wide = n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (wide >> (32 + n % 32), (n * 7) % 1000, (n % 17) as f32 / 4.0 - 2.0)
    };
    (0..100_000).map(edge).collect()
}

fn expected(weighted: bool) -> Vec<Edge> {
    let edge = |(s, t, w): (u64, u64, f32)| (s.to_string(), t.to_string(), weighted.then_some(w));
    sorted(sample().into_iter().map(edge).collect())
}

fn text(separator: &str, line_end: &str) -> Vec<u8> {
    let lines = sample().into_iter().map(|(s, t, w)| format!("{s}{separator}{t}{separator}{w}{line_end}"));
    lines.collect::<String>().into_bytes()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).expect("memory takes it");
    encoder.finish().expect("memory takes it")
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 1).expect("memory takes it")
}

/// Two members or frames, one after the other.
fn twice(bytes: &[u8], compress: fn(&[u8]) -> Vec<u8>) -> Vec<u8> {
    let (first, second) = bytes.split_at(bytes.len() / 3);
    [compress(first), compress(second)].concat()
}

fn put(folder: &TempDir, name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder.path().join(name);
    fs::write(&path, bytes).expect("the temporary folder is writable");
    path
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

fn put_table(folder: &TempDir, name: &str, columns: Vec<(&str, ArrayRef)>, group_rows: usize) -> PathBuf {
    let path = folder.path().join(name);
    let batch = RecordBatch::try_from_iter(columns).expect("columns of one length");
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(group_rows)).build();
    let file = fs::File::create(&path).expect("the temporary folder is writable");
    let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).expect("a known schema");
    writer.write(&batch).expect("the disk takes it");
    writer.close().expect("the disk takes it");
    path
}

#[test]
fn every_text_and_compression_gives_the_same_edges() {
    let folder = folder();
    for (name, separator) in [("a.txt", " "), ("b.el", "\t"), ("c.csv", ","), ("d.tsv", "\t"), ("e.wel", ";"), ("f", ", ")] {
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
                    let options = InputOptions { weighted, ..InputOptions::default() };
                    let edges = import(&path, &options).unwrap_or_else(|error| panic!("{name}: {error}"));
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
        let narrow = |(s, t, w): (u64, u64, f32)| [&(s as u32).to_le_bytes()[..], &(t as u32).to_le_bytes(), &weight(w)].concat();
        let wide = |(s, t, w): (u64, u64, f32)| [&s.to_le_bytes()[..], &t.to_le_bytes(), &weight(w)].concat();
        let narrow = put(&folder, "x.bin32", &sample().into_iter().flat_map(narrow).collect::<Vec<u8>>());
        let wide = put(&folder, "x.bin64", &sample().into_iter().flat_map(wide).collect::<Vec<u8>>());
        let options = InputOptions { weighted, ..InputOptions::default() };
        for (path, width) in [(narrow, PairWidth::Bits32), (wide, PairWidth::Bits64)] {
            let input = Input::resolve(&[path], &options).expect("whole records");
            assert_eq!(input.is_raw_pairs(), Some(width));
            assert!(read(&input).expect("well-formed") == expected(weighted), "{width:?}, weighted {weighted}");
        }
    }
}

#[test]
fn parquet_gives_the_same_edges_whatever_its_types_and_names() {
    let folder = folder();
    let sources = || sample().into_iter().map(|(s, _, _)| s);
    let targets = || sample().into_iter().map(|(_, t, _)| t);
    let weights: ArrayRef = Arc::new(Float64Array::from_iter_values(sample().into_iter().map(|(_, _, w)| f64::from(w))));
    let unsigned: ArrayRef = Arc::new(UInt64Array::from_iter_values(sources()));
    let signed: ArrayRef = Arc::new(Int64Array::from_iter_values(targets().map(|t| t as i64)));
    let short: ArrayRef = Arc::new(Int32Array::from_iter_values(targets().map(|t| t as i32)));
    let extra: ArrayRef = Arc::new(StringArray::from_iter_values(targets().map(|t| format!("x{t}"))));
    let named: ArrayRef = Arc::new(StringArray::from_iter_values(sources().map(|s| s.to_string())));
    let large: ArrayRef = Arc::new(LargeStringArray::from_iter_values(targets().map(|t| t.to_string())));
    let tables = [
        vec![("src", unsigned.clone()), ("dst", signed.clone()), ("weight", weights.clone())],
        vec![("Weight", weights.clone()), ("target", short.clone()), ("note", extra.clone()), ("source", unsigned.clone())],
        vec![(":START_ID", named.clone()), (":TYPE", extra), (":END_ID", large), ("weight:float", weights.clone())],
        vec![("src", named), ("dst", short), ("w", weights)],
    ];
    for (number, columns) in tables.into_iter().enumerate() {
        for group_rows in [7_001, 1 << 20] {
            let path = put_table(&folder, "table.parquet", columns.clone(), group_rows);
            for (weighted, threads) in [(false, 1), (true, 3)] {
                let options = InputOptions { weighted, threads, ..InputOptions::default() };
                let edges = import(&path, &options).unwrap_or_else(|error| panic!("table {number}: {error}"));
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
    assert_eq!(expected.len(), 201_000);
    for threads in [2, 3, 8] {
        assert!(one(threads) == expected, "{threads} threads");
    }
}

#[test]
fn a_folder_is_its_files_without_hidden_ones_and_folders() {
    let folder = folder();
    put(&folder, "b.txt", b"1 2\n");
    put(&folder, "a.csv", b"src,dst\n3,4\n");
    put(&folder, ".hidden", b"not a graph\n");
    fs::create_dir(folder.path().join("deeper")).expect("writable");
    put(&folder, "deeper/c.txt", b"5 6\n");
    let one_more = put(&folder, ".more", b"7 8");
    let paths = [folder.path().to_owned(), one_more];
    let input = Input::resolve(&paths, &InputOptions::default()).expect("three files");
    assert_eq!(input.total_bytes(), Some(4 + 12 + 3));
    assert_eq!(input.is_raw_pairs(), None);
    let ends: Vec<_> = read(&input).expect("well-formed").into_iter().map(|(s, t, _)| (s, t)).collect();
    let expected = [("1", "2"), ("3", "4"), ("7", "8")];
    assert_eq!(ends, expected.map(|(s, t)| (s.to_owned(), t.to_owned())));
}

/// What a small text gives, in order of ids.
fn text_edges(name: &str, text: &str, options: &InputOptions) -> Vec<(String, String, Option<f32>)> {
    let folder = folder();
    let path = put(&folder, name, text.as_bytes());
    import(&path, options).unwrap_or_else(|error| panic!("{text:?}: {error}"))
}

#[test]
fn comments_blank_lines_and_a_missing_last_newline_are_fine() {
    let expected = [("1", "2"), ("3", "4"), ("5", "6")].map(|(s, t)| (s.to_owned(), t.to_owned(), None));
    for text in [
        "# Nodes: 6 Edges: 3\n1\t2\n# in the middle\n3\t4\n\n% other comment\n5\t6",
        "\u{feff}1 2\r\n\r\n3 4\r\n   # indented\r\n5 6",
        "  1   2  \n\t3\t\t4\n5 6 # and more\n",
        "1, 2\n3 ,4\n5,6,extra,columns",
        "1;2\n3;4;;\n5;6\n\n\n",
        "0001 2\n3 0000000000000000000000000000000000004\n5 6",
    ] {
        assert_eq!(text_edges("x.txt", text, &InputOptions::default()), expected, "{text:?}");
    }
}

#[test]
fn an_empty_file_has_no_edges() {
    for (name, bytes) in [("x.txt", &b""[..]), ("x.txt", b"# nothing\n\n"), ("x.csv", b"src,dst\n"), ("x.bin32", b""), ("x", b"")] {
        let folder = folder();
        let path = put(&folder, name, bytes);
        let input = Input::resolve(&[path], &InputOptions::default()).expect("an empty file is fine");
        assert_eq!(input.ids(), IdKind::Integer);
        assert_eq!(read(&input).expect("and stays fine"), [], "{name}");
    }
}

#[test]
fn a_header_names_the_columns() {
    let weighted = InputOptions { weighted: true, ..InputOptions::default() };
    let plain = InputOptions::default();
    let named = InputOptions {
        source_column: Some("follower".into()),
        target_column: Some("followed".into()),
        weight_column: Some("since".into()),
        weighted: true,
        ..InputOptions::default()
    };
    let expected = [("1".to_owned(), "2".to_owned(), Some(3.5))];
    for (name, text, options) in [
        ("x.csv", "src,dst,weight\n1,2,3.5\n", &weighted),
        ("x.csv", "Weight;Target;Source\n3.5;2;1\n", &weighted),
        ("x.tsv", "from\tto\tnote\tvalue\n1\t2\t\t3.5\n", &weighted),
        ("x.csv", "# exported\n\n\":START_ID(Person)\",\":TYPE\",\":END_ID(Person)\",weight:float\n\"1\",\"a,b\",\"2\",3.5", &weighted),
        ("x.csv", "a,b,c\n1,2,3.5\n", &weighted),
        ("x.txt", "followed since follower\n2 3.5 1\n", &named),
    ] {
        assert_eq!(text_edges(name, text, options), expected, "{text:?}");
    }
    let unweighted = [("1".to_owned(), "2".to_owned(), None)];
    assert_eq!(text_edges("x.csv", "a,b,c\n1,2,3.5\n", &plain), unweighted);
    assert_eq!(text_edges("x.csv", "1,2\n", &plain), unweighted);
}

#[test]
fn ids_are_strings_if_the_first_edge_has_one_or_if_told_so() {
    let names = |edges: Vec<Edge>| edges.into_iter().map(|(s, t, _)| format!("{s}>{t}")).collect::<Vec<_>>();
    let auto = InputOptions::default();
    let told = InputOptions { ids: IdKind::String, ..InputOptions::default() };
    assert_eq!(names(text_edges("x.txt", "ana bob\n7 ana\n", &auto)), ["7>ana", "ana>bob"]);
    assert_eq!(names(text_edges("x.txt", "New York\tSão Paulo\n", &auto)), ["New York>São Paulo"]);
    assert_eq!(names(text_edges("x.csv", "source,target\n\"Doe, J\" , bob\n", &auto)), ["Doe, J>bob"]);
    assert_eq!(names(text_edges("x.csv", "ana,bob\ncal,dan\n", &auto)), ["ana>bob", "cal>dan"]);
    assert_eq!(names(text_edges("x.txt", "01 1\n1 x\n", &told)), ["01>1", "1>x"]);
    assert_eq!(names(text_edges("x.txt", "# caf\u{e9}\n-1 18446744073709551616\n", &auto)), ["-1>18446744073709551616"]);
}

#[test]
fn bytes_that_are_not_utf8_are_fine_outside_of_ids() {
    let folder = folder();
    let path = put(&folder, "x.csv", b"# caf\xe9\nana,bob,caf\xe9\ncal,dan\n");
    assert_eq!(import(&path, &InputOptions::default()).expect("the ids are UTF-8").len(), 2);
}

#[test]
fn one_file_of_strings_makes_all_ids_strings() {
    let folder = folder();
    let paths = [put(&folder, "a.txt", b"1 2\n"), put(&folder, "b.txt", b"ana bob\n")];
    let input = Input::resolve(&paths, &InputOptions::default()).expect("two texts");
    assert_eq!(input.ids(), IdKind::String);
    assert_eq!(read(&input).expect("well-formed").len(), 2);
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
